/* SPDX-License-Identifier: MIT
 *
 * Archives and compressed files as streams with hard caps. The only place that knows libarchive.
 * Confined to one thread; the thread's character set is UTF-8 while one is open.
 */
#ifndef NN_DATA_ARCHIVE_INTERNAL_H
#define NN_DATA_ARCHIVE_INTERNAL_H

#include "core/data/import.h"

enum nn_archive_kind {
    NN_ARCHIVE_ENTRIES, /* zip, tar or tar.gz */
    NN_ARCHIVE_PLAIN,   /* one stream of bytes, plain or gzip; nn_archive_next gives one entry */
};

enum nn_entry_kind { NN_ENTRY_FILE, NN_ENTRY_FOLDER, NN_ENTRY_LINK, NN_ENTRY_SPECIAL };

struct nn_archive_entry {
    const char *name; /* as stored, borrowed until the next call; NULL: no name that is UTF-8 */
    enum nn_entry_kind kind;
    bool encrypted;
    bool method_supported; /* stored or deflated */
};

/* How reading an entry ended. */
enum nn_entry_read {
    NN_ENTRY_READ,
    NN_ENTRY_TOO_LARGE,
    NN_ENTRY_UNREADABLE, /* this one only: a bad checksum, an unknown feature */
};

struct nn_archive;

/* Caps over the whole stream; both counted on what was really seen. */
struct nn_archive_caps {
    size_t entries;
    size_t entry_bytes;
    size_t total_bytes;
};

/* file borrowed until closed. NN_ERR_IO. */
NN_MUST_CHECK enum nn_status nn_archive_open(const struct nn_import_file *file,
                                             enum nn_archive_kind kind,
                                             const struct nn_archive_caps *caps,
                                             struct nn_archive **out_archive, struct nn_error *err);
void nn_archive_close(struct nn_archive *archive);

/* The next entry; *out_end instead when there is none. What was not read of the one before is
 * passed over (and counted where that means unpacking it). NN_ERR_INVALID: the archive is cut off
 * or damaged. NN_ERR_NOT_SUPPORTED: it is no archive of a known kind. NN_ERR_LIMIT. */
NN_MUST_CHECK enum nn_status nn_archive_next(struct nn_archive *archive,
                                             struct nn_archive_entry *out_entry, bool *out_end,
                                             struct nn_error *err);

/* All bytes of the entry, in a buffer of the archive that lives until the next call. */
NN_MUST_CHECK enum nn_status nn_archive_read(struct nn_archive *archive, const uint8_t **out_bytes,
                                             size_t *out_size, enum nn_entry_read *out_read,
                                             struct nn_error *err);

/* Up to n bytes; fewer only at the end. For NN_ARCHIVE_PLAIN. */
NN_MUST_CHECK enum nn_status nn_archive_read_some(struct nn_archive *archive, void *dst, size_t n,
                                                  size_t *out_n, struct nn_error *err);

/* What libarchive said last, for a text; never NULL. */
const char *nn_archive_reason(struct nn_archive *archive);

#endif
