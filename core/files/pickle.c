/* SPDX-License-Identifier: MIT
 *
 * The stack machine (its stack: pickle_stack.c): one small function an opcode, in a table. An
 * opcode that is not in the table is refused. Every count comes from the bytes at hand, so a pickle
 * of n bytes makes at most n values; the limits below stop it earlier.
 */
#include "core/files/pickle_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    MEMO_MAX = 1 << 21,
    NAME_BYTES = 128,
    PROTOCOL_MAX = 2,
};

/* ---- opcodes ---- */

typedef enum nn_status (*opcode_fn)(struct nn_pickle *p, unsigned char op, struct nn_error *err);

static enum nn_status op_protocol(struct nn_pickle *p, unsigned char op, struct nn_error *err)
{
    uint64_t version = 0;
    (void)op;
    enum nn_status status = nn_pickle_take_number(p, 1, &version, err);
    if (status == NN_OK && version > PROTOCOL_MAX) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED,
                       "pickles of protocol %d are not read; torch.save writes protocol 2",
                       (int)version);
    }
    return status;
}

static enum nn_status op_mark(struct nn_pickle *p, unsigned char op, struct nn_error *err)
{
    (void)op;
    return nn_pickle_push(p, 0, err);
}

static enum nn_status op_constant(struct nn_pickle *p, unsigned char op, struct nn_error *err)
{
    switch (op) {
    case 'N':
        return nn_pickle_push(p, 1, err);
    case ']':
        return nn_pickle_push_new(p, (struct nn_pickle_value){.kind = NN_PICKLE_LIST}, err);
    case '}':
        return nn_pickle_push_new(p, (struct nn_pickle_value){.kind = NN_PICKLE_DICT}, err);
    case ')':
        return nn_pickle_push_new(p, (struct nn_pickle_value){.kind = NN_PICKLE_TUPLE}, err);
    default:
        return nn_pickle_push_new(
            p, (struct nn_pickle_value){.kind = NN_PICKLE_BOOL, .boolean = op == 0x88}, err);
    }
}

/* BININT (signed), BININT1, BININT2. */
static enum nn_status op_integer(struct nn_pickle *p, unsigned char op, struct nn_error *err)
{
    uint64_t number = 0;
    enum nn_status status = nn_pickle_take_number(p,
                                                  op == 'J'   ? 4
                                                  : op == 'M' ? 2
                                                              : 1,
                                                  &number, err);
    int64_t value = op == 'J' ? (int64_t)(int32_t)(uint32_t)number : (int64_t)number;
    return status == NN_OK
               ? nn_pickle_push_new(
                     p, (struct nn_pickle_value){.kind = NN_PICKLE_INT, .integer = value}, err)
               : status;
}

/* LONG1: two's complement of up to 255 bytes. */
static enum nn_status op_long(struct nn_pickle *p, unsigned char op, struct nn_error *err)
{
    uint64_t n = 0;
    const unsigned char *bytes = NULL;
    (void)op;
    enum nn_status status = nn_pickle_take_number(p, 1, &n, err);
    if (status == NN_OK) {
        status = nn_pickle_take(p, (size_t)n, &bytes, err);
    }
    if (status != NN_OK) {
        return status;
    }
    if (n > 8) {
        const struct nn_pickle_text text = {(const char *)bytes, (size_t)n};
        return nn_pickle_push_new(p, (struct nn_pickle_value){.kind = NN_PICKLE_TEXT, .text = text},
                                  err);
    }
    uint64_t value = n > 0 && bytes[n - 1] >= 128 ? UINT64_MAX : 0;
    for (size_t i = (size_t)n; i-- > 0;) {
        value = value << 8 | bytes[i];
    }
    return nn_pickle_push_new(
        p, (struct nn_pickle_value){.kind = NN_PICKLE_INT, .integer = (int64_t)value}, err);
}

