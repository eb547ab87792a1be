/* SPDX-License-Identifier: MIT
 *
 * core/exchange: graphs that PyTorch exported (tests/golden/make_onnx_export.py) as networks of
 * ours, with PyTorch's own outputs; and networks of ours written as ONNX and read again.
 */
#include "tests/support/cmocka_all.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/exchange/exchange.h"
#include "core/exchange/onnx.h"
#include "core/files/weights.h"
#include "core/network/network.h"
#include "tests/support/onnx_written.h"

#define GOLDEN    "tests/golden/onnx/"
#define TOLERANCE 2e-6

/* ---- a file as a network ---- */

struct model {
    struct nn_weights *file;
    struct nn_onnx_import *import;
    struct nn_description *description;
    struct nn_network *network;
};

static void model_close(struct model *model)
{
    nn_network_destroy(model->network);
    nn_description_destroy(model->description);
    nn_onnx_import_destroy(model->import);
    nn_weights_close(model->file);
}

static struct model model_open(const char *path, const struct nn_network_bind *bind,
                               const struct nn_network_options *options)
{
    struct model model = {.file = NULL};
    struct nn_error err = {0};
    size_t n = 0;
    enum nn_status status = nn_weights_open(path, NULL, &model.file, &err);
    if (status == NN_OK) {
        status = nn_onnx_import_create(nn_weights_model(model.file), &model.import, &err);
    }
    if (status == NN_OK) {
        status = nn_description_parse(nn_onnx_import_description(model.import), &model.description,
                                      &err);
    }
    if (status == NN_OK) {
        status = nn_network_create(model.description, bind, options, &model.network, &err);
    }
    if (status == NN_OK) {
        const struct nn_file_tensor *tensors = nn_onnx_import_tensors(model.import, &n);
        status = nn_exchange_import(model.network, tensors, n, NN_MATCH_HEAD_KEPT, NULL, &err);
    }
    if (status != NN_OK) {
        fail_msg("%s: %s %s", path, err.pointer, err.text);
    }
    return model;
}

static void compare(const char *what, const nn_real *ours, const nn_real *theirs, size_t n)
{
    double worst = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        worst = fmax(worst, fabs((double)ours[i] - (double)theirs[i]));
        largest = fmax(largest, fabs((double)theirs[i]));
    }
    if (!(worst <= TOLERANCE * largest)) {
        fail_msg("%s: off by %g of %g", what, worst, largest);
    }
}

/* ---- PyTorch's files ---- */

static nn_real *numbers(const json_t *document, const char *key, size_t *out_n)
{
    const json_t *list = json_object_get(document, key);
    *out_n = json_array_size(list);
    nn_real *values = calloc(*out_n + 1, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < *out_n; i++) {
        values[i] = (nn_real)json_number_value(json_array_get(list, i));
    }
    return values;
}

static json_t *document_of(const char *name)
{
    char path[80];
    (void)snprintf(path, sizeof path, GOLDEN "export_%s.json", name);
    json_t *document = json_load_file(path, 0, NULL);
    assert_non_null(document);
    return document;
}

static void images_say_what_pytorch_says(void **state)
{
    static const char *const NAMES[] = {"cnn", "folded", "frames"};
    const struct nn_network_bind bind = {.height = 9, .width = 9, .channels = 3, .classes = 3};
    const struct nn_network_options options = {.max_batch = 2, .phase = NN_PHASE_INFERENCE};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        char path[80];
        size_t n, n_out;
        json_t *document = document_of(NAMES[k]);
        nn_real *input = numbers(document, "input", &n);
        nn_real *output = numbers(document, "output", &n_out);
        (void)snprintf(path, sizeof path, GOLDEN "export_%s.onnx", NAMES[k]);
        struct model model = model_open(path, &bind, &options);
        for (size_t i = 0; i < n; i++) { /* [N, C, H, W] -> rows of pixels */
            size_t sample = i / 243, channel = i / 81 % 3, pixel = i % 81;
            nn_network_input(model.network)[(sample * 81 + pixel) * 3 + channel] = input[i];
        }
        nn_network_forward(model.network, 2, NN_PHASE_INFERENCE, NULL);
        assert_true(nn_network_ends_in_softmax(model.network));
        assert_int_equal(n_out, 2 * nn_network_output_size(model.network));
        compare(NAMES[k], nn_network_output(model.network), output, n_out);
        model_close(&model);
        json_decref(document);
        free(input);
        free(output);
    }
}

