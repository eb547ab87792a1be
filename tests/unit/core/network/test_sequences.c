/* SPDX-License-Identifier: MIT
 *
 * Networks of sequences: packing, independence of batch mates, rows of the output, first values,
 * refusals.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "tests/support/close.h"
#include "tests/support/network.h"

enum { FEATURES = 3, MATES = 5, LONGEST = 40, RESPONSES = 2 };

static const size_t LENGTHS[MATES] = {7, 40, 1, 7, 23};
static const struct nn_network_bind OPEN = {.features = FEATURES, .longest = LONGEST};
static const struct nn_network_bind BIND = {
    .features = FEATURES, .longest = LONGEST, .responses = RESPONSES};

#define INPUT "{'name': 'in', 'kind': 'sequence_input', 'normalisation': 'none'},"

static const char STACK[] =
    "{'layers': [" INPUT "{'name': 'a', 'kind': 'lstm', 'units': 35},"
    "{'name': 'd', 'kind': 'dropout', 'rate': 0.4}, {'name': 'b', 'kind': 'lstm', 'units': 20}]}";
static const char DEEP[] =
    "{'layers': [" INPUT "{'name': 'a', 'kind': 'lstm', 'units': 60},"
    "{'name': 'b', 'kind': 'lstm', 'units': 60}, {'name': 'c', 'kind': 'lstm', 'units': 60},"
    "{'name': 'f', 'kind': 'fully_connected', 'outputs': 50}, {'name': 'r', 'kind': 'relu'},"
    "{'name': 'd', 'kind': 'dropout'}, {'name': 'fc', 'kind': 'fully_connected'}]}";
static const char LAST[] =
    "{'layers': [" INPUT "{'name': 'a', 'kind': 'lstm', 'units': 20, 'output': 'last'},"
    "{'name': 'd', 'kind': 'dropout'}, {'name': 'fc', 'kind':"
    " 'fully_connected'}]}";

static nn_real *sequences[MATES];

static int make_sequences(void **state)
{
    (void)state;
    for (size_t i = 0; i < MATES; i++) {
        sequences[i] = malloc(LENGTHS[i] * FEATURES * sizeof *sequences[i]);
        assert_non_null(sequences[i]);
        test_fill(sequences[i], LENGTHS[i] * FEATURES, 100 + i);
    }
    return 0;
}

static int free_sequences(void **state)
{
    (void)state;
    for (size_t i = 0; i < MATES; i++) {
        free(sequences[i]);
    }
    return 0;
}

static struct test_network build(const char *text, const struct nn_network_bind *bind)
{
    const struct nn_network_options options = {.max_batch = MATES};
    struct test_network t = test_network_create(text, bind, &options);
    test_fill_parameters(t.network, 3);
    return t;
}

/* Loads and runs the sequences `which`, the first of them being sample `first` of its epoch. */
static void run(struct nn_network *network, const size_t *which, size_t n, enum nn_phase phase,
                uint64_t first)
{
    const nn_real *chosen[MATES];
    size_t lengths[MATES];
    for (size_t i = 0; i < n; i++) {
        chosen[i] = sequences[which[i]];
        lengths[i] = LENGTHS[which[i]];
    }
    const struct nn_sequence_batch batch = {chosen, lengths, n};
    const struct nn_step step = {.seed = 9, .epoch = 3, .first_sample = first};
    nn_network_load_sequences(network, &batch);
    nn_network_forward(network, n, phase, &step);
}

static const size_t ALL[MATES] = {0, 1, 2, 3, 4};

/* The output of sample `at` of the last run, step by step. */
static size_t output_of(const struct nn_network *network, size_t at, size_t steps, nn_real *out)
{
    size_t n = nn_network_output_size(network);
    size_t rows = nn_network_output_is_sequence(network) ? steps : 1;
    for (size_t t = 0; t < rows; t++) {
        size_t row = nn_network_output_row(network, at, t);
        memcpy(out + t * n, nn_network_output(network) + row * n, n * sizeof *out);
    }
    return rows * n;
}

/* ---- batch mates ---- */

/* The largest difference, relative to the sequence's output, between a sequence alone and in the
 * batch of all; the bits are compared by the caller's `bits`. */
