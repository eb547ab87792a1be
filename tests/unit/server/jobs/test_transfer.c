/* SPDX-License-Identifier: MIT
 *
 * server/jobs: jobs that start from weights: defaults of transfer_learning, whose weights a trial
 * gets, what is frozen, and every refusal with its pointer.
 */
#include <stdio.h>
#include <string.h>

#include "core/json/json.h"
#include "core/network/network.h"
#include "server/jobs/jobs.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/jobs.h"
#include "tests/support/network.h"

#define FITS            "0192a1b2c3d47e5f8a9b0c1d2e3f0001"
#define OTHER           "0192a1b2c3d47e5f8a9b0c1d2e3f0002"
#define UPLOADING       "0192a1b2c3d47e5f8a9b0c1d2e3f0003"
#define ABSENT          "0192a1b2c3d47e5f8a9b0c1d2e3f0004"
#define LEVELS          "0192a1b2c3d47e5f8a9b0c1d2e3f0005" /* fit, and name their preprocessing */
#define IMAGENET        "0192a1b2c3d47e5f8a9b0c1d2e3f0006" /* as ImageNet's pictures come */
#define TURNED          "0192a1b2c3d47e5f8a9b0c1d2e3f0007" /* as torchvision's googlenet has them then */
#define VARIANT         "0192a1b2c3d47e5f8a9b0c1d2e3f0008" /* fit, and hold more */
#define DIGEST          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define IMAGENET_LEVELS "'scale': 255, 'mean': [0.485, 0.456, 0.406], 'std': [0.229, 0.224, 0.225]"
#define MINIMAL         "'kind': 'solver_comparison', 'dataset': '" TEST_DATASET "'"
#define TRANSFER        "'kind': 'transfer_learning', 'dataset': '" TEST_DATASET "'"

static struct jobs_dataset photos = {.id = TEST_DATASET,
                                     .height = 28,
                                     .width = 28,
                                     .channels = 3,
                                     .classes = 5,
                                     .train = 600,
                                     .test = 100};

static enum sv_status find_weights(void *ctx, const char *id, const json_t *network,
                                   const struct nn_network_bind *bind,
                                   struct jobs_weights *out_weights, struct sv_error *err)
{
    (void)ctx;
    assert_true(json_is_object(network));
    assert_int_equal(bind->classes, 5);
    if (strcmp(id, OTHER) == 0) {
        return sv_fail(err, SV_ERR_INVALID_FIELD, "\"conv1.weight\" is missing");
    }
    if (strcmp(id, UPLOADING) == 0) {
        return SV_ERR_WRONG_STATE;
    }
    const char *levels =
        strcmp(id, LEVELS) == 0
            ? "{'scale': 255, 'mean': [0.5, 0.4, 0.485], 'std': [0.2, 0.25, 0.229]}"
        : strcmp(id, IMAGENET) == 0 ? "{" IMAGENET_LEVELS "}"
        : strcmp(id, TURNED) == 0   ? "{" IMAGENET_LEVELS ", 'transform_input': true}"
                                    : NULL;
    bool variant = strcmp(id, VARIANT) == 0;
    if (!levels && !variant && strcmp(id, FITS) != 0) {
        return SV_ERR_NOT_FOUND;
    }
    (void)snprintf(out_weights->partly, sizeof out_weights->partly, "%s",
                   variant ? "9 of the file's 58 tensors" : "");
    out_weights->preprocessing = levels ? test_json(levels) : NULL;
    (void)snprintf(out_weights->id, sizeof out_weights->id, "%s", id);
    (void)snprintf(out_weights->digest, sizeof out_weights->digest, "%s", DIGEST);
    return SV_OK;
}

static const struct jobs_context context = {.find_dataset = test_find_dataset,
                                            .find_weights = find_weights,
                                            .ctx = &photos,
                                            .max_trials = 100,
                                            .trial_memory_bytes = (uint64_t)2 << 30};

static void the_kind_has_the_defaults_of_its_experiment(void **state)
{
    (void)state;
    struct jobs_plan *plan =
        test_resolve(&context, "{" TRANSFER ", 'network': {'name': 'squeezenet1_1', 'size': 0},"
                               " 'training': {'epochs': 7}}");
    const json_t *trial = plan->trials[0].resolved;
    assert_int_equal(plan->trial_count, 1);
    assert_string_equal(plan->headline_metric, "validation_accuracy");
    assert_string_equal(test_text_at(trial, "training.solver"), "sgdm");
    assert_string_equal(test_text_at(trial, "training.shuffle"), "every_epoch");
    assert_string_equal(test_text_at(trial, "freeze"), "none");
    assert_true(test_number_at(trial, "training.learning_rate") == 0.001);
    assert_true(test_number_at(trial, "training.head_learning_rate_factor") == 10);
    assert_true(test_number_at(trial, "training.l2") == 0.0001);
    assert_true(test_number_at(trial, "training.batch_size") == 32);
    assert_true(test_number_at(trial, "training.epochs") == 7);
    assert_true(json_is_null(json_object_get(trial, "weights")));
    assert_int_equal(plan->start_count, 0);
    jobs_plan_destroy(plan);
}