static void names_are_those_of_the_modules(void **state)
{
    static const char *const FILES[] = {GOLDEN "export_cnn.onnx", GOLDEN "export_folded.onnx"};
    static const char *const NAMES[] = {"stem.0.weight", "depthwise.weight", "left.bias",
                                        "fc.weight", "head.weight"};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct nn_weights *file = NULL;
        struct nn_onnx_import *import = NULL;
        size_t n, found = 0;
        assert_int_equal(nn_weights_open(FILES[k], NULL, &file, NULL), NN_OK);
        assert_int_equal(nn_onnx_import_create(nn_weights_model(file), &import, NULL), NN_OK);
        const struct nn_file_tensor *tensors = nn_onnx_import_tensors(import, &n);
        for (size_t i = 0; i < n; i++) {
            assert_true(i == 0 || strcmp(tensors[i - 1].name, tensors[i].name) < 0);
            for (size_t m = 0; m < 5; m++) {
                found += strcmp(tensors[i].name, NAMES[m]) == 0;
            }
        }
        assert_int_equal(found, 5);
        nn_onnx_import_destroy(import);
        nn_weights_close(file);
    }
}

/* name: of a graph that gives rows of steps, or one of each sequence. */
static void check_steps(const char *name)
{
    enum { STEPS = 5, BATCH = 2, FEATURES = 3, OUTPUTS = 2 };
    const struct nn_network_bind bind = {
        .features = FEATURES, .longest = STEPS, .responses = OUTPUTS};
    const struct nn_network_options options = {.max_batch = BATCH, .phase = NN_PHASE_INFERENCE};
    static const size_t LENGTHS[BATCH] = {STEPS, STEPS};
    nn_real samples[BATCH][STEPS][FEATURES], rows[STEPS * BATCH * OUTPUTS];
    char path[80];
    size_t n, n_out;
    json_t *document = document_of(name);
    nn_real *input = numbers(document, "input", &n), *output = numbers(document, "output", &n_out);
    (void)snprintf(path, sizeof path, GOLDEN "export_%s.onnx", name);
    struct model model = model_open(path, &bind, &options);
    for (size_t i = 0; i < n; i++) { /* [T, N, C] */
        samples[i / FEATURES % BATCH][i / FEATURES / BATCH][i % FEATURES] = input[i];
    }
    const nn_real *const sequences[BATCH] = {&samples[0][0][0], &samples[1][0][0]};
    const struct nn_sequence_batch batch = {sequences, LENGTHS, BATCH};
    nn_network_load_sequences(model.network, &batch);
    nn_network_forward(model.network, BATCH, NN_PHASE_INFERENCE, NULL);
    bool steps = nn_network_output_is_sequence(model.network);
    assert_int_equal(n_out, (size_t)(steps ? STEPS : 1) * BATCH * OUTPUTS);
    for (size_t i = 0; i < n_out; i++) {
        size_t row = nn_network_output_row(model.network, i / OUTPUTS % BATCH, i / OUTPUTS / BATCH);
        rows[i] = nn_network_output(model.network)[row * OUTPUTS + i % OUTPUTS];
    }
    compare(name, rows, output, n_out);
    model_close(&model);
    json_decref(document);
    free(input);
    free(output);
}

static void steps_say_what_pytorch_says(void **state)
{
    (void)state;
    check_steps("lstm");
    check_steps("recurrent");
}

