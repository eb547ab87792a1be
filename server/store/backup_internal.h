/* SPDX-License-Identifier: MIT
 *
 * The file of a backup as lines and pieces, hashed on their way; its form is in backup.h.
 */
#ifndef STORE_BACKUP_INTERNAL_H
#define STORE_BACKUP_INTERNAL_H

#include <stdio.h>

#include "core/base/sha256.h"
#include "server/store/backup.h"

enum { BACKUP_PIECE_MAX = 1 << 20 };

struct backup_file {
    FILE *file;
    struct nn_sha256 hash;
    int64_t bytes;
    char *piece; /* reading: BACKUP_PIECE_MAX bytes */
    const struct store_backup_watch *watch;
};

/* SV_ERR_WRONG_STATE when the caller's watch says so. */
SV_MUST_CHECK enum sv_status backup_watch(const struct backup_file *file, struct sv_error *err);

/* ---- writing (backup_write.c) ---- */

/* Opens path + ".part"; nothing else may write it. */
SV_MUST_CHECK enum sv_status backup_create(const char *path, struct backup_file *out_file,
                                           struct sv_error *err);
/* Throws away what was written. */
SV_MUST_CHECK enum sv_status backup_begin_again(struct backup_file *file, struct sv_error *err);
SV_MUST_CHECK enum sv_status backup_put_line(struct backup_file *file, struct sv_error *err,
                                             const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* n 0 ends the pieces of a table. */
SV_MUST_CHECK enum sv_status backup_put_piece(struct backup_file *file, const char *data, size_t n,
                                              struct sv_error *err);
/* The last line; then the file gets its name. Closes it in any case. */
SV_MUST_CHECK enum sv_status backup_finish(struct backup_file *file, const char *path,
                                           struct sv_error *err);
/* Closes and removes what was written of path. */
void backup_discard(struct backup_file *file, const char *path);

/* ---- reading (backup_read.c) ---- */

SV_MUST_CHECK enum sv_status backup_open(const char *path, struct backup_file *out_file,
                                         struct sv_error *err);
void backup_close(struct backup_file *file);
/* The next line's first word; *out_rest is what follows it, in the same memory. */
SV_MUST_CHECK enum sv_status backup_get_line(struct backup_file *file, char line[STORE_BACKUP_LINE],
                                             char **out_rest, struct sv_error *err);
/* The next piece, in file->piece; *out_n 0 at the end of a table. */
SV_MUST_CHECK enum sv_status backup_get_piece(struct backup_file *file, size_t *out_n,
                                              struct sv_error *err);

/* What a reader does with a file; NULL: nothing. */
struct backup_reader {
    /* The head is read; summary has the schema. `migrations` is the digest of the file. */
    enum sv_status (*head)(void *ctx, const struct store_backup_summary *summary,
                           const char *migrations, struct sv_error *err);
    enum sv_status (*sequence)(void *ctx, const char *table, const char *column, int64_t next,
                               struct sv_error *err);
    /* Takes all pieces of the table; *out_rows: how many rows they were. */
    enum sv_status (*table)(void *ctx, struct backup_file *file, const char *name,
                            const char *columns, int64_t *out_rows, struct sv_error *err);
    void *ctx;
};
/* From the first line to the last, whose digest is compared. */
SV_MUST_CHECK enum sv_status backup_read(struct backup_file *file,
                                         const struct backup_reader *reader,
                                         struct store_backup_summary *out_summary,
                                         struct sv_error *err);

#endif