static void without_validation_the_test_part_is_the_headline(void **state)
{
    (void)state;
    struct jobs_plan *plan = test_resolve(
        &context, "{" TRANSFER ", 'network': {'name': 'simple_cnn'}, 'split': {'train': 1}}");
    assert_string_equal(plan->headline_metric, "test_accuracy");
    jobs_plan_destroy(plan);
}

static void the_digest_of_the_weights_is_part_of_the_trial(void **state)
{
    (void)state;
    struct jobs_plan *without = test_resolve(&context, "{" MINIMAL "}");
    struct jobs_plan *all = test_resolve(&context, "{" MINIMAL ", 'weights': '" FITS "'}");
    struct jobs_plan *named =
        test_resolve(&context, "{" MINIMAL ", 'weights': {'simple_cnn': '" FITS "'}}");
    assert_string_equal(test_text_at(all->trials[0].resolved, "weights"), DIGEST);
    assert_string_equal(all->trials[0].hash, named->trials[0].hash);
    assert_string_not_equal(all->trials[0].hash, without->trials[0].hash);
    assert_int_equal(all->start_count, 1);
    assert_string_equal(all->starts[0].network, "simple_cnn");
    assert_string_equal(all->starts[0].weights_id, FITS);
    jobs_plan_destroy(without);
    jobs_plan_destroy(all);
    jobs_plan_destroy(named);
}

static void each_network_has_its_own_weights(void **state)
{
    (void)state;
    struct jobs_plan *plan = test_resolve(
        &context,
        "{" TRANSFER ", 'network': {'dropout': 0.2, 'size': 0}, 'weights': {'mobilenet_v2': '" FITS
        "'}, 'search': {'parameters': {'network.name': ['squeezenet1_1', 'mobilenet_v2']}}}");
    assert_int_equal(plan->trial_count, 2);
    assert_int_equal(plan->start_count, 1);
    assert_true(plan->without_weights);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(test_text_at(plan->trials[i].resolved, "weights"), i < 1 ? "" : DIGEST);
    }
    jobs_plan_destroy(plan);
}

static void what_is_frozen_can_be_swept(void **state)
{
    (void)state;
    struct jobs_plan *plan = test_resolve(
        &context, "{" TRANSFER ", 'network': {'name': 'mobilenet_v2', 'size': 0}, 'weights': '" FITS
                  "', 'search': {'parameters': {'freeze': ['none', 'all_but_head',"
                  " {'up_to': 'classifier.0'}]}}}");
    assert_int_equal(plan->trial_count, 3);
    assert_false(plan->without_weights);
    assert_string_equal(test_text_at(plan->trials[1].resolved, "freeze"), "all_but_head");
    assert_string_equal(test_text_at(plan->trials[2].resolved, "freeze.up_to"), "classifier.0");
    jobs_plan_destroy(plan);
}

/* Nothing is transferred then: allowed, to compare with, and said in the dry run. */
static void a_transfer_without_weights_is_warned_of(void **state)
{
    (void)state;
    static const char *const jobs[] = {"{" TRANSFER ", 'network': {'name': 'simple_cnn'}}",
                                       "{" TRANSFER ", 'network': {'name': 'simple_cnn'},"
                                       " 'weights': '" FITS "'}",
                                       "{" MINIMAL "}"};
    for (size_t i = 0; i < 3; i++) {
        struct jobs_plan *plan = test_resolve(&context, jobs[i]);
        json_t *answer = jobs_plan_encode(plan);
        const json_t *warnings = json_object_get(answer, "warnings");
        assert_int_equal(json_array_size(warnings), i == 0 ? 1 : 0);
        if (i == 0) {
            assert_string_equal(test_text_at(json_array_get(warnings, 0), "pointer"), "/weights");
            assert_string_equal(test_text_at(json_array_get(warnings, 0), "code"), "no_weights");
        }
        json_decref(answer);
        jobs_plan_destroy(plan);
    }
}

