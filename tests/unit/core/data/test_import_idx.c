/* SPDX-License-Identifier: MIT
 *
 * IDX pairs: parts by name, classes by label, and files that do not fit together.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka_all.h"
#include "tests/support/imports.h"

static const char *const FOUR[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                   "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"};
static const char *const TWO[] = {"my-images.idx", "my-labels.idx"};

enum { H = 4, W = 3 };

static struct test_bytes images(uint32_t n, unsigned from)
{
    uint8_t *pixels = malloc((size_t)n * H * W + 1);
    for (size_t i = 0; i < (size_t)n * H * W; i++) {
        pixels[i] = (uint8_t)(from + i * 7);
    }
    struct test_bytes file = test_idx((const uint32_t[]){n, H, W}, 3, pixels);
    free(pixels);
    return file;
}

static struct test_bytes labels(uint32_t n, const uint8_t *values)
{
    return test_idx(&n, 1, values);
}

static struct test_bytes packed(struct test_bytes plain)
{
    struct test_bytes out = test_gzip(plain.data, plain.size);
    free(plain.data);
    return out;
}

static void four_files_are_two_parts(void **state)
{
    struct test_import *t = *state;
    struct test_bytes files[] = {images(5, 0), labels(5, (const uint8_t[]){2, 0, 1, 0, 2}),
                                 packed(images(2, 90)), packed(labels(2, (const uint8_t[]){1, 1}))};
    test_import_idx(t, FOUR, files, 4);
    assert_int_equal(t->status, NN_OK);
    const struct nn_prepared_info *info = nn_prepared_info(t->set);
    assert_int_equal(info->count, 7);
    assert_int_equal(info->height, H);
    assert_int_equal(info->width, W);
    assert_int_equal(info->channels, 1);
    assert_int_equal(info->class_count, 3);
    assert_int_equal(info->part_count[NN_PART_TRAIN], 5);
    assert_int_equal(info->part_count[NN_PART_TEST], 2);
    assert_string_equal(nn_prepared_class_name(t->set, 2), "2");
    assert_int_equal(nn_prepared_label(t->set, 0), 2);
    assert_int_equal(nn_prepared_label(t->set, 6), 1);
    assert_int_equal(nn_prepared_part(t->set, 5), NN_PART_TEST);
    assert_string_equal(nn_prepared_item_name(t->set, 4), "train/00004");
    assert_string_equal(nn_prepared_item_name(t->set, 5), "test/00000");
    for (size_t i = 0; i < 5 * H * W; i++) {
        assert_int_equal(nn_prepared_pixels(t->set, 0)[i], (uint8_t)(i * 7));
    }
    assert_int_equal(nn_prepared_pixels(t->set, 5)[1], 97);
}

/* A22: labels need not begin at 0 or be dense: each number that occurs is a class of that name. */
static void case_a22_labels_from_one(void **state)
{
    struct test_import *t = *state;
    struct test_bytes files[] = {images(4, 0), labels(4, (const uint8_t[]){1, 3, 2, 200})};
    test_import_idx(t, TWO, files, 2);
    assert_int_equal(t->status, NN_OK);
    assert_int_equal(nn_prepared_info(t->set)->class_count, 4);
    assert_string_equal(nn_prepared_class_name(t->set, 0), "1");
    assert_string_equal(nn_prepared_class_name(t->set, 3), "200");
    assert_int_equal(nn_prepared_label(t->set, 3), 3);
}

static void import_named(struct test_import *t, const char *names)
{
    struct test_bytes files[] = {images(3, 0), labels(3, (const uint8_t[]){0, 1, 2})};
    json_t *classes = json_loads(names, 0, NULL);
    t->setup.options.classes = classes;
    test_import_idx(t, TWO, files, 2);
    json_decref(classes);
    t->setup.options.classes = NULL;
}

static void classes_can_be_named(void **state)
{
    struct test_import *t = *state;
    import_named(t, "[\"Trouser\", \"Bag\", \"Shirt\", \"Coat\"]");
    assert_int_equal(t->status, NN_OK);
    assert_int_equal(nn_prepared_info(t->set)->class_count, 4);
    assert_string_equal(nn_prepared_class_name(t->set, 1), "Bag");
    assert_int_equal(nn_prepared_label(t->set, 1), 1);
    assert_true(test_import_warns(t, "empty_class"));
    static const char *const bad[] = {"[\"a\", \"b\"]", "[\"a\", \"b\", \"a\"]",
                                      "[\"a\", \"b\", \"\"]", "[\"a\", \"b\", \"c\\n\"]",
                                      "[\"a\", \"b\", 3]"};
    for (size_t i = 0; i < 5; i++) {
        import_named(t, bad[i]);
        assert_int_equal(t->status, NN_ERR_INVALID);
        assert_string_equal(t->err.pointer, "/classes");
    }
}

