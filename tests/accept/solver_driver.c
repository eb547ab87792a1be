/* SPDX-License-Identifier: MIT
 *
 * Takes steps of a solver from given values and tells where they lead, so that a peer
 * (peer_solvers.py) can do the same. Built in MODE=f64 it computes in double.
 *
 *   solver_driver SPEC   SPEC is JSON: training (options of the solver), parameters ([{count,
 *                        l2_factor, rate_factor}]), steps, steps_per_epoch, data, result (paths)
 *
 * data, as doubles: values, curvature, then noise of each step, all parameters in a row. The
 * gradient of a step is curvature * value + noise. result, as doubles: the rates of all steps, the
 * norms of their gradients, the values after the last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernels/exec.h"
#include "core/solvers/fields.h"

enum { MAX_PARAMETERS = 16 };

struct run {
    size_t total, steps, steps_per_epoch, parameters;
    struct nn_solver_options options;
    struct nn_solver_parameter parameter[MAX_PARAMETERS];
    double *data;
    nn_real *value, *gradient;
    FILE *result;
};

static void check(bool good, const char *what, const struct nn_error *err)
{
    if (!good) {
        (void)fprintf(stderr, "%s: %s %s\n", what, err ? err->text : "", err ? err->pointer : "");
        exit(1);
    }
}

static size_t size_of(const json_t *spec, const char *key)
{
    return (size_t)json_integer_value(json_object_get(spec, key));
}

static void read_options(struct run *run, const json_t *spec)
{
    static const struct jx_field FIELDS[] = {NN_SOLVER_FIELDS(0), JX_END};
    struct nn_error err = {0};
    const json_t *training = json_object_get(spec, "training");
    check(jx_decode(FIELDS, training, "/training", &run->options, &err) == NN_OK, "spec", &err);
    nn_solver_options_resolve(&run->options);
    check(nn_solver_options_check(&run->options, &err) == NN_OK, "spec", &err);
    run->steps = size_of(spec, "steps");
    run->steps_per_epoch = size_of(spec, "steps_per_epoch");
}

static void read_parameters(struct run *run, const json_t *rows)
{
    run->parameters = json_array_size(rows);
    check(run->parameters > 0 && run->parameters <= MAX_PARAMETERS, "parameters", NULL);
    for (size_t i = 0; i < run->parameters; i++) {
        const json_t *row = json_array_get(rows, i);
        run->parameter[i] = (struct nn_solver_parameter){
            .count = size_of(row, "count"),
            .l2_factor = json_number_value(json_object_get(row, "l2_factor")),
            .learning_rate_factor = json_number_value(json_object_get(row, "rate_factor")),
        };
        run->total += run->parameter[i].count;
    }
}

static void read_data(struct run *run, const char *path)
{
    size_t count = run->total * (2 + run->steps);
    run->data = malloc(count * sizeof *run->data);
    run->value = malloc(run->total * sizeof *run->value);
    run->gradient = malloc(run->total * sizeof *run->gradient);
    FILE *file = path ? fopen(path, "rb") : NULL;
    check(run->data && run->value && run->gradient && file, "data", NULL);
    check(fread(run->data, sizeof *run->data, count, file) == count, "data", NULL);
    (void)fclose(file);
    size_t first = 0;
    for (size_t i = 0; i < run->parameters; i++) {
        run->parameter[i].value = run->value + first;
        run->parameter[i].grad = run->gradient + first;
        first += run->parameter[i].count;
    }
    for (size_t i = 0; i < run->total; i++) {
        run->value[i] = (nn_real)run->data[i];
    }
}

static void put(FILE *file, double number)
{
    check(fwrite(&number, sizeof number, 1, file) == 1, "result", NULL);
}

static void steps(const struct run *run, struct nn_solver *solver)
{
    double *norms = calloc(run->steps, sizeof *norms);
    check(norms != NULL, "memory", NULL);
    for (size_t t = 0; t < run->steps; t++) {
        const double *noise = run->data + (2 + t) * run->total;
        for (size_t i = 0; i < run->total; i++) {
            run->gradient[i] = (nn_real)run->data[run->total + i] * run->value[i];
            run->gradient[i] += (nn_real)noise[i];
        }
        double rate = nn_solver_learning_rate(&run->options, t, run->steps_per_epoch);
        norms[t] = nn_solver_step(solver, rate);
        put(run->result, rate);
    }
    for (size_t t = 0; t < run->steps; t++) {
        put(run->result, norms[t]);
    }
    for (size_t i = 0; i < run->total; i++) {
        put(run->result, (double)run->value[i]);
    }
    free(norms);
}

int main(int argc, char **argv)
{
    struct nn_error err = {0};
    struct nn_solver *solver = NULL;
    struct run run = {0};
    json_t *spec = NULL;
    check(argc == 2, "usage: see the head of solver_driver.c", NULL);
    check(jx_parse(argv[1], strlen(argv[1]), NULL, &spec, &err) == NN_OK, "spec", &err);
    read_options(&run, spec);
    read_parameters(&run, json_object_get(spec, "parameters"));
    read_data(&run, json_string_value(json_object_get(spec, "data")));
    const char *result = json_string_value(json_object_get(spec, "result"));
    run.result = result ? fopen(result, "wb") : NULL;
    check(run.result != NULL, "result", NULL);
    const struct nn_exec exec = {.kernels = nn_kernels_best()};
    check(nn_solver_create(&run.options, run.parameter, run.parameters, NULL, &exec, &solver,
                           &err) == NN_OK,
          "solver", &err);
    steps(&run, solver);
    nn_solver_destroy(solver);
    json_decref(spec);
    free(run.data);
    free(run.value);
    free(run.gradient);
    return fclose(run.result) != 0;
}
