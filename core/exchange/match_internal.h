/* SPDX-License-Identifier: MIT
 *
 * A match as it is kept: between what decides it (match.c), the names that other
 * libraries use (match_names.c) and what puts it into words (match_report.c).
 */
#ifndef NN_EXCHANGE_MATCH_INTERNAL_H
#define NN_EXCHANGE_MATCH_INTERNAL_H

#include "core/exchange/match.h"
#include "core/network/network.h"

#define NN_MATCH_NAME_SIZE 160

/* Whose names the file follows. */
enum nn_match_naming {
    NN_MATCH_NAMING_OWN, /* the network's */
    NN_MATCH_NAMING_EFFICIENTNET_PYTORCH,
    NN_MATCH_NAMING_COUNT
};

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
    enum nn_match_naming naming;
    char head_copy[96], text[320], partly[320];
};

/* What the i-th wanted parameter is called under a naming, without a prefix; false: it has no name
 * there. */
bool nn_match_name(const struct nn_match *match, enum nn_match_naming naming, size_t i,
                   char out[NN_MATCH_NAME_SIZE]);
/* "efficientnet_pytorch"; NULL of our own. */
const char *nn_match_naming_name(enum nn_match_naming naming);

/* Fills text and partly from fates and counts: why the match is not loadable, and what of file and
 * network found no counterpart, or nothing. */
void nn_match_describe(struct nn_match *match);

#endif
