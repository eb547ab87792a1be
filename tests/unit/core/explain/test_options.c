/* SPDX-License-Identifier: MIT
 *
 * The `explain` object: what it means, what is refused and where, which pictures it chooses.
 */
#include "core/explain/options.h"

#include <string.h>

#include "tests/support/cmocka_all.h"
#include "tests/support/network.h"
#include "tests/support/sets.h"

static const struct nn_network_bind BIND = {.height = 9, .width = 8, .channels = 3, .classes = 3};

static const char NETWORK[] =
    "{'layers': [{'name': 'in', 'kind': 'image_input'},"
    " {'name': 'c', 'kind': 'convolution', 'filters': 4, 'kernel': 3},"
    " {'name': 'r', 'kind': 'relu'}, {'name': 'drop', 'kind': 'dropout'},"
    " {'name': 'fc', 'kind': 'fully_connected'}, {'name': 'x', 'kind': 'softmax'}]}";
static const char NETWORK_1D[] =
    "{'layers': [{'name': 'in', 'kind': 'image_input'},"
    " {'name': 'c', 'kind': 'convolution', 'filters': 4, 'kernel': [1, 3]},"
    " {'name': 'fc', 'kind': 'fully_connected'}, {'name': 'x', 'kind': 'softmax'}]}";
static const char FLAT[] = "{'layers': [{'name': 'in', 'kind': 'image_input'},"
                           " {'name': 'fc', 'kind': 'fully_connected'},"
                           " {'name': 'x', 'kind': 'softmax'}]}";
static const char STEPS[] = "{'layers': [{'name': 'in', 'kind': 'sequence_input'},"
                            " {'name': 'l', 'kind': 'lstm', 'units': 3},"
                            " {'name': 'fc', 'kind': 'fully_connected'}]}";

/* The names of a plan are borrowed from *out_json. */
static enum nn_status plan_for(const struct nn_network_bind *bind, const char *network,
                               const char *text, json_t **out_json, struct nn_explain_plan *out,
                               struct nn_error *err)
{
    struct nn_description *description = NULL;
    struct nn_explain_options options;
    json_t *spec = test_json(network);
    *out_json = test_json(text);
    assert_int_equal(nn_description_parse(spec, &description, err), NN_OK);
    assert_int_equal(jx_decode(nn_explain_fields, *out_json, "", &options, err), NN_OK);
    const struct nn_explain_subject subject = {description, *bind, bind->height == 1};
    enum nn_status status = nn_explain_plan(&options, &subject, out, err);
    nn_description_destroy(description);
    json_decref(spec);
    return status;
}

static enum nn_status plan_of(const char *network, const char *text, json_t **out_json,
                              struct nn_explain_plan *out, struct nn_error *err)
{
    return plan_for(&BIND, network, text, out_json, out, err);
}

static void defaults(void **state)
{
    (void)state;
    struct nn_explain_plan plan;
    json_t *json;
    assert_int_equal(plan_of(NETWORK, "{}", &json, &plan, NULL), NN_OK);
    assert_true(plan.samples == 8 && !plan.by_item && plan.part == NN_PART_TEST);
    assert_true(plan.grad_cam && plan.n_layers == 0 && !plan.feature_layer);
    assert_true(!plan.occludes && !plan.limes && !plan.fill_given);
    json_decref(json);
}

