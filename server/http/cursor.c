/* SPDX-License-Identifier: MIT
 *
 * Cursors. The text is base64url of: version, four bytes of the signature, count, then each value
 * as a kind byte and its bytes (8 little-endian, or length and text), then a check of four bytes.
 * The check catches typing and cutting; it is no secret and need not be: values are only ever
 * bound as parameters of the same query, within the same project.
 */
#include <string.h>

#include "server/http/exchange_internal.h"
#include "server/http/query.h"

#define CURSOR_VERSION 1
#define BYTES_MAX      (16 + HTTP_CURSOR_VALUES * (3 + HTTP_CURSOR_TEXT))

static const char URL_DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

uint64_t http_hash(uint64_t seed, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        seed = (seed ^ *p) * UINT64_C(1099511628211);
    }
    return seed;
}

struct bytes {
    unsigned char at[BYTES_MAX];
    size_t size; /* written, or there to be read */
    size_t read;
};

static void put(struct bytes *b, uint64_t value, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        b->at[b->size++] = (unsigned char)(value >> (8 * i));
    }
}

static bool get(struct bytes *b, size_t n, uint64_t *out)
{
    if (b->size - b->read < n) {
        return false;
    }
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        *out |= (uint64_t)b->at[b->read++] << (8 * i);
    }
    return true;
}

static uint32_t check_of(const struct bytes *b, size_t n)
{
    uint64_t h = HTTP_HASH_SEED;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ b->at[i]) * UINT64_C(1099511628211);
    }
    return (uint32_t)(h ^ h >> 32);
}

static bool put_value(struct bytes *b, const struct http_cursor_value *value)
{
    uint64_t bits = 0;
    size_t size = 0;
    put(b, (uint64_t)value->kind, 1);
    switch (value->kind) {
    case HTTP_CURSOR_INT:
        put(b, (uint64_t)value->integer, 8);
        return true;
    case HTTP_CURSOR_NUMBER:
        memcpy(&bits, &value->number, sizeof bits);
        put(b, bits, 8);
        return true;
    case HTTP_CURSOR_STRING:
        size = strlen(value->text);
        put(b, size, 2);
        memcpy(b->at + b->size, value->text, size);
        b->size += size;
        return true;
    case HTTP_CURSOR_NULL:
        return true;
    }
    return false;
}

static bool get_value(struct bytes *b, struct http_cursor_value *out)
{
    uint64_t kind = 0;
    uint64_t bits = 0;
    if (!get(b, 1, &kind) || kind > HTTP_CURSOR_NULL) {
        return false;
    }
    *out = (struct http_cursor_value){.kind = (int)kind};
    switch (out->kind) {
    case HTTP_CURSOR_INT:
        if (!get(b, 8, &bits)) {
            return false;
        }
        out->integer = (int64_t)bits;
        return true;
    case HTTP_CURSOR_NUMBER:
        if (!get(b, 8, &bits)) {
            return false;
        }
        memcpy(&out->number, &bits, sizeof bits);
        return true;
    case HTTP_CURSOR_STRING:
        if (!get(b, 2, &bits) || bits >= HTTP_CURSOR_TEXT || b->size - b->read < bits) {
            return false;
        }
        memcpy(out->text, b->at + b->read, bits);
        b->read += bits;
        return strlen(out->text) == bits && http_text_is_utf8(out->text);
    case HTTP_CURSOR_NULL:
        return true;
    }
    return false;
}

const char *http_cursor_encode(const struct http_request *req, uint64_t signature,
                               const struct http_cursor *cursor)
{
    struct bytes b = {.size = 0};
    put(&b, CURSOR_VERSION, 1);
    put(&b, signature & UINT32_MAX, 4);
    put(&b, cursor->count, 1);
    for (size_t i = 0; i < cursor->count; i++) {
        if (!put_value(&b, &cursor->values[i])) {
            return NULL;
        }
    }
    put(&b, check_of(&b, b.size), 4);
    char *text = http_request_alloc(req, b.size / 3 * 4 + 5);
    char *to = text;
    for (size_t i = 0; text && i < b.size; i += 3) {
        size_t n = b.size - i < 3 ? b.size - i : 3;
        uint32_t bits = (uint32_t)b.at[i] << 16 | (n > 1 ? (uint32_t)b.at[i + 1] << 8 : 0) |
                        (n > 2 ? b.at[i + 2] : 0);
        for (size_t k = 0; k <= n; k++) {
            *to++ = URL_DIGITS[bits >> (18 - 6 * k) & 63];
        }
    }
    return text;
}

static bool base64_read(const char *text, struct bytes *out)
{
    uint32_t bits = 0;
    unsigned have = 0;
    for (const char *p = text; *p; p++) {
        const char *digit = strchr(URL_DIGITS, *p);
        if (!digit || out->size == BYTES_MAX) {
            return false;
        }
        bits = bits << 6 | (uint32_t)(digit - URL_DIGITS);
        have += 6;
        if (have >= 8) {
            have -= 8;
            out->at[out->size++] = (unsigned char)(bits >> have & 0xff);
        }
    }
    return have < 6 && (bits & ((1u << have) - 1)) == 0;
}

static bool kind_matches(char letter, enum http_cursor_kind kind)
{
    static const char LETTERS[] = {
        [HTTP_CURSOR_INT] = 'i', [HTTP_CURSOR_NUMBER] = 'n', [HTTP_CURSOR_STRING] = 's'};
    if (kind == HTTP_CURSOR_NULL) {
        return letter >= 'A' && letter <= 'Z';
    }
    return (letter | 0x20) == LETTERS[kind];
}

static bool cursor_read(struct bytes *b, uint64_t signature, const char *kinds,
                        struct http_cursor *out)
{
    uint64_t version = 0;
    uint64_t bound = 0;
    uint64_t have = 0;
    uint64_t check = 0;
    bool sound = get(b, 1, &version) && version == CURSOR_VERSION && get(b, 4, &bound) &&
                 bound == (signature & UINT32_MAX) && get(b, 1, &have) && have == out->count;
    for (size_t i = 0; sound && i < out->count; i++) {
        sound = get_value(b, &out->values[i]) && kind_matches(kinds[i], out->values[i].kind);
    }
    uint32_t expected = check_of(b, b->read);
    return sound && get(b, 4, &check) && b->read == b->size && check == expected;
}

enum sv_status http_cursor_decode(const char *text, uint64_t signature, const char *kinds,
                                  struct http_cursor *out, struct sv_error *err)
{
    struct bytes b = {.size = 0};
    struct http_cursor cursor = {.count = strlen(kinds)};
    if (!text) {
        out->count = 0;
        return SV_OK;
    }
    NN_ASSERT(cursor.count <= HTTP_CURSOR_VALUES);
    if (!base64_read(text, &b) || !cursor_read(&b, signature, kinds, &cursor)) {
        return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, "cursor",
                                 "the cursor is damaged, or was made for another query");
    }
    *out = cursor;
    return SV_OK;
}
