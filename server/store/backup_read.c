/* SPDX-License-Identifier: MIT
 *
 * Reading the file of a backup, which may be anything: lengths are limited, and names are words of
 * small letters, digits and underscores before they come near a statement.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/text.h"
#include "server/store/backup_internal.h"
#include "server/store/migrate.h"

static const char MAGIC[] = "assay-backup";
static const char DIGITS[] = "0123456789abcdef";
static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

static enum sv_status damaged(struct sv_error *err, const char *how)
{
    return sv_fail(err, SV_ERR_INVALID_FIELD, "the backup is not whole: %s", how);
}

enum sv_status backup_open(const char *path, struct backup_file *out_file, struct sv_error *err)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        return sv_fail(err, SV_ERR_NOT_FOUND, "the backup cannot be read: %s", strerror(errno));
    }
    *out_file = (struct backup_file){.file = file, .piece = malloc(BACKUP_PIECE_MAX)};
    if (!out_file->piece) {
        backup_close(out_file);
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    return SV_OK;
}

void backup_close(struct backup_file *file)
{
    if (file->file) {
        (void)fclose(file->file);
    }
    free(file->piece);
    *file = (struct backup_file){0};
}

static enum sv_status get(struct backup_file *file, void *data, size_t n, struct sv_error *err)
{
    if (fread(data, 1, n, file->file) != n) {
        return ferror(file->file) ? damaged(err, "it cannot be read to its end")
                                  : damaged(err, "it ends before its end");
    }
    nn_sha256_update(&file->hash, data, n);
    file->bytes += (int64_t)n;
    return SV_OK;
}

enum sv_status backup_get_line(struct backup_file *file, char line[STORE_BACKUP_LINE],
                               char **out_rest, struct sv_error *err)
{
    size_t n = 0;
    enum sv_status st;
    while ((st = get(file, line + n, 1, err)) == SV_OK && line[n] != '\n') {
        if (++n == STORE_BACKUP_LINE || line[n - 1] == '\0') {
            return damaged(err, "a line of it is none");
        }
    }
    if (st == SV_OK) {
        line[n] = '\0';
        char *space = strchr(line, ' ');
        *out_rest = space ? space + 1 : line + n;
        if (space) {
            *space = '\0';
        }
    }
    return st;
}

enum sv_status backup_get_piece(struct backup_file *file, size_t *out_n, struct sv_error *err)
{
    unsigned char length[4];
    enum sv_status st = backup_watch(file, err);
    st = st == SV_OK ? get(file, length, sizeof length, err) : st;
    if (st != SV_OK) {
        return st;
    }
    size_t n = (size_t)length[0] << 24 | (size_t)length[1] << 16 | (size_t)length[2] << 8 |
               (size_t)length[3];
    if (n > BACKUP_PIECE_MAX) {
        return damaged(err, "a piece of it is too long");
    }
    *out_n = n;
    return n > 0 ? get(file, file->piece, n, err) : SV_OK;
}

/* ---- the whole file ---- */

struct reading {
    struct backup_file *file;
    const struct backup_reader *reader;
    struct store_backup_summary summary;
    char migrations[NN_SHA256_HEX];
    bool head_done;
};

static bool is_digest(const char *text)
{
    return strlen(text) == NN_SHA256_HEX - 1 && strspn(text, DIGITS) == strlen(text);
}

/* One word of LETTERS and `more`, at `text`; *out_rest follows the space behind it. */
static bool take_word(char *text, const char *more, char **out_rest)
{
    size_t n = 0;
    while (text[n] && (strchr(LETTERS, text[n]) || strchr(more, text[n]))) {
        n++;
    }
    *out_rest = text + n + (text[n] == ' ');
    bool sound = n > 0 && (text[n] == ' ' || text[n] == '\0');
    text[n] = '\0';
    return sound;
}

static enum sv_status take_magic(struct reading *reading, struct sv_error *err)
{
    char line[STORE_BACKUP_LINE];
    char *version;
    struct sv_error ignored;
    enum sv_status st = backup_get_line(reading->file, line, &version, &ignored);
    if (st != SV_OK || strcmp(line, MAGIC) != 0) {
        return sv_fail(err, SV_ERR_INVALID_FIELD, "this is no backup of assayd");
    }
    return strcmp(version, "1") == 0
               ? SV_OK
               : sv_fail(err, SV_ERR_DRAINING,
                         "the backup has another form than this program's: use a newer program");
}

/* The head is over once the first sequence or table comes. */
static enum sv_status end_head(struct reading *reading, struct sv_error *err)
{
    const struct store_backup_summary *summary = &reading->summary;
    if (reading->head_done) {
        return SV_OK;
    }
    reading->head_done = true;
    if (summary->schema < 1 || !is_digest(reading->migrations) || !sv_text_is_line(summary->made)) {
        return damaged(err, "it does not name its schema");
    }
    if (summary->schema > store_schema_version()) {
        return sv_fail(err, SV_ERR_DRAINING,
                       "the backup has schema %d, this program knows %d: use a newer program",
                       summary->schema, store_schema_version());
    }
    return reading->reader->head
               ? reading->reader->head(reading->reader->ctx, summary, reading->migrations, err)
               : SV_OK;
}

