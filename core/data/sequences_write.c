/* SPDX-License-Identifier: MIT
 *
 * Writing a prepared sequence set, and the statistics of its columns.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/sequences_internal.h"

/* ----------------------------------------------------------------------------------- statistics */

void nn_column_statistics_of(const float *const *runs, const size_t *lengths, size_t n,
                             size_t columns, double most, struct nn_column_statistics *out)
{
    size_t rows = 0;
    for (size_t k = 0; k < columns; k++) {
        out[k] = (struct nn_column_statistics){.min = (double)INFINITY, .max = -(double)INFINITY};
    }
    for (size_t i = 0; i < n; i++) {
        rows += lengths[i];
        for (size_t j = 0; j < lengths[i] * columns; j++) {
            struct nn_column_statistics *s = &out[j % columns];
            double value = (double)(float)fmin((double)runs[i][j], most);
            s->mean += value;
            s->min = value < s->min ? value : s->min;
            s->max = value > s->max ? value : s->max;
        }
    }
    for (size_t k = 0; k < columns; k++) {
        /* the sum of a constant column is rounded, its mean must not be */
        out[k].mean = out[k].min == out[k].max ? out[k].min : out[k].mean / (double)rows;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < lengths[i] * columns; j++) {
            struct nn_column_statistics *s = &out[j % columns];
            double d = (double)(float)fmin((double)runs[i][j], most) - s->mean;
            s->std += d * d;
        }
    }
    for (size_t k = 0; k < columns; k++) {
        out[k].std = rows > 1 ? sqrt(out[k].std / (double)(rows - 1)) : 0;
    }
    if (rows == 0) {
        const double nan = (double)NAN;
        for (size_t k = 0; k < columns; k++) {
            out[k] = (struct nn_column_statistics){nan, nan, nan, nan};
        }
    }
}

/* Runs of the train part in features or targets. */
static enum nn_status train_statistics(const struct nn_sequences_draft *d, const float *values,
                                       size_t columns, struct nn_column_statistics *out,
                                       struct nn_error *err)
{
    const float **runs = calloc(d->count, sizeof *runs);
    size_t *lengths = calloc(d->count, sizeof *lengths);
    enum nn_status status = NN_OK;
    if (!runs || !lengths) {
        status = nn_fail(err, NN_ERR_MEMORY, "no memory for %zu sequences", d->count);
        goto cleanup;
    }
    size_t n = 0;
    size_t step = 0;
    for (size_t i = 0; i < d->count; i++) {
        if (d->items[i].part == NN_PART_TRAIN) {
            runs[n] = values + step * columns;
            lengths[n++] = d->items[i].length;
        }
        step += d->items[i].length;
    }
    nn_column_statistics_of(runs, lengths, n, columns, (double)INFINITY, out);
cleanup:
    free(runs);
    free(lengths);
    return status;
}

/* --------------------------------------------------------------------------------------- checks */

static bool texts_are_good(const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!nn_text_is_utf8(texts[i], strlen(texts[i]))) {
            return false;
        }
    }
    return true;
}

static bool all_finite(const float *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

static enum nn_status check_draft(const struct nn_sequences_draft *d, size_t *out_steps,
                                  struct nn_error *err)
{
    size_t steps = 0;
    size_t n;
    bool ok = d->count > 0 && d->count <= UINT32_MAX && d->inputs > 0 &&
              d->inputs <= NN_SEQUENCES_COLUMNS_MAX && d->targets <= NN_SEQUENCES_COLUMNS_MAX &&
              (d->targets > 0) != (d->class_count > 0) &&
              nn_text_is_utf8(d->options, strlen(d->options)) &&
              texts_are_good(d->input_names, d->inputs) &&
              texts_are_good(d->target_names, d->targets) &&
              texts_are_good(d->classes, d->class_count);
    for (size_t i = 0; ok && i < d->count; i++) {
        const struct nn_sequences_item *item = &d->items[i];
        ok = item->length > 0 && nn_size_add(steps, item->length, &steps) &&
             (size_t)item->part < NN_PART_COUNT &&
             (d->class_count ? item->label < d->class_count : item->label == 0) &&
             nn_text_is_utf8(item->name, strlen(item->name));
    }
    ok = ok && nn_size_mul(steps, d->inputs, &n) && all_finite(d->features, n) &&
         nn_size_mul(steps, d->targets, &n) && all_finite(d->target_values, n);
    *out_steps = steps;
    return ok ? NN_OK : nn_fail(err, NN_ERR_INVALID, "prepared sequences: a value is out of range");
}

/* -------------------------------------------------------------------------------------- writing */

static uint64_t texts_bytes(const char *const *texts, size_t n)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        bytes += strlen(texts[i]) + 1;
    }
    return bytes;
}

static struct nn_sequences_header make_header(const struct nn_sequences_draft *d, size_t steps)
{
    struct nn_sequences_header h = {
        .version = NN_SEQUENCES_VERSION,
        .count = d->count,
        .steps = steps,
        .inputs = d->inputs,
        .targets = d->targets,
        .class_count = d->class_count,
        .columns_bytes =
            texts_bytes(d->input_names, d->inputs) + texts_bytes(d->target_names, d->targets),
        .classes_bytes = texts_bytes(d->classes, d->class_count),
        .options_bytes = strlen(d->options) + 1,
    };
    memcpy(h.magic, nn_sequences_format.magic, sizeof h.magic);
    for (size_t i = 0; i < d->count; i++) {
        h.names_bytes += strlen(d->items[i].name) + 1;
    }
    return h;
}

