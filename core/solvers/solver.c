/* SPDX-License-Identifier: MIT
 *
 * One update: norm and check, L2, clipping, then the solver's kernel on each parameter.
 *
 * Without clipping L2 is fused into the kernels (g = gradient + l2 * value). With clipping by a
 * norm the sum is needed first, so L2 is added into the gradients, and the kernels get the scale.
 * All sums run over fixed pieces in a fixed order.
 */
#include <math.h>
#include <string.h>

#include "core/kernels/pointwise.h"
#include "core/kernels/update.h"
#include "core/solvers/solvers.h"

/* Elements of a piece of the L2 pass; fixed, because it is the unit of work of a thread. */
enum { PIECE = 16384 };

struct nn_solver {
    struct nn_solver_options options;
    struct nn_memory *memory;
    struct nn_exec exec;
    struct nn_solver_parameter *parameters;
    size_t n;
    nn_real *slots; /* sgdm: moves; rmsprop: squares; adam(w): means of all, then squares of all */
    size_t slot_count;
    size_t half; /* adam, adamw: where the squares begin */
    uint64_t updates;
};

/* Slots of a parameter begin at 64-byte boundaries. */
static size_t padded(size_t count)
{
    size_t line = NN_ALIGNMENT / sizeof(nn_real);
    return (count + line - 1) / line * line;
}

static size_t total_count(const struct nn_solver_parameter *parameters, size_t n)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++) {
        total += padded(parameters[i].count);
    }
    return total;
}

static size_t largest_workspace(const struct nn_solver_parameter *parameters, size_t n)
{
    size_t bytes = NN_ALIGNMENT;
    for (size_t i = 0; i < n; i++) {
        size_t needed = nn_reduction_workspace(parameters[i].count);
        bytes = needed > bytes ? needed : bytes;
    }
    return bytes;
}

size_t nn_solver_slots_per_value(int kind)
{
    return kind == NN_SOLVER_ADAM || kind == NN_SOLVER_ADAMW ? 2 : 1;
}

size_t nn_solver_plan_bytes(int kind, const struct nn_solver_parameter *parameters, size_t n)
{
    size_t slots = total_count(parameters, n) * nn_solver_slots_per_value(kind);
    size_t bookkeeping = (size_t)8 * NN_ALIGNMENT; /* four blocks, each rounded up and headed */
    return sizeof(struct nn_solver) + n * sizeof *parameters + slots * sizeof(nn_real) +
           largest_workspace(parameters, n) + bookkeeping;
}

void nn_solver_destroy(struct nn_solver *solver)
{
    if (!solver) {
        return;
    }
    nn_memory_free(solver->memory, solver->parameters);
    nn_memory_free(solver->memory, solver->slots);
    nn_memory_free(solver->memory, solver->exec.workspace);
    nn_memory_free(solver->memory, solver);
}

enum nn_status nn_solver_create(const struct nn_solver_options *options,
                                const struct nn_solver_parameter *parameters, size_t n,
                                struct nn_memory *memory, const struct nn_exec *exec,
                                struct nn_solver **out, struct nn_error *err)
{
    struct nn_solver *solver = nn_memory_alloc(memory, 1, sizeof *solver);
    if (!solver) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for the solver");
    }
    size_t half = total_count(parameters, n);
    *solver = (struct nn_solver){
        .options = *options,
        .memory = memory,
        .exec = {.kernels = exec->kernels,
                 .pool = exec->pool,
                 .workspace_bytes = largest_workspace(parameters, n)},
        .n = n,
        .slot_count = half * nn_solver_slots_per_value(options->kind),
        .half = half,
    };
    solver->parameters = nn_memory_alloc(memory, n, sizeof *parameters);
    solver->slots = nn_memory_alloc(memory, solver->slot_count, sizeof *solver->slots);
    solver->exec.workspace = nn_memory_alloc(memory, solver->exec.workspace_bytes, 1);
    if (!solver->parameters || !solver->slots || !solver->exec.workspace) {
        nn_solver_destroy(solver);
        return nn_fail(err, NN_ERR_MEMORY, "no memory for the state of solver %s",
                       nn_solver_name((enum nn_solver_kind)options->kind));
    }
    if (n > 0) {
        memcpy(solver->parameters, parameters, n * sizeof *parameters);
    }
    *out = solver;
    return NN_OK;
}

nn_real *nn_solver_slots(struct nn_solver *solver, size_t *out_count)
{
    *out_count = solver->slot_count;
    return solver->slots;
}

uint64_t nn_solver_updates(const struct nn_solver *solver)
{
    return solver->updates;
}

void nn_solver_set_updates(struct nn_solver *solver, uint64_t updates)
{
    solver->updates = updates;
}

/* Square root of the sum over all gradients. */
static double gradient_norm(const struct nn_solver *solver)
{
    double sum = 0.0;
    for (size_t i = 0; i < solver->n; i++) {
        const struct nn_solver_parameter *p = &solver->parameters[i];
        sum += nn_sum_squares(&solver->exec, p->grad, p->count);
    }
    return sqrt(sum);
}

struct l2_pass {
    const struct nn_solver_parameter *parameter;
    nn_real l2;
};

