/* SPDX-License-Identifier: MIT
 *
 * Whole runs under the options of training: micro-batches against whole batches, averaged weights
 * against their formula, weights of classes, and that all of them together survive a stop and a
 * kill to the bit.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/runs.h"

#define LAYERS(norm)                                                                               \
    "{\"layers\": [{\"kind\": \"image_input\", \"name\": \"input\"},"                              \
    "{\"kind\": \"convolution\", \"name\": \"conv1\", \"filters\": 5, \"kernel\": 3}," norm        \
    "{\"kind\": \"relu\", \"name\": \"relu1\"},"                                                   \
    "{\"kind\": \"dropout\", \"name\": \"drop1\", \"rate\": 0.3},"                                 \
    "{\"kind\": \"fully_connected\", \"name\": \"fc\", \"outputs\": 4},"                           \
    "{\"kind\": \"softmax\", \"name\": \"softmax\"}]}"
static const char PLAIN[] = LAYERS("");
static const char NORMED[] = LAYERS("{\"kind\": \"batch_norm\", \"name\": \"bn1\"},");

/* 44 samples train: 6 steps an epoch. */
#define TRAINING(more)                                                                             \
    "{\"solver\": \"sgdm\", \"learning_rate\": 0.05, \"epochs\": 2, \"batch_size\": 8,"            \
    "\"shuffle\": \"every_epoch\", \"validation_frequency\": 4,"                                   \
    "\"batch_norm_statistics\": \"moving\", \"checkpoint_interval_seconds\": 0" more "}"
enum { STEPS = 12 };

static const char ALL[] =
    "{\"solver\": \"adamw\", \"learning_rate\": 0.01, \"epochs\": 2, \"batch_size\": 8,"
    "\"shuffle\": \"every_epoch\", \"validation_frequency\": 4, \"checkpoint_interval_seconds\": 0,"
    "\"micro_batch_size\": 3, \"ema_decay\": 0.9, \"label_smoothing\": 0.1,"
    "\"output_network\": \"best_validation_loss\","
    "\"schedule\": {\"kind\": \"cosine\", \"warmup\": {\"length\": 3}},"
    "\"gradient_clipping\": {\"method\": \"global_l2norm\", \"threshold\": 1}}";

static void open_set(struct synthetic_set *set)
{
    const struct synthetic_spec spec = {8, 8, 60, 21, synthetic_bars};
    synthetic_open(set, &spec);
    synthetic_hold_out(set, 16);
}

/* Equal to the large batch to rounding, dropout included; the last piece is smaller. */
static void micro_batches_add_up_to_the_batch(void **state)
{
    (void)state;
    static const char *const MICRO[] = {TRAINING(", \"micro_batch_size\": 3"),
                                        TRAINING(", \"micro_batch_size\": 1"),
                                        TRAINING(", \"micro_batch_size\": 8")};
    struct synthetic_set set;
    struct run_record whole, pieces;
    open_set(&set);
    struct run_plan plan = {.network = PLAIN, .training = TRAINING(""), .seed = 3};
    run_do(&whole, &set, &plan);
    assert_int_equal(whole.status, NN_OK);
    for (size_t i = 0; i < 3; i++) {
        plan.training = MICRO[i];
        run_do(&pieces, &set, &plan);
        assert_int_equal(pieces.result->step, STEPS);
        for (uint64_t step = 1; step <= STEPS; step++) {
            double a = run_point_at(&whole, "training_loss", step);
            double b = run_point_at(&pieces, "training_loss", step);
            double norm = run_point_at(&whole, "gradient_norm", step);
            assert_true(fabs(a - b) <= 2e-5 * a);
            assert_true(fabs(norm - run_point_at(&pieces, "gradient_norm", step)) <= 2e-4 * norm);
        }
        assert_true(run_point_at(&whole, "training_accuracy", 1) ==
                    run_point_at(&pieces, "training_accuracy", 1));
        if (i == 2) {
            run_assert_equal(&whole, &pieces); /* one piece is the batch, to the bit */
        }
        run_record_deinit(&pieces);
    }
    run_record_deinit(&whole);
    synthetic_close(&set);
}

/* The numbers of a network's file: what follows its header. */
static const float *numbers(const struct run_record *record, size_t *out_count)
{
    uint64_t header;
    memcpy(&header, record->network, sizeof header);
    *out_count = (record->network_size - 8 - (size_t)header) / sizeof(float);
    return (const float *)(const void *)(record->network + 8 + header);
}

