/* SPDX-License-Identifier: MIT
 *
 * table.sort of metrics. That of Lua 5.4 draws its pivots from the clock, so which elements an
 * order function is shown, and where equal elements end, differs from run to run. This one is a
 * merge sort from the bottom up: equal elements keep their order, and an order function that
 * contradicts itself gives some order, always the same one.
 */
#include <lauxlib.h>

#include "core/metrics/lua_internal.h"

/* Where things lie on the stack. */
enum { TABLE = 1, ORDER, FIRST_COPY, SECOND_COPY };

/* Room that a table begins with at most; the allocator's cap speaks before more is taken. */
enum { BEGIN_ROOM = 1 << 16 };

/* Whether the value on top comes before the one below it; pops both. */
static bool top_is_less(lua_State *lua)
{
    bool less;
    nn_lua_charge(lua, 1);
    if (lua_isnoneornil(lua, ORDER)) {
        less = lua_compare(lua, -1, -2, LUA_OPLT) != 0;
        lua_pop(lua, 2);
        return less;
    }
    lua_pushvalue(lua, ORDER);
    lua_insert(lua, -3); /* order, below, top */
    lua_insert(lua, -2); /* order, top, below */
    lua_call(lua, 2, 1);
    less = lua_toboolean(lua, -1) != 0;
    lua_pop(lua, 1);
    return less;
}

/* Ordered runs [left, middle) and [middle, end) of one copy become one run of the other. */
static void merge(lua_State *lua, int from, int to, lua_Integer left, lua_Integer middle,
                  lua_Integer end)
{
    lua_Integer right = middle;
    for (lua_Integer at = left; at < end; at++) {
        bool takes_right = left == middle;
        if (!takes_right && right < end) {
            (void)lua_rawgeti(lua, from, left);
            (void)lua_rawgeti(lua, from, right);
            takes_right = top_is_less(lua);
        }
        (void)lua_rawgeti(lua, from, takes_right ? right++ : left++);
        lua_rawseti(lua, to, at);
    }
}

static lua_Integer smaller(lua_Integer a, lua_Integer b)
{
    return a < b ? a : b;
}

static void copy(lua_State *lua, int from, int to, lua_Integer n)
{
    for (lua_Integer i = 1; i <= n; i++) {
        (void)lua_rawgeti(lua, from, i);
        lua_rawseti(lua, to, i);
    }
}

/* The table itself is written last, so an order function may look at it. */
int nn_lua_sort(lua_State *lua)
{
    luaL_checktype(lua, TABLE, LUA_TTABLE);
    lua_Integer n = (lua_Integer)lua_rawlen(lua, TABLE);
    if (n > 1 && !lua_isnoneornil(lua, ORDER)) {
        luaL_checktype(lua, ORDER, LUA_TFUNCTION);
    }
    lua_settop(lua, ORDER);
    nn_lua_charge(lua, (uint64_t)n);
    lua_createtable(lua, (int)smaller(n, BEGIN_ROOM), 0);
    lua_createtable(lua, (int)smaller(n, BEGIN_ROOM), 0);
    int from = FIRST_COPY;
    int to = SECOND_COPY;
    copy(lua, TABLE, from, n);
    for (lua_Integer run = 1; run < n; run *= 2) {
        for (lua_Integer left = 1; left <= n; left += 2 * run) {
            merge(lua, from, to, left, smaller(left + run, n + 1), smaller(left + 2 * run, n + 1));
        }
        int swapped = from;
        from = to;
        to = swapped;
    }
    copy(lua, from, TABLE, n);
    return 0;
}
