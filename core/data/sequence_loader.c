/* SPDX-License-Identifier: MIT
 *
 * The loader of sequences: one scaled copy of the set, and batches of pointers into it. Nothing is
 * read ahead, as nothing is computed: a batch is a few pointers.
 */
#include "core/data/sequence_loader.h"

#include <stdlib.h>
#include <string.h>

struct nn_scaled_sequences {
    const struct nn_sequences *set;
    const struct nn_scaling *scaling;
    struct nn_memory *memory;
    nn_real *inputs;  /* all steps x used inputs, in the set's order */
    nn_real *targets; /* all steps x targets, or NULL */
    size_t *first;    /* first step of each sequence */
};

struct nn_sequence_loader {
    const struct nn_scaled_sequences *scaled;
    struct nn_sequence_loader_options options;
    size_t batches; /* of an epoch */
    size_t epoch;
    size_t index; /* of the next batch */
    bool ordered; /* `order` is that of `epoch` */
    uint32_t *base;
    uint32_t *order;
    /* of one batch */
    const nn_real **inputs;
    const nn_real **targets;
    size_t *lengths;
    uint32_t *labels;
};

/* ---------------------------------------------------------------------------------------- scaled
 */

static bool sizes_of(const struct nn_sequences *set, const struct nn_scaling *scaling,
                     size_t *out_inputs, size_t *out_targets)
{
    size_t steps = nn_sequences_info(set)->steps;
    return nn_size_mul(steps, nn_scaling_inputs(scaling), out_inputs) &&
           nn_size_mul(steps, nn_scaling_targets(scaling), out_targets);
}

size_t nn_scaled_sequences_bytes(const struct nn_sequences *sequences,
                                 const struct nn_scaling *scaling)
{
    size_t inputs;
    size_t targets;
    size_t bytes;
    bool fits = sizes_of(sequences, scaling, &inputs, &targets) &&
                nn_size_add(inputs, targets, &bytes) &&
                nn_size_mul(bytes, sizeof(nn_real), &bytes) &&
                nn_size_add(bytes, nn_sequences_info(sequences)->count * sizeof(size_t), &bytes);
    return fits ? bytes : SIZE_MAX;
}

static void scale_all(struct nn_scaled_sequences *s)
{
    size_t inputs = nn_scaling_inputs(s->scaling);
    size_t targets = nn_scaling_targets(s->scaling);
    size_t step = 0;
    for (size_t i = 0; i < nn_sequences_info(s->set)->count; i++) {
        size_t length = nn_sequences_length(s->set, i);
        s->first[i] = step;
        nn_scaling_apply_inputs(s->scaling, nn_sequences_features(s->set, i), length,
                                s->inputs + step * inputs);
        if (targets) {
            nn_scaling_apply_targets(s->scaling, nn_sequences_targets(s->set, i), length,
                                     s->targets + step * targets);
        }
        step += length;
    }
}

enum nn_status nn_scaled_sequences_create(const struct nn_sequences *sequences,
                                          const struct nn_scaling *scaling,
                                          struct nn_memory *memory,
                                          struct nn_scaled_sequences **out_scaled,
                                          struct nn_error *err)
{
    struct nn_scaled_sequences *s = nn_memory_alloc(memory, 1, sizeof *s);
    size_t inputs = 0;
    size_t targets = 0;
    if (!s || !sizes_of(sequences, scaling, &inputs, &targets)) {
        nn_memory_free(memory, s);
        return nn_fail(err, NN_ERR_MEMORY, "no memory for scaled sequences");
    }
    *s = (struct nn_scaled_sequences){.set = sequences, .scaling = scaling, .memory = memory};
    s->inputs = nn_memory_alloc(memory, inputs, sizeof *s->inputs);
    s->targets = targets ? nn_memory_alloc(memory, targets, sizeof *s->targets) : NULL;
    s->first = nn_memory_alloc(memory, nn_sequences_info(sequences)->count, sizeof *s->first);
    if (!s->inputs || (targets && !s->targets) || !s->first) {
        nn_scaled_sequences_destroy(s);
        return nn_fail(err, NN_ERR_MEMORY, "no memory for %zu steps of scaled sequences",
                       nn_sequences_info(sequences)->steps);
    }
    scale_all(s);
    *out_scaled = s;
    return NN_OK;
}

void nn_scaled_sequences_destroy(struct nn_scaled_sequences *scaled)
{
    if (!scaled) {
        return;
    }
    struct nn_memory *memory = scaled->memory;
    nn_memory_free(memory, scaled->inputs);
    nn_memory_free(memory, scaled->targets);
    nn_memory_free(memory, scaled->first);
    nn_memory_free(memory, scaled);
}

