/* SPDX-License-Identifier: MIT
 *
 * assayd list; assayd show ID; assayd cancel ID
 */
#include <stdlib.h>
#include <string.h>

#include "server/cli/cli_internal.h"

static const char USAGE[] = "usage: assayd list [--server URL]\n"
                            "       assayd show JOB-ID [--server URL]\n"
                            "       assayd cancel JOB-ID [--server URL]\n";

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
    if (!cli_arguments(&argc, argv, options, 1, USAGE)) {
        return NULL;
    }
    if (argc != n || (n > 0 && strlen(argv[0]) > 64)) {
        (void)fputs(USAGE, stderr);
        return NULL;
    }
    *out_status = CLI_EXIT_FAILED;
    return cli_client_create(server);
}

int cli_list_main(int argc, char **argv)
{
    int status;
    struct cli_client *client = begin(argc, argv, 0, &status);
    struct cli_request request = {.method = "GET", .path = "/v1/jobs?limit=100"};
    json_t *answer = client ? cli_call(client, &request) : NULL;
    if (answer) {
        print_jobs(json_object_get(answer, "items"));
        status = CLI_EXIT_OK;
    }
    json_decref(answer);
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
    (void)snprintf(path, sizeof path, "/v1/jobs/%.64s", argv[0]);
    json_t *job = cli_call(client, &(struct cli_request){.method = "GET", .path = path});
    if (job) {
        char *name = cli_cell(json_object_get(job, "name"));
        char *state = cli_cell(json_object_get(job, "state"));
        (void)printf("%s  %s\n", name ? name : "", state ? state : "");
        free(name);
        free(state);
        status = cli_results_print(client, argv[0], stdout) ? CLI_EXIT_OK : CLI_EXIT_FAILED;
    }
    json_decref(job);
    cli_client_destroy(client);
    return status;
}

int cli_cancel_main(int argc, char **argv)
{
    int status;
    char path[128];
    struct cli_client *client = begin(argc, argv, 1, &status);
    if (!client) {
        return status;
    }
    (void)snprintf(path, sizeof path, "/v1/jobs/%.64s/cancel", argv[0]);
    json_t *answer = cli_call(client, &(struct cli_request){.method = "POST", .path = path});
    status = answer ? CLI_EXIT_OK : CLI_EXIT_FAILED;
    json_decref(answer);
    cli_client_destroy(client);
    return status;
}