static double difference_alone(const char *text, enum nn_phase phase, bool *bits)
{
    static nn_real together[LONGEST * 64], alone[LONGEST * 64];
    struct test_network t = build(text, text == STACK ? &OPEN : &BIND);
    double worst = 0;
    *bits = true;
    for (size_t i = 0; i < MATES; i++) {
        run(t.network, ALL, MATES, phase, 50);
        size_t n = output_of(t.network, i, LENGTHS[i], together);
        run(t.network, &i, 1, phase, 50 + i);
        assert_int_equal(output_of(t.network, 0, LENGTHS[i], alone), n);
        worst = fmax(worst, test_relative_error(together, alone, n));
        *bits = *bits && memcmp(together, alone, n * sizeof *alone) == 0;
    }
    test_network_destroy(&t);
    return worst;
}

static void a_sequence_does_not_see_its_mates(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {STACK, DEEP, LAST};
    bool bits;
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        for (int phase = NN_PHASE_TRAINING; phase <= NN_PHASE_INFERENCE; phase++) {
            double worst = difference_alone(TEXTS[i], (enum nn_phase)phase, &bits);
            assert_true(worst <= 1e-5);
            assert_true(bits || i > 0); /* layers of lstm and dropout alone: to the bit */
        }
    }
}

/* The order of a batch changes the order of its output and nothing else. */
static void the_order_of_a_batch_does_not_matter(void **state)
{
    (void)state;
    static nn_real straight[MATES][LONGEST * 64], turned[LONGEST * 64];
    static const size_t TURNED[MATES] = {4, 3, 2, 1, 0};
    struct test_network t = build(STACK, &OPEN);
    run(t.network, ALL, MATES, NN_PHASE_INFERENCE, 0);
    for (size_t i = 0; i < MATES; i++) {
        (void)output_of(t.network, i, LENGTHS[i], straight[i]);
    }
    run(t.network, TURNED, MATES, NN_PHASE_INFERENCE, 0);
    for (size_t i = 0; i < MATES; i++) {
        size_t n = output_of(t.network, i, LENGTHS[TURNED[i]], turned);
        assert_memory_equal(turned, straight[TURNED[i]], n * sizeof *turned);
    }
    test_network_destroy(&t);
}

/* 4 5 0 5 and the same with three zeros behind it: alone, and beside a longer one. The zeros count:
 * each step before them is the same, and they are steps of their own. */
static void zeros_are_data_not_padding(void **state)
{
    (void)state;
    static const nn_real SHORT[] = {4, 5, 0, 5}, PADDED[] = {4, 5, 0, 5, 0, 0, 0};
    static const nn_real *const BOTH[] = {SHORT, PADDED, NULL};
    static const size_t STEPS[] = {4, 7, 20};
    static nn_real alone[2][7 * 16], mixed[7 * 16];
    const struct nn_network_bind bind = {.features = 1, .longest = 20};
    struct test_network t =
        build("{'layers': [" INPUT "{'name': 'a', 'kind': 'lstm', 'units': 16}]}", &bind);
    nn_real longer[20];
    test_fill(longer, 20, 1);
    const nn_real *three[] = {SHORT, PADDED, longer};
    for (size_t i = 0; i < 2; i++) {
        const struct nn_sequence_batch one = {&BOTH[i], &STEPS[i], 1};
        nn_network_load_sequences(t.network, &one);
        nn_network_forward(t.network, 1, NN_PHASE_INFERENCE, NULL);
        (void)output_of(t.network, 0, STEPS[i], alone[i]);
    }
    const struct nn_sequence_batch all = {three, STEPS, 3};
    nn_network_load_sequences(t.network, &all);
    nn_network_forward(t.network, 3, NN_PHASE_INFERENCE, NULL);
    for (size_t i = 0; i < 2; i++) {
        size_t n = output_of(t.network, i, STEPS[i], mixed);
        assert_memory_equal(mixed, alone[i], n * sizeof *mixed);
    }
    size_t same = 4 * nn_network_output_size(t.network);
    assert_memory_equal(alone[0], alone[1], same * sizeof **alone);
    assert_memory_not_equal(alone[1] + same, alone[1] + same - same / 4, same / 4 * sizeof **alone);
    test_network_destroy(&t);
}

