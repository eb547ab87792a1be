/* SPDX-License-Identifier: MIT
 *
 * Cases of update.h: several steps of each solver, with PyTorch's formulas as the reference.
 */
#include "tests/numeric/cases/cases.h"

#include <math.h>

static const size_t COUNTS[] = {1, 5, 16, 31, 1000, 16389};

#define STEPS 3
#define RATE  0.01
#define L2    0.003
#define CLIP  0.7 /* gradient_factor */

struct state {
    struct field value, slot, slot2, gradient;
    double *expected, *expected_slot, *expected_slot2;
    size_t n;
};

static struct state state_of(struct numeric *t, size_t n)
{
    struct state s = {.n = n, .value = numeric_field(t, 1, n, 0)};
    s.slot = numeric_field(t, 1, n, 0);
    s.slot2 = numeric_field(t, 1, n, 0);
    s.gradient = numeric_field(t, 1, n, 0);
    for (size_t i = 0; i < n; i++) {
        s.slot.data[i] = s.slot2.data[i] = 0;
    }
    numeric_sealed(t, s.slot);
    numeric_sealed(t, s.slot2);
    s.expected = numeric_doubles(t, s.value);
    s.expected_slot = numeric_doubles(t, s.slot);
    s.expected_slot2 = numeric_doubles(t, s.slot2);
    return s;
}

static struct nn_update update_of(const struct state *s)
{
    return (struct nn_update){s->n,          s->value.data, s->gradient.data,
                              (nn_real)CLIP, (nn_real)L2,   (nn_real)RATE};
}

static double gradient_at(const struct state *s, size_t i)
{
    return CLIP * (double)s->gradient.data[i] + L2 * s->expected[i];
}

/* v = momentum * v + g; value -= rate * v, or with nesterov value -= rate * (g + momentum * v) */
static void momentum(struct numeric *t, bool nesterov)
{
    const char *name = nesterov ? "nesterov" : "sgdm";
    for (size_t k = 0; k < sizeof COUNTS / sizeof *COUNTS; k++) {
        struct state s = state_of(t, COUNTS[k]);
        struct nn_update update = update_of(&s);
        for (int step = 0; step < STEPS; step++) {
            for (size_t i = 0; i < s.n; i++) {
                double g = gradient_at(&s, i);
                double *v = &s.expected_slot[i];
                *v = 0.9 * *v + g;
                s.expected[i] -= RATE * (nesterov ? g + 0.9 * *v : *v);
            }
            (nesterov ? nn_update_nesterov : nn_update_sgdm)(&t->exec, &update, s.slot.data, 0.9);
        }
        for (size_t i = 0; i < s.n; i++) {
            s.expected_slot[i] *= -RATE;
        }
        numeric_compare(t, s.value, s.expected, 0, "%s n=%zu", name, s.n);
        numeric_compare(t, s.slot, s.expected_slot, 0, "%s delta n=%zu", name, s.n);
    }
}

static void sgdm(struct numeric *t)
{
    momentum(t, false);
}

static void nesterov(struct numeric *t)
{
    momentum(t, true);
}

static void rmsprop(struct numeric *t)
{
    for (size_t k = 0; k < sizeof COUNTS / sizeof *COUNTS; k++) {
        struct state s = state_of(t, COUNTS[k]);
        struct nn_update update = update_of(&s);
        for (int step = 0; step < STEPS; step++) {
            for (size_t i = 0; i < s.n; i++) {
                double g = gradient_at(&s, i);
                s.expected_slot[i] = 0.9 * s.expected_slot[i] + 0.1 * g * g;
                s.expected[i] -= RATE * g / (sqrt(s.expected_slot[i]) + 1e-8);
            }
            nn_update_rmsprop(&t->exec, &update, s.slot.data, 0.9, 1e-8);
        }
        numeric_compare(t, s.value, s.expected, 0, "rmsprop n=%zu", s.n);
        numeric_compare(t, s.slot, s.expected_slot, 0, "rmsprop square n=%zu", s.n);
    }
}

static void adam_decayed(struct numeric *t, double shrink)
{
    for (size_t k = 0; k < sizeof COUNTS / sizeof *COUNTS; k++) {
        struct state s = state_of(t, COUNTS[k]);
        struct nn_update update = update_of(&s);
        for (int step = 1; step <= STEPS; step++) {
            struct nn_adam adam = {
                0.9, 0.999, 1e-8, 1 - pow(0.9, step), sqrt(1 - pow(0.999, step)), shrink};
            for (size_t i = 0; i < s.n; i++) {
                double g = gradient_at(&s, i);
                s.expected_slot[i] = 0.9 * s.expected_slot[i] + 0.1 * g;
                s.expected_slot2[i] = 0.999 * s.expected_slot2[i] + 0.001 * g * g;
                double mean = s.expected_slot[i] / (1 - pow(0.9, step));
                double square = s.expected_slot2[i] / (1 - pow(0.999, step));
                s.expected[i] = (1 - shrink) * s.expected[i] - RATE * mean / (sqrt(square) + 1e-8);
            }
            nn_update_adam(&t->exec, &update, s.slot.data, s.slot2.data, &adam);
        }
        numeric_compare(t, s.value, s.expected, 0, "adam shrink=%g n=%zu", shrink, s.n);
        numeric_compare(t, s.slot, s.expected_slot, 0, "adam mean n=%zu", s.n);
        numeric_compare(t, s.slot2, s.expected_slot2, 0, "adam square n=%zu", s.n);
    }
}

static void adam(struct numeric *t)
{
    adam_decayed(t, 0);
    adam_decayed(t, 0.125);
}

const struct numeric_case update_cases[] = {
    {"sgdm", "sgdm", sgdm},
    {"nesterov", "nesterov", nesterov},
    {"rmsprop", "rmsprop", rmsprop},
    {"adam", "adam", adam},
    {NULL, NULL, NULL},
};