static void layers_ask_for_activations(void **state)
{
    (void)state;
    struct nn_explain_plan plan;
    json_t *json;
    static const char TEXT[] = "{'layers': ['fc', 'in'], 'samples': [4, 2], 'part': 'validation'}";
    assert_int_equal(plan_of(NETWORK, TEXT, &json, &plan, NULL), NN_OK);
    assert_true(plan.grad_cam && plan.n_layers == 2);
    assert_string_equal(plan.layers[0], "fc");
    assert_string_equal(plan.layers[1], "in");
    assert_true(plan.by_item && plan.samples == 2 && plan.items[0] == 4 && plan.items[1] == 2);
    assert_int_equal(plan.part, NN_PART_VALIDATION);
    json_decref(json);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *network, *text, *pointer;
        enum nn_status status;
    } CASES[] = {
        {NETWORK, "{'samples': 0}", "/samples", NN_ERR_INVALID},
        {NETWORK, "{'samples': 257}", "/samples", NN_ERR_INVALID},
        {NETWORK, "{'samples': []}", "/samples", NN_ERR_INVALID},
        {NETWORK, "{'samples': 'all'}", "/samples", NN_ERR_INVALID},
        {NETWORK, "{'samples': 2.5}", "/samples", NN_ERR_INVALID},
        {NETWORK, "{'samples': [1, -1]}", "/samples/1", NN_ERR_INVALID},
        {NETWORK, "{'samples': [1, 1]}", "/samples/1", NN_ERR_INVALID},
        {NETWORK, "{'methods': ['activations']}", "/layers", NN_ERR_INVALID},
        {NETWORK, "{'methods': ['grad_cam'], 'layers': ['r']}", "/layers", NN_ERR_INVALID},
        {NETWORK, "{'layers': ['r', 'nowhere']}", "/layers/1", NN_ERR_INVALID},
        {NETWORK, "{'layers': ['x']}", "/layers/0", NN_ERR_INVALID},
        {NETWORK, "{'layers': ['r', 'r']}", "/layers/1", NN_ERR_INVALID},
        {NETWORK, "{'feature_layer': 'fc'}", "/feature_layer", NN_ERR_INVALID},
        {NETWORK, "{'feature_layer': 'in'}", "/feature_layer", NN_ERR_INVALID},
        {NETWORK, "{'methods': ['activations'], 'layers': ['r'], 'feature_layer': 'c'}",
         "/feature_layer", NN_ERR_INVALID},
        {NETWORK, "{'methods': ['lime'], 'occlusion': {}}", "/occlusion", NN_ERR_INVALID},
        {NETWORK, "{'methods': ['occlusion'], 'lime': {}}", "/lime", NN_ERR_INVALID},
        {NETWORK, "{'mask_value': 3}", "/mask_value", NN_ERR_INVALID},
        {NETWORK, "{'lime': {}, 'mask_value': [3, 4]}", "/mask_value", NN_ERR_INVALID},
        {NETWORK, "{'lime': {}, 'mask_value': [3, 256, 0]}", "/mask_value", NN_ERR_INVALID},
        {NETWORK, "{'occlusion': {'mask_size': 9}}", "/occlusion/mask_size", NN_ERR_INVALID},
        {NETWORK, "{'occlusion': {'mask_size': [10, 1]}}", "/occlusion/mask_size", NN_ERR_INVALID},
        {NETWORK, "{'occlusion': {'mask_size': 3, 'stride': [3, 4]}}", "/occlusion/stride",
         NN_ERR_INVALID},
        {NETWORK, "{'lime': {'segmentation': 'superpixels'}, 'mask_value': -1}", "/mask_value",
         NN_ERR_INVALID},
        {NETWORK, "{'methods': ['occlusion'], 'feature_layer': 'c'}", "/feature_layer",
         NN_ERR_INVALID},
        {FLAT, "{}", "/methods", NN_ERR_NOT_SUPPORTED},
        {STEPS, "{}", "", NN_ERR_NOT_SUPPORTED},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct nn_explain_plan plan = {.samples = 77};
        struct nn_error err = {0};
        json_t *json;
        enum nn_status status = plan_of(CASES[i].network, CASES[i].text, &json, &plan, &err);
        if (status != CASES[i].status || strcmp(err.pointer, CASES[i].pointer) != 0) {
            fail_msg("%s: status %d at \"%s\": %s", CASES[i].text, (int)status, err.pointer,
                     err.text);
        }
        assert_int_equal(plan.samples, 77);
        json_decref(json);
    }
    struct nn_explain_plan plan;
    json_t *json;
    static const char FLAT_LAYERS[] = "{'methods': ['activations'], 'layers': ['fc']}";
    assert_int_equal(plan_of(FLAT, FLAT_LAYERS, &json, &plan, NULL), NN_OK);
    json_decref(json);
}

static void expect_mask(const struct nn_network_bind *bind, const char *text,
                        struct nn_occlusion want)
{
    struct nn_explain_plan plan;
    json_t *json;
    assert_int_equal(plan_for(bind, FLAT, text, &json, &plan, NULL), NN_OK);
    assert_true(plan.occludes && !plan.grad_cam && !plan.limes);
    assert_memory_equal(&plan.occlusion, &want, sizeof want);
    json_decref(json);
}

/* No map is needed of a network whose samples are hidden in parts. */
static void masks_fit_the_samples(void **state)
{
    (void)state;
    static const struct nn_network_bind LARGE = {
        .height = 224, .width = 160, .channels = 3, .classes = 3};
    static const struct nn_network_bind WINDOW = {
        .height = 1, .width = 2048, .channels = 2, .classes = 3};
#define ONLY "'methods': ['occlusion']"
    expect_mask(&BIND, "{" ONLY "}", (struct nn_occlusion){2, 2, 1, 1});
    expect_mask(&LARGE, "{" ONLY "}", (struct nn_occlusion){45, 32, 23, 16});
    expect_mask(&WINDOW, "{" ONLY "}", (struct nn_occlusion){1, 102, 1, 51});
    expect_mask(&LARGE, "{" ONLY ", 'occlusion': {'mask_size': 30, 'stride': [10, 30]}}",
                (struct nn_occlusion){30, 30, 10, 30});
    expect_mask(&LARGE, "{" ONLY ", 'occlusion': {'mask_size': [224, 9]}}",
                (struct nn_occlusion){224, 9, 112, 5});
    expect_mask(&WINDOW, "{" ONLY ", 'occlusion': {'mask_size': 30, 'stride': 7}}",
                (struct nn_occlusion){1, 30, 1, 7});
    assert_int_equal(nn_occlusion_places(9, 3, 2), 4);
    assert_int_equal(nn_occlusion_places(10, 3, 2), 5);
    assert_int_equal(nn_occlusion_places(5, 5, 3), 1);
    struct nn_explain_plan plan;
    struct nn_error err = {0};
    json_t *json;
    static const char FINE[] = "{" ONLY ", 'occlusion': {'mask_size': 3, 'stride': 1}}";
    assert_int_equal(plan_for(&LARGE, FLAT, FINE, &json, &plan, &err), NN_ERR_INVALID);
    assert_string_equal(err.pointer, "/occlusion/stride");
    json_decref(json);
}

