/* SPDX-License-Identifier: MIT
 *
 * core/network: descriptions with variables, conditions, repetition and blocks become plain layers
 * and connections; their mistakes are named where they stand; auxiliary losses are no output.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/network.h"

static const struct nn_network_bind BIND = {.height = 8, .width = 8, .channels = 2, .classes = 3};

#define IN   "{'name': 'in', 'kind': 'image_input'}"
#define TAIL "{'name': 'fc', 'kind': 'fully_connected'}, {'name': 'sm', 'kind': 'softmax'}"

/* A text with " for ', as jansson reads and writes it. */
static char *canonical_of(const char *text)
{
    json_t *json = test_json(text);
    char *out = jx_canonical(json);
    json_decref(json);
    return out;
}

/* "a<-in b<-a,in ..." of what a description becomes. */
static char *wiring_of(const char *text)
{
    struct nn_description *description = NULL;
    struct nn_error err = {0};
    json_t *spec = test_json(text);
    if (nn_description_parse(spec, &description, &err) != NN_OK) {
        fail_msg("%s at %s", err.text, err.pointer);
    }
    json_t *full = nn_description_json(description);
    char *out = calloc(1, 4096);
    assert_non_null(out);
    size_t i, k, used = 0;
    json_t *layer, *pair;
    json_array_foreach(json_object_get(full, "layers"), i, layer)
    {
        const char *name = json_string_value(json_object_get(layer, "name"));
        used += (size_t)snprintf(out + used, 4096 - used, "%s%s", i > 0 ? " " : "", name);
        const char *between = "<-";
        json_array_foreach(json_object_get(full, "connections"), k, pair)
        {
            if (strcmp(json_string_value(json_array_get(pair, 1)), name) == 0) {
                used += (size_t)snprintf(out + used, 4096 - used, "%s%s", between,
                                         json_string_value(json_array_get(pair, 0)));
                between = ",";
            }
        }
    }
    json_decref(full);
    json_decref(spec);
    nn_description_destroy(description);
    return out;
}

static void descriptions_become_layers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wiring;
    } ROWS[] = {
        {"{'layers': [" IN ", " TAIL "]}", "in fc<-in sm<-fc"},
        /* inputs by name, the one before by default */
        {"{'layers': [" IN ", {'name': 'a', 'kind': 'relu'}, {'name': 'b', 'kind': 'tanhless',"
         " 'if': false}, {'name': 's', 'kind': 'addition', 'inputs': ['a', 'in']}, " TAIL "]}",
         "in a<-in s<-a,in fc<-s sm<-fc"},
        /* repetition by number and by list, with parameters */
        {"{'parameters': {'n': 2, 'sizes': [4, 5]}, 'layers': [" IN ","
         " {'for_each': '$n', 'layers': [{'name': 'r$index', 'kind': 'relu'}]},"
         " {'for_each': '$sizes', 'but_last': true, 'layers': ["
         "   {'name': 'f$item', 'kind': 'fully_connected', 'outputs': '$item'}]}, " TAIL "]}",
         "in r1<-in r2<-r1 f4<-r2 fc<-f4 sm<-fc"},
        /* a block, its default, the layer that bears its name, a block within a block */
        {"{'blocks': {'unit': {'parameters': {'filters': null, 'kernel': 1}, 'layers': ["
         "   {'name': 'c', 'kind': 'convolution', 'filters': '$filters', 'kernel': '$kernel'},"
         "   {'name': 'r', 'kind': 'relu'}]},"
         "  'two': {'parameters': {'n': 2}, 'layers': [{'name': 'x', 'block': 'unit', 'filters': "
         "'$n'},"
         "   {'kind': 'concatenation', 'inputs': ['x', '$input']}]}},"
         " 'layers': [" IN
         ", {'name': 't', 'block': 'two'}, {'name': 'u', 'block': 'two', 'n': 3}," TAIL "]}",
         "in t.x.c<-in t.x.r<-t.x.c t<-t.x.r,in u.x.c<-t u.x.r<-u.x.c u<-u.x.r,t fc<-u sm<-fc"},
        /* a block of which nothing is left hands on what it takes */
        {"{'blocks': {'maybe': {'parameters': {'on': null}, 'layers': ["
         "   {'if': '$on', 'name': 'r', 'kind': 'relu'}]}}, 'layers': [" IN ","
         " {'name': 'a', 'block': 'maybe', 'on': false}, {'name': 'b', 'block': 'maybe', 'on': "
         "true}," TAIL "]}",
         "in b.r<-in fc<-b.r sm<-fc"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        char *wiring = wiring_of(ROWS[i].text);
        assert_string_equal(wiring, ROWS[i].wiring);
        free(wiring);
    }
}

