/* SPDX-License-Identifier: MIT
 *
 * core/metrics: metrics written in Lua: what they see, what they cannot reach, and the caps that
 * nothing written in Lua gets round.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/metrics/custom.h"

static const float PROBABILITIES[] = {0.5F, 0.25F, 0.25F, 0.125F, 0.75F, 0.125F};
static const uint32_t LABELS[] = {0, 2};
static const char *const CLASSES[] = {"cat", "dog", "owl"};
static const struct nn_custom_input IMAGES = {.samples = 2,
                                              .classes = 3,
                                              .probabilities = PROBABILITIES,
                                              .labels = LABELS,
                                              .class_names = CLASSES};

/* Caps that a test reaches in milliseconds. */
static const struct nn_custom_limits SMALL = {
    .work = 2000000, .bytes = (size_t)8 << 20, .seconds = 20.0};

static struct nn_custom_value run(const char *lua)
{
    struct nn_custom_value value;
    nn_custom_run(lua, strlen(lua), &IMAGES, &SMALL, &value);
    return value;
}

static void assert_number(const char *lua, double expected)
{
    struct nn_custom_value value = run(lua);
    if (!value.defined || value.value != expected) {
        fail_msg("%s: %.17g (%s), not %.17g", lua, value.value, value.error, expected);
    }
}

/* There is no value, and the reason begins with `reason`. */
static void assert_fails(const char *lua, const char *reason)
{
    struct nn_custom_value value = run(lua);
    if (value.defined || strncmp(value.error, reason, strlen(reason)) != 0) {
        fail_msg("%s: \"%s\" (%g), not \"%s\"", lua, value.error, value.value, reason);
    }
}

/* ---------------------------------------------------------------------------------- what it sees
 */

static void a_classification_is_seen(void **state)
{
    (void)state;
    assert_number("return #predictions * 100 + #predictions[1] * 10 + #targets", 232.0);
    assert_number(
        "local s = 0 for i, p in ipairs(predictions) do s = s + p[targets[i]] end return s", 0.625);
    assert_number("return classes[targets[2]] == 'owl' and 1 or 0", 1.0);
    assert_number("return lengths == nil and 1 or 0", 1.0);
    assert_number("return (math.huge)", (double)INFINITY);
    assert_true(isnan(run("return 0/0").value) && run("return 0/0").defined);
}

static void a_regression_is_seen(void **state)
{
    (void)state;
    static const float predictions[] = {1.0F, 2.0F, 30.0F};
    static const float targets[] = {1.5F, 1.0F, 33.0F};
    static const uint32_t lengths[] = {2, 1};
    json_t *parameters = json_pack("{s:{s:f}, s:[i, i], s:b, s:n}", "training", "learning_rate",
                                   0.5, "seeds", 4, 5, "on", 1, "nothing");
    const struct nn_custom_input input = {.samples = 2,
                                          .predictions = predictions,
                                          .targets = targets,
                                          .lengths = lengths,
                                          .parameters = parameters};
    /* the mean over sequences of the largest error: 1 and 3 */
    static const char LUA[] =
        "local sum = 0\n"
        "for i = 1, #predictions do\n"
        "  local most = 0\n"
        "  for s = 1, lengths[i] do\n"
        "    most = math.max(most, math.abs(predictions[i][s] - targets[i][s]))\n"
        "  end\n"
        "  sum = sum + most\n"
        "end\n"
        "assert(parameters.training.learning_rate == 0.5)\n"
        "assert(parameters.seeds[2] == 5 and parameters.on)\n"
        "assert(parameters.nothing == nil and classes == nil)\n"
        "return sum / #predictions\n";
    struct nn_custom_value value;
    nn_custom_run(LUA, strlen(LUA), &input, &SMALL, &value);
    assert_string_equal(value.error, "");
    assert_true(value.defined && value.value == 2.0);
    json_decref(parameters);
}

static void no_samples_are_empty_tables(void **state)
{
    (void)state;
    static const char LUA[] = "return #predictions + #targets + #lengths";
    const struct nn_custom_input input = {0};
    struct nn_custom_value value;
    nn_custom_run(LUA, strlen(LUA), &input, &SMALL, &value);
    assert_true(value.defined && value.value == 0.0);
}

