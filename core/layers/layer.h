/* SPDX-License-Identifier: MIT
 *
 * The contracts of the room.
 *
 * A kind of layer (struct nn_layer_kind) is what a description names: its options, and a plan that
 * checks sizes and says shapes and parameters. An operator (struct nn_operator) is what runs: it
 * carries out one layer, or a chain of layers that it replaces. A pass is an operator at its place
 * in a network.
 *
 * Whatever can fail fails in nn_layer_kind.plan. Operators check nothing and allocate nothing; all
 * memory they use was asked for by nn_operator.plan. forward and backward give equal bits for any
 * number of threads. backward ADDS into parameter gradients; each input gradient is written or
 * added to as its `add` says.
 */
#ifndef NN_LAYERS_LAYER_H
#define NN_LAYERS_LAYER_H

#include "core/json/json.h"
#include "core/kernels/kernels.h"
#include "core/layers/types.h"
#include "core/tensor/tensor.h"

#define NN_LAYER_NAME_MAX       64
#define NN_LAYER_PARAMETERS_MAX 8
#define NN_LAYER_INPUTS_MAX     64
#define NN_LAYER_SIDE_MAX       ((size_t)1 << 20) /* of any option that is a size */
#define NN_LAYER_COUNT_MAX      ((size_t)1 << 40) /* numbers in a parameter or a sample */
#define NN_PATTERN_MAX          3

/* ------------------------------------------------------------------------------ kinds of layers */

struct nn_layer_kind;

/* A layer of a description; immutable once parsed. */
struct nn_layer {
    const struct nn_layer_kind *kind;
    const char *name;
    const void *options; /* the struct that kind->fields describe */
};

/* How a weight begins. */
enum nn_initialisation {
    NN_INITIALISATION_GLOROT,           /* uniform in +-sqrt(6 / (fan_in + fan_out)) */
    NN_INITIALISATION_HE,               /* normal, variance 2 / fan_in */
    NN_INITIALISATION_HE_FAN_OUT,       /* normal, variance 2 / fan_out */
    NN_INITIALISATION_HE_UNIFORM,       /* uniform in +-sqrt(6 / fan_in) */
    NN_INITIALISATION_NORMAL,           /* normal, deviation `std` */
    NN_INITIALISATION_TRUNCATED_NORMAL, /* the same, drawn anew beyond two deviations */
    NN_INITIALISATION_ZEROS,
};

struct nn_initial_options {
    int kind;   /* enum nn_initialisation */
    double std; /* > 0, of the normal ones */
};

struct nn_parameter_plan {
    const char *suffix; /* "weight": the parameter is called <layer>.<suffix> */
    enum nn_role role;
    bool learnable; /* false: kept by the layer itself (running statistics, input mean) */
    bool described; /* as in struct nn_parameter */
    size_t ndim;
    size_t shape[4], extent[4];
    unsigned char order[4];
    double learning_rate_factor, l2_factor;
    double fan_in, fan_out;            /* weights: what a sum reads, what a value goes into */
    struct nn_initial_options initial; /* weights */
    size_t ones_begin, ones_end;       /* biases: these begin as 1, the others as 0 */
};

/* An input of a layer. The features of a flattened image stand in memory as that image does,
 * height, width, channels; PyTorch counts them channels, height, width. So whoever has a parameter
 * with an axis of features asks for the image they came from. */
struct nn_layer_input {
    struct nn_shape shape;
    struct nn_shape image; /* before the flatten; equal to shape where there was none */
    bool sequence;         /* shape is that of a step */
    bool as_given;         /* straight from the input, and not normalised there */
};

struct nn_layer_plan {
    struct nn_shape out;   /* of a sample, or of a step; all 0: unknown without a data set */
    bool sequence;         /* out is a row for each step of a sequence */
    struct nn_shape image; /* what out's features were flattened from; all 0: not flattened */
    struct nn_parameter_plan parameters[NN_LAYER_PARAMETERS_MAX];
    size_t n_parameters;
    double multiply_adds; /* of a sample or step, forward */
};

/* Why a layer does not fit its place: a sentence, and how to mend it. */
struct nn_layer_issue {
    const char *field; /* option at fault, or NULL */
    char text[200];
    char mend[200];
};

/* What a kind makes of sequences. */
enum nn_on_sequences {
    NN_SEQUENCES_REFUSED,
    NN_SEQUENCES_BY_STEP, /* each step is a row like any other; the output is a sequence too */
    NN_SEQUENCES_WHOLE,   /* takes nothing else, and its plan says what the output is */
};

