/* SPDX-License-Identifier: MIT
 *
 * A Lua state that cannot get out; private to the room.
 */
#include <lua.h>

#include "core/metrics/custom.h"

enum nn_lua_stop { NN_LUA_RUNS, NN_LUA_WORK, NN_LUA_TIME };

/* Caps and what was used of them: the allocator's context, found from within any function. */
struct nn_lua_box {
    lua_State *lua;
    struct nn_custom_limits limits;
    size_t bytes;
    uint64_t work;
    double deadline; /* of the thread's processor time, seconds */
    enum nn_lua_stop stop;
};

/* A state without any library; false when out of memory. */
NN_MUST_CHECK bool nn_lua_open(struct nn_lua_box *box, const struct nn_custom_limits *limits);
void nn_lua_close(struct nn_lua_box *box);

/* From here on instructions count. */
void nn_lua_start_counting(lua_State *lua);
/* Counts n more; raises an error that nothing catches when that is too much. */
void nn_lua_charge(lua_State *lua, uint64_t n);

/* Loads text onto the stack; its errors say "line N: ...". Returns a status of Lua. */
int nn_lua_load(lua_State *lua, const char *text, size_t size);

/* Pushes the table of what a metric may call. May raise errors of memory. */
void nn_lua_push_library(lua_State *lua);

/* table.sort (lua_sort.c): by "<" or by a function; equal elements keep their order. */
int nn_lua_sort(lua_State *lua);

/* Why a call failed, from its status and the value on top of the stack. */
enum nn_status nn_lua_explain(const struct nn_lua_box *box, int status,
                              char out[NN_CUSTOM_ERROR_MAX + 1]);
