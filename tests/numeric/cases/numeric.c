/* SPDX-License-Identifier: MIT
 *
 * The harness of the numeric cases: guarded buffers and comparisons.
 */
#include "tests/numeric/cases/cases.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE     ((size_t)4096)
#define SENTINEL ((nn_real)-98765.4321)
#define FRONT    16 /* sentinels before a buffer */

struct numeric_buffer {
    struct numeric_buffer *next;
    char *map;
    size_t map_bytes;
    struct field field; /* data NULL: not a field */
    uint64_t seal;      /* of the content, while it is an input */
    bool is_output;
    nn_real *front; /* FRONT sentinels */
};

static uint64_t digest_words(uint64_t digest, const void *data, size_t size)
{
    const uint32_t *words = data; /* FNV-1a, by words */
    for (size_t i = 0; i < size / sizeof *words; i++) {
        digest = (digest ^ words[i]) * 0x100000001b3ull;
        digest ^= digest >> 29;
    }
    return digest;
}

static uint64_t digest_field(uint64_t digest, struct field f)
{
    for (size_t r = 0; r < f.rows; r++) {
        digest = digest_words(digest, f.data + r * f.ld, f.columns * sizeof *f.data);
    }
    return digest;
}

/* bytes that end at the guard page, sentinels in front of them. */
static struct numeric_buffer *buffer_add(struct numeric *t, size_t bytes)
{
    struct numeric_buffer *b = calloc(1, sizeof *b);
    NN_ASSERT(b);
    size_t whole = (bytes + FRONT * sizeof(nn_real) + PAGE - 1) / PAGE * PAGE;
    b->map_bytes = whole + PAGE;
    b->map = mmap(NULL, b->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    NN_ASSERT(b->map != MAP_FAILED);
    NN_ASSERT(mprotect(b->map + whole, PAGE, PROT_NONE) == 0);
    size_t front = (whole - bytes) / sizeof(nn_real);
    b->front = (nn_real *)(void *)b->map + (front > FRONT ? front - FRONT : 0);
    for (size_t i = 0; i < FRONT; i++) {
        b->front[i] = SENTINEL;
    }
    b->next = t->buffers;
    t->buffers = b;
    return b;
}

static void *buffer_data(const struct numeric_buffer *b, size_t bytes)
{
    return b->map + b->map_bytes - PAGE - bytes;
}

/* In [-1, 1); a linear congruential generator (Knuth's MMIX) is enough for test data. */
static nn_real next_number(uint64_t *random)
{
    *random = *random * 6364136223846793005ull + 1442695040888963407ull;
    return (nn_real)((double)(*random >> 40) * 0x1p-23 - 1);
}

/* Elements of a matrix whose last row ends with its last column. */
static size_t field_count(struct field f)
{
    return f.rows == 0 ? 0 : (f.rows - 1) * f.ld + f.columns;
}

static bool is_gap(struct field f, size_t i)
{
    return i % f.ld >= f.columns;
}

struct field numeric_field(struct numeric *t, size_t rows, size_t columns, size_t gap)
{
    struct field f = {NULL, rows, columns, columns + gap};
    size_t n = field_count(f);
    struct numeric_buffer *b = buffer_add(t, n * sizeof(nn_real));
    f.data = buffer_data(b, n * sizeof(nn_real));
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < f.ld && r * f.ld + c < n; c++) {
            f.data[r * f.ld + c] = c < columns ? next_number(&t->random) : SENTINEL;
        }
    }
    b->field = f;
    b->seal = digest_field(0, f);
    return f;
}

static struct numeric_buffer *buffer_of(struct numeric *t, struct field f)
{
    struct numeric_buffer *b = t->buffers;
    while (b->field.data != f.data) {
        b = b->next;
    }
    return b;
}

void numeric_sealed(struct numeric *t, struct field field)
{
    buffer_of(t, field)->seal = digest_field(0, field);
}

void *numeric_array(struct numeric *t, size_t count, size_t size)
{
    return buffer_data(buffer_add(t, count * size), count * size);
}

double *numeric_doubles(struct numeric *t, struct field field)
{
    double *copy = numeric_array(t, field.rows * field.columns + 1, sizeof *copy);
    for (size_t i = 0; i < field.rows * field.columns; i++) {
        copy[i] = (double)field.data[i / field.columns * field.ld + i % field.columns];
    }
    return copy;
}