/* ---- rows ---- */

static void targets_and_predictions_find_their_rows(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {DEEP, LAST};
    for (size_t k = 0; k < 2; k++) {
        struct test_network t = build(TEXTS[k], &BIND);
        static nn_real rows[128 * RESPONSES], weights[128], back[MATES][LONGEST * RESPONSES];
        static nn_real numbers[MATES][LONGEST * RESPONSES];
        const nn_real *in[MATES];
        nn_real *out[MATES];
        run(t.network, ALL, MATES, NN_PHASE_INFERENCE, 0);
        size_t n = nn_network_output_rows(t.network, MATES);
        assert_int_equal(n, k == 0 ? 78 : MATES);
        assert_int_equal(nn_network_output_rows_max(t.network), k == 0 ? MATES * LONGEST : MATES);
        for (size_t i = 0; i < MATES; i++) {
            test_fill(numbers[i], LONGEST * RESPONSES, i);
            in[i] = numbers[i];
            out[i] = back[i];
        }
        nn_network_rows_from_samples(t.network, MATES, in, RESPONSES, rows);
        nn_network_samples_from_rows(t.network, MATES, rows, RESPONSES, out);
        nn_network_row_weights(t.network, MATES, weights);
        double sum = 0;
        for (size_t r = 0; r < n; r++) {
            sum += (double)weights[r];
        }
        assert_true(fabs(sum - 1) < 1e-6);
        for (size_t i = 0; i < MATES; i++) {
            size_t steps = k == 0 ? LENGTHS[i] : 1;
            size_t last = nn_network_output_row(t.network, i, steps - 1);
            assert_memory_equal(back[i], numbers[i], steps * RESPONSES * sizeof(nn_real));
            assert_true(fabs((double)weights[last] * MATES * (double)steps - 1) < 1e-6);
        }
        test_network_destroy(&t);
    }
}

static void features_are_normalised_on_the_way_in(void **state)
{
    (void)state;
    struct test_network t =
        build("{'layers': [{'name': 'in', 'kind': 'sequence_input', 'mean': [1, 2, 3],"
              " 'std': [2, 0, 0.5]}, {'name': 'l', 'kind': 'lstm', 'units': 2}]}",
              &BIND);
    const struct nn_parameter *mean = nn_network_parameter(t.network, 0);
    const struct nn_parameter *std = nn_network_parameter(t.network, 1);
    assert_string_equal(mean->name, "in.mean");
    assert_string_equal(std->name, "in.std");
    const nn_real means[] = {1, 2, 3}, stds[] = {2, 0, (nn_real)0.5};
    memcpy(mean->value, means, sizeof means);
    memcpy(std->value, stds, sizeof stds);
    run(t.network, ALL, 1, NN_PHASE_INFERENCE, 0);
    const nn_real *x = nn_network_input(t.network);
    for (size_t e = 0; e < 7 * FEATURES; e++) {
        double d = (double)stds[e % 3] > 0 ? (double)stds[e % 3] : 1;
        double expected = ((double)sequences[0][e] - (double)means[e % 3]) / d;
        assert_true(fabs((double)x[e] - expected) < 1e-5);
    }
    test_network_destroy(&t);
}

/* Features far from 0 and close together, as of a turbofan, keep the digits that they have. */
static void normalised_features_keep_their_digits(void **state)
{
    (void)state;
    struct test_network t =
        build("{'layers': [{'name': 'in', 'kind': 'sequence_input', 'mean': 9000, 'std': 0.3},"
              " {'name': 'l', 'kind': 'lstm', 'units': 2}]}",
              &BIND);
    for (size_t p = 0; p < 2; p++) {
        for (size_t c = 0; c < FEATURES; c++) {
            nn_network_parameter(t.network, p)->value[c] = p == 0 ? 9000 : (nn_real)0.3;
        }
    }
    const nn_real steps[FEATURES] = {(nn_real)9000.25, 9000, (nn_real)8999.5};
    const nn_real *sequence = steps;
    const size_t length = 1;
    const struct nn_sequence_batch batch = {&sequence, &length, 1};
    nn_network_load_sequences(t.network, &batch);
    const nn_real *x = nn_network_input(t.network);
    for (size_t c = 0; c < FEATURES; c++) {
        double expected = ((double)steps[c] - 9000) / (double)(nn_real)0.3;
        assert_true(fabs((double)x[c] - expected) < 1e-6);
    }
    test_network_destroy(&t);
}

