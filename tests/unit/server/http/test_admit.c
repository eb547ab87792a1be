/* SPDX-License-Identifier: MIT
 *
 * Raw requests against the checks before routing: the tolerance matrix of libmicrohttpd, with what
 * the service answers instead, and the router.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/cmocka_all.h"
#include "tests/support/http_client.h"

static enum sv_status answer_path(void *state, const struct http_request *req,
                                  struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)err;
    return http_response_json_take(
        resp, 200, json_pack("{s:s, s:s}", "method", req->method, "path", req->path));
}

static enum sv_status answer_name(void *state, const struct http_request *req,
                                  struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)err;
    return http_response_json_take(resp, 200, json_pack("{s:s}", "name", http_path(req, "name")));
}

static enum sv_status answer_body(void *state, const struct http_request *req,
                                  struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)err;
    return http_response_json_take(resp, 200, json_incref(req->json));
}

#define ID "0123456789abcdef0123456789abcdef"

static const struct http_route ROUTES[] = {
    {.method = "GET", .pattern = "/a", .handler = answer_path},
    {.method = "GET", .pattern = "/csv", .handler = answer_path, .produces = "text/csv"},
    {.method = "POST", .pattern = "/a", .handler = answer_body, .body = HTTP_BODY_JSON},
    {.method = "POST", .pattern = "/none", .handler = answer_path},
    {.method = "PUT", .pattern = "/file", .handler = answer_path, .body = HTTP_BODY_SPOOL},
    {.method = "GET", .pattern = "/v1/jobs/{id}", .handler = answer_path},
    {.method = "DELETE", .pattern = "/v1/jobs/{id}", .handler = answer_path},
    {.method = "GET", .pattern = "/v1/named/{name}/x", .handler = answer_name},
    {.method = "GET", .pattern = "/", .handler = answer_path},
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

struct raw_row {
    const char *name;
    const char *request;
    size_t size; /* 0: strlen */
    int status;
    const char *code; /* of the problem document; NULL: not ours */
    bool closes;
};

#define H         "Host: localhost\r\n"
#define JSON_TYPE "Content-Type: application/json\r\n"
#define RAW(text) text, sizeof text - 1

