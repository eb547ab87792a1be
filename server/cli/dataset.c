/* SPDX-License-Identifier: MIT
 *
 * assayd dataset create --layout L [--name N] [--classes A,B] [--table JSON] FILES...; dataset
 * list; dataset show
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "server/base/clock.h"
#include "server/cli/cli_internal.h"

static const char USAGE[] =
    "usage: assayd dataset create --layout idx|archive|table|cmapss [--name NAME]\n"
    "                             [--classes A,B,...] [--table JSON] [--no-wait] [--server URL]\n"
    "                             FILES...\n"
    "       assayd dataset list [--server URL]\n"
    "       assayd dataset show ID [--server URL]\n"
    "       create prints the data set's id once it is ready.\n";

enum { POLL_MS = 300, MAX_FILES = 64 };

struct create {
    const char *server, *layout, *name, *classes, *table;
    bool no_wait;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool file_size(const char *path, size_t *out_size)
{
    struct stat about;
    if (stat(path, &about) < 0 || !S_ISREG(about.st_mode)) {
        (void)fprintf(stderr, "assayd: %s cannot be read\n", path);
        return false;
    }
    *out_size = (size_t)about.st_size;
    return true;
}

static json_t *split_names(const char *text)
{
    json_t *list = json_array();
    while (text) {
        const char *comma = strchr(text, ',');
        size_t length = comma ? (size_t)(comma - text) : strlen(text);
        (void)json_array_append_new(list, json_stringn(text, length));
        text = comma ? comma + 1 : NULL;
    }
    return list;
}

/* How tables are read, as the API takes it. */
static bool add_table(const struct create *create, json_t *body)
{
    json_t *table = create->table ? json_loads(create->table, 0, NULL) : NULL;
    if (create->table && !table) {
        (void)fputs("assayd: --table is no JSON object\n", stderr);
        return false;
    }
    return !table || json_object_set_new(body, "table", table) == 0;
}

/* The declaration; NULL when a file is not there. */
static json_t *declare(const struct create *create, int n_files, char **files)
{
    char name[64];
    time_t now = time(NULL);
    struct tm parts;
    (void)strftime(name, sizeof name, "data set %Y-%m-%d %H:%M:%S", gmtime_r(&now, &parts));
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
    json_t *body = json_pack("{s:s, s:s, s:o}", "name", create->name ? create->name : name,
                             "layout", create->layout, "files", list);
    if (strcmp(create->layout, "table") == 0 || strcmp(create->layout, "cmapss") == 0) {
        (void)json_object_set_new(body, "kind", json_string("sequences"));
    }
    if (create->classes) {
        (void)json_object_set_new(body, "classes", split_names(create->classes));
    }
    if (!add_table(create, body)) {
        json_decref(body);
        return NULL;
    }
    return body;
}

static bool upload(struct cli_client *client, const char *id, const char *path)
{
    char target[512];
    size_t size = 0;
    FILE *file = file_size(path, &size) ? fopen(path, "re") : NULL;
    if (!file) {
        return false;
    }
    (void)snprintf(target, sizeof target, "/v1/datasets/%.64s/files/%.400s", id, base_name(path));
    struct cli_request request = {
        .method = "PUT", .path = target, .upload = file, .upload_size = size};
    json_t *answer = cli_call(client, &request);
    (void)fclose(file);
    json_decref(answer);
    return answer != NULL;
}

static void print_refusal(const json_t *dataset)
{
    const char *text = json_string_value(json_object_get(dataset, "error"));
    const json_t *refused = json_object_get(json_object_get(dataset, "report"), "refused");
    (void)fprintf(stderr, "assayd: the data set is refused: %s\n", text ? text : "");
    for (size_t i = 0; i < json_array_size(refused) && i < 10; i++) {
        const json_t *row = json_array_get(refused, i);
        const char *name = json_string_value(json_object_get(row, "name"));
        const char *why = json_string_value(json_object_get(row, "text"));
        (void)fprintf(stderr, "  %s: %s\n", name ? name : "?", why ? why : "?");
    }
}

