/* SPDX-License-Identifier: MIT
 *
 * What a job will take. Memory comes from the plan; time from the measured speed of the same
 * network when there is one, else from multiply-adds at a rate that a modern core reaches.
 */
#include <math.h>
#include <stdio.h>

#include "server/jobs/spec_internal.h"

/* Multiply-adds a second of one core in training, all layers taken together. */
#define RATE 1e10
/* A training step is a forward, a backward to the weights and one to the inputs. */
#define TRAINING_FACTOR 3.0
/* Steps of tiny networks are bound by overhead, not by arithmetic. */
#define SECONDS_PER_SAMPLE_AT_LEAST 2e-6

/* The scaled copy of a set of sequences, or that of signals with their noise. */
static uint64_t copy_bytes(const struct jobs_trial_spec *trial, const struct jobs_dataset *dataset)
{
    if (dataset->signals) {
        double windows = (double)(dataset->train + dataset->validation + dataset->test);
        double length = (double)(dataset->width * dataset->channels);
        return nn_noise_is_on(&trial->data.noise)
                   ? (uint64_t)(windows * length * (double)sizeof(float))
                   : 0;
    }
    double sequences = (double)(dataset->train + dataset->validation + dataset->test);
    double values = (double)(dataset->inputs + dataset->targets) * dataset->mean_steps;
    return dataset->sequences ? (uint64_t)(sequences * values * (double)sizeof(nn_real)) : 0;
}

static double share(size_t n, double fraction)
{
    return floor((double)n * fraction + 0.5);
}

/* Windows that a sequence of mean length has; 1 of what is not cut. */
static size_t windows_of(const struct jobs_trial_spec *trial, const struct jobs_dataset *dataset)
{
    return dataset->sequences ? nn_windows_count(&trial->data.windows, (size_t)dataset->mean_steps)
                              : 1;
}

/* The data set as a trial's samples: windows, where it cuts some. */
static struct jobs_dataset cut(const struct jobs_trial_spec *trial,
                               const struct jobs_dataset *dataset)
{
    struct jobs_dataset out = *dataset;
    const struct nn_window_options *windows = &trial->data.windows;
    if (dataset->sequences && windows->length_given) {
        size_t n = windows_of(trial, dataset);
        out.train *= n;
        out.validation *= n;
        out.test *= windows->tested == NN_WINDOWS_TESTED_EVERY ? n : 1;
        out.mean_steps = fmin(out.mean_steps, (double)windows->length);
    }
    return out;
}

uint64_t jobs_estimate_steps(const struct jobs_trial_spec *trial,
                             const struct jobs_dataset *dataset)
{
    double test = 1.0 - trial->split.train - trial->split.validation;
    double left = (double)dataset->train - share(dataset->train, trial->split.validation) -
                  share(dataset->train, test > 1e-9 ? test : 0.0);
    size_t train = (left < 1 ? 1 : (size_t)left) * windows_of(trial, dataset);
    return nn_training_steps_per_epoch(&trial->training, train) * (uint64_t)trial->training.epochs;
}

/* What is kept of the parts that are predicted one by one; with custom metrics all probabilities of
 * those that are held out. */
static uint64_t predictions_bytes(const struct jobs_trial_spec *trial,
                                  const struct jobs_dataset *dataset)
{
    bool regression = dataset->sequences && dataset->classes == 0;
    double samples = (double)(dataset->validation + dataset->test) +
                     (double)dataset->train * (1.0 - trial->split.train);
    bool whole = json_array_size(trial->custom_metrics) > 0;
    double bytes = regression ? (double)sizeof(struct nn_sequence_prediction) +
                                    dataset->mean_steps * 2.0 * (double)sizeof(float)
                              : (double)(sizeof(struct nn_prediction) +
                                         (whole ? dataset->classes * sizeof(float) : 0));
    double train = (double)dataset->train * trial->split.train;
    double trained = regression ? 0 : train * (double)sizeof(struct nn_prediction);
    return (uint64_t)(samples * bytes + trained);
}

/* The largest halved batch whose memory is within the limit, beside `rest` bytes that do not hang
 * on it; 0: there is none. */
