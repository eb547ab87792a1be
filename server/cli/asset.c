/* SPDX-License-Identifier: MIT
 *
 * What the commands for data sets and for weights share: files of a declaration, uploads, waiting
 * for the check, lists.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/base/clock.h"
#include "server/cli/asset_internal.h"

enum { POLL_MS = 300 };

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool file_size(const char *path, size_t *out_size)
{
    struct stat about;
    bool there = stat(path, &about) == 0;
    if (there && S_ISDIR(about.st_mode)) {
        (void)fprintf(stderr, "assayd: %s is a folder; pack it: tar -czf NAME.tar.gz -C %s .\n",
                      path, path);
        return false;
    }
    if (!there || !S_ISREG(about.st_mode)) {
        (void)fprintf(stderr, "assayd: %s cannot be read: %s\n", path,
                      there ? "it is no file" : strerror(errno));
        return false;
    }
    *out_size = (size_t)about.st_size;
    return true;
}

json_t *cli_asset_files(int n_files, char **files)
{
    json_t *list = json_array();
    for (int i = 0; i < n_files; i++) {
        size_t size = 0;
        if (!file_size(files[i], &size)) {
            json_decref(list);
            return NULL;
        }
        (void)json_array_append_new(
            list, json_pack("{s:s, s:I}", "name", base_name(files[i]), "size", (json_int_t)size));
    }
    return list;
}

static bool upload(struct cli_client *client, const struct cli_asset *asset, const char *id,
                   const char *path)
{
    char target[512];
    size_t size = 0;
    FILE *file = file_size(path, &size) ? fopen(path, "re") : NULL;
    if (!file) {
        return false;
    }
    (void)snprintf(target, sizeof target, "%s/%.64s/files/%.400s", asset->path, id,
                   base_name(path));
    struct cli_request request = {
        .method = "PUT", .path = target, .upload = file, .upload_size = size, .text = "state"};
    json_t *answer = cli_call(client, &request);
    (void)fclose(file);
    json_decref(answer);
    return answer != NULL;
}

static void print_refusal(const struct cli_asset *asset, const json_t *shown)
{
    const char *text = json_string_value(json_object_get(shown, "error"));
    const json_t *refused = json_object_get(json_object_get(shown, "report"), "refused");
    cli_say("assayd: the %s refused: %s", asset->what, text ? text : "");
    for (size_t i = 0; i < json_array_size(refused) && i < 10; i++) {
        const json_t *row = json_array_get(refused, i);
        const char *name = json_string_value(json_object_get(row, "name"));
        const char *why = json_string_value(json_object_get(row, "text"));
        cli_say("  %s: %s", name ? name : "?", why ? why : "?");
    }
}

static int wait_ready(struct cli_client *client, const struct cli_asset *asset, const char *id)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%.64s", asset->path, id);
    for (;;) {
        struct cli_request request = {.method = "GET", .path = path, .text = "state"};
        json_t *shown = cli_call(client, &request);
        const char *state = json_string_value(json_object_get(shown, "state"));
        bool ready = state && strcmp(state, "ready") == 0;
        bool refused = state && strcmp(state, "refused") == 0;
        if (refused) {
            print_refusal(asset, shown);
        }
        json_decref(shown);
        if (ready || refused || !state) {
            return ready ? CLI_EXIT_OK : CLI_EXIT_FAILED;
        }
        sv_clock_sleep_ms(POLL_MS);
    }
}

static int create_in(struct cli_client *client, const struct cli_asset *asset, bool no_wait,
                     const json_t *body, int n_files, char **files)
{
    struct cli_request request = {
        .method = "POST", .path = asset->path, .body = body, .text = "id"};
    json_t *made = cli_call(client, &request);
    const char *id = json_string_value(json_object_get(made, "id"));
    int status = id ? CLI_EXIT_OK : CLI_EXIT_FAILED;
    for (int i = 0; i < n_files && status == CLI_EXIT_OK; i++) {
        status = upload(client, asset, id, files[i]) ? CLI_EXIT_OK : CLI_EXIT_FAILED;
    }
    if (status == CLI_EXIT_OK && !no_wait) {
        status = wait_ready(client, asset, id);
    }
    if (status == CLI_EXIT_OK) {
        (void)printf("%s\n", id);
    }
    json_decref(made);
    return status;
}

int cli_asset_create(const struct cli_asset *asset, const char *server, bool no_wait,
                     const json_t *body, int n_files, char **files)
{
    struct cli_client *client = cli_client_create(server);
    int status = client ? create_in(client, asset, no_wait, body, n_files, files) : CLI_EXIT_FAILED;
    cli_client_destroy(client);
    return status;
}

/* A raw control character in a string becomes an escape of JSON, so it stays the same document. */
static void print_document(const json_t *document)
{
    char *text = json_dumps(document, JSON_INDENT(2));
    char *plain = text ? cli_plain(text, "\n") : NULL;
    (void)puts(plain ? plain : "");
    free(plain);
    free(text);
}

int cli_asset_look(const struct cli_asset *asset, const char *verb, int argc, char **argv)
{
    const char *server = NULL;
    const struct cli_option options[] = {{"--server", &server, NULL}};
    bool list = strcmp(verb, "list") == 0;
    char path[128];
    (void)snprintf(path, sizeof path, "%s?limit=500", asset->path);
    if (!cli_arguments(&argc, argv, options, 1, asset->usage)) {
        return CLI_EXIT_USAGE;
    }
    if (argc != (list ? 0 : 1)) {
        (void)fputs(asset->usage, stderr);
        return CLI_EXIT_USAGE;
    }
    if (!list) {
        (void)snprintf(path, sizeof path, "%s/%.64s", asset->path, argv[0]);
    }
    struct cli_client *client = cli_client_create(server);
    struct cli_request request = {.method = "GET", .path = path, .text = "id"};
    json_t *answer = !client ? NULL : list ? cli_items(client, path) : cli_call(client, &request);
    if (answer && list) {
        cli_rows_print(answer, asset->keys, asset->n_keys, asset->right, stdout);
    } else if (answer) {
        print_document(answer);
    }
    json_decref(answer);
    cli_client_destroy(client);
    return answer ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}
