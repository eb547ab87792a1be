/* SPDX-License-Identifier: MIT
 *
 * Explanations: against what PyTorch and numpy computed for them (tests/golden/make_explain.py),
 * the weights of the channels against finite differences, and a second look at a picture.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/explain/explain.h"
#include "core/explain/hiding.h"
#include "tests/support/close.h"
#include "tests/support/network.h"

#ifdef NN_REAL_DOUBLE
static const double BOUND = 1e-9;
#else
static const double BOUND = 1e-5;
#endif

enum { NUMBERS_MAX = 4096, CASES = 3 };

static size_t size_of(const json_t *c, const char *name)
{
    return (size_t)json_integer_value(json_object_get(c, name));
}

static size_t numbers(const json_t *array, nn_real *out)
{
    size_t n = json_array_size(array);
    assert_in_range(n, 1, NUMBERS_MAX);
    for (size_t i = 0; i < n; i++) {
        out[i] = (nn_real)json_number_value(json_array_get(array, i));
    }
    return n;
}

/* scale: numbers of that size were subtracted. */
static void expect_of(const char *name, const char *what, const nn_real *got, const json_t *array,
                      double scale)
{
    nn_real want[NUMBERS_MAX];
    size_t n = numbers(array, want);
    double largest = scale;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs((double)want[i]));
    }
    for (size_t i = 0; i < n; i++) {
        if (!(fabs((double)got[i] - (double)want[i]) <= BOUND * fmax(largest, 1e-3))) {
            fail_msg("%s: %s[%zu] is %g, not %g", name, what, i, (double)got[i], (double)want[i]);
        }
    }
}

static void expect(const char *name, const char *what, const nn_real *got, const json_t *array)
{
    expect_of(name, what, got, array, 0);
}

static void load_parameters(struct nn_network *network, const json_t *values)
{
    nn_real in[NUMBERS_MAX];
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *p = nn_network_parameter(network, i);
        assert_int_equal(numbers(json_object_get(values, p->name), in), p->count);
        nn_parameter_from_torch(p, in);
    }
}

/* A case of the file: the network with its values, and the sample. */
struct subject {
    const char *name;
    struct test_network trained;
    struct nn_network_bind bind;
    bool signal;
    uint8_t pixels[NUMBERS_MAX];
    float values[NUMBERS_MAX]; /* of a signal */
};

static const void *sample_of(const struct subject *s)
{
    return s->signal ? (const void *)s->values : s->pixels;
}

static void subject_open(const json_t *c, struct subject *s)
{
    const struct nn_network_options options = {.max_batch = 1, .phase = NN_PHASE_INFERENCE};
    const json_t *sample = json_object_get(c, "sample");
    bool signal = json_is_true(json_object_get(c, "signal"));
    *s = (struct subject){
        .name = json_string_value(json_object_get(c, "name")),
        .bind = {.height = size_of(c, "height"),
                 .width = size_of(c, "width"),
                 .channels = size_of(c, "channels"),
                 .classes = size_of(c, "class_count"),
                 .normalisation =
                     signal ? NN_NORMALISATION_NONE : NN_NORMALISATION_RESCALE_SYMMETRIC},
        .signal = signal,
    };
    char *text = jx_dump(json_object_get(c, "description"), NULL);
    s->trained = test_network_create(text, &s->bind, &options);
    free(text);
    load_parameters(s->trained.network, json_object_get(c, "parameters"));
    for (size_t i = 0; i < json_array_size(sample); i++) {
        const json_t *value = json_array_get(sample, i);
        s->pixels[i] = (uint8_t)json_integer_value(value);
        s->values[i] = (float)json_number_value(value);
    }
}

static struct nn_explainer *explain(const struct subject *s, const char *const *layers, size_t n,
                                    bool grad_cam, bool plain)
{
    const struct nn_explainer_setup setup = {
        .description = s->trained.description,
        .bind = s->bind,
        .network = s->trained.network,
        .layers = layers,
        .n_layers = n,
        .value_bytes = s->signal ? sizeof(float) : 1,
        .grad_cam = grad_cam,
        .plain_operators = plain,
    };
    struct nn_explainer *explainer = NULL;
    struct nn_error err = {0};
    if (nn_explainer_create(&setup, &explainer, &err) != NN_OK) {
        fail_msg("%s: %s", s->name, err.text);
    }
    return explainer;
}

