/* SPDX-License-Identifier: MIT
 *
 * Simulated vibration of a gearbox. Every recording is a function of (seed, class, number).
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/random.h"
#include "core/data/simulate.h"

#define TWO_PI 6.28318530717958647692

enum { RATE = 12800, TEETH = 23, HARMONICS = 3, SPEEDS = 3, LOADS = 3 };
enum { RESONANCE_MAX = 1024 }; /* samples until an impulse has died away */

static const double SPEED_HZ[SPEEDS] = {20, 30, 40};
static const double LOAD[LOADS] = {1, 6, 18};
static const double RESONANCE_HZ = 3200;
static const double DECAY = 900; /* 1/s */

/* Orders of the shaft: impulses a turn. Those of a bearing with 9 balls, diameters 7.94 and 39.04
 * mm and no contact angle: BPFI, BPFO, twice BSF. */
enum bearing { BEARING_NONE, BEARING_INNER, BEARING_OUTER, BEARING_BALL };
static const double BEARING_ORDER[] = {0, 5.415, 3.585, 4.714};
static const double CAGE_ORDER = 0.398;

struct gear_fault {
    double amplitude; /* modulation of the mesh by the shaft */
    double phase;     /* the same of its phase, rad */
    double dip;       /* the mesh weakens by this where the tooth is in contact */
    double width;     /* of that, in teeth */
    double impulse;   /* an impulse a turn, of this size */
    double spread;    /* wear all round: noise of the mesh, a tooth at a time */
};

struct class_of_gearbox {
    const char *name;
    enum bearing bearing;
    struct gear_fault gear;
};

/* Sizes are relative to the mesh's first harmonic. */
static const struct class_of_gearbox CLASSES[NN_GEARBOX_CLASSES] = {
    {"healthy", BEARING_NONE, {.amplitude = 0}},
    {"inner_race", BEARING_INNER, {.amplitude = 0}},
    {"outer_race", BEARING_OUTER, {.amplitude = 0}},
    {"ball", BEARING_BALL, {.amplitude = 0}},
    {"root_crack", BEARING_NONE, {.amplitude = 0.15, .phase = 0.5, .dip = 0.25, .width = 3}},
    {"pitting", BEARING_NONE, {.amplitude = 0.1, .phase = 0.1, .spread = 0.5}},
    {"broken_tooth", BEARING_NONE, {.amplitude = 0.25, .dip = 0.5, .width = 1.5, .impulse = 1.6}},
    {"missing_tooth",
     BEARING_NONE,
     {.amplitude = 0.35, .phase = 0.2, .dip = 0.95, .width = 1.5, .impulse = 3.2}},
};

struct recording {
    struct nn_random random;
    const struct class_of_gearbox *class;
    double speed; /* Hz, of this run */
    double load;  /* amplitude of the mesh */
    double severity, turn0, mesh_phase[HARMONICS], mesh_size[HARMONICS];
    double resonance, decay, damage_at; /* the place of the fault on the shaft, in turns */
    double tooth[TEETH];                /* size of each tooth's own error */
    float *values;
    size_t n;
};

static double between(struct nn_random *random, double low, double high)
{
    return low + (high - low) * nn_random_uniform(random);
}

static void make_recording(struct recording *r, uint64_t seed, size_t class, size_t number)
{
    struct nn_random *random = &r->random;
    size_t condition = number % (SPEEDS * LOADS);
    nn_random_init(random, seed, NN_RANDOM_SIMULATE, 16 + class, number);
    r->class = &CLASSES[class];
    r->speed = SPEED_HZ[condition % SPEEDS] * between(random, 0.985, 1.015);
    r->load = 0.6 + 0.4 * sqrt(LOAD[condition / SPEEDS] / LOAD[LOADS - 1]);
    r->severity = between(random, 0.7, 1.3);
    r->turn0 = nn_random_uniform(random);
    r->damage_at = nn_random_uniform(random);
    r->resonance = RESONANCE_HZ * between(random, 0.95, 1.05);
    r->decay = DECAY * between(random, 0.85, 1.15);
    for (size_t h = 0; h < HARMONICS; h++) {
        r->mesh_phase[h] = between(random, 0, TWO_PI);
        r->mesh_size[h] = between(random, 0.8, 1.2) / (double)((h + 1) * (h + 1));
    }
    for (size_t k = 0; k < TEETH; k++) {
        r->tooth[k] = nn_random_normal(random);
    }
}

/* How near a place on the shaft is to the damaged tooth: 1 in its middle, 0 away from it. */
static double nearness(const struct recording *r, double turn, double width)
{
    double away = turn - r->damage_at - floor(turn - r->damage_at + 0.5); /* in turns, +-1/2 */
    double teeth = away * TEETH / width;
    return exp(-2 * teeth * teeth);
}

/* The mesh: harmonics of the teeth, with what the fault of a gear does to them. */
static void put_mesh(struct recording *r)
{
    const struct gear_fault *g = &r->class->gear;
    for (size_t t = 0; t < r->n; t++) {
        double turn = r->turn0 + r->speed * (double)t / RATE;
        double near = g->width > 0 ? nearness(r, turn, g->width) : 0;
        double worn = r->tooth[(size_t)floor((turn - floor(turn)) * TEETH) % TEETH];
        double size = 1 + r->severity * (g->amplitude * cos(TWO_PI * (turn - r->damage_at)) -
                                         g->dip * near + g->spread * worn);
        double phase = r->severity * g->phase * (sin(TWO_PI * (turn - r->damage_at)) + near);
        double sum = 0;
        for (size_t h = 0; h < HARMONICS; h++) {
            double order = (double)(h + 1);
            sum +=
                r->mesh_size[h] * cos(order * (TWO_PI * TEETH * turn + phase) + r->mesh_phase[h]);
        }
        r->values[t] += (float)(r->load * size * sum);
    }
}

