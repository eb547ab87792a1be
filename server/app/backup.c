/* SPDX-License-Identifier: MIT
 *
 * `assayd backup` and `assayd restore`: with the daemon or without it.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/app/database.h"
#include "server/store/backup.h"
#include "server/store/store.h"

/* A COPY ends with the checks of its references, which take long for a large table. */
enum { STATEMENT_MS = 30 * 60 * 1000 };

const char app_backup_usage[] =
    "usage: assayd backup [OPTIONS] FILE|DIR\n"
    "       Saves the whole history, files and trained networks with it, in one new file, as it "
    "is\n"
    "       at one moment, while the daemon runs or not. Into a directory: under a name with the\n"
    "       time. Of access tokens the file holds digests alone; keep it as you keep the "
    "database.\n"
    "       The database is that of --data-dir DIR or ASSAY_DATA_DIR, or --database.\n";

const char app_restore_usage[] =
    "usage: assayd restore [OPTIONS] FILE\n"
    "       assayd restore --check FILE\n"
    "       Brings a backup into an empty database: that of a new data directory (--data-dir DIR,\n"
    "       ASSAY_DATA_DIR), or an empty one named by --database. All or nothing. Trials that ran\n"
    "       are queued again and go on from the last checkpoint in the backup. --check only reads\n"
    "       the file and says whether it is whole.\n";

static bool go_on(void *ctx)
{
    const int *signal_fd = ctx;
    return app_signals_take(*signal_fd) == 0;
}

static int report(enum sv_status st, const char *verb, const char *path,
                  const struct store_backup_summary *summary, const struct sv_error *err)
{
    if (st != SV_OK) {
        (void)fprintf(stderr, "assayd: %s\n", err->text[0] ? err->text : sv_status_title(st));
        return APP_EXIT_FAILED;
    }
    (void)printf("%s: %s: schema %d of %s, %lld tables, %lld rows, %lld bytes\n", path, verb,
                 summary->schema, summary->made, (long long)summary->tables,
                 (long long)summary->rows, (long long)summary->bytes);
    return APP_EXIT_OK;
}

static bool name_in_directory(const char *path, char *out, size_t size)
{
    struct stat info;
    char name[64] = "";
    struct tm now;
    time_t clock = time(NULL);
    bool is_directory = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    if (is_directory && gmtime_r(&clock, &now)) {
        (void)strftime(name, sizeof name, "/assay-%Y%m%dT%H%M%SZ.backup", &now);
    }
    int n = snprintf(out, size, "%s%s", path, name);
    return n > 0 && (size_t)n < size;
}

typedef enum sv_status (*store_work)(struct store *store, const char *path,
                                     const struct store_backup_watch *watch,
                                     struct store_backup_summary *out_summary,
                                     struct sv_error *err);

/* Opens the database and does the one thing with it. */
static enum sv_status with_store(const struct app *app, bool make, store_work work,
                                 const char *path, struct store_backup_summary *out_summary,
                                 struct sv_error *err)
{
    struct app_database database;
    struct store *store = NULL;
    int signal_fd = app_signals_open(false);
    const struct store_backup_watch watch = {.go_on = go_on, .ctx = &signal_fd};
    enum sv_status st = app_database_open(app, make, &database, err);
    if (st != SV_OK) {
        return st;
    }
    struct store_options options = {.conninfo = database.conninfo,
                                    .application_name = "assayd backup",
                                    .max_connections = 1,
                                    .statement_timeout_ms = STATEMENT_MS,
                                    .log = &app->log};
    st = store_open(&options, &store, err);
    st = st == SV_OK ? work(store, path, &watch, out_summary, err) : st;
    store_close(store);
    app_database_close(&database);
    return st;
}

int app_backup_main(int argc, char **argv)
{
    struct app app;
    char path[APP_PATH_SIZE];
    struct sv_error err = {0};
    struct store_backup_summary summary = {0};
    if (!app_init(&app, "backup", &argc, argv)) {
        return APP_EXIT_USAGE;
    }
    if (argc != 1 || argv[0][0] == '-' || !name_in_directory(argv[0], path, sizeof path)) {
        (void)fputs(app_backup_usage, stderr);
        app_deinit(&app);
        return APP_EXIT_USAGE;
    }
    enum sv_status st = with_store(&app, false, store_backup, path, &summary, &err);
    app_deinit(&app);
    return report(st, "saved", path, &summary, &err);
}

int app_restore_main(int argc, char **argv)
{
    struct app app;
    struct sv_error err = {0};
    struct store_backup_summary summary = {0};
    if (!app_init(&app, "restore", &argc, argv)) {
        return APP_EXIT_USAGE;
    }
    bool check = argc > 0 && strcmp(argv[0], "--check") == 0;
    const char *path = argc == 1 + check ? argv[check] : "-";
    if (path[0] == '-') {
        (void)fputs(app_restore_usage, stderr);
        app_deinit(&app);
        return APP_EXIT_USAGE;
    }
    enum sv_status st = store_backup_check(path, NULL, &summary, &err);
    if (st == SV_OK && !check) {
        st = with_store(&app, true, store_restore, path, &summary, &err);
    }
    app_deinit(&app);
    if (st == SV_OK && summary.lost > 0) {
        (void)printf("%zu that were under way are queued again\n", summary.lost);
    }
    return report(st, check ? "whole" : "restored", path, &summary, &err);
}
