/* SPDX-License-Identifier: MIT
 *
 * Administration commands: migrate, token, routes. They talk to the database directly.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/app/app_internal.h"
#include "server/http/server.h"
#include "server/store/cluster.h"
#include "server/store/migrate.h"
#include "server/store/projects.h"

static int complain(const struct sv_error *err, enum sv_status st)
{
    (void)fprintf(stderr, "assayd: %s\n", err->text[0] ? err->text : sv_status_title(st));
    return APP_EXIT_FAILED;
}

static enum sv_status open_store(const struct app *app, struct store **out_store,
                                 struct sv_error *err)
{
    char conninfo[STORE_CONNINFO_SIZE];
    enum sv_status st = app_conninfo(app, conninfo, sizeof conninfo, err);
    if (st != SV_OK) {
        return st;
    }
    struct store_options options = {.conninfo = conninfo,
                                    .application_name = "assayd admin",
                                    .max_connections = 1,
                                    .log = &app->log};
    return store_open(&options, out_store, err);
}

int app_migrate_main(int argc, char **argv)
{
    struct app app;
    struct store *store = NULL;
    struct sv_error err = {0};
    struct store_migrated migrated = {0};
    if (!app_init(&app, "migrate", &argc, argv) || !app_no_arguments(argc, argv)) {
        return APP_EXIT_USAGE;
    }
    enum sv_status st = open_store(&app, &store, &err);
    st = st == SV_OK ? store_migrate(store, &migrated, &err) : st;
    if (st == SV_OK) {
        (void)printf("schema version %d, %d migrations applied\n", migrated.version,
                     migrated.applied);
    }
    store_close(store);
    app_deinit(&app);
    return st == SV_OK ? APP_EXIT_OK : complain(&err, st);
}

/* ---------------------------------------------------------------------------------- token */

const char app_token_usage[] =
    "usage: assayd token create [--name N] [--role viewer|submitter|admin] [--days N] [--project "
    "P]\n"
    "       assayd token list [--project P]\n"
    "       assayd token revoke --id ID [--project P]\n"
    "       Speaks to the database itself: takes --data-dir DIR or ASSAY_DATA_DIR as the daemon "
    "got\n"
    "       it, or --database. Once a token exists every request needs one, from loopback too:\n"
    "       commands take it from ASSAY_TOKEN, requests carry Authorization: Bearer TOKEN.\n";

struct token_arguments {
    const char *project, *name, *role, *days, *id;
};

static bool take_token_arguments(int argc, char **argv, struct token_arguments *out)
{
    const struct {
        const char *flag;
        const char **value;
    } flags[] = {{"--project", &out->project},
                 {"--name", &out->name},
                 {"--role", &out->role},
                 {"--days", &out->days},
                 {"--id", &out->id}};
    for (int i = 0; i < argc; i += 2) {
        bool known = false;
        for (size_t k = 0; k < sizeof flags / sizeof flags[0] && i + 1 < argc; k++) {
            if (strcmp(argv[i], flags[k].flag) == 0) {
                *flags[k].value = argv[i + 1];
                known = true;
            }
        }
        if (!known) {
            return false;
        }
    }
    return true;
}

static enum sv_status create_token(struct store *store, const char *project_id,
                                   const struct token_arguments *arguments, struct sv_error *err)
{
    enum store_role role;
    char id[SV_ID_SIZE];
    char token[STORE_TOKEN_SIZE];
    int days = arguments->days ? (int)strtol(arguments->days, NULL, 10) : 0;
    if (!store_role_parse(arguments->role ? arguments->role : "submitter", &role)) {
        return sv_fail(err, SV_ERR_INVALID_PARAMETER, "the role is viewer, submitter or admin");
    }
    enum sv_status st = store_token_create(
        store, project_id, arguments->name ? arguments->name : "token", role, days, id, token, err);
    if (st == SV_OK) {
        (void)printf("%s\n", token);
        (void)fprintf(stderr, "id %s; the token is shown this once\n", id);
    }
    return st;
}

static enum sv_status list_tokens(struct store *store, const char *project_id, struct sv_error *err)
{
    struct store_memory memory = {0};
    struct store_token_list list = {0};
    enum sv_status st = store_tokens_list(store, project_id, &memory, &list, err);
    for (size_t i = 0; st == SV_OK && i < list.n; i++) {
        const struct store_token *row = &list.rows[i];
        (void)printf("%s  %-9s  %s  made %s%s%s\n", row->id, store_role_text(row->role), row->name,
                     row->created_at, row->revoked_at[0] ? "  revoked " : "", row->revoked_at);
    }
    store_memory_clear(&memory);
    return st;
}

static enum sv_status run_token(struct store *store, const char *verb,
                                const struct token_arguments *arguments, struct sv_error *err)
{
    char project_id[SV_ID_SIZE];
    enum sv_status st = store_project_ensure(
        store, arguments->project ? arguments->project : "default", project_id, err);
    if (st != SV_OK) {
        return st;
    }
    if (strcmp(verb, "create") == 0) {
        return create_token(store, project_id, arguments, err);
    }
    if (strcmp(verb, "list") == 0) {
        return list_tokens(store, project_id, err);
    }
    if (!arguments->id) {
        return sv_fail(err, SV_ERR_INVALID_PARAMETER, "--id is needed");
    }
    return store_token_revoke(store, project_id, arguments->id, err);
}

int app_token_main(int argc, char **argv)
{
    struct app app;
    struct store *store = NULL;
    struct sv_error err = {0};
    struct token_arguments arguments = {0};
    if (!app_init(&app, "token", &argc, argv)) {
        return APP_EXIT_USAGE;
    }
    bool sound = argc > 0 && (strcmp(argv[0], "create") == 0 || strcmp(argv[0], "list") == 0 ||
                              strcmp(argv[0], "revoke") == 0);
    if (!sound || !take_token_arguments(argc - 1, argv + 1, &arguments)) {
        (void)fputs(app_token_usage, stderr);
        app_deinit(&app);
        return APP_EXIT_USAGE;
    }
    enum sv_status st = open_store(&app, &store, &err);
    st = st == SV_OK ? run_token(store, argv[0], &arguments, &err) : st;
    store_close(store);
    app_deinit(&app);
    return st == SV_OK ? APP_EXIT_OK : complain(&err, st);
}

int app_routes_main(int argc, char **argv)
{
    size_t n = 0;
    if (!app_no_arguments(argc, argv)) {
        return APP_EXIT_USAGE;
    }
    struct http_route *routes = app_routes_create(&n);
    for (size_t i = 0; i < n; i++) {
        (void)printf("%s %s\n", routes[i].method, routes[i].pattern);
    }
    free(routes);
    return n > 0 ? APP_EXIT_OK : APP_EXIT_FAILED;
}
