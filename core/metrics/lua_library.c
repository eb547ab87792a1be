/* SPDX-License-Identifier: MIT
 *
 * What a metric may call. Functions of Lua's own libraries are picked by name; those that go
 * through a table or a string in one call are wrapped, so that the elements count as work: a table
 * can pretend to be endless (#t of a table with holes) and an empty string can be repeated for
 * ever. Sorting is our own (lua_sort.c): Lua's draws on the clock.
 *
 * Not picked, and why: pcall, xpcall, coroutine (would catch the caps), setmetatable, getmetatable
 * (finalisers run uncounted), load, require, dofile, io, os, debug, package (ways out), print,
 * collectgarbage, pairs, next (order differs from run to run), rawequal and friends (no use),
 * string.find, match, gmatch, gsub (time of patterns is exponential), string.format, pack, dump
 * (addresses, bytes), table.move (endless ranges), math.random, randomseed (not reproducible).
 */
#include <lauxlib.h>
#include <lualib.h>

#include "core/metrics/lua_internal.h"

enum { REPEATED_MAX_BYTES = 65536 };

/* Calls the function it wraps, after counting the elements of its first argument. */
static int charged(lua_State *lua)
{
    int type = lua_type(lua, 1);
    if (type == LUA_TTABLE || type == LUA_TSTRING) {
        nn_lua_charge(lua, lua_rawlen(lua, 1));
    }
    lua_CFunction function = lua_tocfunction(lua, lua_upvalueindex(1));
    return function(lua);
}

/* string.rep that checks before it begins. */
static int repeat(lua_State *lua)
{
    size_t text = 0;
    size_t separator = 0;
    (void)luaL_checklstring(lua, 1, &text);
    lua_Integer n = luaL_checkinteger(lua, 2);
    (void)luaL_optlstring(lua, 3, "", &separator);
    size_t each = text + separator;
    if (n > REPEATED_MAX_BYTES || (n > 0 && each > REPEATED_MAX_BYTES / (size_t)n)) {
        return luaL_error(lua, "the repeated string is longer than %d bytes", REPEATED_MAX_BYTES);
    }
    lua_CFunction function = lua_tocfunction(lua, lua_upvalueindex(1));
    return function(lua);
}

/* tostring without addresses: what is no plain value is its type. */
static int to_string(lua_State *lua)
{
    luaL_checkany(lua, 1);
    switch (lua_type(lua, 1)) {
    case LUA_TNIL:
    case LUA_TBOOLEAN:
    case LUA_TNUMBER:
    case LUA_TSTRING:
        (void)luaL_tolstring(lua, 1, NULL);
        break;
    default:
        (void)lua_pushstring(lua, luaL_typename(lua, 1));
        break;
    }
    return 1;
}

struct pick {
    const char *name;
    lua_CFunction wrapper; /* NULL: as it is */
};

static const struct pick BASE[] = {
    {"assert", NULL}, {"error", NULL},       {"ipairs", NULL}, {"select", NULL},
    {"type", NULL},   {"tonumber", charged}, {NULL, NULL},
};
static const struct pick STRING[] = {
    {"byte", charged},    {"char", NULL},   {"len", NULL},      {"lower", charged}, {"rep", repeat},
    {"reverse", charged}, {"sub", charged}, {"upper", charged}, {NULL, NULL},
};
static const struct pick TABLE[] = {
    {"concat", charged},   {"insert", charged}, {"remove", charged},
    {"sort", nn_lua_sort}, {"unpack", charged}, {NULL, NULL},
};
static const struct pick MATH[] = {
    {"abs", NULL},  {"acos", NULL}, {"asin", NULL},      {"atan", NULL},       {"ceil", NULL},
    {"cos", NULL},  {"deg", NULL},  {"exp", NULL},       {"floor", NULL},      {"fmod", NULL},
    {"huge", NULL}, {"log", NULL},  {"max", NULL},       {"maxinteger", NULL}, {"mininteger", NULL},
    {"min", NULL},  {"modf", NULL}, {"pi", NULL},        {"rad", NULL},        {"sin", NULL},
    {"sqrt", NULL}, {"tan", NULL},  {"tointeger", NULL}, {"type", NULL},       {"ult", NULL},
    {NULL, NULL},
};

/* From the library on top of the stack into the table below it; pops the library. */
static void pick_from(lua_State *lua, const struct pick *rows)
{
    for (; rows->name; rows++) {
        (void)lua_getfield(lua, -1, rows->name);
        if (rows->wrapper) {
            lua_pushcclosure(lua, rows->wrapper, 1);
        }
        lua_setfield(lua, -3, rows->name);
    }
    lua_pop(lua, 1);
}

/* A table with the picked part of a library, as a field of the table on top. */
static void add_part(lua_State *lua, const char *name, lua_CFunction open, const struct pick *rows)
{
    lua_newtable(lua);
    lua_pushcfunction(lua, open);
    lua_call(lua, 0, 1);
    pick_from(lua, rows);
    lua_setfield(lua, -2, name);
}

/* ("x"):len() goes to the picked functions; Lua's own table would have them all. */
static void guard_strings(lua_State *lua)
{
    lua_pushliteral(lua, "");
    lua_newtable(lua);
    (void)lua_getfield(lua, -3, LUA_STRLIBNAME);
    lua_setfield(lua, -2, "__index");
    (void)lua_setmetatable(lua, -2);
    lua_pop(lua, 1);
}

void nn_lua_push_library(lua_State *lua)
{
    lua_newtable(lua);
    lua_pushcfunction(lua, luaopen_base);
    lua_call(lua, 0, 1);
    pick_from(lua, BASE);
    lua_pushcfunction(lua, to_string);
    lua_setfield(lua, -2, "tostring");
    add_part(lua, LUA_STRLIBNAME, luaopen_string, STRING);
    add_part(lua, LUA_TABLIBNAME, luaopen_table, TABLE);
    add_part(lua, LUA_MATHLIBNAME, luaopen_math, MATH);
    guard_strings(lua);
}
