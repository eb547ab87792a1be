/* SPDX-License-Identifier: MIT
 *
 * Solvers, clipping and schedules over 100 steps against PyTorch (tests/golden/solvers.json, whose
 * script says which rule each case is compared with).
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdlib.h>

#include "core/kernels/exec.h"
#include "core/solvers/fields.h"

enum { PARAMETERS = 3, TOTAL = 12, STEPS = 100, STEPS_PER_EPOCH = 10, LEAST_CASES = 54 };
static const size_t COUNTS[PARAMETERS] = {5, 3, 4};
static const double L2_FACTOR[PARAMETERS] = {1, 0, 1};
static const double RATE_FACTOR[PARAMETERS] = {1, 2, 0.5};
static const size_t RATE_STEPS[] = {0, 24, 25, 60, 99};

/* In float the roundings of 100 steps add up. */
#ifdef NN_REAL_DOUBLE
#define BOUND 1e-9
#else
#define BOUND 1e-4
#endif

struct subject {
    nn_real value[TOTAL], gradient[TOTAL];
    struct nn_solver *solver;
    double rates[STEPS], norm;
};

static struct nn_solver_options options_of(const json_t *training)
{
    static const struct jx_field FIELDS[] = {NN_SOLVER_FIELDS(0), JX_END};
    struct nn_solver_options options;
    assert_int_equal(jx_decode(FIELDS, training, "", &options, NULL), NN_OK);
    nn_solver_options_resolve(&options);
    assert_int_equal(nn_solver_options_check(&options, NULL), NN_OK);
    return options;
}

static void solver_make(struct subject *s, const struct nn_solver_options *options)
{
    struct nn_solver_parameter parameters[PARAMETERS];
    const struct nn_exec exec = {.kernels = nn_kernels_best()};
    size_t first = 0;
    for (size_t p = 0; p < PARAMETERS; p++) {
        parameters[p] = (struct nn_solver_parameter){s->value + first, s->gradient + first,
                                                     COUNTS[p], L2_FACTOR[p], RATE_FACTOR[p]};
        first += COUNTS[p];
    }
    assert_int_equal(
        nn_solver_create(options, parameters, PARAMETERS, NULL, &exec, &s->solver, NULL), NN_OK);
}

/* The numbers of make_solvers.py: exact in every format. */
static void run(struct subject *s, const struct nn_solver_options *options)
{
    for (int i = 0; i < TOTAL; i++) {
        s->value[i] = (nn_real)((i * 7) % 11 - 5) / 8;
    }
    solver_make(s, options);
    for (int t = 0; t < STEPS; t++) {
        for (int i = 0; i < TOTAL; i++) {
            nn_real curvature = (nn_real)((i * 5) % 7 + 1) / 16;
            s->gradient[i] = curvature * s->value[i] + (nn_real)((t * 7 + i * 13) % 11 - 5) / 8;
        }
        s->rates[t] = nn_solver_learning_rate(options, (uint64_t)t, STEPS_PER_EPOCH);
        s->norm = nn_solver_step(s->solver, s->rates[t]);
    }
    nn_solver_destroy(s->solver);
}

static double item(const json_t *array, size_t i)
{
    return json_number_value(json_array_get(array, i));
}

/* Largest difference relative to the largest value. */
static double difference(const struct subject *s, const json_t *values)
{
    double diff = 0;
    double largest = 0;
    assert_int_equal(json_array_size(values), TOTAL);
    for (size_t i = 0; i < TOTAL; i++) {
        diff = fmax(diff, fabs((double)s->value[i] - item(values, i)));
        largest = fmax(largest, fabs(item(values, i)));
    }
    return diff / largest;
}

static void a_hundred_steps_lead_where_pytorch_goes(void **state)
{
    (void)state;
    json_t *cases = json_load_file("tests/golden/solvers.json", 0, NULL);
    assert_true(json_array_size(cases) >= LEAST_CASES);
    size_t k;
    json_t *c;
    json_array_foreach(cases, k, c)
    {
        struct subject s;
        struct nn_solver_options options = options_of(json_object_get(c, "training"));
        run(&s, &options);
        for (size_t i = 0; i < sizeof RATE_STEPS / sizeof *RATE_STEPS; i++) {
            double rate = item(json_object_get(c, "rates"), i);
            assert_true(fabs(s.rates[RATE_STEPS[i]] - rate) <= 1e-12 * rate);
        }
        double norm = json_number_value(json_object_get(c, "norm"));
        double found = difference(&s, json_object_get(c, "values"));
        if (!(found <= BOUND) || !(fabs(s.norm - norm) <= BOUND * norm)) {
            fail_msg("case %zu (%s): difference %.3g, norm %.17g not %.17g", k,
                     json_string_value(json_object_get(c, "rule")), found, s.norm, norm);
        }
        options.learning_rate *= 1.01; /* the check can fail */
        run(&s, &options);
        assert_true(difference(&s, json_object_get(c, "values")) > BOUND);
    }
    json_decref(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_steps_lead_where_pytorch_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
