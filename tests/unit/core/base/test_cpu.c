/* SPDX-License-Identifier: MIT
 *
 * core/base/cpu.h: names, the core type, denormals.
 */
#include "tests/support/cmocka_all.h"

#include <string.h>

#include "core/base/cpu.h"

static void names_go_both_ways(void **state)
{
    (void)state;
    for (int i = 0; i < NN_ISA_COUNT; i++) {
        enum nn_isa isa = NN_ISA_COUNT;
        assert_int_equal(nn_isa_parse(nn_isa_name((enum nn_isa)i), &isa, NULL), NN_OK);
        assert_int_equal(isa, i);
    }
    enum nn_isa isa = NN_ISA_COUNT;
    struct nn_error err = {0};
    assert_int_equal(nn_isa_parse("AVX2", &isa, &err), NN_ERR_INVALID);
    assert_int_equal(isa, NN_ISA_COUNT);
    assert_non_null(strstr(err.text, "AVX2"));
}

static void core_type_fits_the_instruction_set(void **state)
{
    (void)state;
    const char *type = nn_cpu_openblas_core_type();
    switch (nn_cpu_isa()) {
    case NN_ISA_AVX512:
        assert_string_equal(type, "SkylakeX");
        break;
    case NN_ISA_AVX2:
        assert_string_equal(type, "Haswell");
        break;
    case NN_ISA_PLAIN:
    case NN_ISA_COUNT:
        assert_true(strlen(type) > 0);
    }
}

static void processor_has_a_trimmed_name(void **state)
{
    (void)state;
    char name[64] = "";
    nn_cpu_name(name, sizeof name);
    assert_true(strlen(name) > 0);
    assert_int_not_equal(name[0], ' ');
    assert_int_not_equal(name[strlen(name) - 1], ' ');
    nn_cpu_name(name, 4);
    assert_true(strlen(name) <= 3);
}

static void denormals_become_zero(void **state)
{
    (void)state;
#if defined(__x86_64__)
    volatile float tiny = 1e-30f;
    assert_true(tiny * 1e-10f > 0);
    nn_cpu_flush_denormals();
    assert_true(nn_cpu_flushes_denormals());
    assert_true(tiny * 1e-10f == 0);
    volatile double small = 1e-300;
    assert_true(small * 1e-10 == 0);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_go_both_ways),
        cmocka_unit_test(core_type_fits_the_instruction_set),
        cmocka_unit_test(processor_has_a_trimmed_name),
        cmocka_unit_test(denormals_become_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