static void check_classes(const json_t *c, const struct subject *s, struct nn_explainer *explainer)
{
    const json_t *classes = json_object_get(c, "classes");
    struct nn_explained_shape shape;
    nn_real map[NUMBERS_MAX];
    size_t k;
    json_t *want;
    json_array_foreach(classes, k, want)
    {
        nn_explainer_grad_cam(explainer, k, map);
        expect(s->name, "enlarged", map, json_object_get(want, "enlarged"));
        const json_t *small = json_object_get(want, "map");
        expect(s->name, "map", nn_explainer_map(explainer, &shape), small);
        assert_int_equal(shape.height * shape.width, json_array_size(small));
        expect(s->name, "weights", nn_explainer_weights(explainer),
               json_object_get(want, "weights"));
    }
}

/* A pair of sides, or all numbers, of what hides. */
static size_t side_of(const json_t *hiding, const char *name, size_t i)
{
    return (size_t)json_integer_value(json_array_get(json_object_get(hiding, name), i));
}

static struct nn_hider *hide(const json_t *c, const struct subject *s, bool plain)
{
    const json_t *hiding = json_object_get(c, "hiding");
    const struct nn_occlusion occlusion = {side_of(hiding, "mask", 0), side_of(hiding, "mask", 1),
                                           side_of(hiding, "stride", 0),
                                           side_of(hiding, "stride", 1)};
    const struct nn_lime lime = {.segments = size_of(hiding, "segments"),
                                 .copies = size_of(hiding, "copies"),
                                 .seed = size_of(hiding, "seed")};
    double fill[3];
    for (size_t i = 0; i < s->bind.channels; i++) {
        fill[i] = json_number_value(json_array_get(json_object_get(hiding, "fill"), i));
    }
    const struct nn_hider_setup setup = {.description = s->trained.description,
                                         .bind = s->bind,
                                         .network = s->trained.network,
                                         .value_bytes = s->signal ? sizeof(float) : 1,
                                         .fill = fill,
                                         .occlusion = &occlusion,
                                         .lime = &lime,
                                         .plain_operators = plain};
    struct nn_hider *hider = NULL;
    struct nn_error err = {0};
    if (nn_hider_create(&setup, &hider, &err) != NN_OK) {
        fail_msg("%s: %s", s->name, err.text);
    }
    return hider;
}

/* Classes in pairs, of which the second goes around. */
static void check_hidden(const json_t *c, bool plain)
{
    const json_t *classes = json_object_get(c, "classes");
    struct subject s;
    nn_real maps[2 * NUMBERS_MAX];
    subject_open(c, &s);
    size_t pixels = s.bind.height * s.bind.width;
    struct nn_hider *hider = hide(c, &s, plain);
    nn_real scores[NUMBERS_MAX];
    double scale = 0;
    size_t n = numbers(json_object_get(c, "scores"), scores);
    for (size_t k = 0; k < n; k++) {
        scale = fmax(scale, fabs((double)scores[k]));
    }
    for (size_t k = 0; k < s.bind.classes; k++) {
        const size_t pair[2] = {k, (k + 1) % s.bind.classes};
        assert_true(nn_hider_occlude(hider, sample_of(&s), pair, 2, maps));
        for (size_t i = 0; i < 2; i++) {
            expect_of(s.name, "occlusion", maps + i * pixels,
                      json_object_get(json_array_get(classes, pair[i]), "occlusion"), scale);
        }
        assert_true(nn_hider_lime(hider, sample_of(&s), pair, 2, maps));
        for (size_t i = 0; i < 2; i++) {
            expect_of(s.name, "lime", maps + i * pixels,
                      json_object_get(json_array_get(classes, pair[i]), "lime"), scale);
        }
    }
    nn_hider_destroy(hider);
    test_network_destroy(&s.trained);
}

static void check_case(const json_t *c, bool plain)
{
    const char *layer = json_string_value(json_object_get(c, "layer"));
    const char *features = json_string_value(json_object_get(c, "features"));
    struct subject s;
    struct nn_explained_shape shape;
    nn_real activation[NUMBERS_MAX];
    subject_open(c, &s);
    struct nn_explainer *explainer = explain(&s, &layer, 1, true, plain);
    assert_string_equal(nn_explainer_feature_layer(explainer), features);
    nn_explainer_look(explainer, sample_of(&s));
    expect(s.name, "scores", nn_explainer_scores(explainer), json_object_get(c, "scores"));
    size_t n = nn_explainer_activation_count(explainer, 0, &shape);
    assert_int_equal(n, json_array_size(json_object_get(c, "activation")));
    nn_explainer_activation(explainer, 0, activation);
    expect(s.name, "activation", activation, json_object_get(c, "activation"));
    check_classes(c, &s, explainer);
    nn_explainer_destroy(explainer);
    test_network_destroy(&s.trained);
}

