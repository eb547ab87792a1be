/* SPDX-License-Identifier: MIT
 *
 * Simulated turbofan engines. Every engine is a function of (seed, part, number).
 */
#include "core/data/simulate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"

enum { SETTINGS = 3, SENSORS = 21, COLUMNS = SETTINGS + SENSORS, SENSOR_6 = SETTINGS + 5 };
enum { LIFE_MIN = 120, LIFE_MAX = 380, LEFT_MIN = 7, LEFT_MAX = 145, SEEN_MIN = 31 };

struct column {
    double base;
    double delta; /* between a new engine and its failure */
    double noise;
    double offset; /* spread between engines */
    int digits;    /* behind the point */
    bool wild;     /* responds very differently from engine to engine */
};

static const struct column COLUMN[COLUMNS] = {
    {0, 0, 0.0022, 0, 4, false}, /* setting 1 */
    {0, 0, 0.0003, 0, 4, false},
    {100, 0, 0, 0, 1, false},
    {518.67, 0, 0, 0, 2, false}, /* sensor 1 */
    {642.35, 1.5, 0.3, 0.05, 2, false},
    {1586.5, 18, 4, 0.8, 2, false},
    {1402, 30, 4, 0.8, 2, false},
    {14.62, 0, 0, 0, 2, false}, /* sensor 5 */
    {21.61, 0, 0, 0, 2, false},
    {554, -2.8, 0.41, 0.08, 2, false},
    {2388.05, 0.2, 0.03, 0.006, 2, false},
    {9055, 45, 4.2, 4, 2, true},
    {1.3, 0, 0, 0, 2, false}, /* sensor 10 */
    {47.32, 0.92, 0.1, 0.02, 2, false},
    {522, -2.4, 0.3, 0.06, 2, false},
    {2388.05, 0.2, 0.03, 0.006, 2, false},
    {8137, 32, 3.1, 3, 2, true},
    {8.415, 0.117, 0.02, 0.004, 4, false}, /* sensor 15 */
    {0.03, 0, 0, 0, 2, false},
    {392.1, 4.6, 0.93, 0.1, 0, false},
    {2388, 0, 0, 0, 0, false},
    {100, 0, 0, 0, 2, false},
    {38.95, -0.56, 0.1, 0.02, 2, false}, /* sensor 20 */
    {23.37, -0.336, 0.06, 0.012, 4, false},
};

struct engine {
    struct nn_random random;
    size_t life;
    double wear, shape;
    double offset[COLUMNS];
    double response[COLUMNS];
};

static double between(struct nn_random *random, double low, double high)
{
    return low + (high - low) * nn_random_uniform(random);
}

static void make_engine(struct engine *e, uint64_t seed, bool test, size_t number)
{
    nn_random_init(&e->random, seed, NN_RANDOM_SIMULATE, test, number);
    double life = 200 * exp(0.22 * nn_random_normal(&e->random));
    e->life = (size_t)fmin(fmax(life, LIFE_MIN), LIFE_MAX);
    e->wear = between(&e->random, 0, 0.08);
    e->shape = between(&e->random, 3, 6);
    for (size_t k = 0; k < COLUMNS; k++) {
        e->offset[k] = COLUMN[k].offset * nn_random_normal(&e->random);
        e->response[k] =
            COLUMN[k].wild ? between(&e->random, -0.5, 2.5) : between(&e->random, 0.8, 1.2);
    }
}

static double degradation(const struct engine *e, size_t cycle)
{
    double x = (double)cycle / (double)e->life;
    return e->wear + (1 - e->wear) * (exp(e->shape * x) - 1) / (exp(e->shape) - 1);
}

/* A number without help of the locale. */
static void put_number(FILE *file, double value, int digits)
{
    static const long long scales[] = {1, 10, 100, 1000, 10000};
    long long scaled = llround(value * (double)scales[digits]);
    long long magnitude = scaled < 0 ? -scaled : scaled;
    fprintf(file, scaled < 0 ? "-%lld" : "%lld", magnitude / scales[digits]);
    if (digits > 0) {
        fprintf(file, ".%0*lld", digits, magnitude % scales[digits]);
    }
}

static void put_row(FILE *file, struct engine *e, size_t number, size_t cycle)
{
    double d = degradation(e, cycle);
    fprintf(file, "%zu %zu ", number, cycle);
    for (size_t k = 0; k < COLUMNS; k++) {
        const struct column *c = &COLUMN[k];
        double noise = nn_random_normal(&e->random);
        double value = c->base + e->offset[k] + c->delta * e->response[k] * d + c->noise * noise;
        if (k == SENSOR_6 && nn_random_uniform(&e->random) < 0.04 * (1 - d)) {
            value -= 0.01;
        }
        put_number(file, value, c->digits);
        fputc(' ', file);
    }
    fputs(" \n", file);
}

/* Cycles left behind the last row of a test engine. */
static size_t cut(struct engine *e)
{
    size_t most = e->life - SEEN_MIN < LEFT_MAX ? e->life - SEEN_MIN : LEFT_MAX;
    return LEFT_MIN + (size_t)nn_random_below(&e->random, most - LEFT_MIN + 1);
}

static void put_engine(FILE *rows, FILE *ends, uint64_t seed, size_t number)
{
    struct engine e;
    make_engine(&e, seed, ends != NULL, number);
    size_t left = ends ? cut(&e) : 0;
    for (size_t cycle = 1; cycle <= e.life - left; cycle++) {
        put_row(rows, &e, number, cycle);
    }
    if (ends) {
        fprintf(ends, "%zu \n", left);
    }
}

static FILE *create(const char *directory, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", directory, name) < 0) {
        return NULL;
    }
    FILE *file = fopen(path, "we");
    free(path);
    return file;
}

static bool finish(FILE *file)
{
    bool ok = file && !ferror(file);
    return file && fclose(file) == 0 && ok;
}

enum nn_status nn_simulate_turbofan(const char *directory,
                                    const struct nn_turbofan_options *options, struct nn_error *err)
{
    if (options->engines < 1 || options->engines > NN_TURBOFAN_ENGINES_MAX) {
        return nn_fail(err, NN_ERR_INVALID, "engines: 1 to %d", NN_TURBOFAN_ENGINES_MAX);
    }
    FILE *train = create(directory, "train_FD.txt");
    FILE *test = create(directory, "test_FD.txt");
    FILE *ends = create(directory, "RUL_FD.txt");
    bool ok = train && test && ends;
    for (size_t i = 1; ok && i <= options->engines; i++) {
        put_engine(train, NULL, options->seed, i);
        put_engine(test, ends, options->seed, i);
    }
    ok = finish(train) && ok;
    ok = finish(test) && ok;
    ok = finish(ends) && ok;
    return ok ? NN_OK
              : nn_fail(err, NN_ERR_IO, "cannot write the simulated files: %s", strerror(errno));
}
