/* SPDX-License-Identifier: MIT
 *
 * Occlusion and LIME where the answer is known: of a network whose score is a sum over the pixels
 * of one patch; equal bits with any number of threads; what is refused. Against PyTorch and numpy:
 * test_explain.c.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/explain/hiding_internal.h"
#include "tests/support/network.h"

enum { H = 12, W = 10, C = 3, PIXELS = H * W, CLASSES = 3 };
enum { TOP = 4, LEFT = 5, PATCH_H = 3, PATCH_W = 2 }; /* what class 1 looks at */

static const char LINEAR[] =
    "{'layers': [{'name': 'in', 'kind': 'image_input', 'normalisation': 'none'},"
    " {'name': 'fc', 'kind': 'fully_connected'}, {'name': 'x', 'kind': 'softmax'}]}";
static const struct nn_network_bind BIND = {
    .height = H, .width = W, .channels = C, .classes = CLASSES};
static const double FILL[C] = {100.4, -7, 300}; /* as pixels: 100, 0, 255 */
static const double HIDDEN[C] = {100, 0, 255};
static const uint8_t OBJECT[C] = {200, 150, 255}; /* stands in the patch */

struct subject {
    struct test_network trained;
    uint8_t sample[PIXELS * C];
};

static bool in_patch(size_t pixel)
{
    size_t y = pixel / W, x = pixel % W;
    return y >= TOP && y < TOP + PATCH_H && x >= LEFT && x < LEFT + PATCH_W;
}

/* Score of class 1: a thousandth of the sum of a channel each, 1, 2 and 3 times, over the patch. */
static double weight_of(size_t pixel, size_t channel)
{
    return in_patch(pixel) ? 0.001 * (double)(channel + 1) : 0;
}

static struct subject subject_open(void)
{
    const struct nn_network_options options = {.max_batch = 1, .phase = NN_PHASE_INFERENCE};
    struct subject s = {.trained = test_network_create(LINEAR, &BIND, &options)};
    nn_real weights[CLASSES * C * PIXELS] = {0};
    for (size_t c = 0; c < C; c++) {
        for (size_t i = 0; i < PIXELS; i++) {
            weights[(C + c) * PIXELS + i] = (nn_real)weight_of(i, c);
        }
    }
    nn_parameter_from_torch(test_parameter(s.trained.network, "fc.weight"), weights);
    for (size_t i = 0; i < sizeof s.sample; i++) {
        s.sample[i] = (uint8_t)(i * 53 % 256);
    }
    for (size_t i = 0; i < PIXELS; i++) {
        if (in_patch(i)) {
            memcpy(s.sample + i * C, OBJECT, C);
        }
    }
    return s;
}

/* What a pixel adds to the score when it is shown, and when it is hidden, the difference. */
static double worth_of(const struct subject *s, size_t pixel)
{
    double worth = 0;
    for (size_t c = 0; c < C; c++) {
        worth += weight_of(pixel, c) * ((double)s->sample[pixel * C + c] - HIDDEN[c]);
    }
    return worth;
}

static struct nn_hider_setup setup_of(const struct subject *s)
{
    return (struct nn_hider_setup){.description = s->trained.description,
                                   .bind = BIND,
                                   .network = s->trained.network,
                                   .value_bytes = 1,
                                   .fill = FILL};
}

static struct nn_hider *hide(const struct nn_hider_setup *setup)
{
    struct nn_hider *hider = NULL;
    struct nn_error err = {0};
    if (nn_hider_create(setup, &hider, &err) != NN_OK) {
        fail_msg("%s", err.text);
    }
    return hider;
}

/* ---- occlusion ---- */

static double fall_under(const struct subject *s, size_t top, size_t left,
                         const struct nn_occlusion *o)
{
    double fall = 0;
    for (size_t y = top; y < top + o->mask_height; y++) {
        for (size_t x = left; x < left + o->mask_width; x++) {
            fall += worth_of(s, y * W + x);
        }
    }
    return fall;
}

