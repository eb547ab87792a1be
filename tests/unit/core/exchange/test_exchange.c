/* SPDX-License-Identifier: MIT
 *
 * core/exchange: weights out and in again to the bit, in PyTorch's names and order; files that do
 * not fit leave the network as it was.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/exchange/exchange.h"
#include "core/network/network.h"
#include "tests/support/sets.h"

static const char TEXT[] =
    "{\"layers\": [{\"kind\": \"image_input\", \"name\": \"input\"},"
    "{\"kind\": \"convolution\", \"name\": \"conv1\", \"filters\": 3, \"kernel\": [2, 3]},"
    "{\"kind\": \"batch_norm\", \"name\": \"bn1\"}, {\"kind\": \"relu\", \"name\": \"relu1\"},"
    "{\"kind\": \"fully_connected\", \"name\": \"fc\", \"outputs\": 4},"
    "{\"kind\": \"softmax\", \"name\": \"softmax\"}]}";
static const char *const NAMES[] = {"conv1.weight",     "conv1.bias",      "bn1.weight", "bn1.bias",
                                    "bn1.running_mean", "bn1.running_var", "fc.weight",  "fc.bias"};
enum { TENSORS = sizeof NAMES / sizeof NAMES[0] };

static struct nn_description *description;

static int set_up(void **state)
{
    (void)state;
    json_t *json = json_loads(TEXT, 0, NULL);
    enum nn_status status = nn_description_parse(json, &description, NULL);
    json_decref(json);
    return status == NN_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    nn_description_destroy(description);
    return 0;
}

static struct nn_network *make(uint64_t seed)
{
    const struct nn_network_bind bind = {.height = 5, .width = 6, .channels = 2, .classes = 4};
    const struct nn_network_options options = {.max_batch = 2, .phase = NN_PHASE_TRAINING};
    struct nn_network *network = NULL;
    struct nn_error err = {0};
    if (nn_network_create(description, &bind, &options, &network, &err) != NN_OK) {
        fail_msg("%s at %s", err.text, err.pointer);
    }
    nn_network_initialize(network, seed);
    return network;
}

static const struct nn_parameter *parameter(const struct nn_network *network, const char *name)
{
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        if (strcmp(nn_network_parameter(network, i)->name, name) == 0) {
            return nn_network_parameter(network, i);
        }
    }
    fail_msg("no parameter %s", name);
    return NULL;
}

static bool same_values(const struct nn_network *a, const struct nn_network *b)
{
    for (size_t i = 0; i < nn_network_parameter_count(a); i++) {
        const struct nn_parameter *x = nn_network_parameter(a, i);
        const struct nn_parameter *y = nn_network_parameter(b, i);
        for (size_t k = 0; k < x->count; k++) {
            if ((float)x->value[k] != (float)y->value[k]) {
                return false;
            }
        }
    }
    return true;
}

static void saved_network_loads_again(void **state)
{
    (void)state;
    char *directory = test_directory();
    char *path = test_path(directory, "w");
    struct nn_network *first = make(1);
    struct nn_network *second = make(2);
    struct nn_safetensors *file = NULL;
    struct nn_match *report = NULL;
    const struct nn_file_pair metadata = {"format", "pt"};
    assert_false(same_values(first, second));
    assert_int_equal(nn_exchange_save(first, path, NN_FILE_F32, &metadata, 1, NULL), NN_OK);
    assert_int_equal(nn_safetensors_open(path, NULL, &file, NULL), NN_OK);
    assert_int_equal(nn_safetensors_count(file), TENSORS);
    assert_int_equal(nn_exchange_load(second, file, NN_MATCH_HEAD_KEPT, &report, NULL), NN_OK);
    assert_int_equal(nn_match_count(report, NN_MATCH_MATCHED), TENSORS);
    assert_true(nn_match_is_loadable(report));
    nn_match_destroy(report);
    assert_true(same_values(first, second));
    nn_safetensors_close(file);
    nn_network_destroy(first);
    nn_network_destroy(second);
    free(path);
    test_directory_remove(directory);
}

/* The element [o, i, y, x] of a convolution stands at o I H W + i H W + y W + x of the file; so
 * does that of a fully connected layer behind a grid, whose columns are C, H, W. */
