/* SPDX-License-Identifier: MIT
 *
 * core/exchange: attention, positions and embeddings, which ONNX has no operators for, read from
 * graphs of ours: by their names, and only where every number of the graph is as the layer has it.
 * That they say the same is in test_onnx.c.
 */
#include "tests/support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/exchange/onnx.h"
#include "core/files/weights.h"
#include "tests/support/onnx_written.h"

#define PATH "/tmp/assay-onnx-attention"
static const struct nn_network_bind BIND = {.features = 3, .longest = 6, .responses = 2};

static struct nn_weights *written(const char *text)
{
    const struct nn_network_options options = {.max_batch = 2, .phase = NN_PHASE_INFERENCE};
    struct nn_weights *file = NULL;
    struct test_network net = test_network_create(text, &BIND, &options);
    test_fill_parameters(net.network, 6);
    test_onnx_write(&net, &BIND, PATH);
    test_network_destroy(&net);
    assert_int_equal(nn_weights_open(PATH, NULL, &file, NULL), NN_OK);
    (void)unlink(PATH);
    return file;
}

/* Reads the model with tensors as given. */
static enum nn_status read_with(const struct nn_onnx_model *from,
                                const struct nn_file_tensor *tensors, struct nn_error *err)
{
    struct nn_onnx_model model = *from;
    struct nn_onnx_import *import = NULL;
    model.tensors = tensors;
    enum nn_status status = nn_onnx_import_create(&model, &import, err);
    nn_onnx_import_destroy(import);
    return status;
}

static void a_transformer_comes_back_by_its_names(void **state)
{
    static const char *const NAMES[] = {"fc.weight",
                                        "layer1.self_attn.in_proj_bias",
                                        "layer1.self_attn.out_proj.weight",
                                        "layer2.norm2.bias",
                                        "positions.weight",
                                        "projection.bias"};
    struct nn_onnx_import *import = NULL;
    struct nn_error err = {0};
    size_t n, found = 0;
    (void)state;
    struct nn_weights *file =
        written("{'name': 'transformer_encoder', 'width': 8, 'heads': 2, 'hidden': 5, 'position':"
                " 'learned', 'length': 9, 'output': 'mean', 'feed_forward': 'swiglu'}");
    if (nn_onnx_import_create(nn_weights_model(file), &import, &err) != NN_OK) {
        fail_msg("%s", err.text);
    }
    const struct nn_file_tensor *tensors = nn_onnx_import_tensors(import, &n);
    assert_int_equal(n, 35); /* 14 of each of two layers and 7 around them */
    for (size_t i = 0; i < n; i++) {
        for (size_t m = 0; m < sizeof NAMES / sizeof NAMES[0]; m++) {
            found += strcmp(tensors[i].name, NAMES[m]) == 0;
        }
    }
    assert_int_equal(found, sizeof NAMES / sizeof NAMES[0]);
    nn_onnx_import_destroy(import);
    nn_weights_close(file);
}

/* A copy of the tensor's values with another one at a place. */
static void *changed(const struct nn_file_tensor *tensor, size_t place, double value)
{
    void *copy = malloc(tensor->bytes);
    assert_non_null(copy);
    memcpy(copy, tensor->data, tensor->bytes);
    assert_true(place < tensor->count);
    if (tensor->dtype == NN_FILE_F32) {
        assert_true((double)((float *)copy)[place] != value);
        ((float *)copy)[place] = (float)value;
    } else {
        assert_int_equal(tensor->dtype, NN_FILE_I64);
        assert_true((double)((int64_t *)copy)[place] != value);
        ((int64_t *)copy)[place] = (int64_t)value;
    }
    return copy;
}

static void check_change(const struct nn_onnx_model *model, const char *name, size_t place,
                         double value)
{
    struct nn_error err = {0};
    struct nn_file_tensor *tensors = malloc(model->n_tensors * sizeof *tensors);
    void *copy = NULL;
    assert_non_null(tensors);
    memcpy(tensors, model->tensors, model->n_tensors * sizeof *tensors);
    for (size_t i = 0; i < model->n_tensors; i++) {
        if (strcmp(tensors[i].name, name) == 0) {
            copy = changed(&tensors[i], place, value);
            tensors[i].data = copy;
        }
    }
    if (!copy || read_with(model, tensors, &err) != NN_ERR_NOT_SUPPORTED) {
        fail_msg("%s[%zu] = %g: %s", name, place, value, copy ? "is read" : "is not there");
    }
    assert_non_null(strstr(err.text, "nodes of the graph cannot be read: "));
    free(copy);
    free(tensors);
}

static void every_number_of_the_graph_counts(void **state)
{
    static const struct {
        const char *tensor;
        size_t place;
        double value;
    } CHANGES[] = {
        {"past/scale", 0, 0.5},      {"past/hidden", 0, -1},       {"past/diagonal", 0, 0},
        {"past/one_one", 1, 2},      {"past/steps_index", 0, 1},   {"past/parts", 3, 4},
        {"past/parts", 2, 6},        {"past/queries_index", 0, 2}, {"past/keys_index", 0, 0},
        {"past/values_index", 0, 1}, {"past/whole", 1, 1},         {"where/rates", 2, 0.5},
        {"where/even", 1, 1},        {"where/odd", 1, 0},          {"where/first", 0, 1},
        {"where/by", 0, 2},          {"where/steps_index", 0, 1},  {"where/channels_axis", 0, 0},
        {"where/batch_axis", 0, 0},  {"learned/last", 0, 5},       {"learned/batch_axis", 0, 2},
        {"ids/index", 0, -1},
    };
    struct nn_error err = {0};
    (void)state;
    struct nn_weights *file =
        written("{'layers': [{'name': 'in', 'kind': 'sequence_input', 'normalisation': 'none'},"
                "  {'name': 'ids', 'kind': 'embedding', 'ids': 5, 'outputs': 4},"
                "  {'name': 'where', 'kind': 'positional_encoding'},"
                "  {'name': 'learned', 'kind': 'positional_encoding', 'encoding': 'learned',"
                "   'length': 7},"
                "  {'name': 'past', 'kind': 'attention', 'heads': 2, 'causal': true},"
                "  {'name': 'fc', 'kind': 'fully_connected'}]}");
    const struct nn_onnx_model *model = nn_weights_model(file);
    if (read_with(model, model->tensors, &err) != NN_OK) {
        fail_msg("%s", err.text);
    }
    for (size_t i = 0; i < sizeof CHANGES / sizeof CHANGES[0]; i++) {
        check_change(model, CHANGES[i].tensor, CHANGES[i].place, CHANGES[i].value);
    }
    nn_weights_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transformer_comes_back_by_its_names),
        cmocka_unit_test(every_number_of_the_graph_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
