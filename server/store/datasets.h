/* SPDX-License-Identifier: MIT
 *
 * Data sets: assets (assets.h) whose import makes a prepared set.
 */
#ifndef STORE_DATASETS_H
#define STORE_DATASETS_H

#include "server/store/assets.h"
#include "server/store/imports.h"

struct store_dataset {
    char id[SV_ID_SIZE];
    int64_t number;
    const char *name, *kind, *layout, *notes;
    const char *state;                 /* uploading, checking, ready, refused */
    const char *options;               /* JSON or NULL */
    const char *report;                /* JSON or NULL; NULL in lists */
    const char *error_text;            /* why it was refused, or NULL */
    char digest[65];                   /* of the prepared content, "" before ready */
    char prepared_blob_id[SV_ID_SIZE]; /* "" before ready */
    /* 0 before ready, as the counts. Of sequences: steps of the longest, targets, inputs. */
    int64_t height, width, channels, class_count;
    int64_t train_count, validation_count, test_count;
    double progress; /* of the import, 0 to 1 */
    int64_t attempt;
    bool importing; /* a worker is at it */
    int64_t revision;
    const char *created_by;
    char created_at[STORE_TIME_SIZE], updated_at[STORE_TIME_SIZE];
    char finished_at[STORE_TIME_SIZE]; /* "" before ready or refused */
    struct store_file *files;
    size_t n_files;
};
struct store_dataset_list {
    struct store_dataset *rows; /* without files and report */
    size_t n;
    const char *next; /* cursor of the next page, NULL at the end */
};

struct store_dataset_new {
    const char *name, *kind, *layout, *notes;
    const char *options;            /* JSON or NULL */
    const struct store_file *files; /* name, declared_size, sha256 */
    size_t n_files;                 /* 1 to 64, names unique */
};

/* idempotency may be NULL. */
SV_MUST_CHECK enum sv_status store_dataset_create(struct store *store,
                                                  const struct store_scope *scope,
                                                  const struct store_dataset_new *dataset,
                                                  const struct store_idempotency *idempotency,
                                                  struct store_created *out_created,
                                                  struct sv_error *err);
SV_MUST_CHECK enum sv_status store_dataset_get(struct store *store, const struct store_scope *scope,
                                               const char *id, struct store_memory *memory,
                                               struct store_dataset *out_dataset,
                                               struct sv_error *err);

enum store_dataset_sort { STORE_DATASETS_NEWEST, STORE_DATASETS_OLDEST, STORE_DATASETS_BY_NAME };
struct store_dataset_filter {
    const char *state; /* NULL: any, as all here */
    const char *kind;
    const char *search; /* part of the name, any case */
    enum store_dataset_sort sort;
};
SV_MUST_CHECK enum sv_status
store_datasets_list(struct store *store, const struct store_scope *scope,
                    const struct store_dataset_filter *filter, const struct store_page *page,
                    struct store_memory *memory, struct store_dataset_list *out_list,
                    struct sv_error *err);

/* What the import of one came to. */
struct store_dataset_ready {
    const char *report; /* JSON */
    char digest[65];    /* of the prepared content */
    const char *prepared_blob_id;
    int64_t height, width, channels, class_count;
    int64_t train_count, validation_count, test_count;
};
SV_MUST_CHECK enum sv_status store_dataset_ready(struct store *store,
                                                 const struct store_import_claim *claim,
                                                 const struct store_dataset_ready *result,
                                                 struct sv_error *err);

#endif
