/* SPDX-License-Identifier: MIT
 *
 * Warnings about descriptions: each is told, none refuses a network, and none hides an error.
 */
#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/network.h"

static const struct nn_network_bind BIND = {
    .height = 28, .width = 28, .channels = 1, .classes = 10};

#define IN   "{'name': 'in', 'kind': 'image_input'}"
#define FC   "{'name': 'fc', 'kind': 'fully_connected'}"
#define SM   "{'name': 'sm', 'kind': 'softmax'}"
#define CONV "{'name': 'c', 'kind': 'convolution', 'filters': 4, 'kernel': 3}"

static void a_block_that_nothing_uses_is_said(void **state)
{
    (void)state;
    json_t *spec = test_json(
        "{'blocks': {'used': {'layers': [{'name': 'a', 'block': 'inner'}]}, 'inner': {'layers':"
        " [{'kind': 'relu'}]}, 'spare': {'layers': [{'kind': 'telepathy'}]}}, 'layers': [" IN
        ", " CONV ", {'if': false, 'name': 'u', 'block': 'used'}, " FC ", " SM "]}");
    json_t *report = test_report(spec, &BIND);
    assert_true(json_is_true(json_object_get(report, "valid")));
    assert_int_equal(json_array_size(json_object_get(report, "issues")), 1);
    assert_string_equal(test_text_at(report, "issues.0.code"), "unused_block");
    assert_string_equal(test_text_at(report, "issues.0.severity"), "warning");
    assert_string_equal(test_text_at(report, "issues.0.pointer"), "/blocks/spare");
    json_decref(report);
    json_decref(spec);
}

static json_t *with_spare_blocks(size_t n, const char *layers)
{
    json_t *spec = json_pack("{s:o, s:{}}", "layers", test_json(layers), "blocks");
    for (size_t i = 0; i < n; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "b%zu", i);
        json_t *block = json_pack("{s:[{s:s, s:s}]}", "layers", "name", "r", "kind", "relu");
        assert_int_equal(json_object_set_new(json_object_get(spec, "blocks"), name, block), 0);
    }
    return spec;
}

/* However many warnings came before it, an error is found, and a sound network stays one. */
static void warnings_leave_room_for_errors(void **state)
{
    (void)state;
    json_t *spec = with_spare_blocks(300, "[" IN ", " FC ", " SM "]");
    json_t *report = test_report(spec, &BIND);
    assert_true(json_is_true(json_object_get(report, "valid")));
    json_decref(report);
    json_decref(spec);
    spec = with_spare_blocks(300, "[{'name': 'x', 'kind': 'no_such'}]");
    struct nn_description *description = NULL;
    struct nn_error err = {0};
    assert_int_equal(nn_description_parse(spec, &description, &err), NN_ERR_INVALID);
    report = test_report(spec, &BIND);
    assert_false(json_is_true(json_object_get(report, "valid")));
    json_decref(report);
    json_decref(spec);
}

static void expect_unchecked(const char *network, const char *assumed)
{
    json_t *spec = test_json(network), *report = test_report(spec, NULL);
    assert_true(json_is_true(json_object_get(report, "valid")));
    assert_int_equal(json_array_size(json_object_get(report, "issues")), 1);
    assert_string_equal(test_text_at(report, "issues.0.code"), "sizes_not_checked");
    assert_string_equal(test_text_at(report, "issues.0.severity"), "warning");
    assert_non_null(strstr(test_text_at(report, "issues.0.mend"), "data set"));
    if (!strstr(test_text_at(report, "issues.0.text"), assumed)) {
        fail_msg("%s: %s", network, test_text_at(report, "issues.0.text"));
    }
    json_decref(report);
    report = test_report(spec, &BIND);
    assert_int_equal(json_array_size(json_object_get(report, "issues")), 0);
    json_decref(report);
    json_decref(spec);
}

/* Neither a data set nor sizes: what was taken for granted is said. */
static void sizes_that_were_not_checked_are_said(void **state)
{
    (void)state;
    expect_unchecked(
        "{'layers': [{'name': 'in', 'kind': 'image_input', 'height': 28, 'width': 28,"
        " 'channels': 1}, {'name': 'fc', 'kind': 'fully_connected', 'outputs': 10}, " SM "]}",
        "the description's own input of 28x28x1 and 10 outputs");
    expect_unchecked("{'name': 'simple_cnn'}", "an input of unknown size and as many outputs");
}

static void warnings_do_not_refuse(void **state)
{
    (void)state;
    json_t *spec = test_json("{'layers': [" IN ", " FC ", {'name': 'r', 'kind': 'relu'}, " SM "]}");
    json_t *report = test_report(spec, &BIND);
    assert_true(json_is_true(json_object_get(report, "valid")));
    assert_string_equal(json_string_value(jx_path_get(report, "issues.0.severity")), "warning");
    assert_string_equal(test_text_at(report, "issues.0.code"), "relu_before_softmax");
    assert_string_equal(test_text_at(report, "issues.0.pointer"), "/layers/2");
    json_decref(report);
    json_decref(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_that_nothing_uses_is_said),
        cmocka_unit_test(sizes_that_were_not_checked_are_said),
        cmocka_unit_test(warnings_do_not_refuse),
        cmocka_unit_test(warnings_leave_room_for_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
