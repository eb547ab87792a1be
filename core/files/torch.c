/* SPDX-License-Identifier: MIT
 *
 * From the values of a pickle to named tensors: which dictionary is the state dict, which storages
 * there are, and each tensor as a contiguous run of elements.
 */
#include "core/files/torch_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/files/dtype_internal.h"
#include "core/json/json.h"

enum { MOST_TIMES_THE_FILE = 8 };

/* ---- storages ---- */

static int key_order(struct nn_pickle_text a, struct nn_pickle_text b)
{
    int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static int by_key(const void *a, const void *b)
{
    const struct nn_torch_storage *x = a;
    const struct nn_torch_storage *y = b;
    return key_order(x->is.key, y->is.key);
}

/* Drops the repetitions of an ordered list; two of one key must be alike. */
static enum nn_status unite(struct nn_torch *torch, struct nn_error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < torch->n_storages; i++) {
        const struct nn_torch_storage *storage = &torch->storages[i];
        if (kept == 0 || by_key(&torch->storages[kept - 1], storage) != 0) {
            torch->storages[kept++] = *storage;
            continue;
        }
        const struct nn_pickle_storage *first = &torch->storages[kept - 1].is;
        if (first->dtype != storage->is.dtype || first->count != storage->is.count) {
            return nn_fail(err, NN_ERR_INVALID, "the pickle gives one storage two types or sizes");
        }
    }
    torch->n_storages = kept;
    return NN_OK;
}

enum nn_status nn_torch_list_storages(struct nn_torch *torch, struct nn_error *err)
{
    const struct nn_pickle *pickle = &torch->pickle;
    size_t n = 0;
    for (size_t i = 0; i < pickle->n_values; i++) {
        n += pickle->values[i].kind == NN_PICKLE_STORAGE;
    }
    torch->storages = calloc(n + 1, sizeof *torch->storages);
    if (!torch->storages) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for %zu storages", n);
    }
    for (size_t i = 0; i < pickle->n_values; i++) {
        if (pickle->values[i].kind != NN_PICKLE_STORAGE) {
            continue;
        }
        struct nn_torch_storage *storage = &torch->storages[torch->n_storages++];
        storage->is = pickle->values[i].storage;
        if (!nn_size_mul(storage->is.count, nn_file_dtype_bytes(storage->is.dtype),
                         &storage->bytes) ||
            storage->bytes > torch->size) {
            return nn_fail(err, NN_ERR_INVALID, "a storage is larger than the file");
        }
    }
    qsort(torch->storages, torch->n_storages, sizeof *torch->storages, by_key);
    return unite(torch, err);
}

struct nn_torch_storage *nn_torch_find_storage(const struct nn_torch *torch,
                                               struct nn_pickle_text key)
{
    const struct nn_torch_storage wanted = {.is = {.key = key}};
    return bsearch(&wanted, torch->storages, torch->n_storages, sizeof *torch->storages, by_key);
}

/* ---- one tensor ---- */

static bool sizes_read(const struct nn_torch *torch, uint32_t tuple, size_t rank, size_t *out)
{
    const struct nn_pickle_value *sizes = nn_pickle_at(&torch->pickle, tuple);
    for (size_t i = 0; i < rank; i++) {
        const struct nn_pickle_value *size = nn_pickle_item(&torch->pickle, sizes, i);
        if (size->kind != NN_PICKLE_INT || size->integer < 0) {
            return false;
        }
        out[i] = (size_t)size->integer;
    }
    return true;
}

/* Number of elements, and the farthest of them from the first; false when one does not fit. */
static bool extent_of(const struct nn_file_tensor *tensor, const size_t *strides, size_t *out_count,
                      size_t *out_last)
{
    size_t count = 1, last = 0, step;
    for (size_t i = 0; i < tensor->rank; i++) {
        if (!nn_size_mul(count, tensor->shape[i], &count)) {
            return false;
        }
    }
    for (size_t i = 0; count > 0 && i < tensor->rank; i++) {
        if (!nn_size_mul(tensor->shape[i] - 1, strides[i], &step) ||
            !nn_size_add(last, step, &last)) {
            return false;
        }
    }
    *out_count = count;
    *out_last = last;
    return true;
}