static void check_refused(const char *path, const char *reason)
{
    struct nn_weights *file = NULL;
    struct nn_onnx_import *import = NULL;
    struct nn_error err = {0};
    assert_int_equal(nn_weights_open(path, NULL, &file, &err), NN_OK);
    assert_int_equal(nn_onnx_import_create(nn_weights_model(file), &import, &err),
                     NN_ERR_NOT_SUPPORTED);
    assert_string_equal(err.text, reason);
    nn_weights_close(file);
}

static void all_operators_that_lack_are_named(void **state)
{
    (void)state;
    check_refused(GOLDEN "export_unknown.onnx", "2 nodes of the graph cannot be read: Sin, Cos");
    check_refused(
        GOLDEN "export_refused.onnx",
        "5 nodes of the graph cannot be read: Slice (other than edges cut from an image, "
        "counted from each end), Pad (of pixels and channels at once, or channels other "
        "than zero), LayerNormalization (other than of channels with constant scales and "
        "shifts), Transpose (other than of a constant matrix, or of channels and states)");
}

/* ---- our files ---- */

static const char IMAGES[] =
    "{'layers': [{'name': 'input', 'kind': 'image_input', 'normalisation': 'zscore',"
    "             'mean': [1, 2], 'std': [3, 4]},"
    "  {'name': 'conv', 'kind': 'convolution', 'filters': 6, 'kernel': [3, 2], 'padding': [1, 0, "
    "2, 1],"
    "   'stride': [2, 1]},"
    "  {'name': 'elu', 'kind': 'elu', 'alpha': 0.7}, {'name': 'gelu', 'kind': 'gelu'},"
    "  {'name': 'silu', 'kind': 'silu'}, {'name': 'hard', 'kind': 'hard_swish'},"
    "  {'name': 'leaky', 'kind': 'leaky_relu', 'slope': 0.2},"
    "  {'name': 'lrn', 'kind': 'local_response_norm', 'size': 4},"
    "  {'name': 'clip', 'kind': 'clipped_relu'},"
    "  {'name': 'average', 'kind': 'average_pool', 'kernel': 3, 'stride': 2, 'padding': 1,"
    "   'ceil_mode': true, 'count_padding': false},"
    "  {'name': 'pad', 'kind': 'channel_padding', 'before': 1, 'after': 2},"
    "  {'name': 'max', 'kind': 'max_pool', 'kernel': 2, 'stride': 2, 'ceil_mode': true},"
    "  {'name': 'same', 'kind': 'convolution', 'filters': 9, 'kernel': 3, 'same_padding': true},"
    "  {'name': 'sum', 'kind': 'addition', 'inputs': ['same', 'max']},"
    "  {'name': 'mean', 'kind': 'channel_mean'}, {'name': 'tanh', 'kind': 'tanh'},"
    "  {'name': 'sigmoid', 'kind': 'sigmoid'},"
    "  {'name': 'times', 'kind': 'multiplication', 'inputs': ['sum', 'sigmoid']},"
    "  {'name': 'abs', 'kind': 'absolute'}, {'name': 'drop', 'kind': 'dropout'},"
    "  {'name': 'output', 'kind': 'flatten'}, {'name': 'bn', 'kind': 'batch_norm'},"
    "  {'name': 'fc', 'kind': 'fully_connected'}, {'name': 'scores', 'kind': 'softmax'}]}";
