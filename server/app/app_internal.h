/* SPDX-License-Identifier: MIT
 *
 * What the roles of the program share: exit statuses, the loaded configuration, signals as a
 * descriptor, the data directory.
 */
#ifndef APP_APP_INTERNAL_H
#define APP_APP_INTERNAL_H

#include "server/base/error.h"
#include "server/base/log.h"
#include "server/config/config.h"
#include "server/http/server.h"

#define APP_VERSION "0.1.0"

enum app_exit {
    APP_EXIT_OK = 0,
    APP_EXIT_FAILED = 1,  /* worth another try: address in use, database away */
    APP_EXIT_USAGE = 2,   /* bad options: another try would fail alike */
    APP_EXIT_REFUSED = 3, /* the data directory or the schema is not ours to use */
};

enum { APP_PATH_SIZE = 1024 };

/* Made once by a role's main; then immutable. */
struct app {
    struct cfg config;
    struct sv_log log;
    char data_dir[APP_PATH_SIZE]; /* absolute */
    int parent_pipe;              /* end of file: drain; -1 when started by hand */
};

/* Loads configuration (flags are taken out of argv) and sets up log and data directory's name. A
 * bad option is printed to stderr and false is returned. */
SV_MUST_CHECK bool app_init(struct app *app, const char *process, int *inout_argc, char **argv);
void app_deinit(struct app *app);

/* Nothing is left of argv after app_init; else says so on stderr. */
SV_MUST_CHECK bool app_no_arguments(int argc, char *const *argv);

/* Can the configured address be listened on, as far as it can be told beforehand? Else says so on
 * stderr. */
SV_MUST_CHECK bool app_listen_is_sound(const struct app *app);

/* Blocks SIGTERM, SIGINT, SIGHUP (and SIGCHLD if with_children) for all threads made later, ignores
 * SIGPIPE, and returns a descriptor that is readable when one arrives. -1 on failure. */
int app_signals_open(bool with_children);
/* Takes one signal; 0 when there is none. */
int app_signals_take(int signal_fd);

/* A descriptor that is readable once a signal came or the parent is gone. -1 on failure. */
int app_drain_open(const struct app *app);

/* Makes the data directory where needed; SV_ERR_INTERNAL when it cannot be used. */
SV_MUST_CHECK enum sv_status app_data_dir_make(const char *path, struct sv_error *err);
/* Locks `name` in the directory for this process' life. SV_ERR_CONFLICT when another holds it. */
SV_MUST_CHECK enum sv_status app_lock(const char *directory, const char *name, int *out_fd,
                                      struct sv_error *err);

/* The connection string: the configured one, or that of the running embedded cluster. */
SV_MUST_CHECK enum sv_status app_conninfo(const struct app *app, char *out, size_t size,
                                          struct sv_error *err);

/* Every route of the service, free() frees them; their handlers take a struct api_ctx. NULL when
 * out of memory. */
struct http_route *app_routes_create(size_t *out_count);

/* The roles; each returns the exit status. argv holds what follows the role's name. */
int app_parent_main(int argc, char **argv);
int app_serve_main(int argc, char **argv);
int app_work_main(int argc, char **argv);
int app_migrate_main(int argc, char **argv);
extern const char app_token_usage[];
int app_token_main(int argc, char **argv);
extern const char app_backup_usage[];
int app_backup_main(int argc, char **argv);
extern const char app_restore_usage[];
int app_restore_main(int argc, char **argv);
int app_health_main(int argc, char **argv);
int app_routes_main(int argc, char **argv);

#endif
