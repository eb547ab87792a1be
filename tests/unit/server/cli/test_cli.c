/* SPDX-License-Identifier: MIT
 *
 * server/cli: arguments, bars, tables, and commands against a scripted server on a loopback socket.
 */
#include "tests/support/cmocka_all.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/cli/cli_internal.h"

/* ------------------------------------------------------------------------------- arguments */

static void options_are_taken_and_the_rest_stays(void **state)
{
    (void)state;
    const char *server = NULL;
    bool watch = false;
    const struct cli_option options[] = {{"--server", &server, NULL}, {"--watch", NULL, &watch}};
    char a[] = "job.json", b[] = "--server", c[] = "http://x", d[] = "--watch", e[] = "--",
         f[] = "--odd";
    char *argv[] = {a, b, c, d, e, f};
    int argc = 6;
    assert_true(cli_arguments(&argc, argv, options, 2, ""));
    assert_int_equal(argc, 2);
    assert_string_equal(argv[0], "job.json");
    assert_string_equal(argv[1], "--odd");
    assert_string_equal(server, "http://x");
    assert_true(watch);
}

static void unknown_options_and_missing_values_are_usage(void **state)
{
    (void)state;
    const char *server = NULL;
    const struct cli_option options[] = {{"--server", &server, NULL}};
    char unknown[] = "--sever", last[] = "--server";
    char *first[] = {unknown};
    char *second[] = {last};
    int argc = 1;
    assert_false(cli_arguments(&argc, first, options, 1, ""));
    argc = 1;
    assert_false(cli_arguments(&argc, second, options, 1, ""));
    assert_int_equal(cli_submit_main(0, NULL), CLI_EXIT_USAGE);
    assert_int_equal(cli_dataset_main(0, NULL), CLI_EXIT_USAGE);
    char missing[] = "/nonexistent.json";
    char *submit[] = {missing};
    assert_int_equal(cli_submit_main(1, submit), CLI_EXIT_USAGE);
}

/* --------------------------------------------------------------------------------- drawing */

static void bars_are_exact_and_never_overflow(void **state)
{
    (void)state;
    static const struct {
        double share;
        const char *bar;
    } rows[] = {{0, "[....]"}, {0.5, "[##..]"}, {1, "[####]"},
                {7, "[####]"}, {-1, "[....]"},  {0.0 / 0.0, "[....]"}};
    char bar[7];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cli_bar(bar, sizeof bar, 4, rows[i].share);
        assert_string_equal(bar, rows[i].bar);
    }
    cli_bar(bar, 6, 4, 0.5);
    assert_string_equal(bar, "");
}

static void tables_align(void **state)
{
    (void)state;
    const char *cells[] = {"n",
                           "class",
                           "1",
                           "Stra\xc3\x9f"
                           "e",
                           "12",
                           "b"};
    const bool right[] = {true, false};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cli_table_print(out, cells, 3, 2, right);
    (void)fclose(out);
    assert_string_equal(text, " n  class\n 1  Stra\xc3\x9f"
                              "e\n12  b\n");
    free(text);
}

/* ------------------------------------------------------------------------ a scripted server */

struct script {
    const char *const *answers; /* one a request, then the thread ends */
    size_t n;
    int fd;
    int port;
    char heard[8][2048]; /* the requests */
    pthread_t thread;
};

static void *script_main(void *arg)
{
    struct script *script = arg;
    for (size_t i = 0; i < script->n; i++) {
        int fd = accept(script->fd, NULL, NULL);
        size_t used = 0;
        while (used < sizeof script->heard[i] - 1 && !strstr(script->heard[i], "\r\n\r\n")) {
            ssize_t n = read(fd, script->heard[i] + used, sizeof script->heard[i] - 1 - used);
            if (n <= 0) {
                break;
            }
            used += (size_t)n;
        }
        if (write(fd, script->answers[i], strlen(script->answers[i])) < 0) {
            abort();
        }
        (void)shutdown(fd, SHUT_WR);
        char rest[4096];
        while (read(fd, rest, sizeof rest) > 0) { /* so that closing does not reset */
        }
        (void)close(fd);
    }
    return NULL;
}