static void options_are_filled_in(void **state)
{
    (void)state;
    struct nn_description *description = NULL;
    json_t *spec =
        test_json("{'name': 'mine', 'parameters': {'k': [3, 1], 'f': 6}, 'layers': [" IN ","
                  " {'name': 'c$f', 'kind': 'convolution', 'filters': '$f', 'kernel': ['$f', 2],"
                  " 'padding': '$k'}, " TAIL "]}");
    assert_int_equal(nn_description_parse(spec, &description, NULL), NN_OK);
    json_t *full = nn_description_json(description);
    char *kernel = jx_canonical(jx_path_get(full, "layers.1.kernel"));
    char *padding = jx_canonical(jx_path_get(full, "layers.1.padding"));
    assert_string_equal(kernel, "[6,2]");
    assert_string_equal(padding, "[3,1]");
    assert_string_equal(json_string_value(jx_path_get(full, "layers.1.name")), "c6");
    char *shown = jx_canonical(jx_path_get(full, "parameters"));
    char *given = canonical_of("{'k': [3, 1], 'f': 6}");
    assert_string_equal(shown, given);
    free(kernel);
    free(padding);
    free(shown);
    free(given);
    json_decref(full);
    json_decref(spec);
    nn_description_destroy(description);
}

/* ---- mistakes ---- */

#define UNIT                                                                                       \
    "'blocks': {'unit': {'parameters': {'filters': null}, 'layers': ["                             \
    " {'name': 'c', 'kind': 'convolution', 'filters': '$filters', 'kernel': 1, 'stride': 0}]}}"