static json_t *load_cases(void)
{
    json_t *cases = json_load_file("tests/golden/explain.json", 0, NULL);
    assert_int_equal(json_array_size(cases), CASES);
    return cases;
}

static void maps_are_what_pytorch_computes(void **state)
{
    (void)state;
    json_t *cases = load_cases();
    for (size_t i = 0; i < CASES; i++) {
        check_case(json_array_get(cases, i), false);
        check_case(json_array_get(cases, i), true);
    }
    json_decref(cases);
}

static void what_hides_is_what_pytorch_and_numpy_compute(void **state)
{
    (void)state;
    json_t *cases = load_cases();
    for (size_t i = 0; i < CASES; i++) {
        check_hidden(json_array_get(cases, i), false);
        check_hidden(json_array_get(cases, i), true);
    }
    json_decref(cases);
}

/* A channel's bias moves every pixel of its map, so that where no ReLU stands between them
 *     d score / d bias[k] = height * width * weight[k]. */
static const char SMOOTH[] =
    "{'layers': [{'name': 'in', 'kind': 'image_input'},"
    " {'name': 'c', 'kind': 'convolution', 'filters': 4, 'kernel': 3},"
    " {'name': 'd', 'kind': 'convolution', 'filters': 5, 'kernel': 3},"
    " {'name': 'n', 'kind': 'batch_norm'}, {'name': 'r', 'kind': 'relu'},"
    " {'name': 'drop', 'kind': 'dropout'}, {'name': 'fc', 'kind': 'fully_connected'},"
    " {'name': 'x', 'kind': 'softmax'}]}";

static const struct nn_parameter *parameter(struct nn_network *network, const char *name)
{
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        if (strcmp(nn_network_parameter(network, i)->name, name) == 0) {
            return nn_network_parameter(network, i);
        }
    }
    fail_msg("there is no %s", name);
    return NULL;
}

static double score_of(struct nn_network *network, const uint8_t *pixels, size_t class_index)
{
    nn_network_load_u8(network, pixels, 1);
    nn_network_forward(network, 1, NN_PHASE_INFERENCE, NULL);
    return (double)nn_network_output(network)[class_index];
}

static void weights_agree_with_finite_differences(void **state)
{
    (void)state;
    const struct nn_network_bind bind = {.height = 9,
                                         .width = 8,
                                         .channels = 3,
                                         .classes = 3,
                                         .normalisation = NN_NORMALISATION_RESCALE_UNIT};
    const struct nn_network_options options = {.max_batch = 1, .phase = NN_PHASE_INFERENCE};
    const double h = sizeof(nn_real) == 8 ? 1e-6 : 1e-2;
    const double bound = sizeof(nn_real) == 8 ? 1e-6 : 2e-2;
    struct subject s = {.name = "smooth", .bind = bind};
    nn_real map[NUMBERS_MAX];
    struct nn_explained_shape shape;
    s.trained = test_network_create(SMOOTH, &bind, &options);
    test_fill_parameters(s.trained.network, 7);
    for (size_t i = 0; i < 9 * 8 * 3; i++) {
        s.pixels[i] = (uint8_t)(i * 37 % 256);
    }
    struct nn_explainer_setup setup = {.description = s.trained.description,
                                       .bind = bind,
                                       .network = s.trained.network,
                                       .grad_cam = true,
                                       .feature_layer = "c"};
    struct nn_explainer *explainer = NULL;
    assert_int_equal(nn_explainer_create(&setup, &explainer, NULL), NN_OK);
    nn_explainer_look(explainer, s.pixels);
    nn_explainer_grad_cam(explainer, 1, map);
    (void)nn_explainer_map(explainer, &shape);
    assert_int_equal(shape.height * shape.width, 7 * 6);
    const struct nn_parameter *bias = parameter(s.trained.network, "c.bias");
    double off = 0, size = 0;
    for (size_t k = 0; k < 4; k++) {
        nn_real was = bias->value[k];
        bias->value[k] = (nn_real)((double)was + h);
        double up = score_of(s.trained.network, s.pixels, 1);
        bias->value[k] = (nn_real)((double)was - h);
        double down = score_of(s.trained.network, s.pixels, 1);
        bias->value[k] = was;
        double want = (up - down) / (2 * h) / (7 * 6);
        double got = (double)nn_explainer_weights(explainer)[k];
        off += (want - got) * (want - got);
        size += want * want;
    }
    assert_true(size > 0);
    if (!(sqrt(off / size) < bound)) {
        fail_msg("the weights are off by %g", sqrt(off / size));
    }
    nn_explainer_destroy(explainer);
    test_network_destroy(&s.trained);
}

