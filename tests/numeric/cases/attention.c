/* SPDX-License-Identifier: MIT
 *
 * Cases of attention.h and sequences.h: batches of unequal sequences.
 */
#include "tests/numeric/cases/cases.h"

#include <math.h>

#include "tests/ref/ref.h"

#define SEQUENCES_MAX 6

/* Lengths do not increase, as packing leaves them. */
static const size_t BATCHES[][SEQUENCES_MAX] = {{1},      {5, 5, 3, 1}, {63, 2},
                                                {64, 64}, {65, 1, 1},   {200, 129, 70, 31, 8, 8}};
enum { N_BATCHES = sizeof BATCHES / sizeof *BATCHES };

static struct nn_steps steps_of(struct numeric *t, const size_t *lengths)
{
    size_t count = 0;
    size_t *active = numeric_array(t, lengths[0], sizeof *active);
    size_t *starts = numeric_array(t, lengths[0] + 1, sizeof *starts);
    size_t *samples = numeric_array(t, SEQUENCES_MAX, sizeof *samples);
    while (count < SEQUENCES_MAX && lengths[count] > 0) {
        count++;
    }
    for (size_t i = 0; i < lengths[0]; i++) {
        for (size_t k = 0; k < count; k++) {
            active[i] += lengths[k] > i;
        }
        starts[i + 1] = starts[i] + active[i];
    }
    for (size_t k = 0; k < count; k++) {
        samples[k] = (k + 1) % count;
    }
    return (struct nn_steps){lengths[0], active, starts, samples};
}

/* ---- attention ---- */

static void check_attention(struct numeric *t, size_t batch, size_t width, size_t heads,
                            bool causal, nn_real spread)
{
    const struct nn_steps s = steps_of(t, BATCHES[batch]);
    size_t rows = s.starts[s.steps];
    struct field qkv = numeric_field(t, rows, 3 * width, 0), o = numeric_field(t, rows, width, 0);
    struct field d_o = numeric_field(t, rows, width, 0),
                 d_qkv = numeric_field(t, rows, 3 * width, 0);
    for (size_t e = 0; e < rows * 3 * width; e++) {
        qkv.data[e] *= spread;
    }
    numeric_sealed(t, qkv);
    const struct nn_attention a = {.width = width,
                                   .heads = heads,
                                   .causal = causal,
                                   .steps = s.steps,
                                   .active = s.active,
                                   .starts = s.starts,
                                   .qkv = qkv.data,
                                   .o = o.data,
                                   .log_sum = numeric_array(t, rows * heads, sizeof(nn_real))};
    double *expected = numeric_doubles(t, o), *gradient = numeric_doubles(t, d_qkv);
    for (size_t e = 0; e < rows * 3 * width; e++) {
        gradient[e] = 0;
    }
    numeric_workspace(t, nn_attention_workspace(width, heads, nn_pool_lanes(t->exec.pool)));
    ref_attention(expected, &a);
    ref_attention_gradient(gradient, &a, numeric_doubles(t, d_o));
    nn_attention_forward(&t->exec, &a);
    numeric_compare(t, o, expected, 0, "attention batch %zu width %zu heads %zu causal %d", batch,
                    width, heads, causal);
    nn_attention_gradient(&t->exec, &a, d_qkv.data, d_o.data);
    numeric_compare(t, d_qkv, gradient, 0, "attention gradient batch %zu width %zu heads %zu %d",
                    batch, width, heads, causal);
}

static void attention(struct numeric *t)
{
    static const size_t WIDTHS[][2] = {{1, 1}, {6, 2}, {48, 3}, {40, 1}};
    for (size_t i = 0; i < 2 * N_BATCHES * sizeof WIDTHS / sizeof *WIDTHS; i++) {
        const size_t *width = WIDTHS[i / 2 % 4];
        check_attention(t, i / 8, width[0], width[1], i % 2 == 1, 1);
    }
}

/* Scores far from 0: e to their power is no float. */
static void attention_far(struct numeric *t)
{
    check_attention(t, 5, 32, 2, true, 12);
    check_attention(t, 4, 32, 2, false, 12);
}

/* ---- windows ---- */

/* The row of a step of the k-th sequence, or SIZE_MAX where there is none. */
static size_t row_at(const struct nn_steps *s, long step, size_t k)
{
    bool exists = step >= 0 && step < (long)s->steps && s->active[step] > k;
    return exists ? s->starts[step] + k : SIZE_MAX;
}

