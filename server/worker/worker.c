/* SPDX-License-Identifier: MIT
 *
 * A worker from start to end: its facts about the machine, its threads.
 */
#include "server/worker/worker.h"

#include <malloc.h>
#include <poll.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/build.h"
#include "core/base/cpu.h"
#include "server/config/config.h"
#include "server/worker/cores.h"
#include "server/worker/worker_internal.h"

/* ------------------------------------------------------------------------- for all threads */

void worker_lock(struct worker *worker)
{
    (void)pthread_mutex_lock(&worker->mutex);
}

void worker_unlock(struct worker *worker)
{
    (void)pthread_mutex_unlock(&worker->mutex);
}

void worker_wake(int event_fd)
{
    uint64_t one = 1;
    ssize_t n = write(event_fd, &one, sizeof one);
    (void)n; /* a full counter wakes as well */
}

void worker_wake_taken(int event_fd)
{
    uint64_t count;
    ssize_t n = read(event_fd, &count, sizeof count);
    (void)n;
}

bool worker_is_draining(struct worker *worker)
{
    worker_lock(worker);
    bool draining = worker->draining;
    worker_unlock(worker);
    return draining;
}

void worker_start_draining(struct worker *worker)
{
    log_write(worker->log, SV_LOG_INFO, "draining", NULL, 0);
    worker_lock(worker);
    worker->draining = true;
    (void)pthread_cond_broadcast(&worker->changed);
    worker_unlock(worker);
    worker_wake(worker->keeper_wake_fd);
    worker_wake(worker->supervisor_wake_fd);
    for (size_t i = 0; i < worker->n_slots; i++) {
        worker_wake(worker->slots[i].wake_fd);
    }
}

void worker_share_cores(struct worker *worker)
{
    size_t limits[WORKER_MAX_CORES];
    size_t shares[WORKER_MAX_CORES];
    size_t slots[WORKER_MAX_CORES];
    size_t n = 0;
    for (size_t i = 0; i < worker->n_trial_slots; i++) {
        if (worker->slots[i].busy) {
            slots[n] = i;
            limits[n++] = worker->slots[i].control.most_threads;
        }
    }
    if (n > 0) {
        worker_cores_share(worker->cores, limits, n, shares);
    }
    for (size_t i = 0; i < n; i++) {
        struct worker_slot *slot = &worker->slots[slots[i]];
        if (slot->control.threads != shares[i]) {
            slot->control.threads = shares[i];
            worker_wake(slot->wake_fd);
        }
    }
}

/* -------------------------------------------------------------------------------- opening */

/* Children of root run as another user; a person's run as that person. */
static enum sv_status find_user(struct worker *worker, struct sv_error *err)
{
    if (geteuid() != 0) {
        return SV_OK;
    }
    const struct passwd *user = getpwnam(worker->config->trial_user);
    if (!user || user->pw_uid == 0) {
        return sv_fail(err, SV_ERR_INVALID_PARAMETER,
                       "trial_user must be an existing user other than root");
    }
    worker->uid = user->pw_uid;
    worker->gid = user->pw_gid;
    return SV_OK;
}

static void find_environment(struct worker *worker)
{
    const char *isa = worker->config->isa;
    bool automatic = strcmp(isa, "auto") == 0;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    worker->cores = worker->config->cores > 0 ? (size_t)worker->config->cores
                    : processors > 0          ? (size_t)processors
                                              : 1;
    worker->cores = worker->cores < WORKER_MAX_CORES ? worker->cores : WORKER_MAX_CORES;
    nn_cpu_name(worker->cpu, sizeof worker->cpu);
    if (gethostname(worker->host, sizeof worker->host - 1) < 0) {
        (void)snprintf(worker->host, sizeof worker->host, "unknown");
    }
    worker->pid = (int)getpid();
    worker->environment = (struct store_environment){
        .core_build = nn_core_build_id,
        .core_type = nn_cpu_openblas_core_type(),
        .instruction_set = automatic ? nn_isa_name(nn_cpu_isa()) : isa,
        .libraries = worker->setup->libraries,
        .cpu = worker->cpu,
        .threads = (int)worker->cores,
    };
}

static bool open_slots(struct worker *worker)
{
    worker->n_trial_slots = worker->cores;
    worker->slots = calloc(worker->n_trial_slots + 2, sizeof *worker->slots);
    if (!worker->slots) {
        return false;
    }
    worker->n_slots = worker->n_trial_slots + 2;
    for (size_t i = 0; i < worker->n_slots; i++) {
        struct worker_slot *slot = &worker->slots[i];
        slot->worker = worker;
        slot->index = i;
        slot->task = i < worker->n_trial_slots ? &worker_trial_task : &worker_import_task;
        slot->process.pid_fd = -1;
        slot->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (slot->wake_fd < 0) {
            return false;
        }
    }
    worker->supervisor_wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    worker->keeper_wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return worker->supervisor_wake_fd >= 0 && worker->keeper_wake_fd >= 0;
}