static void script_start(struct script *script, const char *const *answers, size_t n)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    memset(script, 0, sizeof *script);
    script->answers = answers;
    script->n = n;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    script->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(script->fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(script->fd, 8), 0);
    assert_int_equal(getsockname(script->fd, (struct sockaddr *)&address, &size), 0);
    script->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&script->thread, NULL, script_main, script), 0);
}

static void script_end(struct script *script)
{
    assert_int_equal(pthread_join(script->thread, NULL), 0);
    (void)close(script->fd);
}

#define HEAD "HTTP/1.1 "
#define TAIL "\r\nContent-Type: application/json\r\nConnection: close\r\nETag: \"r7\"\r\n\r\n"

#define ID "0192f00000007000800000000000beef"

static char *key_of(const char *request)
{
    const char *found = strstr(request, "Idempotency-Key: ");
    return found ? strndup(found + 17, 32) : NULL;
}

/* A lost or early answer is repeated under one key, so no second job is made. */
static void submit_repeats_under_one_key(void **state)
{
    (void)state;
    static const char *const answers[] = {HEAD "503 Busy" TAIL "{}",
                                          HEAD "201 Created" TAIL "{\"id\": \"" ID "\"}"};
    struct script script;
    char server[64];
    char path[] = "/tmp/assay-job-XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "{\"kind\": \"x\"}", 13), 13);
    (void)close(fd);
    script_start(&script, answers, 2);
    (void)snprintf(server, sizeof server, "http://127.0.0.1:%d/", script.port);
    char flag[] = "--server";
    char *argv[] = {path, flag, server};
    assert_int_equal(cli_submit_main(3, argv), CLI_EXIT_OK);
    script_end(&script);
    char *first = key_of(script.heard[0]);
    char *second = key_of(script.heard[1]);
    assert_non_null(first);
    assert_non_null(second);
    assert_string_equal(first, second);
    assert_int_equal(strlen(first), 32);
    assert_non_null(strstr(script.heard[1], "POST /v1/jobs HTTP/1.1"));
    free(first);
    free(second);
    (void)unlink(path);
}

static void refusal_is_a_failure_with_the_token_sent(void **state)
{
    (void)state;
    static const char *const answers[] = {
        HEAD "422 No" TAIL "{\"code\": \"invalid_field\", \"pointer\": \"/kind\"}"};
    struct script script;
    char server[64];
    script_start(&script, answers, 1);
    assert_int_equal(setenv("ASSAY_TOKEN", "secret-token", 1), 0);
    (void)snprintf(server, sizeof server, "http://127.0.0.1:%d", script.port);
    struct cli_client *client = cli_client_create(server);
    struct cli_reply reply;
    struct cli_request request = {.method = "GET", .path = "/v1/jobs/1", .etag = "\"r6\""};
    assert_true(cli_send(client, &request, &reply));
    assert_int_equal(reply.status, 422);
    assert_string_equal(reply.etag, "\"r7\"");
    assert_string_equal(json_string_value(json_object_get(reply.json, "pointer")), "/kind");
    cli_reply_deinit(&reply);
    cli_client_destroy(client);
    script_end(&script);
    assert_non_null(strstr(script.heard[0], "Authorization: Bearer secret-token\r\n"));
    assert_non_null(strstr(script.heard[0], "If-None-Match: \"r6\"\r\n"));
    assert_int_equal(unsetenv("ASSAY_TOKEN"), 0);
}

/* A password that stands in the address is not told. */
static void no_server_is_a_failure(void **state)
{
    (void)state;
    struct cli_client *client = cli_client_create("http://me:secret@127.0.0.1:1/a/");
    struct cli_reply reply;
    struct cli_request request = {.method = "GET", .path = "/"};
    assert_false(cli_send(client, &request, &reply));
    assert_int_equal(reply.status, 0);
    assert_ptr_equal(strstr(reply.text, "http://127.0.0.1:1/a: "), reply.text);
    assert_true(strlen(reply.text) > strlen("http://127.0.0.1:1/a: "));
    assert_string_equal(cli_client_address(client), "http://127.0.0.1:1/a");
    cli_reply_deinit(&reply);
    cli_client_destroy(client);
}

