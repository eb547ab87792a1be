/* SPDX-License-Identifier: MIT
 *
 * Networks for tests.
 */
#include "tests/support/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "core/json/json.h"
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

size_t test_size(const char *text)
{
    return strtoul(text, NULL, 10);
}

struct nn_network_bind test_bind_images(char *const *sizes)
{
    return (struct nn_network_bind){.height = test_size(sizes[0]),
                                    .width = test_size(sizes[1]),
                                    .channels = test_size(sizes[2]),
                                    .classes = test_size(sizes[3]),
                                    .normalisation = NN_NORMALISATION_NONE};
}

struct nn_network_bind test_bind_sequences(char *const *sizes)
{
    return (struct nn_network_bind){.longest = test_size(sizes[0]),
                                    .features = test_size(sizes[1]),
                                    .responses = 1,
                                    .normalisation = NN_NORMALISATION_NONE};
}

json_t *test_report(json_t *spec, const struct nn_network_bind *bind)
{
    json_t *report = NULL;
    struct nn_error err = {0};
    assert_int_equal(nn_network_analyze(spec, bind, 128, &report, &err), NN_OK);
    assert_non_null(report);
    return report;
}

const struct nn_parameter *test_parameter(const struct nn_network *network, const char *name)
{
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        if (strcmp(nn_network_parameter(network, i)->name, name) == 0) {
            return nn_network_parameter(network, i);
        }
    }
    fail_msg("no parameter %s", name);
    return NULL;
}

void test_load_random(struct nn_network *network, size_t batch, uint64_t seed)
{
    test_fill(nn_network_input(network), batch * nn_network_input_size(network), seed);
}

const char *test_text_at(const json_t *json, const char *path)
{
    const char *text = json_string_value(jx_path_get(json, path));
    return text ? text : "";
}

double test_number_at(const json_t *json, const char *path)
{
    return json_number_value(jx_path_get(json, path));
}
