/* SPDX-License-Identifier: MIT
 *
 * The field tables of a job: names, ranges, defaults, documentation. The options of training stand
 * in core/training.
 */
#include <float.h>

#include "core/metrics/custom.h"
#include "server/jobs/kinds.h"
#include "server/jobs/spec_internal.h"

#define SEED_MAX 9007199254740991.0 /* 2^53 - 1: what every JSON reader keeps exactly */

static const struct jx_choice OPERATORS[] = {
    {"optimised", NN_OPERATORS_OPTIMISED, "fused passes and the fastest kernels"},
    {"plain", NN_OPERATORS_PLAIN, "one pass a layer on the reference kernels"},
    JX_END,
};

static const struct jx_choice PRECISIONS[] = {{"f32", 0, "32-bit floating point"}, JX_END};
static const struct jx_choice STRATEGIES[] = {
    {"grid", JOBS_GRID, "every combination"},
    {"random", JOBS_RANDOM, "so many points, evenly over the values and ranges"},
    {"bayesian", JOBS_BAYESIAN, "each point where those before it promise the most"},
    JX_END,
};

static const struct jx_choice METRICS[] = {
    {"loss", 0, "mean loss over a part"},
    {"accuracy", 0, "share that is classified right"},
    {"balanced_accuracy", 0, "mean recall of the classes that occur"},
    {"rmse", 0, "root of the mean squared error of all steps"},
    {"mae", 0, "mean absolute error of all steps"},
    {"r2", 0, "share of the targets' variance that is explained"},
    {"mean_max_absolute_error", 0, "mean over the sequences of the largest error"},
    {"last_step_rmse", 0, "root of the mean squared error at the last steps"},
    {"phm08_score", 0, "score of the PHM 2008 challenge"},
    JX_END,
};

#define OFFSET(member) offsetof(struct jobs_trial_spec, member)

#define SPLIT(member) offsetof(struct jobs_split_options, member)
static const struct jx_field SPLIT_FIELDS[] = {
    {.name = "train",
     .type = JX_REAL,
     .offset = SPLIT(train),
     .given = JX_GIVEN(struct jobs_split_options, train_given),
     .min = 0,
     .max = 1,
     .above_min = true,
     .nullable = true,
     .doc = "share of the train part that trains; default: what validation leaves, else 0.7, or 1 "
            "when the data set has a validation part or is of sequences and has a test part, and "
            "when none can be kept back"},
    {.name = "validation",
     .type = JX_REAL,
     .offset = SPLIT(validation),
     .given = JX_GIVEN(struct jobs_split_options, validation_given),
     .min = 0,
     .max = 1,
     .below_max = true,
     .nullable = true,
     .doc = "share of the train part that validates; default: what train leaves"},
    {.name = "seed",
     .type = JX_INT,
     .offset = SPLIT(seed),
     .min = 0,
     .max = SEED_MAX,
     .fallback = "1",
     .doc = "seed of the cut, the same for every trial"},
    JX_END,
};

static const struct jx_field METRIC_ITEM = {.name = "metric", .type = JX_ENUM, .choices = METRICS};
static const struct jx_field CUSTOM_ITEM = {
    .name = "metric", .type = JX_OBJECT, .fields = nn_custom_fields};
static const struct jx_field EVALUATION_FIELDS[] = {
    {.name = "metrics",
     .type = JX_ARRAY,
     .items = &METRIC_ITEM,
     .min_items = 1,
     .max_items = 8,
     .doc = "columns of the results table, each for every part; default: all of the kind"},
    {.name = "custom_metrics",
     .type = JX_ARRAY,
     .offset = offsetof(struct jobs_trial_spec, custom_metrics) -
               offsetof(struct jobs_trial_spec, metrics),
     .items = &CUSTOM_ITEM,
     .max_items = NN_CUSTOM_MAX,
     .doc = "metrics in Lua, computed on the validation and test parts; further columns"},
    {.name = "phm08",
     .type = JX_OBJECT,
     .offset = offsetof(struct jobs_trial_spec, phm08) - offsetof(struct jobs_trial_spec, metrics),
     .fields = nn_phm08_fields,
     .doc = "sequences: constants of phm08_score"},
    JX_END,
};