/* Said once for all trials of the network, where its weights are named. */
static void weights_of_another_variant_are_warned_of(void **state)
{
    (void)state;
    static const char *const weights[][2] = {
        {"'" VARIANT "'", "/weights"}, {"{'simple_cnn': '" VARIANT "'}", "/weights/simple_cnn"}};
    for (size_t i = 0; i < 2; i++) {
        char text[400];
        (void)snprintf(text, sizeof text,
                       "{" TRANSFER ", 'network': {'name': 'simple_cnn'}, 'weights': %s,"
                       " 'seeds': [1, 2], 'search': {'parameters': {'training.epochs': [1, 2]}}}",
                       weights[i][0]);
        struct jobs_plan *plan = test_resolve(&context, text);
        assert_int_equal(plan->trial_count, 4);
        assert_int_equal(json_array_size(plan->warnings), 1);
        assert_string_equal(test_text_at(plan->warnings, "0.code"), "weights_fit_partly");
        assert_string_equal(test_text_at(plan->warnings, "0.pointer"), weights[i][1]);
        assert_non_null(strstr(test_text_at(plan->warnings, "0.text"), "simple_cnn only partly"));
        assert_non_null(strstr(test_text_at(plan->warnings, "0.text"), "9 of the file's 58"));
        jobs_plan_destroy(plan);
    }
}

/* Pictures are normalised as those who trained the weights did it. */
static void the_preprocessing_of_the_weights_is_in_the_network(void **state)
{
    (void)state;
    struct jobs_plan *plan = test_resolve(&context, "{" MINIMAL ", 'weights': '" LEVELS "'}");
    const json_t *layers = jx_path_get(plan->trials[0].resolved, "network.layers");
    const json_t *input = json_array_get(layers, 0);
    assert_string_equal(test_text_at(input, "kind"), "image_input");
    assert_string_equal(test_text_at(input, "normalisation"), "zscore");
    const json_t *mean = json_object_get(input, "mean"), *std = json_object_get(input, "std");
    assert_true(json_number_value(json_array_get(mean, 0)) == 127.5);
    assert_true(json_number_value(json_array_get(mean, 2)) == 123.675);
    assert_true(json_number_value(json_array_get(std, 1)) == 63.75);
    jobs_plan_destroy(plan);
    /* the job's own word */
    plan = test_resolve(&context, "{" MINIMAL ", 'weights': '" LEVELS
                                  "', 'data': {'normalisation': 'none'}}");
    layers = jx_path_get(plan->trials[0].resolved, "network.layers");
    assert_string_not_equal(test_text_at(json_array_get(layers, 0), "normalisation"), "zscore");
    jobs_plan_destroy(plan);
}

/* googlenet of torchvision turns ImageNet's normalisation into levels from -1 to 1 itself. */
static void what_transform_input_makes_is_in_the_network(void **state)
{
    (void)state;
    static const char NETWORK[] =
        "'network': {'name': 'googlenet', 'size': 0}, 'training': {'batch_size': 2}";
    char text[400];
    struct sv_error err = {0};
    struct jobs_plan *plan = NULL;
    (void)snprintf(text, sizeof text, "{" MINIMAL ", 'weights': '" TURNED "', %s}", NETWORK);
    plan = test_resolve(&context, text);
    const json_t *layers = jx_path_get(plan->trials[0].resolved, "network.layers");
    assert_string_equal(test_text_at(json_array_get(layers, 0), "normalisation"),
                        "rescale_symmetric");
    jobs_plan_destroy(plan);
    plan = test_resolve(&context, "{" MINIMAL ", 'weights': '" TURNED "'}");
    layers = jx_path_get(plan->trials[0].resolved, "network.layers");
    assert_string_equal(test_text_at(json_array_get(layers, 0), "normalisation"),
                        "rescale_symmetric");
    jobs_plan_destroy(plan);
    (void)snprintf(text, sizeof text, "{" MINIMAL ", 'weights': '" IMAGENET "', %s}", NETWORK);
    plan = NULL;
    assert_int_equal(test_try(&context, text, &plan, &err), SV_ERR_INVALID_FIELD);
    assert_string_equal(err.pointer, "/weights");
    assert_non_null(strstr(err.text, "transform_input"));
}

