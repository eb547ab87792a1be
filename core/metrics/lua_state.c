/* SPDX-License-Identifier: MIT
 *
 * Caps. The allocator refuses what is above the cap of memory, which Lua turns into an error. A
 * hook that is called every STRIDE instructions raises one when work or time is used up. No
 * function that a metric can reach catches errors, and no finaliser of its own runs while the state
 * is closed, because it has no metatables.
 */
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/metrics/lua_internal.h"

/* A string longer than this is refused, so that no single comparison or copy takes long. */
enum { STRIDE = 1000, STRING_MAX_BYTES = 65536 };

static double thread_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* As lua_Alloc has it: without a block, old is the type of what is made. */
static void *allocate(void *ctx, void *block, size_t old, size_t size)
{
    struct nn_lua_box *box = ctx;
    size_t had = block ? old : 0;
    if (size == 0) {
        free(block);
        box->bytes -= had;
        return NULL;
    }
    bool long_string = !block && old == LUA_TSTRING && size > STRING_MAX_BYTES;
    if (size > had && (long_string || size - had > box->limits.bytes - box->bytes)) {
        return NULL;
    }
    void *moved = realloc(block, size);
    if (!moved) {
        return size <= had ? block : NULL; /* Lua counts on shrinking */
    }
    box->bytes = box->bytes - had + size;
    return moved;
}

static struct nn_lua_box *box_of(lua_State *lua)
{
    void *ctx = NULL;
    (void)lua_getallocf(lua, &ctx);
    return ctx;
}

static void stop(lua_State *lua, struct nn_lua_box *box, enum nn_lua_stop why)
{
    box->stop = why;
    lua_pushnil(lua);
    (void)lua_error(lua);
}

void nn_lua_charge(lua_State *lua, uint64_t n)
{
    struct nn_lua_box *box = box_of(lua);
    if (n > box->limits.work - box->work) {
        stop(lua, box, NN_LUA_WORK);
    }
    box->work += n;
}

static void on_count(lua_State *lua, lua_Debug *debug)
{
    (void)debug;
    struct nn_lua_box *box = box_of(lua);
    nn_lua_charge(lua, STRIDE);
    if (thread_seconds() > box->deadline) {
        stop(lua, box, NN_LUA_TIME);
    }
}

void nn_lua_start_counting(lua_State *lua)
{
    lua_sethook(lua, on_count, LUA_MASKCOUNT, STRIDE);
}

bool nn_lua_open(struct nn_lua_box *box, const struct nn_custom_limits *limits)
{
    *box = (struct nn_lua_box){.limits = *limits, .deadline = thread_seconds() + limits->seconds};
    box->lua = lua_newstate(allocate, box);
    return box->lua != NULL;
}

void nn_lua_close(struct nn_lua_box *box)
{
    if (box->lua) {
        lua_close(box->lua);
    }
}

int nn_lua_load(lua_State *lua, const char *text, size_t size)
{
    return luaL_loadbufferx(lua, text, size, "=line", "t");
}

/* One printable line, cut: what a program says may hold anything. */
static void clean(const char *text, char out[NN_CUSTOM_ERROR_MAX + 1])
{
    size_t n = 0;
    for (; text[n] && n < NN_CUSTOM_ERROR_MAX; n++) {
        out[n] = text[n] >= 0x20 && text[n] < 0x7f ? text[n] : '?';
    }
    out[n] = '\0';
    if (strncmp(out, "line:", 5) == 0) { /* Lua says chunk:N: */
        out[4] = ' ';
    }
}

enum nn_status nn_lua_explain(const struct nn_lua_box *box, int status,
                              char out[NN_CUSTOM_ERROR_MAX + 1])
{
    if (box->stop == NN_LUA_WORK) {
        (void)snprintf(out, NN_CUSTOM_ERROR_MAX, "more than %llu instructions",
                       (unsigned long long)box->limits.work);
        return NN_ERR_LIMIT;
    }
    if (box->stop == NN_LUA_TIME) {
        (void)snprintf(out, NN_CUSTOM_ERROR_MAX, "more than %g seconds of processor time",
                       box->limits.seconds);
        return NN_ERR_LIMIT;
    }
    if (status == LUA_ERRMEM) {
        (void)snprintf(out, NN_CUSTOM_ERROR_MAX, "more than %zu bytes, or a string above %d",
                       box->limits.bytes, STRING_MAX_BYTES);
        return NN_ERR_MEMORY;
    }
    bool text = box->lua && lua_type(box->lua, -1) == LUA_TSTRING;
    clean(text ? lua_tostring(box->lua, -1) : "the error is no text", out);
    return NN_ERR_INVALID;
}
