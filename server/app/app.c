/* SPDX-License-Identifier: MIT
 *
 * Role table: the first argument picks what this process is; without one it is the parent.
 */
#include "server/app/app.h"

#include <stdio.h>
#include <string.h>

#include "core/base/build.h"
#include "server/app/app_internal.h"
#include "server/cli/cli.h"
#include "server/trial/trial.h"

static int help_main(int argc, char **argv);
static int version_main(int argc, char **argv);

static int trial_main(int argc, char **argv)
{
    return trial_train_main(argc, argv);
}

static int import_main(int argc, char **argv)
{
    return trial_import_main(argc, argv);
}

struct role {
    const char *name;
    int (*main)(int argc, char **argv); /* argv: what follows the name */
    const char *does;                   /* NULL: not for people */
};

static const struct role ROLES[] = {
    {"serve", app_serve_main, "the HTTP service alone"},
    {"work", app_work_main, "a worker pool alone"},
    {"submit", cli_submit_main, "submit a job; --watch shows its progress and results"},
    {"dataset", cli_dataset_main, "create, list or show data sets"},
    {"weights", cli_weights_main, "create, list or show pretrained weights"},
    {"list", cli_list_main, "list jobs"},
    {"show", cli_show_main, "show a job with its trials"},
    {"cancel", cli_cancel_main, "cancel a job"},
    {"simulate", cli_simulate_main, "write simulated data to try things on"},
    {"migrate", app_migrate_main, "bring the database's schema up to date"},
    {"token", app_token_main, "create, list or revoke access tokens"},
    {"routes", app_routes_main, "print the routes of the service"},
    {"help", help_main, "this text"},
    {"version", version_main, "version and core build"},
    {"trial", trial_main, NULL},
    {"import", import_main, NULL},
};

static int help_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    (void)puts("usage: assayd [OPTIONS]           database, service and workers in one\n"
               "       assayd ROLE [OPTIONS]\n\nroles:");
    for (size_t i = 0; i < sizeof ROLES / sizeof ROLES[0]; i++) {
        if (ROLES[i].does) {
            (void)printf("  %-9s %s\n", ROLES[i].name, ROLES[i].does);
        }
    }
    (void)puts("\noptions of the daemon, as flag or in the environment:");
    cfg_print_help(stdout);
    return APP_EXIT_OK;
}

static int version_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    (void)printf("assayd %s core %s\n", APP_VERSION, nn_core_build_id);
    return APP_EXIT_OK;
}

int app_main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name) {
        return app_parent_main(0, argv + argc);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        return help_main(0, NULL);
    }
    if (strcmp(name, "--version") == 0) {
        return version_main(0, NULL);
    }
    for (size_t i = 0; i < sizeof ROLES / sizeof ROLES[0]; i++) {
        if (strcmp(ROLES[i].name, name) == 0) {
            return ROLES[i].main(argc - 2, argv + 2);
        }
    }
    if (strncmp(name, "--", 2) == 0) {
        return app_parent_main(argc - 1, argv + 1);
    }
    (void)fprintf(stderr, "assayd: unknown role '%s'; see assayd help\n", name);
    return APP_EXIT_USAGE;
}