#define LIMIT(member) offsetof(struct jobs_limit_options, member)
static const struct jx_field LIMIT_FIELDS[] = {
    {.name = "memory_bytes",
     .type = JX_INT,
     .offset = LIMIT(memory_bytes),
     .given = JX_GIVEN(struct jobs_limit_options, memory_given),
     .min = 16777216,
     .max = 17592186044416.0,
     .nullable = true,
     .doc = "memory of a trial; default: the server's",
     .unit = "bytes"},
    {.name = "seconds",
     .type = JX_REAL,
     .offset = LIMIT(seconds),
     .min = 0,
     .max = 31536000,
     .fallback = "0",
     .doc = "time after which an attempt fails; 0: none",
     .unit = "seconds"},
    {.name = "no_progress_seconds",
     .type = JX_REAL,
     .offset = LIMIT(no_progress_seconds),
     .min = 0,
     .max = 31536000,
     .fallback = "600",
     .doc = "time without a step, or another sign of work, after which an attempt fails; "
            "0: none",
     .unit = "seconds"},
    JX_END,
};

#define TRIAL_ROWS                                                                                 \
    {.name = "network",                                                                            \
     .type = JX_ANY,                                                                               \
     .offset = OFFSET(network),                                                                    \
     .ref = "#/components/schemas/Network",                                                        \
     .doc = "a template by name with its parameters, or layers and connections"},                  \
        {.name = "freeze",                                                                         \
         .type = JX_ANY,                                                                           \
         .offset = OFFSET(freeze),                                                                 \
         .doc = "layers that do not train: \"none\" (default), \"all_but_head\", or "              \
                "{\"up_to\": layer} for that layer and all before it"},                            \
        {.name = "augmentation",                                                                   \
         .type = JX_OBJECT,                                                                        \
         .offset = OFFSET(augmentation),                                                           \
         .fields = nn_augmentation_fields,                                                         \
         .doc = "random changes of the pictures that train, others in each epoch"},                \
        {.name = "data",                                                                           \
         .type = JX_OBJECT,                                                                        \
         .offset = OFFSET(data),                                                                   \
         .fields = jobs_data_fields,                                                               \
         .doc = "what happens to samples on their way in"},                                        \
        {.name = "split",                                                                          \
         .type = JX_OBJECT,                                                                        \
         .offset = OFFSET(split),                                                                  \
         .fields = SPLIT_FIELDS,                                                                   \
         .doc = "how the train part is cut; the rest is tested"},                                  \
        {.name = "training",                                                                       \
         .type = JX_OBJECT,                                                                        \
         .offset = OFFSET(training),                                                               \
         .fields = nn_training_fields,                                                             \
         .doc = "solver and loop"},                                                                \
        {.name = "evaluation",                                                                     \
         .type = JX_OBJECT,                                                                        \
         .offset = OFFSET(metrics),                                                                \
         .fields = EVALUATION_FIELDS,                                                              \
         .doc = "what is compared"},                                                               \
        {.name = "explain",                                                                        \
         .type = JX_OBJECT,                                                                        \
         .offset = OFFSET(explain),                                                                \
         .given = JX_GIVEN(struct jobs_trial_spec, explain_given),                                 \
         .nullable = true,                                                                         \
         .fields = nn_explain_fields,                                                              \
         .doc = "what is kept to see why the network says what it says"},                          \
        {.name = "operators",                                                                      \
         .type = JX_ENUM,                                                                          \
         .offset = OFFSET(operators),                                                              \
         .choices = OPERATORS,                                                                     \
         .fallback = "\"optimised\"",                                                              \
         .doc = "which implementations run"},                                                      \
        {.name = "precision",                                                                      \
         .type = JX_ENUM,                                                                          \
         .offset = OFFSET(precision),                                                              \
         .choices = PRECISIONS,                                                                    \
         .fallback = "\"f32\"",                                                                    \
         .doc = "number format of training"},                                                      \
        {.name = "limits",                                                                         \
         .type = JX_OBJECT,                                                                        \
         .offset = OFFSET(limits),                                                                 \
         .fields = LIMIT_FIELDS,                                                                   \
         .doc = "what an attempt may use"},                                                        \
        {.name = "max_attempts",                                                                   \
         .type = JX_INT,                                                                           \
         .offset = OFFSET(max_attempts),                                                           \
         .min = 1,                                                                                 \
         .max = 100,                                                                               \
         .fallback = "3",                                                                          \
         .doc = "attempts without a later checkpoint before a lost trial fails"},                  \
    {                                                                                              \
        .name = "threads", .type = JX_INT, .offset = OFFSET(threads), .min = 0, .max = 1024,       \
        .fallback = "0", .doc = "most threads of a trial; 0: as many as its worker has to spare",  \
        .unit = "threads"                                                                          \
    }