const nn_real *nn_scaled_sequences_inputs(const struct nn_scaled_sequences *scaled, size_t i)
{
    return scaled->inputs + scaled->first[i] * nn_scaling_inputs(scaled->scaling);
}

const nn_real *nn_scaled_sequences_targets(const struct nn_scaled_sequences *scaled, size_t i)
{
    size_t targets = nn_scaling_targets(scaled->scaling);
    return targets ? scaled->targets + scaled->first[i] * targets : NULL;
}

const nn_real *nn_scaled_sequences_inputs_at(const struct nn_scaled_sequences *scaled,
                                             const struct nn_sequence_piece *piece)
{
    return nn_scaled_sequences_inputs(scaled, piece->sequence) +
           piece->first * nn_scaling_inputs(scaled->scaling);
}

const nn_real *nn_scaled_sequences_targets_at(const struct nn_scaled_sequences *scaled,
                                              const struct nn_sequence_piece *piece)
{
    const nn_real *targets = nn_scaled_sequences_targets(scaled, piece->sequence);
    return targets ? targets + piece->first * nn_scaling_targets(scaled->scaling) : NULL;
}

const struct nn_sequences *nn_scaled_sequences_set(const struct nn_scaled_sequences *scaled)
{
    return scaled->set;
}

/* ---------------------------------------------------------------------------------------- order */

struct by_length {
    size_t length;
    size_t position;
    uint32_t item;
};

static int longest_first(const void *left, const void *right)
{
    const struct by_length *a = left;
    const struct by_length *b = right;
    if (a->length != b->length) {
        return a->length > b->length ? -1 : 1;
    }
    return (a->position > b->position) - (a->position < b->position);
}

static enum nn_status sort_base(struct nn_sequence_loader *l, struct nn_error *err)
{
    size_t n = l->options.count;
    struct by_length *rows = nn_memory_alloc(l->options.memory, n, sizeof *rows);
    if (!rows) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to order %zu sequences", n);
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t item = l->options.items[i];
        rows[i] = (struct by_length){
            nn_sequence_piece_at(l->scaled->set, l->options.windows, item).length, i, item};
    }
    qsort(rows, n, sizeof *rows, longest_first);
    for (size_t i = 0; i < n; i++) {
        l->base[i] = rows[i].item;
    }
    nn_memory_free(l->options.memory, rows);
    return NN_OK;
}

static void order_epoch(struct nn_sequence_loader *l)
{
    const struct nn_loader_options order = {.items = l->base,
                                            .count = l->options.count,
                                            .shuffle = l->options.shuffle,
                                            .seed = l->options.seed};
    nn_loader_order(&order, l->epoch, l->order);
    l->ordered = true;
}

static int falling(const void *left, const void *right)
{
    size_t a = *(const size_t *)left;
    size_t b = *(const size_t *)right;
    return (a < b) - (a > b);
}

size_t nn_sequence_loader_max_steps(const struct nn_sequences *sequences,
                                    const struct nn_sequence_windows *windows,
                                    const uint32_t *items, size_t count, size_t batch_size)
{
    size_t *lengths = malloc((count + 1) * sizeof *lengths);
    size_t steps = 0;
    for (size_t i = 0; lengths && i < count; i++) {
        lengths[i] = nn_sequence_piece_at(sequences, windows, items[i]).length;
    }
    if (lengths) {
        qsort(lengths, count, sizeof *lengths, falling);
    }
    for (size_t i = 0; i < count && i < batch_size; i++) {
        /* without memory for the list: what it can be at most */
        steps += lengths ? lengths[i] : nn_sequences_info(sequences)->longest;
    }
    free(lengths);
    return steps;
}

/* --------------------------------------------------------------------------------- create, next */

static enum nn_status check_options(const struct nn_scaled_sequences *scaled,
                                    const struct nn_sequence_loader_options *o,
                                    struct nn_error *err)
{
    if (o->count == 0 || o->batch_size == 0 || o->epochs == 0) {
        return nn_fail(err, NN_ERR_INVALID, "a loader needs items, a batch size and epochs");
    }
    if (o->sort != NN_SEQUENCE_SORT_NONE && o->shuffle != NN_SHUFFLE_NEVER) {
        return nn_fail(err, NN_ERR_INVALID, "sequences are either sorted or shuffled");
    }
    for (size_t i = 0; i < o->count; i++) {
        if (!o->windows && o->items[i] >= nn_sequences_info(scaled->set)->count) {
            return nn_fail(err, NN_ERR_INVALID, "there is no sequence %u", o->items[i]);
        }
    }
    size_t batches = nn_loader_batches(o->count, o->batch_size, o->drop_last);
    if (o->first_epoch > o->epochs || o->first_batch > batches) {
        return nn_fail(err, NN_ERR_INVALID, "a loader cannot begin behind its end");
    }
    return NN_OK;
}

