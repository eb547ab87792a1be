/* SPDX-License-Identifier: MIT
 *
 * core/json: field tables decode, encode and describe one struct; every mistake has its pointer.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"

struct inner {
    double factor;
    int mode;
};

struct outer {
    bool flag;
    int64_t epochs;
    size_t batch;
    uint64_t seed;
    double rate;
    bool rate_given;
    const char *note;
    char name[8];
    int mode;
    struct jx_ints kernel;
    struct jx_reals mean;
    struct inner inner;
    const json_t *list;
    const json_t *map;
    const json_t *any;
};

enum { MODE_FAST = 3, MODE_SLOW = 7 };

static const struct jx_choice MODES[] = {
    {"fast", MODE_FAST, "quick"}, {"slow", MODE_SLOW, "thorough"}, JX_END};

static const struct jx_field INNER[] = {
    {.name = "factor",
     .type = JX_REAL,
     .offset = offsetof(struct inner, factor),
     .min = 0,
     .max = 1,
     .above_min = true,
     .below_max = true,
     .fallback = "0.5"},
    {.name = "mode",
     .type = JX_ENUM,
     .offset = offsetof(struct inner, mode),
     .choices = MODES,
     .fallback = "\"slow\""},
    JX_END,
};

static const struct jx_field LABEL = {.type = JX_STRING, .min = 1, .max = 4};
static const struct jx_field COUNT = {.type = JX_INT, .min = 1, .max = 9};

#define AT(member) .offset = offsetof(struct outer, member)

static const struct jx_field OUTER[] = {
    {.name = "flag", .type = JX_BOOL, AT(flag), .fallback = "true"},
    {.name = "epochs", .type = JX_INT, AT(epochs), .min = 1, .max = 1000, .required = true},
    {.name = "batch", .type = JX_SIZE, AT(batch), .fallback = "128"},
    {.name = "seed", .type = JX_UINT64, AT(seed), .fallback = "18446744073709551615"},
    {.name = "rate",
     .type = JX_REAL,
     AT(rate),
     .given = JX_GIVEN(struct outer, rate_given),
     .min = 0,
     .max = 1e12,
     .above_min = true,
     .nullable = true,
     .unit = "1"},
    {.name = "note", .type = JX_STRING, AT(note), .nullable = true, .doc = "free text"},
    {.name = "name",
     .type = JX_CHARS,
     AT(name),
     .size = 8,
     .min = 1,
     .max = 7,
     .fallback = "\"net\""},
    {.name = "mode", .type = JX_ENUM, AT(mode), .choices = MODES, .fallback = "\"fast\""},
    {.name = "kernel",
     .type = JX_INTS,
     AT(kernel),
     .min = 1,
     .max = 99,
     .min_items = 1,
     .max_items = 2,
     .scalar_too = true,
     .fallback = "[3, 5]"},
    {.name = "mean", .type = JX_REALS, AT(mean), .max_items = 3, .fallback = "[]"},
    {.name = "inner", .type = JX_OBJECT, AT(inner), .fields = INNER},
    {.name = "list", .type = JX_ARRAY, AT(list), .max_items = 3, .items = &LABEL},
    {.name = "map", .type = JX_MAP, AT(map), .items = &COUNT},
    {.name = "any", .type = JX_ANY, AT(any)},
    JX_END,
};

static json_t *parse(const char *text)
{
    json_t *json = NULL;
    struct nn_error err = {0};
    if (jx_parse(text, strlen(text), NULL, &json, &err) != NN_OK) {
        fail_msg("%s: %s", text, err.text);
    }
    return json;
}

static void absent_fields_take_their_fallback(void **state)
{
    (void)state;
    json_t *json = parse("{\"epochs\": 10.0}");
    struct outer out;
    memset(&out, 0xa5, sizeof out); /* decoding writes every member itself */
    assert_int_equal(jx_decode(OUTER, json, "", &out, NULL), NN_OK);
    assert_true(out.flag);
    assert_int_equal(out.epochs, 10);
    assert_int_equal(out.batch, 128);
    assert_true(out.seed == UINT64_MAX);
    assert_true(out.rate == 0 && !out.rate_given);
    assert_null(out.note);
    assert_string_equal(out.name, "net");
    assert_int_equal(out.mode, MODE_FAST);
    assert_int_equal(out.kernel.count, 2);
    assert_int_equal(out.kernel.value[1], 5);
    assert_int_equal(out.mean.count, 0);
    assert_true(out.inner.factor == 0.5);
    assert_int_equal(out.inner.mode, MODE_SLOW);
    assert_true(!out.list && !out.map && !out.any);
    json_decref(json);
}

