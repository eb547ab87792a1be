/* SPDX-License-Identifier: MIT
 *
 * The "training" object of a spec: its field table, and figures that follow from it.
 */
#include "core/solvers/fields.h"
#include "core/training/training.h"

static const struct jx_choice SHUFFLE_CHOICES[] = {
    {"never", NN_SHUFFLE_NEVER, "the order of the data set"},
    {"once", NN_SHUFFLE_ONCE, "one random order for all epochs"},
    {"every_epoch", NN_SHUFFLE_EVERY_EPOCH, "another random order in each epoch"},
    JX_END,
};

static const struct jx_choice STATISTICS_CHOICES[] = {
    {"moving", NN_BATCH_NORM_MOVING, "running averages gathered while training"},
    {"population", NN_BATCH_NORM_POPULATION, "taken over the whole train part at the end"},
    JX_END,
};

static const struct jx_choice OUTPUT_CHOICES[] = {
    {"last", NN_OUTPUT_LAST, "the network after the last step"},
    {"best_validation_loss", NN_OUTPUT_BEST_VALIDATION_LOSS,
     "the network at the validation with the lowest loss"},
    JX_END,
};

#define OFFSET(member) offsetof(struct nn_training_options, member)

static const struct jx_field FACTOR_ITEM = {
    .name = "factors", .type = JX_OBJECT, .fields = nn_layer_factor_fields};

const struct jx_field nn_training_fields[] = {
    NN_SOLVER_FIELDS(OFFSET(solver)),
    {.name = "epochs",
     .type = JX_INT,
     .offset = OFFSET(epochs),
     .min = 1,
     .max = 1e6,
     .fallback = "30",
     .doc = "passes over the train part",
     .unit = "epochs"},
    {.name = "batch_size",
     .type = JX_INT,
     .offset = OFFSET(batch_size),
     .min = 1,
     .max = 65536,
     .fallback = "128",
     .doc = "samples in a step",
     .unit = "samples"},
    {.name = "drop_last",
     .type = JX_BOOL,
     .offset = OFFSET(drop_last),
     .fallback = "false",
     .doc = "leave out the partial last batch of an epoch, unless it is the only one"},
    {.name = "shuffle",
     .type = JX_ENUM,
     .offset = OFFSET(shuffle),
     .choices = SHUFFLE_CHOICES,
     .fallback = "\"once\"",
     .doc = "order of the samples"},
    {.name = "batch_norm_statistics",
     .type = JX_ENUM,
     .offset = OFFSET(batch_norm_statistics),
     .choices = STATISTICS_CHOICES,
     .fallback = "\"population\"",
     .doc = "what batch normalisation uses after training"},
    {.name = "validation_frequency",
     .type = JX_INT,
     .offset = OFFSET(validation_frequency),
     .min = 0,
     .max = 1e9,
     .fallback = "50",
     .doc = "steps between validations; 0: at the end of each epoch",
     .unit = "steps"},
    {.name = "patience",
     .type = JX_INT,
     .offset = OFFSET(patience),
     .min = 0,
     .max = 1e9,
     .fallback = "0",
     .doc = "validations without a lower loss after which training stops; 0: never"},
    {.name = "output_network",
     .type = JX_ENUM,
     .offset = OFFSET(output_network),
     .choices = OUTPUT_CHOICES,
     .fallback = "\"last\"",
     .doc = "which network is kept and evaluated"},
    {.name = "checkpoint_interval_seconds",
     .type = JX_REAL,
     .offset = OFFSET(checkpoint_interval_seconds),
     .min = 0,
     .max = 86400,
     .fallback = "30",
     .doc = "time between checkpoints; 0: after every step",
     .unit = "seconds"},
    {.name = "head_learning_rate_factor",
     .type = JX_REAL,
     .offset = OFFSET(head_learning_rate_factor),
     .min = 0,
     .max = 1e6,
     .fallback = "1",
     .doc =
         "times the learning rate, for the last layer with weights; default of transfer_learning: "
         "10"},
    {.name = "layer_factors",
     .type = JX_ARRAY,
     .offset = OFFSET(layer_factors),
     .items = &FACTOR_ITEM,
     .max_items = 64,
     .doc = "factors of layers by their names; of several rows that fit one the last counts, also "
            "over the head's"},
    {.name = "micro_batch_size",
     .type = JX_INT,
     .offset = OFFSET(micro_batch_size),
     .min = 0,
     .max = 65536,
     .fallback = "0",
     .doc = "samples of a batch that are computed at once, their gradients added up, for batches "
            "that do not fit; batch norm sees micro-batches; 0: the whole batch",
     .unit = "samples"},
    {.name = "label_smoothing",
     .type = JX_REAL,
     .offset = OFFSET(label_smoothing),
     .min = 0,
     .max = 1,
     .below_max = true,
     .fallback = "0",
     .doc = "share of a label that all classes divide while training; evaluation has none"},
    {.name = "class_weights",
     .type = JX_ANY,
     .offset = OFFSET(class_weights),
     .doc = "weights of the classes in the loss while training: \"balanced\", or a number for each "
            "class in their order; default: all 1"},
    {.name = "ema_decay",
     .type = JX_REAL,
     .offset = OFFSET(ema_decay),
     .min = 0,
     .max = 1,
     .below_max = true,
     .fallback = "0",
     .doc = "decay of a moving average of all values, which is what is evaluated and kept; at step "
            "t at most (1 + t) / (10 + t); 0: none"},
    JX_END,
};