static void order_is_that_of_pytorch(void **state)
{
    (void)state;
    char *directory = test_directory();
    char *path = test_path(directory, "w");
    struct nn_network *network = make(1);
    struct nn_safetensors *file = NULL;
    assert_int_equal(nn_exchange_save(network, path, NN_FILE_F32, NULL, 0, NULL), NN_OK);
    assert_int_equal(nn_safetensors_open(path, NULL, &file, NULL), NN_OK);
    const char *const names[] = {"conv1.weight", "fc.weight"};
    const size_t shapes[2][4] = {{3, 2, 2, 3}, {4, 3 * 4 * 4, 0, 0}};
    for (size_t n = 0; n < 2; n++) {
        const struct nn_file_tensor *tensor = nn_safetensors_find(file, names[n]);
        assert_memory_equal(tensor->shape, shapes[n], tensor->rank * sizeof(size_t));
        const struct nn_parameter *p = parameter(network, names[n]);
        size_t stride[4]; /* of each axis in memory */
        size_t step = 1;
        for (size_t a = 4; a-- > 0;) {
            stride[p->order[a]] = step;
            step *= p->extent[p->order[a]];
        }
        const size_t *e = p->extent;
        for (size_t i = 0; i < tensor->count; i++) {
            const size_t at[4] = {i / (e[1] * e[2] * e[3]), i / (e[2] * e[3]) % e[1],
                                  i / e[3] % e[2], i % e[3]};
            size_t memory = 0;
            for (size_t a = 0; a < 4; a++) {
                memory += at[a] * stride[a];
            }
            float value;
            memcpy(&value, (const char *)tensor->data + i * sizeof value, sizeof value);
            assert_true(value == (float)p->value[memory]);
        }
    }
    nn_safetensors_close(file);
    nn_network_destroy(network);
    free(path);
    test_directory_remove(directory);
}

/* The tensors of a good file, to be spoiled. */
struct draft {
    struct nn_file_tensor tensors[TENSORS + 2];
    size_t n;
    float values[256];
};

static void draft_fill(struct draft *draft, const struct nn_network *network)
{
    *draft = (struct draft){.n = TENSORS};
    for (size_t i = 0; i < TENSORS; i++) {
        const struct nn_parameter *p = parameter(network, NAMES[i]);
        struct nn_file_tensor *t = &draft->tensors[i];
        *t = (struct nn_file_tensor){.name = NAMES[i],
                                     .dtype = NN_FILE_F32,
                                     .rank = p->ndim,
                                     .count = p->count,
                                     .data = draft->values,
                                     .bytes = p->count * sizeof(float)};
        memcpy(t->shape, p->shape, sizeof t->shape);
        assert_true(p->count <= 256);
    }
}

static enum nn_status load_draft(const struct draft *draft, struct nn_network *network,
                                 size_t counts[NN_MATCH_FATE_COUNT], struct nn_error *err)
{
    char *directory = test_directory();
    char *path = test_path(directory, "w");
    struct nn_safetensors *file = NULL;
    assert_int_equal(nn_safetensors_write(path, draft->tensors, draft->n, NULL, 0, err), NN_OK);
    assert_int_equal(nn_safetensors_open(path, NULL, &file, err), NN_OK);
    struct nn_match *match = NULL;
    enum nn_status status = nn_exchange_load(network, file, NN_MATCH_HEAD_KEPT, &match, err);
    for (int fate = 0; fate < NN_MATCH_FATE_COUNT; fate++) {
        counts[fate] = nn_match_count(match, (enum nn_match_fate)fate);
    }
    nn_match_destroy(match);
    nn_safetensors_close(file);
    free(path);
    test_directory_remove(directory);
    return status;
}

