/* SPDX-License-Identifier: MIT
 *
 * core/exchange: how named tensors fit a network: every fate, prefixes, heads, the report.
 */
#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/exchange/exchange.h"
#include "core/network/network.h"

/* conv1, bn1 and a head with as many outputs as there are classes. */
static const char TEXT[] =
    "{\"layers\": [{\"kind\": \"image_input\", \"name\": \"input\", \"normalisation\": \"zscore\"},"
    "{\"kind\": \"convolution\", \"name\": \"conv1\", \"filters\": 2, \"kernel\": 1},"
    "{\"kind\": \"batch_norm\", \"name\": \"bn1\"},"
    "{\"kind\": \"convolution\", \"name\": \"head\", \"kernel\": 1}, {\"kind\": \"relu\", \"name\":"
    "\"relu\"}, {\"kind\": \"global_average_pool\", \"name\": \"pool\"},"
    "{\"kind\": \"softmax\", \"name\": \"softmax\"}]}";

#define T(n, ...)                                                                                  \
    {                                                                                              \
        .name = (n), .rank = sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t), .shape = {          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
/* As a network of five classes has them. */
static const struct nn_file_tensor FIVE[] = {
    T("head.weight", 5, 2, 1, 1), T("head.bias", 5),       T("conv1.weight", 2, 3, 1, 1),
    T("conv1.bias", 2),           T("bn1.weight", 2),      T("bn1.bias", 2),
    T("bn1.running_mean", 2),     T("bn1.running_var", 2), T("bn1.num_batches_tracked", 1),
};
enum { FIVE_COUNT = sizeof FIVE / sizeof FIVE[0] };

static const struct nn_network_bind BIND = {.height = 4, .width = 4, .channels = 3, .classes = 3};
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

static struct nn_match *match_of(const struct nn_file_tensor *tensors, size_t n,
                                 enum nn_match_head head)
{
    struct nn_match *match = NULL;
    assert_int_equal(nn_match_description(description, &BIND, tensors, n, head, &match, NULL),
                     NN_OK);
    return match;
}

static void the_head_is_the_last_layer_with_weights(void **state)
{
    (void)state;
    assert_string_equal(nn_description_head(description), "head");
}

static void another_number_of_classes(void **state)
{
    (void)state;
    struct nn_match *match = match_of(FIVE, FIVE_COUNT, NN_MATCH_HEAD_KEPT);
    assert_false(nn_match_is_loadable(match));
    assert_int_equal(nn_match_count(match, NN_MATCH_WRONG_SHAPE), 2);
    assert_non_null(strstr(nn_match_text(match), "\"head.weight\" is [5, 2, 1, 1], the network "
                                                 "wants [3, 2, 1, 1]"));
    nn_match_destroy(match);
    static const enum nn_match_head NEW[] = {NN_MATCH_HEAD_REPLACED,
                                             NN_MATCH_HEAD_REPLACED_IF_OTHER};
    for (size_t i = 0; i < 2; i++) {
        match = match_of(FIVE, FIVE_COUNT, NEW[i]);
        assert_true(nn_match_is_loadable(match));
        assert_int_equal(nn_match_count(match, NN_MATCH_REPLACED), 2);
        assert_int_equal(nn_match_count(match, NN_MATCH_MATCHED), 6);
        assert_int_equal(nn_match_count(match, NN_MATCH_OPTIONAL), 2);
        assert_int_equal(nn_match_count(match, NN_MATCH_UNEXPECTED), 0);
        nn_match_destroy(match);
    }
}

/* A head that fits is made new only when that is asked for. */
static void the_same_number_of_classes(void **state)
{
    struct nn_file_tensor three[FIVE_COUNT];
    (void)state;
    memcpy(three, FIVE, sizeof three);
    three[0].shape[0] = three[1].shape[0] = 3;
    struct nn_match *match = match_of(three, FIVE_COUNT, NN_MATCH_HEAD_REPLACED_IF_OTHER);
    assert_int_equal(nn_match_count(match, NN_MATCH_MATCHED), 8);
    nn_match_destroy(match);
    match = match_of(three, FIVE_COUNT, NN_MATCH_HEAD_REPLACED);
    assert_int_equal(nn_match_count(match, NN_MATCH_REPLACED), 2);
    nn_match_destroy(match);
    match = match_of(three + 1, FIVE_COUNT - 1, NN_MATCH_HEAD_REPLACED_IF_OTHER);
    assert_int_equal(nn_match_count(match, NN_MATCH_REPLACED), 2);
    nn_match_destroy(match);
}

/* Branches that only training has may lack values, or have other classes. */
static void auxiliary_heads_may_be_absent(void **state)
{
    (void)state;
    struct nn_description *with_head = NULL;
    json_t *json = json_loads(TEXT, 0, NULL), *layers = json_object_get(json, "layers");
    assert_int_equal(
        json_array_append_new(layers, json_pack("{s:s, s:s, s:[s]}", "name", "aux", "kind",
                                                "fully_connected", "inputs", "bn1")),
        0);
    assert_int_equal(json_array_append_new(
                         layers, json_pack("{s:s, s:s}", "name", "loss", "kind", "auxiliary_loss")),
                     0);
    assert_int_equal(nn_description_parse(json, &with_head, NULL), NN_OK);
    assert_string_equal(nn_description_head(with_head), "head");
    struct nn_file_tensor tensors[FIVE_COUNT + 1];
    memcpy(tensors, FIVE, sizeof FIVE);
    tensors[0].shape[0] = tensors[1].shape[0] = 3;
    tensors[FIVE_COUNT] = (struct nn_file_tensor)T("aux.bias", 5);
    for (size_t more = 0; more < 2; more++) {
        struct nn_match *match = NULL;
        assert_int_equal(nn_match_description(with_head, &BIND, tensors, FIVE_COUNT + more,
                                              NN_MATCH_HEAD_REPLACED_IF_OTHER, &match, NULL),
                         NN_OK);
        assert_true(nn_match_is_loadable(match));
        assert_int_equal(nn_match_count(match, NN_MATCH_MATCHED), 8);
        assert_int_equal(nn_match_count(match, NN_MATCH_REPLACED), 2);
        assert_string_equal(
            nn_match_partly(match),
            "2 of the network's 10 parameters have no values in the file (79.8 % of "
            "its values; first \"aux.weight\")");
        nn_match_destroy(match);
        assert_int_equal(nn_match_description(with_head, &BIND, tensors, FIVE_COUNT + more,
                                              NN_MATCH_HEAD_KEPT, &match, NULL),
                         NN_OK);
        assert_false(nn_match_is_loadable(match));
        nn_match_destroy(match);
    }
    nn_description_destroy(with_head);
    json_decref(json);
}

/* The file of a larger variant holds all that is wanted, and more. */
static void what_finds_no_place_is_said(void **state)
{
    (void)state;
    struct nn_file_tensor more[FIVE_COUNT + 2];
    memcpy(more, FIVE, sizeof FIVE);
    more[FIVE_COUNT] = (struct nn_file_tensor)T("conv2.weight", 4, 2, 3, 1);
    more[FIVE_COUNT + 1] = (struct nn_file_tensor)T("conv2.bias", 4);
    struct nn_match *match = match_of(FIVE, FIVE_COUNT, NN_MATCH_HEAD_REPLACED);
    assert_string_equal(nn_match_partly(match), "");
    nn_match_destroy(match);
    match = match_of(more, FIVE_COUNT + 2, NN_MATCH_HEAD_REPLACED);
    assert_true(nn_match_is_loadable(match));
    /* 28 of 10 + 5 + 6 + 2 + 8 + 28 values */
    assert_string_equal(nn_match_partly(match),
                        "2 of the file's 10 tensors have no place in the network (47.5 % of its "
                        "values; first \"conv2.bias\")");
    json_t *report = nn_match_json(match);
    assert_string_equal(json_string_value(json_object_get(report, "partly")),
                        nn_match_partly(match));
    json_decref(report);
    nn_match_destroy(match);
}

static void nothing_fits(void **state)
{
    const struct nn_file_tensor other[] = {T("a", 1)};
    (void)state;
    struct nn_match *match = match_of(other, 1, NN_MATCH_HEAD_REPLACED);
    assert_false(nn_match_is_loadable(match));
    assert_int_equal(nn_match_count(match, NN_MATCH_UNEXPECTED), 1);
    nn_match_destroy(match);
    match = match_of(NULL, 0, NN_MATCH_HEAD_KEPT);
    assert_int_equal(nn_match_count(match, NN_MATCH_MISSING), 8);
    nn_match_destroy(match);
}

/* The whole report, with a prefix, a tensor too many and one of another shape. */
static void the_report(void **state)
{
    char names[FIVE_COUNT + 1][64];
    struct nn_file_tensor tensors[FIVE_COUNT + 1];
    (void)state;
    for (size_t i = 0; i <= FIVE_COUNT; i++) {
        tensors[i] = FIVE[i < FIVE_COUNT ? i : 0];
        (void)snprintf(names[i], sizeof names[i], "module.%s",
                       i < FIVE_COUNT ? FIVE[i].name : "extra");
        tensors[i].name = names[i];
    }
    tensors[3].shape[0] = 7;
    struct nn_match *match = match_of(tensors, FIVE_COUNT + 1, NN_MATCH_HEAD_REPLACED);
    json_t *report = nn_match_json(match);
    json_t *expected = json_loads(
        "{\"loadable\": false, \"text\": \"1 of 10 parameters do not fit: \\\"conv1.bias\\\" is "
        "[7],"
        " the network wants [2]\", \"partly\": null, "
        "\"head\": \"head\", \"prefix_removed\": \"module.\", "
        "\"naming\": null,"
        "\"matched\": [{\"name\": \"conv1.weight\", \"shape\": [2, 3, 1, 1]},"
        " {\"name\": \"bn1.weight\", \"shape\": [2]}, {\"name\": \"bn1.bias\", \"shape\": [2]},"
        " {\"name\": \"bn1.running_mean\", \"shape\": [2]},"
        " {\"name\": \"bn1.running_var\", \"shape\": [2]}], \"missing\": [],"
        "\"wrong_shape\": [{\"name\": \"conv1.bias\", \"shape\": [2], \"found\": [7]}],"
        "\"not_finite\": [], \"replaced\": [{\"name\": \"head.weight\", \"shape\": [3, 2, 1, 1],"
        " \"found\": [5, 2, 1, 1]}, {\"name\": \"head.bias\", \"shape\": [3], \"found\": [5]}],"
        "\"unexpected\": [{\"name\": \"module.extra\", \"shape\": [5, 2, 1, 1]}],"
        "\"ignored\": [\"module.bn1.num_batches_tracked\"]}",
        0, NULL);
    assert_non_null(expected);
    assert_true(json_equal(report, expected));
    json_decref(report);
    json_decref(expected);
    nn_match_destroy(match);
}

/* A replaced head keeps what the seed gave it; everything else is the file's. */
static void a_new_head_is_the_seeds(void **state)
{
    const struct nn_network_options options = {.max_batch = 1, .phase = NN_PHASE_TRAINING};
    struct nn_network *network = NULL;
    static const float ZEROS[16];
    struct nn_file_tensor tensors[FIVE_COUNT];
    (void)state;
    memcpy(tensors, FIVE, sizeof tensors);
    for (size_t i = 0; i < FIVE_COUNT; i++) {
        tensors[i].dtype = NN_FILE_F32;
        tensors[i].data = ZEROS;
        tensors[i].count = 1;
        for (size_t k = 0; k < tensors[i].rank; k++) {
            tensors[i].count *= tensors[i].shape[k];
        }
    }
    assert_int_equal(nn_network_create(description, &BIND, &options, &network, NULL), NN_OK);
    nn_network_initialize(network, 1);
    assert_string_equal(nn_network_head(network), "head");
    assert_int_equal(
        nn_exchange_import(network, tensors, FIVE_COUNT, NN_MATCH_HEAD_KEPT, NULL, NULL),
        NN_ERR_INVALID);
    assert_int_equal(
        nn_exchange_import(network, tensors, FIVE_COUNT, NN_MATCH_HEAD_REPLACED, NULL, NULL),
        NN_OK);
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *p = nn_network_parameter(network, i);
        bool kept = strcmp(p->name, "head.weight") == 0 || p->role == NN_ROLE_INPUT_STD;
        assert_int_equal(p->value[0] != 0, kept);
    }
    nn_network_destroy(network);
}

