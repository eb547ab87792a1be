/* SPDX-License-Identifier: MIT
 *
 * Packing of operands that stay.
 */
#include "core/kernels/panels_internal.h"

#include <string.h>

struct nn_panels nn_panels_pack(nn_real *storage, const nn_real *b, size_t ldb, bool transpose_b,
                                size_t k, size_t n)
{
    struct nn_panels panels = {k, n, storage};
    for (size_t s = 0; s < nn_panels_strips(n); s++) {
        struct nn_panel panel = nn_panel_at(&panels, s);
        nn_real *out = storage + (panel.data - storage);
        for (size_t q = 0; q < k; q++, out += panel.width) {
            for (size_t c = 0; c < panel.columns; c++) {
                size_t column = panel.column + c;
                out[c] = transpose_b ? b[column * ldb + q] : b[q * ldb + column];
            }
            memset(out + panel.columns, 0, (panel.width - panel.columns) * sizeof *out);
        }
    }
    return panels;
}

void nn_panel_multiply(const struct nn_exec *exec, const struct nn_panel *panel,
                       struct nn_tile_args args)
{
    args.n = panel->columns;
    args.b = panel->data;
    args.ldb = panel->width;
    args.x_step = 1;
    args.b_padded = true;
    exec->kernels->gemm_tile(&args);
}
