/* SPDX-License-Identifier: MIT
 *
 * Recordings of an archive to windows of a prepared set.
 */
#include "core/data/import_signals_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/sha256.h"
#include "core/data/recording_internal.h"
#include "core/data/split.h"

/* ------------------------------------------------------------------------------------- windows */

/* A place from 0 in n samples that is this share of what `gaps` gaps leave. */
static size_t share_end(const struct nn_signal_parts *parts, double share, size_t samples,
                        size_t gaps)
{
    size_t lost = gaps * (size_t)parts->gap;
    return samples <= lost ? 0 : (size_t)(share * (double)(samples - lost) + 0.5);
}

size_t nn_signal_spans(const struct nn_signal_options *options, size_t samples,
                       struct nn_signal_span *out)
{
    const struct nn_signal_parts *parts = &options->parts;
    if (!parts->by_given || parts->by != NN_SIGNAL_BY_TIME) {
        out[0] = (struct nn_signal_span){0, samples, NN_PART_TRAIN};
        return 1;
    }
    double shares[NN_PART_COUNT] = {parts->train, parts->validation,
                                    1 - parts->train - parts->validation};
    size_t gaps = 0, n = 0, taken = 0;
    for (size_t k = 1; k < NN_PART_COUNT; k++) {
        gaps += shares[k] > 1e-9;
    }
    double sum = 0;
    for (size_t k = 0; k < NN_PART_COUNT; k++) {
        if (shares[k] <= 1e-9) {
            continue;
        }
        sum += shares[k];
        size_t begin = taken + n * (size_t)parts->gap;
        taken = share_end(parts, sum < 1 ? sum : 1, samples, gaps);
        size_t end = taken + n * (size_t)parts->gap;
        out[n++] = (struct nn_signal_span){begin, end, (enum nn_part)k};
    }
    return n;
}

/* The chosen channels of one window. */
static void pick(const struct nn_signal_import *s, const struct nn_recording *recording,
                 size_t first, float *window)
{
    const struct jx_ints *channels = &s->options.channels;
    for (size_t t = 0; t < (size_t)s->options.window; t++) {
        const float *sample = recording->values + (first + t) * recording->channels;
        for (size_t c = 0; c < channels->count; c++) {
            *window++ = sample[channels->value[c] - 1];
        }
    }
}

static enum nn_status add_window(struct nn_signal_import *s, size_t row, size_t first,
                                 enum nn_part part, const float *window)
{
    struct nn_import *import = s->base;
    size_t bytes = import->width * import->channels * sizeof *window;
    if (!nn_import_grow((void **)&import->items, &import->room_items, import->n_items,
                        sizeof *import->items)) {
        return nn_fail(import->err, NN_ERR_MEMORY, "no memory for %zu windows", import->n_items);
    }
    if ((import->n_items + 1) * bytes > import->limits.max_prepared_bytes) {
        return nn_fail_at(import->err, NN_ERR_LIMIT, "/signal/stride",
                          "the windows are more than %zu bytes; choose a longer stride",
                          import->limits.max_prepared_bytes);
    }
    const char *name = nn_import_text(import, "%s@%08zu", import->rows[row].name, first);
    if (!name) {
        return nn_fail(import->err, NN_ERR_MEMORY, "no memory for %zu windows", import->n_items);
    }
    if (fwrite(window, 1, bytes, import->spool) != bytes) {
        return nn_fail(import->err, NN_ERR_IO, "cannot write windows: %s", strerror(errno));
    }
    struct nn_import_item *item = &import->items[import->n_items];
    *item = (struct nn_import_item){
        .name = name, .place = import->n_items, .part = part, .row = (uint32_t)row};
    nn_sha256_of(window, bytes, item->digest);
    import->n_items++;
    import->n_spooled = import->n_items;
    return NN_OK;
}