static void functions_that_are_there_work(void **state)
{
    (void)state;
    assert_number("local t = {3, 1, 2} table.sort(t) table.insert(t, 1, 9) return t[1]*1000 + "
                  "t[2]*100 + t[3]*10 + table.remove(t)",
                  9123.0);
    assert_number("return #('ab'):rep(3, ',') + ('x'):byte()", 128.0);
    assert_number("return tonumber(('41'):sub(1, 1)) + select('#', table.unpack({1, 2, 3}))", 7.0);
    assert_number("return tostring({}) == 'table' and tostring(1) == '1' and 1 or 0", 1.0);
    assert_number("local s = 0 for i = 1, 1000 do s = s + i end return s", 500500.0);
}

static void sorting_is_stable_and_always_the_same(void **state)
{
    (void)state;
    static const char CALLS[] = /* of the order function, by which it was shown which elements */
        "local t, calls = {}, 0 for i = 1, 2000 do t[i] = i * 7919 % 2003 end "
        "table.sort(t, function(a, b) calls = (calls * 31 + a * 7 + b) % 1000003 return a < b end) "
        "for i = 2, #t do assert(t[i - 1] < t[i]) end return calls";
    struct nn_custom_value first = run(CALLS);
    assert_true(first.defined);
    for (int i = 0; i < 5; i++) {
        assert_number(CALLS, first.value);
    }
    assert_number("local t = {} for i = 1, 300 do t[i] = {i % 7, i} end "
                  "table.sort(t, function(a, b) return a[1] < b[1] end) "
                  "for i = 2, 300 do local a, b = t[i - 1], t[i] "
                  "assert(a[1] < b[1] or a[1] == b[1] and a[2] < b[2]) end return 1",
                  1.0);
    assert_number("local t = {1, 2, 3, 4} table.sort(t, function() return true end) "
                  "return t[1] * 1000 + t[2] * 100 + t[3] * 10 + t[4]",
                  4321.0);
    assert_number("local t = {'b', 'a'} table.sort(t) table.sort({}) table.sort({1}, nil) "
                  "return t[1] == 'a' and 1 or 0",
                  1.0);
    assert_fails("table.sort({1, 'a'})", "attempt to compare string with number");
    assert_fails("table.sort({1, 2}, 3)", "line 1: bad argument #2 to 'sort'");
    assert_fails("table.sort(1)", "line 1: bad argument #1 to 'sort'");
}

/* ---------------------------------------------------------------------------- what is not there */

static void ways_out_are_not_there(void **state)
{
    (void)state;
    static const char *const NAMES[] = {
        "io",
        "os",
        "debug",
        "package",
        "require",
        "load",
        "loadstring",
        "dofile",
        "loadfile",
        "print",
        "collectgarbage",
        "pcall",
        "xpcall",
        "coroutine",
        "setmetatable",
        "getmetatable",
        "pairs",
        "next",
        "rawset",
        "rawget",
        "_G",
        "utf8",
        "math.random",
        "math.randomseed",
        "string.find",
        "string.match",
        "string.gmatch",
        "string.gsub",
        "string.format",
        "string.dump",
        "string.pack",
        "table.move",
        "warn",
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        char lua[80];
        (void)snprintf(lua, sizeof lua, "return %s == nil and 1 or 0", NAMES[i]);
        assert_number(lua, 1.0);
    }
    assert_number("return _ENV._G == nil and _ENV.io == nil and 1 or 0", 1.0);
    /* methods of strings go to the same functions */
    assert_number("local s = 'x' return s.find == nil and s.dump == nil and s.len and 1 or 0", 1.0);
    assert_fails("return ('a'):rep(1e4):find('.-.-.-.-b')", "line 1: attempt to call a nil value");
    assert_fails("return pcall(error)", "line 1: attempt to call a nil value (global 'pcall')");
    assert_fails("return ('')()", "line 1: attempt to call a string value");
    assert_fails("local s = 'x' s.len = nil return 1", "line 1: attempt to index a string value");
}