/* BINFLOAT: big endian. */
static enum nn_status op_real(struct nn_pickle *p, unsigned char op, struct nn_error *err)
{
    const unsigned char *bytes = NULL;
    uint64_t bits = 0;
    struct nn_pickle_value value = {.kind = NN_PICKLE_REAL};
    (void)op;
    enum nn_status status = nn_pickle_take(p, 8, &bytes, err);
    if (status != NN_OK) {
        return status;
    }
    for (size_t i = 0; i < 8; i++) {
        bits = bits << 8 | bytes[i];
    }
    memcpy(&value.real, &bits, sizeof bits);
    return nn_pickle_push_new(p, value, err);
}

/* BINUNICODE and BINSTRING (4 bytes of length), SHORT_BINSTRING (1). */
static enum nn_status op_text(struct nn_pickle *p, unsigned char op, struct nn_error *err)
{
    uint64_t n = 0;
    const unsigned char *bytes = NULL;
    enum nn_status status = nn_pickle_take_number(p, op == 'U' ? 1 : 4, &n, err);
    if (status == NN_OK) {
        status = nn_pickle_take(p, (size_t)n, &bytes, err);
    }
    if (status != NN_OK) {
        return status;
    }
    const struct nn_pickle_text text = {(const char *)bytes, (size_t)n};
    return nn_pickle_push_new(p, (struct nn_pickle_value){.kind = NN_PICKLE_TEXT, .text = text},
                              err);
}

/* Moves what lies on the stack from `from` on into a container. */
static enum nn_status move_items(struct nn_pickle *p, uint32_t container, size_t from,
                                 struct nn_error *err)
{
    bool pairs = p->values[container].kind == NN_PICKLE_DICT;
    enum nn_status status = NN_OK;
    if (pairs && (p->n_stack - from) % 2 != 0) {
        return nn_fail(err, NN_ERR_INVALID, "a dictionary of the pickle has a key without a value");
    }
    for (size_t i = from; status == NN_OK && i < p->n_stack; i += pairs ? 2 : 1) {
        uint32_t key = pairs ? p->stack[i] : 0;
        status = nn_pickle_append(p, container, key, p->stack[pairs ? i + 1 : i], err);
    }
    p->n_stack = from;
    return status;
}

/* TUPLE (from the mark on), TUPLE1, TUPLE2, TUPLE3. */
static enum nn_status op_tuple(struct nn_pickle *p, unsigned char op, struct nn_error *err)
{
    const struct nn_pickle_value empty = {.kind = NN_PICKLE_TUPLE};
    size_t from = 0;
    uint32_t tuple = 0;
    enum nn_status status = op == 't' ? nn_pickle_find_mark(p, &from, err)
                                      : nn_pickle_find_last(p, (size_t)op - 0x84, &from, err);
    if (status == NN_OK) {
        status = nn_pickle_add(p, &empty, &tuple, err);
    }
    if (status == NN_OK) {
        status = move_items(p, tuple, from, err);
    }
    if (status == NN_OK && op == 't') {
        p->n_stack--; /* the mark */
    }
    return status == NN_OK ? nn_pickle_push(p, tuple, err) : status;
}

/* APPENDS and SETITEMS: from the mark on, into what lies before it. */
static enum nn_status op_fill(struct nn_pickle *p, unsigned char op, struct nn_error *err)
{
    size_t from = 0;
    uint32_t container = 0;
    enum nn_pickle_kind kind = op == 'u' ? NN_PICKLE_DICT : NN_PICKLE_LIST;
    enum nn_status status = nn_pickle_find_mark(p, &from, err);
    if (status == NN_OK) {
        status = nn_pickle_container_at(p, from >= 2 ? from - 2 : SIZE_MAX, kind, &container, err);
    }
    if (status == NN_OK) {
        status = move_items(p, container, from, err);
        p->n_stack = from - 1;
    }
    return status;
}

