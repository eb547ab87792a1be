/* SPDX-License-Identifier: MIT
 *
 * core/files: safetensors written and read back, and the lies a file can tell. Cases B23, B24 of
 * tests/README.md.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files/safetensors.h"

static char directory[] = "/tmp/assay-safetensors-XXXXXX";
static char path[64];

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(directory)) {
        return -1;
    }
    (void)snprintf(path, sizeof path, "%s/w.safetensors", directory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(directory); /* fails when a temporary was left */
}

static void written_file_reads_back(void **state)
{
    (void)state;
    const float weight[6] = {1, -2, 3.5F, NAN, 1e-30F, 6};
    const float scalar = 7;
    const struct nn_file_tensor tensors[] = {
        {"fc.weight", NN_FILE_F32, 2, {2, 3}, 6, weight, sizeof weight, false},
        {"empty", NN_FILE_F32, 2, {0, 3}, 0, weight, 0, false},
        {"a.scalar", NN_FILE_F32, 0, {0}, 1, &scalar, sizeof scalar, false},
    };
    const struct nn_file_pair metadata[] = {{"format", "pt"}, {"classes", "[\"a\"]"}};
    struct nn_safetensors *file = NULL;
    struct nn_error err = {0};
    assert_int_equal(nn_safetensors_write(path, tensors, 3, metadata, 2, &err), NN_OK);
    assert_int_equal(nn_safetensors_open(path, NULL, &file, &err), NN_OK);
    assert_int_equal(nn_safetensors_count(file), 3);
    assert_string_equal(nn_safetensors_tensor(file, 0)->name, "a.scalar");
    assert_string_equal(nn_safetensors_metadata(file, "format"), "pt");
    assert_null(nn_safetensors_metadata(file, "absent"));
    assert_null(nn_safetensors_find(file, "absent"));
    const struct nn_file_tensor *t = nn_safetensors_find(file, "fc.weight");
    assert_non_null(t);
    assert_int_equal(t->rank, 2);
    assert_int_equal(t->shape[1], 3);
    assert_memory_equal(t->data, weight, sizeof weight);
    assert_int_equal(nn_safetensors_find(file, "empty")->count, 0);
    nn_real value;
    nn_file_tensor_read(nn_safetensors_find(file, "a.scalar"), &value);
    assert_true(value == 7);
    nn_safetensors_close(file);
}

/* Every half and every bfloat16 read and written again is itself; between two neighbours the
 * nearest is taken, the even one of equally near ones. */
static void narrow_types_round_to_the_nearest(void **state)
{
    static const enum nn_file_dtype TYPES[] = {NN_FILE_F16, NN_FILE_BF16};
    (void)state;
    for (size_t t = 0; t < 2; t++) {
        for (uint32_t bits = 0; bits < 65536; bits++) {
            const uint16_t narrow = (uint16_t)bits, next = (uint16_t)(bits + 1);
            struct nn_file_tensor tensor = {.dtype = TYPES[t], .count = 1, .data = &narrow};
            nn_real value, above;
            uint16_t written;
            nn_file_tensor_read(&tensor, &value);
            assert_true(nn_file_values_write(TYPES[t], &value, 1, &written));
            assert_true(isnan(value) || written == narrow);
            tensor.data = &next;
            nn_file_tensor_read(&tensor, &above);
            if (isfinite(value) && isfinite(above) && (bits & 0x7fff) != 0x7fff) {
                const nn_real half_way = value / 2 + above / 2;
                assert_true(nn_file_values_write(TYPES[t], &half_way, 1, &written));
                assert_int_equal(written, bits % 2 == 0 ? narrow : next);
            }
        }
    }
    const nn_real large = 65520;
    uint16_t out;
    assert_false(nn_file_values_write(NN_FILE_F16, &large, 1, &out));
    assert_false(nn_file_values_write(NN_FILE_I8, &large, 1, &out));
    assert_true(nn_file_values_write(NN_FILE_BF16, &large, 1, &out));
}

static void doubled_and_reserved_names_are_not_written(void **state)
{
    (void)state;
    const float x = 1;
    struct nn_file_tensor tensors[] = {
        {"a", NN_FILE_F32, 1, {1}, 1, &x, sizeof x, false},
        {"a", NN_FILE_F32, 1, {1}, 1, &x, sizeof x, false},
    };
    struct nn_error err = {0};
    assert_int_equal(nn_safetensors_write(path, tensors, 2, NULL, 0, &err), NN_ERR_INVALID);
    tensors[1].name = "__metadata__";
    assert_int_equal(nn_safetensors_write(path, tensors, 2, NULL, 0, &err), NN_ERR_INVALID);
}

/* A file of `header` and `data` zero bytes in one block of exact size, so that ASan sees a step
 * over its end. length < 0: the true one. */