static enum sv_status take_sequence(struct reading *reading, char *table, struct sv_error *err)
{
    char *column;
    char *next;
    char *end;
    enum sv_status st = end_head(reading, err);
    if (st != SV_OK) {
        return st;
    }
    if (!take_word(table, "", &column) || !take_word(column, "", &next)) {
        return damaged(err, "a line of it is none");
    }
    long long value = strtoll(next, &end, 10);
    if (*end || value < 1) {
        return damaged(err, "a line of it is none");
    }
    return reading->reader->sequence
               ? reading->reader->sequence(reading->reader->ctx, table, column, value, err)
               : SV_OK;
}

/* The pieces of a table that nobody wants. */
static enum sv_status skip_pieces(struct backup_file *file, struct sv_error *err)
{
    size_t n = 0;
    enum sv_status st;
    do {
        st = backup_get_piece(file, &n, err);
    } while (st == SV_OK && n > 0);
    return st;
}

static enum sv_status take_table(struct reading *reading, char *name, struct sv_error *err)
{
    char line[STORE_BACKUP_LINE];
    char *rest;
    char *columns;
    char *none;
    int64_t rows = -1;
    const struct backup_reader *reader = reading->reader;
    enum sv_status st = end_head(reading, err);
    if (st == SV_OK && (!take_word(name, "", &columns) || !take_word(columns, ",", &none))) {
        st = damaged(err, "a line of it is none");
    }
    if (st == SV_OK) {
        st = reader->table ? reader->table(reader->ctx, reading->file, name, columns, &rows, err)
                           : skip_pieces(reading->file, err);
    }
    st = st == SV_OK ? backup_get_line(reading->file, line, &rest, err) : st;
    if (st != SV_OK) {
        return st;
    }
    long long told = strtoll(rest, NULL, 10);
    if (strcmp(line, "rows") != 0 || told < 0 || (reader->table && told != rows)) {
        return damaged(err, "a table has lost rows");
    }
    reading->summary.rows += told;
    reading->summary.tables++;
    return SV_OK;
}

/* Each line but the last, which sets *out_last and gives its digest. */
static enum sv_status take_line(struct reading *reading, bool *out_last, char out_told[],
                                struct sv_error *err)
{
    char line[STORE_BACKUP_LINE];
    char *rest;
    enum sv_status st = backup_get_line(reading->file, line, &rest, err);
    if (st != SV_OK) {
        return st;
    }
    if (strcmp(line, "table") == 0) {
        return take_table(reading, rest, err);
    }
    if (strcmp(line, "sequence") == 0) {
        return take_sequence(reading, rest, err);
    }
    if (strcmp(line, "schema") == 0) {
        reading->summary.schema = (int)strtol(rest, NULL, 10);
    } else if (strcmp(line, "migrations") == 0) {
        sv_text_copy(reading->migrations, sizeof reading->migrations, rest);
    } else if (strcmp(line, "made") == 0) {
        sv_text_copy(reading->summary.made, sizeof reading->summary.made, rest);
    } else if (strcmp(line, "end") == 0) {
        sv_text_copy(out_told, NN_SHA256_HEX, rest);
        *out_last = true;
        st = end_head(reading, err);
    } else if (strcmp(line, "postgres") != 0) {
        st = damaged(err, "it has a line that nobody writes");
    }
    return st;
}

enum sv_status backup_read(struct backup_file *file, const struct backup_reader *reader,
                           struct store_backup_summary *out_summary, struct sv_error *err)
{
    struct reading reading = {.file = file, .reader = reader};
    struct nn_sha256 before;
    uint8_t digest[NN_SHA256_SIZE];
    char told[NN_SHA256_HEX] = "";
    char hex[NN_SHA256_HEX];
    bool last = false;
    rewind(file->file);
    file->bytes = 0;
    nn_sha256_init(&file->hash);
    enum sv_status st = take_magic(&reading, err);
    while (st == SV_OK && !last) {
        before = file->hash;
        st = take_line(&reading, &last, told, err);
    }
    if (st != SV_OK) {
        return st;
    }
    nn_sha256_finish(&before, digest);
    nn_sha256_hex(digest, hex);
    if (strcmp(hex, told) != 0 || fgetc(file->file) != EOF) {
        return damaged(err, "its digest is another");
    }
    reading.summary.bytes = file->bytes;
    *out_summary = reading.summary;
    return SV_OK;
}

enum sv_status store_backup_check(const char *path, const struct store_backup_watch *watch,
                                  struct store_backup_summary *out_summary, struct sv_error *err)
{
    static const struct backup_reader nothing = {0};
    struct backup_file file;
    enum sv_status st = backup_open(path, &file, err);
    if (st != SV_OK) {
        return st;
    }
    file.watch = watch;
    st = backup_read(&file, &nothing, out_summary, err);
    backup_close(&file);
    return st;
}