static void pictures_can_be_resized(void **state)
{
    struct test_import *t = *state;
    struct test_bytes files[] = {images(3, 0), labels(3, (const uint8_t[]){0, 1, 2})};
    t->setup.options.image_size = (struct jx_ints){1, {8}};
    test_import_idx(t, TWO, files, 2);
    assert_int_equal(t->status, NN_OK);
    assert_int_equal(nn_prepared_info(t->set)->height, 8);
    assert_int_equal(nn_prepared_info(t->set)->width, 8);
    assert_int_equal(test_import_count(t, "resized"), 3);
}

/* Three equal channels of grey pictures, when a network wants them. */
static void grey_pictures_can_get_three_channels(void **state)
{
    struct test_import *t = *state;
    struct test_bytes files[] = {images(3, 0), labels(3, (const uint8_t[]){0, 1, 2})};
    struct test_bytes as_is[] = {images(3, 0), labels(3, (const uint8_t[]){0, 1, 2})};
    test_import_idx(t, TWO, as_is, 2);
    assert_int_equal(t->status, NN_OK);
    const struct nn_prepared_info *info = nn_prepared_info(t->set);
    size_t n = info->height * info->width;
    uint8_t *grey = malloc(n);
    assert_non_null(grey);
    memcpy(grey, nn_prepared_pixels(t->set, 1), n);
    t->setup.options.channels = 3;
    test_import_idx(t, TWO, files, 2);
    assert_int_equal(t->status, NN_OK);
    assert_int_equal(nn_prepared_info(t->set)->channels, 3);
    assert_non_null(strstr(nn_prepared_info(t->set)->options, "\"channels\":3"));
    const uint8_t *colour = nn_prepared_pixels(t->set, 1);
    for (size_t i = 0; i < 3 * n; i++) {
        assert_int_equal(colour[i], grey[i / 3]);
    }
    free(grey);
}

static void four_dimensions_are_colours(void **state)
{
    struct test_import *t = *state;
    struct test_bytes files[] = {test_idx((const uint32_t[]){2, H, W, 3}, 4, NULL),
                                 labels(2, (const uint8_t[]){0, 1})};
    test_import_idx(t, TWO, files, 2);
    assert_int_equal(t->status, NN_OK);
    assert_int_equal(nn_prepared_info(t->set)->channels, 3);
}

static void check_refused(struct test_import *t, struct test_bytes first, struct test_bytes second,
                          enum nn_status status, const char *word)
{
    struct test_bytes files[] = {first, second};
    test_import_idx(t, TWO, files, 2);
    assert_int_equal(t->status, status);
    if (!strstr(t->err.text, word)) {
        fail_msg("\"%s\" does not say \"%s\"", t->err.text, word);
    }
}

static struct test_bytes cut(struct test_bytes file, size_t size)
{
    file.size = size;
    return file;
}

static struct test_bytes patched(struct test_bytes file, size_t at, uint8_t value)
{
    file.data[at] = value;
    return file;
}

static struct test_bytes empty(void)
{
    return (struct test_bytes){malloc(1), 0};
}

