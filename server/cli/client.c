/* SPDX-License-Identifier: MIT
 *
 * Requests to a server, by libcurl.
 */
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/json/json.h"
#include "server/base/ids.h"
#include "server/cli/cli_internal.h"

enum { MAX_BODY_BYTES = 64 << 20, CONNECT_TIMEOUT_S = 5, HEADER_BYTES = 512 };

struct cli_client {
    CURL *curl;
    char *server;
    char *address; /* the server as it is told, without a password in it */
    char *token;   /* NULL: none */
};

struct body {
    char *bytes;
    size_t size;
    char *etag;
};

static char *copy_trimmed(const char *text)
{
    char *copy = strdup(text);
    size_t length = copy ? strlen(copy) : 0;
    while (length > 0 && copy[length - 1] == '/') {
        copy[--length] = '\0';
    }
    return copy;
}

/* To be freed. A name and a password before the host are nobody else's business. */
static char *copy_told(const char *server)
{
    const char *scheme = strstr(server, "://");
    const char *rest = scheme ? scheme + 3 : server;
    const char *at = memrchr(rest, '@', strcspn(rest, "/?#"));
    char *told = NULL;
    if (asprintf(&told, "%.*s%s", (int)(rest - server), server, at ? at + 1 : rest) < 0) {
        return NULL;
    }
    return told;
}

struct cli_client *cli_client_create(const char *server)
{
    const char *environment = getenv("ASSAY_SERVER");
    const char *token = getenv("ASSAY_TOKEN");
    struct cli_client *client = calloc(1, sizeof *client);
    if (!client || curl_global_init(CURL_GLOBAL_DEFAULT) != 0) {
        free(client);
        return NULL;
    }
    server = server ? server : environment && *environment ? environment : "http://127.0.0.1:8470";
    client->server = copy_trimmed(server);
    client->address = client->server ? copy_told(client->server) : NULL;
    client->token = token && *token ? strdup(token) : NULL;
    client->curl = curl_easy_init();
    if (!client->curl || !client->server || !client->address) {
        cli_client_destroy(client);
        (void)fputs("assayd: no memory\n", stderr);
        return NULL;
    }
    return client;
}

void cli_client_destroy(struct cli_client *client)
{
    if (client) {
        curl_easy_cleanup(client->curl);
        free(client->server);
        free(client->address);
        free(client->token);
        free(client);
        curl_global_cleanup();
    }
}

const char *cli_client_address(const struct cli_client *client)
{
    return client->address;
}

void cli_reply_deinit(struct cli_reply *reply)
{
    json_decref(reply->json);
    *reply = (struct cli_reply){0};
}

static size_t take_body(char *bytes, size_t one, size_t size, void *ctx)
{
    struct body *body = ctx;
    (void)one;
    if (body->size + size > MAX_BODY_BYTES) {
        return 0;
    }
    char *bigger = realloc(body->bytes, body->size + size + 1);
    if (!bigger) {
        return 0;
    }
    memcpy(bigger + body->size, bytes, size);
    body->bytes = bigger;
    body->size += size;
    return size;
}

static size_t take_header(char *bytes, size_t one, size_t size, void *ctx)
{
    static const char name[] = "etag:";
    struct body *body = ctx;
    if (size > sizeof name && strncasecmp(bytes, name, sizeof name - 1) == 0) {
        const char *value = bytes + sizeof name - 1;
        size_t length = size - (sizeof name - 1);
        while (length > 0 && (*value == ' ' || *value == '\t')) {
            value++;
            length--;
        }
        while (length > 0 && (value[length - 1] == '\r' || value[length - 1] == '\n')) {
            length--;
        }
        free(body->etag);
        body->etag = strndup(value, length);
    }
    return one * size;
}

static struct curl_slist *add_header(struct curl_slist *list, const char *name, const char *value)
{
    char line[HEADER_BYTES];
    int n = snprintf(line, sizeof line, "%s: %s", name, value);
    struct curl_slist *longer =
        n > 0 && (size_t)n < sizeof line ? curl_slist_append(list, line) : NULL;
    return longer ? longer : list;
}

static struct curl_slist *make_headers(const struct cli_client *client,
                                       const struct cli_request *request)
{
    char bearer[HEADER_BYTES];
    struct curl_slist *list = add_header(NULL, "Accept", "application/json");
    list = add_header(list, "Expect", "");
    if (request->upload) {
        list = add_header(list, "Content-Type", "application/octet-stream");
    } else if (request->body) {
        list = add_header(list, "Content-Type", "application/json");
    }
    if (client->token) {
        (void)snprintf(bearer, sizeof bearer, "Bearer %s", client->token);
        list = add_header(list, "Authorization", bearer);
    }
    if (request->etag && request->etag[0]) {
        list = add_header(list, "If-None-Match", request->etag);
    }
    if (request->key) {
        list = add_header(list, "Idempotency-Key", request->key);
    }
    return list;
}

static void set_body(CURL *curl, const struct cli_request *request, const char *text)
{
    if (request->upload) {
        (void)curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
        (void)curl_easy_setopt(curl, CURLOPT_READDATA, request->upload);
        (void)curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->upload_size);
    } else if (text) {
        (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, text);
        (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(text));
    } else if (strcmp(request->method, "POST") == 0) {
        (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "");
        (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, 0L);
    }
    (void)curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
}