/* A norm over many more numbers than channels would hide a mistake in one of them. */
static const char FRAMES[] =
    "{'layers': [{'name': 'image', 'kind': 'image_input', 'normalisation': 'none'},"
    "  {'name': 'around', 'kind': 'spatial_padding', 'size': [1, 2, 3, 0], 'value': 0.25},"
    "  {'name': 'conv', 'kind': 'convolution', 'filters': 6, 'kernel': 3, 'stride': 2},"
    "  {'name': 'layer', 'kind': 'layer_norm', 'epsilon': 1e-3},"
    "  {'name': 'up', 'kind': 'transposed_convolution', 'filters': 8, 'kernel': [3, 2],"
    "   'stride': [2, 3], 'padding': [1, 0, 0, 1], 'output_padding': [1, 2], 'groups': 2},"
    "  {'name': 'groups', 'kind': 'group_norm', 'groups': 4},"
    "  {'name': 'mirror', 'kind': 'spatial_padding', 'size': 2, 'mode': 'reflect'},"
    "  {'name': 'crop', 'kind': 'cropping', 'size': [1, 0, 2, 3]},"
    "  {'name': 'wide', 'kind': 'transposed_convolution', 'filters': 4, 'kernel': 3,"
    "   'padding': 1, 'dilation': 2, 'output_padding': 1, 'bias': false},"
    "  {'name': 'rms', 'kind': 'rms_norm'},"
    "  {'name': 'edge', 'kind': 'spatial_padding', 'size': [0, 1, 2, 0], 'mode': 'replicate'},"
    "  {'name': 'small', 'kind': 'convolution', 'filters': 5, 'kernel': 3, 'stride': 5},"
    "  {'name': 'flat', 'kind': 'flatten'}, {'name': 'flat_layer', 'kind': 'layer_norm'},"
    "  {'name': 'flat_rms', 'kind': 'rms_norm'},"
    "  {'name': 'hidden', 'kind': 'fully_connected', 'outputs': 12},"
    "  {'name': 'row_groups', 'kind': 'group_norm', 'groups': 3},"
    "  {'name': 'fc', 'kind': 'fully_connected'}, {'name': 'scores', 'kind': 'softmax'}]}";
/* Thresholds: one number, one of each channel, one of each pixel, of rows. */
static const char SHRINKAGE[] =
    "{'layers': [{'name': 'image', 'kind': 'image_input', 'normalisation': 'none'},"
    "  {'name': 'conv', 'kind': 'convolution', 'filters': 6, 'kernel': 3, 'stride': 2},"
    "  {'name': 'fixed', 'kind': 'soft_threshold', 'threshold': 0.125},"
    "  {'name': 'abs', 'kind': 'absolute'}, {'name': 'pool', 'kind': 'global_average_pool'},"
    "  {'name': 'gate', 'kind': 'fully_connected', 'outputs': 6},"
    "  {'name': 'share', 'kind': 'sigmoid'},"
    "  {'name': 'each', 'kind': 'multiplication', 'inputs': ['pool', 'share']},"
    "  {'name': 'soft', 'kind': 'soft_threshold', 'inputs': ['fixed', 'each']},"
    "  {'name': 'size', 'kind': 'absolute'}, {'name': 'mean', 'kind': 'channel_mean'},"
    "  {'name': 'map', 'kind': 'soft_threshold', 'inputs': ['soft', 'mean']},"
    "  {'name': 'flat', 'kind': 'flatten'},"
    "  {'name': 'hidden', 'kind': 'fully_connected', 'outputs': 7},"
    "  {'name': 'row', 'kind': 'soft_threshold'},"
    "  {'name': 'fc', 'kind': 'fully_connected'}, {'name': 'scores', 'kind': 'softmax'}]}";
static const char FILTERED[] =
    "{'layers': [{'name': 'in', 'kind': 'sequence_input', 'normalisation': 'none'},"
    "  {'name': 'a', 'kind': 'temporal_convolution', 'filters': 5, 'kernel': 3, 'dilation': 2},"
    "  {'name': 'soft', 'kind': 'soft_threshold', 'threshold': 0.125},"
    "  {'name': 'b', 'kind': 'temporal_convolution', 'filters': 4, 'kernel': 4,"
    "   'padding': 'same', 'bias': false},"
    "  {'name': 'sum', 'kind': 'temporal_convolution', 'filters': 4, 'kernel': 1},"
    "  {'name': 'c', 'kind': 'fully_connected'}]}";