/* The mean over all masks that cover a pixel, one after the other. */
static double wanted_at(const struct subject *s, size_t pixel, const struct nn_occlusion *o)
{
    double sum = 0, n = 0;
    size_t bottom = H - o->mask_height, right = W - o->mask_width;
    for (size_t top = 0;; top = top + o->stride_down < bottom ? top + o->stride_down : bottom) {
        for (size_t left = 0;;
             left = left + o->stride_right < right ? left + o->stride_right : right) {
            size_t y = pixel / W - top, x = pixel % W - left; /* huge where it lies before */
            if (y < o->mask_height && x < o->mask_width) {
                sum += fall_under(s, top, left, o);
                n++;
            }
            if (left == right) {
                break;
            }
        }
        if (top == bottom) {
            break;
        }
    }
    return sum / n;
}

static void a_patch_is_found(void **state)
{
    (void)state;
    static const struct nn_occlusion CASES[] = {{1, 1, 1, 1}, {3, 2, 1, 1}, {5, 4, 2, 3},
                                                {5, 4, 5, 4}, {H, W, 1, 1}, {H, 1, H, 1}};
    struct subject s = subject_open();
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct nn_hider_setup setup = setup_of(&s);
        const size_t classes[2] = {1, 0};
        nn_real maps[2 * PIXELS];
        size_t largest = 0;
        setup.occlusion = &CASES[i];
        struct nn_hider *hider = hide(&setup);
        assert_true(nn_hider_occlude(hider, s.sample, classes, 2, maps));
        nn_hider_destroy(hider);
        for (size_t k = 0; k < PIXELS; k++) {
            double want = wanted_at(&s, k, &CASES[i]);
            if (!(fabs((double)maps[k] - want) < 1e-5)) {
                fail_msg("case %zu: pixel %zu is %g, not %g", i, k, (double)maps[k], want);
            }
            assert_true(fabs((double)maps[PIXELS + k]) < 1e-6); /* class 0 looks at nothing */
            largest = fabs((double)maps[k]) > fabs((double)maps[largest]) ? k : largest;
        }
        assert_true(in_patch(largest) || CASES[i].mask_height > PATCH_H);
    }
    test_network_destroy(&s.trained);
}

/* ---- LIME ---- */

static void a_linear_network_is_read_off(void **state)
{
    (void)state;
    static const struct nn_lime LIME = {.segments = 30, .copies = 2000, .seed = 3};
    struct subject s = subject_open();
    struct nn_hider_setup setup = setup_of(&s);
    uint32_t segment_of[PIXELS];
    double want[PIXELS] = {0}, largest = 0;
    nn_real map[PIXELS];
    const size_t class_index = 1;
    setup.lime = &LIME;
    struct nn_hider *hider = hide(&setup);
    assert_true(nn_hider_lime(hider, s.sample, &class_index, 1, map));
    nn_hider_destroy(hider);
    size_t segments = nn_segments_grid(H, W, 30, segment_of);
    assert_int_equal(segments, 6 * 5);
    for (size_t i = 0; i < PIXELS; i++) {
        want[segment_of[i]] += worth_of(&s, i);
        largest = fmax(largest, fabs(want[segment_of[i]]));
    }
    for (size_t i = 0; i < PIXELS; i++) { /* but for the ridge, which shrinks by 1 in some 200 */
        assert_true(fabs((double)map[i] - want[segment_of[i]]) < 0.01 * largest);
    }
    test_network_destroy(&s.trained);
}

/* What is least has no slope: neither along a coefficient, where the ridge pulls, nor along the
 * intercept, where nothing does. */
static void the_normal_equations_hold(void **state)
{
    (void)state;
    enum { N = 6, D = 3 };
    static const uint8_t shown[N * D] = {1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1};
    static const double score[2 * N] = {3, 0, 1.5, 0, -2, 0, 4, 0, 0.25, 0, 9, 0};
    double work[D * D + D], c[D], weight[N], weights = 0, intercept = 0;
    assert_int_equal(nn_lime_work(D), D * D + D);
    nn_lime_fit(shown, N, D, score, 2, work, c);
    for (size_t i = 0; i < N; i++) {
        const uint8_t *z = shown + i * D;
        double distance = 1 - sqrt((z[0] + z[1] + z[2]) / 3.0);
        weight[i] = exp(-8 * distance * distance);
        weights += weight[i];
        intercept += weight[i] * (score[2 * i] - z[0] * c[0] - z[1] * c[1] - z[2] * c[2]);
    }
    intercept /= weights;
    for (size_t j = 0; j < D; j++) { /* the slope of what is least, along coefficient j */
        double slope = c[j];
        for (size_t i = 0; i < N; i++) {
            const uint8_t *z = shown + i * D;
            slope -= weight[i] * z[j] *
                     (score[2 * i] - intercept - z[0] * c[0] - z[1] * c[1] - z[2] * c[2]);
        }
        assert_true(fabs(slope) < 1e-12);
    }
}

