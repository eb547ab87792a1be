/* SPDX-License-Identifier: MIT
 *
 * The two containers of torch.save.
 *
 * Zip (1.6 and later): NAME/data.pkl and NAME/data/KEY for each storage, perhaps NAME/byteorder.
 * Stream (before): pickles of a magic number, a protocol version, a dictionary about the machine,
 * the object, a list of keys; then, in the order of that list, for each storage its number of
 * elements (64 bits) and its elements.
 */
#include <stdio.h>
#include <string.h>

#include "core/files/torch_internal.h"
#include "core/files/zip_internal.h"

/* ---- zip ---- */

enum { ENTRIES_BESIDE = 64, PATH_BYTES = 512 };

static bool ends_with(const struct nn_zip_entry *entry, const char *tail)
{
    size_t n = strlen(tail);
    return entry->name_size >= n && memcmp(entry->name + entry->name_size - n, tail, n) == 0;
}

/* The one entry NAME/data.pkl. */
static enum nn_status pickle_find(const struct nn_zip *zip, const struct nn_zip_entry **out,
                                  struct nn_error *err)
{
    const struct nn_zip_entry *found = NULL;
    for (size_t i = 0; i < zip->count; i++) {
        const struct nn_zip_entry *entry = &zip->entries[i];
        if (ends_with(entry, "/constants.pkl")) {
            return nn_fail(err, NN_ERR_NOT_SUPPORTED,
                           "the file is a TorchScript program; save the model's state_dict()");
        }
        if (!ends_with(entry, "/data.pkl")) {
            continue;
        }
        if (found) {
            return nn_fail(err, NN_ERR_INVALID, "the zip container has two data.pkl");
        }
        found = entry;
    }
    if (!found) {
        return nn_fail(err, NN_ERR_INVALID,
                       "the zip container is none of torch.save: it has no data.pkl");
    }
    *out = found;
    return NN_OK;
}

/* NAME/tail beside NAME/data.pkl, or NULL. */
static const struct nn_zip_entry *beside(const struct nn_zip *zip,
                                         const struct nn_zip_entry *pickle, const char *folder,
                                         struct nn_pickle_text name)
{
    char path[PATH_BYTES];
    int prefix = (int)(pickle->name_size - strlen("data.pkl"));
    int n = name.size >= sizeof path ? -1
                                     : snprintf(path, sizeof path, "%.*s%s%.*s", prefix,
                                                pickle->name, folder, (int)name.size, name.data);
    return n < 0 || n >= (int)sizeof path ? NULL : nn_zip_find(zip, path, (size_t)n);
}

static enum nn_status zip_storages(struct nn_torch *torch, const struct nn_zip *zip,
                                   const struct nn_zip_entry *pickle, struct nn_error *err)
{
    const struct nn_pickle_text order = {"byteorder", strlen("byteorder")};
    const struct nn_zip_entry *byte_order = beside(zip, pickle, "", order);
    if (byte_order && (byte_order->size != 6 || memcmp(byte_order->data, "little", 6) != 0)) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED, "the file is big-endian");
    }
    for (size_t i = 0; i < torch->n_storages; i++) {
        struct nn_torch_storage *storage = &torch->storages[i];
        const struct nn_zip_entry *entry = beside(zip, pickle, "data/", storage->is.key);
        if (!entry) {
            return nn_fail(err, NN_ERR_INVALID, "a storage of the pickle is not in the container");
        }
        if (entry->size != storage->bytes) {
            return nn_fail(err, NN_ERR_INVALID,
                           "a storage has %zu bytes, type and size of the pickle say %zu",
                           entry->size, storage->bytes);
        }
        storage->data = entry->data;
    }
    return NN_OK;
}

enum nn_status nn_torch_read_zip(struct nn_torch *torch, struct nn_error *err)
{
    struct nn_zip zip = {0};
    const struct nn_zip_entry *pickle = NULL;
    size_t used = 0;
    enum nn_status status =
        nn_zip_open(torch->bytes, torch->size, torch->max_tensors + ENTRIES_BESIDE, &zip, err);
    if (status == NN_OK) {
        status = pickle_find(&zip, &pickle, err);
    }
    if (status == NN_OK && pickle->size > torch->max_pickle_bytes) {
        status = nn_fail(err, NN_ERR_LIMIT, "a pickle of %zu bytes is over %zu", pickle->size,
                         torch->max_pickle_bytes);
    }
    if (status == NN_OK) {
        status = nn_pickle_run(pickle->data, pickle->size, &torch->pickle, &used, err);
    }
    if (status == NN_OK && used != pickle->size) {
        status = nn_fail(err, NN_ERR_INVALID, "bytes follow the pickle");
    }
    if (status == NN_OK) {
        status = nn_torch_list_storages(torch, err);
    }
    if (status == NN_OK) {
        status = zip_storages(torch, &zip, pickle, err);
    }
    nn_zip_deinit(&zip);
    return status == NN_OK ? nn_torch_list_tensors(torch, err) : status;
}

/* ---- stream ---- */