/* The network after so many steps. */
static void run_to(struct run_record *record, const struct synthetic_set *set, struct run_plan plan,
                   uint64_t steps)
{
    plan.order = NN_STOP;
    plan.order_step = steps;
    plan.order_poll = steps == 0;
    run_do(record, set, &plan);
    assert_int_equal(record->status, NN_OK);
    assert_int_equal(record->result->step, steps);
    assert_non_null(record->network);
}

/* After update t: average += (1 - min(decay, (1 + t) / (10 + t))) * (value - average). */
static void the_average_follows_its_formula(void **state)
{
    (void)state;
    enum { LAST = 4 };
    struct synthetic_set set;
    struct run_record record;
    size_t count, n;
    open_set(&set);
    struct run_plan plan = {.network = NORMED, .training = TRAINING(""), .seed = 3};
    run_to(&record, &set, plan, 0);
    const float *first = numbers(&record, &count);
    double *average = calloc(count, sizeof *average);
    assert_non_null(average);
    for (size_t i = 0; i < count; i++) {
        average[i] = (double)first[i];
    }
    run_record_deinit(&record);
    for (uint64_t t = 1; t <= LAST; t++) {
        double decay = fmin(0.3, (1 + (double)t) / (10 + (double)t));
        run_to(&record, &set, plan, t);
        const float *values = numbers(&record, &n);
        assert_int_equal(n, count);
        for (size_t i = 0; i < count; i++) {
            average[i] += (1 - decay) * ((double)values[i] - average[i]);
        }
        run_record_deinit(&record);
    }
    plan.training = TRAINING(", \"ema_decay\": 0.3");
    run_to(&record, &set, plan, LAST);
    const float *kept = numbers(&record, &n);
    assert_int_equal(n, count);
    for (size_t i = 0; i < count; i++) {
        assert_true(fabs((double)kept[i] - average[i]) <= 1e-6 * (1 + fabs(average[i])));
    }
    run_record_deinit(&record);
    free(average);
    synthetic_close(&set);
}

/* What trains is not touched by the average; what is judged is. */
static void the_average_is_judged_not_trained(void **state)
{
    (void)state;
    struct synthetic_set set;
    struct run_record raw, averaged;
    open_set(&set);
    struct run_plan plan = {.network = NORMED, .training = TRAINING(""), .seed = 3};
    run_do(&raw, &set, &plan);
    plan.training = TRAINING(", \"ema_decay\": 0.9");
    run_do(&averaged, &set, &plan);
    for (uint64_t step = 1; step <= STEPS; step++) {
        assert_true(run_point_at(&raw, "training_loss", step) ==
                    run_point_at(&averaged, "training_loss", step));
    }
    assert_true(run_last(&raw, "validation_loss") != run_last(&averaged, "validation_loss"));
    assert_memory_not_equal(raw.network, averaged.network, raw.network_size);
    double judged = averaged.result->parts[NN_PART_VALIDATION].evaluation.loss;
    assert_true(fabs(judged - run_last(&averaged, "validation_loss")) <= 1e-12);
    run_record_deinit(&raw);
    run_record_deinit(&averaged);
    synthetic_close(&set);
}

static const nn_real WEIGHTS[] = {1, 2, (nn_real)0.5, 3};

static void a_stopped_run_goes_on_to_the_same_bits(void **state)
{
    (void)state;
    struct synthetic_set set;
    struct run_record whole, first, rest;
    open_set(&set);
    struct run_plan plan = {
        .network = NORMED, .training = ALL, .seed = 4, .class_weights = WEIGHTS};
    run_do(&whole, &set, &plan);
    assert_int_equal(whole.status, NN_OK);
    assert_true(run_point_at(&whole, "learning_rate", 1) == 0.001);
    for (uint64_t at = 1; at < STEPS; at += 2) {
        plan.order_step = at;
        plan.order = NN_PAUSE;
        plan.resume = false;
        run_do(&first, &set, &plan);
        assert_int_equal(first.result->outcome, NN_TRAINING_PAUSED);
        plan.order_step = 0;
        plan.resume = true;
        run_do(&rest, &set, &plan);
        assert_int_equal(rest.start.step, at);
        run_points_join(&first, &rest);
        free(rest.points);
        rest.points = first.points;
        rest.n_points = first.n_points;
        first.points = NULL;
        run_assert_equal(&whole, &rest);
        run_record_deinit(&first);
        run_record_deinit(&rest);
    }
    plan.training = TRAINING(""); /* no average is in these checkpoints */
    run_do(&rest, &set, &plan);
    assert_int_equal(rest.status, NN_ERR_INVALID);
    run_record_deinit(&rest);
    run_record_deinit(&whole);
    synthetic_close(&set);
}