/* Names are kept whole: two trials of one network are one start. */
static void long_names_and_none_are_names(void **state)
{
    (void)state;
    static const char LAYERS[] = "'layers': [{'kind': 'image_input', 'name': 'in'},"
                                 " {'kind': 'fully_connected', 'name': 'fc'},"
                                 " {'kind': 'softmax', 'name': 'p'}]";
    char name[201], text[2000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    (void)snprintf(text, sizeof text,
                   "{" MINIMAL ", 'weights': '" FITS "', 'network': {'name': '%s', %s}}", name,
                   LAYERS);
    struct jobs_plan *plan = test_resolve(&context, text);
    assert_int_equal(plan->trial_count, 3);
    assert_int_equal(plan->start_count, 1);
    assert_string_equal(plan->starts[0].network, name);
    jobs_plan_destroy(plan);
    (void)snprintf(text, sizeof text,
                   "{" MINIMAL ", 'weights': {'%s': '" FITS "'}, 'network': {'name': '%s', %s}}",
                   name, name, LAYERS);
    plan = test_resolve(&context, text);
    assert_int_equal(plan->start_count, 1);
    jobs_plan_destroy(plan);
    (void)snprintf(text, sizeof text,
                   "{" MINIMAL ", 'weights': '" FITS "', 'search': {'parameters': {'network':"
                   " [{%s}, {'name': 'layers', %s}]}}}",
                   LAYERS, LAYERS);
    plan = test_resolve(&context, text);
    assert_int_equal(plan->start_count, 2);
    assert_string_equal(plan->starts[0].network, "");
    assert_string_equal(plan->starts[1].network, "layers");
    jobs_plan_destroy(plan);
}

static const struct refusal {
    const char *job, *pointer;
    enum sv_status status;
} refusals[] = {
    {"{" MINIMAL ", 'weights': 3}", "/weights", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'weights': {'simple_cnn': 3}}", "/weights/simple_cnn", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'weights': 'none'}", "/weights", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'weights': '" ABSENT "'}", "/weights", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'weights': {'simple_cnn': '" ABSENT "'}}", "/weights/simple_cnn",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'weights': {'simple_cnn': '" UPLOADING "'}}", "/weights/simple_cnn",
     SV_ERR_WRONG_STATE},
    {"{" MINIMAL ", 'weights': {'simple_cnn': '" OTHER "'}}", "/weights/simple_cnn",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'weights': {'simple_cnn': '" FITS "', 'a/b': '" FITS "'}}", "/weights/a~1b",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'freeze': 'all'}", "/freeze", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'freeze': {'up_to': 3}}", "/freeze/up_to", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'freeze': {'up_to': 'relu9'}}", "/freeze/up_to", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'freeze': {'up_to': 'fc'}}", "/freeze/up_to", SV_ERR_INVALID_FIELD},
    {"{" TRANSFER ", 'network': {'name': 'simple_cnn'}, 'freeze': 'all_but_head'}", "/weights",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'freeze': {'up_to': 'relu1'}}", "/weights", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'augmentation': {'rotate': 3}}", "/augmentation/rotate", SV_ERR_UNKNOWN_FIELD},
    {"{" MINIMAL ", 'weights': '" LEVELS "', 'network': {'layers': [{'kind': 'image_input', 'name':"
     " 'in', 'normalisation': 'rescale_unit'}, {'kind': 'fully_connected', 'name': 'fc'},"
     " {'kind': 'softmax', 'name': 'p'}]}}",
     "/weights", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'augmentation': {'crop_padding': -1}}", "/augmentation/crop_padding",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'augmentation': {'crop_padding': 28}}", "/augmentation/crop_padding",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'training': {'head_learning_rate_factor': -1}}",
     "/training/head_learning_rate_factor", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'training': {'layer_factors': [{'layers': 'conv*'}, {'layers': 'block*'}]}}",
     "/training/layer_factors/1/layers", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'training': {'layer_factors': [{'learning_rate_factor': 2}]}}",
     "/training/layer_factors/0/layers", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'training': {'layer_factors': [{'layers': '*', 'l2': 1}]}}",
     "/training/layer_factors/0/l2", SV_ERR_UNKNOWN_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'freeze': ['none', 'some']}}}",
     "/search/parameters/freeze/1", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'weights': ['" FITS "']}}}",
     "/search/parameters/weights", SV_ERR_INVALID_FIELD},
};

static void every_refusal_names_its_field(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct jobs_plan *plan = NULL;
        struct sv_error err = {0};
        enum sv_status st = test_try(&context, refusals[i].job, &plan, &err);
        if (st != refusals[i].status || strcmp(err.pointer, refusals[i].pointer) != 0) {
            fail_msg("%s: %s at \"%s\" (%s), not %s at \"%s\"", refusals[i].job, sv_status_slug(st),
                     err.pointer, err.text, sv_status_slug(refusals[i].status),
                     refusals[i].pointer);
        }
        assert_null(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kind_has_the_defaults_of_its_experiment),
        cmocka_unit_test(without_validation_the_test_part_is_the_headline),
        cmocka_unit_test(the_digest_of_the_weights_is_part_of_the_trial),
        cmocka_unit_test(each_network_has_its_own_weights),
        cmocka_unit_test(what_is_frozen_can_be_swept),
        cmocka_unit_test(a_transfer_without_weights_is_warned_of),
        cmocka_unit_test(weights_of_another_variant_are_warned_of),
        cmocka_unit_test(the_preprocessing_of_the_weights_is_in_the_network),
        cmocka_unit_test(what_transform_input_makes_is_in_the_network),
        cmocka_unit_test(long_names_and_none_are_names),
        cmocka_unit_test(every_refusal_names_its_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
