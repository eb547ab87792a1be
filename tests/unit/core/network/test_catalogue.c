/* SPDX-License-Identifier: MIT
 *
 * The catalogue: complete, valid, and of the published sizes.
 */
#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "core/base/embedded.h"
#include "tests/support/network.h"

static const struct nn_network_bind BIND = {
    .height = 28, .width = 28, .channels = 1, .classes = 10};

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

/* "sequence" where a sequence_input begins it; else "image", or "signal": images of one row. */
static bool takes_what_its_input_layer_does(const json_t *template)
{
    const char *input = json_string_value(json_object_get(template, "input"));
    const char *takes = json_string_value(json_object_get(template, "takes"));
    assert_non_null(takes);
    return strcmp(input, "sequence_input") == 0
               ? strcmp(takes, "sequence") == 0
               : strcmp(takes, "image") == 0 || strcmp(takes, "signal") == 0;
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
        assert_true(takes_what_its_input_layer_does(template));
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
        json_t *report = test_report(spec, &bind);
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
        json_t *report = test_report(spec, &bind);
        assert_true(test_number_at(report, "totals.learnables") == ROWS[i].learnables);
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
        json_t *report = test_report(spec, &bind);
        struct nn_description *description = NULL;
        assert_int_equal(nn_description_parse(spec, &description, NULL), NN_OK);
        json_t *shown = nn_description_json(description);
        json_t *layers = json_object_get(shown, "layers");
        json_t *stem = json_array_get(layers, 1);
        json_t *norm = json_array_get(layers, 2);
        json_t *mean = json_object_get(json_array_get(layers, 0), "mean");
        assert_true(test_number_at(report, "totals.learnables") == 4652008);
        assert_true(test_number_at(norm, "epsilon") == ROWS[i].epsilon);
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
        json_t *report = test_report(spec, &bind);
        assert_true(test_number_at(report, "totals.learnables") == ROWS[i].learnables);
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
        json_t *report = test_report(spec, &bind);
        assert_true(test_number_at(report, "totals.learnables") == ROWS[i].learnables);
        assert_int_equal(json_array_size(json_object_get(report, "issues")), 0);
        json_decref(report);
        json_decref(spec);
    }
}

static void hidden_sizes_become_layers(void **state)
{
    (void)state;
    json_t *spec = test_json("{'name': 'mlp', 'hidden': [30, 20], 'dropout': 0.5}");
    json_t *report = test_report(spec, &BIND);
    static const char *const NAMES[] = {"input", "flatten", "fc1",      "relu1", "dropout1",
                                        "fc2",   "relu2",   "dropout2", "fc",    "softmax"};
    assert_int_equal(json_array_size(json_object_get(report, "layers")), 10);
    for (size_t i = 0; i < 10; i++) {
        json_t *layer = json_array_get(json_object_get(report, "layers"), i);
        assert_string_equal(json_string_value(json_object_get(layer, "name")), NAMES[i]);
    }
    assert_true(test_number_at(report, "totals.learnables") ==
                784 * 30 + 30 + 30 * 20 + 20 + 20 * 10 + 10);
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
        json_t *report = test_report(spec, &bind);
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
        assert_true(test_number_at(report, "totals.learnables") == (double)LEARNABLES[depth - 1]);
        json_decref(report);
        json_decref(spec);
    }
    json_t *spec = test_json("{'name': 'lstm_classification', 'depth': 2, 'hidden': [10]}");
    const struct nn_network_bind classes = {.features = 5, .longest = 9, .classes = 3};
    json_t *report = test_report(spec, &classes);
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
        json_t *report = test_report(spec, &bind);
        assert_true(json_is_true(json_object_get(report, "valid")));
        assert_int_equal(json_array_size(json_object_get(report, "layers")), ROWS[i].layers);
        assert_true(test_number_at(report, "totals.learnables") == ROWS[i].learnables);
        json_decref(report);
        json_decref(spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_catalogue_is_what_is_compiled_in),
        cmocka_unit_test(every_template_is_complete_and_valid),
        cmocka_unit_test(image_networks_have_torchvisions_sizes),
        cmocka_unit_test(a_variant_changes_what_hangs_on_it),
        cmocka_unit_test(networks_of_the_shrinkage_paper_have_its_sizes),
        cmocka_unit_test(auxiliary_heads_have_torchvisions_sizes),
        cmocka_unit_test(hidden_sizes_become_layers),
        cmocka_unit_test(depth_stacks_lstm_layers),
        cmocka_unit_test(recurrent_templates_have_heads_of_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