/* All windows of a recording; *out_n of them. */
static enum nn_status cut(struct nn_signal_import *s, size_t row,
                          const struct nn_recording *recording, size_t *out_n)
{
    struct nn_signal_span spans[NN_PART_COUNT];
    size_t length = (size_t)s->options.window;
    size_t n = nn_signal_spans(&s->options, recording->samples, spans);
    float *window = calloc(length * s->options.channels.count, sizeof *window);
    enum nn_status status = window ? NN_OK : nn_fail(s->base->err, NN_ERR_MEMORY, "no memory");
    *out_n = 0;
    for (size_t k = 0; k < n; k++) {
        for (size_t at = spans[k].begin; status == NN_OK && at + length <= spans[k].end;
             at += (size_t)s->options.stride) {
            pick(s, recording, at, window);
            status = add_window(s, row, at, spans[k].part, window);
            (*out_n)++;
        }
    }
    free(window);
    return status;
}

/* What of a decoded recording cannot be used; NULL: nothing. */
static const char *fault_of(const struct nn_signal_import *s, const struct nn_recording *recording,
                            char *text, size_t size)
{
    const struct nn_signal_options *o = &s->options;
    for (size_t c = 0; c < o->channels.count; c++) {
        if ((size_t)o->channels.value[c] > recording->channels) {
            snprintf(text, size, "it has %zu channels, and channel %lld is wanted",
                     recording->channels, (long long)o->channels.value[c]);
            return "no_channel";
        }
    }
    struct nn_signal_span spans[NN_PART_COUNT];
    size_t n = nn_signal_spans(o, recording->samples, spans);
    for (size_t k = 0; k < n; k++) {
        if (spans[k].end < spans[k].begin + (size_t)o->window) {
            snprintf(text, size, "%zu samples are too few for a window of %lld in the %s part",
                     recording->samples, (long long)o->window,
                     n == 1 ? "only" : nn_part_name(spans[k].part));
            return "too_short";
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------- the pass */

static enum nn_status take_labels(struct nn_signal_import *s, size_t row, const uint8_t *bytes,
                                  size_t size)
{
    struct nn_import *import = s->base;
    if (s->labels) {
        return nn_import_refuse(import, row, "duplicate_name", "there is one " NN_SIGNAL_LABELS);
    }
    s->labels = malloc(size + 1);
    if (!s->labels) {
        return nn_fail(import->err, NN_ERR_MEMORY, "no memory for " NN_SIGNAL_LABELS);
    }
    memcpy(s->labels, bytes, size);
    s->labels[size] = '\0';
    s->folder = strlen(import->rows[row].name) - strlen(NN_SIGNAL_LABELS);
    s->table = row;
    import->rows[row].state = NN_ROW_IGNORED;
    import->rows[row].reason = "label_table";
    return NN_OK;
}

static bool is_labels(const char *name)
{
    const char *slash = strrchr(name, '/');
    return strcmp(slash ? slash + 1 : name, NN_SIGNAL_LABELS) == 0;
}

static bool grow_recordings(struct nn_signal_import *s, size_t row)
{
    size_t before = s->room;
    while (row >= s->room) {
        if (!nn_import_grow((void **)&s->recordings, &s->room, s->room, sizeof *s->recordings)) {
            return false;
        }
    }
    if (s->room > before) {
        memset(s->recordings + before, 0, (s->room - before) * sizeof *s->recordings);
    }
    return true;
}

static enum nn_status take_recording(struct nn_signal_import *s, size_t row,
                                     const struct nn_recording *recording, const uint8_t *bytes,
                                     size_t size)
{
    struct nn_signal_recording *facts = &s->recordings[row];
    char text[200];
    size_t n = 0;
    const char *fault = fault_of(s, recording, text, sizeof text);
    if (fault) {
        return nn_import_refuse(s->base, row, fault, text);
    }
    nn_sha256_of(bytes, size, facts->digest);
    facts->key = nn_split_key((uint64_t)s->options.parts.seed, facts->digest);
    facts->samples = recording->samples;
    return cut(s, row, recording, &n);
}

enum nn_status nn_import_signal_entry(struct nn_import *import, size_t row, const uint8_t *bytes,
                                      size_t size)
{
    struct nn_signal_import *s = import->signals;
    const char *name = import->rows[row].name;
    struct nn_recording recording = {0};
    struct nn_error fault = {0};
    const char *reason = NULL;
    if (is_labels(name)) {
        return take_labels(s, row, bytes, size);
    }
    if (!grow_recordings(s, row)) {
        return nn_fail(import->err, NN_ERR_MEMORY, "no memory for %zu recordings", row);
    }
    enum nn_status status = nn_recording_decode(name, bytes, size, &recording, &reason, &fault);
    import->rows[row].is_picture = nn_recording_is(name);
    if (status == NN_ERR_INVALID) {
        return nn_import_refuse(import, row, reason, fault.text);
    }
    if (status != NN_OK) {
        return nn_fail(import->err, status, "%s", fault.text);
    }
    status = take_recording(s, row, &recording, bytes, size);
    nn_recording_deinit(&recording);
    return status;
}

/* ---------------------------------------------------------------------------------- behind it */

/* Windows get what their recordings have; those of refused ones are left out. */
static void settle_items(struct nn_signal_import *s)
{
    struct nn_import *import = s->base;
    bool by_time = s->options.parts.by == NN_SIGNAL_BY_TIME;
    size_t kept = 0;
    for (size_t i = 0; i < import->n_items; i++) {
        struct nn_import_item item = import->items[i];
        const struct nn_import_row *row = &import->rows[item.row];
        if (row->state == NN_ROW_ITEM) {
            item.label = row->label;
            item.part = by_time ? item.part : row->part;
            import->items[kept++] = item;
        }
    }
    import->n_items = kept;
}

static bool has_part_folders(const struct nn_import *import)
{
    bool others = false;
    for (size_t i = 0; i < import->n_rows; i++) {
        others = others ||
                 (import->rows[i].state == NN_ROW_ITEM && import->rows[i].part != NN_PART_TRAIN);
    }
    return others;
}

static enum nn_status settle_parts(struct nn_signal_import *s, bool stored)
{
    struct nn_signal_parts *parts = &s->options.parts;
    if (!parts->by_given) {
        parts->by = stored ? NN_SIGNAL_BY_FOLDERS : NN_SIGNAL_BY_RECORDINGS;
    }
    if (stored && parts->by != NN_SIGNAL_BY_FOLDERS) {
        return nn_fail_at(s->base->err, NN_ERR_INVALID, "/signal/parts/by",
                          "the archive names the parts of its recordings: by must be folders");
    }
    return parts->by == NN_SIGNAL_BY_RECORDINGS ? nn_signal_share_recordings(s) : NN_OK;
}

static enum nn_status settle(struct nn_signal_import *s)
{
    struct nn_import *import = s->base;
    bool stored = false;
    enum nn_status status =
        s->labels ? nn_signal_read_labels(s, &stored) : nn_import_assign(import);
    if (status == NN_OK) {
        status = settle_parts(s, stored || has_part_folders(import));
    }
    if (status == NN_OK) {
        settle_items(s);
    }
    return status == NN_OK && import->n_items == 0 ? nn_import_nothing_left(import) : status;
}

enum nn_status nn_import_signals(struct nn_import *import)
{
    struct nn_signal_import signals = {.base = import, .options = import->setup->options.signal};
    if (import->setup->n_files != 1) {
        return nn_fail(import->err, NN_ERR_INVALID, "signals are one archive, not %zu files",
                       import->setup->n_files);
    }
    enum nn_status status = nn_signal_options_complete(&signals.options, "/signal", import->err);
    if (status != NN_OK) {
        return status;
    }
    import->signals = &signals;
    import->height = 1;
    import->width = (size_t)signals.options.window;
    import->channels = signals.options.channels.count;
    import->value_bytes = sizeof(float);
    status = nn_import_look(import);
    if (status == NN_OK) {
        status = settle(&signals);
    }
    import->signal = signals.options; /* as completed: what the set and its report say */
    import->signals = NULL;
    free(signals.recordings);
    free(signals.labels);
    return status;
}
