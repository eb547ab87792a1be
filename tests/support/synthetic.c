/* SPDX-License-Identifier: MIT
 *
 * Synthetic data sets: numbers in, a prepared set out.
 */
#include "tests/support/synthetic.h"

#include "tests/support/cmocka_all.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/random.h"
#include "core/base/sha256.h"

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

/* --- sets ------------------------------------------------------------------------------------- */

/* rows[i] of the sample; names and pixels are the caller's blocks. */
static void item_fill(const struct synthetic_spec *spec, size_t i, struct nn_prepared_item *row,
                      char name[24], uint8_t *pixels)
{
    size_t bytes = spec->height * spec->width;
    (void)snprintf(name, 24, "%08zu", i);
    *row = (struct nn_prepared_item){
        .name = name,
        .pixels = pixels,
        .label = spec->make(i, pixels),
        .part = i < spec->train ? NN_PART_TRAIN : NN_PART_TEST,
    };
    nn_sha256_of(pixels, bytes, row->digest);
}

static void set_write(struct synthetic_set *set, const struct synthetic_spec *spec)
{
    static const char *const CLASSES[] = {"0", "1", "2", "3"};
    size_t count = spec->train + spec->test;
    size_t bytes = spec->height * spec->width;
    struct nn_prepared_item *rows = calloc(count, sizeof *rows);
    char(*names)[24] = calloc(count, sizeof *names);
    uint8_t *pixels = calloc(count, bytes);
    uint32_t classes = 0;
    assert_true(rows && names && pixels);
    for (size_t i = 0; i < count; i++) {
        item_fill(spec, i, &rows[i], names[i], pixels + i * bytes);
        classes = rows[i].label >= classes ? rows[i].label + 1 : classes;
    }
    assert_in_range(classes, 1, 4);
    const struct nn_prepared_draft draft = {count, spec->height, spec->width, 1,
                                            rows,  CLASSES,      classes,     "{}"};
    char path[128];
    struct nn_error err = {0};
    (void)snprintf(path, sizeof path, "%s/set", set->directory);
    if (nn_prepared_write(path, &draft, NULL, &err) != NN_OK ||
        nn_prepared_open(path, &set->prepared, &err) != NN_OK) {
        fail_msg("synthetic set: %s", err.text);
    }
    free(rows);
    free(names);
    free(pixels);
}

void synthetic_open(struct synthetic_set *set, const struct synthetic_spec *spec)
{
    /* in memory where that can be: runs that save each step would wait for the disk */
    bool memory = access("/dev/shm", W_OK) == 0;
    *set = (struct synthetic_set){0};
    (void)snprintf(set->directory, sizeof set->directory, "%s/assay-synthetic-XXXXXX",
                   memory ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(set->directory));
    set_write(set, spec);
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
