/* SPDX-License-Identifier: MIT
 *
 * Layers that look at sequences as wholes: what they refuse, what templates are made of them, and
 * that a sequence does not notice its mates.
 */
#include "tests/support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/network.h"

static const struct nn_network_bind BIND = {.features = 17, .longest = 362, .responses = 1};

static json_t *report_of(const char *text)
{
    json_t *spec = test_json(text), *report = NULL;
    struct nn_error err = {0};
    assert_int_equal(nn_network_analyze(spec, &BIND, 2, &report, &err), NN_OK);
    json_decref(spec);
    return report;
}

static const struct mistake {
    const char *layers; /* behind an input called "in" */
    const char *pointer, *part, *remedy;
} MISTAKES[] = {
    {"{'name': 'a', 'kind': 'attention', 'heads': 3}", "/layers/1/heads",
     "17 channels do not fall into 3 heads", "divides"},
    {"{'name': 'g', 'kind': 'group_norm', 'groups': 2}", "/layers/1/groups",
     "17 channels do not fall into 2 groups", "divides"},
    {"{'name': 'p', 'kind': 'positional_encoding', 'encoding': 'learned', 'length': 361}",
     "/layers/1/length", "362 steps, but only 361", "as large as the longest"},
    {"{'name': 'e', 'kind': 'embedding', 'ids': 9, 'outputs': 4}", "/layers/1",
     "as the data set holds them", "normalisation \\\"none\\\""},
    {"{'name': 'm', 'kind': 'sequence_pool'}, {'name': 'a', 'kind': 'attention'}", "/layers/2",
     "takes sequences only", "sequence_input"},
    {"{'name': 'c', 'kind': 'temporal_convolution', 'filters': 2, 'padding': 'valid'}",
     "/layers/1/padding", "padding", NULL},
    {"{'name': 'f', 'kind': 'flatten'}", "/layers/1", "cannot take a sequence", "sequence_pool"},
};

static void mistakes_are_found_and_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof MISTAKES / sizeof *MISTAKES; i++) {
        const struct mistake *m = &MISTAKES[i];
        char text[512];
        (void)snprintf(text, sizeof text,
                       "{'layers': [{'name': 'in', 'kind': 'sequence_input'}, %s,"
                       " {'name': 'fc', 'kind': 'fully_connected'}]}",
                       m->layers);
        json_t *report = report_of(text);
        char *issues = json_dumps(json_object_get(report, "issues"), JSON_COMPACT);
        assert_non_null(issues);
        if (json_is_true(json_object_get(report, "valid")) || !strstr(issues, m->pointer) ||
            !strstr(issues, m->part) || (m->remedy && !strstr(issues, m->remedy))) {
            fail_msg("%s: %s", m->layers, issues);
        }
        free(issues);
        json_decref(report);
    }
}

/* An input of a column of ids, left as it is. */
static void ids_come_from_an_input_as_it_is(void **state)
{
    (void)state;
    json_t *report = report_of("{'layers': [{'name': 'in', 'kind': 'sequence_input',"
                               " 'normalisation': 'none'}, {'name': 'e', 'kind': 'embedding',"
                               " 'ids': 9, 'outputs': 4, 'column': 16}, {'name': 'fc', 'kind':"
                               " 'fully_connected'}]}");
    assert_true(json_is_true(json_object_get(report, "valid")));
    json_decref(report);
}

/* Counted by hand; the parts of a layer are PyTorch's, so a state dict of it fits. */
static void templates_have_their_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        double learnables;
        size_t layers;
    } ROWS[] = {{"{'name': 'transformer_encoder'}", 68289, 4 + 2 * 10 + 2},
                {"{'name': 'transformer_encoder', 'feed_forward': 'swiglu', 'position': 'none',"
                 " 'depth': 1}",
                 1152 + 33472 + 64 * 128 + 128 + 128 + 65, 3 + 12 + 2},
                {"{'name': 'transformer_encoder', 'position': 'learned', 'output': 'mean'}",
                 68289 + 512 * 64, 4 + 2 * 10 + 3},
                {"{'name': 'tcn'}", 100033, 2 + 4 * 8 + 1},
                {"{'name': 'tcn', 'dilations': [3], 'kernel': 2, 'output': 'last'}",
                 1152 + 2 * (64 * 64 * 2 + 64) + 65, 2 + 8 + 2}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        json_t *report = report_of(ROWS[i].spec);
        assert_true(json_is_true(json_object_get(report, "valid")));
        assert_int_equal(json_array_size(json_object_get(report, "layers")), ROWS[i].layers);
        assert_true(json_number_value(jx_path_get(report, "totals.learnables")) ==
                    ROWS[i].learnables);
        json_decref(report);
    }
}

enum { LENGTH = 150, LONGEST = 200, MATES = 5, FEATURES = 3 };

/* Outputs of every step of the i-th of some sequences. */
static void outputs_of(struct nn_network *network, const nn_real *const *sequences,
                       const size_t *lengths, size_t batch, size_t i, nn_real *out)
{
    const struct nn_sequence_batch loaded = {sequences, lengths, batch};
    nn_network_load_sequences(network, &loaded);
    nn_network_forward(network, batch, NN_PHASE_INFERENCE, NULL);
    for (size_t t = 0; t < lengths[i]; t++) {
        out[t] = nn_network_output(network)[nn_network_output_row(network, i, t)];
    }
}

/* Alone, among shorter mates, and beside a longer one. */
static void check_mates(const char *text)
{
    const struct nn_network_bind bind = {.features = FEATURES, .longest = LONGEST, .responses = 1};
    const struct nn_network_options options = {.max_batch = MATES};
    static nn_real data[MATES][LONGEST * FEATURES];
    static nn_real alone[LENGTH], among[LENGTH];
    const nn_real *sequences[MATES];
    struct test_network t = test_network_create(text, &bind, &options);
    test_fill_parameters(t.network, 4);
    for (size_t i = 0; i < MATES; i++) {
        test_fill(data[i], LONGEST * FEATURES, 10 + i);
        sequences[i] = data[i];
    }
    outputs_of(t.network, sequences + 1, (const size_t[]){LENGTH}, 1, 0, alone);
    outputs_of(t.network, sequences, (const size_t[]){1, LENGTH, 64, 7, 149}, MATES, 1, among);
    assert_true(test_relative_error(among, alone, LENGTH) < 1e-5);
    outputs_of(t.network, sequences, (const size_t[]){LONGEST, LENGTH, 3}, 3, 1, among);
    assert_true(test_relative_error(among, alone, LENGTH) < 1e-5);
    test_network_destroy(&t);
}

static void a_sequence_does_not_notice_its_mates(void **state)
{
    (void)state;
    check_mates(
        "{'name': 'transformer_encoder', 'width': 24, 'heads': 3, 'normalisation': 'none'}");
    check_mates("{'name': 'transformer_encoder', 'width': 8, 'heads': 1, 'causal': false,"
                " 'feed_forward': 'swiglu', 'position': 'learned', 'normalisation': 'none'}");
    check_mates("{'name': 'tcn', 'filters': 9, 'normalisation': 'none'}");
    check_mates("{'name': 'tcn', 'filters': 9, 'padding': 'same', 'normalisation': 'none'}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_found_and_named),
        cmocka_unit_test(ids_come_from_an_input_as_it_is),
        cmocka_unit_test(templates_have_their_sizes),
        cmocka_unit_test(a_sequence_does_not_notice_its_mates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