static void files_that_do_not_fit(void **state)
{
    static const uint8_t two[] = {0, 1, 0};
    struct test_import *t = *state;
    check_refused(t, images(3, 0), labels(2, two), NN_ERR_INVALID, "3 images for 2 labels");
    check_refused(t, images(2, 0), cut(labels(2, two), 9), NN_ERR_INVALID, "cut off");
    check_refused(t, cut(images(2, 0), 16 + 23), labels(2, two), NN_ERR_INVALID, "cut off");
    check_refused(t, cut(images(2, 0), 10), labels(2, two), NN_ERR_INVALID, "cut off");
    check_refused(t, empty(), labels(2, two), NN_ERR_INVALID, "my-images");
    check_refused(t, images(2, 0), empty(), NN_ERR_INVALID, "my-labels");
    check_refused(t, images(2, 0), cut(labels(3, two), 10), NN_ERR_INVALID, "cut off");
    check_refused(t, images(2, 0), cut(labels(2, two), 11), NN_ERR_INVALID, "longer");
    check_refused(t, cut(images(2, 0), 16 + 2 * H * W + 1), labels(2, two), NN_ERR_INVALID,
                  "longer");
    check_refused(t, labels(2, two), images(2, 0), NN_ERR_NOT_SUPPORTED, "dimensions");
    check_refused(t, patched(images(2, 0), 0, 1), labels(2, two), NN_ERR_INVALID, "no IDX");
    check_refused(t, patched(images(2, 0), 2, 0x0d), labels(2, two), NN_ERR_NOT_SUPPORTED, "0x0d");
    check_refused(t, patched(images(2, 0), 8, 0xff), labels(2, two), NN_ERR_LIMIT, "images of");
    check_refused(t, patched(images(2, 0), 11, 0), labels(2, two), NN_ERR_LIMIT, "images of");
    check_refused(t, images(2, 0), patched(labels(2, two), 4, 0xff), NN_ERR_LIMIT, "labels");
    check_refused(t, images(0, 0), labels(0, NULL), NN_ERR_INVALID, "no image");
    check_refused(t, cut(packed(images(200, 0)), 120), labels(2, two), NN_ERR_INVALID, "my-images");
}

static void names_decide_what_a_file_is(void **state)
{
    static const struct {
        const char *names[4];
        size_t n;
    } rows[] = {
        {{"train-images", "train-images-2"}, 2},
        {{"a", "b"}, 2},
        {{"images-and-labels", "labels"}, 2},
        {{"train-images"}, 1},
        {{"train-images", "train-labels", "t10k-images", "x-images"}, 4},
        {{"train-images", "train-labels", "t10k-images"}, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct test_bytes files[4];
        for (size_t k = 0; k < rows[i].n; k++) {
            files[k] = images(1, 0);
        }
        test_import_idx(*state, rows[i].names, files, rows[i].n);
        assert_int_equal(((struct test_import *)*state)->status, NN_ERR_INVALID);
    }
}

static void missing_files_are_io(void **state)
{
    struct test_import *t = *state;
    struct nn_import_result result;
    t->files[0] = (struct nn_import_file){.name = "images", .path = "/nonexistent/images"};
    t->files[1] = (struct nn_import_file){.name = "labels", .path = "/nonexistent/labels"};
    t->setup.layout = NN_IMPORT_IDX;
    t->setup.files = t->files;
    t->setup.n_files = 2;
    t->setup.directory = t->output;
    assert_int_equal(nn_import_run(&t->setup, &result, &t->err), NN_ERR_IO);
    assert_null(strstr(t->err.text, "nonexistent")); /* no path of the machine */
    t->err = (struct nn_error){0};
}

/* Real data, where it is installed: the counts that everybody knows. */
static void fashion_mnist(void **state)
{
    struct test_import *t = *state;
    static const char *const names[] = {"t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"};
    struct test_bytes files[2];
    for (size_t i = 0; i < 2; i++) {
        char path[128];
        snprintf(path, sizeof path, "/usr/share/datasets/fashion-mnist/%s", names[i]);
        files[i] = test_file_read(path);
        if (!files[i].data) {
            return;
        }
    }
    test_import_idx(t, names, files, 2);
    assert_int_equal(t->status, NN_OK);
    assert_int_equal(nn_prepared_info(t->set)->count, 10000);
    assert_int_equal(nn_prepared_info(t->set)->class_count, 10);
    assert_int_equal(nn_prepared_label(t->set, 0), 9);
}

#define IMPORT_TEST(f) cmocka_unit_test_setup_teardown(f, test_import_setup, test_import_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IMPORT_TEST(four_files_are_two_parts),
        IMPORT_TEST(case_a22_labels_from_one),
        IMPORT_TEST(classes_can_be_named),
        IMPORT_TEST(pictures_can_be_resized),
        IMPORT_TEST(grey_pictures_can_get_three_channels),
        IMPORT_TEST(four_dimensions_are_colours),
        IMPORT_TEST(files_that_do_not_fit),
        IMPORT_TEST(names_decide_what_a_file_is),
        IMPORT_TEST(missing_files_are_io),
        IMPORT_TEST(fashion_mnist),
    };
    return cmocka_run_group_tests_name("import_idx", tests, NULL, NULL);
}