/* ---- first values ---- */

static void check_orthogonal(const struct nn_parameter *p)
{
    for (size_t j = 0; j < p->shape[1]; j++) {
        for (size_t k = 0; k <= j; k++) {
            double dot = 0;
            for (size_t i = 0; i < p->shape[0]; i++) {
                dot +=
                    (double)p->value[i * p->shape[1] + j] * (double)p->value[i * p->shape[1] + k];
            }
            assert_true(fabs(dot - (j == k)) < 1e-5);
        }
    }
}

static void first_values_follow_their_rules(void **state)
{
    (void)state;
    struct test_network t = build(STACK, &OPEN), other = build(STACK, &OPEN);
    nn_network_initialize(t.network, 1);
    nn_network_initialize(other.network, 1);
    const struct nn_parameter *w = nn_network_parameter(t.network, 0);
    const struct nn_parameter *r = nn_network_parameter(t.network, 1);
    const struct nn_parameter *b = nn_network_parameter(t.network, 2);
    assert_string_equal(w->name, "a.weight_ih_l0");
    assert_string_equal(r->name, "a.weight_hh_l0");
    assert_string_equal(b->name, "a.bias_ih_l0");
    double limit = sqrt(6.0 / (FEATURES + 140)), largest = 0;
    for (size_t i = 0; i < w->count; i++) {
        largest = fmax(largest, fabs((double)w->value[i]));
    }
    assert_true(largest <= limit && largest > 0.9 * limit);
    check_orthogonal(r);
    for (size_t i = 0; i < b->count; i++) {
        assert_true(b->value[i] == (nn_real)(i / 35 == 1));
    }
    for (size_t i = 0; i < nn_network_parameter_count(t.network); i++) {
        const struct nn_parameter *p = nn_network_parameter(t.network, i);
        const struct nn_parameter *q = nn_network_parameter(other.network, i);
        assert_memory_equal(p->value, q->value, p->count * sizeof *p->value);
    }
    nn_network_initialize(other.network, 2);
    const struct nn_parameter *q = nn_network_parameter(other.network, 1);
    assert_memory_not_equal(r->value, q->value, r->count * sizeof *r->value);
    test_network_destroy(&t);
    test_network_destroy(&other);
}

/* ---- refusals ---- */

struct refusal {
    const char *layers; /* behind the input */
    struct nn_network_bind bind;
    const char *part;
};

#define IMAGES                                                                                     \
    {                                                                                              \
        .height = 8, .width = 8, .channels = 1, .classes = 3                                       \
    }
#define RESPOND                                                                                    \
    {                                                                                              \
        .features = 3, .longest = 9, .responses = 2                                                \
    }
#define CLASSIFY                                                                                   \
    {                                                                                              \
        .features = 3, .longest = 9, .classes = 4                                                  \
    }
#define LSTM      "{'name': 'l', 'kind': 'lstm', 'units': 4}"
#define LSTM_LAST "{'name': 'l', 'kind': 'lstm', 'units': 4, 'output': 'last'}"
#define FC        "{'name': 'fc', 'kind': 'fully_connected'}"
#define SOFTMAX   "{'name': 's', 'kind': 'softmax'}"

