/* SPDX-License-Identifier: MIT
 *
 * The image networks of the catalogue against PyTorch: scores and gradients on made-up weights
 * (tests/golden/make_image_networks.py), and, where the test data is, squeezenet1_1 with its real
 * weights from every file format.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/exchange/exchange.h"
#include "core/files/weights.h"
#include "core/network/network.h"

/* Of scores: relative to the largest. Of gradients: the norm, and the product relative to it; in
 * float the batch norms of few pixels lose some digits. */
#ifdef NN_REAL_DOUBLE
static const double SCORES = 1e-9, GRADIENTS = 1e-7;
#else
static const double SCORES = 1e-4, GRADIENTS = 1e-2;
#endif

enum { BATCH = 2, SIZE = 64, CLASSES = 5 };

/* Numbers in [-0.5, 0.5), as in the script. */
static double noise(uint32_t key, size_t i)
{
    uint32_t x = (uint32_t)i * 2654435761U + key;
    x = (x ^ x >> 16) * 0x7feb352dU;
    x = (x ^ x >> 15) * 0x846ca68bU;
    x ^= x >> 16;
    return (double)x / 4294967296.0 - 0.5;
}

static uint32_t key_of(const char *name, const char *tail)
{
    uint32_t key = 2166136261U;
    for (int part = 0; part < 2; part++) {
        for (const char *c = part ? tail : name; *c; c++) {
            key = (key ^ (unsigned char)*c) * 16777619U;
        }
    }
    return key;
}

static void fill_parameter(const struct nn_parameter *p, nn_real *torch)
{
    uint32_t key = key_of(p->name, "");
    double scale = p->ndim > 1 ? sqrt(24.0 * (double)p->shape[0] / (double)p->count) : 0.2;
    double offset = 0;
    if (p->role == NN_ROLE_RUNNING_VAR) {
        scale = offset = 1;
    } else if (p->role == NN_ROLE_SCALE) {
        scale = 0.4;
        offset = 1;
    }
    for (size_t i = 0; i < p->count; i++) {
        torch[i] = (nn_real)(offset + scale * noise(key, i));
    }
    nn_parameter_from_torch(p, torch);
}

struct net {
    struct nn_description *description;
    struct nn_network *network;
};

static struct net net_make(const char *name, size_t size, size_t classes, enum nn_phase phase,
                           enum nn_operators operators)
{
    struct net net = {0};
    struct nn_error err = {0};
    const struct nn_network_bind bind = {
        .height = size, .width = size, .channels = 3, .classes = classes};
    const struct nn_network_options options = {
        .max_batch = BATCH, .phase = phase, .operators = operators};
    json_t *spec = json_pack("{s:s, s:i, s:i}", "name", name, "size", (int)size, "dropout", 0);
    if (nn_description_parse(spec, &net.description, &err) != NN_OK ||
        nn_network_create(net.description, &bind, &options, &net.network, &err) != NN_OK) {
        fail_msg("%s: %s", name, err.text);
    }
    json_decref(spec);
    return net;
}

static void net_close(struct net *net)
{
    nn_network_destroy(net->network);
    nn_description_destroy(net->description);
}

/* x is NCHW by index; the network wants NHWC. */
static void load_input(struct nn_network *network, size_t size, double (*at)(const void *, size_t),
                       const void *ctx)
{
    nn_real *input = nn_network_input(network);
    size_t pixels = size * size;
    for (size_t i = 0; i < BATCH * 3 * pixels; i++) {
        size_t n = i / (3 * pixels), c = i / pixels % 3, p = i % pixels;
        input[(n * pixels + p) * 3 + c] = (nn_real)at(ctx, i);
    }
}

static double noise_input(const void *ctx, size_t i)
{
    return 4 * noise(*(const uint32_t *)ctx, i);
}

