/* SPDX-License-Identifier: MIT
 *
 * What handlers share: scope, values, idempotency keys, lists.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/sha256.h"
#include "server/api/answer_internal.h"
#include "server/base/text.h"

#define KEY_MAX 200

void api_scope(const struct http_request *req, struct store_scope *out_scope)
{
    const char *actor = req->actor.name[0] ? req->actor.name : "loopback";
    (void)snprintf(out_scope->project_id, sizeof out_scope->project_id, "%s",
                   req->actor.project_id);
    (void)snprintf(out_scope->actor, sizeof out_scope->actor, "%s", actor);
}

const char *api_given(const char *text)
{
    return text && text[0] ? text : NULL;
}

json_t *api_document(const char *text)
{
    return text ? json_loads(text, JSON_DECODE_ANY, NULL) : json_null();
}

enum sv_status api_no_memory(struct sv_error *err)
{
    return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
}

static bool is_key(const char *key)
{
    size_t n = strlen(key);
    for (size_t i = 0; i < n; i++) {
        if (key[i] < 0x21 || key[i] > 0x7e) {
            return false;
        }
    }
    return n >= 1 && n <= KEY_MAX;
}

enum sv_status api_idempotency(const struct http_request *req, struct store_idempotency *out_key,
                               bool *out_used, struct sv_error *err)
{
    const char *key = http_header(req, "Idempotency-Key");
    struct nn_sha256 hash;
    if (!key) {
        *out_used = false;
        return SV_OK;
    }
    if (!is_key(key)) {
        return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, "Idempotency-Key",
                                 "1 to %d printable characters without blanks are expected",
                                 KEY_MAX);
    }
    char *body = req->json ? jx_canonical(req->json) : strdup("");
    if (!body) {
        return api_no_memory(err);
    }
    nn_sha256_init(&hash);
    nn_sha256_update(&hash, req->method, strlen(req->method) + 1);
    nn_sha256_update(&hash, req->path, strlen(req->path) + 1);
    nn_sha256_update(&hash, body, strlen(body));
    nn_sha256_finish(&hash, out_key->digest);
    free(body);
    out_key->key = key;
    *out_used = true;
    return SV_OK;
}

enum sv_status api_creation_begin(const struct http_request *req, struct api_creation *out_creation,
                                  struct sv_error *err)
{
    bool has_key = false;
    *out_creation = (struct api_creation){0};
    api_scope(req, &out_creation->scope);
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st == SV_OK) {
        st = api_idempotency(req, &out_creation->key, &has_key, err);
    }
    out_creation->idempotency = has_key ? &out_creation->key : NULL;
    return st;
}

void api_replayed(struct http_response *resp, const struct store_created *created)
{
    if (created->replayed) {
        http_response_header(resp, "Idempotency-Replayed", "true");
    }
}

enum sv_status api_refuse_fields(const json_t *body, const char *const *fields,
                                 struct sv_error *err)
{
    for (size_t i = 0; fields[i]; i++) {
        if (json_object_get(body, fields[i])) {
            char pointer[160];
            jx_pointer_key("", fields[i], pointer, sizeof pointer);
            return sv_fail_at(err, SV_ERR_NOT_SUPPORTED, pointer, "%s is not built yet", fields[i]);
        }
    }
    return SV_OK;
}

static enum sv_status decode_at(const struct jx_field *table, const json_t *json,
                                const char *pointer, void *out, struct sv_error *err)
{
    static const char UNKNOWN[] = "unknown field";
    struct nn_error nn = {0};
    enum nn_status st = jx_decode(table, json, pointer, out, &nn);
    if (st == NN_OK) {
        return SV_OK;
    }
    if (st != NN_ERR_INVALID) {
        return sv_fail(err, SV_ERR_INTERNAL, "%s", nn.text);
    }
    bool unknown = strncmp(nn.text, UNKNOWN, sizeof UNKNOWN - 1) == 0;
    return sv_fail_at(err, unknown ? SV_ERR_UNKNOWN_FIELD : SV_ERR_INVALID_FIELD, nn.pointer, "%s",
                      nn.text);
}

enum sv_status api_decode(const struct jx_field *table, const json_t *body, void *out,
                          struct sv_error *err)
{
    return decode_at(table, body, "", out, err);
}

enum sv_status api_decode_item(const struct jx_field *table, const json_t *item,
                               const char *pointer, size_t i, void *out, struct sv_error *err)
{
    char at[160];
    jx_pointer_index(pointer, i, at, sizeof at);
    return decode_at(table, item, at, out, err);
}

enum sv_status api_decode_patch(const struct jx_field *table, const json_t *body, void *out,
                                struct sv_error *err)
{
    enum sv_status st = api_decode(table, body, out, err);
    if (st == SV_OK && json_object_size(body) == 0) {
        st = sv_fail_at(err, SV_ERR_INVALID_FIELD, "", "the body names nothing to change");
    }
    return st;
}

enum sv_status api_check_line(const char *text, const char *pointer, struct sv_error *err)
{
    return sv_text_is_line(text)
               ? SV_OK
               : sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "must not hold control characters");
}

/* --------------------------------------------------------------------------------------- lists */

json_t *api_append_take(json_t *rows, json_t *row)
{
    if (!rows || json_array_append_new(rows, row) != 0) {
        if (!rows) {
            json_decref(row);
        }
        json_decref(rows);
        return NULL;
    }
    return rows;
}

static json_t *pick(const json_t *row, const struct http_list *fields)
{
    json_t *picked = json_object();
    for (size_t f = 0; picked && f < fields->count; f++) {
        json_t *value = json_object_get(row, fields->items[f]);
        if (value && json_object_set(picked, fields->items[f], value) != 0) {
            json_decref(picked);
            return NULL;
        }
    }
    return picked;
}

json_t *api_picked_take(json_t *rows, const struct http_list *fields)
{
    if (!rows || fields->count == 0) {
        return rows;
    }
    json_t *out = json_array();
    for (size_t i = 0; out && i < json_array_size(rows); i++) {
        out = api_append_take(out, pick(json_array_get(rows, i), fields));
    }
    json_decref(rows);
    return out;
}

json_t *api_list_take(json_t *rows, const char *next)
{
    return rows ? json_pack("{s:o, s:s?}", "items", rows, "next_cursor", next) : NULL;
}
