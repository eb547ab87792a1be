/* SPDX-License-Identifier: MIT
 *
 * Mistakes in descriptions: each is found, named, and placed; all come at once.
 */
#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/network.h"

static const struct nn_network_bind BIND = {
    .height = 28, .width = 28, .channels = 1, .classes = 10};

#define IN     "{'name': 'in', 'kind': 'image_input'}"
#define FC     "{'name': 'fc', 'kind': 'fully_connected'}"
#define SM     "{'name': 'sm', 'kind': 'softmax'}"
#define CONV   "{'name': 'c', 'kind': 'convolution', 'filters': 4, 'kernel': 3}"
#define NET(x) "{'layers': [" IN ", " x FC ", " SM "]}"

struct mistake {
    const char *text;
    const char *layer;   /* NULL: of no layer */
    const char *pointer; /* NULL: any */
    const char *part;    /* of the issue's text */
    const char *remedy;  /* part of its mend, or NULL */
};

static const struct mistake MISTAKES[] = {
    {"{}", NULL, "/name", "neither a name nor layers", "catalogue"},
    {"[]", NULL, "", "neither a name nor layers", NULL},
    {"{'name': 'simple_cn'}", NULL, "/name", "no network called", "did you mean \"simple_cnn\""},
    {"{'name': 'vgg'}", NULL, "/name", "no network called", "lists the names"},
    {"{'name': 'simple_cnn', 'filter': 3}", NULL, "/filter", "did you mean \"filters\"",
     "its parameters are"},
    {"{'name': 'simple_cnn', 'parameters': {'filter': 3}}", NULL, "/parameters/filter",
     "did you mean \"filters\"", "its parameters are"},
    {"{'name': 'simple_cnn', 'parameters': {'filters': 0}}", NULL, "/parameters/filters",
     "filters must be", NULL},
    {"{'name': 'simple_cnn', 'parameters': {}, 'filters': 3}", NULL, "/filters", "unknown field",
     NULL},
    {"{'name': 'simple_cnn', 'parameters': 3}", NULL, "/parameters", "object", NULL},
    {"{'name': 'simple_cnn', 'filters': 0}", NULL, "/filters", "from 1 to 4096", NULL},
    {"{'name': 'simple_cnn', 'filters': 2.5}", NULL, "/filters", "an integer", NULL},
    {"{'name': 'simple_cnn', 'kernel': 29}", "conv1", "", "does not fit the 28x28 image",
     "smaller"},
    {"{'name': 'simple_cnn', 'normalisation': 'zcore'}", NULL, "/normalisation", "zscore?", NULL},
    {"{'name': 'mlp', 'hidden': [0]}", NULL, "/hidden/0", "from 1 to 65536", NULL},
    {"{'layers': []}", NULL, "/layers", "1 to 1024 items", NULL},
    {"{'layers': {}}", NULL, "/layers", "must be an array", NULL},
    {"{'layers': [5]}", NULL, "/layers/0", "must be an object", NULL},
    {"{'layers': [" IN "], 'layer': 1}", NULL, "/layer", "unknown field", NULL},
    {"{'layers': [{'kind': 'relu'}]}", NULL, "/layers/0/name", "has no name", NULL},
    {"{'layers': [{'name': '1a', 'kind': 'relu'}]}", NULL, "/layers/0/name", "is no name", NULL},
    {"{'layers': [{'name': 'a b', 'kind': 'relu'}]}", NULL, "/layers/0/name", "is no name", NULL},
    {"{'layers': [{'name': 'a'}]}", "a", "/layers/0/kind", "has no kind", NULL},
    {NET("{'name': 'a', 'kind': 'fullyConnected'},"), "a", "/layers/1/kind", "no kind of layer",
     "did you mean \"fully_connected\""},
    {NET("{'name': 'a', 'kind': 'telepathy'},"), "a", "/layers/1/kind", "no kind of layer",
     "the kinds are image_input"},
    {"{'layers': [" IN ", {'name': 'a', 'kind': 'telepathy'}, " FC ", " SM "], 'layer': 1}", "a",
     "/layers/1/kind", "no kind of layer", NULL}, /* beside the field that is not known */
    {NET("{'name': 'a', 'kind': 'relu', 'slope': 1},"), "a", "/layers/1/slope", "unknown field",
     "no options"},
    {NET("{'name': 'a', 'kind': 'convolution', 'filters': 4, 'kernel_size': 3, 'kernel': 1},"), "a",
     "/layers/1/kernel_size", "did you mean \"kernel\"", "its options are filters, kernel"},
    {NET("{'name': 'a', 'kind': 'convolution', 'filters': 4},"), "a", "/layers/1/kernel",
     "kernel is required", NULL},
    {NET("{'name': 'a', 'kind': 'convolution', 'kernel': [3, 0]},"), "a", "/layers/1/kernel/1",
     "kernel/1 must be an integer", NULL},
    {NET("{'name': 'a', 'kind': 'convolution', 'kernel': 3, 'padding': [1, 2, 3]},"), "a",
     "/layers/1/padding", "three numbers", "[top, bottom, left, right]"},
    {NET("{'name': 'a', 'kind': 'convolution', 'kernel': 3, 'padding': 1, 'same_padding': true},"),
     "a", "/layers/1/padding", "both given", NULL},
    {NET("{'name': 'a', 'kind': 'convolution', 'kernel': 3, 'spacing': 2},"), "a",
     "/layers/1/spacing", "unknown field", NULL},
    {NET("{'name': 'a', 'kind': 'dropout', 'rate': 1},"), "a", "/layers/1/rate", "below 1", NULL},
    {NET("{'name': 'a', 'kind': 'batch_norm', 'epsilon': 0},"), "a", "/layers/1/epsilon", "above 0",
     NULL},
    {NET("{'name': 'a', 'kind': 'max_pool', 'kernel': 2, 'stride': 0},"), "a", "/layers/1/stride",
     "an integer from 1", NULL},
    {NET("{'name': 'a', 'kind': 'max_pool', 'kernel': 2, 'padding': 2},"), "a", "/layers/1/padding",
     "outside of the image", NULL},
    {NET("{'name': 'a', 'kind': 'max_pool', 'kernel': 400, 'padding': 399},"), "a",
     "/layers/1/kernel", "65535 pixels", "global_average_pool"},
    {NET("{'name': 'a', 'kind': 'fully_connected', 'outputs': 1048576},"
         "{'name': 'b', 'kind': 'fully_connected', 'outputs': 1048576},"
         "{'name': 'c', 'kind': 'fully_connected', 'outputs': 10485},"),
     NULL, NULL, NULL, NULL}, /* large, but it can be counted */
    {NET("{'name': 'a', 'kind': 'convolution', 'filters': 1048576, 'kernel': 1},"
         "{'name': 'b', 'kind': 'convolution', 'filters': 1048576, 'kernel': 3},"),
     "b", "/layers/2/filters", "too many to count", NULL},
    {NET("{'name': 'fc', 'kind': 'relu'},"), "fc", "/layers/2/name", "the same name", NULL},
    {"{'layers': [" FC ", " SM "]}", NULL, "/layers", "has no input", "image_input"},
    {"{'layers': [" IN ", " FC ", {'name': 'x', 'kind': 'image_input'}, " SM "]}", "x", "/layers/2",
     "more than one input", NULL},
    {"{'layers': [" IN ", " FC ", {'name': 'x', 'kind': 'image_input'}, " SM "]}", "x", "/layers/2",
     "takes no input", "put it first"},
    {"{'layers': [" IN "]}", "in", "/layers", "nothing that could learn", NULL},
    {"{'layers': [" IN ", " FC ", " SM "], 'connections': [['in', 'fc']]}", "sm", "/layers/2",
     "missing input", "connect the output"},
    {"{'layers': [" IN ", " CONV ", " FC ", " SM
     "], 'connections': [['in', 'c'], ['in', 'fc'], ['fc', 'sm']]}",
     "c", "/layers/1", "unused output", "connect it to a layer"},
    {"{'layers': [" IN ", " FC ", " SM "], 'connections': [['in', 'fv'], ['fc', 'sm']]}", NULL,
     "/connections/0/1", "which is no layer", "did you mean \"fc\""},
    {"{'layers': [" IN ", " FC ", " SM "], 'connections': [['in', 'fc', 'sm']]}", NULL,
     "/connections/0", "a pair of names", NULL},
    {"{'layers': [" IN ", " FC ", " SM "], 'connections': [['in', 'fc'], ['in', 'fc'],"
     " ['fc', 'sm']]}",
     "fc", "/connections/1", "twice", NULL},
    {"{'layers': [" IN ", " CONV ", " FC ", " SM
     "], 'connections': [['in', 'c'], ['c', 'fc'], ['in', 'fc'], ['fc', 'sm']]}",
     "fc", "/layers/2", "at most 1 input, not 2", "addition or a concatenation"},
    {NET("{'name': 'a', 'kind': 'addition'},"), "a", "/layers/1", "at least 2 inputs", NULL},
    {"{'layers': [" IN ", {'name': 'a', 'kind': 'addition'}, {'name': 'r', 'kind': 'relu'}, " FC
     ", " SM "], 'connections': [['in', 'a'], ['r', 'a'], ['a', 'r'], ['r', 'fc'], ['fc', 'sm']]}",
     NULL, NULL, "on a cycle", "circle"},
    {"{'layers': [" IN ", {'name': 'a', 'kind': 'relu'}, " FC ", " SM
     "], 'connections': [['a', 'a'], ['in', 'fc'], ['fc', 'sm']]}",
     "a", "/layers/1", "on a cycle", NULL},
    {"{'layers': [" IN ", " CONV ", {'name': 's', 'kind': 'addition'}, " FC ", " SM
     "], 'connections': [['in', 'c'], ['in', 's'], ['c', 's'], ['s', 'fc'], ['fc', 'sm']]}",
     "s", "/layers/2", "28x28x1 and 26x26x4", "one shape"},
    {"{'layers': [" IN ", " CONV ", {'name': 's', 'kind': 'concatenation'}, " FC ", " SM
     "], 'connections': [['in', 'c'], ['in', 's'], ['c', 's'], ['s', 'fc'], ['fc', 'sm']]}",
     "s", "/layers/2", "different sizes", "height and width"},
    {NET("{'name': 'f', 'kind': 'flatten'}, {'name': 'c', 'kind': 'convolution', 'filters': 2,"
         " 'kernel': 1},"),
     "c", "/layers/2", "cannot take a flattened image", "before the flatten"},
    {"{'layers': [" IN ", {'name': 'p', 'kind': 'convolution', 'filters': 784, 'kernel': 28},"
     " {'name': 'f', 'kind': 'flatten'}, {'name': 's', 'kind': 'addition'}, " FC ", " SM "],"
     " 'connections': [['in', 'p'], ['in', 'f'], ['p', 's'], ['f', 's'], ['s', 'fc'],"
     " ['fc', 'sm']]}",
     "s", "/layers/3", "flattened images of different sizes", "fully_connected"},
    {"{'layers': [" IN ", " FC "]}", "fc", "/layers/1", "must end in a softmax", NULL},
    {"{'layers': [" IN ", {'name': 'f', 'kind': 'fully_connected', 'outputs': 7}, " SM "]}", "f",
     "/layers/1", "7 scores, but the data set has 10", "set its outputs to 10"},
    {"{'layers': [" IN ", {'name': 'c', 'kind': 'convolution', 'kernel': 3}, " SM "]}", "c",
     "/layers/1", "ends in an image of 26x26x10", "global_average_pool"},
    {"{'layers': [" IN ", {'name': 'f', 'kind': 'fully_connected', 'outputs': 1}, " SM "]}", "sm",
     "/layers/2", "always 1", "two outputs"},
    {"{'layers': [{'name': 'in', 'kind': 'image_input', 'height': 32}, " FC ", " SM "]}", "in",
     "/layers/0/height", "is 32, but the images of the data set have 28", "give 0"},
    {"{'layers': [{'name': 'in', 'kind': 'image_input', 'normalisation': 'zscore',"
     " 'mean': [1, 2, 3]}, " FC ", " SM "]}",
     "in", "/layers/0/mean", "each of 1 channels", NULL},
    {"{'layers': [" IN ", {'name': 'p', 'kind': 'average_pool', 'kernel': 2}, {'name': 't',"
     " 'kind': 'soft_threshold', 'inputs': ['in', 'p']}, " FC ", " SM "]}",
     "t", "/layers/2", "second input of 14x14x1 does not span the first of 28x28x1", "one pixel"},
    {"{'layers': [" IN ", {'name': 'a', 'kind': 'max_pool', 'kernel': [1, 2]}, {'name': 'b',"
     " 'kind': 'max_pool', 'kernel': [2, 1], 'inputs': ['in']}, {'name': 'f', 'kind': 'flatten'},"
     " {'name': 'g', 'kind': 'flatten', 'inputs': ['a']}, {'name': 'm', 'kind': 'multiplication',"
     " 'inputs': ['f', 'g']}, " FC ", " SM "]}",
     "m", "/layers/5", "flattened images of different sizes", "fully_connected"},
    {"{'layers': [" IN ", {'name': 'm', 'kind': 'multiplication'}, " FC ", " SM "]}", "m",
     "/layers/1", "input", NULL},
};

