/* SPDX-License-Identifier: MIT
 *
 * A reader of the pickles that PyTorch's state dicts are made of. A pickle is a program for a stack
 * machine; this machine has only the opcodes that build plain values, and knows a handful of names
 * (struct nn_pickle_name). Nothing is ever called: what Python would do by a call (REDUCE,
 * BINPERSID) makes one of three values here, an ordered dictionary, a storage or a tensor.
 *
 * Values refer to each other by number, so a pickle may build circles; whoever reads values walks a
 * fixed number of levels and never recurses.
 */
#ifndef NN_FILES_PICKLE_INTERNAL_H
#define NN_FILES_PICKLE_INTERNAL_H

#include "core/files/safetensors.h"

enum nn_pickle_kind {
    NN_PICKLE_MARK, /* on the stack only */
    NN_PICKLE_NONE,
    NN_PICKLE_BOOL,
    NN_PICKLE_INT,
    NN_PICKLE_REAL,
    NN_PICKLE_TEXT, /* also the integers that do not fit 64 bits: their bytes */
    NN_PICKLE_TUPLE,
    NN_PICKLE_LIST,
    NN_PICKLE_DICT,
    NN_PICKLE_NAME,
    NN_PICKLE_STORAGE,
    NN_PICKLE_TENSOR,
};

enum nn_pickle_role { NN_PICKLE_ORDERED_DICT, NN_PICKLE_REBUILD, NN_PICKLE_STORAGE_TYPE };

/* A name of Python that a state dict may use. */
struct nn_pickle_name {
    const char *module, *name;
    enum nn_pickle_role role;
    size_t arguments;         /* REBUILD: 3 of a parameter, else at least so many of a tensor */
    enum nn_file_dtype dtype; /* STORAGE_TYPE */
};

struct nn_pickle_text {
    const char *data; /* in the pickle, not terminated */
    size_t size;
};

/* A chain of `count` cells. Those of a dictionary have keys. */
struct nn_pickle_items {
    uint32_t first, last, count;
};

struct nn_pickle_storage {
    struct nn_pickle_text key;
    enum nn_file_dtype dtype;
    size_t count; /* of elements */
};

struct nn_pickle_tensor {
    uint32_t storage, shape, strides; /* values; shape and strides are tuples */
    size_t offset;                    /* of elements */
};

struct nn_pickle_value {
    enum nn_pickle_kind kind;
    union {
        bool boolean;
        int64_t integer;
        double real;
        struct nn_pickle_text text;
        struct nn_pickle_items items;
        const struct nn_pickle_name *name;
        struct nn_pickle_storage storage;
        struct nn_pickle_tensor tensor;
    };
};

struct nn_pickle_cell {
    uint32_t key, value, next;
};

struct nn_pickle {
    const unsigned char *bytes;
    size_t size, at;
    struct nn_pickle_value *values; /* value 0 is the mark, value 1 is none */
    struct nn_pickle_cell *cells;
    uint32_t *stack, *memo;
    size_t n_values, n_cells, n_stack, n_memo;
    size_t room_values, room_cells, room_stack, room_memo;
    uint32_t root;
};

/* Runs one pickle from the start of bytes, which must outlive the values; *out_used: its length.
 * out is the caller's storage, to be deinited also on failure. */
NN_MUST_CHECK enum nn_status nn_pickle_run(const unsigned char *bytes, size_t size,
                                           struct nn_pickle *out, size_t *out_used,
                                           struct nn_error *err);
void nn_pickle_deinit(struct nn_pickle *pickle);

static inline const struct nn_pickle_value *nn_pickle_at(const struct nn_pickle *pickle,
                                                         uint32_t value)
{
    return &pickle->values[value];
}

/* The i-th item of a tuple; a value of kind NONE past its end or of anything else. */
const struct nn_pickle_value *nn_pickle_item(const struct nn_pickle *pickle,
                                             const struct nn_pickle_value *tuple, size_t i);

bool nn_pickle_text_is(const struct nn_pickle_value *value, const char *text);

/* ---- for the meaning of names (pickle_names.c) ---- */

const struct nn_pickle_name *nn_pickle_name_find(struct nn_pickle_text module,
                                                 struct nn_pickle_text name);

/* Makes room for one more element of `size` bytes when `used` have come to *room; array: the
 * address of the pointer. ERR_LIMIT from `most` on. */
NN_MUST_CHECK enum nn_status nn_pickle_grow(void *array, size_t size, size_t used, size_t *room,
                                            size_t most, struct nn_error *err);
/* Appends a value; *out its number. */
NN_MUST_CHECK enum nn_status nn_pickle_add(struct nn_pickle *pickle,
                                           const struct nn_pickle_value *value, uint32_t *out,
                                           struct nn_error *err);
/* Appends an item to a list, a tuple or (with key) a dictionary. */
NN_MUST_CHECK enum nn_status nn_pickle_append(struct nn_pickle *pickle, uint32_t container,
                                              uint32_t key, uint32_t value, struct nn_error *err);

/* What callable(*arguments) would be, and what a persistent id stands for. */
NN_MUST_CHECK enum nn_status nn_pickle_reduce(struct nn_pickle *pickle, uint32_t callable,
                                              uint32_t arguments, uint32_t *out,
                                              struct nn_error *err);
NN_MUST_CHECK enum nn_status nn_pickle_persistent(struct nn_pickle *pickle, uint32_t id,
                                                  uint32_t *out, struct nn_error *err);

/* ---- for the opcodes (pickle_stack.c); all NN_ERR_INVALID for what no pickle does ---- */

/* The next n bytes, and a little-endian number of n <= 8 of them. */
NN_MUST_CHECK enum nn_status nn_pickle_take(struct nn_pickle *pickle, size_t n,
                                            const unsigned char **out, struct nn_error *err);
NN_MUST_CHECK enum nn_status nn_pickle_take_number(struct nn_pickle *pickle, size_t n,
                                                   uint64_t *out, struct nn_error *err);

NN_MUST_CHECK enum nn_status nn_pickle_push(struct nn_pickle *pickle, uint32_t value,
                                            struct nn_error *err);
/* Pushes a value that is added first. */
NN_MUST_CHECK enum nn_status nn_pickle_push_new(struct nn_pickle *pickle,
                                                struct nn_pickle_value value, struct nn_error *err);
/* Anything but a mark. */
NN_MUST_CHECK enum nn_status nn_pickle_pop(struct nn_pickle *pickle, uint32_t *out,
                                           struct nn_error *err);
/* The error of a stack with too little on it. */
enum nn_status nn_pickle_empty(struct nn_error *err);

/* Position on the stack of the first value behind the last mark. */
NN_MUST_CHECK enum nn_status nn_pickle_find_mark(const struct nn_pickle *pickle, size_t *out,
                                                 struct nn_error *err);
/* Position of the last n values, none of them a mark. */
NN_MUST_CHECK enum nn_status nn_pickle_find_last(const struct nn_pickle *pickle, size_t n,
                                                 size_t *out, struct nn_error *err);
/* The value at a place of the stack, which must be of the kind. */
NN_MUST_CHECK enum nn_status nn_pickle_container_at(const struct nn_pickle *pickle, size_t place,
                                                    enum nn_pickle_kind kind, uint32_t *out,
                                                    struct nn_error *err);

#endif
