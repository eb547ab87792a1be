/* SPDX-License-Identifier: MIT
 *
 * assayd list; assayd show ID; assayd cancel ID
 */
#include <stdlib.h>
#include <string.h>

#include "server/cli/cli_internal.h"

const char cli_jobs_usage[] = "usage: assayd list [--server URL]\n"
                              "       assayd show JOB [--server URL]\n"
                              "       assayd cancel JOB [--server URL]\n"
                              "       JOB is an id, or a number as list shows it.\n";

static void print_jobs(const json_t *items)
{
    static const char *const keys[] = {"number", "id", "name", "kind", "state", "created_at"};
    static const bool right[] = {true, false, false, false, false, false};
    cli_rows_print(items, keys, sizeof keys / sizeof keys[0], right, stdout);
}

/* Takes "--server" and exactly n further arguments; NULL on a usage mistake, said on stderr. */
static struct cli_client *begin(int argc, char **argv, int n, int *out_status)
{
    const char *server = NULL;
    const struct cli_option options[] = {{"--server", &server, NULL}};
    *out_status = CLI_EXIT_USAGE;
    if (!cli_arguments(&argc, argv, options, 1, cli_jobs_usage)) {
        return NULL;
    }
    if (argc != n || (n > 0 && strlen(argv[0]) > 64)) {
        (void)fputs(cli_jobs_usage, stderr);
        return NULL;
    }
    *out_status = CLI_EXIT_FAILED;
    return cli_client_create(server);
}

/* The path of a job named by id, or by its number, which the list is asked for. False when there is
 * no such number or no answer, said on stderr. */
static bool job_path(struct cli_client *client, const char *name, const char *verb, char *out,
                     size_t size)
{
    bool is_number = strlen(name) < 19 && name[strspn(name, "0123456789")] == '\0';
    if (!is_number) {
        (void)snprintf(out, size, "/v1/jobs/%.64s%s", name, verb);
        return true;
    }
    json_int_t number = strtoll(name, NULL, 10);
    json_t *items = cli_items(client, "/v1/jobs?limit=500");
    const char *id = NULL;
    for (size_t i = 0; i < json_array_size(items) && !id; i++) {
        const json_t *job = json_array_get(items, i);
        if (json_integer_value(json_object_get(job, "number")) == number) {
            id = json_string_value(json_object_get(job, "id"));
        }
    }
    if (id) {
        (void)snprintf(out, size, "/v1/jobs/%.64s%s", id, verb);
    } else if (items) {
        cli_say("assayd: no job in the list has the number %s", name);
    }
    bool found = id != NULL; /* it is the list's */
    json_decref(items);
    return found;
}

int cli_list_main(int argc, char **argv)
{
    int status;
    struct cli_client *client = begin(argc, argv, 0, &status);
    json_t *jobs = client ? cli_items(client, "/v1/jobs?limit=500") : NULL;
    if (jobs) {
        print_jobs(jobs);
        status = CLI_EXIT_OK;
    }
    json_decref(jobs);
    cli_client_destroy(client);
    return status;
}

int cli_show_main(int argc, char **argv)
{
    int status;
    char path[128];
    struct cli_client *client = begin(argc, argv, 1, &status);
    if (!client) {
        return status;
    }
    json_t *job = NULL;
    if (job_path(client, argv[0], "", path, sizeof path)) {
        job =
            cli_call(client, &(struct cli_request){.method = "GET", .path = path, .text = "state"});
    }
    if (job) {
        char *name = cli_cell(json_object_get(job, "name"));
        char *state = cli_cell(json_object_get(job, "state"));
        (void)printf("%s  %s\n", name ? name : "", state ? state : "");
        free(name);
        free(state);
        const char *id = json_string_value(json_object_get(job, "id"));
        status = id && cli_results_print(client, id, stdout) ? CLI_EXIT_OK : CLI_EXIT_FAILED;
    }
    json_decref(job);
    cli_client_destroy(client);
    return status;
}

static long long count_of(const json_t *applied, const char *key)
{
    return (long long)json_integer_value(json_object_get(applied, key));
}

static void print_cancelled(const json_t *answer)
{
    const json_t *applied = json_object_get(answer, "applied");
    const char *state = json_string_value(json_object_get(answer, "state"));
    (void)printf("%lld trials cancelled, %lld asked to end, %lld ended before; the job is %s\n",
                 count_of(applied, "changed"), count_of(applied, "requested"),
                 count_of(applied, "unchanged") + count_of(applied, "refused"),
                 state ? state : "?");
}

int cli_cancel_main(int argc, char **argv)
{
    int status;
    char path[128];
    struct cli_client *client = begin(argc, argv, 1, &status);
    if (!client) {
        return status;
    }
    json_t *answer = NULL;
    if (job_path(client, argv[0], "/cancel", path, sizeof path)) {
        answer = cli_call(client,
                          &(struct cli_request){.method = "POST", .path = path, .text = "state"});
    }
    status = answer ? CLI_EXIT_OK : CLI_EXIT_FAILED;
    if (answer) {
        print_cancelled(answer);
    }
    json_decref(answer);
    cli_client_destroy(client);
    return status;
}