static void files_that_do_not_fit(void **state)
{
    (void)state;
    struct nn_network *network = make(1);
    struct nn_network *untouched = make(1);
    size_t counts[NN_MATCH_FATE_COUNT];
    struct nn_error err = {0};
    struct draft draft;

    draft_fill(&draft, network);
    draft.n--; /* fc.bias is missing */
    assert_int_equal(load_draft(&draft, network, counts, &err), NN_ERR_INVALID);
    assert_int_equal(counts[NN_MATCH_MISSING], 1);
    assert_non_null(strstr(err.text, "\"fc.bias\" [4] is missing"));

    draft_fill(&draft, network);
    draft.tensors[0].shape[2] = 3; /* height and width of the kernel swapped */
    draft.tensors[0].shape[3] = 2;
    assert_int_equal(load_draft(&draft, network, counts, &err), NN_ERR_INVALID);
    assert_int_equal(counts[NN_MATCH_WRONG_SHAPE], 1);
    assert_non_null(strstr(err.text, "[3, 2, 3, 2]"));

    draft_fill(&draft, network);
    draft.values[0] = NAN;
    assert_int_equal(load_draft(&draft, network, counts, &err), NN_ERR_INVALID);
    assert_non_null(strstr(err.text, "not finite"));
    assert_true(same_values(network, untouched));

    draft_fill(&draft, network);
    draft.tensors[draft.n] = draft.tensors[1];
    draft.tensors[draft.n++].name = "head.bias";
    draft.tensors[draft.n] = draft.tensors[1];
    draft.tensors[draft.n++].name = "bn1.num_batches_tracked";
    assert_int_equal(load_draft(&draft, network, counts, &err), NN_OK);
    assert_int_equal(counts[NN_MATCH_UNEXPECTED], 1);
    assert_int_equal(counts[NN_MATCH_IGNORED], 1);
    assert_int_equal(counts[NN_MATCH_MATCHED], TENSORS);
    assert_true(parameter(network, "fc.bias")->value[0] == 0);
    assert_false(same_values(network, untouched));
    nn_network_destroy(network);
    nn_network_destroy(untouched);
}

/* PyTorch keeps two biases of an LSTM; their sum is ours. One of another shape is no bias of it. */
static void both_biases_of_an_lstm_count(void **state)
{
    (void)state;
    json_t *json = json_loads("{\"layers\": [{\"name\": \"in\", \"kind\": \"sequence_input\","
                              "\"normalisation\": \"none\"}, {\"name\": \"l\", \"kind\": \"lstm\","
                              "\"units\": 2}]}",
                              0, NULL);
    struct nn_description *lstm = NULL;
    struct nn_network *network = NULL;
    const struct nn_network_bind bind = {.features = 3, .longest = 4};
    const struct nn_network_options options = {.max_batch = 1};
    assert_int_equal(nn_description_parse(json, &lstm, NULL), NN_OK);
    assert_int_equal(nn_network_create(lstm, &bind, &options, &network, NULL), NN_OK);
    float values[24];
    for (size_t i = 0; i < 24; i++) {
        values[i] = (float)i / 8;
    }
    struct nn_file_tensor tensors[] = {
        {.name = "l.weight_ih_l0", .rank = 2, .shape = {8, 3}, .count = 24},
        {.name = "l.weight_hh_l0", .rank = 2, .shape = {8, 2}, .count = 16},
        {.name = "l.bias_ih_l0", .rank = 1, .shape = {8}, .count = 8},
        {.name = "l.bias_hh_l0", .rank = 1, .shape = {8}, .count = 8},
    };
    for (size_t i = 0; i < 4; i++) {
        tensors[i].dtype = NN_FILE_F32;
        tensors[i].data = (unsigned char *)(values + (i == 3 ? 8 : 0));
        tensors[i].bytes = tensors[i].count * sizeof(float);
    }
    for (int wrong = 0; wrong < 2; wrong++) {
        struct nn_match *match = NULL;
        tensors[3].shape[0] = tensors[3].count = wrong ? 7 : 8;
        assert_int_equal(nn_exchange_import(network, tensors, 4, NN_MATCH_HEAD_KEPT, &match, NULL),
                         NN_OK);
        assert_int_equal(nn_match_count(match, NN_MATCH_MATCHED), 3);
        assert_int_equal(nn_match_count(match, NN_MATCH_UNEXPECTED), wrong);
        nn_match_destroy(match);
        const struct nn_parameter *bias = parameter(network, "l.bias_ih_l0");
        for (size_t i = 0; i < 8; i++) {
            float expected = values[i] + (wrong ? 0 : values[i + 8]);
            assert_true((float)bias->value[i] == expected);
        }
    }
    nn_network_destroy(network);
    nn_description_destroy(lstm);
    json_decref(json);
}

