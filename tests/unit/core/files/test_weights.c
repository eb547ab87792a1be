/* SPDX-License-Identifier: MIT
 *
 * core/files: state dicts as torch.save wrote them (tests/golden/weights), told apart by content,
 * and written out again as safetensors.
 */
#include "tests/support/cmocka_all.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files/weights.h"
#include "tests/support/tensor_text.h"

#define GOLDEN "tests/golden/weights/"

static char directory[] = "/tmp/assay-weights-XXXXXX";
static char path[64];

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof path, "%s/w", mkdtemp(directory) ? directory : "");
    return path[0] == '/' && path[1] == 'w' ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(directory);
}

static struct nn_weights *opened(const char *file, enum nn_weights_format format)
{
    struct nn_weights *weights = NULL;
    struct nn_error err = {0};
    if (nn_weights_open(file, NULL, &weights, &err) != NN_OK) {
        fail_msg("%s: %s", file, err.text);
    }
    assert_int_equal(nn_weights_format(weights), format);
    return weights;
}

static void every_container_holds_the_same(void **state)
{
    static const struct {
        const char *file;
        enum nn_weights_format format;
    } FILES[] = {{GOLDEN "plain.pth", NN_WEIGHTS_PYTORCH},
                 {GOLDEN "nested.pth", NN_WEIGHTS_PYTORCH},
                 {GOLDEN "plain-stream.pth", NN_WEIGHTS_PYTORCH_STREAM},
                 {GOLDEN "nested-stream.pth", NN_WEIGHTS_PYTORCH_STREAM}};
    (void)state;
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        struct nn_weights *weights = opened(FILES[i].file, FILES[i].format);
        test_tensors_compare(weights, GOLDEN "weights.txt");
        assert_int_equal(nn_weights_save(weights, path, NULL, 0, NULL), NN_OK);
        nn_weights_close(weights);
        weights = opened(path, NN_WEIGHTS_SAFETENSORS);
        test_tensors_compare(weights, GOLDEN "weights.txt");
        nn_weights_close(weights);
    }
}

static void equal_tensors_are_saved_as_equal_bytes(void **state)
{
    static const char *const FILES[] = {GOLDEN "plain.pth", GOLDEN "nested-stream.pth"};
    char bytes[2][4096];
    size_t size[2];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct nn_weights *weights = NULL;
        int fd = open(FILES[i], O_RDONLY | O_CLOEXEC);
        assert_int_equal(nn_weights_open_fd(fd, NULL, &weights, NULL), NN_OK);
        (void)close(fd);
        assert_int_equal(nn_weights_save(weights, path, NULL, 0, NULL), NN_OK);
        nn_weights_close(weights);
        FILE *file = fopen(path, "rb");
        size[i] = fread(bytes[i], 1, sizeof bytes[i], file);
        (void)fclose(file);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
}

/* A header of 20 MiB, taken in under a limit of its own and above that of every later reader. */
static void what_could_not_be_read_again_is_not_left(void **state)
{
    enum { TENSORS = 40000, NAME = 450, ROW = NAME + 80 };
    const struct nn_weights_limits wide = {.max_header_bytes = (size_t)64 << 20};
    (void)state;
    char *bytes = malloc(8 + (size_t)TENSORS * ROW);
    assert_non_null(bytes);
    size_t n = 8;
    for (size_t i = 0; i < TENSORS; i++) {
        n += (size_t)snprintf(
            bytes + n, ROW, "%c\"%0*zu\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}",
            i == 0 ? '{' : ',', (int)NAME, i);
    }
    bytes[n++] = '}';
    for (size_t i = 0; i < 8; i++) {
        bytes[i] = (char)(unsigned char)((n - 8) >> (8 * i));
    }
    struct nn_weights *weights = NULL;
    struct nn_error err = {0};
    assert_int_equal(nn_weights_open_bytes(bytes, n, &wide, &weights, &err), NN_OK);
    assert_int_equal(nn_weights_save(weights, path, NULL, 0, &err), NN_ERR_LIMIT);
    assert_int_equal(access(path, F_OK), -1);
    nn_weights_close(weights);
    free(bytes);
}

static void attributes_and_parameters_are_seen_through(void **state)
{
    (void)state;
    struct nn_weights *weights = opened(GOLDEN "module.pth", NN_WEIGHTS_PYTORCH);
    assert_int_equal(nn_weights_count(weights), 5);
    assert_non_null(nn_weights_find(weights, "running_var"));
    nn_weights_close(weights);
    weights = opened(GOLDEN "parameter.pth", NN_WEIGHTS_PYTORCH);
    nn_real values[2];
    nn_file_tensor_read(nn_weights_find(weights, "p"), values);
    assert_true(values[0] == 1 && values[1] == 1);
    nn_weights_close(weights);
}

/* Any length of the header is one of safetensors, also where it looks like the start of a pickle.
 */
static void a_header_of_384_bytes_is_no_pickle(void **state)
{
    (void)state;
    static const char TEXT[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}";
    char bytes[8 + 384];
    memset(bytes, ' ', sizeof bytes);
    memcpy(bytes, "\x80\x01\0\0\0\0\0\0", 8);
    memcpy(bytes + 8, TEXT, sizeof TEXT - 1);
    struct nn_weights *weights = NULL;
    struct nn_error err = {0};
    assert_int_equal(nn_weights_open_bytes(bytes, sizeof bytes, NULL, &weights, &err), NN_OK);
    assert_int_equal(nn_weights_format(weights), NN_WEIGHTS_SAFETENSORS);
    nn_weights_close(weights);
}

static void what_is_no_state_dict_is_named(void **state)
{
    struct nn_weights *weights = NULL;
    struct nn_error err = {0};
    (void)state;
    assert_int_equal(nn_weights_open(GOLDEN "whole-model.pth", NULL, &weights, &err),
                     NN_ERR_INVALID);
    assert_non_null(strstr(err.text, "torch.nn.modules.linear.Linear"));
    assert_int_equal(nn_weights_open_bytes("\x80\x02}.", 4, NULL, &weights, &err),
                     NN_ERR_NOT_SUPPORTED);
    assert_int_equal(nn_weights_open_bytes("\x93NUMPY\1", 7, NULL, &weights, &err),
                     NN_ERR_NOT_SUPPORTED);
    assert_int_equal(nn_weights_open_bytes(NULL, 0, NULL, &weights, &err), NN_ERR_INVALID);
    assert_int_equal(nn_weights_open("/nonexistent/secret", NULL, &weights, &err), NN_ERR_IO);
    assert_null(strstr(err.text, "secret"));
    assert_int_equal(nn_weights_open("/", NULL, &weights, &err), NN_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_container_holds_the_same),
        cmocka_unit_test(what_could_not_be_read_again_is_not_left),
        cmocka_unit_test(equal_tensors_are_saved_as_equal_bytes),
        cmocka_unit_test(attributes_and_parameters_are_seen_through),
        cmocka_unit_test(a_header_of_384_bytes_is_no_pickle),
        cmocka_unit_test(what_is_no_state_dict_is_named),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
