/* SPDX-License-Identifier: MIT
 *
 * core/network: descriptions and reports: every structural and size mistake is found, named, and
 * comes with a remedy; good descriptions survive being written out and read again.
 */
#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/embedded.h"
#include "tests/support/network.h"

static const struct nn_network_bind BIND = {
    .height = 28, .width = 28, .channels = 1, .classes = 10};

static json_t *report_of(json_t *spec, const struct nn_network_bind *bind)
{
    json_t *report = NULL;
    struct nn_error err = {0};
    assert_int_equal(nn_network_analyze(spec, bind, 128, &report, &err), NN_OK);
    assert_non_null(report);
    return report;
}

/* ---- the simple network, by hand ---- */

static double number(const json_t *report, const char *path)
{
    return json_number_value(jx_path_get(report, path));
}

static void the_report_says_what_can_be_counted_by_hand(void **state)
{
    (void)state;
    json_t *spec = test_json("{'name': 'simple_cnn'}");
    json_t *report = report_of(spec, &BIND);
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
    assert_true(number(report, "layers.1.learnable_count") == 520);
    assert_true(number(report, "layers.1.multiply_adds") == 24 * 24 * 20 * 25);
    assert_true(number(report, "layers.4.multiply_adds") == 115200);
    assert_true(number(report, "totals.learnables") == 520 + 40 + 115210);
    assert_true(number(report, "totals.states") == 40);
    assert_true(number(report, "totals.batch_size") == 128);
    double training = number(report, "totals.training_bytes");
    double inference = number(report, "totals.inference_bytes");
    assert_true(inference > 128.0 * 24 * 24 * 20 * sizeof(nn_real));
    assert_true(training > inference && training < 10 * inference);
    json_decref(report);
    json_decref(spec);
}

