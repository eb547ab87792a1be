/* SPDX-License-Identifier: MIT
 *
 * Checked import: IDX pairs, an archive of images or of recorded signals, or sequence tables in,
 * one prepared set (prepared.h, of tables sequences.h) and a report out.
 *
 * Archives (zip, tar, tar.gz) are read as streams; nothing is ever extracted: the only file written
 * is `prepared` in the given directory, under a name of ours. One hostile entry is refused and
 * listed; a file that cannot be trusted as a whole (cut off, over the caps) fails the import.
 * Runs in one thread, uses no locale of the process.
 */
#ifndef NN_DATA_IMPORT_H
#define NN_DATA_IMPORT_H

#include <jansson.h>

#include "core/base/base.h"
#include "core/data/signal.h"
#include "core/data/table.h"
#include "core/json/json.h"

enum nn_import_layout {
    NN_IMPORT_IDX,     /* 2 or 4 files of MNIST naming, each plain or .gz */
    NN_IMPORT_ARCHIVE, /* one zip, tar or tar.gz: a folder per class, or part/class */
    NN_IMPORT_TABLE,   /* rows of sequences: CSV or columns between blanks, each plain or .gz */
    NN_IMPORT_CMAPSS,  /* the same with the 26 columns of NASA's turbofan runs */
    NN_IMPORT_SIGNALS, /* one zip, tar or tar.gz of recordings, to be cut into windows */
};

enum nn_import_on_refused {
    NN_IMPORT_SKIP, /* leave the entry (picture, sequence) out and list it */
    NN_IMPORT_FAIL, /* the first refused entry fails the import */
};

/* What the user may choose; nn_import_fields describes it, zeros are the defaults. */
struct nn_import_options {
    struct jx_ints image_size; /* one number (square) or height and width; none: the most frequent
                                  size of the set */
    size_t channels;           /* 3: grey pictures get three equal channels; 0: as they are */
    int on_refused;            /* enum nn_import_on_refused */
    const json_t *classes;     /* IDX only: class names by label, borrowed; NULL: the labels that
                                  occur, in order of their numbers */
    bool table_given;
    struct nn_table_options table; /* tables only */
    bool signal_given;
    struct nn_signal_options signal; /* signals only */
};

extern const struct jx_field nn_import_fields[];

/* Whether the layout holds sequences, not images. */
bool nn_import_is_table(enum nn_import_layout layout);

/* Decodes {"image_size", "channels", "on_refused", "classes", "table", "signal"}; options may be
 * NULL. JSON is borrowed. NN_ERR_INVALID with the pointer of the field: a value out of range, or
 * one that means nothing for this layout. */
NN_MUST_CHECK enum nn_status nn_import_options_decode(enum nn_import_layout layout,
                                                      const json_t *options, const char *pointer,
                                                      struct nn_import_options *out_options,
                                                      struct nn_error *err);

/* Caps; a zero means the default beside it. All are checked while reading, on bytes really
 * produced, never on what a header declares. A compression ratio alone refuses nothing. */
struct nn_import_limits {
    size_t max_entries;        /* 200,000 */
    size_t max_entry_bytes;    /* unpacked: 64 MiB */
    size_t max_total_bytes;    /* unpacked: 16 GiB */
    size_t max_prepared_bytes; /* pixels of the prepared set: 16 GiB */
    size_t max_values;         /* of a sequence set, inputs and targets of all steps: 2^27 */
    size_t max_classes;        /* 4,096 */
    size_t max_listed;         /* rows per list of the report, which ends at 1 MiB of rows in any
                                  case; counts are always whole: 1,000 */
};

/* One file as the user named it. The name is looked at for IDX and tables. */
struct nn_import_file {
    const char *name;
    const char *path; /* or NULL, then fd */
    int fd;           /* open for reading, seekable, borrowed */
};

/* Called now and then; returning false cancels (NN_ERR_CANCELLED). total is 0 while unknown. */
typedef bool (*nn_import_progress_fn)(void *ctx, size_t done, size_t total);

struct nn_import_setup {
    enum nn_import_layout layout;
    const struct nn_import_file *files;
    size_t n_files;
    struct nn_import_options options;
    struct nn_import_limits limits;
    const char *directory;          /* existing, private; receives the prepared set */
    nn_import_progress_fn progress; /* may be NULL */
    void *progress_ctx;
};

struct nn_import_result {
    char prepared_name[32]; /* file name below setup->directory */
    json_t *report;         /* owned; see README for its members */
};

/* Reads, checks, decodes, resizes and writes. On failure nothing is left in the directory.
 *
 * NN_ERR_INVALID: the file as a whole is wrong, holds no item, or an entry was refused under
 * NN_IMPORT_FAIL (the text names it). NN_ERR_LIMIT: over a cap. NN_ERR_NOT_SUPPORTED: not a zip,
 * tar or tar.gz. NN_ERR_IO, NN_ERR_MEMORY, NN_ERR_CANCELLED.
 */
NN_MUST_CHECK enum nn_status nn_import_run(const struct nn_import_setup *setup,
                                           struct nn_import_result *out_result,
                                           struct nn_error *err);

void nn_import_result_deinit(struct nn_import_result *result);

#endif