/* The magic number 0x1950a86a20f9469cfc6c as a pickle of protocol 2. */
static const unsigned char MAGIC[] = {0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46,
                                      0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, '.'};
enum { STREAM_VERSION = 1001 };

bool nn_torch_is_stream(const unsigned char *bytes, size_t size)
{
    return size >= sizeof MAGIC && memcmp(bytes, MAGIC, sizeof MAGIC) == 0;
}

/* The next pickle of the stream, at most max_pickle_bytes of it; *at moves behind it. */
static enum nn_status next_pickle(const struct nn_torch *torch, size_t *at, struct nn_pickle *out,
                                  struct nn_error *err)
{
    size_t left = torch->size - *at, used;
    size_t most = left < torch->max_pickle_bytes ? left : torch->max_pickle_bytes;
    enum nn_status status = nn_pickle_run(torch->bytes + *at, most, out, &used, err);
    if (status == NN_OK) {
        *at += used;
    }
    return status;
}

/* Protocol version and byte order. */
static enum nn_status stream_head(const struct nn_torch *torch, size_t *at, struct nn_error *err)
{
    struct nn_pickle pickle = {0};
    enum nn_status status = next_pickle(torch, at, &pickle, err);
    if (status == NN_OK) {
        const struct nn_pickle_value *version = nn_pickle_at(&pickle, pickle.root);
        if (version->kind != NN_PICKLE_INT || version->integer != STREAM_VERSION) {
            status = nn_fail(err, NN_ERR_NOT_SUPPORTED, "the stream is of an unknown version");
        }
    }
    nn_pickle_deinit(&pickle);
    if (status == NN_OK) {
        status = next_pickle(torch, at, &pickle, err);
    }
    for (size_t i = 0; status == NN_OK && i < pickle.n_cells; i++) {
        const struct nn_pickle_value *value = nn_pickle_at(&pickle, pickle.cells[i].value);
        if (nn_pickle_text_is(nn_pickle_at(&pickle, pickle.cells[i].key), "little_endian") &&
            !(value->kind == NN_PICKLE_BOOL && value->boolean)) {
            status = nn_fail(err, NN_ERR_NOT_SUPPORTED, "the file is big-endian");
        }
    }
    nn_pickle_deinit(&pickle);
    return status;
}

/* One storage of the stream at *at. */
static enum nn_status stream_storage(const struct nn_torch *torch,
                                     const struct nn_pickle_value *key, size_t *at,
                                     struct nn_error *err)
{
    struct nn_torch_storage *storage =
        key->kind == NN_PICKLE_TEXT ? nn_torch_find_storage(torch, key->text) : NULL;
    if (!storage || storage->data) {
        return nn_fail(err, NN_ERR_INVALID, "the stream lists a storage that is not in the pickle");
    }
    uint64_t count = 0;
    if (torch->size - *at < sizeof count) {
        return nn_fail(err, NN_ERR_INVALID, "the stream is cut off");
    }
    for (size_t i = sizeof count; i-- > 0;) {
        count = count << 8 | torch->bytes[*at + i];
    }
    *at += sizeof count;
    if (count != storage->is.count) {
        return nn_fail(err, NN_ERR_INVALID, "a storage has %llu elements, the pickle says %zu",
                       (unsigned long long)count, storage->is.count);
    }
    if (torch->size - *at < storage->bytes) {
        return nn_fail(err, NN_ERR_INVALID, "the stream is cut off");
    }
    storage->data = torch->bytes + *at;
    *at += storage->bytes;
    return NN_OK;
}

static enum nn_status stream_storages(struct nn_torch *torch, size_t *at, struct nn_error *err)
{
    struct nn_pickle keys = {0};
    enum nn_status status = next_pickle(torch, at, &keys, err);
    if (status == NN_OK) {
        const struct nn_pickle_value *list = nn_pickle_at(&keys, keys.root);
        if (list->kind != NN_PICKLE_LIST || list->items.count != torch->n_storages) {
            status =
                nn_fail(err, NN_ERR_INVALID, "the stream's list of storages is not the pickle's");
        }
        uint32_t cell = status == NN_OK ? list->items.first : 0;
        for (size_t i = 0; status == NN_OK && i < torch->n_storages; i++) {
            status = stream_storage(torch, nn_pickle_at(&keys, keys.cells[cell].value), at, err);
            cell = keys.cells[cell].next;
        }
    }
    nn_pickle_deinit(&keys);
    if (status == NN_OK && *at != torch->size) {
        return nn_fail(err, NN_ERR_INVALID, "%zu bytes follow the last storage", torch->size - *at);
    }
    return status;
}

enum nn_status nn_torch_read_stream(struct nn_torch *torch, struct nn_error *err)
{
    size_t at = sizeof MAGIC;
    enum nn_status status = stream_head(torch, &at, err);
    if (status == NN_OK) {
        status = next_pickle(torch, &at, &torch->pickle, err);
    }
    if (status == NN_OK) {
        status = nn_torch_list_storages(torch, err);
    }
    if (status == NN_OK) {
        status = stream_storages(torch, &at, err);
    }
    return status == NN_OK ? nn_torch_list_tensors(torch, err) : status;
}