static void a_killed_run_goes_on_to_the_same_bits(void **state)
{
    (void)state;
    struct synthetic_set set;
    open_set(&set);
    const struct run_plan plan = {
        .network = NORMED, .training = ALL, .seed = 5, .class_weights = WEIGHTS};
    run_assert_survives_kills(&set, plan, 6, 36);
    synthetic_close(&set);
}

static json_t *weights_of(const char *text)
{
    json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(json);
    return json;
}

static void class_weights_are_balanced_or_given(void **state)
{
    (void)state;
    struct synthetic_set set;
    nn_real *weights = NULL;
    size_t counts[4] = {0};
    open_set(&set);
    const struct nn_split_side *train = &set.side[NN_PART_TRAIN];
    const struct nn_training_labels labels = {.prepared = set.prepared};
    for (size_t i = 0; i < train->count; i++) {
        counts[nn_prepared_label(set.prepared, train->items[i])]++;
    }
    json_t *json = weights_of("\"balanced\"");
    struct nn_training_options options = {.class_weights = json};
    assert_int_equal(nn_training_class_weights(&options, &labels, train, &weights, NULL), NN_OK);
    double sum = 0;
    for (size_t c = 0; c < 4; c++) {
        assert_true(counts[c] > 0);
        sum += (double)weights[c] * (double)counts[c];
        assert_true(fabs((double)weights[c] * (double)counts[c] * 4 - (double)train->count) < 1e-4);
    }
    assert_true(fabs(sum - (double)train->count) < 1e-4);
    free(weights);
    json_decref(json);
    json = weights_of("[1, 0, 2.5, 3]");
    options.class_weights = json;
    assert_int_equal(nn_training_class_weights(&options, &labels, train, &weights, NULL), NN_OK);
    assert_true(weights[0] == 1 && weights[1] == 0 && weights[2] == (nn_real)2.5);
    free(weights);
    json_decref(json);
    synthetic_close(&set);
}

/* Weights for classes alone that do not train would learn nothing, without a word. */
static void a_class_that_trains_has_weight(void **state)
{
    (void)state;
    struct synthetic_set set;
    nn_real *weights = NULL;
    struct nn_error err = {0};
    open_set(&set);
    struct nn_split_side only = set.side[NN_PART_TRAIN];
    const struct nn_training_labels labels = {.prepared = set.prepared};
    json_t *json = json_pack("[i, i, i, i]", 1, 1, 1, 1);
    only.count = 1;
    (void)json_array_set_new(json, nn_prepared_label(set.prepared, only.items[0]), json_integer(0));
    const struct nn_training_options options = {.class_weights = json};
    assert_int_equal(nn_training_class_weights(&options, &labels, &only, &weights, &err),
                     NN_ERR_INVALID);
    assert_string_equal(err.pointer, "/class_weights");
    assert_null(weights);
    json_decref(json);
    synthetic_close(&set);
}

struct refused_row {
    const char *text, *pointer;
};

static void bad_class_weights_are_refused(void **state)
{
    (void)state;
    static const struct refused_row ROWS[] = {
        {"\"Balanced\"", "/class_weights"},     {"true", "/class_weights"},
        {"{\"a\": 1}", "/class_weights"},       {"[1, 2, 3]", "/class_weights"},
        {"[1, 2, -3, 4]", "/class_weights/2"},  {"[1, \"2\", 3, 4]", "/class_weights/1"},
        {"[1, 2, 3, 1e7]", "/class_weights/3"}, {"[0, 0, 0, 0]", "/class_weights"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct nn_error err = {0};
        json_t *json = weights_of(ROWS[i].text);
        assert_int_equal(nn_training_class_weights_check(json, 4, &err), NN_ERR_INVALID);
        assert_string_equal(err.pointer, ROWS[i].pointer);
        json_decref(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(micro_batches_add_up_to_the_batch),
        cmocka_unit_test(the_average_follows_its_formula),
        cmocka_unit_test(the_average_is_judged_not_trained),
        cmocka_unit_test(a_stopped_run_goes_on_to_the_same_bits),
        cmocka_unit_test(a_killed_run_goes_on_to_the_same_bits),
        cmocka_unit_test(class_weights_are_balanced_or_given),
        cmocka_unit_test(a_class_that_trains_has_weight),
        cmocka_unit_test(bad_class_weights_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
