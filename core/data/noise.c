/* SPDX-License-Identifier: MIT
 *
 * Noise: each kind fills a channel with numbers of any power, which is then made the wanted one.
 */
#include "core/data/noise.h"

#include <math.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/random.h"

#define IMPULSE_PROBABILITY 0.01
#define TWO_PI              6.28318530717958647692

static const struct jx_choice KINDS[] = {
    {"none", NN_NOISE_NONE, "the windows as they are"},
    {"gaussian", NN_NOISE_GAUSSIAN, "white, normal"},
    {"laplacian", NN_NOISE_LAPLACIAN, "white, with heavier tails"},
    {"pink", NN_NOISE_PINK, "power proportional to 1/f"},
    {"impulsive", NN_NOISE_IMPULSIVE, "rare normal impulses, on average one in 100 samples"},
    JX_END,
};
static const struct jx_choice DRAWS[] = {
    {"fixed", NN_NOISE_FIXED, "once, as part of the data: the same in every epoch"},
    {"fresh", NN_NOISE_FRESH, "anew in each epoch for windows that train; once for the others"},
    JX_END,
};

#define OFFSET(member) offsetof(struct nn_noise, member)
const struct jx_field nn_noise_fields[] = {
    {.name = "kind",
     .type = JX_ENUM,
     .offset = OFFSET(kind),
     .choices = KINDS,
     .fallback = "\"none\"",
     .doc = "its distribution"},
    {.name = "snr_db",
     .type = JX_REAL,
     .offset = OFFSET(snr_db),
     .min = -60,
     .max = 100,
     .fallback = "0",
     .doc = "power of the signal over that of the noise, in each window and channel",
     .unit = "dB"},
    {.name = "draw",
     .type = JX_ENUM,
     .offset = OFFSET(draw),
     .choices = DRAWS,
     .fallback = "\"fixed\"",
     .doc = "when it is drawn"},
    {.name = "seed",
     .type = JX_INT,
     .offset = OFFSET(seed),
     .min = 0,
     .max = 9007199254740991.0,
     .fallback = "1",
     .doc = "seed of the noise, whatever the trial's seed"},
    JX_END,
};

bool nn_noise_is_on(const struct nn_noise *noise)
{
    return noise->kind != NN_NOISE_NONE;
}

/* ----------------------------------------------------------------------------------- the kinds */

/* The power of two that is at least n. */
static size_t transform_length(size_t n)
{
    size_t length = 2;
    while (length < n) {
        length *= 2;
    }
    return length;
}

/* In place; z holds n complex numbers, n a power of two: the sum over k of z_k exp(2 pi i k t / n).
 * Radix 2, decimation in time. */
static void transform(double *z, size_t n)
{
    for (size_t i = 1, j = 0; i < n; i++) {
        size_t bit = n / 2;
        for (; j & bit; bit /= 2) {
            j ^= bit;
        }
        j ^= bit;
        for (size_t part = 0; i < j && part < 2; part++) {
            double kept = z[2 * i + part];
            z[2 * i + part] = z[2 * j + part];
            z[2 * j + part] = kept;
        }
    }
    for (size_t half = 1; half < n; half *= 2) {
        for (size_t k = 0; k < half; k++) {
            double re = cos(TWO_PI * (double)k / (double)(2 * half));
            double im = sin(TWO_PI * (double)k / (double)(2 * half));
            for (size_t at = k; at < n; at += 2 * half) {
                double *a = z + 2 * at;
                double *b = z + 2 * (at + half);
                double x = b[0] * re - b[1] * im;
                double y = b[0] * im + b[1] * re;
                b[0] = a[0] - x;
                b[1] = a[1] - y;
                a[0] += x;
                a[1] += y;
            }
        }
    }
}

/* The real part of a sum over positive frequencies is a real signal of their spectrum. */
static void draw_pink(struct nn_random *random, double *out, size_t n)
{
    size_t length = transform_length(n);
    memset(out, 0, 2 * length * sizeof *out);
    for (size_t f = 1; f <= length / 2; f++) {
        double size = 1 / sqrt((double)f);
        out[2 * f] = size * nn_random_normal(random);
        out[2 * f + 1] = size * nn_random_normal(random);
    }
    transform(out, length);
    for (size_t t = 0; t < n; t++) {
        out[t] = out[2 * t];
    }
}

static double draw_laplacian(struct nn_random *random)
{
    double u = nn_random_uniform(random) - 0.5; /* in [-1/2, 1/2) */
    double size = -log(1 - 2 * fabs(u) + 0x1p-54);
    return u < 0 ? -size : size;
}

