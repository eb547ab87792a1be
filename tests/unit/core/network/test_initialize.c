/* SPDX-License-Identifier: MIT
 *
 * core/network: how weights begin: each rule's spread and bounds, and that only the seed and the
 * parameter's place in the network tell the values.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/network/network.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/network.h"

/* A kernel of 3 x 3 on 40 channels for 60 filters: a filter reads 360 values, a value goes into
 * 540. */
static const struct nn_network_bind BIND = {.height = 3, .width = 3, .channels = 40, .classes = 2};
static const char LAYERS[] =
    "{'layers': [{'name': 'input', 'kind': 'image_input'}, "
    "{'name': 'conv', 'kind': 'convolution', 'filters': 60, 'kernel': 3%s}, "
    "{'name': 'fc', 'kind': 'fully_connected'}, {'name': 'softmax', 'kind': 'softmax'}]}";

static struct test_network begun(const char *options, uint64_t seed)
{
    char text[600];
    struct nn_network_options network = {.max_batch = 1};
    snprintf(text, sizeof text, LAYERS, options);
    struct test_network t = test_network_create(text, &BIND, &network);
    nn_network_initialize(t.network, seed);
    return t;
}

struct spread {
    double mean, deviation, largest;
};

static struct spread spread_of(const struct nn_parameter *parameter)
{
    struct spread s = {0};
    for (size_t i = 0; i < parameter->count; i++) {
        double value = (double)parameter->value[i];
        s.mean += value / (double)parameter->count;
        s.deviation += value * value / (double)parameter->count;
        s.largest = fmax(s.largest, fabs(value));
    }
    s.deviation = sqrt(s.deviation);
    return s;
}

/* 21,600 values: their deviation is known to 0.5 %. A normal one cut at two deviations has 0.8796
 * of the whole one's. */
static void weights_spread_as_their_rule_says(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        double deviation, largest; /* largest 0: no bound */
    } CASES[] = {
        {"", 0.0471405, 0.0816497},
        {", 'weight_initialisation': 'glorot'", 0.0471405, 0.0816497},
        {", 'weight_initialisation': 'he'", 0.0745356, 0},
        {", 'weight_initialisation': 'he_fan_out'", 0.0608581, 0},
        {", 'weight_initialisation': 'he_uniform'", 0.0745356, 0.1290994},
        {", 'weight_initialisation': 'normal'", 0.01, 0},
        {", 'weight_initialisation': 'normal', 'weight_std': 3", 3, 0},
        {", 'weight_initialisation': 'truncated_normal', 'weight_std': 0.1", 0.08796, 0.2},
        {", 'weight_initialisation': 'zeros'", 0, 0},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct test_network t = begun(CASES[i].options, 3);
        struct spread s = spread_of(nn_network_parameter(t.network, 0));
        double want = CASES[i].deviation;
        assert_true(fabs(s.deviation - want) <= 0.02 * want);
        assert_true(fabs(s.mean) <= 0.03 * want);
        if (CASES[i].largest > 0) {
            assert_true(s.largest <= CASES[i].largest * 1.00001);
            assert_true(s.largest > 0.98 * CASES[i].largest);
        } else if (want > 0) {
            assert_true(s.largest > 3 * want);
        }
        test_network_destroy(&t);
    }
}

static void only_the_seed_tells_the_values(void **state)
{
    (void)state;
    struct test_network a = begun(", 'weight_initialisation': 'truncated_normal'", 5);
    struct test_network b = begun(", 'weight_initialisation': 'truncated_normal'", 5);
    struct test_network c = begun(", 'weight_initialisation': 'truncated_normal'", 6);
    const struct nn_parameter *p = nn_network_parameter(a.network, 0);
    assert_memory_equal(p->value, nn_network_parameter(b.network, 0)->value,
                        p->count * sizeof *p->value);
    assert_true(p->value[0] != nn_network_parameter(c.network, 0)->value[0]);
    test_network_destroy(&a);
    test_network_destroy(&b);
    test_network_destroy(&c);
}

static void a_rule_of_another_name_is_refused(void **state)
{
    (void)state;
    char text[600];
    struct nn_error err;
    struct nn_description *description = NULL;
    snprintf(text, sizeof text, LAYERS, ", 'weight_initialisation': 'hee'");
    json_t *json = test_json(text);
    assert_int_equal(nn_description_parse(json, &description, &err), NN_ERR_INVALID);
    assert_non_null(strstr(err.text, "he"));
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_spread_as_their_rule_says),
        cmocka_unit_test(only_the_seed_tells_the_values),
        cmocka_unit_test(a_rule_of_another_name_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
