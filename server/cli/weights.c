/* SPDX-License-Identifier: MIT
 *
 * assayd weights create [--name N] [--origin T] [--url U] [--licence L] FILE; weights list; weights
 * show
 */
#include <string.h>

#include "server/cli/asset_internal.h"

const char cli_weights_usage[] =
    "usage: assayd weights create [--name NAME] [--origin TEXT] [--url URL] [--licence TEXT]\n"
    "                             [--no-wait] [--server URL] FILE\n"
    "       assayd weights list [--server URL]\n"
    "       assayd weights show ID [--server URL]\n"
    "       FILE is safetensors, a state dict of PyTorch or ONNX. create prints the id once they "
    "are "
    "ready.\n";

static const char *const KEYS[] = {"number", "id", "name", "state", "format", "element_count"};
static const bool RIGHT[] = {true, false, false, false, false, true};
static const struct cli_asset WEIGHTS = {
    "weights are", "/v1/weights", cli_weights_usage, KEYS, RIGHT, sizeof KEYS / sizeof KEYS[0]};

static int create_main(int argc, char **argv)
{
    const char *server = NULL, *name = NULL, *origin = NULL, *url = NULL, *licence = NULL;
    bool no_wait = false;
    const struct cli_option options[] = {
        {"--server", &server, NULL}, {"--name", &name, NULL},       {"--origin", &origin, NULL},
        {"--url", &url, NULL},       {"--licence", &licence, NULL}, {"--no-wait", NULL, &no_wait},
    };
    if (!cli_arguments(&argc, argv, options, sizeof options / sizeof options[0],
                       cli_weights_usage)) {
        return CLI_EXIT_USAGE;
    }
    if (argc != 1) {
        (void)fputs(cli_weights_usage, stderr);
        return CLI_EXIT_USAGE;
    }
    json_t *files = cli_asset_files(argc, argv);
    const char *file = json_string_value(json_object_get(json_array_get(files, 0), "name"));
    json_t *body =
        !files ? NULL
               : json_pack("{s:s, s:o, s:s*, s:s*, s:s*}", "name", name ? name : file, "files",
                           files, "origin", origin, "url", url, "licence", licence);
    if (!body) {
        return CLI_EXIT_USAGE;
    }
    int status = cli_asset_create(&WEIGHTS, server, no_wait, body, argc, argv);
    json_decref(body);
    return status;
}

int cli_weights_main(int argc, char **argv)
{
    const char *verb = argc > 0 ? argv[0] : "";
    if (strcmp(verb, "create") == 0) {
        return create_main(argc - 1, argv + 1);
    }
    if (strcmp(verb, "list") == 0 || strcmp(verb, "show") == 0) {
        return cli_asset_look(&WEIGHTS, verb, argc - 1, argv + 1);
    }
    (void)fputs(cli_weights_usage, stderr);
    return CLI_EXIT_USAGE;
}