/* A file of PyTorch's module of one unit and one input: of each direction both weights and both
 * biases, `gates` numbers each: 0, 1, 2, ... */
static size_t module_file(struct nn_file_tensor tensors[8], float values[32], size_t gates,
                          size_t directions)
{
    static char names[8][40];
    static const char *const PARTS[] = {"weight_ih", "weight_hh", "bias_ih", "bias_hh"};
    for (size_t i = 0; i < 4 * directions; i++) {
        (void)snprintf(names[i], sizeof names[i], "l.%s_l0%s", PARTS[i % 4],
                       i < 4 ? "" : "_reverse");
        tensors[i] = (struct nn_file_tensor){.name = names[i],
                                             .rank = i % 4 < 2 ? 2 : 1,
                                             .shape = {gates, 1},
                                             .count = gates,
                                             .dtype = NN_FILE_F32,
                                             .data = (unsigned char *)(values + i * gates),
                                             .bytes = gates * sizeof(float)};
    }
    for (size_t i = 0; i < 4 * directions * gates; i++) {
        values[i] = (float)i;
    }
    return 4 * directions;
}

/* The sum counts in either direction of an LSTM; a GRU has both. */
static void biases_of_recurrent_layers_find_their_places(void **state)
{
    (void)state;
    for (int gru = 0; gru < 2; gru++) {
        struct nn_file_tensor tensors[8];
        float values[32];
        size_t gates = gru ? 3 : 4, n = module_file(tensors, values, gates, 2);
        json_t *json =
            json_pack("{s:[{s:s, s:s, s:s}, {s:s, s:s, s:i, s:s}]}", "layers", "name", "in", "kind",
                      "sequence_input", "normalisation", "none", "name", "l", "kind",
                      gru ? "gru" : "lstm", "units", 1, "direction", "bidirectional");
        struct nn_description *recurrent = NULL;
        struct nn_network *network = NULL;
        struct nn_match *match = NULL;
        const struct nn_network_bind bind = {.features = 1, .longest = 4};
        const struct nn_network_options options = {.max_batch = 1};
        assert_int_equal(nn_description_parse(json, &recurrent, NULL), NN_OK);
        assert_int_equal(nn_network_create(recurrent, &bind, &options, &network, NULL), NN_OK);
        assert_int_equal(nn_exchange_import(network, tensors, n, NN_MATCH_HEAD_KEPT, &match, NULL),
                         NN_OK);
        assert_int_equal(nn_match_count(match, NN_MATCH_MATCHED), gru ? 8 : 6);
        assert_int_equal(nn_match_count(match, NN_MATCH_UNEXPECTED), 0);
        const nn_real *back = parameter(network, "l.bias_ih_l0_reverse")->value;
        for (size_t i = 0; i < gates; i++) {
            float sum = values[6 * gates + i] + (gru ? 0 : values[7 * gates + i]);
            assert_true((float)back[i] == sum);
        }
        nn_match_destroy(match);
        nn_network_destroy(network);
        nn_description_destroy(recurrent);
        json_decref(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_biases_of_an_lstm_count),
        cmocka_unit_test(biases_of_recurrent_layers_find_their_places),
        cmocka_unit_test(saved_network_loads_again),
        cmocka_unit_test(order_is_that_of_pytorch),
        cmocka_unit_test(files_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
