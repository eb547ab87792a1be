/* SPDX-License-Identifier: MIT
 *
 * The plan of a network: which operator runs which layers, where every number lives, and when.
 *
 * Time. Forward passes are times 0 .. P-1, the loss P, backward passes P+1 .. 2P in reverse order
 * (pass p at 2P - p). Each piece of memory has a first and a last time; pieces whose times do not
 * meet may share bytes. What must outlive a step lives from 0 to NN_TIME_END.
 *
 * Invariants
 * 1. A tensor is the activation of the last layer of a pass, or of the input; layers inside of a
 *    pass have none.
 * 2. A tensor (or gradient) that is `placed` in another one is a part of it: columns of a
 *    concatenation, the same memory of an in-place pass, or a dense image as one row. Chains end
 *    at a root, and only roots have bytes; a root lives as long as any of its parts.
 * 3. The memory of the input is never written by a pass, so a loaded batch can be run again.
 */
#ifndef NN_NETWORK_NETWORK_INTERNAL_H
#define NN_NETWORK_NETWORK_INTERNAL_H

#include "core/base/memory.h"
#include "core/network/description_internal.h"

#define NN_NONE     SIZE_MAX
#define NN_TIME_END SIZE_MAX

/* Where an activation or a gradient lives. */
struct nn_place {
    size_t in;     /* tensor whose place this one is a part of; NN_NONE: a root */
    size_t column; /* of that one's rows */
    bool dense;    /* read as rows of its own channels, whatever the other's rows are */
    size_t piece;  /* roots: index in nn_network.pieces */
    size_t first, last;
    struct nn_view view;
};

struct nn_tensor {
    size_t node; /* of the description */
    struct nn_shape shape;
    bool sequence;    /* shape is that of a step */
    bool auxiliary;   /* scores for an auxiliary loss */
    size_t producer;  /* pass; NN_NONE for the input */
    size_t consumers; /* number of passes that read it */
    size_t consumer;  /* the first of them, NN_NONE if there is none */
    bool kept;
    bool wants_gradient; /* something at or before it needs one */
    struct nn_place value, gradient;
    nn_real *kept_gradient; /* dense copy, for kept tensors of a network that trains */
    size_t kept_piece;
};

/* Bytes with a life. */
struct nn_piece_plan {
    size_t bytes, first, last;
    size_t offset; /* within the block */
};

struct nn_pass_state {
    struct nn_pass pass;
    struct nn_pass_plan plan;
    size_t *inputs; /* tensors */
    size_t output;  /* tensor */
    bool *input_gradient;
    bool auxiliary;          /* leads to auxiliary losses alone: not run in INFERENCE */
    struct nn_view *x;       /* scratch of a run, n_in */
    struct nn_gradient *d_x; /* likewise */
    bool *adds;              /* per input: its gradient is added to */
    char *label;             /* "bn1+relu1" */
    size_t saved_piece, kept_piece;
    double forward_seconds, backward_seconds;
    uint64_t forward_calls, backward_calls;
};

struct nn_network {
    struct nn_arena *arena; /* all bookkeeping; the network itself is a piece of it */
    const struct nn_description *graph;
    struct nn_network_bind bind;
    struct nn_network_options options;
    bool optimised;

    struct nn_placed *placed; /* per node */
    struct nn_parameter *parameters;
    size_t n_parameters;
    size_t *value_offsets;             /* per parameter, in its block */
    size_t values_count, states_count; /* padded numbers in the blocks */

    struct nn_tensor *tensors;
    size_t n_tensors;
    size_t *tensor_of;    /* per node; NN_NONE inside of a pass */
    size_t input, output; /* tensors */
    size_t *auxiliary;    /* tensors: scores for auxiliary losses */
    size_t n_auxiliary;
    struct nn_pass_state *passes;
    size_t n_passes;
    size_t prefix_passes; /* prefix.h; 0: there is none */
    size_t first_pass; /* of a forward run: 0, or prefix_passes when the prefix's rows are loaded */

    struct nn_piece_plan *pieces;
    size_t n_pieces;
    size_t bytes; /* of the block */
    size_t values_piece, grads_piece, states_piece, probabilities_piece, factors_piece;
    size_t scratch_piece, workspace_piece, packing_piece;

    char *block;
    nn_real *values, *grads;
    nn_real *probabilities;
    struct nn_input_factors factors; /* of the input's normalisation */
    struct nn_exec exec;
    size_t *packing;     /* storage of `rows` */
    struct nn_rows rows; /* of the loaded sequences; batch 0: none */

    struct nn_step step; /* of the last TRAINING forward */
    enum nn_phase phase;
    nn_gradient_ready_fn gradient_ready;
    void *gradient_ready_ctx;
    nn_clock_fn clock;
    void *clock_ctx;
    double load_seconds;
    uint64_t load_calls;
};

/* Time of a pass in each direction, and of the loss between them. */
static inline size_t nn_time_backward(const struct nn_network *network, size_t pass)
{
    return 2 * network->n_passes - pass;
}

/* ---- steps of planning, in order; NN_ERR_MEMORY, or what they say ---- */

/* placed and parameters (names, shapes, trainable; no memory). */
NN_MUST_CHECK enum nn_status nn_plan_parameters(struct nn_network *network,
                                                const struct nn_layer_plan *plans,
                                                struct nn_error *err);
/* Passes and tensors: which operator runs which layers. */
NN_MUST_CHECK enum nn_status nn_plan_passes(struct nn_network *network);
/* Where the frozen prefix ends. */
void nn_plan_prefix(struct nn_network *network);
/* Which tensors are parts of which, and the life of each root. */
void nn_plan_places(struct nn_network *network);
/* Every piece's bytes and offset. NN_ERR_LIMIT when the sum does not fit. */
NN_MUST_CHECK enum nn_status nn_plan_memory(struct nn_network *network, struct nn_error *err);

/* Views and pointers, once the block is there. */
void nn_network_bind_memory(struct nn_network *network);

/* Runs the passes from first_pass up to `end` (left out) on what is loaded. */
void nn_network_run_passes(struct nn_network *network, size_t batch, enum nn_phase phase,
                           size_t end);

/* ---- rows ---- */

/* Rows of an activation: as planned at most, and of a batch that is loaded. */
size_t nn_tensor_rows_max(const struct nn_network *network, const struct nn_tensor *tensor);
size_t nn_tensor_rows(const struct nn_network *network, const struct nn_tensor *tensor,
                      size_t batch);

/* Loads sequences; nn_network_load_sequences without the clock. */
void nn_network_pack_sequences(struct nn_network *network, const struct nn_sequence_batch *batch);

/* Factors of the input, as its parameters say now. */
void nn_network_set_factors(struct nn_network *network);

/* Walks a parameter in PyTorch's row-major order and tells where each number is in memory. */
struct nn_walk {
    size_t stride[4]; /* in memory, of each axis of extent */
    size_t at[4];
    size_t offset;
};
struct nn_walk nn_walk_begin(const struct nn_parameter *parameter);
void nn_walk_next(struct nn_walk *walk, const struct nn_parameter *parameter);

/* Orthonormal columns (parameters of two axes, at least as many rows), drawn from the seed. */
void nn_fill_orthogonal(const struct nn_parameter *parameter, uint64_t seed, size_t index);

/* Whether the layer is among those named. */
bool nn_name_listed(const char *name, const char *const *names, size_t n);

#endif