static void draw_impulses(struct nn_random *random, double *out, size_t n)
{
    size_t hits = 0;
    for (size_t t = 0; t < n; t++) {
        bool hit = nn_random_uniform(random) < IMPULSE_PROBABILITY;
        out[t] = hit ? nn_random_normal(random) : 0;
        hits += hit;
    }
    if (hits == 0) {
        out[nn_random_below(random, n)] = nn_random_normal(random);
    }
}

static void draw(struct nn_random *random, int kind, double *out, size_t n)
{
    if (kind == NN_NOISE_PINK) {
        draw_pink(random, out, n);
    } else if (kind == NN_NOISE_IMPULSIVE) {
        draw_impulses(random, out, n);
    } else {
        for (size_t t = 0; t < n; t++) {
            out[t] = kind == NN_NOISE_GAUSSIAN ? nn_random_normal(random) : draw_laplacian(random);
        }
    }
}

/* ------------------------------------------------------------------------------------- windows */

size_t nn_noise_scratch(size_t n)
{
    return n > SIZE_MAX / 64 ? SIZE_MAX : 2 * transform_length(n);
}

void nn_noise_add(const struct nn_noise *noise, uint64_t turn, uint64_t sample, const float *src,
                  float *dst, size_t n, size_t channels, double *scratch)
{
    struct nn_random random;
    nn_random_init(&random, (uint64_t)noise->seed, NN_RANDOM_NOISE, turn, sample);
    for (size_t c = 0; c < channels; c++) {
        double signal = 0, drawn = 0;
        draw(&random, noise->kind, scratch, n);
        for (size_t t = 0; t < n; t++) {
            double x = (double)src[t * channels + c];
            signal += x * x;
            drawn += scratch[t] * scratch[t];
        }
        double factor = drawn > 0 ? sqrt(signal / drawn * pow(10, -noise->snr_db / 10)) : 0;
        for (size_t t = 0; t < n; t++) {
            size_t at = t * channels + c;
            dst[at] = (float)((double)src[at] + factor * scratch[t]);
        }
    }
}

/* ------------------------------------------------------------------------------------- the set */

struct making {
    const struct nn_noise *noise;
    const struct nn_prepared *prepared;
    float *values;
    double *scratch; /* of each lane */
    size_t n, channels;
};

static void make_item(void *ctx, size_t chunk, size_t lane)
{
    const struct making *m = ctx;
    nn_noise_add(m->noise, 0, chunk, nn_prepared_values(m->prepared, chunk),
                 m->values + chunk * m->n * m->channels, m->n, m->channels,
                 m->scratch + lane * nn_noise_scratch(m->n));
}

/* Noise of a signal that is large already leaves the range of its numbers: no network would learn
 * from that, and its loss would be blamed. */
static enum nn_status check_values(const struct making *m, size_t count, struct nn_error *err)
{
    size_t values = m->n * m->channels;
    for (size_t i = 0; i < count * values; i++) {
        if (!isfinite(m->values[i])) {
            return nn_fail_at(
                err, NN_ERR_INVALID, "/data/noise/snr_db",
                "window %zu of the data set is so large that noise of %g dB leaves the "
                "range of numbers: raise snr_db, or import smaller values",
                i / values, m->noise->snr_db);
        }
    }
    return NN_OK;
}

enum nn_status nn_noise_make(const struct nn_noise *noise, const struct nn_prepared *prepared,
                             struct nn_memory *memory, struct nn_pool *pool, float **out_values,
                             struct nn_error *err)
{
    const struct nn_prepared_info *info = nn_prepared_info(prepared);
    struct making m = {.noise = noise,
                       .prepared = prepared,
                       .n = info->height * info->width,
                       .channels = info->channels};
    m.values = nn_memory_alloc(memory, info->count, m.n * m.channels * sizeof *m.values);
    m.scratch =
        nn_memory_alloc(memory, nn_pool_lanes(pool), nn_noise_scratch(m.n) * sizeof *m.scratch);
    if (!m.values || !m.scratch) {
        nn_memory_free(memory, m.values);
        nn_memory_free(memory, m.scratch);
        return nn_fail(err, NN_ERR_MEMORY, "no memory for %zu windows with noise", info->count);
    }
    nn_parallel_for(pool, info->count, make_item, &m);
    nn_memory_free(memory, m.scratch);
    enum nn_status status = check_values(&m, info->count, err);
    if (status != NN_OK) {
        nn_memory_free(memory, m.values);
        return status;
    }
    *out_values = m.values;
    return NN_OK;
}
