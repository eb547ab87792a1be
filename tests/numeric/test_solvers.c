/* SPDX-License-Identifier: MIT
 *
 * Solvers against the written rules, in double, over several steps: every solver, clipping method,
 * L2 and factor. The reference below is independent of core/solvers and core/kernels. Tolerances:
 * float 1e-5, double 1e-12 (norm-relative). A broken rule must be noticed (last test).
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/kernels/exec.h"
#include "core/solvers/solvers.h"

enum { PARAMETERS = 3, LARGEST = 16411, STEPS = 5 };
static const size_t COUNTS[PARAMETERS] = {1, 7, LARGEST}; /* 1, a prime, over a piece of work */

struct solver_case {
    const char *name;
    enum nn_solver_kind kind;
    enum nn_clipping_method clipping;
    double threshold, l2, rate;
};

static const struct solver_case CASES[] = {
    {"sgdm", NN_SOLVER_SGDM, NN_CLIPPING_NONE, 1, 1e-4, 0.1},
    {"sgdm l2 0", NN_SOLVER_SGDM, NN_CLIPPING_NONE, 1, 0, 0.5},
    {"sgdm l2norm", NN_SOLVER_SGDM, NN_CLIPPING_L2NORM, 0.7, 0.1, 1},
    {"sgdm global", NN_SOLVER_SGDM, NN_CLIPPING_GLOBAL_L2NORM, 0.7, 0.1, 1},
    {"sgdm global, under the threshold", NN_SOLVER_SGDM, NN_CLIPPING_GLOBAL_L2NORM, 1e9, 0.1, 0.1},
    {"sgdm absolute", NN_SOLVER_SGDM, NN_CLIPPING_ABSOLUTE_VALUE, 0.2, 0.1, 0.1},
    {"rmsprop", NN_SOLVER_RMSPROP, NN_CLIPPING_NONE, 1, 1e-4, 0.1},
    {"rmsprop l2norm", NN_SOLVER_RMSPROP, NN_CLIPPING_L2NORM, 0.7, 0.1, 1},
    {"adam", NN_SOLVER_ADAM, NN_CLIPPING_NONE, 1, 1e-4, 0.1},
    {"adam global", NN_SOLVER_ADAM, NN_CLIPPING_GLOBAL_L2NORM, 0.7, 0.1, 1},
    {"adam absolute", NN_SOLVER_ADAM, NN_CLIPPING_ABSOLUTE_VALUE, 0.2, 0.1, 0.1},
};

struct arrays {
    double w[PARAMETERS][LARGEST], g[PARAMETERS][LARGEST];
    double a[PARAMETERS][LARGEST], b[PARAMETERS][LARGEST]; /* moments */
};

static const double L2_FACTOR[PARAMETERS] = {1, 0, 1};
static const double RATE_FACTOR[PARAMETERS] = {1, 2, 0.5};

/* A deterministic number in (-1, 1). */
static double number(size_t i, size_t j)
{
    return sin(12.9898 * (double)(i + 1) + 78.233 * (double)(j % 1009) + 0.37 * (double)(j / 1009));
}

static double reference_norm(const double *g, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += g[i] * g[i];
    }
    return sqrt(sum);
}

static void reference_clip(const struct solver_case *c, struct arrays *x)
{
    double global = 0;
    for (size_t p = 0; p < PARAMETERS; p++) {
        for (size_t i = 0; i < COUNTS[p]; i++) {
            x->g[p][i] += c->l2 * L2_FACTOR[p] * x->w[p][i];
        }
        double norm = reference_norm(x->g[p], COUNTS[p]);
        global += norm * norm;
    }
    global = sqrt(global);
    for (size_t p = 0; p < PARAMETERS; p++) {
        double norm = reference_norm(x->g[p], COUNTS[p]);
        for (size_t i = 0; i < COUNTS[p]; i++) {
            double *g = &x->g[p][i];
            if (c->clipping == NN_CLIPPING_L2NORM && norm > c->threshold) {
                *g *= c->threshold / norm;
            } else if (c->clipping == NN_CLIPPING_GLOBAL_L2NORM && global > c->threshold) {
                *g *= c->threshold / global;
            } else if (c->clipping == NN_CLIPPING_ABSOLUTE_VALUE) {
                *g = fmax(-c->threshold, fmin(c->threshold, *g));
            }
        }
    }
}