static void given_fields_win(void **state)
{
    (void)state;
    json_t *json =
        parse("{\"flag\": false, \"epochs\": 1000, \"batch\": 0, \"seed\": \"9007199254740993\","
              " \"rate\": 1, \"note\": \"\", \"name\": \"sevenby\", \"mode\": \"slow\","
              " \"kernel\": 7, \"mean\": [0.5, -1, 2e3], \"inner\": {\"factor\": 0.25},"
              " \"list\": [\"a\"], \"map\": {\"x\": 9}, \"any\": null}");
    struct outer out = {0};
    struct nn_error err = {0};
    assert_int_equal(jx_decode(OUTER, json, "", &out, &err), NN_OK);
    assert_false(out.flag);
    assert_int_equal(out.batch, 0);
    assert_true(out.seed == 9007199254740993U);
    assert_true(out.rate == 1.0 && out.rate_given);
    assert_string_equal(out.note, "");
    assert_string_equal(out.name, "sevenby");
    assert_int_equal(out.kernel.count, 1);
    assert_int_equal(out.kernel.value[0], 7);
    assert_true(out.mean.count == 3 && out.mean.value[2] == 2000.0);
    assert_true(out.inner.factor == 0.25);
    assert_int_equal(out.inner.mode, MODE_SLOW);
    assert_int_equal(json_array_size(out.list), 1);
    assert_true(json_is_null(out.any));
    json_decref(json);
}

struct refusal {
    const char *text;
    const char *pointer;
    const char *part; /* of the message */
};