static void expect_scores(const char *name, const struct nn_network *network, const json_t *wanted)
{
    const nn_real *scores = nn_network_output(network);
    double worst = 0, largest = 0;
    for (size_t i = 0; i < BATCH * CLASSES; i++) {
        double value = json_number_value(json_array_get(wanted, i));
        worst = fmax(worst, fabs((double)scores[i] - value));
        largest = fmax(largest, fabs(value));
    }
    if (!(worst <= SCORES * largest) || largest == 0) {
        fail_msg("%s: scores differ by %g of %g", name, worst, largest);
    }
}

/* largest: of the norms. What a batch norm behind it undoes has no gradient but rounding. */
static void expect_gradient(const char *name, const struct nn_parameter *p, const json_t *wanted,
                            double largest)
{
    struct nn_parameter view = *p;
    nn_real *torch = malloc(p->count * sizeof *torch);
    double squares = 0, product = 0, norm = json_number_value(json_array_get(wanted, 0));
    uint32_t key = key_of(p->name, "#");
    assert_true(torch && json_array_size(wanted) == 2);
    view.value = p->grad;
    nn_parameter_to_torch(&view, torch);
    for (size_t i = 0; i < p->count; i++) {
        squares += (double)torch[i] * (double)torch[i];
        product += (double)torch[i] * noise(key, i);
    }
    free(torch);
    double off = product - json_number_value(json_array_get(wanted, 1));
    double bound = GRADIENTS * (norm + 1e-4 * largest);
    if (!(fabs(sqrt(squares) - norm) <= bound) || !(fabs(off) <= bound)) {
        fail_msg("%s: gradient of %s has norm %g, not %g; product off by %g", name, p->name,
                 sqrt(squares), norm, off);
    }
}

static double largest_norm(const json_t *gradients)
{
    double largest = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)gradients, key, value)
    {
        largest = fmax(largest, json_number_value(json_array_get(value, 0)));
    }
    return largest;
}

/* d mean cross-entropy / d scores; the label of sample n is n. */
static void set_output_gradient(struct nn_network *network)
{
    const nn_real *p = nn_network_probabilities(network, BATCH);
    nn_real *d = nn_network_output_gradient(network);
    for (size_t i = 0; i < BATCH * CLASSES; i++) {
        d[i] = (p[i] - (i % CLASSES == i / CLASSES ? 1 : 0)) / BATCH;
    }
}

static void fill_network(struct nn_network *network)
{
    const uint32_t input = key_of("input", "");
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *p = nn_network_parameter(network, i);
        nn_real *torch = malloc(p->count * sizeof *torch);
        assert_non_null(torch);
        if (p->role != NN_ROLE_INPUT_MEAN && p->role != NN_ROLE_INPUT_STD) {
            fill_parameter(p, torch);
        }
        free(torch);
    }
    load_input(network, SIZE, noise_input, &input);
}

static void check_case(const json_t *c, enum nn_operators operators)
{
    const char *name = json_string_value(json_object_get(c, "name"));
    const struct nn_step step = {0};
    const json_t *gradients = json_object_get(c, "gradients");
    double largest = largest_norm(gradients);
    size_t seen = 0;
    struct net net = net_make(name, SIZE, CLASSES, NN_PHASE_TRAINING, operators);
    fill_network(net.network);
    nn_network_forward(net.network, BATCH, NN_PHASE_INFERENCE, NULL);
    expect_scores(name, net.network, json_object_get(c, "evaluation_scores"));
    nn_network_forward(net.network, BATCH, NN_PHASE_TRAINING, &step);
    expect_scores(name, net.network, json_object_get(c, "scores"));
    set_output_gradient(net.network);
    nn_network_zero_grads(net.network);
    nn_network_backward(net.network, BATCH);
    for (size_t i = 0; i < nn_network_parameter_count(net.network); i++) {
        const struct nn_parameter *p = nn_network_parameter(net.network, i);
        if (p->grad) {
            expect_gradient(name, p, json_object_get(gradients, p->name), largest);
            seen++;
        }
    }
    assert_int_equal(seen, json_object_size(gradients));
    net_close(&net);
}