static void a_run_leaves_nothing_to_the_next(void **state)
{
    (void)state;
    assert_number("string.len = nil math.pi = 3 x = 1 predictions[1][1] = 9 return 1", 1.0);
    assert_number("return x == nil and string.len and math.pi > 3.1 and predictions[1][1] or 0",
                  0.5);
}

static void precompiled_code_is_refused(void **state)
{
    (void)state;
    static const char BYTES[] = "\x1bLuaT\0\x19\x93\r\n\x1a\n";
    struct nn_error err = {0};
    assert_int_equal(nn_custom_check(BYTES, sizeof BYTES - 1, &err), NN_ERR_INVALID);
    assert_non_null(strstr(err.text, "binary"));
}

/* ------------------------------------------------------------------------------------------ caps
 */

static void endless_loops_end(void **state)
{
    (void)state;
    static const char *const LOOPS[] = {
        "while true do end",
        "::again:: goto again",
        "repeat until false",
        "for i = 1, math.huge do end",
        "local function f() return f() end return f()",
        "local t = {1} for i in ipairs(t) do t[i + 1] = nil t[1] = 1 while true do end end",
        "table.sort({3, 1, 2}, function(a, b) while true do end end)",
        "while true do local t = {} t[1] = 1 end",
    };
    for (size_t i = 0; i < sizeof LOOPS / sizeof LOOPS[0]; i++) {
        assert_fails(LOOPS[i], "more than 2000000 instructions");
    }
}

/* One call of C that would not come back: refused before it begins. */
static void endless_calls_do_not_begin(void **state)
{
    (void)state;
    static const char HOLES[] = "local t = {} for k = 0, 61 do t[1 << k] = 1 end t[5] = 1 ";
    static const char *const CALLS[] = {"table.insert(t, 1, 1)", "table.remove(t, 1)",
                                        "table.sort(t)", "table.concat(t)", "table.unpack(t)"};
    for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++) {
        char lua[160];
        (void)snprintf(lua, sizeof lua, "%s%s return 1", HOLES, CALLS[i]);
        assert_fails(lua, "more than 2000000 instructions");
    }
    assert_fails("return #(''):rep(1 << 62)", "line 1: the repeated string is longer than");
    assert_fails("return #('x'):rep(1 << 62)", "line 1: the repeated string is longer than");
    assert_fails("return #('xx'):rep(2, ('x'):rep(40000))", "line 1: the repeated string");
    assert_fails("return #table.unpack({}, 1, 1e7)", "line 1: too many results to unpack");
    /* each call is short and shifts much: it is the elements that count */
    assert_fails("local t = {} for i = 1, 5000 do t[i] = i end for i = 1, 5000 do "
                 "table.insert(t, 1, i) end return 1",
                 "more than 2000000 instructions");
}

static void memory_is_capped(void **state)
{
    (void)state;
    assert_fails("local t = {} for i = 1, 1e7 do t[i] = {} end", "more than 8388608 bytes");
    assert_fails("local s = 'x' while true do s = s .. s end", "more than 8388608 bytes");
    assert_fails("local t = {} for i = 1, 1e9 do t[i] = i end", "more than 8388608 bytes");
    assert_fails("local t = {} for i = 1, 300 do t[i] = ('x'):rep(60000 + i) end return 1",
                 "more than 8388608 bytes");
    struct nn_custom_limits tiny = SMALL;
    tiny.bytes = 1000; /* not even a state */
    struct nn_custom_value value;
    nn_custom_run("return 1", 8, &IMAGES, &tiny, &value);
    assert_false(value.defined);
    assert_non_null(strstr(value.error, "more than 1000 bytes"));
    for (tiny.bytes = 2000; tiny.bytes < 60000; tiny.bytes += 97) { /* everywhere on the way */
        nn_custom_run("return 1", 8, &IMAGES, &tiny, &value);
        assert_true(value.defined || strncmp(value.error, "more than", 9) == 0);
    }
    assert_true(value.defined);
}