/* ---- superpixels ---- */

/* The patch stands out, so that its superpixels get what it is worth and others next to nothing. */
static void lime_of_superpixels(void **state)
{
    (void)state;
    static const struct nn_lime LIME = {NN_SEGMENTATION_SUPERPIXELS, 30, 800, 3};
    struct subject s = subject_open();
    struct nn_hider_setup setup = setup_of(&s);
    nn_real map[PIXELS], first[PIXELS];
    const size_t class_index = 1;
    double worth = 0;
    for (size_t i = 0; i < PIXELS; i++) {
        if (!in_patch(i)) {
            memset(s.sample + i * C, 20, C);
        }
        worth += worth_of(&s, i);
    }
    setup.lime = &LIME;
    struct nn_hider *hider = hide(&setup);
    assert_true(nn_hider_lime(hider, s.sample, &class_index, 1, first));
    uint8_t other[sizeof s.sample] = {0}; /* is cut in another way, and leaves nothing behind */
    assert_true(nn_hider_lime(hider, other, &class_index, 1, map));
    assert_true(nn_hider_lime(hider, s.sample, &class_index, 1, map));
    assert_memory_equal(map, first, sizeof map);
    nn_hider_destroy(hider);
    double found = 0;
    nn_real seen[PIXELS];
    size_t n = 0;
    for (size_t i = 0; i < PIXELS; i++) {
        bool is_new = in_patch(i);
        assert_true(in_patch(i) || fabs((double)map[i]) < 0.02 * worth);
        for (size_t k = 0; k < n; k++) {
            is_new = is_new && fabs((double)(seen[k] - map[i])) > 1e-7;
        }
        if (is_new) {
            seen[n++] = map[i];
            found += (double)map[i];
        }
    }
    assert_true(fabs(found - worth) < 0.02 * worth);
    test_network_destroy(&s.trained);
}

/* ---- both ---- */

static const char SMALL[] =
    "{'layers': [{'name': 'in', 'kind': 'image_input', 'normalisation': 'rescale_unit'},"
    " {'name': 'c', 'kind': 'convolution', 'filters': 7, 'kernel': 3}, {'name': 'r', 'kind': "
    "'relu'},"
    " {'name': 'drop', 'kind': 'dropout'}, {'name': 'fc', 'kind': 'fully_connected'},"
    " {'name': 'x', 'kind': 'softmax'}]}";
static const struct nn_occlusion MASK = {4, 3, 2, 2};
static const struct nn_lime COPIES = {.segments = 20, .copies = 70, .seed = 9};

static void run(struct nn_hider_setup *setup, const uint8_t *sample, nn_real maps[4 * PIXELS])
{
    const size_t classes[2] = {2, 0};
    setup->occlusion = &MASK;
    setup->lime = &COPIES;
    struct nn_hider *hider = hide(setup);
    assert_true(nn_hider_lime(hider, sample, classes, 2, maps + 2 * PIXELS));
    assert_true(nn_hider_occlude(hider, sample, classes, 2, maps));
    nn_hider_destroy(hider);
}