static size_t batch_that_fits(const struct jobs_trial_spec *trial,
                              const struct jobs_network *network,
                              const struct jobs_dataset *dataset, uint64_t rest,
                              uint64_t *out_bytes)
{
    uint64_t limit = (uint64_t)trial->limits.memory_bytes;
    for (size_t batch = nn_training_max_batch(&trial->training, SIZE_MAX) / 2; batch > 0;
         batch /= 2) {
        uint64_t bytes = jobs_network_bytes(network, trial, dataset, batch);
        if (bytes > 0 && bytes + rest <= limit) {
            *out_bytes = bytes + rest;
            return batch;
        }
    }
    return 0;
}

/* Refuses a trial that needs `memory` bytes, `rest` of them whatever its batches are, and says what
 * helps. */
static enum sv_status refuse_memory(const struct jobs_trial_spec *trial,
                                    const struct jobs_network *network,
                                    const struct jobs_dataset *dataset, uint64_t memory,
                                    uint64_t rest, struct sv_error *err)
{
    uint64_t fits = 0;
    char helps[160] = "a smaller network or smaller inputs would help";
    size_t batch = batch_that_fits(trial, network, dataset, rest, &fits);
    if (batch > 0) {
        (void)snprintf(helps, sizeof helps,
                       "training.micro_batch_size (or batch_size) %zu would need %llu, smaller "
                       "inputs less too",
                       batch, (unsigned long long)fits);
    } else if (rest > (uint64_t)trial->limits.memory_bytes) {
        (void)snprintf(
            helps, sizeof helps,
            "%llu of them, for solver, samples and predictions, do not hang on the batch size",
            (unsigned long long)rest);
    }
    return sv_fail_at(err, SV_ERR_INVALID_FIELD,
                      batch > 0 ? "/training/batch_size" : "/limits/memory_bytes",
                      "a trial would need %llu bytes; its limit is %lld: %s; or set "
                      "limits.memory_bytes to %llu or more",
                      (unsigned long long)memory, (long long)trial->limits.memory_bytes, helps,
                      (unsigned long long)memory);
}

enum sv_status jobs_estimate_add(struct jobs_estimate *estimate,
                                 const struct jobs_trial_spec *trial,
                                 const struct jobs_network *network,
                                 const struct jobs_dataset *whole, struct sv_error *err)
{
    const struct jobs_dataset samples = cut(trial, whole), *dataset = &samples;
    double train = (double)dataset->train * trial->split.train;
    double validation =
        (double)dataset->train * trial->split.validation + (double)dataset->validation;
    double epochs = (double)trial->training.epochs;
    double batches = ceil(train / (double)trial->training.batch_size);
    double frequency = (double)trial->training.validation_frequency;
    double validations = frequency > 0 ? floor(epochs * batches / frequency) + 1.0 : epochs;
    double trained = train * epochs;
    double evaluated = validation * validations + (double)dataset->train +
                       (double)dataset->validation + (double)dataset->test;
    double steps = dataset->sequences ? dataset->mean_steps : 1.0; /* of a sample */
    double work = network->multiply_adds * steps * (TRAINING_FACTOR * trained + evaluated);
    double seconds = fmax(work / RATE, SECONDS_PER_SAMPLE_AT_LEAST * steps * (trained + evaluated));
    if (network->speed > 0) {
        seconds = (trained + evaluated / TRAINING_FACTOR) / network->speed;
    }
    double copies = trial->training.output_network == NN_OUTPUT_BEST_VALIDATION_LOSS ? 1.0 : 0.0;
    copies += trial->training.ema_decay > 0 ? 1.0 : 0.0;
    uint64_t rest =
        copy_bytes(trial, whole) + predictions_bytes(trial, whole) +
        (uint64_t)(((double)nn_solver_slots_per_value(trial->training.solver.kind) + copies) *
                   (double)network->parameter_bytes);
    uint64_t memory = network->training_bytes + rest;
    if (memory > (uint64_t)trial->limits.memory_bytes) {
        return refuse_memory(trial, network, whole, memory, rest, err);
    }
    estimate->seconds += seconds;
    estimate->multiply_adds += work;
    estimate->basis = network->speed > 0 && (!estimate->basis || estimate->basis[0] == 'h')
                          ? "history"
                          : "multiply_adds";
    estimate->memory_bytes = memory > estimate->memory_bytes ? memory : estimate->memory_bytes;
    return SV_OK;
}