static bool open_mutex(struct worker *worker)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) {
        return false;
    }
    bool made = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(&worker->changed, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return made && pthread_mutex_init(&worker->mutex, NULL) == 0;
}

static void close_worker(struct worker *worker)
{
    for (size_t i = 0; i < worker->n_slots; i++) {
        if (worker->slots[i].wake_fd >= 0) {
            (void)close(worker->slots[i].wake_fd);
        }
    }
    free(worker->slots);
    worker_cache_destroy(worker->cache);
    worker_cgroup_close(&worker->cgroup);
    const int fds[] = {worker->supervisor_wake_fd, worker->keeper_wake_fd, worker->attempts_fd,
                       worker->checkpoints_fd, worker->lock_fd};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        if (fds[i] >= 0) {
            (void)close(fds[i]);
        }
    }
}

/* -------------------------------------------------------------------------------- running */

/* Starts keeper and slots; how many slots run. */
static size_t start_threads(struct worker *worker, bool *out_keeper)
{
    size_t n = 0;
    *out_keeper = pthread_create(&worker->keeper, NULL, worker_keeper_main, worker) == 0;
    while (*out_keeper && n < worker->n_slots &&
           pthread_create(&worker->slots[n].thread, NULL, worker_slot_main, &worker->slots[n]) ==
               0) {
        n++;
    }
    return n;
}

static enum sv_status run_threads(struct worker *worker, struct sv_error *err)
{
    bool keeper = false;
    size_t n = start_threads(worker, &keeper);
    if (n < worker->n_slots) { /* no thread to be had: end those that run */
        worker_lock(worker);
        worker->draining = true;
        for (size_t i = n; i < worker->n_slots; i++) {
            worker->slots[i].finished = true;
        }
        (void)pthread_cond_broadcast(&worker->changed);
        worker_unlock(worker);
    }
    worker_supervise(worker);
    for (size_t i = 0; i < n; i++) {
        (void)pthread_join(worker->slots[i].thread, NULL);
    }
    worker_lock(worker);
    worker->keeper_may_end = true;
    worker_unlock(worker);
    worker_wake(worker->keeper_wake_fd);
    if (keeper) {
        (void)pthread_join(worker->keeper, NULL);
    }
    if (worker->refused) {
        return sv_fail(err, SV_ERR_DRAINING, "the database's schema is newer than this program");
    }
    return n == worker->n_slots ? SV_OK
                                : sv_fail(err, SV_ERR_INTERNAL, "threads cannot be started");
}

enum sv_status worker_run(const struct worker_setup *setup, struct sv_error *err)
{
    struct worker worker = {
        .setup = setup,
        .config = setup->config,
        .store = setup->store,
        .log = setup->log,
        .lock_fd = -1,
        .attempts_fd = -1,
        .checkpoints_fd = -1,
        .supervisor_wake_fd = -1,
        .keeper_wake_fd = -1,
    };
    /* one heap for all threads: what a trial took is given back, whichever slot took it */
    (void)mallopt(M_ARENA_MAX, 1);
    find_environment(&worker);
    enum sv_status st = find_user(&worker, err);
    st = st == SV_OK ? worker_home_open(&worker, err) : st;
    st = st == SV_OK ? worker_cgroup_open(worker.config->cgroup, &worker.cgroup, err) : st;
    if (st == SV_OK && (!open_mutex(&worker) || !open_slots(&worker))) {
        st = sv_fail(err, SV_ERR_INTERNAL, "the worker cannot be set up");
    }
    if (st == SV_OK) {
        log_event(worker.log, SV_LOG_INFO, "working", LOG_INT("cores", worker.cores),
                  LOG_TEXT("core_build", worker.environment.core_build),
                  LOG_TEXT("core_type", worker.environment.core_type),
                  LOG_TEXT("instruction_set", worker.environment.instruction_set),
                  LOG_INT("cgroup", worker.cgroup.version));
        if (worker.cgroup.is_useless) {
            log_event(worker.log, SV_LOG_WARN, "cgroup_is_useless",
                      LOG_TEXT("detail", "the delegated group cannot limit memory"));
        }
        st = run_threads(&worker, err);
    }
    close_worker(&worker);
    return st;
}
