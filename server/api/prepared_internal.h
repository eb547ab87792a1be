/* SPDX-License-Identifier: MIT
 *
 * The stored prepared set of a data set, read by offset, so that no whole file is ever loaded to
 * show one page or one picture.
 */
#ifndef API_PREPARED_INTERNAL_H
#define API_PREPARED_INTERNAL_H

#include "core/data/prepared.h"
#include "core/data/sequences.h"
#include "server/api/answer_internal.h"
#include "server/store/datasets.h"

/* memory holds the data set: to be cleared, after a failure too. */
struct api_prepared {
    struct api_ctx *ctx;
    struct store_scope scope;
    struct store_memory memory;
    struct store_dataset dataset;
    /* Of sequences: count and the sections of labels, parts and names alone. */
    struct nn_prepared_layout layout;
    uint64_t first_steps; /* of sequences: where that section lies; 0: images */
};

/* p comes zeroed. SV_ERR_NOT_FOUND; SV_ERR_WRONG_STATE: not ready. */
SV_MUST_CHECK enum sv_status api_prepared_open(struct api_ctx *ctx, const struct store_scope *scope,
                                               const char *dataset_id, struct api_prepared *p,
                                               struct sv_error *err);
SV_MUST_CHECK enum sv_status api_prepared_range(const struct api_prepared *p, uint64_t offset,
                                                void *out, size_t size, struct sv_error *err);

extern const char *const api_prepared_parts[]; /* by enum nn_part; ended by NULL */

/* Item n < layout.count of a set of images as PNG, to be freed; of signals a plot of it. */
SV_MUST_CHECK enum sv_status api_prepared_png(const struct api_prepared *p, uint64_t n,
                                              char **out_bytes, size_t *out_size,
                                              struct sv_error *err);
/* {item, name, part, true} of it. */
SV_MUST_CHECK enum sv_status api_prepared_facts(const struct api_prepared *p, uint64_t n,
                                                json_t **out_facts, struct sv_error *err);

#endif
