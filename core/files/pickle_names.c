/* SPDX-License-Identifier: MIT
 *
 * The names that a state dict may use, and what they make. The list is closed: whatever else Python
 * could call is refused where it is named, before anything could be done with it.
 */
#include <string.h>

#include "core/files/pickle_internal.h"

static const struct nn_pickle_name NAMES[] = {
    {"collections", "OrderedDict", NN_PICKLE_ORDERED_DICT, 0, NN_FILE_F32},
    {"torch._utils", "_rebuild_tensor_v2", NN_PICKLE_REBUILD, 6, NN_FILE_F32},
    {"torch._utils", "_rebuild_tensor", NN_PICKLE_REBUILD, 4, NN_FILE_F32},
    {"torch._utils", "_rebuild_parameter", NN_PICKLE_REBUILD, 3, NN_FILE_F32},
    {"torch", "FloatStorage", NN_PICKLE_STORAGE_TYPE, 0, NN_FILE_F32},
    {"torch", "HalfStorage", NN_PICKLE_STORAGE_TYPE, 0, NN_FILE_F16},
    {"torch", "BFloat16Storage", NN_PICKLE_STORAGE_TYPE, 0, NN_FILE_BF16},
    {"torch", "DoubleStorage", NN_PICKLE_STORAGE_TYPE, 0, NN_FILE_F64},
    {"torch", "LongStorage", NN_PICKLE_STORAGE_TYPE, 0, NN_FILE_I64},
    {"torch", "IntStorage", NN_PICKLE_STORAGE_TYPE, 0, NN_FILE_I32},
    {"torch", "ShortStorage", NN_PICKLE_STORAGE_TYPE, 0, NN_FILE_I16},
    {"torch", "CharStorage", NN_PICKLE_STORAGE_TYPE, 0, NN_FILE_I8},
    {"torch", "ByteStorage", NN_PICKLE_STORAGE_TYPE, 0, NN_FILE_U8},
    {"torch", "BoolStorage", NN_PICKLE_STORAGE_TYPE, 0, NN_FILE_BOOL},
};

static bool equals(struct nn_pickle_text text, const char *other)
{
    return text.size == strlen(other) && memcmp(text.data, other, text.size) == 0;
}

const struct nn_pickle_name *nn_pickle_name_find(struct nn_pickle_text module,
                                                 struct nn_pickle_text name)
{
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (equals(module, NAMES[i].module) && equals(name, NAMES[i].name)) {
            return &NAMES[i];
        }
    }
    return NULL;
}

/* A size that is not negative. */
static bool is_count(const struct nn_pickle_value *value)
{
    return value->kind == NN_PICKLE_INT && value->integer >= 0;
}

/* The number of the i-th item of a tuple that has it. */
static uint32_t item_number(const struct nn_pickle *pickle, const struct nn_pickle_value *tuple,
                            size_t i)
{
    return (uint32_t)(nn_pickle_item(pickle, tuple, i) - pickle->values);
}

/* ---- dictionaries ---- */

/* A pair as Python 2 wrote them: a list or tuple of two. */
static bool pair_read(const struct nn_pickle *pickle, uint32_t number, uint32_t *key,
                      uint32_t *value)
{
    const struct nn_pickle_value *pair = nn_pickle_at(pickle, number);
    if ((pair->kind != NN_PICKLE_LIST && pair->kind != NN_PICKLE_TUPLE) || pair->items.count != 2) {
        return false;
    }
    *key = pickle->cells[pair->items.first].value;
    *value = pickle->cells[pair->items.last].value;
    return true;
}

/* OrderedDict() or OrderedDict([[key, value], ...]). */
static enum nn_status make_dict(struct nn_pickle *pickle, const struct nn_pickle_value *arguments,
                                uint32_t *out, struct nn_error *err)
{
    const struct nn_pickle_value empty = {.kind = NN_PICKLE_DICT};
    struct nn_pickle_items pairs = {0};
    const struct nn_pickle_value *list = nn_pickle_item(pickle, arguments, 0);
    if (arguments->items.count == 1 && list->kind == NN_PICKLE_LIST) {
        pairs = list->items;
    } else if (arguments->items.count > 0) {
        return nn_fail(err, NN_ERR_INVALID, "an OrderedDict of the pickle is made of no pairs");
    }
    enum nn_status status = nn_pickle_add(pickle, &empty, out, err);
    uint32_t cell = pairs.first;
    for (uint32_t i = 0; status == NN_OK && i < pairs.count; i++) {
        uint32_t key, value;
        if (!pair_read(pickle, pickle->cells[cell].value, &key, &value)) {
            return nn_fail(err, NN_ERR_INVALID, "an OrderedDict of the pickle is made of no pairs");
        }
        cell = pickle->cells[cell].next;
        status = nn_pickle_append(pickle, *out, key, value, err);
    }
    return status;
}

