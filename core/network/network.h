/* SPDX-License-Identifier: MIT
 *
 * Networks: a JSON description becomes a validated graph, the graph a plan (passes, buffers,
 * bytes), the plan runs forward and backward. Everything that can be refused is refused while
 * building; forward and backward return void, allocate nothing and give equal bits for any thread
 * count.
 *
 * A network is confined to one thread (its pool's lanes work for that thread). A description is
 * immutable and may be shared.
 */
#ifndef NN_NETWORK_NETWORK_H
#define NN_NETWORK_NETWORK_H

#include "core/base/base.h"
#include "core/json/json.h"
#include "core/layers/types.h"
#include "core/network/outline.h"
#include "core/network/sequences.h"

struct nn_kernels;
struct nn_memory;
struct nn_pool;
struct nn_description;
struct nn_network;

/* ---------------------------------------------------------------------------------- description */

/* Reads {"name": template, <its parameters>} or {"layers": [...], "connections": [...]} and checks
 * all that can be checked without a data set. NN_ERR_INVALID: err names the first issue (pointer
 * relative to the spec) and how many more there are; nn_network_analyze lists them all. */
NN_MUST_CHECK enum nn_status nn_description_parse(const json_t *spec, struct nn_description **out,
                                                  struct nn_error *err);
void nn_description_destroy(struct nn_description *description);

/* Whether its input is a sequence_input; what its output means. */
bool nn_description_takes_sequences(const struct nn_description *description);
/* Whether a layer reads the input as the data set holds it (embedding), and whether all of them can
 * read these n steps of so many columns: NN_ERR_INVALID names the first that cannot be read. */
bool nn_description_reads_input(const struct nn_description *description);
NN_MUST_CHECK enum nn_status nn_description_check_steps(const struct nn_description *description,
                                                        const nn_real *steps, size_t n,
                                                        size_t columns, struct nn_error *err);
enum nn_task nn_description_task(const struct nn_description *description);

/* The expanded description, every option with its value: {"name"?, "parameters"?, "layers",
 * "connections"}. Parsing it gives the same network. New reference; NULL when out of memory. */
json_t *nn_description_json(const struct nn_description *description);

/* A report on a spec, good or bad. NN_OK also when the network has issues; other statuses only for
 * memory. bind NULL: without a data set, sizes that depend on it are null, and a network that is
 * valid so far is warned of ("sizes_not_checked"). New reference:
 *
 * {"name": "simple_cnn" | null, "valid": bool, "description": {"layers", ...} | null: the spec with
 *  its parameters filled in,
 *  "layers": [{"name", "kind", "inputs": [names], "activation": [24, 24, 20],
 *              "format": "SSC" | "C" | "CT", "learnables": {"weight": [20, 1, 5, 5], "bias": [20]},
 *              "states": {"running_mean": [20]}, "learnable_count", "multiply_adds",
 *              "activation_bytes"}],
 *  "totals": {"learnables" (null while there are errors), "states", "multiply_adds",
 *             "parameter_bytes", "training_bytes", "inference_bytes", "batch_size"},
 *  "issues": [{"severity": "error" | "warning", "code": of a warning | null, "layer": name | null,
 *              "pointer", "text", "mend", "more": how many alike are not listed}]}
 *
 * activation and multiply_adds are per sample, of sequences (format CT) per step; training_bytes
 * and inference_bytes are what nn_network_create would take for batch_size samples. */
NN_MUST_CHECK enum nn_status nn_network_analyze(const json_t *spec,
                                                const struct nn_network_bind *bind,
                                                size_t batch_size, json_t **out_report,
                                                struct nn_error *err);

/* ------------------------------------------------------------------------------------ catalogue */

/* The templates that are compiled in, ordered by name. */
size_t nn_catalogue_count(void);
const char *nn_catalogue_name(size_t i); /* NULL past the end */
/* {"name", "title", "text", "parameters": [{"name", "type", "default", "minimum", "maximum",
 * "text"}], "input": kind of the first layer, "description": {"layers": [...], "connections":
 * [...]} with "$parameter" in the places of parameters}. New reference; NULL when there is no such
 * template or no memory. */
json_t *nn_catalogue_get(const char *name);

