/* SPDX-License-Identifier: MIT
 *
 * State dicts of PyTorch in both containers; private to the room.
 */
#ifndef NN_FILES_TORCH_INTERNAL_H
#define NN_FILES_TORCH_INTERNAL_H

#include "core/base/memory.h"
#include "core/files/pickle_internal.h"
#include "core/files/weights.h"

/* A run of elements that tensors are views of; data points into the file once it is found. */
struct nn_torch_storage {
    struct nn_pickle_storage is;
    const unsigned char *data;
    size_t bytes;
};

struct nn_torch {
    const unsigned char *bytes; /* the file */
    size_t size;
    size_t max_pickle_bytes, max_tensors;
    struct nn_pickle pickle;           /* of the state dict */
    struct nn_torch_storage *storages; /* ordered by key */
    size_t n_storages;
    struct nn_arena *arena;         /* names, and copies of what was not contiguous */
    struct nn_file_tensor *tensors; /* in the order of the file */
    size_t n_tensors;
    size_t tensor_bytes; /* of all tensors so far */
};

/* Fills the rest from bytes, size and the limits; to be deinited also on failure. */
NN_MUST_CHECK enum nn_status nn_torch_read_zip(struct nn_torch *torch, struct nn_error *err);
NN_MUST_CHECK enum nn_status nn_torch_read_stream(struct nn_torch *torch, struct nn_error *err);
void nn_torch_deinit(struct nn_torch *torch);

/* Whether bytes begin with the magic number of the older stream. */
bool nn_torch_is_stream(const unsigned char *bytes, size_t size);

/* ---- steps that both containers share ---- */

/* The storages that the pickle names, without data. */
NN_MUST_CHECK enum nn_status nn_torch_list_storages(struct nn_torch *torch, struct nn_error *err);
struct nn_torch_storage *nn_torch_find_storage(const struct nn_torch *torch,
                                               struct nn_pickle_text key);
/* The tensors of the state dict, once every storage has its data. */
NN_MUST_CHECK enum nn_status nn_torch_list_tensors(struct nn_torch *torch, struct nn_error *err);

#endif