static void recursion_is_capped(void **state)
{
    (void)state;
    assert_fails("local function f(n) return 1 + f(n + 1) end return f(1)", "");
    assert_fails("local function f(a, b) table.sort({1, 2}, f) end f()", "");
    char deep[2048] = "return ";
    memset(deep + 7, '(', 1000);
    struct nn_error err = {0};
    assert_int_equal(nn_custom_check(deep, strlen(deep), &err), NN_ERR_INVALID);
    assert_string_equal(err.text, "C stack overflow");
}

/* Work that neither instructions nor memory show: a table that is counted anew for each new key. */
static void processor_time_is_the_last_limit(void **state)
{
    (void)state;
    static const char LUA[] = "local t, k = {}, {} for i = 1, 200000 do t[i] = i end for i = 1, 20 "
                              "do k[i] = 'k' .. i end "
                              "while true do for i = 1, 20 do t[k[i]] = 1 t[k[i]] = nil end end";
    struct nn_custom_limits limits = {
        .work = UINT64_MAX, .bytes = (size_t)64 << 20, .seconds = 0.2};
    struct nn_custom_value value;
    nn_custom_run(LUA, strlen(LUA), &IMAGES, &limits, &value);
    assert_false(value.defined);
    assert_string_equal(value.error, "more than 0.2 seconds of processor time");
}

static void equal_runs_give_equal_work(void **state)
{
    (void)state;
    static const char LUA[] = "local s = 0 for i = 1, 100000 do s = s + 1 / i end return s";
    struct nn_custom_limits limits = SMALL;
    struct nn_custom_value first, again;
    size_t enough = 0;
    for (limits.work = 1000; limits.work < 2000000; limits.work += 1000) {
        nn_custom_run(LUA, strlen(LUA), &IMAGES, &limits, &first);
        if (first.defined) {
            enough = limits.work;
            break;
        }
        limits.work += 49000;
    }
    assert_true(enough > 0);
    nn_custom_run(LUA, strlen(LUA), &IMAGES, &limits, &again);
    assert_memory_equal(&first.value, &again.value, sizeof first.value);
}

/* ---------------------------------------------------------------------------------------- errors
 */

static void errors_are_one_clean_line(void **state)
{
    (void)state;
    assert_fails("return 'text'", "a number is expected, not a value of type string");
    assert_fails("return", "a number is expected, not a value of type nil");
    assert_fails("return true", "a number is expected, not a value of type boolean");
    assert_fails("\n\nreturn predictions[9][1]", "line 3: attempt to index a nil value");
    assert_fails("error('a\\nb\\27[31m\\xff')", "line 1: a?b?[31m?");
    assert_fails("error({})", "the error is no text");
    assert_fails("error(nil)", "the error is no text");
    assert_fails("error(function() end)", "the error is no text");
    assert_fails("return predictions + 1",
                 "line 1: attempt to perform arithmetic on a table value");
    struct nn_custom_value value = run("error(('x'):rep(5000))");
    assert_int_equal(strlen(value.error), NN_CUSTOM_ERROR_MAX);
    value = run("error('at ' .. tostring(predictions) .. tostring(math.abs))");
    assert_null(strstr(value.error, "0x"));
}

/* ---------------------------------------------------------------------------------------- checks
 */

