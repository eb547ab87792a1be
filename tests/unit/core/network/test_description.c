/* SPDX-License-Identifier: MIT
 *
 * Reports of networks against a pencil, and descriptions written out and read again.
 */
#include "tests/support/cmocka_all.h"

#include <stdlib.h>

#include "tests/support/network.h"

static const struct nn_network_bind BIND = {
    .height = 28, .width = 28, .channels = 1, .classes = 10};

static void the_report_says_what_can_be_counted_by_hand(void **state)
{
    (void)state;
    json_t *spec = test_json("{'name': 'simple_cnn'}");
    json_t *report = test_report(spec, &BIND);
    assert_true(json_is_true(json_object_get(report, "valid")));
    assert_int_equal(json_array_size(json_object_get(report, "issues")), 0);
    assert_int_equal(json_array_size(json_object_get(report, "layers")), 6);
    char *size = jx_canonical(jx_path_get(report, "layers.1.activation"));
    assert_string_equal(size, "[24,24,20]");
    free(size);
    char *weight = jx_canonical(jx_path_get(report, "layers.1.learnables.weight"));
    assert_string_equal(weight, "[20,1,5,5]");
    free(weight);
    char *fc = jx_canonical(jx_path_get(report, "layers.4.learnables"));
    assert_string_equal(fc, "{\"bias\":[10],\"weight\":[10,11520]}");
    free(fc);
    assert_string_equal(json_string_value(jx_path_get(report, "layers.1.format")), "SSC");
    assert_string_equal(json_string_value(jx_path_get(report, "layers.4.format")), "C");
    assert_true(test_number_at(report, "layers.1.learnable_count") == 520);
    assert_true(test_number_at(report, "layers.1.multiply_adds") == 24 * 24 * 20 * 25);
    assert_true(test_number_at(report, "layers.4.multiply_adds") == 115200);
    assert_true(test_number_at(report, "totals.learnables") == 520 + 40 + 115210);
    assert_true(test_number_at(report, "totals.states") == 40);
    assert_true(test_number_at(report, "totals.batch_size") == 128);
    double training = test_number_at(report, "totals.training_bytes");
    double inference = test_number_at(report, "totals.inference_bytes");
    assert_true(inference > 128.0 * 24 * 24 * 20 * sizeof(nn_real));
    assert_true(training > inference && training < 10 * inference);
    json_decref(report);
    json_decref(spec);
}

static void sizes_are_null_without_a_data_set(void **state)
{
    (void)state;
    json_t *spec = test_json("{'name': 'simple_cnn', 'filters': 4}");
    json_t *report = test_report(spec, NULL);
    assert_true(json_is_true(json_object_get(report, "valid")));
    assert_true(json_is_null(jx_path_get(report, "layers.1.activation")));
    assert_true(json_is_null(jx_path_get(report, "totals.learnables")));
    assert_true(json_is_null(jx_path_get(report, "totals.training_bytes")));
    json_decref(report);
    json_decref(spec);
}

/* A description shows a template's parameters together: so they are taken back, and so is all that
 * it shows. */
static void what_is_shown_is_taken_back(void **state)
{
    (void)state;
    static const char *const texts[] = {"{'name': 'simple_cnn', 'filters': 4}",
                                        "{'name': 'simple_cnn', 'parameters': {'filters': 4}}",
                                        NULL};
    json_t *first = NULL;
    for (size_t i = 0; i < 3; i++) {
        json_t *spec = texts[i] ? test_json(texts[i]) : json_deep_copy(first);
        struct nn_description *description = NULL;
        assert_int_equal(nn_description_parse(spec, &description, NULL), NN_OK);
        json_t *shown = nn_description_json(description);
        assert_true(!first || json_equal(first, shown));
        first = first ? first : json_incref(shown);
        json_decref(shown);
        nn_description_destroy(description);
        json_decref(spec);
    }
    json_decref(first);
}

#define IN     "{'name': 'in', 'kind': 'image_input'}"
#define FC     "{'name': 'fc', 'kind': 'fully_connected'}"
#define SM     "{'name': 'sm', 'kind': 'softmax'}"
#define CONV   "{'name': 'c', 'kind': 'convolution', 'filters': 4, 'kernel': 3}"
#define NET(x) "{'layers': [" IN ", " x FC ", " SM "]}"