const struct jx_field jobs_trial_fields[] = {TRIAL_ROWS, JX_END};

#define JOB(member) offsetof(struct jobs_job_spec, member)

static const struct jx_field LABEL_ITEM = {
    .name = "label", .type = JX_STRING, .min = 1, .max = JOBS_LABEL_MAX};
static const struct jx_field AXIS_ITEM = {
    .name = "axis", .type = JX_ANY, .ref = "#/components/schemas/SearchAxis"};

#define SEARCH(member) offsetof(struct jobs_search_options, member)
static const struct jx_field SEARCH_FIELDS[] = {
    {.name = "strategy",
     .type = JX_ENUM,
     .offset = SEARCH(strategy),
     .choices = STRATEGIES,
     .fallback = "\"grid\"",
     .doc = "how points of the parameters are chosen: every one, some at random, or each by what "
            "the ones before it came to"},
    {.name = "trials",
     .type = JX_INT,
     .offset = SEARCH(trials),
     .given = JX_GIVEN(struct jobs_search_options, trials_given),
     .min = 1,
     .max = 1000000,
     .doc = "not of a grid: how many points are tried, each once for every seed; default: 30, or "
            "all where there are fewer"},
    {.name = "seed",
     .type = JX_INT,
     .offset = SEARCH(seed),
     .given = JX_GIVEN(struct jobs_search_options, seed_given),
     .min = 0,
     .max = SEED_MAX,
     .doc = "not of a grid: which points are chosen; default: 1"},
    {.name = "initial_trials",
     .type = JX_INT,
     .offset = SEARCH(initial_trials),
     .given = JX_GIVEN(struct jobs_search_options, initial_trials_given),
     .min = 1,
     .max = 1000000,
     .doc = "bayesian: points at random to begin with; default: twice the parameters and 2"},
    {.name = "at_once",
     .type = JX_INT,
     .offset = SEARCH(at_once),
     .given = JX_GIVEN(struct jobs_search_options, at_once_given),
     .min = 1,
     .max = 64,
     .doc = "bayesian: points that are chosen together when all before them have ended, and may "
            "run side by side; default: 1"},
    {.name = "parameters",
     .type = JX_MAP,
     .offset = SEARCH(parameters),
     .items = &AXIS_ITEM,
     .max_items = 16,
     .doc = "dotted paths into the job, each with the values to try or, where the strategy is no "
            "grid, a range; an object changes the fields that it names, a network is replaced "
            "whole; default: the kind's"},
    JX_END,
};

const struct jx_field jobs_job_fields[] = {
    {.name = "kind",
     .type = JX_STRING,
     .offset = JOB(kind),
     .min = 1,
     .max = 64,
     .required = true,
     .doc = "what the job does"},
    {.name = "dataset",
     .type = JX_STRING,
     .offset = JOB(dataset),
     .min = 1,
     .max = 64,
     .required = true,
     .doc = "id of a data set that is ready"},
    {.name = "experiment",
     .type = JX_STRING,
     .offset = JOB(experiment),
     .min = 1,
     .max = JOBS_NAME_MAX,
     .doc = "name that groups jobs over time, made when it does not exist; default: \"default\""},
    {.name = "name",
     .type = JX_STRING,
     .offset = JOB(name),
     .max = JOBS_NAME_MAX,
     .doc = "title for people"},
    {.name = "notes",
     .type = JX_STRING,
     .offset = JOB(notes),
     .max = JOBS_NOTES_MAX,
     .doc = "remarks"},
    {.name = "labels",
     .type = JX_ARRAY,
     .offset = JOB(labels),
     .items = &LABEL_ITEM,
     .max_items = JOBS_LABELS_MAX,
     .doc = "words to filter by"},
    {.name = "weights",
     .type = JX_ANY,
     .offset = JOB(weights),
     .doc = "id of the weights to start from, or {network name: id}; the head is made new"},
    {.name = "seeds",
     .type = JX_INTS,
     .offset = JOB(seeds),
     .min = 0,
     .max = SEED_MAX,
     .min_items = 1,
     .max_items = JX_LIST_MAX,
     .fallback = "[1]",
     .doc = "seeds of initial weights and order; each multiplies the trials"},
    {.name = "search",
     .type = JX_OBJECT,
     .offset = JOB(search),
     .fields = SEARCH_FIELDS,
     .doc = "the sweep"},
    TRIAL_ROWS,
    JX_END,
};

json_t *jobs_schema(void)
{
    return jx_schema(jobs_job_fields);
}
