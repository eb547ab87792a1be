/* SPDX-License-Identifier: MIT
 *
 * Networks for tests.
 */
#include "tests/support/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "tests/support/cmocka_all.h"

json_t *test_json(const char *text)
{
    size_t n = strlen(text);
    char *copy = malloc(n + 1);
    assert_non_null(copy);
    for (size_t i = 0; i <= n; i++) {
        copy[i] = text[i] == '\'' ? '"' : text[i];
    }
    json_t *json = NULL;
    struct nn_error err = {0};
    if (jx_parse(copy, n, NULL, &json, &err) != NN_OK) {
        fail_msg("%s: %s", text, err.text);
    }
    free(copy);
    return json;
}

struct test_network test_network_create(const char *text, const struct nn_network_bind *bind,
                                        const struct nn_network_options *options)
{
    struct test_network made = {0};
    struct nn_error err = {0};
    json_t *spec = test_json(text);
    enum nn_status status = nn_description_parse(spec, &made.description, &err);
    if (status == NN_OK) {
        status = nn_network_create(made.description, bind, options, &made.network, &err);
    }
    json_decref(spec);
    if (status != NN_OK) {
        fail_msg("%s: %s: %s", text, nn_status_slug(status), err.text);
    }
    return made;
}

void test_network_destroy(struct test_network *network)
{
    nn_network_destroy(network->network);
    nn_description_destroy(network->description);
    *network = (struct test_network){0};
}

void test_fill(nn_real *x, size_t n, uint64_t seed)
{
    struct nn_random random;
    nn_random_init(&random, seed, NN_RANDOM_TEST, 0, 0);
    for (size_t i = 0; i < n; i++) {
        x[i] = (nn_real)(2 * nn_random_uniform(&random) - 1);
    }
}

void test_fill_parameters(struct nn_network *network, uint64_t seed)
{
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *p = nn_network_parameter(network, i);
        bool around_one = p->role == NN_ROLE_SCALE || p->role == NN_ROLE_RUNNING_VAR ||
                          p->role == NN_ROLE_INPUT_STD;
        double size = p->role == NN_ROLE_RECURRENT_WEIGHT ? 1 / sqrt((double)p->shape[1]) : 0.5;
        test_fill(p->value, p->count, seed + i);
        for (size_t k = 0; k < p->count; k++) {
            p->value[k] = (nn_real)(size * (double)p->value[k]) + (around_one ? 1 : 0);
        }
    }
}