static void check_windows(struct numeric *t, size_t batch, const size_t *w, bool add)
{
    struct nn_window_of_steps window = {.channels = w[0], .taps = w[1], .dilation = w[2]};
    window.steps = steps_of(t, BATCHES[batch]);
    window.before = w[3];
    size_t rows = window.steps.starts[window.steps.steps], width = w[0] * w[1];
    struct field x = numeric_field(t, rows, w[0], 1), out = numeric_field(t, rows, width, 0);
    struct field d_x = numeric_field(t, rows, w[0], 2), d_out = numeric_field(t, rows, width, 0);
    double *gathered = numeric_doubles(t, out), *spread = numeric_doubles(t, d_x);
    for (size_t e = 0; !add && e < rows * w[0]; e++) {
        spread[e] = 0;
    }
    for (size_t i = 0; i < window.steps.steps; i++) {
        for (size_t e = 0; e < window.steps.active[i] * width; e++) {
            size_t k = e / width, tap = e % width / w[0], c = e % w[0];
            size_t at = (window.steps.starts[i] + k) * width + e % width;
            size_t from = row_at(&window.steps, (long)(i + tap * w[2]) - (long)w[3], k);
            gathered[at] = from == SIZE_MAX ? 0 : (double)x.data[from * x.ld + c];
            if (from != SIZE_MAX) {
                spread[from * w[0] + c] += (double)d_out.data[at];
            }
        }
    }
    nn_windows_gather(&t->exec, &window, out.data, x.data, x.ld);
    numeric_compare(t, out, gathered, 0, "windows batch %zu taps %zu", batch, w[1]);
    nn_windows_scatter(&t->exec, &window, d_x.data, d_x.ld, add, d_out.data);
    numeric_compare(t, d_x, spread, 0, "windows gradient batch %zu taps %zu", batch, w[1]);
}

static void windows(struct numeric *t)
{
    /* channels, taps, dilation, before */
    static const size_t WINDOWS[][4] = {{3, 1, 1, 0}, {5, 3, 1, 2},     {17, 3, 4, 8},
                                        {2, 4, 3, 4}, {4, 2, 100, 100}, {4, 2, 300, 0}};
    for (size_t i = 0; i < N_BATCHES * sizeof WINDOWS / sizeof *WINDOWS; i++) {
        check_windows(t, i % N_BATCHES, WINDOWS[i / N_BATCHES], i % 2 == 1);
    }
}

/* ---- pools, positions, embeddings ---- */

static void check_pool(struct numeric *t, size_t batch, size_t channels, bool last, bool add)
{
    const struct nn_steps s = steps_of(t, BATCHES[batch]);
    size_t rows = s.starts[s.steps], count = s.active[0];
    enum nn_sequence_pool how = last ? NN_SEQUENCE_LAST : NN_SEQUENCE_MEAN;
    struct field x = numeric_field(t, rows, channels, 1), y = numeric_field(t, count, channels, 2);
    struct field d_x = numeric_field(t, rows, channels, 0);
    double *expected = numeric_doubles(t, y), *gradient = numeric_doubles(t, d_x);
    double *d_y = numeric_doubles(t, y);
    for (size_t e = 0; e < count * channels; e++) {
        expected[e] = 0;
    }
    for (size_t i = 0; i < s.steps; i++) {
        for (size_t e = 0; e < s.active[i] * channels; e++) {
            size_t k = e / channels, c = e % channels, row = s.starts[i] + k;
            double share =
                last ? (double)(i + 1 == BATCHES[batch][k]) : 1 / (double)BATCHES[batch][k];
            expected[s.samples[k] * channels + c] += share * (double)x.data[row * x.ld + c];
            gradient[row * channels + c] =
                share * d_y[s.samples[k] * channels + c] + (add ? gradient[row * channels + c] : 0);
        }
    }
    nn_sequence_pool_gradient(&t->exec, &s, how, d_x.data, d_x.ld, add, y.data, y.ld, channels);
    numeric_compare(t, d_x, gradient, 0, "pool gradient batch %zu last %d", batch, last);
    nn_sequence_pool(&t->exec, &s, how, y.data, y.ld, x.data, x.ld, channels);
    numeric_compare(t, y, expected, s.steps, "pool batch %zu last %d", batch, last);
}

static void pool(struct numeric *t)
{
    for (size_t i = 0; i < 4 * N_BATCHES; i++) {
        check_pool(t, i / 4, i % 3 == 0 ? 3 : 70, i % 2 == 1, i / 2 % 2 == 1);
    }
}

static double sinusoid(size_t step, size_t c, size_t channels)
{
    double angle = (double)step / pow(10000, 2.0 * floor((double)c / 2) / (double)channels);
    return c % 2 == 0 ? sin(angle) : cos(angle);
}