static int wait_ready(struct cli_client *client, const char *id)
{
    char path[128];
    (void)snprintf(path, sizeof path, "/v1/datasets/%.64s", id);
    for (;;) {
        json_t *dataset = cli_call(client, &(struct cli_request){.method = "GET", .path = path});
        const char *state = json_string_value(json_object_get(dataset, "state"));
        bool ready = state && strcmp(state, "ready") == 0;
        bool refused = state && strcmp(state, "refused") == 0;
        if (refused) {
            print_refusal(dataset);
        }
        json_decref(dataset);
        if (ready || refused || !state) {
            return ready ? CLI_EXIT_OK : CLI_EXIT_FAILED;
        }
        sv_clock_sleep_ms(POLL_MS);
    }
}

static int create_in(struct cli_client *client, const struct create *create, const json_t *body,
                     int n_files, char **files)
{
    struct cli_request request = {.method = "POST", .path = "/v1/datasets", .body = body};
    json_t *made = cli_call(client, &request);
    const char *id = json_string_value(json_object_get(made, "id"));
    int status = id ? CLI_EXIT_OK : CLI_EXIT_FAILED;
    for (int i = 0; i < n_files && status == CLI_EXIT_OK; i++) {
        status = upload(client, id, files[i]) ? CLI_EXIT_OK : CLI_EXIT_FAILED;
    }
    if (status == CLI_EXIT_OK && !create->no_wait) {
        status = wait_ready(client, id);
    }
    if (status == CLI_EXIT_OK) {
        (void)printf("%s\n", id);
    }
    json_decref(made);
    return status;
}

static int create_main(int argc, char **argv)
{
    struct create create = {0};
    const struct cli_option options[] = {
        {"--server", &create.server, NULL}, {"--layout", &create.layout, NULL},
        {"--name", &create.name, NULL},     {"--classes", &create.classes, NULL},
        {"--table", &create.table, NULL},   {"--no-wait", NULL, &create.no_wait},
    };
    if (!cli_arguments(&argc, argv, options, sizeof options / sizeof options[0], USAGE)) {
        return CLI_EXIT_USAGE;
    }
    if (!create.layout || argc < 1 || argc > MAX_FILES) {
        (void)fputs(USAGE, stderr);
        return CLI_EXIT_USAGE;
    }
    json_t *body = declare(&create, argc, argv);
    if (!body) {
        return CLI_EXIT_USAGE;
    }
    struct cli_client *client = cli_client_create(create.server);
    int status = client ? create_in(client, &create, body, argc, argv) : CLI_EXIT_FAILED;
    cli_client_destroy(client);
    json_decref(body);
    return status;
}

static void print_datasets(const json_t *items)
{
    static const char *const keys[] = {"number", "id", "name", "state", "class_count"};
    static const bool right[] = {true, false, false, false, true};
    cli_rows_print(items, keys, sizeof keys / sizeof keys[0], right, stdout);
}

static int look_main(const char *verb, int argc, char **argv)
{
    const char *server = NULL;
    const struct cli_option options[] = {{"--server", &server, NULL}};
    bool list = strcmp(verb, "list") == 0;
    char path[128] = "/v1/datasets?limit=500";
    if (!cli_arguments(&argc, argv, options, 1, USAGE)) {
        return CLI_EXIT_USAGE;
    }
    if (argc != (list ? 0 : 1)) {
        (void)fputs(USAGE, stderr);
        return CLI_EXIT_USAGE;
    }
    if (!list) {
        (void)snprintf(path, sizeof path, "/v1/datasets/%.64s", argv[0]);
    }
    struct cli_client *client = cli_client_create(server);
    json_t *answer =
        client ? cli_call(client, &(struct cli_request){.method = "GET", .path = path}) : NULL;
    if (answer && list) {
        print_datasets(json_object_get(answer, "items"));
    } else if (answer) {
        (void)json_dumpf(answer, stdout, JSON_INDENT(2));
        (void)putchar('\n');
    }
    json_decref(answer);
    cli_client_destroy(client);
    return answer ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}

int cli_dataset_main(int argc, char **argv)
{
    const char *verb = argc > 0 ? argv[0] : "";
    if (strcmp(verb, "create") == 0) {
        return create_main(argc - 1, argv + 1);
    }
    if (strcmp(verb, "list") == 0 || strcmp(verb, "show") == 0) {
        return look_main(verb, argc - 1, argv + 1);
    }
    (void)fputs(USAGE, stderr);
    return CLI_EXIT_USAGE;
}
