/* SPDX-License-Identifier: MIT
 *
 * Files compiled into the core: the network templates. The table is made by the build.
 */
#ifndef NN_BASE_EMBEDDED_H
#define NN_BASE_EMBEDDED_H

#include <stddef.h>

struct nn_embedded_file {
    const char *name; /* file name, e.g. "simple_cnn.json"; NULL ends the table */
    const char *data; /* size bytes followed by a NUL that size does not count */
    size_t size;
};

/* All files, ordered by name, ended by a row with name NULL. */
extern const struct nn_embedded_file nn_embedded_table[];

#endif