/* What PyTorch, Keras and MATLAB call them. */
static const char *const SYNONYMS[][2] = {
    {"dense", "fully_connected"},
    {"Linear", "fully_connected"},
    {"fc", "fully_connected"},
    {"fullyConnectedLayer", "fully_connected"},
    {"avgpool", "average_pool"},
    {"AvgPool2d", "average_pool"},
    {"AveragePooling2D", "average_pool"},
    {"maxpool", "max_pool"},
    {"MaxPooling2D", "max_pool"},
    {"GlobalAveragePooling2D", "global_average_pool"},
    {"AdaptiveAvgPool2d", "adaptive_average_pool"},
    {"conv", "convolution"},
    {"Conv2d", "convolution"},
    {"convolution2dLayer", "convolution"},
    {"Conv1d", "temporal_convolution"},
    {"ConvTranspose2d", "transposed_convolution"},
    {"bn", "batch_norm"},
    {"batchnorm", "batch_norm"},
    {"BatchNorm2d", "batch_norm"},
    {"BatchNormalization", "batch_norm"},
    {"LayerNorm", "layer_norm"},
    {"swish", "silu"},
    {"relu6", "clipped_relu"},
    {"LeakyReLU", "leaky_relu"},
    {"concat", "concatenation"},
    {"add", "addition"},
    {"Dropout2d", "dropout"},
    {"ZeroPad2d", "spatial_padding"},
    {"bilstm", "lstm"},
    {"MultiheadAttention", "attention"},
    {"input", "image_input"},
};