/* [{"name", "text", "inputs": {"minimum", "maximum"}, "sequences": "refused", "by_step" (each step
 * is a row) or "whole", "options": JSON schema}] of the kinds that a layer may have. New reference;
 * NULL: no memory. */
json_t *nn_layer_kinds_json(void);

/* --------------------------------------------------------------------------------------- network
 */

/* OPTIMISED: fused passes and the fastest kernels of the machine. PLAIN: one pass a layer on the
 * plain reference kernels, kept for ever to compare against. */
enum nn_operators { NN_OPERATORS_OPTIMISED, NN_OPERATORS_PLAIN };

/* Zero is a good default for every field but max_batch. */
struct nn_network_options {
    size_t max_batch; /* forward takes 1..max_batch samples */
    size_t max_rows;  /* sequences: the most steps of a batch in all, which is the sum of the
                         max_batch longest; 0: max_batch times the bind's longest */
    enum nn_phase phase;
    enum nn_operators operators;
    const char *const *frozen; /* layers whose parameters do not train; their batch norm keeps */
    size_t n_frozen;           /* its stored statistics */
    const char *const *kept;   /* layers whose activation (and, for TRAINING, its gradient) must */
    size_t n_kept;             /* be readable after the step: nn_network_activation */
    bool input_gradient;       /* compute the gradient of the (normalised) input too */
    struct nn_network *weights_of;    /* use the parameter values of this network (same description
                                         and bind, outlives the new one) instead of own ones */
    const struct nn_kernels *kernels; /* NULL: the best of this processor; PLAIN operators take the
                                         plain ones */
    struct nn_memory *memory;         /* borrowed until destroy; every byte comes from here */
    struct nn_pool *pool;             /* borrowed until destroy; NULL: the calling thread alone */
};

/* Bytes that nn_network_create would take from options->memory; allocates only bookkeeping. */
NN_MUST_CHECK enum nn_status nn_network_plan_bytes(const struct nn_description *description,
                                                   const struct nn_network_bind *bind,
                                                   const struct nn_network_options *options,
                                                   size_t *out_bytes, struct nn_error *err);

/* NN_ERR_INVALID: the sizes do not fit (err names layer and remedy); NN_ERR_LIMIT: a product of
 * sizes overflows; NN_ERR_MEMORY: over the cap of options->memory. The description is borrowed
 * until destroy; bind and options are copied. Values are zero, batch-norm scale and running
 * variance 1, input mean and std as described (else 0 and 1), until nn_network_initialize or an
 * import. */
NN_MUST_CHECK enum nn_status nn_network_create(const struct nn_description *description,
                                               const struct nn_network_bind *bind,
                                               const struct nn_network_options *options,
                                               struct nn_network **out, struct nn_error *err);
void nn_network_destroy(struct nn_network *network);

/* Glorot uniform weights from the seed (fan counts as torch's), orthogonal recurrent weights, zero
 * biases but 1 for an LSTM's forget gate, batch norm 1 and 0, running mean 0 and variance 1; input
 * mean and std are left alone. */
void nn_network_initialize(struct nn_network *network, uint64_t seed);

/* -------------------------------------------------------------------------------------- parameters
 */

/* struct nn_parameter is in core/layers/types.h. */

/* nn_description_head of its description. */
const char *nn_network_head(const struct nn_network *network);

/* In description order, trainable and not. The struct is the network's; value may be written. */
size_t nn_network_parameter_count(const struct nn_network *network);
const struct nn_parameter *nn_network_parameter(const struct nn_network *network, size_t i);

/* Copies between memory order and torch's row-major order; `count` numbers. */
void nn_parameter_to_torch(const struct nn_parameter *parameter, nn_real *out);
void nn_parameter_from_torch(const struct nn_parameter *parameter, const nn_real *in);

/* All trainable values, and all their gradients, as one block each (same offsets in both); every
 * parameter begins at a multiple of 64 bytes and the gaps stay zero. NULL and 0 where there are
 * none. */
nn_real *nn_network_values(const struct nn_network *network, size_t *out_count);
nn_real *nn_network_grads(const struct nn_network *network, size_t *out_count);
void nn_network_zero_grads(struct nn_network *network);

/* --------------------------------------------------------------------------------------------
 * steps */

/* The input: `batch` images of height x width x channels, channels last, no padding between.
 * load_u8 normalises bytes on the way (one pass, on the pool); load_real does the same for floats
 * on the 0..255 scale, load_f32 for windows of signals (the same with nn_real as float);
 * nn_network_input is the normalised buffer itself, for callers that have already normalised. */
