/* SPDX-License-Identifier: MIT
 *
 * Rows of the kernel table that treat every number by itself, in plain C that compilers vectorise.
 * Included once by each table_*.c, which is compiled for its instruction set.
 */
#include "core/base/random.h"

static void row_copy(const struct nn_map_args *s)
{
    for (size_t r = 0; r < s->rows; r++) {
        const nn_real *a = s->a + r * s->lda;
        nn_real *y = s->y + r * s->ldy;
        if (s->accumulate) {
#pragma omp simd
            for (size_t c = 0; c < s->columns; c++) {
                y[c] += a[c];
            }
        } else {
            memcpy(y, a, s->columns * sizeof *y);
        }
    }
}

static void row_add(const struct nn_map_args *s)
{
    for (size_t r = 0; r < s->rows; r++) {
        const nn_real *a = s->a + r * s->lda, *b = s->b + r * s->ldb;
        nn_real *y = s->y + r * s->ldy;
        if (s->relu) {
#pragma omp simd
            for (size_t c = 0; c < s->columns; c++) {
                nn_real sum = a[c] + b[c];
                y[c] = sum < 0 ? 0 : sum;
            }
        } else {
#pragma omp simd
            for (size_t c = 0; c < s->columns; c++) {
                y[c] = a[c] + b[c];
            }
        }
    }
}

static void row_relu(const struct nn_map_args *s)
{
    for (size_t r = 0; r < s->rows; r++) {
        const nn_real *a = s->a + r * s->lda;
        nn_real *y = s->y + r * s->ldy;
#pragma omp simd
        for (size_t c = 0; c < s->columns; c++) {
            y[c] = a[c] < 0 ? 0 : a[c]; /* a NaN stays */
        }
    }
}

static void pass_positive(nn_real *y, const nn_real *a, const nn_real *b, size_t n)
{
#pragma omp simd
    for (size_t c = 0; c < n; c++) {
        y[c] = b[c] > 0 ? a[c] : 0;
    }
}

static void add_positive(nn_real *y, const nn_real *a, const nn_real *b, size_t n)
{
#pragma omp simd
    for (size_t c = 0; c < n; c++) {
        y[c] += b[c] > 0 ? a[c] : 0;
    }
}

static void row_relu_gradient(const struct nn_map_args *s)
{
    for (size_t r = 0; r < s->rows; r++) {
        const nn_real *a = s->a + r * s->lda, *b = s->b + r * s->ldb;
        if (s->accumulate) {
            add_positive(s->y + r * s->ldy, a, b, s->columns);
        } else {
            pass_positive(s->y + r * s->ldy, a, b, s->columns);
        }
    }
}

static void row_clip(const struct nn_map_args *s)
{
    nn_real ceiling = s->ceiling;
    for (size_t r = 0; r < s->rows; r++) {
        const nn_real *a = s->a + r * s->lda;
        nn_real *y = s->y + r * s->ldy;
#pragma omp simd
        for (size_t c = 0; c < s->columns; c++) {
            nn_real value = a[c] < 0 ? 0 : a[c]; /* a NaN stays */
            y[c] = value > ceiling ? ceiling : value;
        }
    }
}

static void pass_between(nn_real *y, const nn_real *a, const nn_real *b, nn_real ceiling, size_t n)
{
#pragma omp simd
    for (size_t c = 0; c < n; c++) {
        nn_real below = b[c] < ceiling ? a[c] : 0;
        y[c] = b[c] > 0 ? below : 0;
    }
}

static void add_between(nn_real *y, const nn_real *a, const nn_real *b, nn_real ceiling, size_t n)
{
#pragma omp simd
    for (size_t c = 0; c < n; c++) {
        nn_real below = b[c] < ceiling ? a[c] : 0;
        y[c] += b[c] > 0 ? below : 0;
    }
}

static void row_clip_gradient(const struct nn_map_args *s)
{
    for (size_t r = 0; r < s->rows; r++) {
        const nn_real *a = s->a + r * s->lda, *b = s->b + r * s->ldb;
        if (s->accumulate) {
            add_between(s->y + r * s->ldy, a, b, s->ceiling, s->columns);
        } else {
            pass_between(s->y + r * s->ldy, a, b, s->ceiling, s->columns);
        }
    }
}

/* Words of DROPOUT_BLOCKS blocks of Philox4x32-10 at once; as nn_philox4x32, lane by lane. */
#define DROPOUT_BLOCKS ((size_t)16)
#define DROPOUT_WORDS  (4 * DROPOUT_BLOCKS)

static void philox_blocks(const uint32_t key[2], const uint32_t counter[4], uint32_t first_block,
                          uint32_t words[DROPOUT_WORDS])
{
    uint32_t c0[DROPOUT_BLOCKS], c1[DROPOUT_BLOCKS], c2[DROPOUT_BLOCKS], c3[DROPOUT_BLOCKS];
    for (size_t i = 0; i < DROPOUT_BLOCKS; i++) {
        c0[i] = first_block + (uint32_t)i;
        c1[i] = counter[1];
        c2[i] = counter[2];
        c3[i] = counter[3];
    }
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
#pragma omp simd
        for (size_t i = 0; i < DROPOUT_BLOCKS; i++) {
            uint64_t p0 = (uint64_t)0xD2511F53u * c0[i];
            uint64_t p1 = (uint64_t)0xCD9E8D57u * c2[i];
            c0[i] = (uint32_t)(p1 >> 32) ^ c1[i] ^ k0;
            c2[i] = (uint32_t)(p0 >> 32) ^ c3[i] ^ k1;
            c1[i] = (uint32_t)p1;
            c3[i] = (uint32_t)p0;
        }
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    for (size_t i = 0; i < DROPOUT_BLOCKS; i++) {
        words[4 * i] = c0[i];
        words[4 * i + 1] = c1[i];
        words[4 * i + 2] = c2[i];
        words[4 * i + 3] = c3[i];
    }
}

