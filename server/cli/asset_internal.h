/* SPDX-License-Identifier: MIT
 *
 * Commands for what is uploaded as files and then checked: data sets and weights.
 */
#ifndef CLI_ASSET_INTERNAL_H
#define CLI_ASSET_INTERNAL_H

#include "server/cli/cli_internal.h"

struct cli_asset {
    const char *what;        /* with its verb: "data set is" */
    const char *path;        /* "/v1/datasets" */
    const char *usage;       /* of its command */
    const char *const *keys; /* columns of a list */
    const bool *right;
    size_t n_keys;
};

/* [{name, size}] for a declaration; NULL when a file is not there, said on stderr. */
json_t *cli_asset_files(int n_files, char **files);
/* Declares, uploads, waits until it is ready unless no_wait, prints the id. Returns the exit
 * status; a refusal is said on stderr. */
int cli_asset_create(const struct cli_asset *asset, const char *server, bool no_wait,
                     const json_t *body, int n_files, char **files);
/* list, or show ID. Returns the exit status. */
int cli_asset_look(const struct cli_asset *asset, const char *verb, int argc, char **argv);

#endif
