/* SPDX-License-Identifier: MIT
 *
 * Migrations inside a transaction of the caller.
 */
#ifndef STORE_MIGRATE_INTERNAL_H
#define STORE_MIGRATE_INTERNAL_H

#include "server/store/migrate.h"
#include "server/store/sql_internal.h"

/* Keeps other migrators and restores away to the end of the transaction. SV_ERR_OVERLOADED, and the
 * transaction may be repeated, when one of them does not let go in time. */
SV_MUST_CHECK enum sv_status store_migrate_lock(struct store_conn *conn, struct sv_error *err);
/* Applies what is missing up to that version; under the lock. Waits for backups as above. */
SV_MUST_CHECK enum sv_status store_migrate_to(struct store_conn *conn, int version,
                                              struct sv_error *err);

#endif
