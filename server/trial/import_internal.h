/* SPDX-License-Identifier: MIT
 *
 * Between the files of `assayd import`: one function for each kind of asset.
 */
#ifndef TRIAL_IMPORT_INTERNAL_H
#define TRIAL_IMPORT_INTERNAL_H

#include "core/data/import.h"
#include "server/trial/trial_internal.h"

enum { TRIAL_IMPORT_FILES = 64 };

/* Reads the files, leaves one file in the working directory, says artefact and done. start is the
 * start record. NN_ERR_CANCELLED: it was asked to leave off; NN_ERR_INVALID, NN_ERR_LIMIT,
 * NN_ERR_NOT_SUPPORTED: the content is refused with err's text. */
typedef enum nn_status (*trial_import_fn)(struct trial_link *link, const json_t *start,
                                          const struct nn_import_file *files, size_t n,
                                          struct nn_error *err);

NN_MUST_CHECK enum nn_status trial_import_dataset(struct trial_link *link, const json_t *start,
                                                  const struct nn_import_file *files, size_t n,
                                                  struct nn_error *err);
NN_MUST_CHECK enum nn_status trial_import_weights(struct trial_link *link, const json_t *start,
                                                  const struct nn_import_file *files, size_t n,
                                                  struct nn_error *err);

/* No import, but a question to a trained network: files are its body and the network; leaves no
 * file. */
NN_MUST_CHECK enum nn_status trial_import_prediction(struct trial_link *link, const json_t *start,
                                                     const struct nn_import_file *files, size_t n,
                                                     struct nn_error *err);

/* Says how far it is; false: leave off. */
bool trial_import_goes_on(struct trial_link *link, size_t done, size_t total);

#endif