/* Exit status of --watch: 0 only when every trial completed or was stopped. */
static void watch_judges_by_the_trials(void **state)
{
    (void)state;
    static const char *const good[] = {
        HEAD "200 OK" TAIL "{\"items\": [{\"index\": 1, \"state\": \"completed\"}, "
             "{\"index\": 2, \"state\": \"stopped\"}]}"};
    static const char *const bad[] = {
        HEAD "200 OK" TAIL "{\"items\": [{\"index\": 1, \"state\": \"completed\"}, "
             "{\"index\": 2, \"state\": \"failed\", \"error\": {\"text\": \"x\"}}]}"};
    const char *const *const scripts[] = {good, bad};
    for (size_t i = 0; i < 2; i++) {
        struct script script;
        char server[64];
        script_start(&script, scripts[i], 1);
        (void)snprintf(server, sizeof server, "http://127.0.0.1:%d", script.port);
        struct cli_client *client = cli_client_create(server);
        assert_int_equal(cli_watch(client, "abc", CLI_AWAY_MS),
                         i == 0 ? CLI_EXIT_OK : CLI_EXIT_FAILED);
        cli_client_destroy(client);
        script_end(&script);
    }
}

/* A job that waits behind another one does not change for long: that is an answer. */
static void watch_is_patient_with_a_server_that_answers(void **state)
{
    (void)state;
    static const char *const answers[] = {
        HEAD "200 OK" TAIL "{\"items\": [{\"index\": 1, \"state\": \"queued\"}]}",
        HEAD "304 Not Modified" TAIL, HEAD "304 Not Modified" TAIL, HEAD "503 Busy" TAIL "{}",
        HEAD "200 OK" TAIL "{\"items\": [{\"index\": 1, \"state\": \"completed\"}]}"};
    struct script script;
    char server[64];
    script_start(&script, answers, 5);
    (void)snprintf(server, sizeof server, "http://127.0.0.1:%d", script.port);
    struct cli_client *client = cli_client_create(server);
    assert_int_equal(cli_watch(client, "abc", 350), CLI_EXIT_OK);
    cli_client_destroy(client);
    script_end(&script);
}

/* What another server on the port may say; none of it is a success. */
static void a_200_of_another_server_is_a_failure(void **state)
{
    (void)state;
#define HTML "\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n"
    static const char *const answers[] = {
        HEAD "200 OK" HTML "{\"items\": [], \"id\": \"" ID "\", \"state\": \"ready\"}",
        HEAD "200 OK\r\nConnection: close\r\n\r\n{\"items\": [], \"state\": \"ready\"}",
        HEAD "200 OK" TAIL "",
        HEAD "200 OK" TAIL "[]",
        HEAD "200 OK" TAIL "{}",
        HEAD "200 OK" TAIL "null",
        HEAD "204 No" TAIL "",
        HEAD "200 OK" TAIL "{\"items\": null, \"id\": 5, \"state\": null}",
        HEAD "200 OK" TAIL "{\"items\": [1], \"id\": \"../x\", \"state\": []}",
        HEAD "200 OK" TAIL "{\"items\": [], \"next_cursor\": \"a\", \"id\": \"x\"}",
        HEAD "200 OK" TAIL "{\"items\": [{}], \"next_cursor\": \"a&b\", \"id\": \"\"}",
        HEAD "302 Go\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
        "\x7f nothing like HTTP\r\n\r\n",
    };
    char id[] = ID, list[] = "list", show[] = "show", flag[] = "--server";
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        const char *const four[] = {answers[i], answers[i], answers[i], answers[i], answers[i]};
        struct script script;
        char server[64];
        char *with_id[] = {id, flag, server};
        char *show_id[] = {show, id, flag, server};
        char *list_all[] = {list, flag, server};
        script_start(&script, four, 5);
        (void)snprintf(server, sizeof server, "http://127.0.0.1:%d", script.port);
        if (cli_list_main(2, with_id + 1) != CLI_EXIT_FAILED ||
            cli_show_main(3, with_id) != CLI_EXIT_FAILED ||
            cli_cancel_main(3, with_id) != CLI_EXIT_FAILED ||
            cli_dataset_main(4, show_id) != CLI_EXIT_FAILED ||
            cli_weights_main(3, list_all) != CLI_EXIT_FAILED) {
            fail_msg("answer %zu was taken for one of ours", i);
        }
        script_end(&script);
    }
}

