/* SPDX-License-Identifier: MIT
 *
 * Preparation of the embedded cluster. Every step may be cut off by a kill and is then repeated:
 * the password is written to a temporary file and renamed, initdb fills pg.tmp, which is renamed
 * when it is whole, and a pg.tmp found at start is thrown away.
 *
 * The pid file is left to PostgreSQL, which knows through it whether orphaned backends still use
 * the cluster's shared memory. Only one that names a living process of another program is removed,
 * and only when no process works in the cluster: PostgreSQL would refuse to start for ever.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/store/cluster_internal.h"

/* ".s.PGSQL.5432", a slash and a NUL follow the directory in a socket address of 108 bytes; the
 * lock file beside it is longer but no socket. */
enum { SOCKET_DIR_MAX = 108 - 15 };

static enum sv_status refuse(struct sv_error *err, const char *text)
{
    return sv_fail(err, SV_ERR_INTERNAL, "the embedded database: %s", text);
}

/* Joins with '/'; false when it does not fit. */
static bool join(char *out, size_t size, const char *directory, const char *name)
{
    int n = snprintf(out, size, "%s/%s", directory, name);
    return n > 0 && (size_t)n < size;
}

static enum sv_status choose_user(const struct store_cluster_options *options,
                                  struct store_cluster *cluster, struct sv_error *err)
{
    cluster->uid = geteuid();
    cluster->gid = getegid();
    if (cluster->uid != 0) {
        return SV_OK;
    }
    const struct passwd *user = options->user ? getpwnam(options->user) : getpwnam("assay");
    if (!user && !options->user) {
        user = getpwnam("postgres");
    }
    if (!user || user->pw_uid == 0) {
        return refuse(err, "PostgreSQL does not run as root, and there is no user for it");
    }
    cluster->uid = user->pw_uid;
    cluster->gid = user->pw_gid;
    cluster->switch_user = true;
    return SV_OK;
}

/* The major version of an existing cluster, 0 when there is none. */
static int existing_major(const char *pg_dir)
{
    char path[STORE_PATH_SIZE + 20];
    char line[16] = "";
    (void)snprintf(path, sizeof path, "%s/PG_VERSION", pg_dir);
    FILE *file = fopen(path, "r");
    if (!file) {
        return 0;
    }
    bool read = fgets(line, sizeof line, file) != NULL;
    (void)fclose(file);
    return read ? (int)strtol(line, NULL, 10) : 0;
}

static enum sv_status choose_programs(const struct store_cluster_options *options,
                                      struct store_cluster *cluster, int existing,
                                      struct sv_error *err)
{
    if (store_cluster_find_programs(options->bin_dir, existing, cluster->bin_dir,
                                    &cluster->major)) {
        return SV_OK;
    }
    if (existing > 0 &&
        store_cluster_find_programs(options->bin_dir, 0, cluster->bin_dir, &cluster->major)) {
        return sv_fail(err, SV_ERR_INTERNAL,
                       "the embedded database was made by PostgreSQL %d, here is %d: save it with"
                       " `assayd backup` where PostgreSQL %d is installed, then `assayd restore`",
                       existing, cluster->major, existing);
    }
    return refuse(err, "PostgreSQL is not installed");
}

/* ---- files ---- */

static bool write_new_file(const char *path, const char *text, const struct store_cluster *cluster)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return false;
    }
    ssize_t size = (ssize_t)strlen(text);
    bool done = write(fd, text, (size_t)size) == size &&
                (!cluster->switch_user || fchown(fd, cluster->uid, cluster->gid) == 0) &&
                fsync(fd) == 0;
    return close(fd) == 0 && done;
}

static bool sync_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return done;
}

static bool read_password(const char *path, char out_password[65])
{
    FILE *file = fopen(path, "r");
    if (!file) {
        return false;
    }
    bool read = fgets(out_password, 65, file) != NULL;
    (void)fclose(file);
    return read && strlen(out_password) == 64;
}

static void make_password(char out_password[65])
{
    uint8_t bytes[32];
    size_t done = 0;
    while (done < sizeof bytes) {
        ssize_t n = getrandom(bytes + done, sizeof bytes - done, 0);
        done += n > 0 ? (size_t)n : 0;
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        (void)snprintf(out_password + 2 * i, 3, "%02x", bytes[i]);
    }
}

static enum sv_status ensure_password(const struct store_cluster_options *options,
                                      struct store_cluster *cluster, bool exists,
                                      char out_path[STORE_PATH_SIZE], struct sv_error *err)
{
    char temporary[STORE_PATH_SIZE];
    if (!join(out_path, STORE_PATH_SIZE, options->data_dir, "pg-password") ||
        !join(temporary, sizeof temporary, options->data_dir, "pg-password.tmp")) {
        return refuse(err, "the data directory's path is too long");
    }
    if (read_password(out_path, cluster->password)) {
        return SV_OK;
    }
    if (exists) {
        return refuse(err, "its password file is lost or unreadable");
    }
    make_password(cluster->password);
    if (!write_new_file(temporary, cluster->password, cluster) ||
        rename(temporary, out_path) != 0 || !sync_directory(options->data_dir)) {
        return refuse(err, "the data directory cannot be written");
    }
    return SV_OK;
}