static const struct refusal REFUSALS[] = {
    {LSTM "," FC, RESPOND, NULL},
    {LSTM_LAST "," FC "," SOFTMAX, CLASSIFY, NULL},
    {LSTM "," FC, {.features = 3, .responses = 2}, "length of the sequences is not known"},
    {LSTM "," FC, {.longest = 9, .responses = 2}, "size is not known"},
    {LSTM "," FC, IMAGES, "holds images"},
    {LSTM "," FC "," SOFTMAX, CLASSIFY, "scores for each step"},
    {LSTM_LAST "," FC, CLASSIFY, "must end in a softmax"},
    {LSTM "," FC "," SOFTMAX, RESPOND, "must not end in a softmax"},
    {LSTM, RESPOND, "4 numbers, but the data set has 2 responses"},
    {LSTM_LAST ", {'name': 'm', 'kind': 'lstm', 'units': 4}," FC, RESPOND, "takes sequences only"},
    {LSTM ", {'name': 'c', 'kind': 'convolution', 'kernel': 1}," FC, RESPOND,
     "cannot take a sequence"},
    {LSTM ", {'name': 'f', 'kind': 'flatten'}," FC, RESPOND, "cannot take a sequence"},
    {"{'name': 'l', 'kind': 'lstm'}," FC, RESPOND, "units"},
    {"{'name': 'l', 'kind': 'lstm', 'units': 2049}," FC, RESPOND, "units"},
};

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof REFUSALS / sizeof REFUSALS[0]; i++) {
        char text[512];
        (void)snprintf(text, sizeof text,
                       "{'layers': [{'name': 'in', 'kind': 'sequence_input'}, %s]}",
                       REFUSALS[i].layers);
        const struct nn_network_options options = {.max_batch = 2};
        struct nn_description *description = NULL;
        struct nn_network *network = NULL;
        struct nn_error err = {0};
        json_t *spec = test_json(text);
        enum nn_status status = nn_description_parse(spec, &description, &err);
        if (status == NN_OK) {
            status = nn_network_create(description, &REFUSALS[i].bind, &options, &network, &err);
        }
        const char *part = REFUSALS[i].part;
        if ((status == NN_OK) != !part || (part && !strstr(err.text, part))) {
            fail_msg("%s: \"%s\" instead of \"%s\"", text, err.text, part ? part : "success");
        }
        nn_network_destroy(network);
        nn_description_destroy(description);
        json_decref(spec);
    }
}

static void images_refuse_sequences(void **state)
{
    (void)state;
    json_t *spec = test_json("{'name': 'mlp'}");
    struct nn_description *description = NULL;
    struct nn_network *network = NULL;
    struct nn_error err = {0};
    const struct nn_network_options options = {.max_batch = 2};
    assert_int_equal(nn_description_parse(spec, &description, &err), NN_OK);
    assert_false(nn_description_takes_sequences(description));
    assert_int_equal(nn_network_create(description, &BIND, &options, &network, &err),
                     NN_ERR_INVALID);
    assert_non_null(strstr(err.text, "holds sequences"));
    nn_description_destroy(description);
    json_decref(spec);
}

/* Fewer rows than batch times the longest take less memory, and are enough for what fits. */
static void rows_bound_the_memory(void **state)
{
    (void)state;
    const struct nn_network_options all = {.max_batch = MATES};
    const struct nn_network_options few = {.max_batch = MATES, .max_rows = 78};
    json_t *spec = test_json(DEEP);
    struct nn_description *description = NULL;
    struct nn_error err = {0};
    size_t more = 0, less = 0;
    assert_int_equal(nn_description_parse(spec, &description, &err), NN_OK);
    assert_true(nn_description_takes_sequences(description));
    assert_int_equal(nn_description_task(description), NN_TASK_REGRESSION);
    assert_int_equal(nn_network_plan_bytes(description, &BIND, &all, &more, &err), NN_OK);
    assert_int_equal(nn_network_plan_bytes(description, &BIND, &few, &less, &err), NN_OK);
    assert_true(less < more);
    struct nn_network *network = NULL;
    assert_int_equal(nn_network_create(description, &BIND, &few, &network, &err), NN_OK);
    run(network, ALL, MATES, NN_PHASE_TRAINING, 0);
    nn_network_destroy(network);
    nn_description_destroy(description);
    json_decref(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sequence_does_not_see_its_mates),
        cmocka_unit_test(the_order_of_a_batch_does_not_matter),
        cmocka_unit_test(zeros_are_data_not_padding),
        cmocka_unit_test(targets_and_predictions_find_their_rows),
        cmocka_unit_test(features_are_normalised_on_the_way_in),
        cmocka_unit_test(normalised_features_keep_their_digits),
        cmocka_unit_test(first_values_follow_their_rules),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(images_refuse_sequences),
        cmocka_unit_test(rows_bound_the_memory),
    };
    return cmocka_run_group_tests(tests, make_sequences, free_sequences);
}
