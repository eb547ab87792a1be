/* SPDX-License-Identifier: MIT
 *
 * Random small networks. A network grows by one layer, or one fork whose branches meet again, at a
 * time; what nothing has used in the end is joined before the last layer.
 */
#include "tests/support/network_random.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/random.h"
#include "tests/support/cmocka_all.h"

/* What a layer gives; sequences have height and width 1. Flat: behind a flatten, which no
 * concatenation takes. */
struct value {
    size_t height, width, channels;
    bool sequence, flat, used;
};

/* Value i is that of layer "n<i>", the first that of the input. */
struct growth {
    struct nn_random random;
    struct test_random_network *out;
    struct value values[TEST_RANDOM_LAYERS];
    size_t n;
};

static size_t below(struct growth *g, size_t n)
{
    return (size_t)nn_random_below(&g->random, n);
}

static void append(char *text, size_t size, const char *format, va_list args)
{
    size_t used = strlen(text);
    int n = vsnprintf(text + used, size - used, format, args);
    assert_true(n >= 0 && (size_t)n < size - used);
}

NN_PRINTF(2, 3)
static void add_text(struct growth *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append(g->out->layers, sizeof g->out->layers, format, args);
    va_end(args);
}

NN_PRINTF(2, 3)
static void add_connection(struct growth *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append(g->out->connections, sizeof g->out->connections, format, args);
    va_end(args);
}

static void connect(struct growth *g, size_t from, const char *to)
{
    const char *comma = g->out->connections[0] ? ", " : "";
    if (from == 0) {
        add_connection(g, "%s['in', '%s']", comma, to);
    } else {
        add_connection(g, "%s['n%zu', '%s']", comma, from, to);
    }
    g->values[from].used = true;
}

/* A layer behind `from` with options that begin with a comma; its index. */
static size_t add(struct growth *g, size_t from, const char *kind, const char *options,
                  struct value value)
{
    char name[16];
    assert_true(g->n < TEST_RANDOM_LAYERS);
    (void)snprintf(name, sizeof name, "n%zu", g->n);
    add_text(g, "{'name': '%s', 'kind': '%s'%s}, ", name, kind, options);
    connect(g, from, name);
    value.used = false;
    g->values[g->n] = value;
    g->out->c.kinks = g->out->c.kinks || strstr(kind, "relu") || strstr(kind, "max");
    return g->n++;
}

static bool is_row(const struct value *v)
{
    return v->height * v->width == 1;
}

/* ---- single layers ---- */

static size_t add_convolution(struct growth *g, size_t from, size_t filters, bool same)
{
    char options[128];
    struct value v = g->values[from];
    size_t most = v.height < v.width ? v.height : v.width;
    size_t groups = 1;
    if (!same && v.channels > 1 && below(g, 4) == 0) { /* depthwise, or with more filters */
        groups = v.channels;
        filters = groups * (1 + below(g, 2));
    }
    same = same || below(g, 2) == 0;
    size_t kernel = same ? 1 + 2 * below(g, 2) : 1 + below(g, most < 3 ? most : 3);
    v.height = same ? v.height : v.height - kernel + 1;
    v.width = same ? v.width : v.width - kernel + 1;
    (void)snprintf(options, sizeof options, ", 'filters': %zu, 'groups': %zu, 'kernel': %zu%s",
                   filters, groups, kernel, same ? ", 'same_padding': true" : "");
    v.channels = filters;
    return add(g, from, "convolution", options, v);
}

/* An image made larger, or one pixel smaller. */
static size_t add_resizing(struct growth *g, size_t from)
{
    static const char *const MODES[] = {"constant", "reflect", "replicate"};
    char options[96];
    struct value v = g->values[from];
    size_t mode = below(g, v.height > 1 && v.width > 1 ? 5 : 1);
    if (mode == 4 || v.height * v.width > 24) {
        v.height -= v.height > 1;
        (void)snprintf(options, sizeof options, ", 'size': [%d, 0, 0, 0]",
                       v.height < g->values[from].height);
        return add(g, from, "cropping", options, v);
    }
    if (mode == 3) {
        v.channels = 1 + below(g, 3);
        v.height = 2 * v.height - 1;
        v.width++;
        (void)snprintf(options, sizeof options,
                       ", 'filters': %zu, 'kernel': [1, 2], 'stride': [2, 1]", v.channels);
        return add(g, from, "transposed_convolution", options, v);
    }
    v.height++;
    v.width += 2;
    (void)snprintf(options, sizeof options, ", 'size': [0, 1, 1, 1], 'mode': '%s'", MODES[mode]);
    return add(g, from, "spatial_padding", options, v);
}