/* A directory of the cluster's user that nobody else enters; an existing one must be just that. */
static bool ensure_private_directory(const char *path, const struct store_cluster *cluster)
{
    struct stat info;
    if (mkdir(path, 0700) == 0) {
        return !cluster->switch_user || chown(path, cluster->uid, cluster->gid) == 0;
    }
    return errno == EEXIST && lstat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
           info.st_uid == cluster->uid && (info.st_mode & 077) == 0;
}

static enum sv_status choose_socket_directory(const struct store_cluster_options *options,
                                              struct store_cluster *cluster, struct sv_error *err)
{
    int n = snprintf(cluster->socket_dir, sizeof cluster->socket_dir, "%s/pg-socket",
                     options->data_dir);
    if (n < 0 || n > SOCKET_DIR_MAX) {
        uint64_t hash = 14695981039346656037u; /* FNV-1a: one directory for one path */
        for (const char *c = options->data_dir; *c; c++) {
            hash = (hash ^ (unsigned char)*c) * 1099511628211u;
        }
        (void)snprintf(cluster->socket_dir, sizeof cluster->socket_dir, "/tmp/assay-%ld-%016llx",
                       (long)cluster->uid, (unsigned long long)hash);
    }
    return ensure_private_directory(cluster->socket_dir, cluster)
               ? SV_OK
               : refuse(err, "its socket directory cannot be made or belongs to somebody else");
}

static enum sv_status make_cluster(const struct store_cluster_options *options,
                                   const struct store_cluster *cluster, const char *password_file,
                                   struct sv_error *err)
{
    char temporary[STORE_PATH_SIZE];
    if (!join(temporary, sizeof temporary, options->data_dir, "pg.tmp")) {
        return refuse(err, "the data directory's path is too long");
    }
    if (!store_cluster_remove_tree(temporary) || !ensure_private_directory(temporary, cluster)) {
        return refuse(err, "the data directory cannot be written");
    }
    enum sv_status st = store_cluster_initdb(cluster, temporary, password_file, options->sync, err);
    if (st == SV_OK &&
        (rename(temporary, cluster->pg_dir) != 0 || !sync_directory(options->data_dir))) {
        st = refuse(err, "the data directory cannot be written");
    }
    return st;
}

/* ---- the pid file of another program ---- */

static bool anyone_works_in(const char *pg_dir)
{
    struct stat directory;
    struct stat cwd;
    bool found = false;
    DIR *proc = opendir("/proc");
    if (!proc || stat(pg_dir, &directory) != 0) {
        found = true; /* unknown: be careful */
    }
    for (struct dirent *entry; !found && (entry = readdir(proc)) != NULL;) {
        char path[300];
        (void)snprintf(path, sizeof path, "/proc/%s/cwd", entry->d_name);
        found = isdigit((unsigned char)entry->d_name[0]) && stat(path, &cwd) == 0 &&
                cwd.st_dev == directory.st_dev && cwd.st_ino == directory.st_ino;
    }
    if (proc) {
        (void)closedir(proc);
    }
    return found;
}

static void drop_foreign_pid_file(const struct store_cluster *cluster)
{
    char path[STORE_PATH_SIZE + 20];
    char line[32] = "";
    (void)snprintf(path, sizeof path, "%s/postmaster.pid", cluster->pg_dir);
    FILE *file = fopen(path, "r");
    if (!file) {
        return;
    }
    long pid = fgets(line, sizeof line, file) ? strtol(line, NULL, 10) : 0;
    (void)fclose(file);
    bool alive = pid > 1 && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
    if (alive && !anyone_works_in(cluster->pg_dir)) {
        (void)unlink(path);
    }
}

enum sv_status store_cluster_prepare(const struct store_cluster_options *options,
                                     struct store_cluster *out_cluster, struct sv_error *err)
{
    struct store_cluster cluster = {0};
    char password_file[STORE_PATH_SIZE];
    if (!join(cluster.pg_dir, sizeof cluster.pg_dir, options->data_dir, "pg")) {
        return refuse(err, "the data directory's path is too long");
    }
    int existing = existing_major(cluster.pg_dir);
    enum sv_status st = choose_user(options, &cluster, err);
    if (st == SV_OK) {
        st = choose_programs(options, &cluster, existing, err);
    }
    if (st == SV_OK) {
        st = ensure_password(options, &cluster, existing > 0, password_file, err);
    }
    if (st == SV_OK) {
        st = choose_socket_directory(options, &cluster, err);
    }
    if (st == SV_OK && existing == 0) {
        st = make_cluster(options, &cluster, password_file, err);
    }
    if (st != SV_OK) {
        return st;
    }
    cluster.running_pid = store_cluster_pid(&cluster);
    if (cluster.running_pid == 0) {
        drop_foreign_pid_file(&cluster);
    }
    *out_cluster = cluster;
    return SV_OK;
}