static const struct refusal REFUSALS[] = {
    {"{}", "/epochs", "is required"},
    {"{\"epochs\": 0}", "/epochs", "integer from 1 to 1000, not 0"},
    {"{\"epochs\": -1}", "/epochs", "not -1"},
    {"{\"epochs\": 2.5}", "/epochs", "not 2.5"},
    {"{\"epochs\": 1e9}", "/epochs", "not 1000000000"},
    {"{\"epochs\": 1e300}", "/epochs", "an integer"},
    {"{\"epochs\": \"10\"}", "/epochs", "not a string"},
    {"{\"epochs\": null}", "/epochs", "not null"},
    {"{\"epochs\": [1]}", "/epochs", "not an array"},
    {"{\"epochs\": {}}", "/epochs", "not an object"},
    {"{\"epochs\": true}", "/epochs", "not a boolean"},
    {"{\"epochs\": 1, \"batch\": -1}", "/batch", "an integer"},
    {"{\"epochs\": 1, \"seed\": -1}", "/seed", "2^64"},
    {"{\"epochs\": 1, \"seed\": \"18446744073709551616\"}", "/seed", "2^64"},
    {"{\"epochs\": 1, \"seed\": \"1x\"}", "/seed", "2^64"},
    {"{\"epochs\": 1, \"seed\": \"\"}", "/seed", "2^64"},
    {"{\"epochs\": 1, \"rate\": 0}", "/rate", "above 0"},
    {"{\"epochs\": 1, \"rate\": 1e-310}", "/rate", "at least 2.23e-308"},
    {"{\"epochs\": 1, \"mean\": [1, -4e-320]}", "/mean/1", "at least 2.23e-308"},
    {"{\"epochs\": 1, \"rate\": 1e13}", "/rate", "at most 1000000000000"},
    {"{\"epochs\": 1, \"rate\": \"NaN\"}", "/rate", "not a string"},
    {"{\"epochs\": 1, \"flag\": 1}", "/flag", "true or false"},
    {"{\"epochs\": 1, \"note\": 5}", "/note", "a string"},
    {"{\"epochs\": 1, \"name\": \"eightbyt\"}", "/name", "not 8"},
    {"{\"epochs\": 1, \"name\": \"\"}", "/name", "not 0"},
    {"{\"epochs\": 1, \"mode\": \"fats\"}", "/mode", "did you mean fast"},
    {"{\"epochs\": 1, \"mode\": 3}", "/mode", "one of fast, slow"},
    {"{\"epochs\": 1, \"mode\": null}", "/mode", "one of fast, slow"},
    {"{\"epochs\": 1, \"kernel\": []}", "/kernel", "1 to 2 items"},
    {"{\"epochs\": 1, \"kernel\": [1, 2, 3]}", "/kernel", "not 3"},
    {"{\"epochs\": 1, \"kernel\": [1, 2.5]}", "/kernel/1", "not 2.5"},
    {"{\"epochs\": 1, \"kernel\": 0}", "/kernel", "from 1 to 99"},
    {"{\"epochs\": 1, \"kernel\": \"3\"}", "/kernel", "a number or an array"},
    {"{\"epochs\": 1, \"mean\": 1}", "/mean", "array of numbers"},
    {"{\"epochs\": 1, \"mean\": [null]}", "/mean/0", "not null"},
    {"{\"epochs\": 1, \"inner\": []}", "/inner", "must be an object"},
    {"{\"epochs\": 1, \"inner\": null}", "/inner", "must be an object"},
    {"{\"epochs\": 1, \"inner\": {\"factor\": 1}}", "/inner/factor", "above 0 and below 1"},
    {"{\"epochs\": 1, \"inner\": {\"a/b~c\": 1}}", "/inner/a~1b~0c", "unknown field"},
    {"{\"epochs\": 1, \"list\": [\"\"]}", "/list/0", "from 1 to 4 bytes"},
    {"{\"epochs\": 1, \"list\": {}}", "/list", "must be an array"},
    {"{\"epochs\": 1, \"list\": [\"a\", \"b\", \"c\", \"d\"]}", "/list", "0 to 3 items"},
    {"{\"epochs\": 1, \"map\": {\"x\": 10}}", "/map/x", "from 1 to 9"},
    {"{\"epochs\": 1, \"map\": []}", "/map", "must be an object"},
    {"{\"epochs\": 1, \"epoch\": 1}", "/epoch", "unknown field \"epoch\"; did you mean \"epochs\""},
    {"{\"epochs\": 1, \"zzz\": 1}", "/zzz", "unknown field \"zzz\""},
    {"[]", "", "must be an object, not an array"},
};

static void mistakes_name_pointer_and_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof REFUSALS / sizeof REFUSALS[0]; i++) {
        const struct refusal *r = &REFUSALS[i];
        json_t *json = parse(r->text);
        struct outer out = {0};
        struct nn_error err = {0};
        enum nn_status status = jx_decode(OUTER, json, "", &out, &err);
        if (status != NN_ERR_INVALID || strcmp(err.pointer, r->pointer) != 0 ||
            !strstr(err.text, r->part)) {
            fail_msg("%s: %d, \"%s\": %s", r->text, status, err.pointer, err.text);
        }
        json_decref(json);
    }
}

struct gathered {
    size_t count;
    char pointers[8][160];
};

static void gather(void *ctx, const char *pointer, const char *text)
{
    struct gathered *g = ctx;
    assert_true(strlen(text) > 0);
    if (g->count < 8) {
        (void)snprintf(g->pointers[g->count], sizeof g->pointers[0], "%s", pointer);
    }
    g->count++;
}

