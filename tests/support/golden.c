/* SPDX-License-Identifier: MIT
 *
 * Reading golden files.
 */
#include "tests/support/golden.h"

#include <stdlib.h>

#include "tests/support/cmocka_all.h"

nn_real *golden_numbers(const json_t *array, size_t *out_count)
{
    size_t n = json_array_size(array);
    nn_real *out = malloc((n + 1) * sizeof *out);
    assert_non_null(out);
    for (size_t i = 0; i < n; i++) {
        out[i] = (nn_real)json_number_value(json_array_get(array, i));
    }
    *out_count = n;
    return out;
}

struct test_network golden_build(const json_t *c, const struct nn_network_bind *bind,
                                 const struct nn_network_options *options)
{
    char *text = jx_dump(json_object_get(c, "description"), NULL);
    struct test_network made = test_network_create(text, bind, options);
    free(text);
    return made;
}

void golden_load_parameters(struct nn_network *network, const json_t *values)
{
    assert_int_equal(nn_network_parameter_count(network), json_object_size(values));
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *p = nn_network_parameter(network, i);
        size_t n;
        nn_real *in = golden_numbers(json_object_get(values, p->name), &n);
        if (n != p->count) {
            fail_msg("%s has %zu numbers, not %zu", p->name, p->count, n);
        }
        nn_parameter_from_torch(p, in);
        free(in);
    }
}

void golden_each(const char *path, size_t least,
                 void (*run)(const json_t *c, enum nn_operators operators))
{
    json_t *cases = json_load_file(path, 0, NULL);
    size_t i;
    json_t *c;
    assert_true(json_array_size(cases) >= least);
    json_array_foreach(cases, i, c)
    {
        run(c, NN_OPERATORS_PLAIN);
        run(c, NN_OPERATORS_OPTIMISED);
    }
    json_decref(cases);
}