/* B04, B05: dropout and batch norm as in evaluation, and nothing left behind by a look. */
static void looks_are_alike_and_as_in_evaluation(void **state)
{
    (void)state;
    static const char *const layers[] = {"r1", "drop"};
    json_t *cases = load_cases();
    struct subject s;
    struct nn_explained_shape shape;
    nn_real first[NUMBERS_MAX], next[NUMBERS_MAX], cam[NUMBERS_MAX], again[NUMBERS_MAX];
    subject_open(json_array_get(cases, 0), &s);
    struct nn_explainer *with = explain(&s, layers, 2, true, false);
    struct nn_explainer *without = explain(&s, layers, 2, false, false);
    for (size_t i = 0; i < 5; i++) {
        for (size_t k = 0; k < 2; k++) {
            size_t n = nn_explainer_activation_count(with, k, &shape);
            nn_explainer_look(with, s.pixels);
            nn_explainer_look(without, s.pixels);
            nn_explainer_activation(with, k, first);
            nn_explainer_activation(without, k, next);
            assert_true(test_relative_error(first, next, n) < BOUND);
        }
        nn_explainer_grad_cam(with, 1, i == 0 ? cam : again);
        assert_memory_equal(cam, i == 0 ? cam : again, s.bind.height * s.bind.width * sizeof *cam);
        assert_int_equal(nn_explainer_predicted(with), nn_explainer_predicted(without));
    }
    nn_network_load_u8(s.trained.network, s.pixels, 1);
    nn_network_forward(s.trained.network, 1, NN_PHASE_INFERENCE, NULL);
    assert_true(test_relative_error(nn_explainer_scores(with), nn_network_output(s.trained.network),
                                    s.bind.classes) < BOUND);
    nn_explainer_destroy(with);
    nn_explainer_destroy(without);
    test_network_destroy(&s.trained);
    json_decref(cases);
}

static enum nn_status try_with(const char *json, const struct nn_network_bind *bind,
                               const char *feature_layer, const char *layer)
{
    const struct nn_network_options options = {.max_batch = 1, .phase = NN_PHASE_INFERENCE};
    struct test_network t = test_network_create(json, bind, &options);
    struct nn_explainer_setup setup = {.description = t.description,
                                       .bind = *bind,
                                       .network = t.network,
                                       .layers = &layer,
                                       .n_layers = layer ? 1 : 0,
                                       .grad_cam = true,
                                       .feature_layer = feature_layer};
    struct nn_explainer *explainer = NULL;
    struct nn_error err = {0};
    enum nn_status status = nn_explainer_create(&setup, &explainer, &err);
    assert_true(status == NN_OK || (err.text[0] && !explainer));
    nn_explainer_destroy(explainer);
    test_network_destroy(&t);
    return status;
}

static void what_does_not_apply_is_refused(void **state)
{
    (void)state;
    static const char FLAT[] = "{'layers': [{'name': 'in', 'kind': 'image_input'},"
                               " {'name': 'fc', 'kind': 'fully_connected'},"
                               " {'name': 'x', 'kind': 'softmax'}]}";
    static const char STEPS[] = "{'layers': [{'name': 'in', 'kind': 'sequence_input'},"
                                " {'name': 'l', 'kind': 'lstm', 'units': 3},"
                                " {'name': 'fc', 'kind': 'fully_connected'}]}";
    const struct nn_network_bind images = {.height = 9, .width = 8, .channels = 3, .classes = 3};
    const struct nn_network_bind steps = {.features = 2, .longest = 5, .responses = 1};
    assert_int_equal(try_with(SMOOTH, &images, NULL, NULL), NN_OK);
    assert_int_equal(try_with(SMOOTH, &images, "c", "r"), NN_OK);
    assert_int_equal(try_with(SMOOTH, &images, "nowhere", NULL), NN_ERR_INVALID);
    assert_int_equal(try_with(SMOOTH, &images, "fc", NULL), NN_ERR_INVALID);
    assert_int_equal(try_with(SMOOTH, &images, NULL, "x"), NN_ERR_INVALID);
    assert_int_equal(try_with(FLAT, &images, NULL, NULL), NN_ERR_NOT_SUPPORTED);
    assert_int_equal(try_with(STEPS, &steps, NULL, NULL), NN_ERR_NOT_SUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_are_what_pytorch_computes),
        cmocka_unit_test(what_hides_is_what_pytorch_and_numpy_compute),
        cmocka_unit_test(weights_agree_with_finite_differences),
        cmocka_unit_test(looks_are_alike_and_as_in_evaluation),
        cmocka_unit_test(what_does_not_apply_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