static void l2_piece(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct l2_pass *pass = ctx;
    size_t first = chunk * PIECE;
    size_t left = pass->parameter->count - first;
    size_t count = left < PIECE ? left : PIECE;
    nn_real *grad = pass->parameter->grad + first;
    const nn_real *value = pass->parameter->value + first;
    for (size_t i = 0; i < count; i++) {
        grad[i] += pass->l2 * value[i];
    }
}

static void l2_add(const struct nn_solver *solver)
{
    for (size_t i = 0; i < solver->n; i++) {
        const struct nn_solver_parameter *p = &solver->parameters[i];
        struct l2_pass pass = {p, (nn_real)(solver->options.l2 * p->l2_factor)};
        if (pass.l2 > 0) {
            nn_parallel_for(solver->exec.pool, (p->count + PIECE - 1) / PIECE, l2_piece, &pass);
        }
    }
}

/* The factor that brings a norm down to the threshold. */
static double norm_factor(double norm, double threshold)
{
    return norm > threshold ? threshold / norm : 1.0;
}

/* factor and l2 for the kernel of one parameter, after what clipping had to do beforehand. */
static void parameter_clip(const struct nn_solver *solver, const struct nn_solver_parameter *p,
                           double global_factor, struct nn_update *update)
{
    double threshold = solver->options.clipping.threshold;
    switch ((enum nn_clipping_method)solver->options.clipping.method) {
    case NN_CLIPPING_NONE:
        update->l2 = (nn_real)(solver->options.l2 * p->l2_factor);
        break;
    case NN_CLIPPING_L2NORM: {
        double norm = sqrt(nn_sum_squares(&solver->exec, p->grad, p->count));
        update->gradient_factor = (nn_real)norm_factor(norm, threshold);
        break;
    }
    case NN_CLIPPING_GLOBAL_L2NORM:
        update->gradient_factor = (nn_real)global_factor;
        break;
    case NN_CLIPPING_ABSOLUTE_VALUE:
        nn_clamp(&solver->exec, p->grad, p->count, (nn_real)threshold);
        break;
    }
}

/* shrink: of adamw, the share that is taken off the values. */
static void adam_update(const struct nn_solver *solver, const struct nn_update *update,
                        nn_real *slot, double shrink)
{
    const struct nn_solver_options *o = &solver->options;
    double t = (double)solver->updates;
    struct nn_adam adam = {
        .decay = o->gradient_decay_factor,
        .square_decay = o->squared_gradient_decay_factor,
        .epsilon = o->epsilon,
        .correction = 1.0 - pow(o->gradient_decay_factor, t),
        .square_correction = sqrt(1.0 - pow(o->squared_gradient_decay_factor, t)),
        .shrink = shrink,
    };
    nn_update_adam(&solver->exec, update, slot, slot + solver->half, &adam);
}

static void parameter_update(const struct nn_solver *solver, const struct nn_solver_parameter *p,
                             const struct nn_update *update, size_t slot)
{
    const struct nn_solver_options *o = &solver->options;
    nn_real *first = solver->slots + slot;
    switch ((enum nn_solver_kind)o->kind) {
    case NN_SOLVER_SGDM:
        if (o->nesterov) {
            nn_update_nesterov(&solver->exec, update, first, o->momentum);
        } else {
            nn_update_sgdm(&solver->exec, update, first, o->momentum);
        }
        break;
    case NN_SOLVER_RMSPROP:
        nn_update_rmsprop(&solver->exec, update, first, o->squared_gradient_decay_factor,
                          o->epsilon);
        break;
    case NN_SOLVER_ADAM:
        adam_update(solver, update, first, 0);
        break;
    case NN_SOLVER_ADAMW:
        adam_update(solver, update, first, (double)update->rate * o->weight_decay * p->l2_factor);
        break;
    case NN_SOLVER_COUNT:
        break;
    }
}

/* Gradients become what the threshold bounds; returns the factor of global clipping. */
static double clipping_prepare(const struct nn_solver *solver)
{
    if (solver->options.clipping.method == NN_CLIPPING_NONE) {
        return 1.0;
    }
    l2_add(solver);
    if (solver->options.clipping.method != NN_CLIPPING_GLOBAL_L2NORM) {
        return 1.0;
    }
    return norm_factor(gradient_norm(solver), solver->options.clipping.threshold);
}

double nn_solver_step(struct nn_solver *solver, double learning_rate)
{
    double norm = gradient_norm(solver);
    if (!isfinite(norm)) {
        return norm;
    }
    double global_factor = clipping_prepare(solver);
    solver->updates++;
    size_t slot = 0;
    for (size_t i = 0; i < solver->n; i++) {
        const struct nn_solver_parameter *p = &solver->parameters[i];
        struct nn_update update = {
            .n = p->count,
            .value = p->value,
            .gradient = p->grad,
            .gradient_factor = 1,
            .rate = (nn_real)(learning_rate * p->learning_rate_factor),
        };
        parameter_clip(solver, p, global_factor, &update);
        parameter_update(solver, p, &update, slot);
        slot += padded(p->count);
    }
    return norm;
}