/* Threads, what ran before, and whether a class is asked about alone change no bit. */
static void bits_are_equal(void **state)
{
    (void)state;
    const struct nn_network_options options = {.max_batch = 1, .phase = NN_PHASE_INFERENCE};
    static nn_real one[4 * PIXELS], three[4 * PIXELS], alone[PIXELS];
    struct nn_pool *pool = NULL;
    struct nn_hider *hider;
    struct subject s = subject_open();
    test_network_destroy(&s.trained);
    s.trained = test_network_create(SMALL, &BIND, &options);
    test_fill_parameters(s.trained.network, 4);
    struct nn_hider_setup setup = setup_of(&s);
    run(&setup, s.sample, one);
    assert_int_equal(nn_pool_create(NULL, 3, &pool, NULL), NN_OK);
    setup.pool = pool;
    run(&setup, s.sample, three);
    assert_memory_equal(one, three, sizeof one);
    hider = hide(&setup);
    for (int i = 0; i < 2; i++) {
        const size_t class_index = 0;
        assert_true(nn_hider_occlude(hider, s.sample, &class_index, 1, alone));
        assert_memory_equal(alone, one + PIXELS, sizeof alone);
        assert_true(nn_hider_lime(hider, s.sample, &class_index, 1, alone));
        assert_memory_equal(alone, one + 3 * PIXELS, sizeof alone);
    }
    nn_hider_destroy(hider);
    nn_pool_destroy(pool);
    test_network_destroy(&s.trained);
}

static bool twice(void *ctx)
{
    return ++*(int *)ctx <= 2;
}

static void it_stops_between_batches(void **state)
{
    (void)state;
    int asked = 0;
    nn_real map[PIXELS];
    const size_t class_index = 1;
    struct subject s = subject_open();
    struct nn_hider_setup setup = setup_of(&s);
    setup.lime = &COPIES; /* three batches */
    setup.go_on = twice;
    setup.ctx = &asked;
    struct nn_hider *hider = hide(&setup);
    assert_false(nn_hider_lime(hider, s.sample, &class_index, 1, map));
    assert_int_equal(asked, 3);
    nn_hider_destroy(hider);
    test_network_destroy(&s.trained);
}

static void no_memory_is_said(void **state)
{
    (void)state;
    struct nn_memory *memory = NULL;
    struct nn_hider *hider = NULL;
    size_t n = 0;
    struct subject s = subject_open();
    struct nn_hider_setup setup = setup_of(&s);
    enum nn_status status = NN_ERR_MEMORY;
    setup.occlusion = &MASK;
    setup.lime = &COPIES;
    assert_int_equal(nn_memory_create(SIZE_MAX, &memory), NN_OK);
    setup.memory = memory;
    while (status != NN_OK) {
        nn_memory_fail_at(memory, ++n);
        status = nn_hider_create(&setup, &hider, NULL);
        assert_true(status == NN_OK || status == NN_ERR_MEMORY);
        assert_true(status == NN_OK || nn_memory_used(memory) == 0);
    }
    assert_true(n > 8);
    nn_memory_fail_at(memory, 0);
    nn_hider_destroy(hider);
    nn_memory_destroy(memory);
    test_network_destroy(&s.trained);
}

static void sequences_are_refused(void **state)
{
    (void)state;
    static const char STEPS[] = "{'layers': [{'name': 'in', 'kind': 'sequence_input'},"
                                " {'name': 'l', 'kind': 'lstm', 'units': 3},"
                                " {'name': 'fc', 'kind': 'fully_connected'}]}";
    const struct nn_network_bind bind = {.features = 2, .longest = 5, .responses = 1};
    const struct nn_network_options options = {.max_batch = 1, .phase = NN_PHASE_INFERENCE};
    struct test_network t = test_network_create(STEPS, &bind, &options);
    const struct nn_hider_setup setup = {.description = t.description,
                                         .bind = bind,
                                         .network = t.network,
                                         .value_bytes = sizeof(float),
                                         .fill = FILL,
                                         .lime = &COPIES};
    struct nn_hider *hider = NULL;
    struct nn_error err = {0};
    assert_int_equal(nn_hider_create(&setup, &hider, &err), NN_ERR_NOT_SUPPORTED);
    assert_true(err.text[0] && !hider);
    test_network_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_patch_is_found),
        cmocka_unit_test(a_linear_network_is_read_off),
        cmocka_unit_test(the_normal_equations_hold),
        cmocka_unit_test(lime_of_superpixels),
        cmocka_unit_test(bits_are_equal),
        cmocka_unit_test(it_stops_between_batches),
        cmocka_unit_test(no_memory_is_said),
        cmocka_unit_test(sequences_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
