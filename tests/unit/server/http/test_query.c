/* SPDX-License-Identifier: MIT
 *
 * Query parameters by table, cursors, and the small grammar below them, asked through a server.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/http/exchange_internal.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/http_client.h"

struct question {
    int64_t limit;
    int64_t count;
    double number;
    bool flag;
    const char *text;
    const char *id;
    int state;
    struct http_list fields;
    struct http_list states;
};

static const char *const STATES[] = {"queued", "running", "completed", NULL};

static const struct http_param PARAMS[] = {
    HTTP_PARAM_ROW_LIMIT(struct question, limit),
    {"count", HTTP_PARAM_INT, offsetof(struct question, count), -5, INT64_MAX, NULL},
    {"number", HTTP_PARAM_NUMBER, offsetof(struct question, number), 0, 0, NULL},
    {"flag", HTTP_PARAM_BOOL, offsetof(struct question, flag), 0, 0, NULL},
    {"text", HTTP_PARAM_TEXT, offsetof(struct question, text), 1, 8, NULL},
    {"id", HTTP_PARAM_ID, offsetof(struct question, id), 0, 0, NULL},
    {"state", HTTP_PARAM_CHOICE, offsetof(struct question, state), 0, 0, STATES},
    {"fields", HTTP_PARAM_LIST, offsetof(struct question, fields), 0, 3, NULL},
    {"states", HTTP_PARAM_LIST, offsetof(struct question, states), 0, 0, STATES},
};

static enum sv_status get_query(void *state, const struct http_request *req,
                                struct http_response *resp, struct sv_error *err)
{
    struct question q = {.limit = HTTP_LIMIT_DEFAULT, .text = "", .id = "", .state = -1};
    (void)state;
    enum sv_status status =
        http_query_decode(req, PARAMS, sizeof PARAMS / sizeof PARAMS[0], &q, err);
    if (status != SV_OK) {
        return status;
    }
    char said[512];
    (void)snprintf(said, sizeof said, "%lld %lld %g %d %s %s %d %s %zu %zu", (long long)q.limit,
                   (long long)q.count, q.number, q.flag, q.text, q.id, q.state,
                   q.fields.count ? q.fields.items[q.fields.count - 1] : "", q.fields.count,
                   q.states.count);
    return http_response_json_take(resp, 200, json_pack("{s:s}", "said", said));
}

static enum sv_status get_plain(void *state, const struct http_request *req,
                                struct http_response *resp, struct sv_error *err)
{
    (void)state;
    enum sv_status status = http_query_decode(req, NULL, 0, NULL, err);
    return status ? status : http_response_json_take(resp, 200, json_object());
}

static const struct http_cursor CURSORS[] = {
    {.count = 1, .values = {{.kind = HTTP_CURSOR_INT, .integer = INT64_MIN}}},
    {.count = 3,
     .values = {{.kind = HTTP_CURSOR_NUMBER, .number = -0.1},
                {.kind = HTTP_CURSOR_STRING,
                 .text = "so\xc3\x9f"
                         "e"},
                {.kind = HTTP_CURSOR_NULL}}},
    {.count = 4,
     .values = {{.kind = HTTP_CURSOR_NUMBER, .number = INFINITY},
                {.kind = HTTP_CURSOR_STRING, .text = ""},
                {.kind = HTTP_CURSOR_INT, .integer = INT64_MAX},
                {.kind = HTTP_CURSOR_NULL}}},
};
static const char *const KINDS[] = {"i", "nsI", "nsiS"};

static bool cursors_equal(const struct http_cursor *a, const struct http_cursor *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++) {
        const struct http_cursor_value *x = &a->values[i];
        const struct http_cursor_value *y = &b->values[i];
        equal = x->kind == y->kind && x->integer == y->integer &&
                memcmp(&x->number, &y->number, sizeof x->number) == 0 &&
                strcmp(x->text, y->text) == 0;
    }
    return equal;
}

/* Round trips; then every cut and every changed character is refused. Says what failed. */
static const char *check_cursors(const struct http_request *req)
{
    for (size_t i = 0; i < sizeof CURSORS / sizeof CURSORS[0]; i++) {
        static struct http_cursor back;
        struct sv_error err = {0};
        const char *text = http_cursor_encode(req, 77, &CURSORS[i]);
        char *bad = http_request_printf(req, "%s", text);
        if (http_cursor_decode(text, 77, KINDS[i], &back, &err) != SV_OK ||
            !cursors_equal(&back, &CURSORS[i])) {
            return "does not come back";
        }
        if (http_cursor_decode(text, 78, KINDS[i], &back, &err) == SV_OK) {
            return "fits another query";
        }
        const char *wrong[] = {"s", "nni", "nsi", "nsiSi", "", "nsiSS"};
        for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
            if (strlen(wrong[k]) <= HTTP_CURSOR_VALUES && strcmp(wrong[k], KINDS[i]) != 0 &&
                http_cursor_decode(text, 77, wrong[k], &back, &err) == SV_OK) {
                return "fits other kinds";
            }
        }
        for (size_t at = 0; text[at]; at++) {
            bad[at] = text[at] == 'A' ? 'B' : 'A';
            if (http_cursor_decode(bad, 77, KINDS[i], &back, &err) == SV_OK) {
                return "changed";
            }
            bad[at] = '\0';
            if (http_cursor_decode(bad, 77, KINDS[i], &back, &err) == SV_OK) {
                return "cut";
            }
            bad[at] = text[at];
        }
        if (strcmp(err.parameter, "cursor") != 0) {
            return "parameter";
        }
    }
    return "ok";
}

