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
#include "core/exchange/match.h"
#include "core/files/safetensors.h"

struct nn_network;

/* Loads the parameters that match (match.h). All or nothing: on ERR_INVALID (something missing or
 * of a wrong shape, nothing that matches, or a value that is not finite) the network is unchanged.
 * Unexpected tensors are only told. A replaced head keeps its values: initialise it from a seed
 * before. out_match may be NULL; otherwise it is made, to be destroyed by the caller and not to
 * outlive the tensors, also on ERR_INVALID. */
NN_MUST_CHECK enum nn_status nn_exchange_import(struct nn_network *network,
                                                const struct nn_file_tensor *tensors, size_t n,
                                                enum nn_match_head head,
                                                struct nn_match **out_match, struct nn_error *err);
/* The same from a file. */
NN_MUST_CHECK enum nn_status nn_exchange_load(struct nn_network *network,
                                              const struct nn_safetensors *file,
                                              enum nn_match_head head, struct nn_match **out_match,
                                              struct nn_error *err);

/* Writes all parameters, trainable or not, to path (atomic) as F32, F16 or BF16, the latter two
 * rounded to the nearest. ERR_INVALID: another type, or a value too large for F16. */
NN_MUST_CHECK enum nn_status nn_exchange_save(const struct nn_network *network, const char *path,
                                              enum nn_file_dtype dtype,
                                              const struct nn_file_pair *metadata,
                                              size_t n_metadata, struct nn_error *err);

#endif