void numeric_workspace(struct numeric *t, size_t bytes)
{
    t->exec.workspace = numeric_array(t, (bytes + 63) / 64, 64);
    t->exec.workspace_bytes = bytes;
}

static void mistake(struct numeric *t, const char *what, const char *sizes)
{
    t->mistakes++;
    if (!t->quiet) {
        (void)fprintf(stderr, "NN_TEST_CASE=%s NN_TEST_ISA=%s test_kernels: %s: %s\n", t->name,
                      nn_isa_name(nn_kernels_isa(t->exec.kernels)), sizes, what);
    }
}

static void judge(struct numeric *t, double difference, double norm, size_t terms,
                  const char *sizes)
{
    double tolerance = sizeof(nn_real) == 8 ? 1e-6 : terms >= 100000 ? 1e-4 : 1e-5;
    double error = sqrt(difference) / fmax(sqrt(norm), 1e-30);
    char what[64];
    t->comparisons++;
    if (!(error / tolerance <= t->worst)) {
        t->worst = error / tolerance;
    }
    if (!(error <= tolerance)) { /* also when it is a NaN */
        (void)snprintf(what, sizeof what, "error %.3g over %.3g", error, tolerance);
        mistake(t, what, sizes);
    }
}

void numeric_compare(struct numeric *t, struct field field, const double *expected, size_t terms,
                     const char *fmt, ...)
{
    char sizes[160];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(sizes, sizeof sizes, fmt, args);
    va_end(args);
    double difference = 0, norm = 0;
    for (size_t i = 0; i < field.rows * field.columns; i++) {
        double found = (double)field.data[i / field.columns * field.ld + i % field.columns];
        difference += (found - expected[i]) * (found - expected[i]);
        norm += expected[i] * expected[i];
    }
    buffer_of(t, field)->is_output = true;
    t->digest = digest_field(t->digest, field);
    judge(t, difference, norm, terms, sizes);
}

void numeric_compare_doubles(struct numeric *t, const double *found, const double *expected,
                             size_t n, size_t terms, const char *fmt, ...)
{
    char sizes[160];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(sizes, sizeof sizes, fmt, args);
    va_end(args);
    double difference = 0, norm = 0;
    for (size_t i = 0; i < n; i++) {
        difference += (found[i] - expected[i]) * (found[i] - expected[i]);
        norm += expected[i] * expected[i];
    }
    t->digest = digest_words(t->digest, found, n * sizeof *found);
    judge(t, difference, norm, terms, sizes);
}

static bool field_is_intact(const struct numeric_buffer *b)
{
    const nn_real sentinel = SENTINEL;
    for (size_t i = 0; i < FRONT; i++) {
        if (memcmp(&b->front[i], &sentinel, sizeof sentinel) != 0) {
            return false;
        }
    }
    for (size_t i = 0; b->field.data && i < field_count(b->field); i++) {
        if (is_gap(b->field, i) && memcmp(&b->field.data[i], &sentinel, sizeof sentinel) != 0) {
            return false;
        }
    }
    return true;
}

static void check_and_free(struct numeric *t)
{
    char sizes[64];
    while (t->buffers) {
        struct numeric_buffer *b = t->buffers;
        (void)snprintf(sizes, sizeof sizes, "buffer %zux%zu", b->field.rows, b->field.columns);
        if (!field_is_intact(b)) {
            mistake(t, "written outside of its elements", sizes);
        }
        if (b->field.data && !b->is_output && digest_field(0, b->field) != b->seal) {
            mistake(t, "an input was changed", sizes);
        }
        t->buffers = b->next;
        (void)munmap(b->map, b->map_bytes);
        free(b);
    }
}

void numeric_run(struct numeric *t, const struct numeric_case *c, const struct nn_kernels *kernels,
                 struct nn_pool *pool, bool quiet)
{
    *t = (struct numeric){.exec = {.kernels = kernels, .pool = pool}, .name = c->name};
    t->quiet = quiet;
    t->digest = 0xcbf29ce484222325ull;
    c->run(t);
    check_and_free(t);
}
