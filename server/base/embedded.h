/* SPDX-License-Identifier: MIT
 *
 * Files compiled into the daemon: migrations and the API description. The table is made by the
 * build.
 */
#ifndef SV_BASE_EMBEDDED_H
#define SV_BASE_EMBEDDED_H

#include <stddef.h>

struct sv_embedded_file {
    const char *name; /* file name, e.g. "0001_base.sql"; NULL ends the table */
    const char *data; /* size bytes followed by a NUL that size does not count */
    size_t size;
};

/* All files, ended by a row with name NULL; migrations in order of their name. */
extern const struct sv_embedded_file sv_embedded_table[];

#endif
