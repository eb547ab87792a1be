/* SPDX-License-Identifier: MIT
 *
 * Weights <-> network: named tensors of a file into the parameters of a network and back, by the
 * names and in the axis order of PyTorch (conv O,I,KH,KW; linear O,I with the input flattened
 * C,H,W), whatever order the network keeps. Both directions are exact: save then load gives equal
 * bits.
 */
#ifndef NN_EXCHANGE_EXCHANGE_H
#define NN_EXCHANGE_EXCHANGE_H

#include "core/base/base.h"
#include "core/files/safetensors.h"

struct nn_network;

/* How a file fits a network. */
struct nn_match_report {
    size_t matched;    /* parameters found with the right shape and loaded */
    size_t missing;    /* parameters of the network that the file lacks */
    size_t mismatched; /* found, of another shape */
    size_t unexpected; /* tensors of the file that the network has no place for */
    char first[224];   /* the first that does not fit, in words; "" if all do */
};

/* Loads all parameters. All or nothing: on ERR_INVALID (something missing, mismatched, or a value
 * that is not finite) the network is unchanged. Unexpected tensors are only counted
 * (num_batches_tracked is not even counted); mean and standard deviation of the input may be
 * absent and then stay. out_report may be NULL and is filled on failure too.
 */
NN_MUST_CHECK enum nn_status nn_exchange_load(struct nn_network *network,
                                              const struct nn_safetensors *file,
                                              struct nn_match_report *out_report,
                                              struct nn_error *err);

/* Writes all parameters, trainable or not, as float32 to path (atomic). */
NN_MUST_CHECK enum nn_status nn_exchange_save(const struct nn_network *network, const char *path,
                                              const struct nn_file_pair *metadata,
                                              size_t n_metadata, struct nn_error *err);

#endif
