/* SPDX-License-Identifier: MIT
 *
 * Maps and activations in a file of explanations, kept by a trial or made later: a child's detail
 * says what there is (server/trial/explained_internal.h); arrays and pictures are read from the
 * file by offset.
 */
#ifndef API_EXPLAINED_INTERNAL_H
#define API_EXPLAINED_INTERNAL_H

#include "server/api/answer_internal.h"

extern const char *const api_explain_methods[]; /* by enum nn_explain_method; ended by NULL */

struct api_explained {
    struct api_ctx *ctx;
    const char *project_id, *blob_id;
    const json_t *detail; /* {pictures, arrays}; NULL: there is nothing */
};

size_t api_explained_count(const struct api_explained *explained);
/* method -1: any. n < count. */
bool api_explained_is(const struct api_explained *explained, size_t n, int method);
/* Borrowed: rows of the detail; NULL: no such. */
const json_t *api_explained_array(const struct api_explained *explained, size_t n);
const json_t *api_explained_picture(const struct api_explained *explained, size_t n);
/* Array n without its values. */
json_t *api_explained_encode(const struct api_explained *explained, size_t n);
/* The number in a path; false when it is none of an array that there is. */
bool api_explained_number(const struct api_explained *explained, const char *text, size_t *out_n);

/* Array n as the request accepts it: *out_json with the values, or *out_png (to be freed) drawn, a
 * map over its picture where overlay says so. */
struct api_explained_answer {
    json_t *json;
    char *png;
    size_t size;
};
SV_MUST_CHECK enum sv_status api_explained_read(const struct api_explained *explained, size_t n,
                                                bool overlay, const struct http_request *req,
                                                struct api_explained_answer *out,
                                                struct sv_error *err);

#endif