static void mistakes_are_named_where_they_stand(void **state)
{
    (void)state;
    static const struct {
        const char *text, *pointer, *part;
    } ROWS[] = {
        {"{'layers': [" IN ", {'name': 'f', 'kind': 'fully_connected', 'outputs': '$n'}]}",
         "/layers/1/outputs", "\"$n\" is no parameter"},
        {"{'parameters': {'depth': 2}, 'layers': [{'for_each': '$dept', 'layers': []}]}",
         "/layers/0/for_each", "did you mean \"depth\""},
        {"{'layers': [{'for_each': true, 'layers': []}]}", "/layers/0", "list or a number"},
        {"{'layers': [" IN ", {'if': 3, 'name': 'r', 'kind': 'relu'}]}", "/layers/1/if",
         "true or false"},
        {"{'layers': [" IN ", {'name': 'u', 'block': 'unit'}]}", "/layers/1/block",
         "no block called"},
        {"{" UNIT ", 'layers': [" IN ", {'name': 'u', 'block': 'unti'}]}", "/layers/1/block",
         "did you mean \"unit\""},
        {"{" UNIT ", 'layers': [" IN ", {'name': 'u', 'block': 'unit'}]}", "/layers/1",
         "needs a value for \"filters\""},
        {"{" UNIT ", 'layers': [" IN ", {'block': 'unit', 'filters': 2}]}", "/layers/1",
         "has no name"},
        {"{" UNIT ", 'layers': [" IN ", {'name': 'u', 'block': 'unit', 'filter': 2}]}",
         "/layers/1/filter", "no parameter \"filter\""},
        /* within a block: where the block says it */
        {"{" UNIT ", 'layers': [" IN ", {'name': 'u', 'block': 'unit', 'filters': 2}, " TAIL "]}",
         "/blocks/unit/layers/0/stride", "stride must be"},
        {"{'layers': [" IN
         ", {'for_each': 2, 'layers': [{'name': 'r$index', 'kind': 'rleu'}]}, " TAIL "]}",
         "/layers/1/layers/0/kind", "did you mean \"relu\""},
        {"{'blocks': {'b': {'layers': [{'name': 'x', 'block': 'b'}]}}, 'layers': [" IN ","
         " {'name': 'b', 'block': 'b'}]}",
         "/blocks/b/layers/0/block", "nested too deep"},
        {"{'blocks': {'b': {}}, 'layers': [" IN ", {'name': 'b', 'block': 'b'}]}",
         "/layers/1/block", "has no layers"},
        {"{'layers': [" IN ", {'name': 'a', 'kind': 'relu', 'inputs': ['on']}, " TAIL "]}",
         "/layers/1/inputs/0", "did you mean \"in\""},
        {"{'layers': [" IN ", {'name': 'a', 'kind': 'relu', 'inputs': ['fc']}, " TAIL "]}",
         "/layers/1/inputs/0", "does not stand before it"},
        {"{'layers': [" IN ", {'name': 'a', 'kind': 'addition', 'inputs': ['in', 'in']}, " TAIL
         "]}",
         "/layers/1", "twice"},
        {"{'layers': [" IN ", {'name': 'a', 'kind': 'relu', 'inputs': 'in'}, " TAIL "],"
         " 'connections': [['in', 'a'], ['a', 'fc'], ['fc', 'sm']]}",
         "/layers/1/inputs", "do not go together"},
        {"{'layers': [" IN ", {'name': 'a', 'kind': 'relu', 'inputs': 3}, " TAIL "]}",
         "/layers/1/inputs", "list of names"},
        {"{'layers': [{'for_each': 9, 'layers': [{'for_each': 1000, 'layers': ["
         "{'for_each': 1000, 'layers': []}]}]}]}",
         "/layers/0/layers/0/layers/0", "too many layers"},
        {"{'layers': [" IN
         ", {'for_each': 1100, 'layers': [{'name': 'r$index', 'kind': 'relu'}]}, " TAIL "]}",
         "/layers", "at most 1024 layers"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct nn_description *description = NULL;
        struct nn_error err = {0};
        json_t *spec = test_json(ROWS[i].text);
        assert_int_equal(nn_description_parse(spec, &description, &err), NN_ERR_INVALID);
        if (!strstr(err.text, ROWS[i].part) || strcmp(err.pointer, ROWS[i].pointer) != 0) {
            fail_msg("%s\n%s at %s", ROWS[i].text, err.text, err.pointer);
        }
        json_decref(spec);
    }
}

/* {"p0": 0, "p1": 0, ...} */
static json_t *many_members(size_t n)
{
    json_t *out = json_object();
    for (size_t i = 0; i < n; i++) {
        char key[24];
        (void)snprintf(key, sizeof key, "p%zu", i);
        assert_int_equal(json_object_set_new(out, key, json_integer(0)), 0);
    }
    return out;
}

/* n blocks without layers, each of which passes on twice what the one before it does. */
static json_t *doubling(size_t n)
{
    json_t *spec = test_json("{'blocks': {'e': {'layers': []}}, 'layers': [" IN "]}");
    json_t *layers = json_object_get(spec, "layers");
    char before[16] = "in", name[16];
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(name, sizeof name, "b%zu", i);
        json_t *block =
            json_pack("{s:s, s:s, s:[s, s]}", "name", name, "block", "e", "inputs", before, before);
        assert_int_equal(json_array_append_new(layers, block), 0);
        memcpy(before, name, sizeof before);
    }
    return spec;
}

/* What is copied, kept or connected counts, not only the items: a short text must not become hours
 * or gigabytes. */
