/* SPDX-License-Identifier: MIT
 *
 * Cursors that are bound to the list and the query they were made for.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/answer_internal.h"

enum { SIGNATURE_DIGITS = 16 };

static uint64_t hash_number(uint64_t hash, double value)
{
    char text[40];
    (void)snprintf(text, sizeof text, "%.17g;", value);
    return http_hash(hash, text);
}

static uint64_t hash_list(uint64_t hash, const struct http_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        hash = http_hash(http_hash(hash, list->items[i]), ",");
    }
    return hash;
}

static uint64_t hash_value(uint64_t hash, const struct http_param *row, const void *query)
{
    const char *place = (const char *)query + row->offset;
    const char *text = NULL;
    struct http_list list = {0};
    int64_t integer = 0;
    double number = 0;
    bool flag = false;
    int choice = 0;
    switch (row->type) {
    case HTTP_PARAM_INT:
        memcpy(&integer, place, sizeof integer);
        return hash_number(hash, (double)integer);
    case HTTP_PARAM_NUMBER:
        memcpy(&number, place, sizeof number);
        return hash_number(hash, number);
    case HTTP_PARAM_BOOL:
        memcpy(&flag, place, sizeof flag);
        return hash_number(hash, flag);
    case HTTP_PARAM_CHOICE:
        memcpy(&choice, place, sizeof choice);
        return hash_number(hash, choice);
    case HTTP_PARAM_TEXT:
    case HTTP_PARAM_ID:
        memcpy(&text, place, sizeof text);
        return http_hash(hash, text ? text : "");
    case HTTP_PARAM_LIST:
        memcpy(&list, place, sizeof list);
        return hash_list(hash, &list);
    }
    return hash;
}

static uint64_t sign(const char *path, const struct api_params *params)
{
    static const char *const free_ones[] = {"limit", "cursor", "wait", "fields"};
    uint64_t hash = http_hash(HTTP_HASH_SEED, path);
    for (size_t i = 0; i < params->count; i++) {
        const struct http_param *row = &params->table[i];
        bool skip = false;
        for (size_t k = 0; k < API_COUNT(free_ones); k++) {
            skip = skip || strcmp(row->name, free_ones[k]) == 0;
        }
        hash = skip ? hash : hash_value(http_hash(hash, row->name), row, params->out);
    }
    return hash;
}

enum sv_status api_page_open(const struct http_request *req, const struct api_params *params,
                             int64_t limit, const char *cursor, struct api_page *out_page,
                             struct sv_error *err)
{
    struct api_page page = {.store.limit = (size_t)limit, .signature = sign(req->path, params)};
    if (cursor) {
        char expected[SIGNATURE_DIGITS + 2];
        (void)snprintf(expected, sizeof expected, "%016" PRIx64 ".", page.signature);
        if (strncmp(cursor, expected, SIGNATURE_DIGITS + 1) != 0) {
            return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, "cursor",
                                     "the cursor is damaged or belongs to another query");
        }
        page.store.cursor = cursor + SIGNATURE_DIGITS + 1;
    }
    *out_page = page;
    return SV_OK;
}

const char *api_page_next(const struct http_request *req, const struct api_page *page,
                          const char *next)
{
    return next ? http_request_printf(req, "%016" PRIx64 ".%s", page->signature, next) : NULL;
}