static bool is_contiguous(const struct nn_file_tensor *tensor, const size_t *strides)
{
    size_t expected = 1;
    for (size_t i = tensor->rank; i-- > 0;) {
        if (tensor->shape[i] != 1 && strides[i] != expected) {
            return false;
        }
        expected *= tensor->shape[i];
    }
    return true;
}

/* dst: the elements in row-major order, read through the strides. */
static void gather(const struct nn_file_tensor *tensor, const size_t *strides,
                   const unsigned char *first, unsigned char *dst)
{
    size_t at[NN_FILE_MAX_RANK] = {0}, offset = 0, size = nn_file_dtype_bytes(tensor->dtype);
    for (size_t i = 0; i < tensor->count; i++) {
        memcpy(dst + i * size, first + offset * size, size);
        for (size_t axis = tensor->rank; axis-- > 0;) {
            offset += strides[axis];
            if (++at[axis] < tensor->shape[axis]) {
                break;
            }
            offset -= strides[axis] * tensor->shape[axis];
            at[axis] = 0;
        }
    }
}

static enum nn_status data_find(struct nn_torch *torch, const struct nn_torch_storage *storage,
                                size_t offset, const size_t *strides, struct nn_file_tensor *tensor,
                                struct nn_error *err)
{
    size_t last, size = nn_file_dtype_bytes(tensor->dtype);
    if (!extent_of(tensor, strides, &tensor->count, &last) ||
        !nn_size_mul(tensor->count, size, &tensor->bytes)) {
        return nn_fail(err, NN_ERR_INVALID, "tensor \"%.100s\" is too large", tensor->name);
    }
    if (offset > storage->is.count || (tensor->count > 0 && last >= storage->is.count - offset)) {
        return nn_fail(err, NN_ERR_INVALID, "tensor \"%.100s\" leaves its storage", tensor->name);
    }
    if (tensor->bytes > MOST_TIMES_THE_FILE * torch->size - torch->tensor_bytes) {
        return nn_fail(err, NN_ERR_LIMIT, "the tensors come to more than %d times the file",
                       (int)MOST_TIMES_THE_FILE);
    }
    torch->tensor_bytes += tensor->bytes;
    const unsigned char *first = storage->data + offset * size;
    tensor->data = first;
    if (tensor->count > 0 && !is_contiguous(tensor, strides)) {
        unsigned char *copy = nn_arena_alloc(torch->arena, tensor->count, size);
        if (!copy) {
            return nn_fail(err, NN_ERR_MEMORY, "no memory for tensor \"%.100s\"", tensor->name);
        }
        gather(tensor, strides, first, copy);
        tensor->data = copy;
    }
    return NN_OK;
}

static enum nn_status tensor_read(struct nn_torch *torch, const char *name,
                                  const struct nn_pickle_tensor *value, struct nn_error *err)
{
    size_t strides[NN_FILE_MAX_RANK];
    const struct nn_pickle_storage *is = &nn_pickle_at(&torch->pickle, value->storage)->storage;
    struct nn_file_tensor tensor = {.name = name, .dtype = is->dtype};
    tensor.rank = nn_pickle_at(&torch->pickle, value->shape)->items.count;
    if (!sizes_read(torch, value->shape, tensor.rank, tensor.shape) ||
        !sizes_read(torch, value->strides, tensor.rank, strides)) {
        return nn_fail(err, NN_ERR_INVALID, "tensor \"%.100s\": a size or stride is wrong", name);
    }
    const struct nn_torch_storage *storage = nn_torch_find_storage(torch, is->key);
    enum nn_status status = data_find(torch, storage, value->offset, strides, &tensor, err);
    if (status == NN_OK) {
        torch->tensors[torch->n_tensors++] = tensor;
    }
    return status;
}

/* ---- the state dict ---- */

/* The value of a text key of a dictionary, or NULL. */
static const struct nn_pickle_value *member(const struct nn_pickle *pickle,
                                            const struct nn_pickle_value *dict, const char *key)
{
    const struct nn_pickle_value *found = NULL;
    uint32_t cell = dict->items.first;
    for (uint32_t i = 0; i < dict->items.count; i++) {
        if (nn_pickle_text_is(nn_pickle_at(pickle, pickle->cells[cell].key), key)) {
            found = nn_pickle_at(pickle, pickle->cells[cell].value);
        }
        cell = pickle->cells[cell].next;
    }
    return found;
}