static void sizes_are_null_without_a_data_set(void **state)
{
    (void)state;
    json_t *spec = test_json("{'name': 'simple_cnn', 'filters': 4}");
    json_t *report = report_of(spec, NULL);
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

/* ---- mistakes ---- */

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
        json_t *report = report_of(spec, &BIND);
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

/* Case A20: one class, one output, softmax. */
static void a_softmax_over_one_class_is_refused(void **state)
{
    (void)state;
    struct nn_network_bind one = BIND;
    one.classes = 1;
    json_t *spec = test_json("{'name': 'simple_cnn'}");
    json_t *report = report_of(spec, &one);
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
    json_t *report = report_of(spec, NULL);
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
    json_t *report = report_of(spec, &BIND);
    size_t n = json_array_size(json_object_get(report, "issues"));
    assert_in_range(n, 100, 2200);
    json_decref(report);
    json_decref(spec);
}

static void warnings_do_not_refuse(void **state)
{
    (void)state;
    json_t *spec = test_json("{'layers': [" IN ", " FC ", {'name': 'r', 'kind': 'relu'}, " SM "]}");
    json_t *report = report_of(spec, &BIND);
    assert_true(json_is_true(json_object_get(report, "valid")));
    assert_string_equal(json_string_value(jx_path_get(report, "issues.0.severity")), "warning");
    json_decref(report);
    json_decref(spec);
}

/* ---- round trips and the catalogue ---- */

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
        json_t *report = report_of(spec, &BIND);
        json_t *report_again = report_of(json_object_get(report, "description"), &BIND);
        assert_true(json_equal(report, report_again));
        json_decref(report_again);
        report_again = report_of(full, &BIND);
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

static void the_catalogue_is_what_is_compiled_in(void **state)
{
    (void)state;
    size_t files = 0;
    for (const struct nn_embedded_file *f = nn_embedded_table; f->name; f++) {
        char name[96];
        assert_non_null(nn_catalogue_name(files));
        (void)snprintf(name, sizeof name, "%s.json", nn_catalogue_name(files));
        assert_string_equal(f->name, name);
        files++;
    }
    assert_int_equal(files, nn_catalogue_count());
    assert_null(nn_catalogue_name(files));
    assert_null(nn_catalogue_get("no_such_network"));
}

/* Images of the size and channels that a template says, or small grey ones. */
static struct nn_network_bind images_of(const json_t *template)
{
    const json_t *layers = jx_path_get(template, "description.layers");
    json_t *channels = json_object_get(json_array_get(layers, 0), "channels");
    size_t i, side = 0;
    json_t *p;
    json_array_foreach(json_object_get(template, "parameters"), i, p)
    {
        bool is_size = strcmp(json_string_value(json_object_get(p, "name")), "size") == 0;
        side = is_size ? (size_t)json_integer_value(json_object_get(p, "default")) : side;
    }
    const struct nn_network_bind photos = {
        .height = side, .width = side, .channels = 3, .classes = 10};
    return channels ? photos : BIND;
}

/* Images, or sequences to classify or to predict numbers of. */
static struct nn_network_bind data_of(const json_t *template)
{
    const json_t *layers = jx_path_get((json_t *)(uintptr_t) template, "description.layers");
    const json_t *last = json_array_get(layers, json_array_size(layers) - 1);
    if (strcmp(json_string_value(json_object_get(json_array_get(layers, 0), "kind")),
               "sequence_input") != 0) {
        return images_of(template);
    }
    bool classifies = strcmp(json_string_value(json_object_get(last, "kind")), "softmax") == 0 &&
                      !json_object_get(last, "if"); /* by default it is not there */
    return (struct nn_network_bind){.features = 17,
                                    .longest = 362,
                                    .classes = classifies ? 4 : 0,
                                    .responses = classifies ? 0 : 1};
}

static void every_template_is_complete_and_valid(void **state)
{
    (void)state;
    for (size_t i = 0; i < nn_catalogue_count(); i++) {
        json_t *template = nn_catalogue_get(nn_catalogue_name(i));
        assert_non_null(template);
        assert_string_equal(json_string_value(json_object_get(template, "name")),
                            nn_catalogue_name(i));
        assert_true(json_is_string(json_object_get(template, "title")));
        assert_true(json_is_array(jx_path_get(template, "description.layers")));
        size_t k;
        json_t *p;
        json_array_foreach(json_object_get(template, "parameters"), k, p)
        {
            assert_true(json_is_string(json_object_get(p, "text")));
            assert_non_null(json_object_get(p, "default"));
        }
        json_t *spec = json_pack("{s:s}", "name", nn_catalogue_name(i));
        const struct nn_network_bind bind = data_of(template);
        json_t *report = report_of(spec, &bind);
        assert_true(json_is_true(json_object_get(report, "valid")));
        json_decref(report);
        json_decref(spec);
        json_decref(template);
    }
}

/* Learnable numbers as torchvision (and timm) count them, for their 1000 classes and for 5. */
static void image_networks_have_torchvisions_sizes(void **state)
{
    static const struct {
        const char *name;
        size_t classes;
        double learnables;
    } ROWS[] = {{"squeezenet1_0", 1000, 1248424}, {"squeezenet1_0", 5, 737989},
                {"squeezenet1_1", 1000, 1235496}, {"squeezenet1_1", 5, 725061},
                {"mobilenet_v2", 1000, 3504872},  {"efficientnet_lite0", 1000, 4652008},
                {"resnet18", 1000, 11689512},     {"resnet50", 1000, 25557032},
                {"googlenet", 1000, 6624904},     {"googlenet", 5, 5605029},
                {"inception_v3", 1000, 23834568}, {"inception_v3", 5, 21795813}};
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        size_t side = strcmp(ROWS[i].name, "inception_v3") == 0 ? 299 : 224;
        const struct nn_network_bind bind = {
            .height = side, .width = side, .channels = 3, .classes = ROWS[i].classes};
        json_t *spec = json_pack("{s:s}", "name", ROWS[i].name);
        json_t *report = report_of(spec, &bind);
        assert_true(number(report, "totals.learnables") == ROWS[i].learnables);
        assert_int_equal(json_array_size(json_object_get(report, "issues")), 0);
        json_decref(report);
        json_decref(spec);
    }
}

/* What hangs on a choice of a template: the same learnables, other edges and epsilon. */
static void a_variant_changes_what_hangs_on_it(void **state)
{
    static const struct {
        const char *variant;
        double epsilon, mean;
        bool same;
    } ROWS[] = {{"timm", 1e-5, 123.675, false}, {"tensorflow", 1e-3, 127, true}};
    const struct nn_network_bind bind = {
        .height = 224, .width = 224, .channels = 3, .classes = 1000};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        json_t *spec =
            json_pack("{s:s, s:s}", "name", "efficientnet_lite0", "variant", ROWS[i].variant);
        json_t *report = report_of(spec, &bind);
        struct nn_description *description = NULL;
        assert_int_equal(nn_description_parse(spec, &description, NULL), NN_OK);
        json_t *shown = nn_description_json(description);
        json_t *layers = json_object_get(shown, "layers");
        json_t *stem = json_array_get(layers, 1);
        json_t *norm = json_array_get(layers, 2);
        json_t *mean = json_object_get(json_array_get(layers, 0), "mean");
        assert_true(number(report, "totals.learnables") == 4652008);
        assert_true(number(norm, "epsilon") == ROWS[i].epsilon);
        assert_true(json_is_true(json_object_get(stem, "same_padding")) == ROWS[i].same);
        assert_int_equal(json_array_size(json_object_get(stem, "padding")), !ROWS[i].same);
        assert_true(json_number_value(json_array_get(mean, 0)) == ROWS[i].mean);
        json_decref(shown);
        nn_description_destroy(description);
        json_decref(report);
        json_decref(spec);
    }
}