/* APPEND and SETITEM: one item. */
static enum nn_status op_fill_one(struct nn_pickle *p, unsigned char op, struct nn_error *err)
{
    size_t from = 0;
    uint32_t container = 0;
    enum nn_pickle_kind kind = op == 's' ? NN_PICKLE_DICT : NN_PICKLE_LIST;
    enum nn_status status = nn_pickle_find_last(p, op == 's' ? 2 : 1, &from, err);
    if (status == NN_OK) {
        status = nn_pickle_container_at(p, from > 0 ? from - 1 : SIZE_MAX, kind, &container, err);
    }
    return status == NN_OK ? move_items(p, container, from, err) : status;
}

/* BINPUT and LONG_BINPUT. */
static enum nn_status op_put(struct nn_pickle *p, unsigned char op, struct nn_error *err)
{
    uint64_t key = 0;
    enum nn_status status = nn_pickle_take_number(p, op == 'q' ? 1 : 4, &key, err);
    if (status != NN_OK) {
        return status;
    }
    if (p->n_stack == 0 || p->stack[p->n_stack - 1] == 0) {
        return nn_pickle_empty(err);
    }
    if (key > p->n_memo + 1) { /* Python 3 counts from 0, Python 2 from 1 */
        return nn_fail(err, NN_ERR_INVALID, "the pickle numbers its values with gaps");
    }
    while (status == NN_OK && p->n_memo <= key) {
        status = nn_pickle_grow(&p->memo, sizeof *p->memo, p->n_memo, &p->room_memo, MEMO_MAX, err);
        if (status == NN_OK) {
            p->memo[p->n_memo++] = 0;
        }
    }
    if (status == NN_OK) {
        p->memo[key] = p->stack[p->n_stack - 1];
    }
    return status;
}

/* BINGET and LONG_BINGET. */
static enum nn_status op_get(struct nn_pickle *p, unsigned char op, struct nn_error *err)
{
    uint64_t key = 0;
    enum nn_status status = nn_pickle_take_number(p, op == 'h' ? 1 : 4, &key, err);
    if (status != NN_OK) {
        return status;
    }
    if (key >= p->n_memo || p->memo[key] == 0) {
        return nn_fail(err, NN_ERR_INVALID, "the pickle asks for a value it never kept");
    }
    return nn_pickle_push(p, p->memo[key], err);
}

static enum nn_status take_line(struct nn_pickle *p, struct nn_pickle_text *out,
                                struct nn_error *err)
{
    const char *line = (const char *)p->bytes + p->at;
    size_t left = p->size - p->at;
    const char *end = memchr(line, '\n', left < NAME_BYTES ? left : NAME_BYTES);
    if (!end) {
        return nn_fail(err, NN_ERR_INVALID, "a name of the pickle does not end");
    }
    *out = (struct nn_pickle_text){line, (size_t)(end - line)};
    p->at += out->size + 1;
    return NN_OK;
}

/* A name as it may be shown: what is not a letter of Python's names becomes a question mark. */
static void name_text(struct nn_pickle_text text, char out[NAME_BYTES])
{
    static const char FINE[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.";
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        out[i] = c;
        if (c == '\0' || !strchr(FINE, c)) {
            out[i] = '?';
        }
    }
    out[text.size] = '\0';
}

static enum nn_status op_global(struct nn_pickle *p, unsigned char op, struct nn_error *err)
{
    struct nn_pickle_text module = {0}, name = {0};
    char texts[2][NAME_BYTES];
    (void)op;
    enum nn_status status = take_line(p, &module, err);
    if (status == NN_OK) {
        status = take_line(p, &name, err);
    }
    if (status != NN_OK) {
        return status;
    }
    const struct nn_pickle_name *found = nn_pickle_name_find(module, name);
    if (found) {
        return nn_pickle_push_new(
            p, (struct nn_pickle_value){.kind = NN_PICKLE_NAME, .name = found}, err);
    }
    name_text(module, texts[0]);
    name_text(name, texts[1]);
    return nn_fail(err, NN_ERR_INVALID,
                   "the pickle uses %.60s.%.60s; a state dict of tensors has no need of it",
                   texts[0], texts[1]);
}

