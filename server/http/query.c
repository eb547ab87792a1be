/* SPDX-License-Identifier: MIT
 *
 * The query string: cut and decoded once for every request, then read by the handler's table.
 */
#include "server/http/query.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/ids.h"
#include "server/base/text.h"
#include "server/http/exchange_internal.h"

#define TEXT_MAX  1024
#define ITEMS_MAX 64

enum sv_status http_query_split(struct http_exchange *ex, struct sv_error *err)
{
    char *rest = ex->query ? nn_arena_text(ex->arena, ex->query) : NULL;
    if (ex->query && !rest) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    while (rest && *rest) {
        char *name = strsep(&rest, "&");
        if (!*name) {
            continue;
        }
        char *value = strchr(name, '=');
        if (value) {
            *value++ = '\0';
        }
        bool sound = http_text_unescape(name, true) && (!value || http_text_unescape(value, true));
        if (!sound || !sv_text_is_line(name)) {
            return sv_fail(err, SV_ERR_BAD_REQUEST, "the query has a bad escape");
        }
        if (ex->pair_count == HTTP_PAIRS_MAX) {
            return sv_fail(err, SV_ERR_BAD_REQUEST, "more than %d query parameters",
                           HTTP_PAIRS_MAX);
        }
        ex->pairs[ex->pair_count++] = (struct http_pair){name, value ? value : ""};
    }
    return SV_OK;
}

const char *http_query_value(const struct http_request *req, const char *name)
{
    const struct http_exchange *ex = http_exchange_of(req);
    for (size_t i = 0; i < ex->pair_count; i++) {
        if (strcmp(ex->pairs[i].name, name) == 0) {
            return ex->pairs[i].value;
        }
    }
    return NULL;
}

static enum sv_status parameter_fail(const struct http_param *param, struct sv_error *err,
                                     const char *text)
{
    return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, param->name, "%s must be %s",
                             param->name, text);
}

static enum sv_status decode_int(const struct http_param *param, const char *text, int64_t *out,
                                 struct sv_error *err)
{
    char range[64];
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool digits = text[0] == '-' ? text[1] >= '0' : text[0] >= '0' && text[0] <= '9';
    if (!digits || *end || errno || value < param->min || value > param->max) {
        (void)snprintf(range, sizeof range, "a whole number from %lld to %lld",
                       (long long)param->min, (long long)param->max);
        return parameter_fail(param, err, range);
    }
    *out = value;
    return SV_OK;
}

static enum sv_status decode_number(const struct http_param *param, const char *text, double *out,
                                    struct sv_error *err)
{
    char *end = NULL;
    double value = strtod(text, &end);
    bool decimal = text[0] && strspn(text, "+-.0123456789eE") == strlen(text);
    if (!decimal || *end || !isfinite(value)) {
        return parameter_fail(param, err, "a number");
    }
    *out = value;
    return SV_OK;
}

static int choice_index(const char *const *choices, const char *text)
{
    for (int i = 0; choices && choices[i]; i++) {
        if (strcmp(choices[i], text) == 0) {
            return i;
        }
    }
    return -1;
}

static enum sv_status choice_fail(const struct http_param *param, struct sv_error *err)
{
    char words[256] = "one of ";
    for (size_t i = 0; param->choices[i]; i++) {
        size_t used = strlen(words);
        (void)snprintf(words + used, sizeof words - used, "%s%s", i ? ", " : "", param->choices[i]);
    }
    return parameter_fail(param, err, words);
}

static enum sv_status decode_list(const struct http_request *req, const struct http_param *param,
                                  const char *text, struct http_list *out, struct sv_error *err)
{
    size_t max = param->max ? (size_t)param->max : ITEMS_MAX;
    char *copy = http_request_printf(req, "%s", text);
    const char **items = http_request_alloc(req, (max + 1) * sizeof *items);
    if (!copy || !items) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    size_t count = 0;
    while (copy && *copy) {
        char *item = strsep(&copy, ",");
        if (!*item || count == max) {
            return parameter_fail(param, err, "a list of words joined by commas, not too long");
        }
        if (param->choices && choice_index(param->choices, item) < 0) {
            return choice_fail(param, err);
        }
        items[count++] = item;
    }
    if (count == 0) {
        return parameter_fail(param, err, "a list of words joined by commas");
    }
    *out = (struct http_list){items, count};
    return SV_OK;
}

static enum sv_status decode_text(const struct http_param *param, const char *text,
                                  const char **out, struct sv_error *err)
{
    size_t size = strlen(text);
    size_t max = param->max ? (size_t)param->max : TEXT_MAX;
    if (!sv_text_is_line(text) || size > max || (int64_t)size < param->min) {
        return parameter_fail(param, err, "text without control characters, not too long");
    }
    *out = text;
    return SV_OK;
}

static enum sv_status decode_one(const struct http_request *req, const struct http_param *param,
                                 const char *text, void *field, struct sv_error *err)
{
    switch (param->type) {
    case HTTP_PARAM_INT:
        return decode_int(param, text, field, err);
    case HTTP_PARAM_NUMBER:
        return decode_number(param, text, field, err);
    case HTTP_PARAM_TEXT:
        return decode_text(param, text, field, err);
    case HTTP_PARAM_LIST:
        return decode_list(req, param, text, field, err);
    case HTTP_PARAM_BOOL:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
            return parameter_fail(param, err, "true or false");
        }
        *(bool *)field = text[0] == 't';
        return SV_OK;
    case HTTP_PARAM_ID:
        if (!sv_id_is_valid(text)) {
            return parameter_fail(param, err, "an id of 32 hex digits");
        }
        *(const char **)field = text;
        return SV_OK;
    case HTTP_PARAM_CHOICE:
        break;
    }
    int index = choice_index(param->choices, text);
    if (index < 0) {
        return choice_fail(param, err);
    }
    *(int *)field = index;
    return SV_OK;
}

static const struct http_param *param_find(const struct http_param *table, size_t n,
                                           const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(table[i].name, name) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

enum sv_status http_query_decode(const struct http_request *req, const struct http_param *table,
                                 size_t n, void *out, struct sv_error *err)
{
    const struct http_exchange *ex = http_exchange_of(req);
    for (size_t i = 0; i < ex->pair_count; i++) {
        const struct http_pair *pair = &ex->pairs[i];
        const struct http_param *param = param_find(table, n, pair->name);
        if (!param) {
            return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, pair->name,
                                     "the parameter is not known here");
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(ex->pairs[k].name, pair->name) == 0) {
                return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, pair->name,
                                         "the parameter comes more than once");
            }
        }
        enum sv_status status =
            decode_one(req, param, pair->value, (char *)out + param->offset, err);
        if (status != SV_OK) {
            return status;
        }
    }
    return SV_OK;
}
