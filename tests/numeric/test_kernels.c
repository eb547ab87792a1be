/* SPDX-License-Identifier: MIT
 *
 * Every row of every kernel table against its reference (tests/numeric/cases, tests/ref). A row
 * that no case names fails, and so does a case that does not notice its row doing nothing. Printed
 * at the end: rows x tables covered. NN_TEST_CASE and NN_TEST_ISA choose one case, one table.
 */
#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/numeric/cases/cases.h"

static const struct numeric_case *const GROUPS[] = {
    matrix_cases,    convolution_cases, normalization_cases, pooling_cases,
    softmax_cases,   recurrence_cases,  pointwise_cases,     activation_cases,
    broadcast_cases, framing_cases,     update_cases,        attention_cases};

#define GROUP_COUNT (sizeof GROUPS / sizeof GROUPS[0])

static const size_t ROW_OFFSETS[NN_KERNEL_COUNT] = {
#define ROW_OFFSET(name, tag) offsetof(struct nn_kernels, name),
    NN_KERNEL_ROWS(ROW_OFFSET)
#undef ROW_OFFSET
};

typedef void (*visit_fn)(void *ctx, const struct numeric_case *c, const struct nn_kernels *kernels);

static bool is_chosen(const char *variable, const char *name)
{
    const char *chosen = getenv(variable);
    return !chosen || strcmp(chosen, name) == 0;
}

static void for_each_case_of(const struct nn_kernels *kernels, visit_fn visit, void *ctx)
{
    for (size_t g = 0; g < GROUP_COUNT; g++) {
        for (const struct numeric_case *c = GROUPS[g]; c->name; c++) {
            if (is_chosen("NN_TEST_CASE", c->name)) {
                visit(ctx, c, kernels);
            }
        }
    }
}

static void for_each_case(visit_fn visit, void *ctx)
{
    for (int isa = 0; isa < NN_ISA_COUNT; isa++) {
        const struct nn_kernels *kernels = nn_kernels_get((enum nn_isa)isa);
        if (kernels && is_chosen("NN_TEST_ISA", nn_isa_name((enum nn_isa)isa))) {
            for_each_case_of(kernels, visit, ctx);
        }
    }
}

/* ---- against the references ---- */

static void check_case(void *ctx, const struct numeric_case *c, const struct nn_kernels *kernels)
{
    size_t *mistakes = ctx;
    struct numeric t;
    numeric_run(&t, c, kernels, NULL, false);
    *mistakes += t.mistakes + (t.comparisons == 0);
    printf("%-24s %-7s %4zu comparisons, worst %.2f of the tolerance\n", c->name,
           nn_isa_name(nn_kernels_isa(kernels)), t.comparisons, t.worst);
}

static void kernels_agree_with_references(void **state)
{
    (void)state;
    size_t mistakes = 0;
    for_each_case(check_case, &mistakes);
    assert_int_equal(mistakes, 0);
}

/* Not a variant of its own: the blocks and rests of the AVX-512 text, without its instructions. */
static void avx512_text_agrees_on_halves(void **state)
{
    (void)state;
    const struct nn_kernels *wide = numeric_wide_table();
    size_t mistakes = 0;
    if (!wide) {
        print_message("not run: this processor or build has no AVX2\n");
        skip();
    }
    for_each_case_of(wide, check_case, &mistakes);
    assert_int_equal(mistakes, 0);
}

/* ---- against planted faults ---- */