static enum nn_status op_reduce(struct nn_pickle *p, unsigned char op, struct nn_error *err)
{
    uint32_t arguments = 0, callable = 0, made = 0;
    (void)op;
    enum nn_status status = nn_pickle_pop(p, &arguments, err);
    if (status == NN_OK) {
        status = nn_pickle_pop(p, &callable, err);
    }
    if (status == NN_OK) {
        status = nn_pickle_reduce(p, callable, arguments, &made, err);
    }
    return status == NN_OK ? nn_pickle_push(p, made, err) : status;
}

static enum nn_status op_persistent(struct nn_pickle *p, unsigned char op, struct nn_error *err)
{
    uint32_t id = 0, made = 0;
    (void)op;
    enum nn_status status = nn_pickle_pop(p, &id, err);
    if (status == NN_OK) {
        status = nn_pickle_persistent(p, id, &made, err);
    }
    return status == NN_OK ? nn_pickle_push(p, made, err) : status;
}

/* BUILD gives an OrderedDict its attributes (_metadata of a module): dropped. */
static enum nn_status op_build(struct nn_pickle *p, unsigned char op, struct nn_error *err)
{
    uint32_t state = 0, object = 0;
    (void)op;
    enum nn_status status = nn_pickle_pop(p, &state, err);
    return status == NN_OK ? nn_pickle_container_at(p, p->n_stack > 0 ? p->n_stack - 1 : SIZE_MAX,
                                                    NN_PICKLE_DICT, &object, err)
                           : status;
}

static const opcode_fn OPCODES[256] = {
    [0x80] = op_protocol, ['('] = op_mark,     ['N'] = op_constant,   [']'] = op_constant,
    ['}'] = op_constant,  [')'] = op_constant, [0x88] = op_constant,  [0x89] = op_constant,
    ['J'] = op_integer,   ['K'] = op_integer,  ['M'] = op_integer,    [0x8a] = op_long,
    ['G'] = op_real,      ['X'] = op_text,     ['T'] = op_text,       ['U'] = op_text,
    ['t'] = op_tuple,     [0x85] = op_tuple,   [0x86] = op_tuple,     [0x87] = op_tuple,
    ['e'] = op_fill,      ['u'] = op_fill,     ['a'] = op_fill_one,   ['s'] = op_fill_one,
    ['q'] = op_put,       ['r'] = op_put,      ['h'] = op_get,        ['j'] = op_get,
    ['c'] = op_global,    ['R'] = op_reduce,   ['Q'] = op_persistent, ['b'] = op_build,
};

static enum nn_status run(struct nn_pickle *p, struct nn_error *err)
{
    static const struct nn_pickle_value FIRST[2] = {{.kind = NN_PICKLE_MARK},
                                                    {.kind = NN_PICKLE_NONE}};
    uint32_t number = 0;
    enum nn_status status = nn_pickle_add(p, &FIRST[0], &number, err);
    if (status == NN_OK) {
        status = nn_pickle_add(p, &FIRST[1], &number, err);
    }
    while (status == NN_OK) {
        if (p->at == p->size) {
            return nn_fail(err, NN_ERR_INVALID, "the pickle does not end");
        }
        unsigned char op = p->bytes[p->at++];
        if (op == '.') {
            break;
        }
        status = OPCODES[op]
                     ? OPCODES[op](p, op, err)
                     : nn_fail(err, NN_ERR_INVALID,
                               "opcode 0x%02x of the pickle is none that state dicts use", op);
    }
    if (status == NN_OK) {
        status = nn_pickle_pop(p, &p->root, err);
    }
    if (status == NN_OK && p->n_stack > 0) {
        return nn_fail(err, NN_ERR_INVALID, "the pickle leaves values over");
    }
    return status;
}

enum nn_status nn_pickle_run(const unsigned char *bytes, size_t size, struct nn_pickle *out,
                             size_t *out_used, struct nn_error *err)
{
    *out = (struct nn_pickle){.bytes = bytes, .size = size};
    enum nn_status status = run(out, err);
    if (status == NN_OK) {
        *out_used = out->at;
    }
    return status;
}