static void drop(nn_real *y, const nn_real *x, const uint32_t *words,
                 const struct nn_dropout_args *s, size_t n)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        y[i] = words[i] >= s->threshold ? x[i] * s->factor : 0;
    }
}

static void drop_and_add(nn_real *y, const nn_real *x, const uint32_t *words,
                         const struct nn_dropout_args *s, size_t n)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        y[i] += words[i] >= s->threshold ? x[i] * s->factor : 0;
    }
}

static void row_dropout(const struct nn_dropout_args *s)
{
    uint32_t words[DROPOUT_WORDS];
    size_t held = SIZE_MAX; /* number of the group of words in `words` */
    for (size_t r = 0; r < s->rows; r++) {
        size_t at = s->starts ? s->starts[r] : r;
        for (size_t c = 0; c < s->columns;) {
            size_t e = s->first + r * s->columns + c;
            if (e / DROPOUT_WORDS != held) {
                held = e / DROPOUT_WORDS;
                philox_blocks(s->key, s->counter, (uint32_t)(held * DROPOUT_BLOCKS), words);
            }
            size_t run = DROPOUT_WORDS - e % DROPOUT_WORDS;
            run = run < s->columns - c ? run : s->columns - c;
            nn_real *y = s->y + at * s->ldy + c;
            const nn_real *x = s->x + at * s->ldx + c;
            if (s->accumulate) {
                drop_and_add(y, x, words + e % DROPOUT_WORDS, s, run);
            } else {
                drop(y, x, words + e % DROPOUT_WORDS, s, run);
            }
            c += run;
        }
    }
}

#define NORMALIZE_FOLD ((size_t)16)

static void normalize_row(nn_real *y, const uint8_t *x, const nn_real *factor,
                          const nn_real *offset, size_t n)
{
#pragma omp simd
    for (size_t c = 0; c < n; c++) {
        y[c] = (nn_real)x[c] * factor[c] + offset[c];
    }
}

/* Few columns: sixteen dense rows are treated as one, so that the inner loop is long. */
static void row_normalize_u8(const struct nn_normalize_args *s)
{
    nn_real factor[NORMALIZE_FOLD * NORMALIZE_FOLD], offset[NORMALIZE_FOLD * NORMALIZE_FOLD];
    size_t fold = s->columns <= NORMALIZE_FOLD && s->ldy == s->columns ? NORMALIZE_FOLD : 1;
    size_t folded = s->rows / fold, width = fold * s->columns, r = 0;
    if (fold > 1) {
        for (size_t c = 0; c < width; c++) {
            factor[c] = s->factor[c % s->columns];
            offset[c] = s->offset[c % s->columns];
        }
        for (size_t i = 0; i < folded; i++) {
            normalize_row(s->y + i * width, s->x + i * width, factor, offset, width);
        }
        r = folded * fold;
    }
    for (; r < s->rows; r++) {
        normalize_row(s->y + r * s->ldy, s->x + r * s->columns, s->factor, s->offset, s->columns);
    }
}

static void row_fill(const struct nn_vector_args *s)
{
    for (size_t i = 0; i < s->n; i++) {
        s->y[i] = s->value;
    }
}

static void row_scale(const struct nn_vector_args *s)
{
    nn_real *y = s->y;
#pragma omp simd
    for (size_t i = 0; i < s->n; i++) {
        y[i] *= s->value;
    }
}

static void row_average(const struct nn_vector_args *s)
{
    nn_real *y = s->y;
    const nn_real *x = s->x;
#pragma omp simd
    for (size_t i = 0; i < s->n; i++) {
        y[i] += s->value * (x[i] - y[i]);
    }
}

static void row_clamp(const struct nn_vector_args *s)
{
    nn_real *y = s->y, limit = s->value;
#pragma omp simd
    for (size_t i = 0; i < s->n; i++) {
        nn_real low = y[i] < -limit ? -limit : y[i];
        y[i] = low > limit ? limit : low;
    }
}

/* x * 0 is 0 for a finite x and NaN otherwise, and a sum with a NaN stays NaN. */
static void row_all_finite(const struct nn_vector_args *s)
{
    const nn_real *x = s->x;
    nn_real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < s->n; i++) {
        sum += x[i] * (nn_real)0;
    }
    *s->result = sum == 0 ? 1 : 0;
}

static void row_sum_squares(const struct nn_vector_args *s)
{
    const nn_real *x = s->x;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < s->n; i++) {
        sum += (double)x[i] * (double)x[i];
    }
    *s->result = sum;
}

/* sums of columns in strips that stay in the first cache. */
#define SUM_STRIP 64

static void row_column_sums(const struct nn_column_sums_args *s)
{
    for (size_t c0 = 0; c0 < s->columns; c0 += SUM_STRIP) {
        size_t n = s->columns - c0 < SUM_STRIP ? s->columns - c0 : SUM_STRIP;
        nn_real sums[SUM_STRIP] = {0};
        for (size_t r = 0; r < s->rows; r++) {
            const nn_real *x = s->x + r * s->ldx + c0;
#pragma omp simd
            for (size_t c = 0; c < n; c++) {
                sums[c] += x[c];
            }
        }
        for (size_t c = 0; c < n; c++) {
            s->sums[c0 + c] = (double)sums[c];
        }
    }
}