static const struct {
    const char *list, *pointer, *text;
} REFUSED[] = {
    {"[{'name': 'm'}]", "/m/0/lua", "is required"},
    {"[{'name': 'm', 'lua': 'return 1', 'x': 1}]", "/m/0/x", "unknown field"},
    {"[7]", "/m/0", ""},
    {"[{'name': 'm', 'lua': 'return ('}]", "/m/0/lua", "line 1: unexpected symbol near <eof>"},
    {"[{'name': 'm', 'lua': 'x =\\n\\n 1 1'}]", "/m/0/lua", "line 3: "},
    {"[{'name': 'm', 'lua': ''}]", "/m/0/lua", ""},
    {"[{'name': '', 'lua': 'return 1'}]", "/m/0/name", ""},
    {"[{'name': '1a', 'lua': 'return 1'}]", "/m/0/name", "a name is a letter"},
    {"[{'name': '_a', 'lua': 'return 1'}]", "/m/0/name", "a name is a letter"},
    {"[{'name': 'a-b', 'lua': 'return 1'}]", "/m/0/name", "a name is a letter"},
    {"[{'name': '\\u00e9', 'lua': 'return 1'}]", "/m/0/name", "a name is a letter"},
    {"[{'name': 'accuracy', 'lua': 'return 1'}]", "/m/0/name", "there is a metric of that name"},
    {"[{'name': 'rmse', 'lua': 'return 1'}]", "/m/0/name", "there is a metric of that name"},
    {"[{'name': 'a', 'lua': 'return 1'}, {'name': 'a', 'lua': 'return 2'}]", "/m/1/name",
     "the name stands twice"},
    {"[{'name': 'a', 'lua': 'return 1', 'direction': 'up'}]", "/m/0/direction", ""},
};

static json_t *parse(const char *text)
{
    char copy[512];
    (void)snprintf(copy, sizeof copy, "%s", text);
    for (char *c = copy; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    json_t *json = json_loads(copy, 0, NULL);
    assert_non_null(json);
    return json;
}

static void mistakes_are_named(void **state)
{
    (void)state;
    struct nn_custom_metric metrics[NN_CUSTOM_MAX];
    for (size_t i = 0; i < sizeof REFUSED / sizeof REFUSED[0]; i++) {
        size_t n = 99;
        struct nn_error err = {0};
        json_t *list = parse(REFUSED[i].list);
        assert_int_equal(nn_custom_decode(list, "/m", metrics, &n, &err), NN_ERR_INVALID);
        assert_string_equal(err.pointer, REFUSED[i].pointer);
        if (!strstr(err.text, REFUSED[i].text)) {
            fail_msg("%s: %s", REFUSED[i].list, err.text);
        }
        assert_int_equal(n, 99);
        json_decref(list);
    }
}

static void a_list_is_decoded(void **state)
{
    (void)state;
    struct nn_custom_metric metrics[NN_CUSTOM_MAX];
    size_t n = 0;
    json_t *list = parse("[{'name': 'Top_1', 'lua': 'return 1', 'direction': 'higher'},"
                         " {'name': 'b', 'lua': 'return 2'}]");
    assert_int_equal(nn_custom_decode(list, "", metrics, &n, NULL), NN_OK);
    assert_int_equal(n, 2);
    assert_string_equal(metrics[0].name, "Top_1");
    assert_int_equal(metrics[0].direction, NN_DIRECTION_HIGHER);
    assert_string_equal(metrics[1].lua, "return 2");
    assert_int_equal(metrics[1].direction, NN_DIRECTION_NONE);
    while (json_array_size(list) <= NN_CUSTOM_MAX) {
        (void)json_array_append(list, json_array_get(list, 0));
    }
    struct nn_error err = {0};
    assert_int_equal(nn_custom_decode(list, "/m", metrics, &n, &err), NN_ERR_INVALID);
    assert_string_equal(err.pointer, "/m");
    json_decref(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_classification_is_seen),
        cmocka_unit_test(a_regression_is_seen),
        cmocka_unit_test(no_samples_are_empty_tables),
        cmocka_unit_test(functions_that_are_there_work),
        cmocka_unit_test(sorting_is_stable_and_always_the_same),
        cmocka_unit_test(ways_out_are_not_there),
        cmocka_unit_test(a_run_leaves_nothing_to_the_next),
        cmocka_unit_test(precompiled_code_is_refused),
        cmocka_unit_test(endless_loops_end),
        cmocka_unit_test(endless_calls_do_not_begin),
        cmocka_unit_test(memory_is_capped),
        cmocka_unit_test(recursion_is_capped),
        cmocka_unit_test(processor_time_is_the_last_limit),
        cmocka_unit_test(equal_runs_give_equal_work),
        cmocka_unit_test(errors_are_one_clean_line),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(a_list_is_decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
