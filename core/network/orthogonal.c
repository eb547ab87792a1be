/* SPDX-License-Identifier: MIT
 *
 * Orthogonal first values (Saxe, McClelland, Ganguli 2014): the Q of the QR decomposition, with a
 * positive diagonal of R, of a matrix of normal numbers.
 */
#include <math.h>

#include "core/base/random.h"
#include "core/network/network_internal.h"

enum { COLUMNS_MAX = 2048 };

/* dots[k] = column j . column k, for k from j on. */
static void column_products(const nn_real *a, size_t rows, size_t columns, size_t j, double *dots)
{
    for (size_t k = j; k < columns; k++) {
        dots[k] = 0;
    }
    for (size_t i = 0; i < rows; i++) {
        const nn_real *row = a + i * columns;
        double factor = (double)row[j];
#pragma omp simd
        for (size_t k = j; k < columns; k++) {
            dots[k] += factor * (double)row[k];
        }
    }
}

/* Column j gets length 1, and the later ones lose their part along it. */
static void eliminate(nn_real *a, size_t rows, size_t columns, size_t j, const double *dots)
{
    double length = sqrt(dots[j]);
    for (size_t i = 0; i < rows; i++) {
        nn_real *row = a + i * columns;
        double factor = (double)row[j] / dots[j];
        row[j] = (nn_real)((double)row[j] / length);
#pragma omp simd
        for (size_t k = j + 1; k < columns; k++) {
            row[k] = (nn_real)((double)row[k] - factor * dots[k]);
        }
    }
}

void nn_fill_orthogonal(const struct nn_parameter *parameter, uint64_t seed, size_t index)
{
    struct nn_random random;
    size_t rows = parameter->shape[0], columns = parameter->shape[1];
    double dots[COLUMNS_MAX];
    NN_ASSERT(rows >= columns && columns <= COLUMNS_MAX);
    nn_random_init(&random, seed, NN_RANDOM_INITIALIZE, 0, index);
    for (size_t i = 0; i < parameter->count; i++) {
        parameter->value[i] = (nn_real)nn_random_normal(&random);
    }
    for (size_t j = 0; j < columns; j++) {
        column_products(parameter->value, rows, columns, j, dots);
        eliminate(parameter->value, rows, columns, j, dots);
    }
}