static void what_multiplies_is_bounded(void **state)
{
    (void)state;
    char long_text[50000];
    memset(long_text, 'x', sizeof long_text);
    json_t *many = many_members(200), *list = json_pack("[O]", many);
    json_t *specs[] = {
        json_pack("{s:O, s:o}", "parameters", many, "layers",
                  test_json("[{'for_each': 1000, 'layers': [{'for_each': 0, 'layers': []}]}]")),
        json_pack("{s:{s:{s:O, s:[]}}, s:o}", "blocks", "e", "parameters", many, "layers", "layers",
                  test_json("[{'for_each': 1000, 'layers': [{'name': 'a', 'block': 'e'}]}]")),
        json_pack("{s:[{s:i, s:[O]}]}", "layers", "for_each", 1000, "layers", many),
        json_pack("{s:{s:{s:O}}, s:o}", "parameters", "p", "q", many, "layers",
                  test_json("[{'for_each': 1000, 'layers': [{'name': 'r', 'kernel': '$p'}]}]")),
        json_pack("{s:[{s:i, s:[{s:s#}]}]}", "layers", "for_each", 1000, "layers", "name",
                  long_text, sizeof long_text),
        json_pack("{s:[{s:i, s:[O, O]}]}", "layers", "for_each", 1000, "layers", list, list),
        doubling(18),
    };
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        struct nn_description *description = NULL;
        struct nn_error err = {0};
        assert_non_null(specs[i]);
        assert_int_equal(nn_description_parse(specs[i], &description, &err), NN_ERR_INVALID);
        if (!strstr(err.text, "too many layers")) {
            fail_msg("%zu: %s at %s", i, err.text, err.pointer);
        }
        json_decref(specs[i]);
    }
    json_decref(list);
    json_decref(many);
}

static void the_list_of_mistakes_ends(void **state)
{
    (void)state;
    json_t *spec = test_json("{'layers': [" IN ", {'name': 'r', 'kind': 'relu'}, " TAIL "]}");
    json_t *many = many_members(5000), *report = NULL;
    struct nn_error err = {0};
    assert_int_equal(json_object_update(json_array_get(json_object_get(spec, "layers"), 1), many),
                     0);
    assert_int_equal(nn_network_analyze(spec, &BIND, 1, &report, &err), NN_OK);
    assert_int_equal(json_array_size(json_object_get(report, "issues")), 100);
    json_decref(report);
    json_decref(many);
    json_decref(spec);
}

/* ---- auxiliary losses ---- */

#define WITH_HEAD(more)                                                                            \
    "{'layers': [" IN ", {'name': 'c', 'kind': 'convolution', 'filters': 4, 'kernel': 3},"         \
    " {'name': 'r', 'kind': 'relu'}, {'name': 'd', 'kind': 'convolution', 'filters': 4,"           \
    " 'kernel': 3}, {'name': 'fc', 'kind': 'fully_connected'},"                                    \
    " {'name': 'sm', 'kind': 'softmax'}, {'name': 'a', 'kind': 'fully_connected',"                 \
    " 'inputs': ['r']}, {'name': 'l', 'kind': 'auxiliary_loss', 'weight': 0.25}" more "]}"

static struct test_network net_of(enum nn_phase phase)
{
    const struct nn_network_options options = {.max_batch = 2, .phase = phase};
    struct test_network t = test_network_create(WITH_HEAD(""), &BIND, &options);
    test_fill_parameters(t.network, 4);
    test_fill(nn_network_input(t.network), 2 * nn_network_input_size(t.network), 5);
    return t;
}

static double weight_gradient(const struct nn_network *network, const char *layer)
{
    double sum = 0;
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *p = nn_network_parameter(network, i);
        for (size_t k = 0; strcmp(p->layer, layer) == 0 && k < p->count; k++) {
            sum += fabs((double)p->grad[k]);
        }
    }
    return sum;
}

/* Runs forward and backward with the same gradient for the output, and `head` for the other. */
static void run(struct nn_network *network, enum nn_phase phase, nn_real head)
{
    static const struct nn_step STEP = {.seed = 1};
    struct nn_auxiliary auxiliary = nn_network_auxiliary(network, 0);
    nn_network_forward(network, 2, phase, &STEP);
    nn_network_zero_grads(network);
    test_fill(nn_network_output_gradient(network), 6, 7);
    for (size_t i = 0; i < 6; i++) {
        auxiliary.gradient[i] = head * (nn_real)(i + 1);
    }
    nn_network_backward(network, 2);
}

