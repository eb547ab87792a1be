/* SPDX-License-Identifier: MIT
 *
 * Migrations: the files of migrations/, compiled in, applied in order of their number. Each runs in
 * its own transaction that first takes an advisory lock of that transaction, so that a killed
 * migrator never leaves a lock behind and works behind a pooler too.
 */
#ifndef STORE_MIGRATE_H
#define STORE_MIGRATE_H

#include "server/store/store.h"

struct store_migrated {
    int version; /* of the schema now */
    int applied; /* migrations run by this call */
};

/* Brings the schema up to date. SV_ERR_DRAINING: the schema is newer than this program (nothing is
 * touched). SV_ERR_CONFLICT: an applied migration's checksum differs from ours. SV_ERR_OVERLOADED:
 * somebody held a lock for some 25 s; the text says what to do. */
SV_MUST_CHECK enum sv_status store_migrate(struct store *store, struct store_migrated *out_migrated,
                                           struct sv_error *err);

/* The newest migration this program carries. */
int store_schema_version(void);

#endif
