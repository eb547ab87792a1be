/* SPDX-License-Identifier: MIT
 *
 * assayd health: does the server answer that it can serve?
 */
#include <string.h>

#include "server/cli/cli_internal.h"

int cli_health_main(int argc, char **argv)
{
    const char *server = NULL;
    const struct cli_option options[] = {{"--server", &server, NULL}};
    if (!cli_arguments(&argc, argv, options, 1, cli_health_usage)) {
        return CLI_EXIT_USAGE;
    }
    if (argc > 0) {
        (void)fputs(cli_health_usage, stderr);
        return CLI_EXIT_USAGE;
    }
    struct cli_client *client = cli_client_create(server);
    json_t *answer =
        client
            ? cli_call(client,
                       &(struct cli_request){.method = "GET", .path = "/readyz", .text = "status"})
            : NULL;
    if (answer) {
        (void)puts("ready");
    }
    json_decref(answer);
    cli_client_destroy(client);
    return answer ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}

const char cli_health_usage[] =
    "usage: assayd health [--server URL]\n"
    "       assayd health work [OPTIONS]\n"
    "       Is the server ready? Or: does the worker of this data directory (--data-dir DIR,\n"
    "       ASSAY_DATA_DIR) give signs to its database (--database, ASSAY_DATABASE), and can it\n"
    "       work? Exit status 0: yes; for health checks.\n";