static void auxiliary_losses_train_and_say_nothing(void **state)
{
    (void)state;
    struct test_network train = net_of(NN_PHASE_TRAINING), infer = net_of(NN_PHASE_INFERENCE);
    assert_int_equal(nn_network_auxiliary_count(train.network), 1);
    assert_int_equal(nn_network_auxiliary_count(infer.network), 0);
    assert_string_equal(nn_network_auxiliary(train.network, 0).layer, "l");
    assert_true(nn_network_auxiliary(train.network, 0).weight == 0.25);
    assert_string_equal(nn_network_head(train.network), "fc");
    assert_int_equal(nn_network_parameter_count(train.network),
                     nn_network_parameter_count(infer.network));
    run(train.network, NN_PHASE_TRAINING, 0);
    double alone = weight_gradient(train.network, "c");
    assert_true(weight_gradient(train.network, "a") == 0);
    run(train.network, NN_PHASE_TRAINING, 1);
    assert_true(weight_gradient(train.network, "a") > 0);
    assert_true(fabs(weight_gradient(train.network, "c") - alone) > 1e-6);
    /* an explanation learns nothing from the head, whatever its gradient held */
    run(train.network, NN_PHASE_EXPLANATION, 9);
    assert_true(fabs(weight_gradient(train.network, "c") - alone) < 1e-5 * alone);
    assert_true(weight_gradient(train.network, "a") == 0);
    nn_network_forward(infer.network, 2, NN_PHASE_INFERENCE, NULL);
    for (size_t i = 0; i < 6; i++) {
        double gap =
            (double)(nn_network_output(train.network)[i] - nn_network_output(infer.network)[i]);
        assert_true(fabs(gap) < 1e-5);
    }
    test_network_destroy(&train);
    test_network_destroy(&infer);
}

static void misplaced_auxiliary_losses_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *layer, *part;
    } ROWS[] = {
        {WITH_HEAD(", {'name': 'x', 'kind': 'relu'}"), "l", "nothing can be connected"},
        {"{'layers': [" IN ", {'name': 'l', 'kind': 'auxiliary_loss'}, {'name': 'fc', 'kind':"
         " 'fully_connected', 'inputs': ['in']}, {'name': 'sm', 'kind': 'softmax'}]}",
         "l", "for it alone"},
        {"{'layers': [" IN ", {'name': 'fc', 'kind': 'fully_connected'}, {'name': 'sm', 'kind':"
         " 'softmax'}, {'name': 'l', 'kind': 'auxiliary_loss', 'inputs': ['fc']}]}",
         "l", "for it alone"},
        {"{'layers': [" IN ", {'name': 'fc', 'kind': 'fully_connected'},"
         " {'name': 'l', 'kind': 'auxiliary_loss'}]}",
         NULL, "no output"},
        {WITH_HEAD(", {'name': 'p', 'kind': 'relu', 'inputs': ['d']},"
                   " {'name': 'm', 'kind': 'auxiliary_loss'}"),
         "m", "not an image of 4x4"},
        {WITH_HEAD(", {'name': 'p', 'kind': 'fully_connected', 'outputs': 7, 'inputs': ['d']},"
                   " {'name': 'm', 'kind': 'auxiliary_loss'}"),
         "m", "7 scores"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        json_t *spec = test_json(ROWS[i].text), *report = NULL, *issue;
        bool found = false;
        size_t k;
        assert_int_equal(nn_network_analyze(spec, &BIND, 2, &report, NULL), NN_OK);
        json_array_foreach(json_object_get(report, "issues"), k, issue)
        {
            const char *layer = json_string_value(json_object_get(issue, "layer"));
            const char *text = json_string_value(json_object_get(issue, "text"));
            bool fits = ROWS[i].layer ? layer && strcmp(layer, ROWS[i].layer) == 0 : !layer;
            found = found || (fits && strstr(text, ROWS[i].part));
        }
        if (!found) {
            char *text = jx_dump(json_object_get(report, "issues"), NULL);
            fail_msg("%s\n%s", ROWS[i].text, text);
        }
        json_decref(report);
        json_decref(spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptions_become_layers),
        cmocka_unit_test(options_are_filled_in),
        cmocka_unit_test(mistakes_are_named_where_they_stand),
        cmocka_unit_test(what_multiplies_is_bounded),
        cmocka_unit_test(the_list_of_mistakes_ends),
        cmocka_unit_test(auxiliary_losses_train_and_say_nothing),
        cmocka_unit_test(misplaced_auxiliary_losses_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