static bool perform(struct cli_client *client, const struct cli_request *request, const char *text,
                    struct body *body, struct cli_reply *reply)
{
    CURL *curl = client->curl;
    char *url = NULL;
    if (asprintf(&url, "%s%s", client->server, request->path) < 0) {
        return false;
    }
    struct curl_slist *headers = make_headers(client, request);
    curl_easy_reset(curl); /* keeps the connection */
    (void)curl_easy_setopt(curl, CURLOPT_URL, url);
    (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_TIMEOUT_S);
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
    (void)curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    (void)curl_easy_setopt(curl, CURLOPT_HEADERDATA, body);
    set_body(curl, request, text);
    CURLcode rc = curl_easy_perform(curl);
    (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply->status);
    if (rc != CURLE_OK) {
        (void)snprintf(reply->text, sizeof reply->text, "%.200s: %s", client->address,
                       curl_easy_strerror(rc));
        reply->status = 0;
    }
    curl_slist_free_all(headers);
    free(url);
    return rc == CURLE_OK;
}

/* Does the answer say that it is JSON? */
static bool says_json(CURL *curl)
{
    static const char *const types[] = {"application/json", "application/problem+json"};
    const char *type = NULL;
    (void)curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
    size_t n = type ? strcspn(type, "; ") : 0;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (n == strlen(types[i]) && strncasecmp(type, types[i], n) == 0) {
            return true;
        }
    }
    return false;
}

bool cli_send(struct cli_client *client, const struct cli_request *request,
              struct cli_reply *out_reply)
{
    static const struct jx_limits limits = {.max_bytes = MAX_BODY_BYTES, .max_depth = 128};
    struct body body = {0};
    char *text = request->body ? json_dumps(request->body, JSON_COMPACT) : NULL;
    *out_reply = (struct cli_reply){0};
    bool answered = perform(client, request, text, &body, out_reply);
    if (answered && body.size > 0 && says_json(client->curl)) {
        if (jx_parse(body.bytes, body.size, &limits, &out_reply->json, NULL) != NN_OK) {
            out_reply->json = NULL;
        }
    }
    (void)snprintf(out_reply->etag, sizeof out_reply->etag, "%s", body.etag ? body.etag : "");
    free(body.bytes);
    free(body.etag);
    free(text);
    return answered;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* "  error at /network/layers/2, layer "conv1": text; mend". */
static void complain_issue(const json_t *issue)
{
    const char *pointer = text_of(issue, "pointer");
    const char *layer = text_of(issue, "layer");
    const char *mend = text_of(issue, "mend");
    cli_say("  %s%s%s%s%s%s: %s%s%s", text_of(issue, "severity"), *pointer ? " at " : "", pointer,
            *layer ? ", layer \"" : "", layer, *layer ? "\"" : "", text_of(issue, "text"),
            *mend ? "; " : "", mend);
}

static bool is_text(const json_t *json, const char *name)
{
    const char *text = json_string_value(json_object_get(json, name));
    return text && (strcmp(name, "id") != 0 || sv_id_is_valid(text));
}

static bool is_list(const json_t *json, const char *name)
{
    const json_t *list = json_object_get(json, name);
    bool sound = json_is_array(list);
    for (size_t i = 0; sound && i < json_array_size(list); i++) {
        sound = json_is_object(json_array_get(list, i));
    }
    return sound;
}

bool cli_reply_fits(const struct cli_request *request, const struct cli_reply *reply)
{
    return reply->status >= 200 && reply->status < 300 && json_is_object(reply->json) &&
           (!request->text || is_text(reply->json, request->text)) &&
           (!request->list || is_list(reply->json, request->list));
}

void cli_complain(const struct cli_reply *reply)
{
    const char *title = text_of(reply->json, "title");
    const char *detail = text_of(reply->json, "detail");
    const char *pointer = text_of(reply->json, "pointer");
    const json_t *issues = json_object_get(reply->json, "issues");
    if (reply->status == 0) {
        cli_say("assayd: no answer from %s", reply->text);
        return;
    }
    if (reply->status < 300) {
        cli_say("assayd: %ld: that is no answer of an Assay server", reply->status);
        return;
    }
    if (json_array_size(issues) > 0) { /* the detail is the first of them */
        cli_say("assayd: %ld %s:", reply->status, text_of(reply->json, "code"));
    } else {
        cli_say("assayd: %ld %s%s%s: %s", reply->status, text_of(reply->json, "code"),
                *pointer ? " at " : "", pointer,
                *detail  ? detail
                : *title ? title
                         : "the server refused");
    }
    for (size_t i = 0; i < json_array_size(issues); i++) {
        complain_issue(json_array_get(issues, i));
    }
}

json_t *cli_call(struct cli_client *client, const struct cli_request *request)
{
    struct cli_reply reply;
    json_t *json = NULL;
    if (cli_send(client, request, &reply) && cli_reply_fits(request, &reply)) {
        json = json_incref(reply.json);
    } else {
        cli_complain(&reply);
    }
    cli_reply_deinit(&reply);
    return json;
}