static void put_item_digests(struct nn_section_writer *w, const struct nn_sequences_draft *d)
{
    size_t step = 0;
    for (size_t i = 0; i < d->count; i++) {
        const struct nn_sequences_item *item = &d->items[i];
        struct nn_sha256 hash;
        uint8_t digest[NN_DIGEST_BYTES];
        uint64_t head[2] = {item->length, item->label};
        nn_sha256_init(&hash);
        nn_sha256_update(&hash, head, sizeof head);
        nn_sha256_update(&hash, d->features + step * d->inputs,
                         item->length * d->inputs * sizeof(float));
        if (d->targets) {
            nn_sha256_update(&hash, d->target_values + step * d->targets,
                             item->length * d->targets * sizeof(float));
        }
        nn_sha256_finish(&hash, digest);
        nn_section_put_data(w, digest, sizeof digest);
        step += item->length;
    }
}

static void put_items(struct nn_section_writer *w, const struct nn_sequences_draft *d,
                      const struct nn_sequences_layout *l)
{
    uint64_t step = 0;
    nn_section_pad(w, l->first_steps);
    for (size_t i = 0; i < d->count; i++) {
        nn_section_put_data(w, &step, sizeof step);
        step += d->items[i].length;
    }
    nn_section_put_data(w, &step, sizeof step);
    nn_section_pad(w, l->labels);
    for (size_t i = 0; i < d->count; i++) {
        nn_section_put_data(w, &d->items[i].label, sizeof d->items[i].label);
    }
    nn_section_pad(w, l->parts);
    for (size_t i = 0; i < d->count; i++) {
        nn_section_put_data(w, &(uint8_t){(uint8_t)d->items[i].part}, 1);
    }
    nn_section_pad(w, l->digests);
    put_item_digests(w, d);
}

/* names: inputs, then targets. */
static void put_all(struct nn_section_writer *w, const struct nn_sequences_draft *d,
                    const struct nn_sequences_layout *l, const char *const *names,
                    const struct nn_column_statistics *statistics)
{
    size_t columns = d->inputs + d->targets;
    put_items(w, d, l);
    nn_section_pad(w, l->statistics);
    nn_section_put(w, statistics, columns * sizeof *statistics);
    nn_section_put_texts(w, l->name_ends, l->names, d->count, &d->items[0].name,
                         sizeof d->items[0]);
    nn_section_put_texts(w, l->column_ends, l->columns, columns, names, sizeof names[0]);
    nn_section_put_texts(w, l->class_ends, l->classes, d->class_count, d->classes,
                         sizeof d->classes[0]);
    nn_section_pad(w, l->options);
    nn_section_put(w, d->options, strlen(d->options) + 1);
    nn_section_pad(w, l->features);
    nn_section_put_data(w, d->features, (size_t)(l->steps * d->inputs) * sizeof(float));
    nn_section_pad(w, l->target_values);
    if (d->targets) {
        nn_section_put_data(w, d->target_values, (size_t)(l->steps * d->targets) * sizeof(float));
    }
}

static enum nn_status write_file(const char *path, const struct nn_sequences_draft *d, size_t steps,
                                 const char *const *names,
                                 const struct nn_column_statistics *statistics,
                                 uint8_t out_digest[NN_DIGEST_BYTES], struct nn_error *err)
{
    struct nn_section_writer w;
    struct nn_sequences_layout layout;
    struct nn_sequences_header h = make_header(d, steps);
    if (!nn_sequences_layout_of(&h, &layout)) {
        return nn_fail(err, NN_ERR_LIMIT, "prepared sequences: too large");
    }
    enum nn_status status = nn_section_writer_open(&w, path, sizeof h, err);
    if (status != NN_OK) {
        return status;
    }
    uint64_t shape[5] = {h.count, h.steps, h.inputs, h.targets, h.class_count};
    nn_sha256_update(&w.digest, shape, sizeof shape);
    put_all(&w, d, &layout, names, statistics);
    nn_sha256_finish(&w.digest, h.digest);
    h.payload_crc = w.crc;
    h.file_bytes = layout.file_bytes;
    h.header_crc = nn_section_header_crc(&h, sizeof h);
    status = nn_section_writer_close(&w, path, &h, sizeof h, err);
    if (status == NN_OK && out_digest) {
        memcpy(out_digest, h.digest, NN_DIGEST_BYTES);
    }
    return status;
}

enum nn_status nn_sequences_write(const char *path, const struct nn_sequences_draft *draft,
                                  uint8_t out_digest[NN_DIGEST_BYTES], struct nn_error *err)
{
    size_t steps;
    enum nn_status status = check_draft(draft, &steps, err);
    if (status != NN_OK) {
        return status;
    }
    size_t columns = draft->inputs + draft->targets;
    struct nn_column_statistics *statistics = calloc(columns, sizeof *statistics);
    const char **names = calloc(columns, sizeof *names);
    if (!statistics || !names) {
        status = nn_fail(err, NN_ERR_MEMORY, "no memory for %zu columns", columns);
        goto cleanup;
    }
    for (size_t k = 0; k < columns; k++) {
        names[k] =
            k < draft->inputs ? draft->input_names[k] : draft->target_names[k - draft->inputs];
    }
    status = train_statistics(draft, draft->features, draft->inputs, statistics, err);
    if (status == NN_OK && draft->targets) {
        status = train_statistics(draft, draft->target_values, draft->targets,
                                  statistics + draft->inputs, err);
    }
    if (status == NN_OK) {
        status = write_file(path, draft, steps, names, statistics, out_digest, err);
    }
cleanup:
    free(statistics);
    free(names);
    return status;
}