static bool names_row(const struct numeric_case *c, const char *row)
{
    size_t n = strlen(row);
    for (const char *at = strstr(c->rows, row); at; at = strstr(at + 1, row)) {
        if ((at == c->rows || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0')) {
            return true;
        }
    }
    return false;
}

static void do_nothing(const void *args)
{
    (void)args;
}

static struct nn_kernels with_broken_row(const struct nn_kernels *kernels, size_t row)
{
    struct nn_kernels broken = *kernels;
    void (*nothing)(const void *) = do_nothing;
    memcpy((char *)&broken + ROW_OFFSETS[row], &nothing, sizeof nothing);
    return broken;
}

struct coverage {
    size_t noticed[NN_ISA_COUNT][NN_KERNEL_COUNT]; /* cases that noticed the row being broken */
    size_t missed;
};

static void break_rows(void *ctx, const struct numeric_case *c, const struct nn_kernels *kernels)
{
    struct coverage *coverage = ctx;
    for (size_t row = 0; row < NN_KERNEL_COUNT; row++) {
        const char *name = nn_kernel_name((enum nn_kernel_row)row);
        if (!names_row(c, name)) {
            continue;
        }
        struct nn_kernels broken = with_broken_row(kernels, row);
        struct numeric t;
        numeric_run(&t, c, &broken, NULL, true);
        if (t.mistakes > 0) {
            coverage->noticed[kernels->isa][row]++;
        } else {
            printf("case %s does not notice that row %s of %s does nothing\n", c->name, name,
                   nn_isa_name(kernels->isa));
            coverage->missed++;
        }
    }
}

static void every_row_is_noticed_when_broken(void **state)
{
    (void)state;
    if (getenv("NN_TEST_CASE") || getenv("NN_TEST_ISA")) {
        skip();
    }
    struct coverage coverage = {.missed = 0};
    size_t covered = 0, tables = 0;
    for_each_case(break_rows, &coverage);
    for (int isa = 0; isa < NN_ISA_COUNT; isa++) {
        if (!nn_kernels_get((enum nn_isa)isa)) {
            const char *why =
                isa > (int)nn_cpu_isa() ? "this processor has no" : "this build has no";
            printf("not run: %s %s\n", why, isa == NN_ISA_AVX512 ? "AVX-512" : "AVX2");
            continue;
        }
        tables++;
        for (size_t row = 0; row < NN_KERNEL_COUNT; row++) {
            covered += coverage.noticed[isa][row] > 0;
            if (coverage.noticed[isa][row] == 0) {
                printf("row %s of %s has no case\n", nn_kernel_name((enum nn_kernel_row)row),
                       nn_isa_name((enum nn_isa)isa));
            }
        }
    }
    printf("kernels x variants covered: %zu of %zu (%d rows, %zu tables)\n", covered,
           tables * NN_KERNEL_COUNT, NN_KERNEL_COUNT, tables);
    assert_int_equal(covered, tables * NN_KERNEL_COUNT);
    assert_int_equal(coverage.missed, 0);
}

/* ---- the checker itself ---- */

static void wrong_value(struct numeric *t)
{
    struct field f = numeric_field(t, 5, 7, 2);
    double *expected = numeric_doubles(t, f);
    f.data[3 * f.ld + 6] += (nn_real)2e-4; /* about 6e-5 of the norm */
    numeric_compare(t, f, expected, 1, "planted");
}

static void value_is_nan(struct numeric *t)
{
    struct field f = numeric_field(t, 5, 7, 2);
    double *expected = numeric_doubles(t, f);
    f.data[0] = (nn_real)__builtin_nan("");
    numeric_compare(t, f, expected, 1, "planted");
}

static void gap_is_written(struct numeric *t)
{
    struct field f = numeric_field(t, 5, 7, 2);
    f.data[7] = 0;
}

static void front_is_written(struct numeric *t)
{
    struct field f = numeric_field(t, 5, 7, 2);
    f.data[-1] = 0;
}

static void input_is_changed(struct numeric *t)
{
    struct field f = numeric_field(t, 5, 7, 2);
    f.data[f.ld] += 1;
}

static void all_is_well(struct numeric *t)
{
    struct field f = numeric_field(t, 5, 7, 2);
    numeric_compare(t, f, numeric_doubles(t, f), 1, "nothing planted");
}

static void the_checker_sees_planted_errors(void **state)
{
    (void)state;
    static const struct numeric_case planted[] = {{"wrong value", "", wrong_value},
                                                  {"nan", "", value_is_nan},
                                                  {"gap written", "", gap_is_written},
                                                  {"front written", "", front_is_written},
                                                  {"input changed", "", input_is_changed}};
    static const struct numeric_case fine = {"all well", "", all_is_well};
    struct numeric t;
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        numeric_run(&t, &planted[i], nn_kernels_best(), NULL, true);
        assert_int_equal(t.mistakes, 1);
    }
    numeric_run(&t, &fine, nn_kernels_best(), NULL, true);
    assert_int_equal(t.mistakes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_agree_with_references),
        cmocka_unit_test(avx512_text_agrees_on_halves),
        cmocka_unit_test(every_row_is_noticed_when_broken),
        cmocka_unit_test(the_checker_sees_planted_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
