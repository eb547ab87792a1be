/* SPDX-License-Identifier: MIT
 *
 * Noise on windows: the ratio of powers, the shape of each kind, and whom it depends on.
 */
#include "core/data/noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka_all.h"

enum { N = 2048, CHANNELS = 2 };

static void make_signal(float *out)
{
    for (size_t t = 0; t < N; t++) {
        out[CHANNELS * t] = sinf((float)t * 0.37F);
        out[CHANNELS * t + 1] = 100 * cosf((float)t * 0.11F);
    }
}

/* What was added to a channel of sample `sample`: N numbers, to be freed. */
static double *added(const struct nn_noise *noise, uint64_t turn, uint64_t sample, size_t channel)
{
    float *src = malloc(sizeof(float) * N * CHANNELS);
    float *dst = malloc(sizeof(float) * N * CHANNELS);
    double *scratch = malloc(nn_noise_scratch(N) * sizeof *scratch);
    double *difference = malloc(N * sizeof *difference);
    make_signal(src);
    nn_noise_add(noise, turn, sample, src, dst, N, CHANNELS, scratch);
    for (size_t t = 0; t < N; t++) {
        size_t at = t * CHANNELS + channel;
        difference[t] = (double)dst[at] - (double)src[at];
    }
    free(src);
    free(dst);
    free(scratch);
    return difference;
}

static double moment(const double *x, int power)
{
    double sum = 0;
    for (size_t t = 0; t < N; t++) {
        sum += pow(x[t], power);
    }
    return sum / N;
}

static void each_window_has_the_wanted_ratio(void **state)
{
    (void)state;
    float *src = malloc(sizeof(float) * N * CHANNELS);
    make_signal(src);
    for (int kind = NN_NOISE_GAUSSIAN; kind <= NN_NOISE_IMPULSIVE; kind++) {
        for (int snr = -5; snr <= 20; snr += 5) {
            const struct nn_noise noise = {.kind = kind, .snr_db = snr, .seed = 3};
            for (size_t c = 0; c < CHANNELS; c++) {
                double *n = added(&noise, 0, 17, c);
                double signal = 0;
                for (size_t t = 0; t < N; t++) {
                    double x = (double)src[t * CHANNELS + c];
                    signal += x * x / N;
                }
                assert_true(fabs(10 * log10(signal / moment(n, 2)) - snr) < 1e-4);
                free(n);
            }
        }
    }
    free(src);
}

/* Kurtosis over 64 windows: 3 of normal numbers, 6 of Laplace's; impulses of probability p have 3/p
 * on average, less in a window of its own power. */
static void tails_are_those_of_the_kind(void **state)
{
    (void)state;
    static const struct {
        int kind;
        double low, high;
    } cases[] = {{NN_NOISE_GAUSSIAN, 2.95, 3.05},
                 {NN_NOISE_LAPLACIAN, 5.7, 6.2},
                 {NN_NOISE_IMPULSIVE, 200, 320}};
    for (size_t k = 0; k < 3; k++) {
        double kurtosis = 0, mean = 0;
        for (uint64_t sample = 0; sample < 64; sample++) {
            const struct nn_noise noise = {.kind = cases[k].kind, .seed = 1};
            double *n = added(&noise, 0, sample, 0);
            kurtosis += moment(n, 4) / (moment(n, 2) * moment(n, 2)) / 64;
            mean += moment(n, 1) / 64;
            free(n);
        }
        assert_in_range((unsigned long)(100 * kurtosis), (unsigned long)(100 * cases[k].low),
                        (unsigned long)(100 * cases[k].high));
        assert_true(fabs(mean) < 0.02);
    }
}

/* Power in the band of discrete frequencies [low, high). */
static double band(const double *x, size_t low, size_t high)
{
    double sum = 0;
    for (size_t f = low; f < high; f++) {
        double re = 0, im = 0;
        for (size_t t = 0; t < N; t++) {
            double angle = 2 * 3.14159265358979323846 * (double)(f * t % N) / N;
            re += x[t] * cos(angle);
            im += x[t] * sin(angle);
        }
        sum += re * re + im * im;
    }
    return sum;
}

/* Equal power in each octave. */
static void pink_noise_falls_by_three_decibels_an_octave(void **state)
{
    (void)state;
    double octave[5] = {0};
    for (uint64_t sample = 0; sample < 24; sample++) {
        const struct nn_noise noise = {.kind = NN_NOISE_PINK, .seed = 5};
        double *n = added(&noise, 0, sample, 0);
        for (size_t k = 0; k < 5; k++) {
            octave[k] += band(n, (size_t)16 << k, (size_t)32 << k);
        }
        free(n);
    }
    for (size_t k = 1; k < 5; k++) {
        assert_true(fabs(10 * log10(octave[k] / octave[0])) < 1);
    }
}

static bool is_same(const struct nn_noise *a, uint64_t turn_a, uint64_t sample_a,
                    const struct nn_noise *b, uint64_t turn_b, uint64_t sample_b)
{
    double *x = added(a, turn_a, sample_a, 1);
    double *y = added(b, turn_b, sample_b, 1);
    bool same = memcmp(x, y, N * sizeof *x) == 0;
    free(x);
    free(y);
    return same;
}

static void it_is_a_function_of_seed_turn_and_sample(void **state)
{
    (void)state;
    for (int kind = NN_NOISE_GAUSSIAN; kind <= NN_NOISE_IMPULSIVE; kind++) {
        const struct nn_noise noise = {.kind = kind, .seed = 1};
        const struct nn_noise other = {.kind = kind, .seed = 2};
        assert_true(is_same(&noise, 0, 4, &noise, 0, 4));
        assert_false(is_same(&noise, 0, 4, &noise, 0, 5));
        assert_false(is_same(&noise, 0, 4, &noise, 1, 4));
        assert_false(is_same(&noise, 1, 4, &noise, 2, 4));
        assert_false(is_same(&noise, 0, 4, &other, 0, 4));
    }
}

static void silence_stays_silent(void **state)
{
    (void)state;
    float window[64] = {0};
    double scratch[128];
    const struct nn_noise noise = {.kind = NN_NOISE_PINK, .snr_db = -20};
    nn_noise_add(&noise, 0, 0, window, window, 64, 1, scratch);
    for (size_t t = 0; t < 64; t++) {
        assert_float_equal(window[t], 0, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_window_has_the_wanted_ratio),
        cmocka_unit_test(tails_are_those_of_the_kind),
        cmocka_unit_test(pink_noise_falls_by_three_decibels_an_octave),
        cmocka_unit_test(it_is_a_function_of_seed_turn_and_sample),
        cmocka_unit_test(silence_stays_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
