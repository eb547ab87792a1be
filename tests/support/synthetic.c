/* SPDX-License-Identifier: MIT
 *
 * Synthetic data sets: numbers in, a prepared set out.
 */
#include "tests/support/synthetic.h"

#include "tests/support/cmocka_all.h"

#include <dirent.h>
#include <math.h>
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
    const struct nn_prepared_draft draft = {count,   spec->height, spec->width, 1, rows,
                                            CLASSES, classes,      "{}",        1};
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

static void directory_make(struct synthetic_set *set)
{
    /* in memory where that can be: runs that save each step would wait for the disk */
    bool memory = access("/dev/shm", W_OK) == 0;
    *set = (struct synthetic_set){0};
    (void)snprintf(set->directory, sizeof set->directory, "%s/assay-synthetic-XXXXXX",
                   memory ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(set->directory));
}

static enum nn_part part_of(const struct synthetic_set *set, size_t i)
{
    return set->prepared ? nn_prepared_part(set->prepared, i)
                         : nn_sequences_part(set->sequences, i);
}

static void sides_make(struct synthetic_set *set, size_t count)
{
    for (int part = 0; part < NN_PART_COUNT; part++) {
        struct nn_split_side *side = &set->side[part];
        side->items = calloc(count, sizeof *side->items);
        assert_non_null(side->items);
        for (size_t i = 0; i < count; i++) {
            if (part_of(set, i) == (enum nn_part)part) {
                side->items[side->count++] = (uint32_t)i;
            }
        }
    }
}

void synthetic_open(struct synthetic_set *set, const struct synthetic_spec *spec)
{
    directory_make(set);
    set_write(set, spec);
    sides_make(set, nn_prepared_info(set->prepared)->count);
}

enum { INPUTS = 3, LONGEST = 22 };

/* Returns its length; features and targets have room for LONGEST steps. */
static size_t sequence_make(size_t i, float *features, float *targets)
{
    struct nn_random random;
    nn_random_init(&random, 8, NN_RANDOM_TEST, 0, i);
    size_t length = 3 + nn_random_below(&random, LONGEST - 2);
    double s = 0;
    for (size_t t = 0; t < length; t++) {
        double a = (double)nn_random_below(&random, 2001) / 1000 - 1;
        double b = (double)nn_random_below(&random, 2001) / 1000 - 1;
        s = 0.7 * s + 0.5 * a - 0.3 * b;
        features[t * INPUTS] = (float)a;
        features[t * INPUTS + 1] = 7;
        features[t * INPUTS + 2] = (float)(100 + 10 * b);
        targets[t] = (float)(40 + 20 * s);
    }
    return length;
}

/* The same for a sequence with a class. */
static size_t class_make(size_t i, float *features, uint32_t *out_label)
{
    struct nn_random random;
    nn_random_init(&random, 9, NN_RANDOM_TEST, 0, i);
    size_t length = 5 + nn_random_below(&random, LONGEST - 4);
    uint32_t label = (uint32_t)nn_random_below(&random, 3);
    for (size_t t = 0; t < length; t++) {
        double at = (double)t / (double)(length - 1);
        double noise = (double)nn_random_below(&random, 2001) / 1000 - 1;
        double a = label == 0 ? at : label == 1 ? 1 - at : fabs(2 * at - 1);
        features[t * INPUTS] = (float)(a + 0.05 * noise);
        features[t * INPUTS + 1] = 7;
        features[t * INPUTS + 2] = (float)(100 + noise);
    }
    *out_label = label;
    return length;
}

static void sequences_write(struct synthetic_set *set, size_t train, size_t validation, size_t test,
                            bool classed)
{
    static const char *const NAMES[] = {"a", "constant", "b"};
    static const char *const TARGET[] = {"y"};
    static const char *const CLASSES[] = {"rises", "falls", "turns"};
    size_t count = train + validation + test;
    struct nn_sequences_item *items = calloc(count, sizeof *items);
    char(*names)[24] = calloc(count, sizeof *names);
    float *features = calloc(count * LONGEST * INPUTS, sizeof *features);
    float *targets = calloc(count * LONGEST, sizeof *targets);
    uint8_t digest[NN_DIGEST_BYTES];
    size_t step = 0;
    assert_true(items && names && features && targets);
    for (size_t i = 0; i < count; i++) {
        uint32_t label = 0;
        size_t length = classed ? class_make(i, features + step * INPUTS, &label)
                                : sequence_make(i, features + step * INPUTS, targets + step);
        (void)snprintf(names[i], sizeof names[i], "s%zu", i);
        items[i] = (struct nn_sequences_item){.name = names[i],
                                              .length = length,
                                              .label = label,
                                              .part = i < train                ? NN_PART_TRAIN
                                                      : i < train + validation ? NN_PART_VALIDATION
                                                                               : NN_PART_TEST};
        step += items[i].length;
    }
    const struct nn_sequences_draft draft = {.count = count,
                                             .inputs = INPUTS,
                                             .targets = classed ? 0 : 1,
                                             .class_count = classed ? 3 : 0,
                                             .classes = CLASSES,
                                             .items = items,
                                             .features = features,
                                             .target_values = targets,
                                             .input_names = NAMES,
                                             .target_names = TARGET,
                                             .options = "{}"};
    char path[128];
    struct nn_error err = {0};
    (void)snprintf(path, sizeof path, "%s/set", set->directory);
    if (nn_sequences_write(path, &draft, digest, &err) != NN_OK ||
        nn_sequences_open(path, &set->sequences, &err) != NN_OK) {
        fail_msg("synthetic sequences: %s", err.text);
    }
    free(items);
    free(names);
    free(features);
    free(targets);
}

static void sequences_open(struct synthetic_set *set, const size_t parts[NN_PART_COUNT],
                           bool classed, const struct nn_scaling_options *scaling)
{
    struct nn_error err = {0};
    size_t train = parts[NN_PART_TRAIN];
    size_t validation = parts[NN_PART_VALIDATION], test = parts[NN_PART_TEST];
    directory_make(set);
    sequences_write(set, train, validation, test, classed);
    sides_make(set, train + validation + test);
    const struct nn_split_side *side = &set->side[NN_PART_TRAIN];
    if (nn_scaling_create(set->sequences, side->items, side->count, scaling, &set->scaling, &err) !=
        NN_OK) {
        fail_msg("synthetic scaling: %s", err.text);
    }
}

void synthetic_open_sequences(struct synthetic_set *set, size_t train, size_t validation,
                              size_t test, const struct nn_scaling_options *scaling)
{
    sequences_open(set, (const size_t[]){train, validation, test}, false, scaling);
}

void synthetic_open_classes(struct synthetic_set *set, size_t train, size_t validation, size_t test)
{
    static const struct nn_scaling_options z_score = {.inputs = NN_SCALING_Z_SCORE};
    sequences_open(set, (const size_t[]){train, validation, test}, true, &z_score);
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

void synthetic_cut(struct synthetic_set *set, const struct nn_window_options *options)
{
    assert_int_equal(
        nn_sequence_windows_create(set->sequences, set->side, options, NULL, &set->windows, NULL),
        NN_OK);
}

void synthetic_close(struct synthetic_set *set)
{
    nn_sequence_windows_destroy(set->windows);
    nn_prepared_close(set->prepared);
    nn_scaling_destroy(set->scaling);
    nn_sequences_close(set->sequences);
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
