/* SPDX-License-Identifier: MIT
 *
 * One run of a metric: the tables it sees, its call, its number. All that may raise an error of Lua
 * happens inside one protected call; what is outside of it owns nothing but the state.
 */
#include <lauxlib.h>
#include <string.h>

#include "core/metrics/lua_internal.h"

struct run {
    const char *text;
    size_t size;
    const struct nn_custom_input *input;
    double value;
};

struct nn_custom_limits nn_custom_limits_default(void)
{
    return (struct nn_custom_limits){
        .work = 100000000, .bytes = (size_t)256 << 20, .seconds = 15.0};
}

/* A table of n places on the stack; more than Lua can index is refused. */
static void push_list(lua_State *lua, size_t n)
{
    if (n > INT32_MAX) {
        (void)luaL_error(lua, "too many predictions for a table");
    }
    luaL_checkstack(lua, 8, "nested too deeply");
    lua_createtable(lua, (int)n, 0);
}

static void push_floats(lua_State *lua, const float *values, size_t n)
{
    push_list(lua, n);
    for (size_t i = 0; i < n; i++) {
        lua_pushnumber(lua, (double)values[i]);
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
    }
}

/* counts[i] + base as integers. */
static void push_integers(lua_State *lua, const uint32_t *counts, size_t n, lua_Integer base)
{
    push_list(lua, n);
    for (size_t i = 0; i < n; i++) {
        lua_pushinteger(lua, (lua_Integer)counts[i] + base);
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
    }
}

static void push_sequences(lua_State *lua, const float *values, const uint32_t *lengths, size_t n)
{
    push_list(lua, n);
    size_t first = 0;
    for (size_t i = 0; i < n; i++) {
        push_floats(lua, values + first, lengths[i]);
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
        first += lengths[i];
    }
}

static void push_json(lua_State *lua, const json_t *json);

static void push_object(lua_State *lua, json_t *object)
{
    const char *key;
    json_t *value;
    push_list(lua, 0);
    json_object_foreach(object, key, value)
    {
        push_json(lua, value);
        lua_setfield(lua, -2, key);
    }
}

static void push_array(lua_State *lua, const json_t *array)
{
    push_list(lua, json_array_size(array));
    for (size_t i = 0; i < json_array_size(array); i++) {
        push_json(lua, json_array_get(array, i));
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
    }
}

static void push_json(lua_State *lua, const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        push_object(lua, (json_t *)(uintptr_t)json);
        break;
    case JSON_ARRAY:
        push_array(lua, json);
        break;
    case JSON_STRING:
        (void)lua_pushlstring(lua, json_string_value(json), json_string_length(json));
        break;
    case JSON_INTEGER:
        lua_pushinteger(lua, json_integer_value(json));
        break;
    case JSON_REAL:
        lua_pushnumber(lua, json_real_value(json));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        lua_pushboolean(lua, json_is_true(json));
        break;
    case JSON_NULL:
        lua_pushnil(lua);
        break;
    }
}

static void add_classification(lua_State *lua, const struct nn_custom_input *input)
{
    push_list(lua, input->samples);
    for (size_t i = 0; i < input->samples; i++) {
        push_floats(lua, input->probabilities + i * input->classes, input->classes);
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
    }
    lua_setfield(lua, -2, "predictions");
    push_integers(lua, input->labels, input->samples, 1);
    lua_setfield(lua, -2, "targets");
    push_list(lua, input->classes);
    for (size_t k = 0; k < input->classes; k++) {
        (void)lua_pushstring(lua, input->class_names[k]);
        lua_rawseti(lua, -2, (lua_Integer)k + 1);
    }
    lua_setfield(lua, -2, "classes");
}

static void add_regression(lua_State *lua, const struct nn_custom_input *input)
{
    push_sequences(lua, input->predictions, input->lengths, input->samples);
    lua_setfield(lua, -2, "predictions");
    push_sequences(lua, input->targets, input->lengths, input->samples);
    lua_setfield(lua, -2, "targets");
    push_integers(lua, input->lengths, input->samples, 0);
    lua_setfield(lua, -2, "lengths");
}

/* The environment of the metric: its functions and its variables. */
static void push_environment(lua_State *lua, const struct nn_custom_input *input)
{
    nn_lua_push_library(lua);
    if (input->probabilities) {
        add_classification(lua, input);
    } else {
        add_regression(lua, input);
    }
    if (input->parameters) {
        push_json(lua, input->parameters);
    } else {
        lua_newtable(lua);
    }
    lua_setfield(lua, -2, "parameters");
}

static int run_protected(lua_State *lua)
{
    struct run *run = lua_touserdata(lua, 1);
    if (nn_lua_load(lua, run->text, run->size) != LUA_OK) {
        return lua_error(lua);
    }
    push_environment(lua, run->input);
    (void)lua_setupvalue(lua, -2, 1); /* _ENV, which every chunk has */
    nn_lua_start_counting(lua);
    lua_call(lua, 0, 1);
    if (lua_type(lua, -1) != LUA_TNUMBER) {
        return luaL_error(lua, "a number is expected, not a value of type %s",
                          luaL_typename(lua, -1));
    }
    run->value = lua_tonumber(lua, -1);
    return 0;
}

/* function is called with a pointer to run, protected. */
static enum nn_status call(lua_CFunction function, struct run *run,
                           const struct nn_custom_limits *limits,
                           char error[NN_CUSTOM_ERROR_MAX + 1])
{
    struct nn_lua_box box;
    int status = LUA_ERRMEM;
    if (nn_lua_open(&box, limits)) {
        lua_pushcfunction(box.lua, function);
        lua_pushlightuserdata(box.lua, run);
        status = lua_pcall(box.lua, 1, 0, 0);
    }
    enum nn_status result = status == LUA_OK ? NN_OK : nn_lua_explain(&box, status, error);
    nn_lua_close(&box);
    return result;
}

void nn_custom_run(const char *lua, size_t size, const struct nn_custom_input *input,
                   const struct nn_custom_limits *limits, struct nn_custom_value *out)
{
    struct run run = {.text = lua, .size = size, .input = input};
    struct nn_custom_value value = {0};
    value.defined = call(run_protected, &run, limits, value.error) == NN_OK;
    value.value = value.defined ? run.value : 0.0;
    *out = value;
}

static int check_protected(lua_State *lua)
{
    const struct run *run = lua_touserdata(lua, 1);
    return nn_lua_load(lua, run->text, run->size) == LUA_OK ? 0 : lua_error(lua);
}

enum nn_status nn_custom_check(const char *lua, size_t size, struct nn_error *err)
{
    char error[NN_CUSTOM_ERROR_MAX + 1] = "";
    struct nn_custom_limits limits = nn_custom_limits_default();
    limits.bytes = (size_t)16 << 20;
    struct run run = {.text = lua, .size = size};
    if (size > NN_CUSTOM_LUA_MAX) {
        return nn_fail(err, NN_ERR_LIMIT, "more than %d bytes of Lua", NN_CUSTOM_LUA_MAX);
    }
    enum nn_status status = call(check_protected, &run, &limits, error);
    return status == NN_OK ? NN_OK : nn_fail(err, status, "%s", error);
}
