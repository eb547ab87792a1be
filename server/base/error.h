/* SPDX-License-Identifier: MIT
 *
 * The one list of errors of the service: C name, stable slug that clients match, HTTP status and
 * the sentence used as the problem document's title. api-spec/openapi.yaml lists the same slugs; a
 * lint compares the two. Handlers return a status and never choose an HTTP number by hand.
 */
#ifndef SV_BASE_ERROR_H
#define SV_BASE_ERROR_H

#include <stdbool.h>

#define SV_MUST_CHECK __attribute__((warn_unused_result))

/* SV_STATUS(name, slug, http status, title) */
#define SV_STATUS_MAP(X)                                                                           \
    X(OK, "ok", 200, "Success")                                                                    \
    X(ERR_BAD_REQUEST, "bad_request", 400, "The request is malformed")                             \
    X(ERR_INVALID_JSON, "invalid_json", 400, "The body is not valid JSON")                         \
    X(ERR_INVALID_PARAMETER, "invalid_parameter", 400, "A query parameter or header is wrong")     \
    X(ERR_UNAUTHENTICATED, "unauthenticated", 401, "A valid token is needed")                      \
    X(ERR_FORBIDDEN, "forbidden", 403, "The token's role does not allow this")                     \
    X(ERR_FORBIDDEN_ORIGIN, "forbidden_origin", 403, "Host or Origin is not allowed")              \
    X(ERR_NOT_FOUND, "not_found", 404, "No such resource")                                         \
    X(ERR_METHOD_NOT_ALLOWED, "method_not_allowed", 405, "The resource has no such method")        \
    X(ERR_NOT_ACCEPTABLE, "not_acceptable", 406, "The requested representation does not exist")    \
    X(ERR_CONFLICT, "conflict", 409, "The resource exists or is in use")                           \
    X(ERR_WRONG_STATE, "wrong_state", 409, "The resource's state does not allow this")             \
    X(ERR_IN_PROGRESS, "in_progress", 409, "The same request is still being worked on")            \
    X(ERR_LENGTH_REQUIRED, "length_required", 411, "Content-Length is needed")                     \
    X(ERR_PRECONDITION, "precondition_failed", 412, "If-Match does not match")                     \
    X(ERR_TOO_LARGE, "too_large", 413, "The body is too large")                                    \
    X(ERR_URI_TOO_LONG, "uri_too_long", 414, "The address is too long")                            \
    X(ERR_MEDIA_TYPE, "unsupported_media_type", 415, "The content type or coding is not accepted") \
    X(ERR_RANGE, "offset_mismatch", 409, "The upload's offset is not where the server stands")     \
    X(ERR_INVALID_FIELD, "invalid_field", 422, "A field has a wrong type, value or range")         \
    X(ERR_UNKNOWN_FIELD, "unknown_field", 422, "A field is not known")                             \
    X(ERR_NOT_SUPPORTED, "not_supported", 422, "Valid, but not built yet")                         \
    X(ERR_INVALID_NETWORK, "invalid_network", 422, "The network description has issues")           \
    X(ERR_INVALID_PICTURE, "invalid_picture", 422, "The picture cannot be read")                   \
    X(ERR_WRONG_INPUT, "wrong_input", 422, "The network takes another kind of input")              \
    X(ERR_KEY_REUSED, "idempotency_key_reused", 422, "The key was used with another request")      \
    X(ERR_TOO_MANY, "too_many_requests", 429, "A limit of requests, waits or queue is reached")    \
    X(ERR_HEADERS_TOO_LARGE, "headers_too_large", 431, "The request's headers are too large")      \
    X(ERR_INTERNAL, "internal", 500, "A bug of ours; the log has the request id")                  \
    X(ERR_NOT_IMPLEMENTED, "not_implemented", 501, "The method or transfer coding is unknown")     \
    X(ERR_NO_SPACE, "insufficient_storage", 507, "The disk of the server is full")                 \
    X(ERR_OVERLOADED, "overloaded", 503, "The request queue is full")                              \
    X(ERR_DATABASE, "database_unavailable", 503, "The database cannot be reached")                 \
    X(ERR_DRAINING, "draining", 503, "The server is stopping")

enum sv_status {
#define SV_STATUS_ENUM(name, slug, http, title) SV_##name,
    SV_STATUS_MAP(SV_STATUS_ENUM)
#undef SV_STATUS_ENUM
        SV_STATUS_COUNT
};

/* Where and why; filled once, where the mistake is first known, untouched on success. Text never
 * holds SQL, a connection string or a path of the machine. */
struct sv_error {
    char text[384];     /* one sentence for a person, "" for the status' own title */
    char pointer[160];  /* JSON pointer of the body's field at fault, "" if none */
    char parameter[64]; /* query parameter or header at fault, "" if none */
};

const char *sv_status_slug(enum sv_status status);
/* The status of a slug; SV_ERR_INTERNAL for one that is none, or NULL. */
enum sv_status sv_status_parse(const char *slug);
int sv_status_http(enum sv_status status);
const char *sv_status_title(enum sv_status status);

/* Fill err (may be NULL) and return status. _at names a JSON pointer, _parameter a query parameter
 * or header. */
enum sv_status sv_fail(struct sv_error *err, enum sv_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
enum sv_status sv_fail_at(struct sv_error *err, enum sv_status status, const char *pointer,
                          const char *fmt, ...) __attribute__((format(printf, 4, 5)));
enum sv_status sv_fail_parameter(struct sv_error *err, enum sv_status status, const char *parameter,
                                 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