static size_t add_pool(struct growth *g, size_t from, const char *kind)
{
    struct value v = g->values[from];
    if (v.height < 2 || v.width < 2 || below(g, 2) == 0) {
        return add(g, from, kind, ", 'kernel': 3, 'stride': 1, 'padding': 1", v);
    }
    v.height--;
    v.width--;
    return add(g, from, kind, ", 'kernel': 2, 'stride': 1", v);
}

static size_t add_fully_connected(struct growth *g, size_t from)
{
    char options[32];
    struct value v = {1, 1, 1 + below(g, 5), g->values[from].sequence, false, false};
    (void)snprintf(options, sizeof options, ", 'outputs': %zu", v.channels);
    return add(g, from, "fully_connected", options, v);
}

static size_t add_recurrent(struct growth *g, size_t from, bool last)
{
    char options[96];
    size_t units = 1 + below(g, 4), directions = below(g, 3) == 0 ? 2 : 1;
    struct value v = {1, 1, units * directions, !last, false, false};
    (void)snprintf(options, sizeof options, ", 'units': %zu%s%s", units,
                   last ? ", 'output': 'last'" : "",
                   directions > 1 ? ", 'direction': 'bidirectional'" : "");
    return add(g, from, below(g, 2) == 0 ? "lstm" : "gru", options, v);
}

static size_t add_flat(struct growth *g, size_t from)
{
    struct value v = g->values[from];
    if (below(g, 2) == 0) {
        return add(g, from, "global_average_pool", "",
                   (struct value){1, 1, v.channels, false, false, false});
    }
    return add(g, from, "flatten", "",
               (struct value){1, 1, v.height * v.width * v.channels, false, true, false});
}

/* A layer that keeps the shape and, but for batch norm, may work in place. */
static size_t add_in_place(struct growth *g, size_t from)
{
    static const struct {
        const char *kind, *options;
    } ROWS[] = {{"relu", ""},
                {"clipped_relu", ", 'ceiling': 0.6"},
                {"dropout", ", 'rate': 0.3"},
                {"batch_norm", ""},
                {"softmax", ""}}; /* last: not over a single channel */
    size_t i = below(g, sizeof ROWS / sizeof ROWS[0] - (g->values[from].channels == 1));
    return add(g, from, ROWS[i].kind, ROWS[i].options, g->values[from]);
}

static size_t add_weights(struct growth *g, size_t from)
{
    if (g->values[from].sequence) {
        return below(g, 2) == 0 ? add_recurrent(g, from, false) : add_fully_connected(g, from);
    }
    if (is_row(&g->values[from])) {
        return add_fully_connected(g, from);
    }
    size_t at = add_convolution(g, from, 1 + below(g, 4), false);
    if (below(g, 3) == 0) {
        at = add(g, at, "batch_norm", "", g->values[at]);
    }
    return below(g, 3) == 0 ? add(g, at, "relu", "", g->values[at]) : at;
}

/* ---- joins ---- */

static bool same_rows(const struct value *a, const struct value *b)
{
    return a->height == b->height && a->width == b->width && a->sequence == b->sequence &&
           !a->flat && !b->flat;
}

/* Of two values of one height and width; an addition where the channels allow it, or not. */
static size_t add_join(struct growth *g, size_t a, size_t b)
{
    char name[16];
    struct value v = g->values[a];
    bool adds = v.channels == g->values[b].channels && below(g, 2) == 0;
    v.channels += adds ? 0 : g->values[b].channels;
    size_t at = add(g, a, adds ? "addition" : "concatenation", "", v);
    (void)snprintf(name, sizeof name, "n%zu", at);
    connect(g, b, name);
    return at;
}

/* A branch of one or two layers whose rows are those of `from`. */
static size_t add_branch(struct growth *g, size_t from, size_t channels)
{
    size_t at = from;
    if (g->values[from].sequence) {
        at = add_recurrent(g, from, false);
    } else if (is_row(&g->values[from])) {
        at = add_fully_connected(g, from);
    } else {
        at = add_convolution(g, from, channels, true);
    }
    return below(g, 2) == 0 ? add_in_place(g, at) : at;
}

