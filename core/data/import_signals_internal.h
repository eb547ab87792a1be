/* SPDX-License-Identifier: MIT
 *
 * An import of signals while it runs.
 *
 * One pass over the archive decodes each recording and spools its windows; labels and parts of
 * recordings are known only behind it, and then come to the windows. Windows of recordings that
 * were refused afterwards stay in the spool and are no items.
 */
#ifndef NN_DATA_IMPORT_SIGNALS_INTERNAL_H
#define NN_DATA_IMPORT_SIGNALS_INTERNAL_H

#include "core/data/import_internal.h"

/* Of the archive's row of the same index. */
struct nn_signal_recording {
    size_t samples; /* 0: it is none, or was refused */
    uint64_t key;   /* its place in the order of its class */
    uint8_t digest[NN_DIGEST_BYTES];
};

struct nn_signal_import {
    struct nn_import *base;
    struct nn_signal_options options; /* complete */
    struct nn_signal_recording *recordings;
    size_t room;
    char *labels;  /* content of labels.csv, NUL-terminated; NULL: there is none */
    size_t folder; /* length of the path before it, with the slash */
    size_t table;  /* its row */
};

#define NN_SIGNAL_LABELS "labels.csv"

/* Classes and, where the table has a column of parts, parts from labels.csv: every recording must
 * have a row (import_signals_labels.c). out_has_parts: whether it has that column. */
NN_MUST_CHECK enum nn_status nn_signal_read_labels(struct nn_signal_import *import,
                                                   bool *out_has_parts);

/* Whole recordings to parts, by class. NN_ERR_INVALID: a class has too few. */
NN_MUST_CHECK enum nn_status nn_signal_share_recordings(struct nn_signal_import *import);

/* The samples of a recording that may go to a part, [begin, end). */
struct nn_signal_span {
    size_t begin, end;
    enum nn_part part;
};
/* The spans of a recording of so many samples: out[NN_PART_COUNT], returns how many. */
size_t nn_signal_spans(const struct nn_signal_options *options, size_t samples,
                       struct nn_signal_span *out);

#endif