void nn_training_options_resolve(struct nn_training_options *options)
{
    struct nn_schedule_options *schedule = &options->solver.schedule;
    nn_solver_options_resolve(&options->solver);
    if (schedule->kind == NN_SCHEDULE_COSINE && !schedule->period_given) {
        schedule->period = options->epochs;
        schedule->period_given = true;
    }
}

enum nn_status nn_training_options_check(const struct nn_training_options *options,
                                         struct nn_error *err)
{
    return nn_solver_options_check(&options->solver, err);
}

bool nn_training_conditions(const struct nn_training_options *options, unsigned *out_counting,
                            unsigned *out_idle)
{
    struct nn_training_options usual;
    jx_defaults(nn_training_fields, &usual);
    usual.epochs = options->epochs;
    usual.solver.kind = options->solver.kind;
    usual.solver.schedule.kind = options->solver.schedule.kind;
    nn_training_options_resolve(&usual);
    json_t *given = jx_encode(nn_training_fields, options);
    json_t *left_out = jx_encode(nn_training_fields, &usual);
    bool fine = given && left_out;
    *out_counting = *out_idle = 0;
    for (unsigned i = 0; fine && i < NN_SOLVER_CONDITIONS; i++) {
        const struct nn_solver_condition *c = &nn_solver_conditions[i];
        if (!json_equal(jx_path_get(given, c->path), jx_path_get(left_out, c->path))) {
            *(c->holds(&options->solver) ? out_counting : out_idle) |= 1u << i;
        }
    }
    json_decref(given);
    json_decref(left_out);
    return fine;
}

enum nn_normalisation nn_training_normalisation(const struct nn_scaling_options *scaling)
{
    return scaling->inputs == NN_SCALING_NONE ? NN_NORMALISATION_DESCRIBED
                                              : NN_NORMALISATION_OUTSIDE;
}

uint64_t nn_training_steps_per_epoch(const struct nn_training_options *options, size_t n_train)
{
    return nn_loader_batches(n_train, (size_t)options->batch_size, options->drop_last);
}

size_t nn_training_max_batch(const struct nn_training_options *options, size_t n_train)
{
    int64_t micro = options->micro_batch_size;
    size_t size = (size_t)options->batch_size;
    size = micro > 0 && (size_t)micro < size ? (size_t)micro : size;
    return n_train < size ? n_train : size;
}

const char *nn_training_outcome_text(enum nn_training_outcome outcome)
{
    switch (outcome) {
    case NN_TRAINING_COMPLETED:
        return "completed";
    case NN_TRAINING_STOPPED:
        return "stopped";
    case NN_TRAINING_PAUSED:
        return "paused";
    case NN_TRAINING_DIVERGED:
        break;
    }
    return "diverged";
}
