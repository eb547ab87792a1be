/* SPDX-License-Identifier: MIT
 *
 * Numeric cases of the kernels. A case runs operations of core/kernels on awkward sizes with the
 * table it is given and compares each output with tests/ref. It names the rows of the table that it
 * must notice when they are broken.
 *
 * Buffers end at a page that may not be touched and begin behind sentinels; so do the gaps between
 * the columns and the leading dimension; inputs must come out as they went in. All of that is
 * checked when the case ends.
 */
#ifndef TESTS_NUMERIC_CASES_CASES_H
#define TESTS_NUMERIC_CASES_CASES_H

#include "core/kernels/kernels.h"
#include "core/kernels/table.h"

struct numeric {
    struct nn_exec exec; /* kernels and pool from the driver, workspace from numeric_workspace */
    const char *name;    /* of the case */
    bool quiet;          /* mistakes are expected: count, do not print */
    size_t mistakes, comparisons;
    double worst;    /* largest error / tolerance */
    uint64_t digest; /* of every output, bit by bit */
    uint64_t random; /* state of the generator of fields */
    struct numeric_buffer *buffers;
};

struct numeric_case {
    const char *name;
    const char *rows; /* names of rows, a space between two */
    void (*run)(struct numeric *t);
};

extern const struct numeric_case matrix_cases[], convolution_cases[], normalization_cases[],
    pooling_cases[], softmax_cases[], recurrence_cases[], pointwise_cases[], activation_cases[],
    broadcast_cases[], framing_cases[], update_cases[], attention_cases[]; /* ended by name NULL */

/* ---- harness (numeric.c) ---- */

/* A matrix of the case. */
struct field {
    nn_real *data;
    size_t rows, columns, ld;
};

/* rows x columns random numbers in [-1, 1), ld = columns + gap. Each call draws others. Lives until
 * the case ends. */
struct field numeric_field(struct numeric *t, size_t rows, size_t columns, size_t gap);

/* To be called after changing an input by hand: what it holds now is what it must hold at the end.
 */
void numeric_sealed(struct numeric *t, struct field field);

/* count elements of size bytes, zeroed, guarded like a field. */
void *numeric_array(struct numeric *t, size_t count, size_t size);

/* The numbers of a field, dense, in double: the start of a reference that adds. */
double *numeric_doubles(struct numeric *t, struct field field);

/* Gives the exec a workspace of exactly so many bytes. */
void numeric_workspace(struct numeric *t, size_t bytes);

/* ||field - expected|| / ||expected|| <= tolerance: 1e-5, 1e-4 for sums of 1e5 terms and more, 1e-6
 * in double. fmt names the sizes; a mistake prints one line that says how to see it again. */
void numeric_compare(struct numeric *t, struct field field, const double *expected, size_t terms,
                     const char *fmt, ...) NN_PRINTF(5, 6);

/* The same for other outputs than matrices of nn_real. */
void numeric_compare_doubles(struct numeric *t, const double *found, const double *expected,
                             size_t n, size_t terms, const char *fmt, ...) NN_PRINTF(6, 7);

/* Runs a case from start to end with a table and a pool; t keeps the counts. */
void numeric_run(struct numeric *t, const struct numeric_case *c, const struct nn_kernels *kernels,
                 struct nn_pool *pool, bool quiet);

/* The text of the AVX-512 table on vectors made of two AVX2 halves (wide_table_avx2.c); NULL where
 * even that cannot run. */
const struct nn_kernels *numeric_wide_table(void);

#endif
