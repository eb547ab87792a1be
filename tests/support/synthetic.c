/* SPDX-License-Identifier: MIT
 *
 * Synthetic data sets: IDX files out, a prepared set in.
 */
#include "tests/support/synthetic.h"

#include "tests/support/cmocka_all.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/random.h"
#include "core/data/import.h"

/* --- makers ----------------------------------------------------------------------------------- */

unsigned char synthetic_xor(size_t i, unsigned char *pixels)
{
    pixels[0] = i & 1 ? 255 : 0;
    pixels[1] = i & 2 ? 255 : 0;
    return (unsigned char)((i & 1) ^ (i >> 1 & 1));
}

unsigned char synthetic_blobs(size_t i, unsigned char *pixels)
{
    struct nn_random random;
    nn_random_init(&random, 5, NN_RANDOM_TEST, 0, i);
    unsigned char label = (unsigned char)(i % 2);
    for (size_t k = 0; k < 4; k++) {
        unsigned base = (k % 2 == label) ? 150 : 50;
        pixels[k] = (unsigned char)(base + nn_random_below(&random, 80));
    }
    return label;
}

unsigned char synthetic_bars(size_t i, unsigned char *pixels)
{
    struct nn_random random;
    nn_random_init(&random, 6, NN_RANDOM_TEST, 0, i);
    unsigned char label = (unsigned char)(i % 4);
    for (size_t k = 0; k < 64; k++) {
        pixels[k] = (unsigned char)nn_random_below(&random, 100);
    }
    for (size_t k = 0; k < 8; k++) { /* columns 1 and 5, rows 1 and 5 */
        size_t line = label % 2 ? 5 : 1;
        pixels[label < 2 ? k * 8 + line : line * 8 + k] = 220;
    }
    return label;
}

/* --- files ------------------------------------------------------------------------------------ */

static void put_u32(FILE *file, uint32_t value)
{
    const unsigned char bytes[4] = {(unsigned char)(value >> 24), (unsigned char)(value >> 16),
                                    (unsigned char)(value >> 8), (unsigned char)value};
    assert_int_equal(fwrite(bytes, 1, 4, file), 4);
}

static FILE *create(const struct synthetic_set *set, const char *name, char *path, size_t size)
{
    (void)snprintf(path, size, "%s/%s", set->directory, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    return file;
}

/* Images and labels of samples [first, first + n); paths[0] and paths[1] receive the names. */
static void part_write(const struct synthetic_set *set, const struct synthetic_spec *spec,
                       const char *name, size_t first, size_t n, char paths[2][128])
{
    char file_name[64];
    unsigned char pixels[4096];
    assert_true(spec->height * spec->width <= sizeof pixels);
    (void)snprintf(file_name, sizeof file_name, "%s-images-idx3-ubyte", name);
    FILE *images = create(set, file_name, paths[0], 128);
    (void)snprintf(file_name, sizeof file_name, "%s-labels-idx1-ubyte", name);
    FILE *labels = create(set, file_name, paths[1], 128);
    put_u32(images, 0x803);
    put_u32(images, (uint32_t)n);
    put_u32(images, (uint32_t)spec->height);
    put_u32(images, (uint32_t)spec->width);
    put_u32(labels, 0x801);
    put_u32(labels, (uint32_t)n);
    for (size_t i = first; i < first + n; i++) {
        int label = spec->make(i, pixels);
        assert_int_equal(fputc(label, labels), label);
        assert_int_equal(fwrite(pixels, 1, spec->height * spec->width, images),
                         spec->height * spec->width);
    }
    assert_int_equal(fclose(images), 0);
    assert_int_equal(fclose(labels), 0);
}

static void import(struct synthetic_set *set, const struct synthetic_spec *spec)
{
    char paths[4][128];
    struct nn_import_file files[4];
    size_t n = spec->test > 0 ? 4 : 2;
    part_write(set, spec, "train", 0, spec->train, paths);
    if (spec->test > 0) {
        part_write(set, spec, "t10k", spec->train, spec->test, paths + 2);
    }
    for (size_t i = 0; i < n; i++) {
        files[i] =
            (struct nn_import_file){.name = strrchr(paths[i], '/') + 1, .path = paths[i], .fd = -1};
    }
    const struct nn_import_setup setup = {
        .layout = NN_IMPORT_IDX, .files = files, .n_files = n, .directory = set->directory};
    struct nn_import_result result;
    struct nn_error err = {0};
    if (nn_import_run(&setup, &result, &err) != NN_OK) {
        fail_msg("import of a synthetic set: %s", err.text);
    }
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%.31s", set->directory, result.prepared_name);
    nn_import_result_deinit(&result);
    assert_int_equal(nn_prepared_open(path, &set->prepared, &err), NN_OK);
}

void synthetic_open(struct synthetic_set *set, const struct synthetic_spec *spec)
{
    *set = (struct synthetic_set){.directory = "/tmp/assay-synthetic-XXXXXX"};
    assert_non_null(mkdtemp(set->directory));
    import(set, spec);
    size_t count = nn_prepared_info(set->prepared)->count;
    for (int part = 0; part < NN_PART_COUNT; part++) {
        struct nn_split_side *side = &set->side[part];
        side->items = calloc(count, sizeof *side->items);
        assert_non_null(side->items);
        for (size_t i = 0; i < count; i++) {
            if (nn_prepared_part(set->prepared, i) == (enum nn_part)part) {
                side->items[side->count++] = (uint32_t)i;
            }
        }
    }
}

void synthetic_hold_out(struct synthetic_set *set, size_t n)
{
    struct nn_split_side *train = &set->side[NN_PART_TRAIN];
    struct nn_split_side *validation = &set->side[NN_PART_VALIDATION];
    assert_true(n < train->count);
    train->count -= n;
    memcpy(validation->items, train->items + train->count, n * sizeof *train->items);
    validation->count = n;
}

void synthetic_close(struct synthetic_set *set)
{
    nn_prepared_close(set->prepared);
    for (int part = 0; part < NN_PART_COUNT; part++) {
        free(set->side[part].items);
    }
    DIR *dir = opendir(set->directory);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)) != NULL) {
        (void)unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir) {
        (void)closedir(dir);
    }
    assert_int_equal(rmdir(set->directory), 0);
}