static enum sv_status get_cursors(void *state, const struct http_request *req,
                                  struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)err;
    return http_response_json_take(resp, 200, json_pack("{s:s}", "said", check_cursors(req)));
}

static const struct http_route ROUTES[] = {
    {.method = "GET", .pattern = "/query", .handler = get_query},
    {.method = "GET", .pattern = "/plain", .handler = get_plain},
    {.method = "GET", .pattern = "/cursors", .handler = get_cursors},
};

static int setup(void **state)
{
    static struct test_http t;
    test_http_start(&t, ROUTES, sizeof ROUTES / sizeof ROUTES[0], NULL, NULL);
    *state = &t;
    return 0;
}

static int teardown(void **state)
{
    test_http_stop(*state, 0);
    return 0;
}

#define ID "0123456789abcdef0123456789abcdef"

static const struct {
    const char *query;
    const char *said; /* NULL: refused */
    const char *parameter;
} ROWS[] = {
    {"", "100 0 0 0   -1  0 0", NULL},
    {"?", "100 0 0 0   -1  0 0", NULL},
    {"?&&", "100 0 0 0   -1  0 0", NULL},
    {"?limit=500&count=-5&number=-1.5e3&flag=true&text=a+b%2Bc&id=" ID "&state=running&fields=a,b"
     "&states=queued,completed",
     "500 -5 -1500 1 a b+c " ID " 1 b 2 2", NULL},
    {"?flag=false&count=9223372036854775807", "100 9223372036854775807 0 0   -1  0 0", NULL},
    {"?text=%C3%9F", "100 0 0 0 \xc3\x9f  -1  0 0", NULL},
    {"?limit=0", NULL, "limit"},
    {"?limit=501", NULL, "limit"},
    {"?limit=", NULL, "limit"},
    {"?limit", NULL, "limit"},
    {"?limit=1.0", NULL, "limit"},
    {"?limit=%2B1", NULL, "limit"},
    {"?limit=+1", NULL, "limit"},
    {"?limit=1%20", NULL, "limit"},
    {"?limit=0x10", NULL, "limit"},
    {"?limit=99999999999999999999", NULL, "limit"},
    {"?limit=1&limit=1", NULL, "limit"},
    {"?count=-6", NULL, "count"},
    {"?count=-", NULL, "count"},
    {"?number=nan", NULL, "number"},
    {"?number=inf", NULL, "number"},
    {"?number=1e999", NULL, "number"},
    {"?number=0x1p3", NULL, "number"},
    {"?number=1,5", NULL, "number"},
    {"?number=", NULL, "number"},
    {"?flag=1", NULL, "flag"},
    {"?flag=TRUE", NULL, "flag"},
    {"?flag", NULL, "flag"},
    {"?text=", NULL, "text"},
    {"?text=123456789", NULL, "text"},
    {"?text=a%0Ab", NULL, "text"},
    {"?id=0123", NULL, "id"},
    {"?id=0123456789ABCDEF0123456789ABCDEF", NULL, "id"},
    {"?id=" ID "0", NULL, "id"},
    {"?state=lost", NULL, "state"},
    {"?state=", NULL, "state"},
    {"?fields=", NULL, "fields"},
    {"?fields=a,,b", NULL, "fields"},
    {"?fields=a,b,c,d", NULL, "fields"},
    {"?states=queued,lost", NULL, "states"},
    {"?Limit=1", NULL, "Limit"},
    {"?nothing=1", NULL, "nothing"},
    {"?%6cimit=7", "7 0 0 0   -1  0 0", NULL},
    {"?li%6dit=7&limit=8", NULL, "limit"},
    {"?=1", NULL, ""},
};

