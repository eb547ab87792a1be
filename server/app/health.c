/* SPDX-License-Identifier: MIT
 *
 * `assayd health work`: a worker has no port; its health is the sign it gives to the database.
 */
#include <stdio.h>
#include <string.h>

#include "server/app/app_internal.h"
#include "server/cli/cli.h"
#include "server/store/cluster.h"
#include "server/store/store.h"
#include "server/store/workers.h"

static enum sv_status read_node(const struct app *app, char out_node[SV_ID_SIZE],
                                struct sv_error *err)
{
    char path[APP_PATH_SIZE + 16];
    (void)snprintf(path, sizeof path, "%s/work/node", app->data_dir);
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(out_node, 1, SV_ID_SIZE - 1, file) : 0;
    out_node[n] = '\0';
    if (file) {
        (void)fclose(file);
    }
    return sv_id_is_valid(out_node)
               ? SV_OK
               : sv_fail(err, SV_ERR_NOT_FOUND, "no worker has used the data directory");
}

static enum sv_status check_worker(const struct app *app, struct sv_error *err)
{
    char conninfo[STORE_CONNINFO_SIZE];
    char node[SV_ID_SIZE];
    struct store *store = NULL;
    enum sv_status st = read_node(app, node, err);
    st = st == SV_OK ? app_conninfo(app, conninfo, sizeof conninfo, err) : st;
    if (st != SV_OK) {
        return st;
    }
    struct store_options options = {.conninfo = conninfo,
                                    .application_name = "assayd health",
                                    .max_connections = 1,
                                    .log = &app->log};
    st = store_open(&options, &store, err);
    st = st == SV_OK ? store_worker_check(store, node, (int)app->config.lease_seconds * 1000, err)
                     : st;
    store_close(store);
    return st;
}

int app_health_main(int argc, char **argv)
{
    struct app app;
    struct sv_error err = {0};
    if (argc == 0 || strcmp(argv[0], "work") != 0) {
        return cli_health_main(argc, argv);
    }
    argc--;
    argv++;
    if (!app_init(&app, "health", &argc, argv) || !app_no_arguments(argc, argv)) {
        return APP_EXIT_USAGE;
    }
    enum sv_status st = check_worker(&app, &err);
    app_deinit(&app);
    (void)fprintf(st == SV_OK ? stdout : stderr, "%s\n", st == SV_OK ? "works" : err.text);
    return st == SV_OK ? APP_EXIT_OK : APP_EXIT_FAILED;
}
