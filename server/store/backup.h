/* SPDX-License-Identifier: MIT
 *
 * The whole history in one file, and back. A backup is one snapshot, taken while everything goes
 * on; a restore is one transaction into an empty database, so that it is whole or not at all.
 *
 * The file: lines of text, and between them the rows of each table as COPY's binary form:
 *
 *   assay-backup 1
 *   schema 14                       the version of the schema
 *   migrations <64 hex digits>      SHA-256 of the migrations' checksums
 *   made 2026-01-02T03:04:05.678Z
 *   postgres 150014
 *   sequence <table> <column> <next value>
 *   table <name> <column,column,...>
 *   pieces: four bytes of length (big-endian, at most 1 MiB), bytes; a length of 0 ends them
 *   rows <n>
 *   end <64 hex digits>             SHA-256 of everything before this line
 *
 * A file without its last line is the rest of an interrupted backup. Tables stand in an order in
 * which no row refers to a later table. Digests of tokens are in it, tokens are not.
 */
#ifndef STORE_BACKUP_H
#define STORE_BACKUP_H

#include "server/store/store.h"

enum { STORE_BACKUP_LINE = 4096 };

/* false: give up. Asked between pieces. NULL: never. */
struct store_backup_watch {
    bool (*go_on)(void *ctx);
    void *ctx;
};

struct store_backup_summary {
    int schema;                 /* of the file */
    char made[STORE_TIME_SIZE]; /* RFC 3339 */
    int64_t tables, rows, bytes;
    size_t lost; /* restore: claims that were under way and are lost ones now */
};

/* Writes `path`, which must not exist; under the name path + ".part" until it is whole and on the
 * disk. SV_ERR_CONFLICT: it exists, or another backup writes it. SV_ERR_WRONG_STATE: the database
 * has no history, or its schema is not this program's. */
SV_MUST_CHECK enum sv_status store_backup(struct store *store, const char *path,
                                          const struct store_backup_watch *watch,
                                          struct store_backup_summary *out_summary,
                                          struct sv_error *err);

/* Reads a file to its end: is it whole? SV_ERR_INVALID_FIELD: it is not, or is no backup.
 * SV_ERR_DRAINING: its schema is newer than this program. */
SV_MUST_CHECK enum sv_status store_backup_check(const char *path,
                                                const struct store_backup_watch *watch,
                                                struct store_backup_summary *out_summary,
                                                struct sv_error *err);

/* Reads the file into the database, which must hold no table, view or function in its schema;
 * brings an older schema up to date; ends what was under way. Check the file first, for its reasons
 * are better than those of a database that is given a damaged one; here the digest is compared
 * before the commit. SV_ERR_CONFLICT: the database is not empty, or the file was made by a program
 * with other migrations; otherwise as store_backup_check. */
SV_MUST_CHECK enum sv_status store_restore(struct store *store, const char *path,
                                           const struct store_backup_watch *watch,
                                           struct store_backup_summary *out_summary,
                                           struct sv_error *err);

#endif