static void test_rows(void **state)
{
    const struct test_http *t = *state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        char path[512];
        char have[512];
        (void)snprintf(path, sizeof path, "/query%s", ROWS[i].query);
        struct test_reply reply = test_ask(t, "GET", path, NULL, NULL);
        if (ROWS[i].said) {
            test_reply_member(&reply, "said", have, sizeof have);
            if (strcmp(have, ROWS[i].said) != 0) {
                fail_msg("%s: '%s' instead of '%s'", path, have, ROWS[i].said);
            }
        } else {
            test_reply_member(&reply, "parameter", have, sizeof have);
            if (reply.status != 400 || strcmp(have, ROWS[i].parameter) != 0) {
                fail_msg("%s: %d '%s'", path, reply.status, have);
            }
            test_reply_member(&reply, "code", have, sizeof have);
            assert_string_equal(have, "invalid_parameter");
        }
        test_reply_free(&reply);
    }
}

static void test_no_parameters(void **state)
{
    const struct test_http *t = *state;
    struct test_reply reply = test_ask(t, "GET", "/plain?x=1", NULL, NULL);
    assert_int_equal(reply.status, 400);
    test_reply_free(&reply);
    char path[2048] = "/query?";
    for (size_t i = 0; i < 70; i++) {
        (void)strcat(path, "a=1&");
    }
    reply = test_ask(t, "GET", path, NULL, NULL);
    assert_int_equal(reply.status, 400);
    test_reply_free(&reply);
}

static void test_cursors(void **state)
{
    char said[64];
    struct test_reply reply = test_ask(*state, "GET", "/cursors", NULL, NULL);
    test_reply_member(&reply, "said", said, sizeof said);
    assert_string_equal(said, "ok");
    test_reply_free(&reply);
    const char *bad[] = {"", "A", "====", "AA", "AAAAAAAAAAAAAAAA", "\xff", "a b"};
    static struct http_cursor out;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(http_cursor_decode(bad[i], 1, "i", &out, NULL), SV_ERR_INVALID_PARAMETER);
    }
    char *large = malloc(100000);
    memset(large, 'A', 99999);
    large[99999] = '\0';
    assert_int_equal(http_cursor_decode(large, 1, "i", &out, NULL), SV_ERR_INVALID_PARAMETER);
    free(large);
    out.count = 3;
    assert_int_equal(http_cursor_decode(NULL, 1, "i", &out, NULL), SV_OK);
    assert_int_equal(out.count, 0);
}

static void test_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool sound;
    } rows[] = {
        {"", true},
        {"a\x7f", true},
        {"\xc2\x80\xdf\xbf", true},
        {"\xe0\xa0\x80\xef\xbf\xbf", true},
        {"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", true},
        {"\x80", false},
        {"\xc0\xaf", false},         /* overlong */
        {"\xc1\xbf", false},         /* overlong */
        {"\xe0\x9f\xbf", false},     /* overlong */
        {"\xf0\x8f\xbf\xbf", false}, /* overlong */
        {"\xed\xa0\x80", false},     /* surrogate */
        {"\xf4\x90\x80\x80", false}, /* beyond */
        {"\xf5\x80\x80\x80", false},
        {"\xe2\x82", false}, /* cut */
        {"\xf0\x9f\x98", false},
        {"\xc3(", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (http_text_is_utf8(rows[i].text) != rows[i].sound) {
            fail_msg("row %zu", i);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_no_parameters),
        cmocka_unit_test(test_cursors),
        cmocka_unit_test(test_utf8),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
