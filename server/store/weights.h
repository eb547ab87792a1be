/* SPDX-License-Identifier: MIT
 *
 * Pretrained weights: assets (assets.h) whose import writes them anew as safetensors and lists
 * their tensors. Jobs that start from them are in table job_weights.
 */
#ifndef STORE_WEIGHTS_H
#define STORE_WEIGHTS_H

#include "server/store/assets.h"
#include "server/store/imports.h"

struct store_weights {
    char id[SV_ID_SIZE];
    int64_t number;
    const char *name, *notes;
    const char *origin, *url, *licence; /* "" = not said */
    const char *preprocessing;          /* JSON or NULL */
    const char *state;                  /* uploading, checking, ready, refused */
    const char *error_text;             /* why they were refused, or NULL */
    const char *format;                 /* of the upload; NULL before ready */
    char digest[65];                    /* of the content, "" before ready */
    struct store_blob content;          /* safetensors; id "" before ready */
    int64_t tensor_count, element_count;
    double progress; /* of the import, 0 to 1 */
    bool importing;  /* a worker is at it */
    int64_t revision;
    const char *created_by;
    char created_at[STORE_TIME_SIZE], updated_at[STORE_TIME_SIZE];
    char finished_at[STORE_TIME_SIZE]; /* "" before ready or refused */
    const char *report, *tensors;      /* JSON or NULL; NULL in lists */
    struct store_file *files;          /* NULL in lists */
    size_t n_files;
};
struct store_weights_list {
    struct store_weights *rows;
    size_t n;
    const char *next; /* cursor of the next page, NULL at the end */
};

struct store_weights_new {
    const char *name, *notes, *origin, *url, *licence; /* "" allowed but for name */
    const char *preprocessing;                         /* JSON or NULL */
    const struct store_file *files;                    /* name, declared_size, sha256 */
    size_t n_files;
};

/* idempotency may be NULL. */
SV_MUST_CHECK enum sv_status store_weights_create(struct store *store,
                                                  const struct store_scope *scope,
                                                  const struct store_weights_new *weights,
                                                  const struct store_idempotency *idempotency,
                                                  struct store_created *out_created,
                                                  struct sv_error *err);
SV_MUST_CHECK enum sv_status store_weights_get(struct store *store, const struct store_scope *scope,
                                               const char *id, struct store_memory *memory,
                                               struct store_weights *out_weights,
                                               struct sv_error *err);

enum store_weights_sort { STORE_WEIGHTS_NEWEST, STORE_WEIGHTS_OLDEST, STORE_WEIGHTS_BY_NAME };
struct store_weights_filter {
    const char *state;  /* NULL: any, as all here */
    const char *search; /* part of the name, any case */
    enum store_weights_sort sort;
};
SV_MUST_CHECK enum sv_status
store_weights_list(struct store *store, const struct store_scope *scope,
                   const struct store_weights_filter *filter, const struct store_page *page,
                   struct store_memory *memory, struct store_weights_list *out_list,
                   struct sv_error *err);

/* What the import came to. */
struct store_weights_ready {
    const char *report, *tensors; /* JSON */
    const char *format;
    const struct store_blob *content; /* its digest is that of the weights */
    int64_t tensor_count, element_count;
};
SV_MUST_CHECK enum sv_status store_weights_ready(struct store *store,
                                                 const struct store_import_claim *claim,
                                                 const struct store_weights_ready *result,
                                                 struct sv_error *err);

#endif
