/* SPDX-License-Identifier: MIT
 *
 * How the named tensors of a weight file fit the parameters of a network: by name and shape alone,
 * so neither the file nor the network's memory is needed. Names are those of PyTorch's state dicts;
 * a prefix that all tensors carry and no parameter has ("module.") is taken off and said, a naming
 * of another library (match_names.c) is read and said, the counters of batch norms
 * (num_batches_tracked) are passed over and said.
 */
#ifndef NN_EXCHANGE_MATCH_H
#define NN_EXCHANGE_MATCH_H

#include "core/base/base.h"
#include "core/files/safetensors.h"
#include "core/json/json.h"

struct nn_description;
struct nn_network;
struct nn_network_bind;

/* What happens to the head (nn_description_head). REPLACED: its tensors are never taken, it keeps
 * the values it was initialised with. */
enum nn_match_head {
    NN_MATCH_HEAD_KEPT,             /* wanted like any other layer */
    NN_MATCH_HEAD_REPLACED,         /* always made new */
    NN_MATCH_HEAD_REPLACED_IF_OTHER /* made new when the file's has another shape or is missing */
};

/* Unless the head must be kept, branches that lead to auxiliary losses alone may lack values: what
 * is missing there or of another shape is made new. */

struct nn_match;

/* tensors: only name, rank, shape and not_finite are looked at; borrowed until nn_match_destroy, in
 * any order. bind as for nn_network_create. NN_ERR_INVALID: the description does not fit the bind.
 */
NN_MUST_CHECK enum nn_status nn_match_description(const struct nn_description *description,
                                                  const struct nn_network_bind *bind,
                                                  const struct nn_file_tensor *tensors, size_t n,
                                                  enum nn_match_head head, struct nn_match **out,
                                                  struct nn_error *err);
/* The same for a network; the i-th parameter of the match is the network's i-th. */
NN_MUST_CHECK enum nn_status nn_match_network(const struct nn_network *network,
                                              const struct nn_file_tensor *tensors, size_t n,
                                              enum nn_match_head head, struct nn_match **out,
                                              struct nn_error *err);
void nn_match_destroy(struct nn_match *match);

/* The mean and standard deviation of a network's input are optional: absent ones are no lack. */
enum nn_match_fate {
    NN_MATCH_MATCHED,
    NN_MATCH_MISSING,
    NN_MATCH_WRONG_SHAPE,
    NN_MATCH_NOT_FINITE, /* the tensor fits, and is known to hold a value that is not finite */
    NN_MATCH_REPLACED,
    NN_MATCH_OPTIONAL,
    NN_MATCH_UNEXPECTED, /* a tensor that no parameter wants */
    NN_MATCH_IGNORED,    /* a counter of batches */
    NN_MATCH_FATE_COUNT
};
size_t nn_match_count(const struct nn_match *match, enum nn_match_fate fate);

/* Nothing is missing, of a wrong shape or not finite, and something matches. */
bool nn_match_is_loadable(const struct nn_match *match);
/* Why not, in one sentence; "" when it is. Borrowed. */
const char *nn_match_text(const struct nn_match *match);

/* Of a match that is loadable: which tensors of the file have no place in the network, and which
 * parameters of the network begin new though the head is not theirs, with their shares; "" when
 * there are none. Borrowed. */
const char *nn_match_partly(const struct nn_match *match);

/* The tensor for the i-th parameter; NULL unless it matches. */
const struct nn_file_tensor *nn_match_tensor(const struct nn_match *match, size_t i);
/* A tensor to be added to it: an LSTM's "bias_hh_l0" to its "bias_ih_l0"; mostly NULL. */
const struct nn_file_tensor *nn_match_added(const struct nn_match *match, size_t i);

/* New reference; NULL when out of memory:
 * {"loadable": bool, "text": "", "partly": nn_match_partly | null, "head": "classifier.1" | null,
 *  "prefix_removed": "module." | null, "naming": "efficientnet_pytorch" | null,
 *  "matched": [{"name", "shape"}], "missing": [{"name", "shape"}],
 *  "wrong_shape": [{"name", "shape", "found"}],
 *  "not_finite": [{"name", "shape"}],
 *  "replaced": [{"name", "shape", "found": [...] | null}],
 *  "unexpected": [{"name", "shape"}], "ignored": [names]}
 * shape: what the network wants (of `unexpected`: the file's); found: what the file has. Names of
 * `unexpected` and `ignored` as in the file, the others as in the network. */
json_t *nn_match_json(const struct nn_match *match);

#endif
