/* SPDX-License-Identifier: MIT
 *
 * core/files: models that the onnx package wrote (tests/golden/onnx), their tensors and graph, and
 * the lies that such a file can tell.
 */
#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files/weights.h"
#include "tests/support/archives.h"
#include "tests/support/tensor_text.h"

#define GOLDEN "tests/golden/onnx/"

static struct nn_weights *opened(void)
{
    struct nn_weights *weights = NULL;
    struct nn_error err = {0};
    if (nn_weights_open(GOLDEN "types.onnx", NULL, &weights, &err) != NN_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(nn_weights_format(weights), NN_WEIGHTS_ONNX);
    return weights;
}

static void every_type_is_read_raw_and_typed(void **state)
{
    (void)state;
    struct nn_weights *weights = opened();
    test_tensors_compare(weights, GOLDEN "types.txt");
    assert_int_equal(nn_weights_save(weights, "/tmp/assay-test-onnx", NULL, 0, NULL), NN_OK);
    nn_weights_close(weights);
    assert_int_equal(nn_weights_open("/tmp/assay-test-onnx", NULL, &weights, NULL), NN_OK);
    test_tensors_compare(weights, GOLDEN "types.txt");
    nn_weights_close(weights);
    (void)unlink("/tmp/assay-test-onnx");
}

static void the_graph_is_told(void **state)
{
    (void)state;
    struct nn_weights *weights = opened();
    const struct nn_onnx_model *model = nn_weights_model(weights);
    assert_non_null(model);
    assert_int_equal(model->ir_version, 8);
    assert_int_equal(model->opset, 17);
    assert_string_equal(model->producer, "make_onnx 1");
    assert_int_equal(model->n_nodes, 1);
    assert_string_equal(model->nodes[0].op, "Identity");
    assert_string_equal(model->nodes[0].name, "same");
    assert_int_equal(model->nodes[0].n_inputs, 1);
    assert_string_equal(model->nodes[0].inputs[0], "x");
    assert_int_equal(model->n_inputs, 1);
    assert_true(model->inputs[0].has_shape);
    assert_int_equal(model->inputs[0].rank, 2);
    assert_int_equal(model->inputs[0].dims[0], -1);
    assert_int_equal(model->inputs[0].dims[1], 3);
    assert_int_equal(model->n_outputs, 1);
    assert_string_equal(model->outputs[0].name, "y");
    assert_int_equal(model->n_metadata, 1);
    assert_string_equal(model->metadata[0].value, "test");
    nn_weights_close(weights);
}

static void each_lie_is_refused_with_its_reason(void **state)
{
    static const struct {
        const char *file, *words;
        enum nn_status status;
    } LIES[] = {
        {"external", "external data", NN_ERR_NOT_SUPPORTED},
        {"longer", "has 2 values where its sizes need 3", NN_ERR_INVALID},
        {"negative", "negative or too large", NN_ERR_INVALID},
        {"huge", "negative or too large", NN_ERR_INVALID},
        {"both", "values of two kinds", NN_ERR_INVALID},
        {"deep", "has 9 axes", NN_ERR_LIMIT},
        {"segment", "segment", NN_ERR_NOT_SUPPORTED},
        {"doubled", "two tensors are named \"w\"", NN_ERR_INVALID},
        {"nameless", "may not be named", NN_ERR_INVALID},
        {"text", "type 8 of ONNX", NN_ERR_NOT_SUPPORTED},
        {"sparse", "sparse", NN_ERR_NOT_SUPPORTED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof LIES / sizeof LIES[0]; i++) {
        struct nn_weights *weights = NULL;
        struct nn_error err = {0};
        char path[64];
        (void)snprintf(path, sizeof path, GOLDEN "%s.onnx", LIES[i].file);
        assert_int_equal(nn_weights_open(path, NULL, &weights, &err), LIES[i].status);
        if (!strstr(err.text, LIES[i].words)) {
            fail_msg("%s: %s", path, err.text);
        }
    }
}

static enum nn_status status_of(const unsigned char *bytes, size_t n)
{
    struct nn_weights *weights = NULL;
    struct nn_error err = {0};
    unsigned char *exact = malloc(n ? n : 1); /* a sanitizer sees a step too far */
    assert_non_null(exact);
    memcpy(exact, bytes, n);
    enum nn_status status = nn_weights_open_bytes(exact, n, NULL, &weights, &err);
    assert_true(status == NN_OK || err.text[0] != '\0');
    if (status == NN_OK) {
        nn_weights_close(weights);
    }
    free(exact);
    return status;
}

static void no_cut_and_no_changed_byte_is_stepped_over(void **state)
{
    (void)state;
    struct test_bytes file = test_file_read(GOLDEN "types.onnx");
    size_t read = 0;
    for (size_t n = 0; n < file.size; n++) {
        read += status_of(file.data, n) == NN_OK;
    }
    assert_true(read <= 3); /* whole again where only metadata or the opset is cut off */
    for (size_t i = 0; i < file.size; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            file.data[i] ^= (uint8_t)(1U << bit);
            (void)status_of(file.data, file.size);
            file.data[i] ^= (uint8_t)(1U << bit);
        }
    }
    free(file.data);
}

static void lengths_and_numbers_that_lie(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
    } LIES[] = {
        {"\x08\x08\x3a\xff\xff\xff\xff\x0f", 8},                      /* a graph of 4 GiB */
        {"\x08\x08\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13}, /* of 2^64 - 1 bytes */
        {"\x08\x08\x3a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00",
         14},                            /* eleven bytes of length */
        {"\x08\x08\x3b\x00\x00", 5},     /* a group */
        {"\x08\x08\x3a\x02\x00\x00", 6}, /* field 0 */
        {"\x08\x08\x42\x02\x10\x11", 6}, /* no graph */
        {"\x08\x08\x3a\x00\x3a\x00", 6}, /* two graphs */
    };
    (void)state;
    for (size_t i = 0; i < sizeof LIES / sizeof LIES[0]; i++) {
        assert_int_equal(status_of((const unsigned char *)LIES[i].bytes, LIES[i].n),
                         NN_ERR_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_read_raw_and_typed),
        cmocka_unit_test(the_graph_is_told),
        cmocka_unit_test(each_lie_is_refused_with_its_reason),
        cmocka_unit_test(no_cut_and_no_changed_byte_is_stepped_over),
        cmocka_unit_test(lengths_and_numbers_that_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