static bool has_issue(const json_t *report, const struct mistake *m)
{
    size_t i;
    json_t *issue;
    json_array_foreach(json_object_get(report, "issues"), i, issue)
    {
        const char *layer = json_string_value(json_object_get(issue, "layer"));
        const char *pointer = json_string_value(json_object_get(issue, "pointer"));
        const char *text = json_string_value(json_object_get(issue, "text"));
        const char *mend = json_string_value(json_object_get(issue, "mend"));
        bool layer_fits = m->layer ? layer && strcmp(layer, m->layer) == 0 : true;
        bool pointer_fits = !m->pointer || strcmp(pointer, m->pointer) == 0;
        bool mend_fits = !m->remedy || (mend && strstr(mend, m->remedy));
        if (layer_fits && pointer_fits && mend_fits && strstr(text, m->part)) {
            return true;
        }
    }
    return false;
}

static void mistakes_are_found_and_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof MISTAKES / sizeof MISTAKES[0]; i++) {
        const struct mistake *m = &MISTAKES[i];
        json_t *spec = test_json(m->text);
        json_t *report = test_report(spec, &BIND);
        bool valid = json_is_true(json_object_get(report, "valid"));
        if (valid != (m->part == NULL) || (m->part && !has_issue(report, m))) {
            char *text = jx_dump(json_object_get(report, "issues"), NULL);
            fail_msg("%s\n%s", m->text, text);
        }
        assert_true(valid || json_is_null(jx_path_get(report, "totals.learnables")));
        json_decref(report);
        json_decref(spec);
    }
}

