/* SPDX-License-Identifier: MIT
 *
 * First values of the parameters. They are drawn in PyTorch's order, so that they do not depend on
 * how a weight is kept.
 */
#include <math.h>

#include "core/base/random.h"
#include "core/network/network_internal.h"

static void fill(const struct nn_parameter *parameter, nn_real value)
{
    for (size_t i = 0; i < parameter->count; i++) {
        parameter->value[i] = value;
    }
}

static double draw_uniform(struct nn_random *random)
{
    return 2 * nn_random_uniform(random) - 1;
}

static double draw_truncated(struct nn_random *random)
{
    double value = nn_random_normal(random);
    while (fabs(value) > 2) {
        value = nn_random_normal(random);
    }
    return value;
}

/* What is drawn, and what it is multiplied by: Glorot and Bengio (2010); He, Zhang, Ren and Sun
 * (2015). */
struct rule {
    double (*draw)(struct nn_random *random);
    double scale;
};

static struct rule rule_of(const struct nn_parameter_plan *plan)
{
    switch ((enum nn_initialisation)plan->initial.kind) {
    case NN_INITIALISATION_GLOROT:
        break;
    case NN_INITIALISATION_HE:
        return (struct rule){nn_random_normal, sqrt(2 / plan->fan_in)};
    case NN_INITIALISATION_HE_FAN_OUT:
        return (struct rule){nn_random_normal, sqrt(2 / plan->fan_out)};
    case NN_INITIALISATION_HE_UNIFORM:
        return (struct rule){draw_uniform, sqrt(6 / plan->fan_in)};
    case NN_INITIALISATION_NORMAL:
        return (struct rule){nn_random_normal, plan->initial.std};
    case NN_INITIALISATION_TRUNCATED_NORMAL:
        return (struct rule){draw_truncated, plan->initial.std};
    case NN_INITIALISATION_ZEROS:
        return (struct rule){draw_uniform, 0};
    }
    return (struct rule){draw_uniform, sqrt(6.0 / (plan->fan_in + plan->fan_out))};
}

static void fill_weight(const struct nn_parameter *parameter, const struct nn_parameter_plan *plan,
                        uint64_t seed, size_t index)
{
    struct nn_random random;
    struct nn_walk walk = nn_walk_begin(parameter);
    struct rule rule = rule_of(plan);
    nn_random_init(&random, seed, NN_RANDOM_INITIALIZE, 0, index);
    for (size_t i = 0; i < parameter->count; i++) {
        parameter->value[walk.offset] = (nn_real)(rule.draw(&random) * rule.scale);
        nn_walk_next(&walk, parameter);
    }
}

static void initialize(const struct nn_parameter *parameter, const struct nn_parameter_plan *plan,
                       uint64_t seed, size_t index)
{
    switch (parameter->role) {
    case NN_ROLE_WEIGHT:
        fill_weight(parameter, plan, seed, index);
        break;
    case NN_ROLE_RECURRENT_WEIGHT:
        nn_fill_orthogonal(parameter, seed, index);
        break;
    case NN_ROLE_BIAS:
        fill(parameter, 0);
        for (size_t i = plan->ones_begin; i < plan->ones_end; i++) {
            parameter->value[i] = 1;
        }
        break;
    case NN_ROLE_SHIFT:
    case NN_ROLE_RUNNING_MEAN:
        fill(parameter, 0);
        break;
    case NN_ROLE_SCALE:
    case NN_ROLE_RUNNING_VAR:
        fill(parameter, 1);
        break;
    case NN_ROLE_INPUT_MEAN:
    case NN_ROLE_INPUT_STD:
        break; /* of the data, not of the seed */
    }
}

void nn_network_initialize(struct nn_network *network, uint64_t seed)
{
    for (size_t n = 0; n < network->graph->n_nodes; n++) {
        const struct nn_placed *placed = &network->placed[n];
        for (size_t k = 0; k < placed->plan.n_parameters; k++) {
            size_t index = (size_t)(placed->parameters - network->parameters) + k;
            initialize(&placed->parameters[k], &placed->plan.parameters[k], seed, index);
        }
    }
}
