/* SPDX-License-Identifier: MIT
 *
 * core/network: which layers "all_but_head" and {"up_to": layer} are, also where branches meet.
 */
#include "core/network/freeze.h"
#include "core/network/outline.h"

#include <string.h>

#include "tests/support/cmocka_all.h"
#include "tests/support/network.h"

/* in -> a -> (b | c) -> join -> fc -> softmax */
static const char BRANCHES[] =
    "{'layers': [{'name': 'in', 'kind': 'image_input', 'height': 4, 'width': 4, 'channels': 1},"
    "{'name': 'a', 'kind': 'convolution', 'filters': 2, 'kernel': 1},"
    "{'name': 'b', 'kind': 'convolution', 'filters': 2, 'kernel': 1},"
    "{'name': 'c', 'kind': 'convolution', 'filters': 2, 'kernel': 1},"
    "{'name': 'join', 'kind': 'concatenation'},"
    "{'name': 'fc', 'kind': 'fully_connected', 'outputs': 3}, {'name': 'softmax', 'kind': "
    "'softmax'}],"
    "'connections': [['in', 'a'], ['a', 'b'], ['a', 'c'], ['b', 'join'], ['c', 'join'],"
    "['join', 'fc'], ['fc', 'softmax']]}";

static struct nn_description *describe(const char *text)
{
    struct nn_description *description = NULL;
    json_t *spec = test_json(text);
    assert_int_equal(nn_description_parse(spec, &description, NULL), NN_OK);
    json_decref(spec);
    return description;
}

/* The names with a blank behind each, or the pointer of the mistake. */
static enum nn_status names(const struct nn_description *description, const char *freeze,
                            char out[256])
{
    struct nn_frozen frozen = {0};
    struct nn_error err = {0};
    json_t *json = freeze ? json_loads(freeze, JSON_DECODE_ANY, NULL) : NULL;
    enum nn_status status = nn_freeze_layers(description, json, &frozen, &err);
    out[0] = '\0';
    for (size_t i = 0; i < frozen.count; i++) {
        (void)strcat(strcat(out, frozen.layers[i]), " ");
    }
    if (status != NN_OK) {
        (void)strcpy(out, err.pointer);
    }
    nn_frozen_deinit(&frozen);
    json_decref(json);
    return status;
}

static void layers_are_named_by_what_feeds_them(void **state)
{
    (void)state;
    static const struct {
        const char *freeze, *layers;
    } rows[] = {
        {NULL, ""},
        {"\"none\"", ""},
        {"\"all_but_head\"", "in a b c join softmax "},
        {"{\"up_to\": \"in\"}", "in "},
        {"{\"up_to\": \"c\"}", "in a c "},
        {"{\"up_to\": \"join\"}", "in a b c join "},
    };
    struct nn_description *description = describe(BRANCHES);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[256];
        assert_int_equal(names(description, rows[i].freeze, out), NN_OK);
        assert_string_equal(out, rows[i].layers);
    }
    nn_description_destroy(description);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *freeze, *pointer;
    } rows[] = {
        {"\"all\"", ""},
        {"3", ""},
        {"null", ""},
        {"[\"none\"]", ""},
        {"{}", ""},
        {"{\"up_to\": 1}", "/up_to"},
        {"{\"from\": \"a\"}", ""},
        {"{\"up_to\": \"a\", \"from\": \"b\"}", "/up_to"},
        {"{\"up_to\": \"d\"}", "/up_to"},
        {"{\"up_to\": \"fc\"}", "/up_to"},
        {"{\"up_to\": \"softmax\"}", "/up_to"},
    };
    struct nn_description *description = describe(BRANCHES);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[256];
        assert_int_equal(names(description, rows[i].freeze, out), NN_ERR_INVALID);
        assert_string_equal(out, rows[i].pointer);
    }
    nn_description_destroy(description);
}

static void a_network_without_a_head_has_none_to_train(void **state)
{
    (void)state;
    struct nn_description *description =
        describe("{'layers': [{'name': 'in', 'kind': 'image_input', 'height': 1, 'width': 1,"
                 "'channels': 2}, {'name': 'relu', 'kind': 'relu'}]}");
    char out[256];
    assert_int_equal(names(description, "\"none\"", out), NN_OK);
    assert_int_equal(names(description, "\"all_but_head\"", out), NN_ERR_INVALID);
    nn_description_destroy(description);
}

static void an_lstm_can_be_the_head(void **state)
{
    (void)state;
    struct nn_description *description =
        describe("{'layers': [{'name': 'in', 'kind': 'sequence_input', 'features': 2},"
                 "{'name': 'fc', 'kind': 'fully_connected', 'outputs': 3},"
                 "{'name': 'last', 'kind': 'lstm', 'units': 1}]}");
    char out[256];
    assert_string_equal(nn_description_head(description), "last");
    assert_int_equal(names(description, "\"all_but_head\"", out), NN_OK);
    assert_string_equal(out, "in fc ");
    nn_description_destroy(description);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_named_by_what_feeds_them),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(a_network_without_a_head_has_none_to_train),
        cmocka_unit_test(an_lstm_can_be_the_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
