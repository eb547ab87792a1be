/* SPDX-License-Identifier: MIT
 *
 * Role table: the first argument picks what this process is; without one it is the parent.
 */
#include "server/app/app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

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
    const char *usage;                  /* of a command; NULL: options of the daemon alone */
};

static const struct role ROLES[] = {
    {"serve", app_serve_main, "the HTTP service alone", NULL},
    {"work", app_work_main, "a worker pool alone", NULL},
    {"submit", cli_submit_main, "submit a job; --watch shows its progress and results",
     cli_submit_usage},
    {"dataset", cli_dataset_main, "create, list or show data sets", cli_dataset_usage},
    {"weights", cli_weights_main, "create, list or show pretrained weights", cli_weights_usage},
    {"list", cli_list_main, "list jobs", cli_jobs_usage},
    {"show", cli_show_main, "show a job with its trials", cli_jobs_usage},
    {"cancel", cli_cancel_main, "cancel a job", cli_jobs_usage},
    {"simulate", cli_simulate_main, "write simulated data to try things on", cli_simulate_usage},
    {"migrate", app_migrate_main, "bring the database's schema up to date", NULL},
    {"token", app_token_main, "create, list or revoke access tokens", app_token_usage},
    {"backup", app_backup_main, "save the whole history in one file", app_backup_usage},
    {"restore", app_restore_main, "bring a backup into an empty database", app_restore_usage},
    {"health", app_health_main, "is the server, or this worker, well?", cli_health_usage},
    {"routes", app_routes_main, "print the routes of the service", "usage: assayd routes\n"},
    {"help", help_main, "this text; help ROLE: how that one is called", NULL},
    {"version", version_main, "version and core build", "usage: assayd version\n"},
    {"trial", trial_main, NULL, NULL},
    {"import", import_main, NULL, NULL},
};

static const struct role *find_role(const char *name)
{
    for (size_t i = 0; i < sizeof ROLES / sizeof ROLES[0]; i++) {
        if (strcmp(ROLES[i].name, name) == 0) {
            return &ROLES[i];
        }
    }
    return NULL;
}

static int help_of(const struct role *role)
{
    if (role->usage) {
        (void)fputs(role->usage, stdout);
        return APP_EXIT_OK;
    }
    (void)printf("usage: assayd %s [OPTIONS]    %s\n\noptions, as flag or in the environment:\n",
                 role->name, role->does);
    cfg_print_help(stdout);
    return APP_EXIT_OK;
}

static int help_main(int argc, char **argv)
{
    const struct role *role = argc > 0 ? find_role(argv[0]) : NULL;
    if (role && role->does && role->main != help_main) {
        return help_of(role);
    }
    if (argc > 0 && !role) {
        (void)fprintf(stderr, "assayd: unknown role '%s'; see assayd help\n", argv[0]);
        return APP_EXIT_USAGE;
    }
    (void)puts("usage: assayd [OPTIONS]           database, service and workers in one\n"
               "       assayd ROLE [OPTIONS]\n\nroles:");
    for (size_t i = 0; i < sizeof ROLES / sizeof ROLES[0]; i++) {
        if (ROLES[i].does) {
            (void)printf("  %-9s %s\n", ROLES[i].name, ROLES[i].does);
        }
    }
    (void)puts("\nassayd help ROLE tells more. Commands speak to the server that --server URL or\n"
               "ASSAY_SERVER names (http://127.0.0.1:8470), with the token in ASSAY_TOKEN.\n"
               "\noptions of the daemon, as flag or in the environment:");
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

/* "--help" or "-h" among the options, which "--" ends. */
static bool asks_for_help(int argc, char *const *argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}

/* OpenBLAS starts its threads before main, and such a thread takes the signals that are meant for
 * the descriptor we wait on: a SIGTERM ended the process at once, an ended child went unnoticed. So
 * the process begins anew where OpenBLAS may start one; the core has threads of its own. */
static void run_without_blas_threads(char **argv)
{
    static const char NAME[] = "OPENBLAS_NUM_THREADS";
    const char *threads = getenv(NAME);
    if ((!threads || strcmp(threads, "1") != 0) && setenv(NAME, "1", 1) == 0) {
        (void)execv("/proc/self/exe", argv); /* without /proc it goes on as it is */
    }
    (void)prctl(PR_SET_NAME, "assayd"); /* it was named after the link */
}

int app_main(int argc, char **argv)
{
    run_without_blas_threads(argv);
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
    const struct role *role = find_role(name);
    if (role && role->does && asks_for_help(argc - 2, argv + 2)) {
        return help_main(1, argv + 1);
    }
    if (role) {
        return role->main(argc - 2, argv + 2);
    }
    if (strncmp(name, "--", 2) == 0) {
        return app_parent_main(argc - 1, argv + 1);
    }
    (void)fprintf(stderr, "assayd: unknown role '%s'; see assayd help\n", name);
    return APP_EXIT_USAGE;
}