static const char BOTH[] =
    "{'layers': [{'name': 'in', 'kind': 'sequence_input', 'normalisation': 'none'},"
    "  {'name': 'a', 'kind': 'gru', 'units': 5}, {'name': 'b', 'kind': 'layer_norm'},"
    "  {'name': 'c', 'kind': 'lstm', 'units': 3, 'direction': 'bidirectional'},"
    "  {'name': 'd', 'kind': 'group_norm', 'groups': 3},"
    "  {'name': 'e', 'kind': 'gru', 'units': 4, 'direction': 'bidirectional', 'bias': false},"
    "  {'name': 'f', 'kind': 'rms_norm'},"
    "  {'name': 'g', 'kind': 'gru', 'units': 4, 'direction': 'bidirectional', 'output': 'last'},"
    "  {'name': 'h', 'kind': 'layer_norm'}, {'name': 'i', 'kind': 'fully_connected'}]}";
static const char POOLED[] =
    "{'layers': [{'name': 'in', 'kind': 'sequence_input', 'normalisation': 'none'},"
    "  {'name': 'a', 'kind': 'gru', 'units': 5}, {'name': 'b', 'kind': 'sequence_pool'},"
    "  {'name': 'c', 'kind': 'fully_connected'}]}";
static const char MEAN[] =
    "{'layers': [{'name': 'in', 'kind': 'sequence_input', 'normalisation': 'none'},"
    "  {'name': 'a', 'kind': 'gru', 'units': 5},"
    "  {'name': 'b', 'kind': 'sequence_pool', 'method': 'mean'},"
    "  {'name': 'c', 'kind': 'fully_connected'}]}";
/* Channels of an odd number too: the last one is a sine without its cosine. */
static const char ATTENDED[] =
    "{'layers': [{'name': 'in', 'kind': 'sequence_input', 'normalisation': 'none'},"
    "  {'name': 'where', 'kind': 'positional_encoding'},"
    "  {'name': 'wide', 'kind': 'fully_connected', 'outputs': 8},"
    "  {'name': 'seen', 'kind': 'attention', 'heads': 2},"
    "  {'name': 'learned', 'kind': 'positional_encoding', 'encoding': 'learned', 'length': 7},"
    "  {'name': 'past', 'kind': 'attention', 'heads': 4, 'causal': true, 'bias': false},"
    "  {'name': 'fc', 'kind': 'fully_connected'}]}";
static const char SEQUENCES[] =
    "{'layers': [{'name': 'in', 'kind': 'sequence_input', 'normalisation': 'none'},"
    "  {'name': 'a', 'kind': 'lstm', 'units': 5}, {'name': 'r', 'kind': 'relu'},"
    "  {'name': 'f', 'kind': 'fully_connected', 'outputs': 4},"
    "  {'name': 'b', 'kind': 'lstm', 'units': 3, 'output': 'last', 'bias': false},"
    "  {'name': 'g', 'kind': 'fully_connected'}]}";

static void check_images(const char *text)
{
    static const char PATH[] = "/tmp/assay-onnx-images";
    const struct nn_network_bind bind = {.height = 13, .width = 11, .channels = 2, .classes = 5};
    const struct nn_network_options options = {.max_batch = 3, .phase = NN_PHASE_INFERENCE};
    struct test_network net = test_network_create(text, &bind, &options);
    test_fill_parameters(net.network, 5);
    test_onnx_write(&net, &bind, PATH);
    struct model model = model_open(PATH, &bind, &options);
    test_fill(nn_network_input(net.network), (size_t)3 * 13 * 11 * 2, 8);
    test_fill(nn_network_input(model.network), (size_t)3 * 13 * 11 * 2, 8);
    nn_network_forward(net.network, 3, NN_PHASE_INFERENCE, NULL);
    nn_network_forward(model.network, 3, NN_PHASE_INFERENCE, NULL);
    compare("images", nn_network_output(model.network), nn_network_output(net.network),
            3 * nn_network_output_size(net.network));
    model_close(&model);
    test_network_destroy(&net);
    (void)unlink(PATH);
}

static void images_come_back(void **state)
{
    (void)state;
    check_images(IMAGES);
    check_images(FRAMES);
    check_images(SHRINKAGE);
}

