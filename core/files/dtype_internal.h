/* SPDX-License-Identifier: MIT
 *
 * Element types by name; private to the room.
 */
#ifndef NN_FILES_DTYPE_INTERNAL_H
#define NN_FILES_DTYPE_INTERNAL_H

#include "core/files/safetensors.h"

/* false for a name that is not in the table. */
NN_MUST_CHECK bool nn_file_dtype_find(const char *name, enum nn_file_dtype *out);

#endif