/* t counts from 1. */
static void reference_step(const struct solver_case *c, struct arrays *x, int t, double rate)
{
    reference_clip(c, x);
    for (size_t p = 0; p < PARAMETERS; p++) {
        double r = rate * RATE_FACTOR[p];
        for (size_t i = 0; i < COUNTS[p]; i++) {
            double g = x->g[p][i];
            double *a = &x->a[p][i];
            double *b = &x->b[p][i];
            if (c->kind == NN_SOLVER_SGDM) {
                *a = 0.9 * *a - r * g;
                x->w[p][i] += *a;
            } else if (c->kind == NN_SOLVER_RMSPROP) {
                *b = 0.9 * *b + (1 - 0.9) * g * g;
                x->w[p][i] -= r * g / (sqrt(*b) + 1e-8);
            } else {
                *a = 0.9 * *a + (1 - 0.9) * g;
                *b = 0.999 * *b + (1 - 0.999) * g * g;
                double mean = *a / (1 - pow(0.9, t));
                double square = *b / (1 - pow(0.999, t));
                x->w[p][i] -= r * mean / (sqrt(square) + 1e-8);
            }
        }
    }
}

/* Values and gradients as the solver sees them, with sentinels behind each. */
struct subject {
    nn_real w[PARAMETERS][LARGEST + 1], g[PARAMETERS][LARGEST + 1];
};

static const nn_real SENTINEL = 12345;

static void fill_gradients(struct arrays *x, struct subject *s, int t)
{
    for (size_t p = 0; p < PARAMETERS; p++) {
        for (size_t i = 0; i < COUNTS[p]; i++) {
            s->g[p][i] = (nn_real)number(p + 10 * (size_t)t, i);
            x->g[p][i] = (double)s->g[p][i];
        }
        s->g[p][COUNTS[p]] = SENTINEL;
    }
}

static void fill_values(struct arrays *x, struct subject *s)
{
    memset(x, 0, sizeof *x);
    for (size_t p = 0; p < PARAMETERS; p++) {
        for (size_t i = 0; i < COUNTS[p]; i++) {
            s->w[p][i] = (nn_real)number(p, i);
            x->w[p][i] = (double)s->w[p][i];
        }
        s->w[p][COUNTS[p]] = SENTINEL;
    }
}

/* Difference of the values relative to how far the reference has moved them; infinite when a
 * sentinel is gone. */
static double difference(const struct arrays *x, const struct subject *s)
{
    double diff = 0;
    double norm = 0;
    for (size_t p = 0; p < PARAMETERS; p++) {
        if (s->w[p][COUNTS[p]] != SENTINEL || s->g[p][COUNTS[p]] != SENTINEL) {
            return INFINITY;
        }
        for (size_t i = 0; i < COUNTS[p]; i++) {
            double d = (double)s->w[p][i] - x->w[p][i];
            diff += d * d;
            double moved = x->w[p][i] - (double)(nn_real)number(p, i);
            norm += moved * moved;
        }
    }
    return sqrt(diff / norm);
}

static struct nn_solver *subject_solver(const struct nn_solver_options *options, struct subject *s,
                                        struct nn_pool *pool)
{
    struct nn_solver_parameter parameters[PARAMETERS];
    for (size_t p = 0; p < PARAMETERS; p++) {
        parameters[p] =
            (struct nn_solver_parameter){s->w[p], s->g[p], COUNTS[p], L2_FACTOR[p], RATE_FACTOR[p]};
    }
    struct nn_exec exec = {.kernels = nn_kernels_best(), .pool = pool};
    struct nn_solver *solver = NULL;
    assert_int_equal(nn_solver_create(options, parameters, PARAMETERS, NULL, &exec, &solver, NULL),
                     NN_OK);
    return solver;
}

static struct nn_solver_options case_options(const struct solver_case *c)
{
    struct nn_solver_options options = nn_solver_options_default(c->kind);
    options.clipping.method = (int)c->clipping;
    options.clipping.threshold = c->threshold;
    options.l2 = c->l2;
    return options;
}

static struct arrays reference;
static struct subject subject;