static enum nn_status open_text(const char *header, long long length, size_t data,
                                struct nn_error *err)
{
    size_t n = strlen(header);
    uint64_t declared = length < 0 ? n : (uint64_t)length;
    unsigned char *bytes = calloc(1, 8 + n + data);
    struct nn_safetensors *file = NULL;
    assert_non_null(bytes);
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(declared >> (8 * i));
    }
    memcpy(bytes + 8, header, n);
    enum nn_status status = nn_safetensors_open_bytes(bytes, 8 + n + data, NULL, &file, err);
    if (status == NN_OK) {
        nn_safetensors_close(file);
    }
    free(bytes);
    return status;
}

struct lie {
    const char *header;
    size_t data;
    const char *text; /* part of the answer */
};

#define A(shape, dtype, from, to)                                                                  \
    "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" from "," to "]}"

static const struct lie LIES[] = {
    {"", 0, ""},
    {"null", 0, ""},
    {"[]", 0, "no JSON object"},
    {"{", 0, ""},
    {"{\"a\":1}", 0, "must have"},
    {"{\"a\":{}}", 0, "must have"},
    {"{\"a\":" A("[1]", "F32", "0", "4") "}", 3, "leave the file"},
    {"{\"a\":" A("[1]", "F32", "4", "0") "}", 4, "leave the file"},
    {"{\"a\":" A("[1]", "F32", "0", "9223372036854775807") "}", 4, "leave the file"},
    {"{\"a\":" A("[2]", "F32", "0", "4") "}", 4, "say 8"},
    {"{\"a\":" A("[]", "F32", "0", "0") "}", 0, "say 4"},
    {"{\"a\":" A("[4294967296,4294967296,4]", "F32", "0", "4") "}", 4, "shape is wrong"},
    {"{\"a\":" A("[-1]", "F32", "0", "4") "}", 4, "shape is wrong"},
    {"{\"a\":" A("[1.5]", "F32", "0", "4") "}", 4, "shape is wrong"},
    {"{\"a\":" A("[\"1\"]", "F32", "0", "4") "}", 4, "shape is wrong"},
    {"{\"a\":" A("4", "F32", "0", "4") "}", 4, "shape is no list"},
    {"{\"a\":" A("[1,1,1,1,1,1,1,1,1]", "F32", "0", "4") "}", 4, "shape is no list"},
    {"{\"a\":" A("[1]", "F8", "0", "4") "}", 4, "unknown dtype"},
    {"{\"a\":" A("[1]", "f32", "0", "4") "}", 4, "unknown dtype"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"x\":0}}", 4, "must have"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, "no two offsets"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,-4]}}", 4, "no two offsets"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4.0]}}", 4, "no two offsets"},
    {"{\"a\":" A("[1]", "F32", "0", "4") ",\"b\":" A("[1]", "F32", "2", "6") "}", 6, "overlaps"},
    {"{\"a\":" A("[1]", "F32", "0", "4") ",\"b\":" A("[1]", "F32", "0", "4") "}", 4, "overlaps"},
    {"{\"a\":" A("[1]", "F32", "0", "4") ",\"b\":" A("[1]", "F32", "6", "10") "}", 10, "gap"},
    {"{\"a\":" A("[1]", "F32", "4", "8") "}", 8, "gap"},
    {"{\"a\":" A("[1]", "F32", "0", "4") "}", 5, "1 bytes follow"},
    {"{}", 1, "1 bytes follow"},
    {"{\"\":" A("[1]", "F32", "0", "4") "}", 4, "name"},
    {"{\"a\\u0001\":" A("[1]", "F32", "0", "4") "}", 4, "name"},
    {"{\"a\\u0000b\":" A("[1]", "F32", "0", "4") "}", 4, ""},
    {"{\"__metadata__\":{\"a\":1}}", 0, "__metadata__"},
    {"{\"__metadata__\":[]}", 0, "__metadata__"},
    {"{\"a\":[[[[[[[[[[0]]]]]]]]]]}", 0, ""},
};

static void lies_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof LIES / sizeof LIES[0]; i++) {
        struct nn_error err = {0};
        enum nn_status status = open_text(LIES[i].header, -1, LIES[i].data, &err);
        if (status != NN_ERR_INVALID && status != NN_ERR_LIMIT) {
            fail_msg("accepted (%s): %s", nn_status_slug(status), LIES[i].header);
        }
        if (!strstr(err.text, LIES[i].text) || err.text[0] == '\0') {
            fail_msg("header %s: \"%s\" lacks \"%s\"", LIES[i].header, err.text, LIES[i].text);
        }
    }
}

/* B24 */
static void doubled_name_is_called_so(void **state)
{
    (void)state;
    struct nn_error err = {0};
    const char *header =
        "{\"a\":" A("[1]", "F32", "0", "4") ",\"a\":" A("[1]", "F32", "4", "8") "}";
    assert_int_equal(open_text(header, -1, 8, &err), NN_ERR_INVALID);
    assert_non_null(strstr(err.text, "duplicate"));
}