/* A tensor that is known to hold NaN fits by shape and is of no use; in a head that is made new it
 * does not matter. */
static void what_is_not_finite_does_not_fit(void **state)
{
    (void)state;
    for (size_t spoilt = 0; spoilt < 8; spoilt++) {
        struct nn_file_tensor tensors[FIVE_COUNT];
        memcpy(tensors, FIVE, sizeof FIVE);
        tensors[spoilt].not_finite = true;
        struct nn_match *match = match_of(tensors, FIVE_COUNT, NN_MATCH_HEAD_REPLACED);
        bool in_head = spoilt < 2;
        assert_int_equal(nn_match_is_loadable(match), in_head);
        assert_int_equal(nn_match_count(match, NN_MATCH_NOT_FINITE), !in_head);
        json_t *report = nn_match_json(match);
        assert_int_equal(json_array_size(json_object_get(report, "not_finite")), !in_head);
        json_decref(report);
        if (!in_head) {
            assert_non_null(strstr(nn_match_text(match), FIVE[spoilt].name));
            assert_non_null(strstr(nn_match_text(match), "not finite"));
        }
        nn_match_destroy(match);
    }
}

/* ---- names of other libraries ---- */

enum { LITE_TENSORS = 256 };

/* All names in the order of efficientnet_pytorch's state dict of EfficientNet-Lite0, which is
 * that of its blocks: written from that library's side. */