/* ids: the first column holds whole numbers, as an embedding reads them. */
static void check_sequences(const char *text, bool ids)
{
    static const char PATH[] = "/tmp/assay-onnx-sequences";
    static const size_t LENGTHS[] = {6, 4};
    const struct nn_network_bind bind = {.features = 3, .longest = 6, .responses = 2};
    const struct nn_network_options options = {.max_batch = 2, .phase = NN_PHASE_INFERENCE};
    nn_real values[18];
    struct test_network net = test_network_create(text, &bind, &options);
    test_fill_parameters(net.network, 6);
    test_onnx_write(&net, &bind, PATH);
    struct model model = model_open(PATH, &bind, &options);
    test_fill(values, 18, 9);
    for (size_t i = 0; ids && i < 18; i++) {
        values[i] = (nn_real)(i % 5);
    }
    const nn_real *const sequences[] = {values, values + 2};
    const struct nn_sequence_batch batch = {sequences, LENGTHS, 2};
    nn_network_load_sequences(net.network, &batch);
    nn_network_load_sequences(model.network, &batch);
    nn_network_forward(net.network, 2, NN_PHASE_INFERENCE, NULL);
    nn_network_forward(model.network, 2, NN_PHASE_INFERENCE, NULL);
    compare("sequences", nn_network_output(model.network), nn_network_output(net.network),
            nn_network_output_rows(net.network, 2) * 2);
    model_close(&model);
    test_network_destroy(&net);
    (void)unlink(PATH);
}

static void sequences_come_back(void **state)
{
    static const char *const TEXTS[] = {SEQUENCES, BOTH, POOLED, MEAN, FILTERED, ATTENDED};
    (void)state;
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        check_sequences(TEXTS[i], false);
    }
}

static void ids_come_back(void **state)
{
    (void)state;
    check_sequences("{'layers': [{'name': 'in', 'kind': 'sequence_input', 'normalisation': 'none'},"
                    "  {'name': 'ids', 'kind': 'embedding', 'ids': 5, 'outputs': 4, 'column': 1},"
                    "  {'name': 'seen', 'kind': 'attention', 'heads': 2, 'causal': true},"
                    "  {'name': 'fc', 'kind': 'fully_connected'}]}",
                    true);
}

/* Every layer that has no operators, with what of it lacks. */
static void layers_that_lack_are_named(void **state)
{
    static const char TEXT[] =
        "{'layers': [{'name': 'image', 'kind': 'image_input', 'normalisation': 'none'},"
        "  {'name': 'wide', 'kind': 'transposed_convolution', 'filters': 2, 'kernel': 2,"
        "   'dilation': 3, 'output_padding': 2},"
        "  {'name': 'pool', 'kind': 'adaptive_average_pool', 'size': 4},"
        "  {'name': 'fc', 'kind': 'fully_connected'}, {'name': 'scores', 'kind': 'softmax'}]}";
    const struct nn_network_bind bind = {.height = 5, .width = 5, .channels = 1, .classes = 2};
    const struct nn_network_options options = {.max_batch = 1, .phase = NN_PHASE_INFERENCE};
    struct nn_error err = {0};
    (void)state;
    struct test_network net = test_network_create(TEXT, &bind, &options);
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_int_equal(nn_onnx_write(net.description, &bind, NULL, 0, NULL, 0, fd, &err),
                     NN_ERR_NOT_SUPPORTED);
    assert_string_equal(err.text,
                        "2 layers can not be written as ONNX: \"wide\" (transposed_convolution: an "
                        "output padding of a stride or more), \"pool\" (adaptive_average_pool: "
                        "windows of several sizes)");
    (void)close(fd);
    test_network_destroy(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_say_what_pytorch_says),
        cmocka_unit_test(names_are_those_of_the_modules),
        cmocka_unit_test(steps_say_what_pytorch_says),
        cmocka_unit_test(all_operators_that_lack_are_named),
        cmocka_unit_test(images_come_back),
        cmocka_unit_test(sequences_come_back),
        cmocka_unit_test(ids_come_back),
        cmocka_unit_test(layers_that_lack_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
