/* SPDX-License-Identifier: MIT
 *
 * A row of numbers a sample. Cells end at a comma, semicolon, tab or blank; a comma is never a
 * decimal point, and a line with semicolons and commas is refused, since there it would be. Lines
 * before the first row of numbers are a header, empty lines nothing; a nan is a number, if none
 * that can be taken, and no header.
 */
#include <stdlib.h>
#include <string.h>

#include "core/data/recording_internal.h"
#include "core/data/table_internal.h"

#define CELL_MAX 64 /* bytes of a cell that is a number */

struct text {
    float *values;
    size_t n, room; /* numbers */
    size_t channels;
    size_t line;
};

static bool is_between(char c)
{
    return c == ',' || c == ';' || c == '\t' || c == ' ' || c == '\r';
}

static bool push(struct text *t, double value)
{
    if (t->n == t->room) {
        size_t room = t->room ? 2 * t->room : 4096;
        float *grown = realloc(t->values, room * sizeof *grown);
        if (!grown) {
            return false;
        }
        t->values = grown;
        t->room = room;
    }
    t->values[t->n++] = (float)value;
    return true;
}

/* Numbers of one line; stops at the first cell that is none, with its reason. */
static enum nn_status read_line(struct text *t, const char *at, const char *end,
                                const char **out_reason, size_t *out_cells, struct nn_error *err)
{
    *out_cells = 0;
    *out_reason = NULL;
    while (at < end) {
        char cell[CELL_MAX + 1];
        double value;
        size_t n = 0;
        while (at < end && is_between(*at)) {
            at++;
        }
        for (; at < end && !is_between(*at) && n < CELL_MAX; at++) {
            cell[n++] = *at;
        }
        if (n == 0) {
            break;
        }
        cell[n] = '\0';
        bool whole = (at == end || is_between(*at)) && strlen(cell) == n;
        *out_reason = whole ? nn_number_read(cell, '.', &value) : "not_a_number";
        if (*out_reason) {
            return NN_OK;
        }
        if (*out_cells == NN_RECORDING_CHANNELS_MAX) {
            *out_reason = "unsupported";
            return NN_OK;
        }
        if (!push(t, value)) {
            return nn_fail(err, NN_ERR_MEMORY, "no memory for a recording");
        }
        (*out_cells)++;
    }
    return NN_OK;
}

static enum nn_status take_line(struct text *t, const char *at, const char *end,
                                const char **out_reason, struct nn_error *err)
{
    size_t before = t->n;
    size_t cells;
    const char *reason;
    enum nn_status status = read_line(t, at, end, &reason, &cells, err);
    t->line++;
    if (status != NN_OK) {
        return status;
    }
    if (reason && t->channels == 0 && strcmp(reason, "not_finite") != 0) { /* still the header */
        t->n = before;
        return NN_OK;
    }
    if (reason) {
        return nn_recording_refuse(out_reason, err, reason, "line %zu: no number that can be taken",
                                   t->line);
    }
    if (cells == 0) {
        return NN_OK;
    }
    size_t n = (size_t)(end - at);
    if (memchr(at, ';', n) && memchr(at, ',', n)) {
        return nn_recording_refuse(out_reason, err, "not_a_number",
                                   "line %zu has semicolons and commas: give decimals a point",
                                   t->line);
    }
    if (t->channels != 0 && cells != t->channels) {
        return nn_recording_refuse(out_reason, err, "uneven_rows",
                                   "line %zu has %zu numbers, those before %zu", t->line, cells,
                                   t->channels);
    }
    t->channels = cells;
    return NN_OK;
}

enum nn_status nn_recording_text(const uint8_t *bytes, size_t size, struct nn_recording *out,
                                 const char **out_reason, struct nn_error *err)
{
    struct text t = {0};
    const char *at = (const char *)bytes;
    const char *end = at + size;
    enum nn_status status = NN_OK;
    while (at < end && status == NN_OK) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        status = take_line(&t, at, stop ? stop : end, out_reason, err);
        at = stop ? stop + 1 : end;
    }
    if (status == NN_OK && t.n == 0) {
        status = nn_recording_refuse(out_reason, err, "damaged", "it holds no row of numbers");
    }
    if (status != NN_OK) {
        free(t.values);
        return status;
    }
    *out = (struct nn_recording){t.values, t.n / t.channels, t.channels};
    return NN_OK;
}