/* B23: a length near 2^64 must not wrap. */
static void header_length_is_checked(void **state)
{
    (void)state;
    const unsigned char ones[8] = {255, 255, 255, 255, 255, 255, 255, 255};
    struct nn_safetensors *file = NULL;
    struct nn_error err = {0};
    assert_int_equal(nn_safetensors_open_bytes(ones, 8, NULL, &file, &err), NN_ERR_INVALID);
    for (size_t n = 0; n < 8; n++) {
        unsigned char *copy = malloc(n ? n : 1);
        assert_non_null(copy);
        memcpy(copy, ones, n);
        assert_int_equal(nn_safetensors_open_bytes(copy, n, NULL, &file, &err), NN_ERR_INVALID);
        free(copy);
    }
    assert_int_equal(open_text("{}", 3, 0, &err), NN_ERR_INVALID);
    assert_int_equal(open_text("{}", 1, 0, &err), NN_ERR_INVALID);
    assert_int_equal(open_text("{}", 0, 0, &err), NN_ERR_INVALID);
    assert_int_equal(open_text("{}  ", -1, 0, &err), NN_OK);
}

static void limits_are_kept(void **state)
{
    (void)state;
    const char text[] = "\0\0\0\0\0\0\0\0"
                        "{\"a\":" A("[0]", "F32", "0", "0") ",\"b\":" A("[0]", "F32", "0", "0") "}";
    size_t n = sizeof text - 1;
    char *bytes = malloc(n);
    assert_non_null(bytes);
    memcpy(bytes, text, n);
    bytes[0] = (char)(n - 8);
    struct nn_safetensors *file = NULL;
    struct nn_error err = {0};
    assert_int_equal(nn_safetensors_open_bytes(bytes, n, NULL, &file, &err), NN_OK);
    nn_safetensors_close(file);
    const struct nn_safetensors_limits few = {.max_tensors = 1};
    assert_int_equal(nn_safetensors_open_bytes(bytes, n, &few, &file, &err), NN_ERR_LIMIT);
    const struct nn_safetensors_limits small = {.max_header_bytes = 10};
    assert_int_equal(nn_safetensors_open_bytes(bytes, n, &small, &file, &err), NN_ERR_LIMIT);
    free(bytes);
}

struct number_row {
    enum nn_file_dtype dtype;
    unsigned char bytes[8];
    double value;
};

static const struct number_row NUMBERS[] = {
    {NN_FILE_BOOL, {1}, 1},
    {NN_FILE_U8, {200}, 200},
    {NN_FILE_I8, {200}, -56},
    {NN_FILE_I16, {0, 128}, -32768},
    {NN_FILE_U16, {0, 128}, 32768},
    {NN_FILE_F16, {0, 0x3c}, 1},
    {NN_FILE_F16, {0xff, 0x7b}, 65504},
    {NN_FILE_F16, {1, 0x80}, -0x1p-24},
    {NN_FILE_F16, {0, 0x7c}, INFINITY},
    {NN_FILE_BF16, {0x80, 0xbf}, -1},
    {NN_FILE_I32, {255, 255, 255, 255}, -1},
    {NN_FILE_U32, {0, 0, 0, 128}, 2147483648.0},
    {NN_FILE_F32, {0, 0, 0, 0x40}, 2},
    {NN_FILE_F64, {0, 0, 0, 0, 0, 0, 0, 0x40}, 2},
    {NN_FILE_I64, {254, 255, 255, 255, 255, 255, 255, 255}, -2},
    {NN_FILE_U64, {0, 0, 0, 0, 1, 0, 0, 0}, 4294967296.0},
};

static void every_dtype_is_converted(void **state)
{
    (void)state;
    bool seen[NN_FILE_DTYPE_COUNT] = {false};
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++) {
        enum nn_file_dtype dtype = NUMBERS[i].dtype;
        struct nn_file_tensor tensor = {.dtype = dtype, .count = 1, .data = NUMBERS[i].bytes};
        nn_real value = 0;
        nn_file_tensor_read(&tensor, &value);
        if ((double)value != NUMBERS[i].value) {
            fail_msg("row %d, %s: %g", (int)i, nn_file_dtype_name(dtype), (double)value);
        }
        seen[dtype] = true;
    }
    for (int i = 0; i < NN_FILE_DTYPE_COUNT; i++) {
        assert_true(seen[i]);
    }
}

static void missing_file_names_no_path(void **state)
{
    (void)state;
    struct nn_safetensors *file = NULL;
    struct nn_error err = {0};
    assert_int_equal(nn_safetensors_open("/nonexistent/secret", NULL, &file, &err), NN_ERR_IO);
    assert_null(strstr(err.text, "secret"));
    assert_int_equal(nn_safetensors_open("/", NULL, &file, &err), NN_ERR_IO);
    assert_int_equal(nn_safetensors_write("/nonexistent/x", NULL, 0, NULL, 0, &err), NN_ERR_IO);
    assert_null(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_file_reads_back),
        cmocka_unit_test(narrow_types_round_to_the_nearest),
        cmocka_unit_test(doubled_and_reserved_names_are_not_written),
        cmocka_unit_test(lies_are_refused),
        cmocka_unit_test(doubled_name_is_called_so),
        cmocka_unit_test(header_length_is_checked),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(every_dtype_is_converted),
        cmocka_unit_test(missing_file_names_no_path),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