static enum nn_status state_dict_find(const struct nn_pickle *pickle,
                                      const struct nn_pickle_value **out, struct nn_error *err)
{
    static const char *const NESTED[] = {"state_dict", "model_state_dict"};
    const struct nn_pickle_value *root = nn_pickle_at(pickle, pickle->root);
    if (root->kind != NN_PICKLE_DICT) {
        return nn_fail(err, NN_ERR_INVALID, "the file holds no dictionary of tensors");
    }
    *out = root;
    for (size_t i = 0; i < sizeof NESTED / sizeof NESTED[0]; i++) {
        const struct nn_pickle_value *inner = member(pickle, root, NESTED[i]);
        if (inner && inner->kind == NN_PICKLE_DICT) {
            *out = inner;
            break;
        }
    }
    return NN_OK;
}

/* A terminated copy of a key; NULL with err filled when it is no name for a tensor. */
static const char *name_copy(struct nn_torch *torch, const struct nn_pickle_value *key,
                             struct nn_error *err, enum nn_status *status)
{
    json_t *text = NULL; /* refuses what is no UTF-8 */
    if (key->kind == NN_PICKLE_TEXT && nn_file_name_is_clean(key->text.data, key->text.size)) {
        text = json_stringn(key->text.data, key->text.size);
    }
    if (!text) {
        *status =
            nn_fail(err, NN_ERR_INVALID,
                    "a tensor's name is no text, empty, longer than %d bytes or holds control "
                    "characters",
                    (int)NN_FILE_NAME_MAX);
        return NULL;
    }
    const char *copy = nn_arena_text(torch->arena, json_string_value(text));
    json_decref(text);
    if (!copy) {
        *status = nn_fail(err, NN_ERR_MEMORY, "no memory for the names of tensors");
    }
    return copy;
}

static enum nn_status entry_read(struct nn_torch *torch, const struct nn_pickle_cell *cell,
                                 struct nn_error *err)
{
    enum nn_status status = NN_OK;
    const struct nn_pickle_value *value = nn_pickle_at(&torch->pickle, cell->value);
    const char *name = name_copy(torch, nn_pickle_at(&torch->pickle, cell->key), err, &status);
    if (!name) {
        return status;
    }
    if (strcmp(name, NN_FILE_METADATA) == 0) {
        return nn_fail(err, NN_ERR_INVALID, "no tensor may be named \"" NN_FILE_METADATA "\"");
    }
    if (value->kind != NN_PICKLE_TENSOR) {
        return nn_fail(err, NN_ERR_INVALID, "\"%.100s\" of the state dict is no tensor", name);
    }
    return tensor_read(torch, name, &value->tensor, err);
}

enum nn_status nn_torch_list_tensors(struct nn_torch *torch, struct nn_error *err)
{
    const struct nn_pickle_value *dict = NULL;
    enum nn_status status = state_dict_find(&torch->pickle, &dict, err);
    if (status != NN_OK) {
        return status;
    }
    if (dict->items.count > torch->max_tensors) {
        return nn_fail(err, NN_ERR_LIMIT, "%zu tensors are more than %zu",
                       (size_t)dict->items.count, torch->max_tensors);
    }
    torch->tensors = calloc((size_t)dict->items.count + 1, sizeof *torch->tensors);
    if (!torch->tensors || nn_arena_create(NULL, 0, &torch->arena) != NN_OK) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for %zu tensors", (size_t)dict->items.count);
    }
    uint32_t cell = dict->items.first;
    for (uint32_t i = 0; status == NN_OK && i < dict->items.count; i++) {
        status = entry_read(torch, &torch->pickle.cells[cell], err);
        cell = torch->pickle.cells[cell].next;
    }
    return status;
}

void nn_torch_deinit(struct nn_torch *torch)
{
    nn_pickle_deinit(&torch->pickle);
    free(torch->storages);
    free(torch->tensors);
    nn_arena_destroy(torch->arena);
    *torch = (struct nn_torch){0};
}
