/* SPDX-License-Identifier: MIT
 *
 * What a job may say though it is seldom meant. Nothing is ignored without a word: it is refused,
 * or it stands here.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/jobs/spec_internal.h"

enum { WARNINGS_MAX = 50, TEXT_SIZE = 600 };

enum sv_status jobs_warn(struct jobs_plan *plan, struct sv_error *err, const char *code,
                         const char *pointer, const char *fmt, ...)
{
    char text[TEXT_SIZE];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    json_t *row = json_pack("{s:s, s:o, s:o}", "code", code, "pointer", jx_text(pointer, SIZE_MAX),
                            "text", jx_text(text, SIZE_MAX));
    size_t n = json_array_size(plan->warnings), i = 0;
    while (row && i < n && !json_equal(row, json_array_get(plan->warnings, i))) {
        i++;
    }
    bool is_new = i == n && n < WARNINGS_MAX;
    bool fine = row && (!is_new || json_array_append(plan->warnings, row) == 0);
    json_decref(row);
    return fine ? SV_OK : sv_fail(err, SV_ERR_INTERNAL, "out of memory");
}

static const char *member(const json_t *issue, const char *key)
{
    const char *text = json_string_value(json_object_get(issue, key));
    return text ? text : "";
}

/* A network that is trained has no other issues. */
static enum sv_status warn_of_network(struct jobs_plan *plan, const json_t *issues,
                                      struct sv_error *err)
{
    enum sv_status st = SV_OK;
    for (size_t i = 0; st == SV_OK && i < json_array_size(issues); i++) {
        const json_t *issue = json_array_get(issues, i);
        char pointer[200];
        (void)snprintf(pointer, sizeof pointer, "/network%s", member(issue, "pointer"));
        st = jobs_warn(plan, err, member(issue, "code"), pointer, "%s; %s", member(issue, "text"),
                       member(issue, "mend"));
    }
    return st;
}

static enum sv_status warn_of_weights(struct jobs_plan *plan, const struct jobs_trial_spec *trial,
                                      const struct jobs_network *network, const json_t *weights,
                                      struct sv_error *err)
{
    const char *name = member(trial->network, "name");
    char pointer[160];
    if (!network->partly[0]) {
        return SV_OK;
    }
    jobs_weights_pointer(weights, trial->network, pointer, sizeof pointer);
    return jobs_warn(plan, err, "weights_fit_partly", pointer,
                     "the weights fit %s%.64s only partly, as those of another variant would: %s",
                     name[0] ? "" : "the network", name, network->partly);
}

enum sv_status jobs_warn_of_trial(struct jobs_plan *plan, const struct jobs_trial_spec *trial,
                                  const struct jobs_network *network, const json_t *weights,
                                  const struct jobs_dataset *dataset, struct sv_error *err)
{
    enum sv_status st = warn_of_network(plan, network->warnings, err);
    if (st == SV_OK) {
        st = warn_of_weights(plan, trial, network, weights, err);
    }
    if (st == SV_OK && dataset->constant_inputs > 0 && !trial->data.scaling.keep_constant) {
        st = jobs_warn(plan, err, "constant_inputs", "/data/keep_constant",
                       "%zu of %zu inputs have one value in the whole train part and are left out "
                       "of training: %s; keep_constant keeps them",
                       dataset->constant_inputs, dataset->inputs, dataset->constant_names);
    }
    return st;
}

/* ---- options without effect ---- */

static bool is_noisy(const struct jobs_data_options *data)
{
    return nn_noise_is_on(&data->noise);
}

static bool has_level(const struct jobs_data_options *data)
{
    return data->noise.snr_db < 0 || data->noise.snr_db > 0;
}

static bool has_draw(const struct jobs_data_options *data)
{
    return data->noise.draw != NN_NOISE_FIXED;
}

static bool has_seed(const struct jobs_data_options *data)
{
    return data->noise.seed != 1;
}

static bool has_windows(const struct jobs_data_options *data)
{
    return data->windows.length_given;
}

static bool has_stride(const struct jobs_data_options *data)
{
    return data->windows.stride != 1;
}

static bool has_tested(const struct jobs_data_options *data)
{
    return data->windows.tested != NN_WINDOWS_TESTED_LAST;
}

/* Of `data`, as nn_solver_conditions of `training`. */
static const struct data_condition {
    const char *path, *needs;
    bool (*is_set)(const struct jobs_data_options *data); /* not as where it is left out */
    bool (*holds)(const struct jobs_data_options *data);
} DATA_CONDITIONS[] = {
    {"data.noise.snr_db", "a data.noise.kind", has_level, is_noisy},
    {"data.noise.draw", "a data.noise.kind", has_draw, is_noisy},
    {"data.noise.seed", "a data.noise.kind", has_seed, is_noisy},
    {"data.window_stride", "a data.window", has_stride, has_windows},
    {"data.window_test", "a data.window", has_tested, has_windows},
};
enum {
    OF_DATA = sizeof DATA_CONDITIONS / sizeof DATA_CONDITIONS[0],
    CONDITIONS = NN_SOLVER_CONDITIONS + OF_DATA
};

enum sv_status jobs_idle_add(struct jobs_idle *idle, const struct jobs_trial_spec *trial,
                             struct sv_error *err)
{
    unsigned counting = 0, no_effect = 0;
    if (!nn_training_conditions(&trial->training, &counting, &no_effect)) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    for (unsigned i = 0; i < OF_DATA; i++) {
        const struct data_condition *c = &DATA_CONDITIONS[i];
        if (c->is_set(&trial->data)) {
            *(c->holds(&trial->data) ? &counting : &no_effect) |= 1u << (NN_SOLVER_CONDITIONS + i);
        }
    }
    idle->counting |= counting;
    idle->idle |= no_effect;
    return SV_OK;
}

/* The path of an option below the job; returns what it needs. */
static const char *condition(unsigned i, char *path, size_t size)
{
    bool of_solver = i < NN_SOLVER_CONDITIONS;
    const struct nn_solver_condition *solver = &nn_solver_conditions[of_solver ? i : 0];
    const struct data_condition *data = &DATA_CONDITIONS[of_solver ? 0 : i - NN_SOLVER_CONDITIONS];
    (void)snprintf(path, size, "%s%s", of_solver ? "training." : "",
                   of_solver ? solver->path : data->path);
    return of_solver ? solver->needs : data->needs;
}

enum sv_status jobs_idle_warn(const struct jobs_idle *idle, const json_t *submitted,
                              const struct jobs_sweep *sweep, struct jobs_plan *plan,
                              struct sv_error *err)
{
    enum sv_status st = SV_OK;
    for (unsigned i = 0; st == SV_OK && i < CONDITIONS; i++) {
        char path[96], pointer[96] = "/search/parameters";
        const char *needs = condition(i, path, sizeof path);
        bool swept = jobs_sweep_has(sweep, path);
        if (!(idle->idle & ~idle->counting & (1u << i)) ||
            (!swept && !jx_path_get(submitted, path))) {
            continue;
        }
        if (!swept) {
            jx_path_pointer(path, pointer, sizeof pointer);
        }
        st = jobs_warn(plan, err, "no_effect", pointer,
                       "%s has an effect only with %s, which no trial of the job has", path, needs);
    }
    return st;
}