static size_t add_fork(struct growth *g, size_t from)
{
    size_t channels = 1 + below(g, 3);
    size_t a = add_branch(g, from, channels);
    size_t b = add_branch(g, from, channels);
    size_t at = add_join(g, a, b);
    return below(g, 2) == 0 ? add_in_place(g, at) : at;
}

/* With any other value that fits, or alone. */
static size_t add_meeting(struct growth *g, size_t from)
{
    size_t first = below(g, g->n);
    for (size_t k = 0; k < g->n; k++) {
        size_t other = (first + k) % g->n;
        if (other != from && same_rows(&g->values[from], &g->values[other])) {
            return add_join(g, from, other);
        }
    }
    return add_in_place(g, from);
}

/* ---- the whole ---- */

static void grow(struct growth *g)
{
    size_t from = below(g, 3) > 0 ? g->n - 1 : below(g, g->n);
    const struct value *v = &g->values[from];
    switch (below(g, 6)) {
    case 0:
    case 1:
        (void)add_in_place(g, from);
        break;
    case 2:
        (void)add_weights(g, from);
        break;
    case 3:
        (void)add_meeting(g, from);
        break;
    case 4:
        (void)add_fork(g, from);
        break;
    default:
        if (v->sequence) {
            (void)add_recurrent(g, from, below(g, 4) == 0);
        } else if (!is_row(v)) {
            size_t what = below(g, 4);
            (void)(what == 0   ? add_flat(g, from)
                   : what == 1 ? add_pool(g, from, "max_pool")
                   : what == 2 ? add_resizing(g, from)
                               : add_pool(g, from, "average_pool"));
        } else {
            (void)add_in_place(g, from);
        }
        break;
    }
}

/* Rows that can be joined, one a sample, of what nothing has used yet. A single value needs that
 * only if it is an image. */
static void make_rows(struct growth *g)
{
    size_t unused = 0;
    bool mixed = false;
    for (size_t i = 0; i < g->n; i++) {
        unused += !g->values[i].used;
        mixed = mixed || (!g->values[i].used && !g->values[i].sequence);
    }
    for (size_t i = 0, n = g->n; i < n; i++) {
        if (g->values[i].used) {
            continue;
        }
        size_t at = i;
        if (g->values[i].sequence && mixed) {
            at = add_recurrent(g, i, true);
        } else if (!is_row(&g->values[i])) {
            at = add_flat(g, i);
        }
        if (g->values[at].flat && unused > 1) {
            (void)add_fully_connected(g, at);
        }
    }
}

static size_t join_rows(struct growth *g)
{
    size_t at = SIZE_MAX;
    for (size_t i = 0, n = g->n; i < n; i++) {
        if (!g->values[i].used) {
            at = at == SIZE_MAX ? i : add_join(g, at, i);
        }
    }
    return at;
}

static void end(struct growth *g)
{
    make_rows(g);
    size_t at = join_rows(g);
    at = below(g, 2) == 0 ? add_in_place(g, at) : at;
    add_text(g, "{'name': 'fc', 'kind': 'fully_connected'}");
    connect(g, at, "fc");
}

void test_random_network_make(uint64_t seed, struct test_random_network *out)
{
    static const size_t LENGTHS[] = {2, 4, 1, 3, 4};
    enum { GROWN_MAX = 12 }; /* leaves room for the end */
    bool images = seed % 2 == 1;
    struct growth g = {.out = out};
    *out = (struct test_random_network){0};
    nn_random_init(&g.random, seed, NN_RANDOM_TEST, 0, 0);
    g.values[g.n++] = images ? (struct value){4, 3, 1 + below(&g, 3), false, false, false}
                             : (struct value){1, 1, 3, true, false, false};
    out->c = (struct test_network_case){.name = out->name,
                                        .height = g.values[0].height,
                                        .width = g.values[0].width,
                                        .channels = g.values[0].channels,
                                        .classes = images ? 3 : 2,
                                        .batch = 3,
                                        .lengths = images ? NULL : LENGTHS,
                                        .layers = out->layers,
                                        .connections = out->connections};
    (void)snprintf(out->name, sizeof out->name, "random network %llu", (unsigned long long)seed);
    size_t wanted = 4 + below(&g, GROWN_MAX - 4);
    while (g.n < wanted) {
        grow(&g);
    }
    end(&g);
    if (below(&g, 4) == 0) {
        (void)snprintf(out->frozen, sizeof out->frozen, "n%zu", 1 + below(&g, g.n - 1));
        out->c.frozen = out->frozen;
    }
}