static void a_description_written_out_is_the_same_network(void **state)
{
    (void)state;
    static const char *const SPECS[] = {
        "{'name': 'simple_cnn', 'filters': 7, 'kernel': 3, 'normalisation': 'zscore'}",
        "{'name': 'mlp', 'hidden': [30, 20], 'dropout': 0.25}",
        "{'name': 'mlp', 'hidden': []}",
        NET("{'name': 'c', 'kind': 'convolution', 'filters': 3, 'kernel': [3, 2], 'padding': [0, "
            "1]},"),
    };
    for (size_t i = 0; i < sizeof SPECS / sizeof SPECS[0]; i++) {
        json_t *spec = test_json(SPECS[i]);
        struct nn_description *first = NULL;
        struct nn_description *second = NULL;
        struct nn_error err = {0};
        assert_int_equal(nn_description_parse(spec, &first, &err), NN_OK);
        json_t *full = nn_description_json(first);
        assert_int_equal(nn_description_parse(full, &second, &err), NN_OK);
        json_t *again = nn_description_json(second);
        assert_true(json_equal(full, again));
        json_t *report = test_report(spec, &BIND);
        json_t *report_again = test_report(json_object_get(report, "description"), &BIND);
        assert_true(json_equal(report, report_again));
        json_decref(report_again);
        report_again = test_report(full, &BIND);
        assert_true(json_equal(json_object_get(report_again, "description"), full));
        assert_int_equal(
            json_object_set(report_again, "description", json_object_get(report, "description")),
            0);
        assert_true(json_equal(report, report_again));
        assert_true(json_is_true(json_object_get(report, "valid")));
        json_decref(report);
        json_decref(report_again);
        json_decref(full);
        json_decref(again);
        json_decref(spec);
        nn_description_destroy(first);
        nn_description_destroy(second);
    }
}

static struct nn_description *parsed(const char *name)
{
    struct nn_description *description = NULL;
    json_t *spec = json_pack("{s:s}", "name", name);
    assert_int_equal(nn_description_parse(spec, &description, NULL), NN_OK);
    json_decref(spec);
    return description;
}

static void what_is_frozen(void **state)
{
    (void)state;
    struct nn_description *description = parsed("squeezenet1_1");
    const char *const *names = NULL;
    size_t n = 1;
    struct nn_error err = {0};
    assert_string_equal(nn_description_head(description), "classifier.1");
    assert_int_equal(nn_description_frozen(description, NN_FREEZE_NONE, NULL, &names, &n, &err),
                     NN_OK);
    assert_int_equal(n, 0);
    free((void *)(uintptr_t)names);
    assert_int_equal(
        nn_description_frozen(description, NN_FREEZE_ALL_BUT_HEAD, NULL, &names, &n, &err), NN_OK);
    assert_string_equal(names[0], "input");
    for (size_t i = 0; i < n; i++) {
        assert_string_not_equal(names[i], "classifier.1");
    }
    free((void *)(uintptr_t)names);
    /* both branches of the fire module, and nothing behind it */
    assert_int_equal(
        nn_description_frozen(description, NN_FREEZE_UP_TO, "features.3", &names, &n, &err), NN_OK);
    assert_int_equal(n, 11);
    assert_string_equal(names[10], "features.3");
    free((void *)(uintptr_t)names);
    assert_int_equal(
        nn_description_frozen(description, NN_FREEZE_UP_TO, "features.99", &names, &n, &err),
        NN_ERR_INVALID);
    assert_int_equal(
        nn_description_frozen(description, NN_FREEZE_UP_TO, "classifier.2", &names, &n, &err),
        NN_ERR_INVALID);
    nn_description_destroy(description);
}

/* Without a data set the length of sequences is open, so bytes are; sizes are not. */
static void sequences_can_be_described_in_full(void **state)
{
    (void)state;
    json_t *spec = test_json("{'layers': [{'name': 'in', 'kind': 'sequence_input', 'features': 3},"
                             "{'name': 'l', 'kind': 'lstm', 'units': 4}]}");
    json_t *report = test_report(spec, NULL);
    assert_true(json_is_true(json_object_get(report, "valid")));
    assert_true(test_number_at(report, "totals.learnables") == 4 * 4 * (3 + 4 + 1));
    assert_true(json_is_null(jx_path_get(report, "totals.training_bytes")));
    json_decref(report);
    json_decref(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_report_says_what_can_be_counted_by_hand),
        cmocka_unit_test(sizes_are_null_without_a_data_set),
        cmocka_unit_test(what_is_shown_is_taken_back),
        cmocka_unit_test(a_description_written_out_is_the_same_network),
        cmocka_unit_test(what_is_frozen),
        cmocka_unit_test(sequences_can_be_described_in_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