static void efficientnet_names(char names[LITE_TENSORS][64], size_t *n)
{
    static const char *const STEM[] = {"_conv_stem", "_bn0", NULL};
    static const char *const FIRST[] = {"_depthwise_conv", "_bn1", "_project_conv", "_bn2", NULL};
    static const char *const OTHER[] = {
        "_expand_conv", "_bn0", "_depthwise_conv", "_bn1", "_project_conv", "_bn2", NULL};
    static const char *const HEAD[] = {"_conv_head", "_bn1", "_fc", NULL};
    static const char *const BN[] = {"weight", "bias", "running_mean", "running_var", NULL};
    *n = 0;
    for (int block = -1; block <= 16; block++) {
        const char *const *layers = block < 0     ? STEM
                                    : block == 0  ? FIRST
                                    : block == 16 ? HEAD
                                                  : OTHER;
        char prefix[24] = "";
        if (block >= 0 && block < 16) {
            (void)snprintf(prefix, sizeof prefix, "_blocks.%d.", block);
        }
        for (; *layers; layers++) {
            size_t suffixes = strstr(*layers, "bn") ? 4 : strcmp(*layers, "_fc") == 0 ? 2 : 1;
            for (size_t k = 0; k < suffixes; k++) {
                (void)snprintf(names[(*n)++], 64, "%s%s.%s", prefix, *layers, BN[k]);
            }
        }
    }
}