void nn_network_load_u8(struct nn_network *network, const uint8_t *pixels, size_t batch);
void nn_network_load_real(struct nn_network *network, const nn_real *pixels, size_t batch);
void nn_network_load_f32(struct nn_network *network, const float *values, size_t batch);
nn_real *nn_network_input(struct nn_network *network);
size_t nn_network_input_size(const struct nn_network *network); /* numbers a sample, or a step */

/* Runs the loaded input, of sequences the whole batch. step may be NULL outside of TRAINING. After
 * it nn_network_output holds nn_network_output_rows x nn_network_output_size scores: the trailing
 * softmax is not applied, because the loss takes scores; nn_network_probabilities applies it into
 * its own buffer. */
void nn_network_forward(struct nn_network *network, size_t batch, enum nn_phase phase,
                        const struct nn_step *step);
const nn_real *nn_network_output(const struct nn_network *network);
size_t nn_network_output_size(const struct nn_network *network);
bool nn_network_ends_in_softmax(const struct nn_network *network);
const nn_real *nn_network_probabilities(struct nn_network *network, size_t batch);

/* The rows themselves, and batches of sequences: sequences.h. */
enum nn_task nn_network_task(const struct nn_network *network);

/* The loss writes d loss / d scores (output rows x output size) here, then backward adds into the
 * gradients of the trainable parameters. Only after a TRAINING or EXPLANATION forward of the same
 * batch; the input must still be loaded. With all layers frozen only the gradients of kept layers
 * are computed. */
nn_real *nn_network_output_gradient(struct nn_network *network);
void nn_network_backward(struct nn_network *network, size_t batch);

/* Auxiliary losses of a network built for TRAINING: after a TRAINING forward each has its scores,
 * batch rows as wide as the output's, and before backward the loss writes weight times their
 * gradient too. In INFERENCE what leads to them alone is not run. */
struct nn_auxiliary {
    const char *layer;
    double weight;
    const nn_real *scores;
    nn_real *gradient;
};
size_t nn_network_auxiliary_count(const struct nn_network *network);
struct nn_auxiliary nn_network_auxiliary(const struct nn_network *network, size_t i);

/* Called during backward when no more will be added to a parameter's gradient. */
typedef void (*nn_gradient_ready_fn)(void *ctx, size_t parameter);
void nn_network_on_gradient(struct nn_network *network, nn_gradient_ready_fn fn, void *ctx);

/* Activation and gradient of a kept layer (or "input" with input_gradient), as rows of `channels`
 * numbers `ld` apart: batch * height * width rows, or with `sequence` one for each step. NULL data
 * where it was not asked for. */
struct nn_layer_view {
    const nn_real *data;
    size_t ld;
    const nn_real *grad; /* NULL unless built for TRAINING */
    size_t grad_ld;
    size_t height, width, channels;
    bool sequence;
};
NN_MUST_CHECK bool nn_network_activation(const struct nn_network *network, const char *layer,
                                         struct nn_layer_view *out);

/* Population statistics: begin, then for each batch load + forward(NN_PHASE_STATISTICS), then
 * finish, which replaces the running means and (unbiased) variances by those of all rows seen.
 * Finish without a forward changes nothing. */
void nn_network_statistics_begin(struct nn_network *network);
void nn_network_statistics_finish(struct nn_network *network);
bool nn_network_has_batch_norm(const struct nn_network *network);

/* ---------------------------------------------------------------------------------------- profile
 */

/* Self time of each pass: seconds summed since the last reset. A fused pass is one row named by its
 * layers ("bn1+relu1"). The clock is the caller's (monotonic seconds); NULL turns timing off. */
typedef double (*nn_clock_fn)(void *ctx);
struct nn_profile_row {
    const char *layers;
    const char *operator_name;
    double forward_seconds, backward_seconds;
    uint64_t forward_calls, backward_calls;
};
void nn_network_set_clock(struct nn_network *network, nn_clock_fn clock, void *ctx);
size_t nn_network_profile_count(const struct nn_network *network);
struct nn_profile_row nn_network_profile(const struct nn_network *network, size_t i);
void nn_network_profile_reset(struct nn_network *network);

#endif