static void made_up_weights_agree_with_pytorch(void **state)
{
    (void)state;
    json_t *cases = json_load_file("tests/golden/image_networks.json", 0, NULL);
    size_t i;
    json_t *c;
    assert_int_equal(json_array_size(cases), 4);
    json_array_foreach(cases, i, c)
    {
        check_case(c, NN_OPERATORS_OPTIMISED);
        check_case(c, NN_OPERATORS_PLAIN);
    }
    json_decref(cases);
}

/* ---- real weights ---- */

#define REAL_SIZE    224
#define REAL_CLASSES 1000

/* Path of a file of the test data; NULL when it is not there. */
static const char *data_path(const char *name)
{
    static char path[512];
    const char *root = getenv("ASSAY_TEST_DATA");
    (void)snprintf(path, sizeof path, "%s/weights/squeezenet1_1/%s", root ? root : "../shared/data",
                   name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    (void)fclose(file);
    return path;
}

/* The floats of a .npy file of version 1 (its header says where they begin). */
static float *npy_read(const char *name, size_t count)
{
    const char *path = data_path(name);
    FILE *file = path ? fopen(path, "rb") : NULL;
    float *values = malloc(count * sizeof *values);
    unsigned char head[10];
    assert_true(file && values && fread(head, 1, sizeof head, file) == sizeof head);
    assert_int_equal(fseek(file, 10 + head[8] + 256 * head[9], SEEK_SET), 0);
    assert_int_equal(fread(values, sizeof *values, count, file), count);
    (void)fclose(file);
    return values;
}

static double float_input(const void *ctx, size_t i)
{
    return (double)((const float *)ctx)[i];
}

static void import_file(struct nn_network *network, const char *name)
{
    struct nn_weights *weights = NULL;
    struct nn_error err = {0};
    if (nn_weights_open(data_path(name), NULL, &weights, &err) != NN_OK ||
        nn_exchange_import(network, nn_weights_tensor(weights, 0), nn_weights_count(weights),
                           NN_MATCH_HEAD_KEPT, NULL, &err) != NN_OK) {
        fail_msg("%s: %s", name, err.text);
    }
    nn_weights_close(weights);
}

static void real_weights_give_the_stored_scores(void **state)
{
    static const struct {
        const char *file;
        double bound;
    } FILES[] = {{"squeezenet1_1.safetensors", 1e-5},
                 {"squeezenet1_1.pth", 1e-5},
                 {"squeezenet1_1-legacy.pth", 1e-5},
                 {"squeezenet1_1-f16.safetensors", 5e-3}};
    (void)state;
    if (!data_path(FILES[0].file)) {
        skip();
    }
    float *input = npy_read("reference_input.npy", BATCH * 3 * REAL_SIZE * REAL_SIZE);
    float *logits = npy_read("reference_logits.npy", BATCH * REAL_CLASSES);
    struct net net = net_make("squeezenet1_1", REAL_SIZE, REAL_CLASSES, NN_PHASE_INFERENCE,
                              NN_OPERATORS_OPTIMISED);
    for (size_t f = 0; f < sizeof FILES / sizeof FILES[0]; f++) {
        import_file(net.network, FILES[f].file);
        load_input(net.network, REAL_SIZE, float_input, input);
        nn_network_forward(net.network, BATCH, NN_PHASE_INFERENCE, NULL);
        const nn_real *scores = nn_network_output(net.network);
        double worst = 0, largest = 0;
        for (size_t i = 0; i < BATCH * REAL_CLASSES; i++) {
            worst = fmax(worst, fabs((double)scores[i] - (double)logits[i]));
            largest = fmax(largest, fabs((double)logits[i]));
        }
        if (!(worst <= FILES[f].bound * largest)) {
            fail_msg("%s: %g of %g", FILES[f].file, worst, largest);
        }
    }
    net_close(&net);
    free(input);
    free(logits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_up_weights_agree_with_pytorch),
        cmocka_unit_test(real_weights_give_the_stored_scores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