static void all_mistakes_are_reported_at_once(void **state)
{
    (void)state;
    json_t *json = parse("{\"batch\": 1.5, \"inner\": {\"factor\": 2, \"mode\": 1}, \"what\": 0}");
    struct outer out = {0};
    struct gathered g = {0};
    assert_int_equal(jx_decode_all(OUTER, json, "/training", &out, gather, &g), 5);
    assert_int_equal(g.count, 5);
    assert_string_equal(g.pointers[0], "/training/what");
    assert_string_equal(g.pointers[1], "/training/epochs");
    assert_string_equal(g.pointers[2], "/training/batch");
    assert_string_equal(g.pointers[3], "/training/inner/factor");
    assert_string_equal(g.pointers[4], "/training/inner/mode");
    json_decref(json);
}

static void encoding_and_decoding_agree(void **state)
{
    (void)state;
    json_t *json = parse("{\"epochs\": 3, \"seed\": 5, \"rate\": 0.1, \"list\": [\"a\", \"b\"],"
                         " \"map\": {\"k\": 1}, \"mean\": [0.25]}");
    struct outer first = {0};
    struct outer second = {0};
    assert_int_equal(jx_decode(OUTER, json, "", &first, NULL), NN_OK);
    json_t *full = jx_encode(OUTER, &first);
    assert_non_null(full);
    assert_int_equal(jx_decode(OUTER, full, "", &second, NULL), NN_OK);
    json_t *again = jx_encode(OUTER, &second);
    assert_true(json_equal(full, again));
    char *text = jx_dump(full, NULL);
    assert_string_equal(text, "{\"flag\":true,\"epochs\":3,\"batch\":128,\"seed\":5,\"rate\":0.1,"
                              "\"note\":null,\"name\":\"net\",\"mode\":\"fast\",\"kernel\":[3,5],"
                              "\"mean\":[0.25],\"inner\":{\"factor\":0.5,\"mode\":\"slow\"},"
                              "\"list\":[\"a\",\"b\"],\"map\":{\"k\":1}}");
    free(text);
    json_decref(json);
    json_decref(full);
    json_decref(again);
}

static void a_large_seed_is_written_as_a_string(void **state)
{
    (void)state;
    struct outer out;
    jx_defaults(OUTER, &out);
    json_t *full = jx_encode(OUTER, &out);
    assert_string_equal(json_string_value(json_object_get(full, "seed")), "18446744073709551615");
    assert_true(json_is_null(json_object_get(full, "rate")));
    json_decref(full);
}

static void the_schema_says_what_the_table_says(void **state)
{
    (void)state;
    json_t *schema = jx_schema(OUTER);
    assert_non_null(schema);
    char *text = jx_canonical(jx_path_get(schema, "properties.kernel"));
    assert_string_equal(text, "{\"default\":[3,5],\"items\":{\"maximum\":99,\"minimum\":1,"
                              "\"type\":\"integer\"},\"maxItems\":2,\"minItems\":1,"
                              "\"type\":[\"array\",\"integer\"]}");
    free(text);
    text = jx_canonical(jx_path_get(schema, "properties.rate"));
    assert_string_equal(text, "{\"exclusiveMinimum\":0,\"maximum\":1000000000000,"
                              "\"type\":[\"number\",\"null\"],\"x-unit\":\"1\"}");
    free(text);
    text = jx_canonical(jx_path_get(schema, "properties.inner.properties.mode"));
    assert_string_equal(text,
                        "{\"default\":\"slow\",\"enum\":[\"fast\",\"slow\"],\"type\":\"string\"}");
    free(text);
    text = jx_canonical(jx_path_get(schema, "required"));
    assert_string_equal(text, "[\"epochs\"]");
    free(text);
    assert_true(json_is_false(jx_path_get(schema, "additionalProperties")));
    for (const struct jx_field *f = OUTER; f->name; f++) {
        assert_true(
            json_is_object(json_object_get(json_object_get(schema, "properties"), f->name)));
    }
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absent_fields_take_their_fallback),
        cmocka_unit_test(given_fields_win),
        cmocka_unit_test(mistakes_name_pointer_and_reason),
        cmocka_unit_test(all_mistakes_are_reported_at_once),
        cmocka_unit_test(encoding_and_decoding_agree),
        cmocka_unit_test(a_large_seed_is_written_as_a_string),
        cmocka_unit_test(the_schema_says_what_the_table_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