static void kinds_have_other_names_elsewhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof SYNONYMS / sizeof SYNONYMS[0]; i++) {
        char text[240], mend[64];
        (void)snprintf(text, sizeof text, NET("{'name': 'a', 'kind': '%s'},"), SYNONYMS[i][0]);
        (void)snprintf(mend, sizeof mend, "did you mean \"%s\"?", SYNONYMS[i][1]);
        const struct mistake m = {NULL, "a", "/layers/1/kind", "no kind of layer", mend};
        json_t *spec = test_json(text), *report = test_report(spec, &BIND);
        if (!has_issue(report, &m)) {
            fail_msg("%s: %s", SYNONYMS[i][0], test_text_at(report, "issues.0.mend"));
        }
        json_decref(report);
        json_decref(spec);
    }
}

/* One mistake in every layer, and in each repetition of a block: others are seen beside it. */
static void a_mistake_made_often_hides_no_other(void **state)
{
    (void)state;
    json_t *spec =
        test_json("{'blocks': {'unit': {'layers': [{'name': 'r', 'kind': 'relu', 'slope': 1}]}},"
                  " 'layers': [" IN
                  ", {'for_each': 300, 'layers': [{'name': 'u$index', 'block': 'unit'}]}, " CONV
                  ", {'name': 'd', 'kind': 'dropout', 'rate': 2}, " FC ", " SM "]}");
    json_t *report = test_report(spec, &BIND), *issues = json_object_get(report, "issues");
    const struct mistake last = {NULL, "d", "/layers/3/rate", "below 1", NULL};
    assert_true(has_issue(report, &last));
    assert_int_equal(json_array_size(issues), 2);
    assert_string_equal(test_text_at(issues, "0.pointer"), "/blocks/unit/layers/0/slope");
    assert_true(test_number_at(issues, "0.more") == 299);
    assert_true(test_number_at(issues, "1.more") == 0);
    json_decref(report);
    json_decref(spec);
    json_t *layers = json_array();
    for (int i = 0; i < 200; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "r%d", i);
        json_t *layer = json_pack("{s:s, s:s, s:i}", "name", name, "kind", "relu", "slope", i);
        assert_int_equal(json_array_append_new(layers, layer), 0);
    }
    assert_int_equal(json_array_append_new(layers, test_json("{'name': 'x', 'kind': 'dense'}")), 0);
    spec = json_pack("{s:o}", "layers", layers);
    report = test_report(spec, &BIND);
    issues = json_object_get(report, "issues");
    const struct mistake other = {NULL, "x", "/layers/200/kind", "no kind of layer", NULL};
    assert_true(has_issue(report, &other));
    assert_string_equal(test_text_at(issues, "7.layer"), "r7");
    assert_true(test_number_at(issues, "7.more") == 192);
    json_decref(report);
    json_decref(spec);
}