static void lists_are_read_to_their_end(void **state)
{
    (void)state;
    static const char *const answers[] = {
        HEAD "200 OK" TAIL "{\"items\": [{\"n\": 1}, {\"n\": 2}], \"next_cursor\": \"Ab-_9.x\"}",
        HEAD "200 OK" TAIL "{\"items\": [{\"n\": 3}], \"next_cursor\": \"c2\"}",
        HEAD "200 OK" TAIL "{\"items\": [], \"next_cursor\": null}"};
    static const char *const circle[] = {
        HEAD "200 OK" TAIL "{\"items\": [{}], \"next_cursor\": \"same\"}",
        HEAD "200 OK" TAIL "{\"items\": [{}], \"next_cursor\": \"same\"}"};
    struct script script;
    char server[64];
    script_start(&script, answers, 3);
    (void)snprintf(server, sizeof server, "http://127.0.0.1:%d", script.port);
    struct cli_client *client = cli_client_create(server);
    json_t *items = cli_items(client, "/v1/jobs?limit=2");
    assert_int_equal(json_array_size(items), 3);
    json_decref(items);
    script_end(&script);
    assert_non_null(strstr(script.heard[1], "GET /v1/jobs?limit=2&cursor=Ab-_9.x HTTP"));
    assert_non_null(strstr(script.heard[2], "GET /v1/jobs?limit=2&cursor=c2 HTTP"));
    cli_client_destroy(client);

    script_start(&script, circle, 2);
    (void)snprintf(server, sizeof server, "http://127.0.0.1:%d", script.port);
    client = cli_client_create(server);
    assert_null(cli_items(client, "/v1/jobs?limit=1"));
    script_end(&script);
    cli_client_destroy(client);
}

static void nothing_of_a_server_moves_the_cursor(void **state)
{
    (void)state;
    static const struct {
        const char *text, *keep, *plain;
    } rows[] = {
        {"plain", "", "plain"},
        {"a\x1b[2Jb\x7f", "", "a\\u001b[2Jb\\u007f"},
        {"\xc2\x9b"
         "31m \xc2\x80\xc2\x9f",
         "", "\\u009b31m \\u0080\\u009f"},
        {"Stra\xc3\x9f \xc2\xa0 \xe2\x80\x9b", "", "Stra\xc3\x9f \xc2\xa0 \xe2\x80\x9b"},
        {"two\nlines\r", "\n", "two\nlines\\u000d"},
        {"two\nlines", "", "two\\u000alines"},
        {"", "", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *plain = cli_plain(rows[i].text, rows[i].keep);
        assert_string_equal(plain, rows[i].plain);
        free(plain);
    }
    json_t *items = json_pack("[{s:s}]", "name", "\x1b[2J\xc2\x9b");
    const char *const keys[] = {"name"};
    const bool right[] = {false};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cli_rows_print(items, keys, 1, right, out);
    (void)fclose(out);
    assert_string_equal(text, "name\n\\u001b[2J\\u009b\n");
    free(text);
    json_decref(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_taken_and_the_rest_stays),
        cmocka_unit_test(unknown_options_and_missing_values_are_usage),
        cmocka_unit_test(bars_are_exact_and_never_overflow),
        cmocka_unit_test(tables_align),
        cmocka_unit_test(submit_repeats_under_one_key),
        cmocka_unit_test(refusal_is_a_failure_with_the_token_sent),
        cmocka_unit_test(no_server_is_a_failure),
        cmocka_unit_test(watch_judges_by_the_trials),
        cmocka_unit_test(watch_is_patient_with_a_server_that_answers),
        cmocka_unit_test(a_200_of_another_server_is_a_failure),
        cmocka_unit_test(lists_are_read_to_their_end),
        cmocka_unit_test(nothing_of_a_server_moves_the_cursor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
