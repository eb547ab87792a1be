/* SPDX-License-Identifier: MIT
 *
 * Signals: labelled windows cut from recordings. An import cuts each recording into windows of one
 * length at a stride and gives them parts, in one of three ways; a window stands in one part and
 * shares no sample with a window of another part:
 *
 *   folders      by folders train, validation and test around the class folders
 *   recordings   whole recordings, by class, in the order of (seed, content)
 *   time         every recording is cut: its beginning trains, then validates, then tests; `gap`
 *                samples between two parts belong to neither
 *
 * The windows of a set are items of a prepared set of float32 (prepared.h): one row of `window`
 * values, channels last, named "recording@first sample".
 */
#ifndef NN_DATA_SIGNAL_H
#define NN_DATA_SIGNAL_H

#include "core/base/base.h"
#include "core/json/json.h"

enum nn_signal_by {
    NN_SIGNAL_BY_FOLDERS,
    NN_SIGNAL_BY_RECORDINGS,
    NN_SIGNAL_BY_TIME,
};

struct nn_signal_parts {
    int by; /* enum nn_signal_by */
    bool by_given;
    double train, validation; /* shares; the rest tests */
    int64_t gap;              /* samples */
    bool gap_given;           /* else a window */
    int64_t seed;
};

/* nn_signal_fields describes it; decoded from {} these are the defaults. */
struct nn_signal_options {
    int64_t window; /* samples */
    int64_t stride; /* samples from one window to the next */
    bool stride_given;
    struct jx_ints channels; /* numbers from 1 of the recordings' channels; none: the first */
    struct nn_signal_parts parts;
};

extern const struct jx_field nn_signal_fields[];

/* Fills what depends on other fields, and checks what spans them. NN_ERR_INVALID with the field's
 * pointer below `pointer`. */
NN_MUST_CHECK enum nn_status nn_signal_options_complete(struct nn_signal_options *options,
                                                        const char *pointer, struct nn_error *err);

const char *nn_signal_by_name(int by);

#endif