static void a_network_of_sequences_does_not_fit_signals(void **state)
{
    (void)state;
    const struct nn_network_bind signals = {
        .height = 1, .width = 64, .channels = 2, .signals = true, .classes = 3};
    json_t *spec = test_json("{'name': 'lstm_classification'}");
    json_t *report = test_report(spec, &signals);
    assert_non_null(strstr(test_text_at(report, "issues.0.text"), "windows of signals"));
    assert_null(strstr(test_text_at(report, "issues.0.text"), "images"));
    assert_non_null(strstr(test_text_at(report, "issues.0.mend"), "image_input"));
    json_decref(report);
    json_decref(spec);
}

/* Case A20: one class, one output, softmax. */
static void a_softmax_over_one_class_is_refused(void **state)
{
    (void)state;
    struct nn_network_bind one = BIND;
    one.classes = 1;
    json_t *spec = test_json("{'name': 'simple_cnn'}");
    json_t *report = test_report(spec, &one);
    assert_true(json_is_false(json_object_get(report, "valid")));
    const struct mistake m = {NULL, "softmax", "", "always 1", "two outputs"};
    assert_true(has_issue(report, &m));
    struct nn_description *description = NULL;
    struct nn_network *network = NULL;
    struct nn_error err = {0};
    struct nn_network_options options = {.max_batch = 8};
    assert_int_equal(nn_description_parse(spec, &description, &err), NN_OK);
    assert_int_equal(nn_network_create(description, &one, &options, &network, &err),
                     NN_ERR_INVALID);
    assert_non_null(strstr(err.text, "softmax over a single output is always 1"));
    nn_description_destroy(description);
    json_decref(report);
    json_decref(spec);
}