/* ---- tensors ---- */

/* (storage, offset, shape, strides, ...): checked against the storage by whoever reads it. */
static enum nn_status make_tensor(struct nn_pickle *pickle, const struct nn_pickle_value *arguments,
                                  uint32_t *out, struct nn_error *err)
{
    const struct nn_pickle_value *offset = nn_pickle_item(pickle, arguments, 1);
    const struct nn_pickle_value *shape = nn_pickle_item(pickle, arguments, 2);
    const struct nn_pickle_value *strides = nn_pickle_item(pickle, arguments, 3);
    if (nn_pickle_item(pickle, arguments, 0)->kind != NN_PICKLE_STORAGE || !is_count(offset) ||
        shape->kind != NN_PICKLE_TUPLE || strides->kind != NN_PICKLE_TUPLE ||
        shape->items.count != strides->items.count || shape->items.count > NN_FILE_MAX_RANK) {
        return nn_fail(err, NN_ERR_INVALID,
                       "a tensor of the pickle has no storage, shape, strides "
                       "and offset");
    }
    const struct nn_pickle_value value = {
        .kind = NN_PICKLE_TENSOR,
        .tensor = {.storage = item_number(pickle, arguments, 0),
                   .shape = item_number(pickle, arguments, 2),
                   .strides = item_number(pickle, arguments, 3),
                   .offset = (size_t)offset->integer},
    };
    return nn_pickle_add(pickle, &value, out, err);
}

enum nn_status nn_pickle_reduce(struct nn_pickle *pickle, uint32_t callable, uint32_t arguments,
                                uint32_t *out, struct nn_error *err)
{
    const struct nn_pickle_value *name = nn_pickle_at(pickle, callable);
    const struct nn_pickle_value *tuple = nn_pickle_at(pickle, arguments);
    if (name->kind != NN_PICKLE_NAME || tuple->kind != NN_PICKLE_TUPLE ||
        name->name->role == NN_PICKLE_STORAGE_TYPE) {
        return nn_fail(err, NN_ERR_INVALID, "the pickle calls something that is no function");
    }
    const struct nn_pickle_value copy = *tuple; /* adding a value may move the others */
    if (name->name->role == NN_PICKLE_ORDERED_DICT) {
        return make_dict(pickle, &copy, out, err);
    }
    if (copy.items.count < name->name->arguments) {
        return nn_fail(err, NN_ERR_INVALID, "the pickle calls %s with too few arguments",
                       name->name->name);
    }
    if (name->name->arguments > 3) {
        return make_tensor(pickle, &copy, out, err);
    }
    if (nn_pickle_item(pickle, &copy, 0)->kind != NN_PICKLE_TENSOR) {
        return nn_fail(err, NN_ERR_INVALID, "a parameter of the pickle holds no tensor");
    }
    *out = item_number(pickle, &copy, 0);
    return NN_OK;
}

/* ---- storages ---- */

/* ("storage", type, key, location, count) and, in streams, a sixth that is None. */
enum nn_status nn_pickle_persistent(struct nn_pickle *pickle, uint32_t id, uint32_t *out,
                                    struct nn_error *err)
{
    const struct nn_pickle_value *tuple = nn_pickle_at(pickle, id);
    const struct nn_pickle_value *type = nn_pickle_item(pickle, tuple, 1);
    const struct nn_pickle_value *key = nn_pickle_item(pickle, tuple, 2);
    const struct nn_pickle_value *count = nn_pickle_item(pickle, tuple, 4);
    if (!nn_pickle_text_is(nn_pickle_item(pickle, tuple, 0), "storage") ||
        type->kind != NN_PICKLE_NAME || type->name->role != NN_PICKLE_STORAGE_TYPE ||
        key->kind != NN_PICKLE_TEXT || !is_count(count)) {
        return nn_fail(err, NN_ERR_INVALID, "a storage of the pickle has no type, key and size");
    }
    if (nn_pickle_item(pickle, tuple, 5)->kind != NN_PICKLE_NONE) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED, "views of storages are not read");
    }
    const struct nn_pickle_value value = {
        .kind = NN_PICKLE_STORAGE,
        .storage = {.key = key->text, .dtype = type->name->dtype, .count = (size_t)count->integer},
    };
    return nn_pickle_add(pickle, &value, out, err);
}