/* `then` follows a body that a second parser would have seen elsewhere; it must never be run. */
static const struct raw_row ROWS[] = {
    {"plain", "GET /a HTTP/1.1\r\n" H "\r\n", 0, 200, "", false},
    {"body", "POST /a HTTP/1.1\r\n" H JSON_TYPE "Content-Length: 2\r\n\r\n{}", 0, 200, "", false},
    {"chunked",
     "POST /a HTTP/1.1\r\n" H JSON_TYPE
     "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
     0, 200, "", false},
    {"length and chunked",
     "POST /a HTTP/1.1\r\n" H JSON_TYPE
     "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     0, 400, "bad_request", true},
    {"two lengths",
     "POST /a HTTP/1.1\r\n" H JSON_TYPE "Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}", 0, 400,
     "bad_request", true},
    {"two equal lengths",
     "POST /a HTTP/1.1\r\n" H JSON_TYPE "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 0, 400,
     "bad_request", true},
    {"blank before colon, length",
     "POST /a HTTP/1.1\r\n" H JSON_TYPE "Content-Length : 3\r\n\r\n{ }", 0, 400, "bad_request",
     true},
    {"blank before colon, coding",
     "POST /a HTTP/1.1\r\n" H JSON_TYPE "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 0, 400,
     "bad_request", true},
    {"blank in a name", "GET /a HTTP/1.1\r\n" H "X Y: 1\r\n\r\n", 0, 400, "bad_request", true},
    {"odd name", "GET /a HTTP/1.1\r\n" H "X(1): 1\r\n\r\n", 0, 400, "bad_request", true},
    {"empty name", "GET /a HTTP/1.1\r\n" H ": 1\r\n\r\n", 0, 400, "bad_request", true},
    {"8-bit name", "GET /a HTTP/1.1\r\n" H "X\xc3\xa4: 1\r\n\r\n", 0, 400, "bad_request", true},
    {"negative length", "POST /a HTTP/1.1\r\n" H "Content-Length: -1\r\n\r\n", 0, 400, NULL, true},
    {"signed length", "POST /a HTTP/1.1\r\n" H "Content-Length: +3\r\n\r\n{ }", 0, 400, NULL, true},
    {"length 3x", "POST /a HTTP/1.1\r\n" H "Content-Length: 3x\r\n\r\n{ }", 0, 400, NULL, true},
    {"length 0x3", "POST /a HTTP/1.1\r\n" H "Content-Length: 0x3\r\n\r\n{ }", 0, 400, NULL, true},
    {"length list", "POST /a HTTP/1.1\r\n" H "Content-Length: 3, 3\r\n\r\n{ }", 0, 400, NULL, true},
    {"empty length", "POST /a HTTP/1.1\r\n" H "Content-Length:\r\n\r\n", 0, 400, NULL, true},
    {"length 1e23", "POST /a HTTP/1.1\r\n" H "Content-Length: 100000000000000000000000\r\n\r\n", 0,
     413, NULL, true},
    {"coding gzip", "POST /a HTTP/1.1\r\n" H JSON_TYPE "Transfer-Encoding: gzip\r\n\r\n{}", 0, 501,
     "not_implemented", true},
    {"coding gzip, chunked",
     "POST /a HTTP/1.1\r\n" H JSON_TYPE "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 0, 501,
     "not_implemented", true},
    {"coding xchunked",
     "POST /a HTTP/1.1\r\n" H JSON_TYPE "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 0, 501,
     "not_implemented", true},
    {"coding identity", "POST /a HTTP/1.1\r\n" H JSON_TYPE "Transfer-Encoding: identity\r\n\r\n{}",
     0, 501, "not_implemented", true},
    {"two codings",
     "POST /a HTTP/1.1\r\n" H JSON_TYPE
     "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     0, 400, "bad_request", true},
    {"coding on 1.0",
     "POST /a HTTP/1.0\r\n" H JSON_TYPE "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0, 400,
     "bad_request", true},
    {"chunk size negative",
     "POST /a HTTP/1.1\r\n" H JSON_TYPE "Transfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n",
     0, 400, NULL, true},
    {"chunk size 0x2",
     "POST /a HTTP/1.1\r\n" H JSON_TYPE "Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n",
     0, 400, NULL, true},
    {"chunk too short",
     "POST /a HTTP/1.1\r\n" H JSON_TYPE "Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n", 0,
     400, NULL, true},
    {"chunk size overflow",
     "POST /a HTTP/1.1\r\n" H JSON_TYPE
     "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n0\r\n\r\n",
     0, 413, NULL, true},
    {"NUL in a value", RAW("GET /a HTTP/1.1\r\n" H "X-A: a\0b\r\n\r\n"), 400, "bad_request", true},
    {"control in a value",
     "GET /a HTTP/1.1\r\n" H "X-A: a\x01"
     "b\r\n\r\n",
     0, 400, "bad_request", true},
    {"no host", "GET /a HTTP/1.1\r\n\r\n", 0, 400, "bad_request", true},
    {"no host on 1.0", "GET /a HTTP/1.0\r\n\r\n", 0, 400, "bad_request", true},
    {"empty host", "GET /a HTTP/1.1\r\nHost:\r\n\r\n", 0, 400, "bad_request", true},
    {"two hosts", "GET /a HTTP/1.1\r\n" H "Host: evil\r\n\r\n", 0, 400, "bad_request", true},
    {"two equal hosts", "GET /a HTTP/1.1\r\n" H H "\r\n", 0, 400, "bad_request", true},
    {"foreign host", "GET /a HTTP/1.1\r\nHost: evil.example\r\n\r\n", 0, 403, "forbidden_origin",
     true},
    {"host with suffix", "GET /a HTTP/1.1\r\nHost: localhost.evil\r\n\r\n", 0, 403,
     "forbidden_origin", true},
    {"host with port", "GET /a HTTP/1.1\r\nHost: LocalHost:8470\r\n\r\n", 0, 200, "", false},
    {"host v6", "GET /a HTTP/1.1\r\nHost: [::1]:8470\r\n\r\n", 0, 200, "", false},
    {"host v6 broken", "GET /a HTTP/1.1\r\nHost: [::1]x\r\n\r\n", 0, 403, "forbidden_origin", true},
    {"host other literal", "GET /a HTTP/1.1\r\nHost: 10.1.2.3\r\n\r\n", 0, 403, "forbidden_origin",
     true},
    {"own origin", "GET /a HTTP/1.1\r\n" H "Origin: http://localhost\r\n\r\n", 0, 200, "", false},
    {"foreign origin", "GET /a HTTP/1.1\r\n" H "Origin: http://evil.example\r\n\r\n", 0, 403,
     "forbidden_origin", true},
    {"null origin", "GET /a HTTP/1.1\r\n" H "Origin: null\r\n\r\n", 0, 403, "forbidden_origin",
     true},
    {"origin of another port",
     "GET /a HTTP/1.1\r\nHost: localhost:1\r\nOrigin: "
     "http://localhost:2\r\n\r\n",
     0, 403, "forbidden_origin", true},
    {"two authorizations",
     "GET /a HTTP/1.1\r\n" H "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n", 0, 400,
     "bad_request", true},
    {"NUL escape", "GET /a%00b HTTP/1.1\r\n" H "\r\n", 0, 400, "bad_request", true},
    {"NUL escape in the query", "GET /a?x=%00 HTTP/1.1\r\n" H "\r\n", 0, 400, "bad_request", true},
    {"bad escape", "GET /a%zz HTTP/1.1\r\n" H "\r\n", 0, 400, "bad_request", true},
    {"cut escape", "GET /a%2 HTTP/1.1\r\n" H "\r\n", 0, 400, "bad_request", true},
    {"not UTF-8", "GET /%ff HTTP/1.1\r\n" H "\r\n", 0, 400, "bad_request", true},
    {"raw 8-bit", "GET /\xff HTTP/1.1\r\n" H "\r\n", 0, 400, "bad_request", true},
    {"fragment", "GET /a#b HTTP/1.1\r\n" H "\r\n", 0, 400, "bad_request", true},
    {"escaped dots", "GET /v1/named/%2e%2e/x HTTP/1.1\r\n" H "\r\n", 0, 404, "not_found", false},
    {"dots", "GET /v1/named/../x HTTP/1.1\r\n" H "\r\n", 0, 404, "not_found", false},
    {"escaped slash", "GET /v1/named/a%2fb/x HTTP/1.1\r\n" H "\r\n", 0, 404, "not_found", false},
    {"escapes to the root", "GET /a/%2e%2e/%2fetc HTTP/1.1\r\n" H "\r\n", 0, 404, "not_found",
     false},
    {"authority form", "CONNECT localhost:80 HTTP/1.1\r\n" H "\r\n", 0, 400, "bad_request", true},
    {"star", "OPTIONS * HTTP/1.1\r\n" H "\r\n", 0, 204, "", false},
    {"star for GET", "GET * HTTP/1.1\r\n" H "\r\n", 0, 400, "bad_request", true},
    {"unknown method", "FOO<> /a HTTP/1.1\r\n" H "\r\n", 0, 501, "not_implemented", true},
    {"lower-case method", "get /a HTTP/1.1\r\n" H "\r\n", 0, 501, "not_implemented", true},
    {"TRACE", "TRACE /a HTTP/1.1\r\n" H "\r\n", 0, 501, "not_implemented", true},
    {"HTTP/1.9", "GET /a HTTP/1.9\r\n" H "\r\n", 0, 200, "", false},
    {"HTTP/2.0", "GET /a HTTP/2.0\r\n" H "\r\n", 0, 505, NULL, true},
    {"HTTP/0.9", "GET /a HTTP/0.9\r\n" H "\r\n", 0, 505, NULL, true},
    {"unknown path", "GET /b HTTP/1.1\r\n" H "\r\n", 0, 404, "not_found", false},
    {"trailing slash", "GET /a/ HTTP/1.1\r\n" H "\r\n", 0, 404, "not_found", false},
    {"double slash", "GET //a HTTP/1.1\r\n" H "\r\n", 0, 404, "not_found", false},
    {"deep path", "GET /a/a/a/a/a/a/a/a/a/a/a/a/a/a HTTP/1.1\r\n" H "\r\n", 0, 404, "not_found",
     false},
    {"wrong method", "DELETE /a HTTP/1.1\r\n" H "\r\n", 0, 405, "method_not_allowed", false},
    {"id too short", "GET /v1/jobs/123 HTTP/1.1\r\n" H "\r\n", 0, 404, "not_found", false},
    {"id in capitals", "GET /v1/jobs/0123456789ABCDEF0123456789ABCDEF HTTP/1.1\r\n" H "\r\n", 0,
     404, "not_found", false},
    {"id", "GET /v1/jobs/" ID " HTTP/1.1\r\n" H "\r\n", 0, 200, "", false},
    {"root", "GET / HTTP/1.1\r\n" H "\r\n", 0, 200, "", false},
    {"type missing", "POST /a HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\n{}", 0, 415,
     "unsupported_media_type", false},
    {"type wrong",
     "POST /a HTTP/1.1\r\n" H "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}", 0, 415,
     "unsupported_media_type", false},
    {"type form",
     "POST /a HTTP/1.1\r\n" H
     "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 2\r\n\r\n{}",
     0, 415, "unsupported_media_type", false},
    {"charset",
     "POST /a HTTP/1.1\r\n" H
     "Content-Type: application/json; charset=UTF-8\r\nContent-Length: 2\r\n\r\n{}",
     0, 200, "", false},
    {"charset wrong",
     "POST /a HTTP/1.1\r\n" H
     "Content-Type: application/json; charset=latin1\r\nContent-Length: 2\r\n\r\n{}",
     0, 415, "unsupported_media_type", false},
    {"content coding",
     "POST /a HTTP/1.1\r\n" H JSON_TYPE "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", 0,
     415, "unsupported_media_type", false},
    {"body where none is", "POST /none HTTP/1.1\r\n" H JSON_TYPE "Content-Length: 2\r\n\r\n{}", 0,
     400, "bad_request", true},
    {"body of a GET", "GET /a HTTP/1.1\r\n" H JSON_TYPE "Content-Length: 2\r\n\r\n{}", 0, 400,
     "bad_request", true},
    {"no body", "POST /a HTTP/1.1\r\n" H JSON_TYPE "\r\n", 0, 400, "invalid_json", false},
    {"empty body", "POST /a HTTP/1.1\r\n" H JSON_TYPE "Content-Length: 0\r\n\r\n", 0, 400,
     "invalid_json", false},
    {"not JSON", "POST /a HTTP/1.1\r\n" H JSON_TYPE "Content-Length: 2\r\n\r\n{]", 0, 400,
     "invalid_json", false},
    {"no length", "PUT /file HTTP/1.1\r\n" H "Content-Type: application/octet-stream\r\n\r\n", 0,
     411, "length_required", false},
    {"too long", "POST /a HTTP/1.1\r\n" H JSON_TYPE "Content-Length: 500000000\r\n\r\n{}", 0, 413,
     "too_large", true},
    {"ten gigabytes",
     "PUT /file HTTP/1.1\r\n" H "Content-Type: application/octet-stream\r\n"
     "Content-Length: 10000000000\r\n\r\n",
     0, 413, "too_large", true},
    {"not acceptable", "GET /a HTTP/1.1\r\n" H "Accept: text/html\r\n\r\n", 0, 406,
     "not_acceptable", false},
    {"acceptable range", "GET /a HTTP/1.1\r\n" H "Accept: text/html, application/*;q=0.1\r\n\r\n",
     0, 200, "", false},
    {"refused by q=0", "GET /a HTTP/1.1\r\n" H "Accept: */*, application/json;q=0\r\n\r\n", 0, 406,
     "not_acceptable", false},
    {"another type", "GET /csv HTTP/1.1\r\n" H "Accept: application/json\r\n\r\n", 0, 406,
     "not_acceptable", false},
    {"empty lines first", "\r\n\r\nGET /a HTTP/1.1\r\n" H "\r\n", 0, 200, "", false},
    {"bare LF", "GET /a HTTP/1.1\nHost: localhost\n\n", 0, 400, "bad_request", true},
    {"bare LF after a header", "GET /a HTTP/1.1\r\nX-A: 1\n" H "\r\n", 0, 400, "bad_request", true},
    {"bare LF at the end", "GET /a HTTP/1.1\r\n" H "\n", 0, 400, "bad_request", true},
    {"bare CR", "GET /a HTTP/1.1\r\n" H "X-A: 1\rX-B: 2\r\n\r\n", 0, 400, "bad_request", true},
    {"folded header", "GET /a HTTP/1.1\r\n" H "X-A: a\r\n b\r\n\r\n", 0, 400, "bad_request", true},
    {"length made by folding",
     "POST /a HTTP/1.1\r\n" H JSON_TYPE "Content-: 2\r\n Length\r\n\r\n{}", 0, 400, "bad_request",
     true},
    {"NULs in a value", RAW("GET /a HTTP/1.1\r\n" H "X-A: a\0\0b\r\n\r\n"), 400, "bad_request",
     true},
    {"NUL at the end", RAW("GET /a HTTP/1.1\r\n" H "X-A: a\0\r\n\r\n"), 400, "bad_request", true},
    {"NUL in a name", RAW("GET /a HTTP/1.1\r\n" H "X\0A: a\r\n\r\n"), 400, NULL, true},
    {"NUL in the target", RAW("GET /a\0b HTTP/1.1\r\n" H "\r\n"), 400, "bad_request", true},
    {"NUL in the method", RAW("GET\0 /a HTTP/1.1\r\n" H "\r\n"), 400, "bad_request", true},
    {"NUL after the version", RAW("GET /a HTTP/1.1\0\r\n" H "\r\n"), 400, NULL, true},
    {"blanks around a value", "GET /a HTTP/1.1\r\n" H "X-A: \t  a  \r\nX-B:\r\nX-C:  \r\n\r\n", 0,
     200, "", false},
    {"two blanks in the request line", "GET  /a HTTP/1.1\r\n" H "\r\n", 0, 400, NULL, true},
    {"absolute form", "GET http://localhost/a HTTP/1.1\r\n" H "\r\n", 0, 200, "", false},
    {"absolute form with a port and a query",
     "GET HTTP://127.0.0.1:8470/a?x=1 HTTP/1.1\r\nHost: elsewhere\r\n\r\n", 0, 200, "", false},
    {"absolute form without a path", "GET http://localhost HTTP/1.1\r\n" H "\r\n", 0, 200, "",
     false},
    {"absolute form, another host", "GET http://evil.example/a HTTP/1.1\r\n" H "\r\n", 0, 403,
     "forbidden_origin", true},
    {"absolute form, user before the host", "GET http://localhost@evil/a HTTP/1.1\r\n" H "\r\n", 0,
     403, "forbidden_origin", true},
    {"absolute form, no host", "GET http:///a HTTP/1.1\r\n" H "\r\n", 0, 403, "forbidden_origin",
     true},
    {"absolute form, no Host header", "GET http://localhost/a HTTP/1.1\r\n\r\n", 0, 400,
     "bad_request", true},
    {"absolute form, another scheme", "GET ftp://localhost/a HTTP/1.1\r\n" H "\r\n", 0, 400,
     "bad_request", true},
    {"absolute form, origin of the host",
     "GET http://localhost/a HTTP/1.1\r\nHost: x\r\nOrigin: http://localhost\r\n\r\n", 0, 200, "",
     false},
    {"absolute form, origin of the header",
     "GET http://localhost/a HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\n\r\n", 0, 403,
     "forbidden_origin", true},
    {"no version", "GET /a\r\n\r\n", 0, 400, NULL, true},
    {"blank in the target", "GET /a b HTTP/1.1\r\n" H "\r\n", 0, 400, "bad_request", true},
};

static void test_rows(void **state)
{
    struct test_http *t = *state;
    char code[64];
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const struct raw_row *row = &ROWS[i];
        int fd = test_connect(t);
        test_send(fd, row->request, row->size ? row->size : strlen(row->request));
        struct test_reply reply = test_receive(fd, TEST_PATIENCE_MS, false);
        if (reply.status != row->status) {
            fail_msg("%s: %d instead of %d: %s", row->name, reply.status, row->status, reply.text);
        }
        if (row->code) {
            test_reply_member(&reply, "code", code, sizeof code);
            if (strcmp(code, row->code) != 0) {
                fail_msg("%s: code '%s' instead of '%s'", row->name, code, row->code);
            }
        }
        /* what closes closes soon; what stays answers a second request */
        if (row->closes && !test_is_closed(fd, 3000)) {
            fail_msg("%s: the connection stays open", row->name);
        }
        if (!row->closes && row->status < 500) {
            test_reply_free(&reply);
            test_send_text(fd, "GET /a HTTP/1.1\r\n" H "\r\n");
            reply = test_receive(fd, TEST_PATIENCE_MS, false);
            if (reply.status != 200) {
                fail_msg("%s: the connection is not usable afterwards", row->name);
            }
        }
        test_reply_free(&reply);
        (void)close(fd);
    }
}

/* A second request hidden in a body of unclear length is never run. */
static void test_no_smuggling(void **state)
{
    struct test_http *t = *state;
    const char *heads[] = {
        "POST /a HTTP/1.1\r\n" H JSON_TYPE
        "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST /a HTTP/1.1\r\n" H JSON_TYPE "Content-Length: 0\r\nContent-Length: 2\r\n\r\n",
        "POST /a HTTP/1.1\r\n" H JSON_TYPE "Content-Length : 2\r\n\r\n",
        "POST /none HTTP/1.1\r\n" H JSON_TYPE "Content-Length: 60\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        int fd = test_connect(t);
        test_send_text(fd, heads[i]);
        test_send_text(fd, "GET /v1/named/smuggled/x HTTP/1.1\r\n" H "\r\n");
        struct test_reply reply = test_receive(fd, TEST_PATIENCE_MS, false);
        assert_int_equal(reply.status, 400);
        assert_null(strstr(reply.text, "smuggled"));
        test_reply_free(&reply);
        reply = test_receive(fd, TEST_PATIENCE_MS, false);
        if (reply.size && strstr(reply.text, "smuggled")) {
            fail_msg("row %zu: the hidden request was run", i);
        }
        test_reply_free(&reply);
        (void)close(fd);
    }
}

static void test_sizes(void **state)
{
    struct test_http *t = *state;
    static char request[80000];
    const struct {
        size_t uri, header, headers;
        int status;
    } rows[] = {{4096, 0, 0, 404},  {4097, 0, 0, 414},  {30000, 0, 0, 414}, {50000, 0, 0, 414},
                {1, 16000, 0, 200}, {1, 20000, 0, 431}, {1, 60000, 0, 431}, {1, 0, 90, 200},
                {1, 0, 101, 431},   {1, 0, 500, 431}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t n = (size_t)sprintf(request, "GET /");
        if (rows[i].uri > 1) {
            memset(request + n, 'x', rows[i].uri - 1);
            n += rows[i].uri - 1;
        }
        n += (size_t)sprintf(request + n, " HTTP/1.1\r\n" H);
        if (rows[i].header) {
            n += (size_t)sprintf(request + n, "X-A: ");
            memset(request + n, 'y', rows[i].header);
            n += rows[i].header;
            n += (size_t)sprintf(request + n, "\r\n");
        }
        for (size_t k = 0; k < rows[i].headers; k++) {
            n += (size_t)sprintf(request + n, "X-%zu: %zu\r\n", k, k);
        }
        n += (size_t)sprintf(request + n, "\r\n");
        int fd = test_connect(t);
        test_send(fd, request, n);
        struct test_reply reply = test_receive(fd, TEST_PATIENCE_MS, false);
        if (reply.status != rows[i].status) {
            fail_msg("row %zu: %d instead of %d", i, reply.status, rows[i].status);
        }
        test_reply_free(&reply);
        (void)close(fd);
    }
}

static void expect_header(const struct test_reply *reply, const char *name, const char *value)
{
    char have[256];
    test_reply_header(reply, name, have, sizeof have);
    assert_string_equal(have, value);
}

static void test_allow(void **state)
{
    struct test_http *t = *state;
    struct test_reply reply = test_ask(t, "PATCH", "/a", NULL, NULL);
    assert_int_equal(reply.status, 405);
    expect_header(&reply, "Allow", "GET, HEAD, POST, OPTIONS");
    expect_header(&reply, "Content-Type", "application/problem+json");
    test_reply_free(&reply);
    reply = test_ask(t, "OPTIONS", "/v1/jobs/" ID, NULL, NULL);
    assert_int_equal(reply.status, 204);
    expect_header(&reply, "Allow", "GET, HEAD, DELETE, OPTIONS");
    test_reply_free(&reply);
    reply = test_ask(t, "OPTIONS", "/nowhere", NULL, NULL);
    assert_int_equal(reply.status, 404);
    test_reply_free(&reply);
    reply = test_ask(t, "HEAD", "/none", NULL, NULL);
    assert_int_equal(reply.status, 405);
    expect_header(&reply, "Allow", "POST, OPTIONS");
    test_reply_free(&reply);
}

static void test_path_segment_is_decoded_once(void **state)
{
    struct test_http *t = *state;
    char name[64];
    struct test_reply reply = test_ask(t, "GET", "/v1/named/s%6F%C3%9Fe%2541/x", NULL, NULL);
    assert_int_equal(reply.status, 200);
    test_reply_member(&reply, "name", name, sizeof name);
    assert_string_equal(name, "so\xc3\x9f"
                              "e%41");
    test_reply_free(&reply);
}

static void test_request_id(void **state)
{
    struct test_http *t = *state;
    char id[128];
    char again[128];
    struct test_reply reply = test_ask(t, "GET", "/b", "X-Request-Id: a.B-9_\r\n", NULL);
    expect_header(&reply, "X-Request-Id", "a.B-9_");
    test_reply_member(&reply, "request_id", id, sizeof id);
    assert_string_equal(id, "a.B-9_");
    test_reply_free(&reply);
    const char *bad[] = {"", "X-Request-Id: \r\n", "X-Request-Id: a b\r\n", "X-Request-Id: a\"\r\n",
                         "X-Request-Id: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                         "aaaaaaaaaaaaaaaaaaa\r\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        reply = test_ask(t, "GET", "/a", bad[i], NULL);
        test_reply_header(&reply, "X-Request-Id", id, sizeof id);
        assert_int_equal(strlen(id), 32);
        test_reply_free(&reply);
    }
    reply = test_ask(t, "GET", "/a", NULL, NULL);
    test_reply_header(&reply, "X-Request-Id", again, sizeof again);
    assert_string_not_equal(id, again);
    test_reply_free(&reply);
}

/* The account of the header block's bytes holds however the bytes arrive. */
static void test_slow_arrival(void **state)
{
    struct test_http *t = *state;
    static char request[16384];
    for (size_t header = 1; header < 12000; header = header * 3 + 1) {
        size_t n =
            (size_t)sprintf(request, "GET /a?x=1&y=%%20 HTTP/1.1\r\n" H "Cookie: a=b; c=d\r\n"
                                     "X-A: ");
        memset(request + n, 'y', header);
        n += header;
        n += (size_t)sprintf(request + n, "\r\nX-B: 1\r\nCookie: e=f\r\n\r\n");
        size_t pieces[] = {1, 7, 1000, n};
        int fd = test_connect(t);
        for (size_t k = header > 400 ? 1 : 0; k < 4; k++) {
            for (size_t at = 0; at < n; at += pieces[k]) {
                test_send(fd, request + at, at + pieces[k] < n ? pieces[k] : n - at);
            }
            struct test_reply reply = test_receive(fd, TEST_PATIENCE_MS, false);
            if (reply.status != 200) {
                fail_msg("header of %zu in pieces of %zu: %d", header, pieces[k], reply.status);
            }
            test_reply_free(&reply);
        }
        (void)close(fd);
    }
}

/* Many requests in one piece are answered one by one. */
static void test_pipelining(void **state)
{
    struct test_http *t = *state;
    int fd = test_connect(t);
    for (int i = 0; i < 200; i++) {
        test_send_text(fd, "GET /a HTTP/1.1\r\n" H "\r\n");
    }
    test_send_text(fd, "GET /b HTTP/1.1\r\n" H "Connection: close\r\n\r\n");
    size_t found = 0;
    size_t used = 0;
    static char all[200000];
    for (;;) {
        ssize_t n = read(fd, all + used, sizeof all - 1 - used);
        if (n <= 0) {
            break;
        }
        used += (size_t)n;
    }
    all[used] = '\0';
    for (const char *p = all; (p = strstr(p, "HTTP/1.1 200")); p++) {
        found++;
    }
    assert_int_equal(found, 200);
    assert_non_null(strstr(all, "HTTP/1.1 404"));
    (void)close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),       cmocka_unit_test(test_no_smuggling),
        cmocka_unit_test(test_sizes),      cmocka_unit_test(test_allow),
        cmocka_unit_test(test_request_id), cmocka_unit_test(test_path_segment_is_decoded_once),
        cmocka_unit_test(test_pipelining), cmocka_unit_test(test_slow_arrival),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
