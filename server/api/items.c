/* SPDX-License-Identifier: MIT
 *
 * /v1/datasets/{id}/items: what is in a data set, read from the stored prepared set by offset, so
 * that no whole file is ever loaded to show one page or one picture.
 */
#include <stdlib.h>
#include <string.h>

#include "server/api/datasets_internal.h"
#include "server/api/handlers_internal.h"
#include "server/api/prepared_internal.h"

enum { BLOCK = 16384 }; /* items looked at in one go */

/* That of the data set in the path. */
static enum sv_status open_here(struct api_ctx *ctx, const struct http_request *req,
                                struct api_prepared *p, struct sv_error *err)
{
    struct store_scope scope;
    api_scope(req, &scope);
    return api_prepared_open(ctx, &scope, http_path(req, "id"), p, err);
}

/* ---------------------------------------------------------------------------------------- list */

struct list_query {
    int64_t limit;
    const char *cursor, *class;
    int part;
};
#define QUERY(member) offsetof(struct list_query, member)
static const struct http_param LIST_PARAMS[] = {
    HTTP_PARAM_ROW_LIMIT(struct list_query, limit),
    HTTP_PARAM_ROW_CURSOR(struct list_query, cursor),
    {"part", HTTP_PARAM_CHOICE, QUERY(part), 0, 0, api_prepared_parts},
    {"class", HTTP_PARAM_TEXT, QUERY(class), 1, 1024, NULL},
};

/* The search as it goes through the blocks. */
struct search {
    int part, label; /* -1: any */
    json_t *classes; /* of the report, borrowed */
    size_t limit;
    uint64_t next; /* item to look at next */
    json_t *rows;
};

/* One block of the columns of a prepared set. */
struct block {
    uint32_t labels[BLOCK];
    uint8_t parts[BLOCK];
    uint64_t name_ends[BLOCK + 1]; /* [0]: where the first name begins */
    uint64_t first_steps[BLOCK + 1];
    char *names;
    uint64_t first;
    size_t n;
};

static bool matches(const struct search *search, const struct block *block, size_t i)
{
    return (search->part < 0 || block->parts[i] == search->part) &&
           (search->label < 0 || block->labels[i] == (uint32_t)search->label);
}

static enum sv_status read_names(const struct api_prepared *p, struct block *block,
                                 struct sv_error *err)
{
    const struct nn_prepared_layout *l = &p->layout;
    uint64_t before = block->first ? block->first - 1 : 0;
    size_t skip = block->first ? 0 : 1;
    block->name_ends[0] = 0;
    enum sv_status st =
        api_prepared_range(p, l->name_ends + before * sizeof(uint64_t), block->name_ends + skip,
                           (block->n + (skip ? 0 : 1)) * sizeof(uint64_t), err);
    uint64_t size = block->name_ends[block->n] - block->name_ends[0];
    if (st == SV_OK && (block->name_ends[block->n] > l->names_bytes || size > l->names_bytes)) {
        st = sv_fail(err, SV_ERR_INTERNAL, "a stored data set is damaged");
    }
    if (st == SV_OK && p->first_steps) {
        st = api_prepared_range(p, p->first_steps + block->first * sizeof(uint64_t),
                                block->first_steps, (block->n + 1) * sizeof(uint64_t), err);
    }
    if (st == SV_OK) {
        block->names = calloc(1, size + 1);
        st = block->names
                 ? api_prepared_range(p, l->names + block->name_ends[0], block->names, size, err)
                 : api_no_memory(err);
    }
    return st;
}

static enum sv_status read_block(const struct api_prepared *p, uint64_t first, struct block *block,
                                 struct sv_error *err)
{
    const struct nn_prepared_layout *l = &p->layout;
    block->first = first;
    block->n = l->count - first < BLOCK ? (size_t)(l->count - first) : BLOCK;
    enum sv_status st = api_prepared_range(p, l->labels + first * sizeof(uint32_t), block->labels,
                                           block->n * sizeof(uint32_t), err);
    return st == SV_OK ? api_prepared_range(p, l->parts + first, block->parts, block->n, err) : st;
}

static json_t *encode_item(const struct api_prepared *p, const struct search *search,
                           const struct block *block, size_t i)
{
    char image[128];
    uint64_t n = block->first + i;
    const json_t *class = json_array_get(search->classes, block->labels[i]);
    json_t *name = json_object_get(class, "name");
    const char *text = block->names + (block->name_ends[i] - block->name_ends[0]);
    bool steps = p->first_steps != 0;
    (void)snprintf(image, sizeof image, "/v1/datasets/%s/items/%llu/image", p->dataset.id,
                   (unsigned long long)n);
    return json_pack(
        "{s:I, s:o, s:s, s:O?, s:s?, s:o}", "n", (json_int_t)n, "name", jx_text(text, SIZE_MAX),
        "part", api_prepared_parts[block->parts[i] % 3], "class", name, "image",
        steps ? NULL : image, "steps",
        steps ? json_integer((json_int_t)(block->first_steps[i + 1] - block->first_steps[i]))
              : json_null());
}

/* Adds what matches in one block; leaves search->next behind what was looked at. */
static enum sv_status search_block(const struct api_prepared *p, struct search *search,
                                   struct block *block, struct sv_error *err)
{
    enum sv_status st = read_block(p, search->next, block, err);
    size_t i = 0;
    for (; st == SV_OK && i < block->n && json_array_size(search->rows) < search->limit; i++) {
        if (!matches(search, block, i)) {
            continue;
        }
        if (!block->names) {
            st = read_names(p, block, err);
        }
        if (st == SV_OK) {
            search->rows = api_append_take(search->rows, encode_item(p, search, block, i));
            st = search->rows ? SV_OK : api_no_memory(err);
        }
    }
    search->next += i;
    free(block->names);
    block->names = NULL;
    return st;
}

