/* SPDX-License-Identifier: MIT
 *
 * A match as it is kept: between what decides it (match.c) and what puts it into words
 * (match_report.c).
 */
#ifndef NN_EXCHANGE_MATCH_INTERNAL_H
#define NN_EXCHANGE_MATCH_INTERNAL_H

#include "core/exchange/match.h"
#include "core/network/network.h"

struct nn_match_fit {
    enum nn_match_fate fate;
    const struct nn_file_tensor *found; /* or NULL */
    const struct nn_file_tensor *added; /* the second bias of an LSTM, or NULL */
};

struct nn_match {
    struct nn_parameter_shape *wanted;
    size_t n_wanted;
    const struct nn_file_tensor **tensors; /* ordered by name */
    size_t n_tensors;
    struct nn_match_fit *fits;    /* of `wanted` */
    enum nn_match_fate *leftover; /* of `tensors`: UNEXPECTED, IGNORED, or MATCHED for any other */
    size_t counts[NN_MATCH_FATE_COUNT];
    const char *head, *prefix;
    char head_copy[96], text[320];
};

/* Fills text from fates and counts: why the match is not loadable, or nothing. */
void nn_match_describe(struct nn_match *match);

#endif