/* Of the paper on residual shrinkage, for signals of 2048 numbers in eight classes. */
static void networks_of_the_shrinkage_paper_have_its_sizes(void **state)
{
    static const struct {
        const char *name;
        size_t height;
        double learnables;
    } ROWS[] = {{"convnet_1d", 1, 8416},
                {"resnet_1d", 1, 8416},
                {"drsn_cs_1d", 1, 10220},
                {"drsn_cw_1d", 1, 11552}};
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const struct nn_network_bind bind = {
            .height = ROWS[i].height, .width = 2048, .channels = 1, .classes = 8};
        json_t *spec = json_pack("{s:s}", "name", ROWS[i].name);
        json_t *report = report_of(spec, &bind);
        assert_true(number(report, "totals.learnables") == ROWS[i].learnables);
        assert_int_equal(json_array_size(json_object_get(report, "issues")), 0);
        json_decref(report);
        json_decref(spec);
    }
}

/* The same with the branches that only training has. */
static void auxiliary_heads_have_torchvisions_sizes(void **state)
{
    static const struct {
        const char *name;
        size_t side, classes;
        double learnables;
    } ROWS[] = {{"googlenet", 224, 1000, 13004888},
                {"inception_v3", 299, 1000, 27161264},
                {"inception_v3", 299, 5, 24357354}};
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const struct nn_network_bind bind = {.height = ROWS[i].side,
                                             .width = ROWS[i].side,
                                             .channels = 3,
                                             .classes = ROWS[i].classes};
        json_t *spec = json_pack("{s:s, s:b}", "name", ROWS[i].name, "auxiliary_heads", 1);
        json_t *report = report_of(spec, &bind);
        assert_true(number(report, "totals.learnables") == ROWS[i].learnables);
        assert_int_equal(json_array_size(json_object_get(report, "issues")), 0);
        json_decref(report);
        json_decref(spec);
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

static void hidden_sizes_become_layers(void **state)
{
    (void)state;
    json_t *spec = test_json("{'name': 'mlp', 'hidden': [30, 20], 'dropout': 0.5}");
    json_t *report = report_of(spec, &BIND);
    static const char *const NAMES[] = {"input", "flatten", "fc1",      "relu1", "dropout1",
                                        "fc2",   "relu2",   "dropout2", "fc",    "softmax"};
    assert_int_equal(json_array_size(json_object_get(report, "layers")), 10);
    for (size_t i = 0; i < 10; i++) {
        json_t *layer = json_array_get(json_object_get(report, "layers"), i);
        assert_string_equal(json_string_value(json_object_get(layer, "name")), NAMES[i]);
    }
    assert_true(number(report, "totals.learnables") == 784 * 30 + 30 + 30 * 20 + 20 + 20 * 10 + 10);
    json_decref(report);
    json_decref(spec);
}

/* Without a data set the length of sequences is open, so bytes are; sizes are not. */
static void sequences_can_be_described_in_full(void **state)
{
    (void)state;
    json_t *spec = test_json("{'layers': [{'name': 'in', 'kind': 'sequence_input', 'features': 3},"
                             "{'name': 'l', 'kind': 'lstm', 'units': 4}]}");
    json_t *report = report_of(spec, NULL);
    assert_true(json_is_true(json_object_get(report, "valid")));
    assert_true(number(report, "totals.learnables") == 4 * 4 * (3 + 4 + 1));
    assert_true(json_is_null(jx_path_get(report, "totals.training_bytes")));
    json_decref(report);
    json_decref(spec);
}

static void depth_stacks_lstm_layers(void **state)
{
    (void)state;
    static const size_t LEARNABLES[] = {184501, 505301, 826101};
    const struct nn_network_bind bind = {.features = 17, .longest = 362, .responses = 1};
    for (int depth = 1; depth <= 3; depth++) {
        json_t *spec = json_pack("{s:s, s:i}", "name", "lstm_regression", "depth", depth);
        json_t *report = report_of(spec, &bind);
        json_t *layers = json_object_get(report, "layers");
        assert_true(json_is_true(json_object_get(report, "valid")));
        assert_int_equal(json_array_size(layers), (size_t)depth + 4);
        for (int i = 1; i <= depth; i++) {
            char name[16];
            json_t *layer = json_array_get(layers, (size_t)i);
            (void)snprintf(name, sizeof name, "lstm%d", i);
            assert_string_equal(json_string_value(json_object_get(layer, "name")), name);
            assert_string_equal(json_string_value(json_object_get(layer, "format")), "CT");
        }
        assert_true(number(report, "totals.learnables") == (double)LEARNABLES[depth - 1]);
        json_decref(report);
        json_decref(spec);
    }
    json_t *spec = test_json("{'name': 'lstm_classification', 'depth': 2, 'hidden': [10]}");
    const struct nn_network_bind classes = {.features = 5, .longest = 9, .classes = 3};
    json_t *report = report_of(spec, &classes);
    static const char *const FORMATS[] = {"CT", "CT", "C", "C", "C", "C", "C"};
    assert_int_equal(json_array_size(json_object_get(report, "layers")), 7);
    for (size_t i = 0; i < 7; i++) {
        json_t *layer = json_array_get(json_object_get(report, "layers"), i);
        assert_string_equal(json_string_value(json_object_get(layer, "format")), FORMATS[i]);
    }
    json_decref(report);
    json_decref(spec);
}

/* Counted by hand: of a GRU 3 gates with two biases, of an LSTM 4 with one, for each direction. */
static void recurrent_templates_have_heads_of_choice(void **state)
{
    static const struct {
        const char *spec;
        size_t layers;
        double learnables;
    } ROWS[] = {
        {"{'name': 'gru', 'units': 7, 'hidden': []}", 4, 3 * 7 * (5 + 7 + 2) + 8},
        {"{'name': 'gru', 'units': 7, 'hidden': [4], 'depth': 2, 'task': 'classification'}", 7,
         3 * 7 * (5 + 7 + 2) + 3 * 7 * (7 + 7 + 2) + 8 * 4 + 5 * 3},
        {"{'name': 'bilstm', 'units': 7, 'hidden': [], 'output': 'last'}", 4,
         2 * 4 * 7 * (5 + 7 + 1) + 15},
        {"{'name': 'bilstm', 'units': 7, 'hidden': [], 'depth': 2, 'task': 'classification'}", 6,
         2 * 4 * 7 * (5 + 7 + 1) + 2 * 4 * 7 * (14 + 7 + 1) + 15 * 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        bool classes = strstr(ROWS[i].spec, "classification") != NULL;
        const struct nn_network_bind bind = {
            .features = 5, .longest = 9, .classes = classes ? 3 : 0, .responses = classes ? 0 : 1};
        json_t *spec = test_json(ROWS[i].spec);
        json_t *report = report_of(spec, &bind);
        assert_true(json_is_true(json_object_get(report, "valid")));
        assert_int_equal(json_array_size(json_object_get(report, "layers")), ROWS[i].layers);
        assert_true(number(report, "totals.learnables") == ROWS[i].learnables);
        json_decref(report);
        json_decref(spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_report_says_what_can_be_counted_by_hand),
        cmocka_unit_test(sizes_are_null_without_a_data_set),
        cmocka_unit_test(what_is_shown_is_taken_back),
        cmocka_unit_test(mistakes_are_found_and_named),
        cmocka_unit_test(a_softmax_over_one_class_is_refused),
        cmocka_unit_test(all_issues_come_at_once),
        cmocka_unit_test(the_list_of_issues_is_bounded),
        cmocka_unit_test(warnings_do_not_refuse),
        cmocka_unit_test(a_description_written_out_is_the_same_network),
        cmocka_unit_test(the_catalogue_is_what_is_compiled_in),
        cmocka_unit_test(every_template_is_complete_and_valid),
        cmocka_unit_test(image_networks_have_torchvisions_sizes),
        cmocka_unit_test(a_variant_changes_what_hangs_on_it),
        cmocka_unit_test(auxiliary_heads_have_torchvisions_sizes),
        cmocka_unit_test(networks_of_the_shrinkage_paper_have_its_sizes),
        cmocka_unit_test(what_is_frozen),
        cmocka_unit_test(hidden_sizes_become_layers),
        cmocka_unit_test(sequences_can_be_described_in_full),
        cmocka_unit_test(depth_stacks_lstm_layers),
        cmocka_unit_test(recurrent_templates_have_heads_of_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
