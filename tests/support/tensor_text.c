/* SPDX-License-Identifier: MIT
 *
 * Tensors as a line of text each.
 */
#include "tests/support/tensor_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka_all.h"

/* "2,3" as sizes; "-" is none. */
static size_t sizes_parse(const char *text, size_t *out)
{
    size_t n = 0;
    while (*text >= '0' && *text <= '9') {
        char *end;
        out[n++] = strtoul(text, &end, 10);
        text = *end == ',' ? end + 1 : end;
    }
    return n;
}

/* A number as the type keeps it: the texts are the shortest that give a float back. */
static nn_real number_of(const char *text, const char *dtype, char **end)
{
    double number = strtod(text, end);
    bool narrow =
        strcmp(dtype, "F32") == 0 || strcmp(dtype, "F16") == 0 || strcmp(dtype, "BF16") == 0;
    return narrow ? (nn_real)(float)number : (nn_real)number;
}

static void compare_tensor(const struct nn_file_tensor *tensor, const char *dtype,
                           const char *shape, const char *values)
{
    size_t sizes[NN_FILE_MAX_RANK];
    nn_real read[64];
    assert_string_equal(nn_file_dtype_name(tensor->dtype), dtype);
    assert_int_equal(tensor->rank, sizes_parse(shape, sizes));
    assert_memory_equal(tensor->shape, sizes, tensor->rank * sizeof *sizes);
    assert_true(tensor->count <= 64);
    nn_file_tensor_read(tensor, read);
    for (size_t i = 0; i < tensor->count; i++) {
        char *end;
        nn_real expected = number_of(values, dtype, &end);
        assert_true(end > values && read[i] == expected);
        values = end + 1;
    }
}

void test_tensors_compare(const struct nn_weights *weights, const char *text_path)
{
    char line[1024], name[64], dtype[8], shape[64], values[800];
    size_t n = 0;
    FILE *file = fopen(text_path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        assert_int_equal(sscanf(line, "%63s %7s %63s %799s", name, dtype, shape, values), 4);
        const struct nn_file_tensor *tensor = nn_weights_find(weights, name);
        assert_non_null(tensor);
        assert_ptr_equal(tensor, nn_weights_tensor(weights, n)); /* in order of names */
        compare_tensor(tensor, dtype, shape, values);
        n++;
    }
    (void)fclose(file);
    assert_int_equal(nn_weights_count(weights), n);
    assert_null(nn_weights_find(weights, "absent"));
}