struct nn_layer_kind {
    const char *name;              /* "convolution" */
    const char *doc;               /* one sentence */
    const struct jx_field *fields; /* its options */
    size_t options_size;
    size_t min_inputs, max_inputs;
    bool behind_flatten; /* may have a flattened image as input */
    enum nn_on_sequences on_sequences;
    size_t normalisation; /* inputs: offset of the options' nn_normalisation_options, plus 1 */
    /* in: n_in known shapes; bind: NULL or with zeros where nothing is known yet. NN_ERR_INVALID
     * with `issue` filled, out untouched. */
    enum nn_status (*plan)(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue);
    /* NULL; of a kind that reads the input as given: whether a step of it can be read, else a
     * sentence why not. */
    bool (*reads)(const struct nn_layer *layer, const nn_real *step, char *text, size_t size);
};

/* All kinds, ended by NULL; by name, or NULL. */
extern const struct nn_layer_kind *const nn_layer_kinds[];
const struct nn_layer_kind *nn_layer_kind_find(const char *name);

/* ------------------------------------------------------------------------------------ operators */

/* A layer at its place in a network: sizes known, parameters bound. */
struct nn_placed {
    const struct nn_layer *layer;
    struct nn_layer_plan plan;
    struct nn_parameter
        *parameters; /* plan.n_parameters; value and grad set before the first run */
    uint32_t number; /* among the layers of its kind */
    bool frozen;     /* does not train; batch norm keeps its stored statistics */
};

struct nn_pass {
    const struct nn_operator *op;
    const struct nn_placed *layers[NN_PATTERN_MAX]; /* each feeds the next alone */
    size_t n_in;
    const struct nn_shape *in;  /* of the first layer's inputs */
    const bool *input_gradient; /* per input: backward will be asked for it */
    struct nn_shape out;        /* of the last layer */
    bool sequence;              /* the inputs are sequences: their steps are the pass's batch */
    size_t max_batch;           /* samples, or steps of all sequences */
    size_t max_samples;
    bool backward; /* the network is built for TRAINING and this pass has a gradient to compute */
    void *saved, *kept, *scratch; /* as planned, 64-byte aligned */
};

struct nn_pass_plan {
    size_t saved_bytes;             /* lives from this pass's forward to its backward */
    size_t kept_bytes;              /* lives as long as the network; begins as zeros */
    size_t scratch_bytes;           /* lives during one call of forward or backward */
    size_t workspace_bytes;         /* of nn_exec, largest over the operations used */
    bool needs_input, needs_output; /* in backward */
    bool in_place;                  /* y may be the first input's memory */
    bool gradient_in_place;         /* d_x of one input may be d_y's memory */
    bool alias;                     /* as a dense view, y is the input: nothing to do */
    bool overwrites_d_y;            /* backward may destroy d_y */
};

/* What one call runs with. */
struct nn_run {
    const struct nn_exec *exec;
    enum nn_phase phase;
    size_t batch;               /* samples, or steps of all sequences */
    const struct nn_step *step; /* not NULL in TRAINING */
    const struct nn_rows *rows; /* passes on sequences: their packed layout */
};

struct nn_gradient {
    struct nn_view view; /* data NULL: not wanted */
    bool add;
};

struct nn_backward {
    const struct nn_view *x; /* n_in; data NULL unless needs_input */
    struct nn_view y;        /* data NULL unless needs_output */
    struct nn_view d_y;
    const struct nn_gradient *d_x; /* n_in */
};

enum nn_statistics { NN_STATISTICS_BEGIN, NN_STATISTICS_FINISH };

struct nn_operator {
    const char *name;                        /* "convolution+batch_norm+relu" */
    const char *pattern[NN_PATTERN_MAX + 1]; /* kinds, chained, ended by NULL */
    bool fused;                              /* chosen only with optimised operators */
    void (*plan)(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out);
    void (*forward)(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y);
    void (*backward)(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args);
    /* population statistics of the batch norm inside; NULL: there is none */
    void (*statistics)(const struct nn_pass *pass, enum nn_statistics what);
};

/* All operators, longest pattern first, ended by NULL. Inputs, auxiliary losses and a softmax that
 * ends the network have none: the network itself loads inputs, and the loss takes scores. */
extern const struct nn_operator *const nn_operators[];

/* The normalisation of an input: x * factor[c] + offset[c], which is (x - centre[c]) * factor[c];
 * the latter keeps the digits of features that are far from 0 and close together. */
struct nn_input_factors {
    nn_real *factor, *offset, *centre;
};
void nn_input_factors(const struct nn_placed *input, enum nn_normalisation normalisation,
                      const struct nn_input_factors *out);
/* The one in force: the bind's, else the layer's. */
enum nn_normalisation nn_input_normalisation(const struct nn_layer *input,
                                             const struct nn_network_bind *bind);
/* First values of its mean and std parameters, if the description gives them. */
void nn_input_initialize(const struct nn_placed *input);

/* Whether the layer ends a branch for a loss of its own, and how that counts. */
extern const struct nn_layer_kind nn_kind_auxiliary_loss;
double nn_auxiliary_weight(const struct nn_layer *layer);

#endif
