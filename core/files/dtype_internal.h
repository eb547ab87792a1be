/* SPDX-License-Identifier: MIT
 *
 * Element types by name, and which names tensors may have; private to the room.
 */
#ifndef NN_FILES_DTYPE_INTERNAL_H
#define NN_FILES_DTYPE_INTERNAL_H

#include "core/files/safetensors.h"

/* false for a name that is not in the table. */
NN_MUST_CHECK bool nn_file_dtype_find(const char *name, enum nn_file_dtype *out);

enum { NN_FILE_NAME_MAX = 512 };
/* What a safetensors header calls its metadata; no tensor can have that name. */
#define NN_FILE_METADATA "__metadata__"

/* Not empty, not longer than NN_FILE_NAME_MAX bytes, no NUL and no control characters. */
bool nn_file_name_is_clean(const char *name, size_t length);

#endif
