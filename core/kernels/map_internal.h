/* SPDX-License-Identifier: MIT
 *
 * A row of the table that treats every number by itself, run over a matrix in chunks.
 */
#ifndef NN_KERNELS_MAP_INTERNAL_H
#define NN_KERNELS_MAP_INTERNAL_H

#include "core/kernels/table.h"

typedef void (*nn_map_fn)(const struct nn_map_args *args);

/* args.b may be NULL. Dense matrices are treated as one long row. */
void nn_map_rows(const struct nn_exec *exec, nn_map_fn fn, struct nn_map_args args);

#endif