/* length 0: sines and cosines */
static void check_positions(struct numeric *t, size_t batch, size_t channels, size_t length)
{
    const struct nn_steps s = steps_of(t, BATCHES[batch]);
    size_t rows = s.starts[s.steps];
    struct field table = numeric_field(t, length > 0 ? length : 1, channels, 0);
    struct field d_table = numeric_field(t, table.rows, channels, 0);
    struct field x = numeric_field(t, rows, channels, 1), y = numeric_field(t, rows, channels, 2);
    double *expected = numeric_doubles(t, y), *gradient = numeric_doubles(t, d_table);
    for (size_t i = 0; i < s.steps; i++) {
        for (size_t e = 0; e < s.active[i] * channels; e++) {
            size_t c = e % channels, row = s.starts[i] + e / channels;
            size_t at = (i < length ? i : length - (length > 0)) * channels + c;
            double added = length > 0 ? (double)table.data[at] : sinusoid(i, c, channels);
            expected[row * channels + c] = (double)x.data[row * x.ld + c] + added;
            gradient[length > 0 ? at : c] += length > 0 ? (double)x.data[row * x.ld + c] : 0;
        }
    }
    numeric_workspace(t, nn_positions_workspace(channels, nn_pool_lanes(t->exec.pool)));
    nn_positions_add(&t->exec, &s, y.data, y.ld, x.data, x.ld, length > 0 ? table.data : NULL,
                     length, channels);
    numeric_compare(t, y, expected, 0, "positions batch %zu length %zu", batch, length);
    if (length > 0) {
        nn_positions_gradient(&t->exec, &s, d_table.data, length, x.data, x.ld, channels);
        numeric_compare(t, d_table, gradient, s.steps, "positions gradient batch %zu", batch);
    }
}

static void positions(struct numeric *t)
{
    for (size_t i = 0; i < N_BATCHES; i++) {
        check_positions(t, i, 7, 0);
        check_positions(t, i, 24, 200);
        check_positions(t, i, 5, 4); /* steps behind the last row share it */
    }
}

static void embedding(struct numeric *t)
{
    struct field ids = numeric_field(t, 50, 1, 2), table = numeric_field(t, 9, 70, 0);
    struct field y = numeric_field(t, 50, 70, 1), d_table = numeric_field(t, 9, 70, 0);
    struct field d_y = numeric_field(t, 50, 70, 3);
    double *expected = numeric_doubles(t, y), *gradient = numeric_doubles(t, d_table);
    for (size_t r = 0; r < 50; r++) {
        size_t id = r * r % 9;
        ids.data[r * ids.ld] = (nn_real)id;
        for (size_t c = 0; c < 70; c++) {
            expected[r * 70 + c] = (double)table.data[id * 70 + c];
            gradient[id * 70 + c] += (double)d_y.data[r * d_y.ld + c];
        }
    }
    numeric_sealed(t, ids);
    nn_embed(&t->exec, y.data, y.ld, ids.data, ids.ld, 50, table.data, 9, 70);
    numeric_compare(t, y, expected, 0, "embedding");
    nn_embed_gradient(&t->exec, d_table.data, ids.data, ids.ld, 50, 9, d_y.data, d_y.ld, 70);
    numeric_compare(t, d_table, gradient, 0, "embedding gradient");
    static const double NONE[] = {-1, 9, 0.5, 1e30, NAN};
    for (size_t i = 0; i < sizeof NONE / sizeof *NONE; i++) {
        ids.data[0] = (nn_real)NONE[i];
        numeric_sealed(t, ids);
        nn_embed(&t->exec, y.data, y.ld, ids.data, ids.ld, 2, table.data, 9, 70);
        t->mistakes += !isnan(y.data[0]) || !isnan(y.data[69]) || isnan(y.data[y.ld]);
        nn_embed_gradient(&t->exec, d_table.data, ids.data, ids.ld, 1, 9, d_y.data, d_y.ld, 70);
        numeric_compare(t, d_table, gradient, 0, "embedding of what does not exist");
    }
    numeric_sealed(t, y);
}

const struct numeric_case attention_cases[] = {
    {"attention", "attention_softmax attention_gradient gemm_tile", attention},
    {"attention_far", "attention_softmax attention_gradient", attention_far},
    {"windows", "copy", windows},
    {"sequence_pool", "", pool},
    {"positions", "add column_sums", positions},
    {"embedding", "", embedding},
    {NULL, NULL, NULL},
};
