/* SPDX-License-Identifier: MIT
 *
 * Data sets: declared with their files, filled by uploads at an offset, then checked by an import
 * task (imports.h).
 *
 *   uploading --last byte of the last file--> checking --import--> ready | refused
 *
 * Names are unique in a project (SV_ERR_CONFLICT). A data set that a job refers to cannot be
 * deleted.
 */
#ifndef STORE_DATASETS_H
#define STORE_DATASETS_H

#include "server/store/store.h"

struct store_dataset_file {
    const char *name;
    int64_t declared_size; /* -1: not declared */
    char sha256[65];       /* declared; "" if not */
    int64_t received_size;
    bool complete;
};

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
    struct store_dataset_file *files;
    size_t n_files;
};
struct store_dataset_list {
    struct store_dataset *rows; /* without files and report */
    size_t n;
    const char *next; /* cursor of the next page, NULL at the end */
};

struct store_dataset_new {
    const char *name, *kind, *layout, *notes;
    const char *options;                    /* JSON or NULL */
    const struct store_dataset_file *files; /* name, declared_size, sha256 */
    size_t n_files;                         /* 1 to 64, names unique */
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

/* name or notes NULL: left as is. */
SV_MUST_CHECK enum sv_status store_dataset_patch(struct store *store,
                                                 const struct store_scope *scope, const char *id,
                                                 const char *name, const char *notes,
                                                 struct sv_error *err);
/* SV_ERR_CONFLICT while a job refers to it, SV_ERR_WRONG_STATE while it is being imported. */
SV_MUST_CHECK enum sv_status store_dataset_delete(struct store *store,
                                                  const struct store_scope *scope, const char *id,
                                                  struct sv_error *err);

/* One piece of an upload. */
struct store_upload {
    const char *dataset_id;
    const char *file; /* declared name */
    int64_t offset;   /* must be where the file stands */
    const void *data;
    size_t size; /* any; larger than 1 MiB is cut up inside */
    bool final;  /* this ends the file */
};
/* Appends. *out_received (not NULL) is where the file stands after the call, set on SV_ERR_RANGE
 * too. A file ends by `final` or when the declared size is reached; when the last one ends, the
 * data set becomes `checking`. SV_ERR_RANGE: the offset is not where the file stands.
 * SV_ERR_INVALID_FIELD: size or SHA-256 differ from the declaration (the file starts again at 0).
 * SV_ERR_WRONG_STATE: the file or the data set is complete. SV_ERR_TOO_LARGE: above 4 GiB. */
SV_MUST_CHECK enum sv_status store_dataset_upload(struct store *store,
                                                  const struct store_scope *scope,
                                                  const struct store_upload *upload,
                                                  int64_t *out_received, struct sv_error *err);

#endif