static void options_of_a_method_ask_for_it(void **state)
{
    (void)state;
    struct nn_explain_plan plan;
    json_t *json;
    static const struct nn_network_bind WINDOW = {
        .height = 1, .width = 64, .channels = 2, .classes = 3};
    static const char TEXT[] = "{'lime': {'segments': 9, 'seed': 4}, 'mask_value': [1.5, -300]}";
    assert_int_equal(plan_for(&WINDOW, NETWORK_1D, TEXT, &json, &plan, NULL), NN_OK);
    assert_true(plan.grad_cam && plan.limes && !plan.occludes && plan.fill_given);
    assert_true(plan.lime.segments == 9 && plan.lime.copies == 512 && plan.lime.seed == 4);
    assert_true(plan.fill[0] > 1.4 && plan.fill[0] < 1.6 && plan.fill[1] < -299);
    json_decref(json);
    struct nn_error err = {0};
    static const char FAR[] = "{'lime': {}, 'mask_value': [0, -1e39]}";
    assert_int_equal(plan_for(&WINDOW, NETWORK_1D, FAR, &json, &plan, &err), NN_ERR_INVALID);
    assert_string_equal(err.pointer, "/mask_value");
    json_decref(json);
    static const char CUT[] = "{'lime': {'segmentation': 'superpixels'}}";
    assert_int_equal(plan_for(&WINDOW, NETWORK_1D, CUT, &json, &plan, &err), NN_ERR_INVALID);
    assert_string_equal(err.pointer, "/lime/segmentation");
    json_decref(json);
    assert_int_equal(plan_of(NETWORK, CUT, &json, &plan, NULL), NN_OK);
    assert_int_equal(plan.lime.segmentation, NN_SEGMENTATION_SUPERPIXELS);
    json_decref(json);
    static const char ALL[] = "{'methods': ['grad_cam', 'activations', 'occlusion', 'lime'], "
                              "'layers': ['r'], 'mask_value': 7}";
    assert_int_equal(plan_of(NETWORK, ALL, &json, &plan, NULL), NN_OK);
    assert_true(plan.grad_cam && plan.n_layers == 1 && plan.occludes && plan.limes);
    assert_true(plan.lime.segments == 49 && plan.lime.copies == 512 && plan.lime.seed == 1);
    assert_true(plan.fill[0] > 6.9 && plan.fill[2] > 6.9);
    json_decref(json);
}

enum { N = 40 };

/* The first by digest are the same whatever the order in which the part is gone through, and are
 * in order. */
static void the_choice_follows_the_content(void **state)
{
    (void)state;
    struct test_set_item items[N];
    uint32_t part[N], turned[N];
    size_t first[NN_EXPLAIN_SAMPLES_MAX], second[NN_EXPLAIN_SAMPLES_MAX];
    struct nn_explain_plan plan = {.samples = 7};
    for (size_t i = 0; i < N; i++) { /* the last two are one picture */
        items[i] = (struct test_set_item){.label = (uint32_t)i % 2,
                                          .part = NN_PART_TEST,
                                          .content = i == N - 1 ? N - 2 : (unsigned)i};
        part[i] = (uint32_t)i;
        turned[N - 1 - i] = (uint32_t)i;
    }
    char *directory = test_directory();
    struct nn_prepared *set = test_set(directory, items, N, 3, 2, 1, 2);
    assert_int_equal(nn_explain_choose(&plan, set, part, N, first), 7);
    assert_int_equal(nn_explain_choose(&plan, set, turned, N, second), 7);
    assert_memory_equal(first, second, 7 * sizeof *first);
    for (size_t i = 1; i < 7; i++) {
        assert_true(memcmp(nn_prepared_item_digest(set, first[i - 1]),
                           nn_prepared_item_digest(set, first[i]), NN_DIGEST_BYTES) <= 0);
    }
    for (size_t i = 0; i < N; i++) { /* none that was left out comes before the last taken */
        bool taken = false;
        for (size_t k = 0; k < 7; k++) {
            taken = taken || first[k] == i;
        }
        assert_true(taken || memcmp(nn_prepared_item_digest(set, i),
                                    nn_prepared_item_digest(set, first[6]), NN_DIGEST_BYTES) >= 0);
    }
    plan.samples = 100;
    assert_int_equal(nn_explain_choose(&plan, set, part, N, first), N);
    plan = (struct nn_explain_plan){.by_item = true, .samples = 3, .items = {5, N, 2}};
    assert_int_equal(nn_explain_choose(&plan, set, part, N, first), 2);
    assert_true(first[0] == 5 && first[1] == 2);
    nn_prepared_close(set);
    test_directory_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(layers_ask_for_activations),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(masks_fit_the_samples),
        cmocka_unit_test(options_of_a_method_ask_for_it),
        cmocka_unit_test(the_choice_follows_the_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