static struct nn_description *lite0(void)
{
    json_t *spec = json_pack("{s:s, s:s}", "name", "efficientnet_lite0", "variant", "tensorflow");
    struct nn_description *parsed = NULL;
    assert_int_equal(nn_description_parse(spec, &parsed, NULL), NN_OK);
    json_decref(spec);
    return parsed;
}

/* Each parameter gets the tensor that stands at its place in the other library. */
static void names_of_efficientnet_pytorch(void **state)
{
    static char names[LITE_TENSORS][64];
    static struct nn_file_tensor tensors[LITE_TENSORS];
    const struct nn_network_bind bind = {
        .height = 224, .width = 224, .channels = 3, .classes = 1000};
    struct nn_description *network = lite0();
    struct nn_parameter_shape *wanted = NULL;
    struct nn_match *match = NULL;
    size_t n_names, n_wanted, n = 0;
    (void)state;
    efficientnet_names(names, &n_names);
    assert_int_equal(nn_description_parameters(network, &bind, &wanted, &n_wanted, NULL), NN_OK);
    for (size_t i = 0; i < n_wanted; i++) {
        if (strncmp(wanted[i].name, "input.", 6) != 0) {
            tensors[n] = (struct nn_file_tensor){.name = names[n], .rank = wanted[i].ndim};
            memcpy(tensors[n++].shape, wanted[i].shape, sizeof wanted[i].shape);
        }
    }
    assert_int_equal(n, n_names);
    assert_int_equal(
        nn_match_description(network, &bind, tensors, n, NN_MATCH_HEAD_KEPT, &match, NULL), NN_OK);
    assert_true(nn_match_is_loadable(match));
    assert_int_equal(nn_match_count(match, NN_MATCH_UNEXPECTED), 0);
    for (size_t i = 0, k = 0; i < n_wanted; i++) {
        const struct nn_file_tensor *tensor = nn_match_tensor(match, i);
        assert_true(!tensor || tensor == &tensors[k++]);
    }
    json_t *report = nn_match_json(match);
    assert_string_equal(json_string_value(json_object_get(report, "naming")),
                        "efficientnet_pytorch");
    json_decref(report);
    nn_match_destroy(match);
    free(wanted);
    nn_description_destroy(network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_head_is_the_last_layer_with_weights),
        cmocka_unit_test(another_number_of_classes),
        cmocka_unit_test(the_same_number_of_classes),
        cmocka_unit_test(auxiliary_heads_may_be_absent),
        cmocka_unit_test(what_finds_no_place_is_said),
        cmocka_unit_test(nothing_fits),
        cmocka_unit_test(the_report),
        cmocka_unit_test(what_is_not_finite_does_not_fit),
        cmocka_unit_test(a_new_head_is_the_seeds),
        cmocka_unit_test(names_of_efficientnet_pytorch),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