static bool allocate(struct nn_sequence_loader *l)
{
    struct nn_memory *memory = l->options.memory;
    size_t n = l->options.count;
    size_t batch = l->options.batch_size < n ? l->options.batch_size : n;
    l->base = nn_memory_alloc(memory, n, sizeof *l->base);
    l->order = nn_memory_alloc(memory, n, sizeof *l->order);
    l->inputs = nn_memory_alloc(memory, batch, sizeof *l->inputs);
    l->targets = nn_memory_alloc(memory, batch, sizeof *l->targets);
    l->lengths = nn_memory_alloc(memory, batch, sizeof *l->lengths);
    l->labels = nn_memory_alloc(memory, batch, sizeof *l->labels);
    return l->base && l->order && l->inputs && l->targets && l->lengths && l->labels;
}

enum nn_status nn_sequence_loader_create(const struct nn_scaled_sequences *scaled,
                                         const struct nn_sequence_loader_options *options,
                                         struct nn_sequence_loader **out_loader,
                                         struct nn_error *err)
{
    enum nn_status status = check_options(scaled, options, err);
    if (status != NN_OK) {
        return status;
    }
    struct nn_sequence_loader *l = nn_memory_alloc(options->memory, 1, sizeof *l);
    if (!l) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for a loader");
    }
    *l = (struct nn_sequence_loader){
        .scaled = scaled,
        .options = *options,
        .batches = nn_loader_batches(options->count, options->batch_size, options->drop_last),
        .epoch = options->first_epoch,
        .index = options->first_batch,
    };
    if (!allocate(l)) {
        status = nn_fail(err, NN_ERR_MEMORY, "no memory for a loader");
    } else if (options->sort == NN_SEQUENCE_SORT_NONE) {
        memcpy(l->base, options->items, options->count * sizeof *l->base);
    } else {
        status = sort_base(l, err);
    }
    if (status != NN_OK) {
        nn_sequence_loader_destroy(l);
        return status;
    }
    *out_loader = l;
    return NN_OK;
}

void nn_sequence_loader_destroy(struct nn_sequence_loader *loader)
{
    if (!loader) {
        return;
    }
    struct nn_memory *memory = loader->options.memory;
    nn_memory_free(memory, loader->base);
    nn_memory_free(memory, loader->order);
    nn_memory_free(memory, loader->inputs);
    nn_memory_free(memory, loader->targets);
    nn_memory_free(memory, loader->lengths);
    nn_memory_free(memory, loader->labels);
    nn_memory_free(memory, loader);
}

static void gather(struct nn_sequence_loader *l, struct nn_sequence_loader_batch *out)
{
    size_t first = l->index * l->options.batch_size;
    size_t left = l->options.count - first;
    struct nn_sequence_loader_batch batch = {
        .epoch = l->epoch,
        .index = l->index,
        .first = first,
        .count = left < l->options.batch_size ? left : l->options.batch_size,
        .inputs = l->inputs,
        .targets = l->targets,
        .lengths = l->lengths,
        .labels = l->labels,
        .items = l->order + first,
    };
    for (size_t i = 0; i < batch.count; i++) {
        uint32_t item = batch.items[i];
        const struct nn_sequence_piece piece =
            nn_sequence_piece_at(l->scaled->set, l->options.windows, item);
        l->inputs[i] = nn_scaled_sequences_inputs_at(l->scaled, &piece);
        l->targets[i] = nn_scaled_sequences_targets_at(l->scaled, &piece);
        l->lengths[i] = piece.length;
        l->labels[i] = nn_sequences_label(l->scaled->set, piece.sequence);
        batch.steps += piece.length;
        batch.longest = piece.length > batch.longest ? piece.length : batch.longest;
    }
    *out = batch;
}

bool nn_sequence_loader_next(struct nn_sequence_loader *loader,
                             struct nn_sequence_loader_batch *out_batch)
{
    struct nn_sequence_loader *l = loader;
    if (l->index >= l->batches) {
        l->epoch++;
        l->index = 0;
        l->ordered = false;
    }
    if (l->epoch >= l->options.epochs) {
        return false;
    }
    if (!l->ordered) {
        order_epoch(l);
    }
    gather(l, out_batch);
    l->index++;
    return true;
}