/* rate_of_reference differs from the case's only in the planted error. */
static double run_case(const struct solver_case *c, double rate_of_reference)
{
    struct nn_solver_options options = case_options(c);
    fill_values(&reference, &subject);
    struct nn_solver *solver = subject_solver(&options, &subject, NULL);
    for (int t = 1; t <= STEPS; t++) {
        fill_gradients(&reference, &subject, t);
        double norm = nn_solver_step(solver, c->rate);
        double expected = 0;
        for (size_t p = 0; p < PARAMETERS; p++) {
            expected = hypot(expected, reference_norm(reference.g[p], COUNTS[p]));
        }
        assert_true(fabs(norm - expected) <= 1e-6 * expected);
        reference_step(c, &reference, t, rate_of_reference);
    }
    assert_int_equal(nn_solver_updates(solver), STEPS);
    nn_solver_destroy(solver);
    return difference(&reference, &subject);
}

static void rules_are_followed(void **state)
{
    (void)state;
    const double tolerance = sizeof(nn_real) == 8 ? 1e-12 : 1e-5;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        double d = run_case(&CASES[i], CASES[i].rate);
        if (!(d <= tolerance)) {
            fail_msg("case \"%s\": difference %.3g, allowed %.3g", CASES[i].name, d, tolerance);
        }
    }
}

/* The check itself: a rate wrong by 1 % must be seen in every case. */
static void planted_error_is_seen(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_true(run_case(&CASES[i], CASES[i].rate * 1.01) > 1e-3);
    }
}

static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    static struct subject one;
    struct nn_pool *pool = NULL;
    assert_int_equal(nn_pool_create(NULL, 3, &pool, NULL), NN_OK);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct nn_solver_options options = case_options(&CASES[i]);
        for (int threaded = 0; threaded < 2; threaded++) {
            fill_values(&reference, &subject);
            struct nn_solver *solver = subject_solver(&options, &subject, threaded ? pool : NULL);
            for (int t = 1; t <= STEPS; t++) {
                fill_gradients(&reference, &subject, t);
                (void)nn_solver_step(solver, CASES[i].rate);
            }
            nn_solver_destroy(solver);
            if (threaded) {
                assert_memory_equal(one.w, subject.w, sizeof one.w);
            }
            one = subject;
        }
    }
    nn_pool_destroy(pool);
}

/* A gradient that is not finite changes nothing and is reported. */
static void divergence_leaves_values_alone(void **state)
{
    (void)state;
    static struct subject before;
    const nn_real bad[] = {(nn_real)NAN, (nn_real)INFINITY};
    for (size_t i = 0; i < 2; i++) {
        struct nn_solver_options options = nn_solver_options_default(NN_SOLVER_ADAM);
        fill_values(&reference, &subject);
        struct nn_solver *solver = subject_solver(&options, &subject, NULL);
        fill_gradients(&reference, &subject, 1);
        subject.g[2][LARGEST - 1] = bad[i];
        before = subject;
        double norm = nn_solver_step(solver, 0.1);
        assert_true(!isfinite(norm));
        assert_memory_equal(before.w, subject.w, sizeof before.w);
        assert_int_equal(nn_solver_updates(solver), 0);
        nn_solver_destroy(solver);
    }
}

/* Slots and update count are the whole state: copied into a new solver they go on equally. */
static void slots_carry_the_state(void **state)
{
    (void)state;
    static struct subject whole;
    for (int kind = 0; kind < NN_SOLVER_COUNT; kind++) {
        struct nn_solver_options options = nn_solver_options_default((enum nn_solver_kind)kind);
        for (int resumed = 0; resumed < 2; resumed++) {
            fill_values(&reference, &subject);
            struct nn_solver *solver = subject_solver(&options, &subject, NULL);
            for (int t = 1; t <= STEPS; t++) {
                fill_gradients(&reference, &subject, t);
                (void)nn_solver_step(solver, options.learning_rate);
                if (resumed && t == 2) {
                    struct nn_solver *next = subject_solver(&options, &subject, NULL);
                    size_t n;
                    nn_real *from = nn_solver_slots(solver, &n);
                    memcpy(nn_solver_slots(next, &n), from, n * sizeof *from);
                    nn_solver_set_updates(next, nn_solver_updates(solver));
                    nn_solver_destroy(solver);
                    solver = next;
                }
            }
            nn_solver_destroy(solver);
            if (resumed) {
                assert_memory_equal(whole.w, subject.w, sizeof whole.w);
            }
            whole = subject;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_followed),
        cmocka_unit_test(planted_error_is_seen),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(divergence_leaves_values_alone),
        cmocka_unit_test(slots_carry_the_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