/* An impulse at a time in samples: a damped oscillation of the housing. */
static void put_impulse(struct recording *r, double at, double size)
{
    size_t first = at > 0 ? (size_t)ceil(at) : 0;
    for (size_t t = first; t < r->n && (double)t < at + RESONANCE_MAX; t++) {
        double s = ((double)t - at) / RATE;
        r->values[t] += (float)(size * exp(-r->decay * s) * sin(TWO_PI * r->resonance * s));
    }
}

/* Rolling elements slip: each interval differs by up to 1 %. An inner race carries its fault
 * through the loaded zone once a turn, a ball once a turn of the cage. */
static void put_bearing(struct recording *r)
{
    enum bearing bearing = r->class->bearing;
    if (bearing == BEARING_NONE) {
        return;
    }
    double period = RATE / (BEARING_ORDER[bearing] * r->speed);
    double at = -period * nn_random_uniform(&r->random) - RESONANCE_MAX;
    for (; at < (double)r->n; at += period * between(&r->random, 0.99, 1.01)) {
        double turn = r->turn0 + r->speed * at / RATE;
        double zone = bearing == BEARING_INNER  ? 1 + 0.9 * cos(TWO_PI * turn)
                      : bearing == BEARING_BALL ? 1 + 0.7 * cos(TWO_PI * CAGE_ORDER * turn)
                                                : 1;
        double size = 1.4 * r->severity * zone * between(&r->random, 0.8, 1.2);
        put_impulse(r, at, size * (0.7 + 0.3 * r->load));
    }
}

/* One impulse a turn where a tooth is broken off or gone. */
static void put_tooth(struct recording *r)
{
    double size = r->class->gear.impulse * r->severity;
    double period = RATE / r->speed;
    double at = (r->damage_at - r->turn0) * period;
    at -= (ceil((at + RESONANCE_MAX) / period)) * period;
    for (; size > 0 && at < (double)r->n; at += period) {
        put_impulse(r, at, size * r->load * between(&r->random, 0.85, 1.15));
    }
}

/* The shaft's own unbalance, and what any sensor hears. */
static void put_background(struct recording *r)
{
    double phase = between(&r->random, 0, TWO_PI);
    double size = between(&r->random, 0.1, 0.2);
    for (size_t t = 0; t < r->n; t++) {
        double turn = r->turn0 + r->speed * (double)t / RATE;
        r->values[t] +=
            (float)(size * cos(TWO_PI * turn + phase) + 0.1 * nn_random_normal(&r->random));
    }
}

/* ------------------------------------------------------------------------------------- writing */

static bool write_recording(const char *directory, const struct recording *r, size_t number)
{
    char *path = NULL;
    size_t condition = number % (SPEEDS * LOADS);
    if (asprintf(&path, "%s/%s/%04zu_%.0fhz_load%.0f.f32", directory, r->class->name, number,
                 SPEED_HZ[condition % SPEEDS], LOAD[condition / SPEEDS]) < 0) {
        return false;
    }
    FILE *file = fopen(path, "we");
    free(path);
    bool ok = file && fwrite(r->values, sizeof *r->values, r->n, file) == r->n;
    return file && fclose(file) == 0 && ok;
}

static bool make_folder(const char *directory, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", directory, name) < 0) {
        return false;
    }
    bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
    free(path);
    return made;
}

static bool write_class(const char *directory, const struct nn_gearbox_options *options,
                        size_t class, float *values)
{
    bool ok = make_folder(directory, CLASSES[class].name);
    for (size_t i = 0; ok && i < options->recordings; i++) {
        struct recording r = {.values = values, .n = options->samples};
        memset(values, 0, r.n * sizeof *values);
        make_recording(&r, options->seed, class, i);
        put_mesh(&r);
        put_bearing(&r);
        put_tooth(&r);
        put_background(&r);
        ok = write_recording(directory, &r, i);
    }
    return ok;
}

enum nn_status nn_simulate_gearbox(const char *directory, const struct nn_gearbox_options *options,
                                   struct nn_error *err)
{
    if (options->recordings < 1 || options->recordings > NN_GEARBOX_RECORDINGS_MAX ||
        options->samples < 16 || options->samples > NN_GEARBOX_SAMPLES_MAX) {
        return nn_fail(err, NN_ERR_INVALID, "recordings: 1 to %d; samples: 16 to %d",
                       NN_GEARBOX_RECORDINGS_MAX, NN_GEARBOX_SAMPLES_MAX);
    }
    float *values = calloc(options->samples, sizeof *values);
    if (!values) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for a recording");
    }
    bool ok = true;
    for (size_t class = 0; ok && class < NN_GEARBOX_CLASSES; class ++) {
        ok = write_class(directory, options, class, values);
    }
    free(values);
    return ok ? NN_OK
              : nn_fail(err, NN_ERR_IO, "cannot write the simulated files: %s", strerror(errno));
}