static enum sv_status find_class(struct search *search, const char *name, struct sv_error *err)
{
    size_t i;
    json_t *class;
    search->label = -1;
    json_array_foreach(search->classes, i, class)
    {
        const char *text = json_string_value(json_object_get(class, "name"));
        if (name && text && strcmp(text, name) == 0) {
            search->label = (int)i;
        }
    }
    return !name || search->label >= 0 ? SV_OK
                                       : sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, "class",
                                                           "there is no such class");
}

static enum sv_status run_search(const struct api_prepared *p, struct search *search,
                                 struct sv_error *err)
{
    struct block *block = calloc(1, sizeof *block);
    enum sv_status st = block ? SV_OK : api_no_memory(err);
    while (st == SV_OK && search->next < p->layout.count &&
           json_array_size(search->rows) < search->limit) {
        st = search_block(p, search, block, err);
    }
    free(block);
    return st;
}

static enum sv_status list_items(const struct api_prepared *p, const struct http_request *req,
                                 const struct list_query *query, json_t **out_json,
                                 struct sv_error *err)
{
    struct http_cursor cursor;
    json_auto_t *report = api_document(p->dataset.report);
    struct search search = {.part = query->part,
                            .limit = (size_t)query->limit,
                            .classes = json_object_get(report, "classes"),
                            .rows = json_array()};
    uint64_t signature =
        http_hash(HTTP_HASH_SEED + (uint64_t)(query->part + 1), query->class ? query->class : "");
    signature = http_hash(signature, req->path);
    enum sv_status st = find_class(&search, query->class, err);
    if (st == SV_OK) {
        st = http_cursor_decode(query->cursor, signature, "i", &cursor, err);
    }
    if (st == SV_OK && cursor.count) {
        search.next = (uint64_t)cursor.values[0].integer;
    }
    if (st == SV_OK) {
        st = run_search(p, &search, err);
    }
    if (st != SV_OK) {
        json_decref(search.rows);
        return st;
    }
    cursor.count = 1;
    cursor.values[0].kind = HTTP_CURSOR_INT;
    cursor.values[0].integer = (int64_t)search.next;
    bool more = search.next < p->layout.count;
    *out_json =
        api_list_take(search.rows, more ? http_cursor_encode(req, signature, &cursor) : NULL);
    return SV_OK;
}

/* GET /v1/datasets/{id}/items?part=&class=. 404; 409 not ready; 400 for an unknown class. */
enum sv_status api_items_list(void *state, const struct http_request *req,
                              struct http_response *out_resp, struct sv_error *err)
{
    struct list_query query = {.limit = HTTP_LIMIT_DEFAULT, .part = -1};
    struct api_prepared p = {0};
    struct api_poll poll;
    json_t *json = NULL;
    bool done = false;
    const char *id = http_path(req, "id");
    enum sv_status st = http_query_decode(req, LIST_PARAMS, API_COUNT(LIST_PARAMS), &query, err);
    if (st == SV_OK) {
        st = api_poll_begin(state, req, out_resp, id, 0, &poll, &done, err);
    }
    if (st != SV_OK || done) {
        return st;
    }
    st = open_here(state, req, &p, err);
    if (st == SV_OK) {
        st = list_items(&p, req, &query, &json, err);
    }
    if (st == SV_OK) {
        st = api_poll_end_take(state, req, out_resp, &poll, id, p.dataset.revision, json, err);
    }
    store_memory_clear(&p.memory);
    return st;
}

/* --------------------------------------------------------------------------------------- image */

static bool item_number(const char *text, uint64_t count, uint64_t *out_n)
{
    size_t n = strlen(text);
    if (n == 0 || n > 18 || strspn(text, "0123456789") != n) {
        return false;
    }
    *out_n = strtoull(text, NULL, 10);
    return *out_n < count;
}

static enum sv_status encode_image(const struct api_prepared *p, const char *number,
                                   char **out_bytes, size_t *out_size, struct sv_error *err)
{
    uint64_t n;
    return p->first_steps || !item_number(number, p->layout.count, &n)
               ? sv_fail(err, SV_ERR_NOT_FOUND, "the data set has no such picture")
               : api_prepared_png(p, n, out_bytes, out_size, err);
}

/* GET /v1/datasets/{id}/items/{n}/image: the picture as training sees it, as PNG. 404; 409. */
enum sv_status api_items_image(void *state, const struct http_request *req,
                               struct http_response *out_resp, struct sv_error *err)
{
    struct api_prepared p = {0};
    struct api_poll poll;
    char *bytes = NULL;
    size_t size = 0;
    bool done = false;
    const char *id = http_path(req, "id");
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st == SV_OK) {
        st = api_poll_begin(state, req, out_resp, id, 0, &poll, &done, err);
    }
    if (st != SV_OK || done) {
        return st;
    }
    st = open_here(state, req, &p, err);
    if (st == SV_OK) {
        st = encode_image(&p, http_path(req, "n"), &bytes, &size, err);
    }
    if (st == SV_OK) {
        st = api_poll_end_bytes_take(state, req, out_resp, &poll, id, p.dataset.revision,
                                     "image/png", bytes, size, err);
    }
    store_memory_clear(&p.memory);
    return st;
}
