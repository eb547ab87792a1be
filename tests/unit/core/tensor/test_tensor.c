/* SPDX-License-Identifier: MIT
 *
 * core/tensor/tensor.h: counts, texts, views.
 */
#include "tests/support/cmocka_all.h"

#include "core/tensor/tensor.h"

static void shapes_count_and_print(void **state)
{
    (void)state;
    size_t count = 3;
    char text[32];
    assert_true(nn_shape_count((struct nn_shape){24, 24, 20}, &count));
    assert_int_equal(count, 11520);
    assert_false(nn_shape_count((struct nn_shape){SIZE_MAX, 2, 1}, &count));
    assert_false(nn_shape_count((struct nn_shape){SIZE_MAX / 4, 3, 5}, &count));
    assert_int_equal(count, 11520);
    nn_shape_text((struct nn_shape){24, 24, 20}, text, sizeof text);
    assert_string_equal(text, "24x24x20");
    nn_shape_text((struct nn_shape){1, 1, 10}, text, sizeof text);
    assert_string_equal(text, "10");
    assert_true(nn_shape_equal((struct nn_shape){1, 2, 3}, (struct nn_shape){1, 2, 3}));
    assert_false(nn_shape_equal((struct nn_shape){1, 2, 3}, (struct nn_shape){1, 3, 2}));
}

static void layouts_count_their_rows(void **state)
{
    (void)state;
    static const size_t starts[] = {0, 4, 7, 10, 11};
    struct nn_rows grid = nn_rows_grid(2, 5, 7);
    struct nn_rows packed = {.layout = NN_LAYOUT_PACKED, .batch = 4, .steps = 4, .starts = starts};
    assert_int_equal(nn_rows_count(&grid), 70);
    assert_int_equal(nn_rows_count(&packed), 11);
}

static void check_packed(const size_t *lengths, size_t batch, const size_t *samples)
{
    size_t storage[64];
    size_t total = 0, row = 0;
    for (size_t i = 0; i < batch; i++) {
        total += lengths[i];
    }
    assert_true(nn_rows_pack_count(batch, total) <= 64);
    struct nn_rows rows = nn_rows_pack(lengths, batch, storage);
    assert_int_equal(rows.layout, NN_LAYOUT_PACKED);
    assert_int_equal(nn_rows_count(&rows), total);
    assert_memory_equal(rows.samples, samples, batch * sizeof *samples);
    for (size_t t = 0; t < rows.steps; t++) {
        for (size_t k = 0; k < rows.active[t]; k++, row++) {
            assert_true(lengths[rows.samples[k]] > t);
            assert_int_equal(nn_rows_at(&rows, rows.samples[k], t), row);
        }
    }
    assert_int_equal(row, total);
}

static void sequences_are_packed_longest_first(void **state)
{
    (void)state;
    check_packed((const size_t[]){1}, 1, (const size_t[]){0});
    check_packed((const size_t[]){5}, 1, (const size_t[]){0});
    check_packed((const size_t[]){1, 1, 1}, 3, (const size_t[]){0, 1, 2});
    check_packed((const size_t[]){2, 4, 1, 4, 2}, 5, (const size_t[]){1, 3, 0, 4, 2});
    check_packed((const size_t[]){1, 2, 3, 9}, 4, (const size_t[]){3, 2, 1, 0});
}

static void views_cut_columns_and_rows(void **state)
{
    (void)state;
    nn_real data[12] = {0};
    struct nn_view view = {data, 4};
    assert_ptr_equal(nn_view_columns(view, 3).data, data + 3);
    assert_ptr_equal(nn_view_rows(view, 2).data, data + 8);
    assert_int_equal(nn_view_rows(view, 2).ld, 4);
}

static void padding_fills_a_line(void **state)
{
    (void)state;
    size_t line = 64 / sizeof(nn_real);
    assert_int_equal(nn_padded_count(0), 0);
    assert_int_equal(nn_padded_count(1), line);
    assert_int_equal(nn_padded_count(line), line);
    assert_int_equal(nn_padded_count(line + 1), 2 * line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_count_and_print),
        cmocka_unit_test(layouts_count_their_rows),
        cmocka_unit_test(sequences_are_packed_longest_first),
        cmocka_unit_test(views_cut_columns_and_rows),
        cmocka_unit_test(padding_fills_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