static void all_issues_come_at_once(void **state)
{
    (void)state;
    json_t *spec =
        test_json("{'layers': [{'name': 'a', 'kind': 'convolutoin'}, {'kind': 'relu', 'x': 1},"
                  " {'name': 'd', 'kind': 'dropout', 'rate': 2}], 'connections': [['a', 'z']]}");
    json_t *report = test_report(spec, NULL);
    assert_true(json_array_size(json_object_get(report, "issues")) >= 7);
    assert_int_equal(json_array_size(json_object_get(report, "layers")), 3);
    struct nn_description *description = NULL;
    struct nn_error err = {0};
    assert_int_equal(nn_description_parse(spec, &description, &err), NN_ERR_INVALID);
    assert_string_equal(err.pointer, "/layers/0/kind");
    assert_non_null(strstr(err.text, "layer \"a\": there is no kind of layer"));
    assert_non_null(strstr(err.text, "more)"));
    assert_null(description);
    json_decref(report);
    json_decref(spec);
}

/* Two circles beside each other, and one that hangs on another. */
static void every_cycle_is_an_issue(void **state)
{
    (void)state;
    static const struct {
        const char *connections;
        size_t cycles;
    } rows[] = {
        {"['in', 'a'], ['b', 'a'], ['a', 'b'], ['in', 'c'], ['d', 'c'], ['c', 'd']", 2},
        {"['in', 'a'], ['b', 'a'], ['a', 'b'], ['b', 'c'], ['d', 'c'], ['c', 'd']", 2},
        {"['d', 'a'], ['b', 'a'], ['a', 'b'], ['b', 'c'], ['in', 'c'], ['c', 'd']", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[600];
        (void)snprintf(
            text, sizeof text,
            "{'layers': [" IN ", {'name': 'a', 'kind': 'addition'}, {'name': 'b', 'kind':"
            " 'relu'}, {'name': 'c', 'kind': 'addition'}, {'name': 'd', 'kind': 'relu'}, " FC
            ", " SM "], 'connections': [%s, ['d', 'fc'], ['fc', 'sm']]}",
            rows[i].connections);
        json_t *spec = test_json(text), *report = test_report(spec, &BIND), *issue;
        size_t k, cycles = 0;
        json_array_foreach(json_object_get(report, "issues"), k, issue)
        {
            cycles += strstr(test_text_at(issue, "text"), "on a cycle") != NULL;
        }
        assert_int_equal(cycles, rows[i].cycles);
        json_decref(report);
        json_decref(spec);
    }
}

static void the_list_of_issues_is_bounded(void **state)
{
    (void)state;
    json_t *spec = json_object();
    json_t *layers = json_array();
    json_t *connections = json_array();
    for (int i = 0; i < 1024; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "layer_with_a_long_name_%d", i);
        json_t *layer = json_pack("{s:s, s:s}", "name", name, "kind", "relu");
        assert_int_equal(json_array_append_new(layers, layer), 0);
    }
    for (int i = 0; i < 4096; i++) {
        json_t *pair = json_pack("[s, s]", "layer_with_a_long_nam_1x", "layer_with_a_long_nam_2x");
        assert_int_equal(json_array_append_new(connections, pair), 0);
    }
    json_object_set_new(spec, "layers", layers);
    json_object_set_new(spec, "connections", connections);
    json_t *report = test_report(spec, &BIND);
    size_t n = json_array_size(json_object_get(report, "issues"));
    assert_in_range(n, 20, 100);
    assert_true(test_number_at(report, "issues.14.more") > 1000);
    json_decref(report);
    json_decref(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_found_and_named),
        cmocka_unit_test(kinds_have_other_names_elsewhere),
        cmocka_unit_test(a_mistake_made_often_hides_no_other),
        cmocka_unit_test(a_network_of_sequences_does_not_fit_signals),
        cmocka_unit_test(a_softmax_over_one_class_is_refused),
        cmocka_unit_test(all_issues_come_at_once),
        cmocka_unit_test(every_cycle_is_an_issue),
        cmocka_unit_test(the_list_of_issues_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
