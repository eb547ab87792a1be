/* SPDX-License-Identifier: MIT
 *
 * The supervising thread: the only one that starts, signals and reaps children, so that no signal
 * can hit a pid that has been given to another process.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/base/clock.h"
#include "server/worker/worker_internal.h"

enum {
    TICK_MS = 100,   /* between looks at time and memory while a child runs */
    IDLE_MS = 60000, /* without children only events wake */
    TERM_TO_KILL_MS = 500,
    MEMORY_MARGIN = 256, /* MiB over a trial's budget before the backstop acts */
};

/* ------------------------------------------------------------------- for the slots' threads */

bool worker_process_start(struct worker_slot *slot)
{
    struct worker *worker = slot->worker;
    worker_lock(worker);
    slot->process.state = PROCESS_WANTED;
    worker_wake(worker->supervisor_wake_fd);
    while (slot->process.state == PROCESS_WANTED) {
        (void)pthread_cond_wait(&worker->changed, &worker->mutex);
    }
    bool running = slot->process.state != PROCESS_NOT_STARTED;
    worker_unlock(worker);
    return running;
}

void worker_process_kill(struct worker_slot *slot, enum worker_kill why, int64_t grace_ms)
{
    struct worker *worker = slot->worker;
    worker_lock(worker);
    struct worker_process *process = &slot->process;
    int64_t now = sv_clock_monotonic_ms();
    if (process->state == PROCESS_RUNNING &&
        (process->kill_for == WORKER_KILL_NONE || why == WORKER_KILL_LEASE_LOST)) {
        process->kill_for = why;
        process->term_at_ms = now + grace_ms;
        process->kill_at_ms = process->term_at_ms + TERM_TO_KILL_MS;
    }
    worker_unlock(worker);
    worker_wake(worker->supervisor_wake_fd);
}

bool worker_process_wait(struct worker_slot *slot, int64_t timeout_ms)
{
    struct worker *worker = slot->worker;
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += timeout_ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    worker_lock(worker);
    int rc = 0;
    while (slot->process.state == PROCESS_RUNNING && rc == 0) {
        rc = timeout_ms < 0 ? pthread_cond_wait(&worker->changed, &worker->mutex)
                            : pthread_cond_timedwait(&worker->changed, &worker->mutex, &until);
    }
    bool ended = slot->process.state != PROCESS_RUNNING;
    worker_unlock(worker);
    return ended;
}

/* ------------------------------------------------------- on the supervising thread, mutex held */

/* Most bytes before the backstop acts; 0: no limit. */
static int64_t backstop_bytes(const struct worker_process *process)
{
    return process->memory_bytes ? process->memory_bytes + ((int64_t)MEMORY_MARGIN << 20) : 0;
}

/* The child waits for its start record meanwhile. Where there is no group, its size is looked at.
 */
static void limit_memory(struct worker_slot *slot)
{
    struct worker *worker = slot->worker;
    struct worker_process *process = &slot->process;
    process->cgroup_fd = worker_cgroup_enter(&worker->cgroup, slot->directory_name,
                                             backstop_bytes(process), process->pid);
    if (worker->cgroup.version && process->cgroup_fd < 0 && process->memory_bytes) {
        log_event(worker->log, SV_LOG_WARN, "child_without_cgroup",
                  LOG_TEXT("attempt", slot->directory_name));
    }
}

/* Did the kernel kill it for memory? Its own leaf knows; the counter of our group only guesses. */
static bool kernel_killed(struct worker_slot *slot)
{
    struct worker_process *process = &slot->process;
    const struct worker_cgroup *cgroup = &slot->worker->cgroup;
    if (process->cgroup_fd < 0) {
        int64_t kills = worker_kernel_kills();
        return kills > process->kernel_kills_before && kills > 0;
    }
    bool killed = worker_cgroup_kills(cgroup, process->cgroup_fd) > 0;
    worker_cgroup_leave(cgroup, slot->directory_name, process->cgroup_fd);
    process->cgroup_fd = -1;
    return killed;
}

static void start_wanted(struct worker_slot *slot)
{
    struct worker_process *process = &slot->process;
    struct sv_error err = {0};
    int64_t now = sv_clock_monotonic_ms();
    process->kernel_kills_before = worker_kernel_kills();
    process->pid_fd = -1;
    process->cgroup_fd = -1;
    if (worker_spawn(&process->spawn, &process->pid, &err) != SV_OK) {
        process->state = PROCESS_NOT_STARTED;
    } else {
        process->state = PROCESS_RUNNING;
        process->started_ms = now;
        process->pid_fd = (int)syscall(SYS_pidfd_open, process->pid, 0);
        if (process->pid_fd >= 0) {
            (void)fcntl(process->pid_fd, F_SETFD, FD_CLOEXEC);
        }
        limit_memory(slot);
    }
    (void)pthread_cond_broadcast(&slot->worker->changed);
}

/* The group: the child leads it. A group that is gone already is fine. */
static void signal_group(const struct worker_process *process, int number)
{
    if (kill(-process->pid, number) < 0) {
        (void)kill(process->pid, number);
    }
}

static void reap_ended(struct worker_slot *slot)
{
    struct worker_process *process = &slot->process;
    if (waitpid(process->pid, &process->wait_status, WNOHANG) != process->pid) {
        return;
    }
    process->out_of_memory_seen = kernel_killed(slot);
    process->state = PROCESS_ENDED;
    if (process->pid_fd >= 0) {
        (void)close(process->pid_fd);
        process->pid_fd = -1;
    }
    (void)pthread_cond_broadcast(&slot->worker->changed);
    worker_wake(slot->wake_fd);
}

/* A reason of the supervisor's own to end a child now. */
static enum worker_kill reason_to_kill(const struct worker_slot *slot, int64_t now)
{
    const struct worker_process *process = &slot->process;
    if (slot->control.lost) {
        return WORKER_KILL_LEASE_LOST;
    }
    if (process->wall_clock_ms && now - process->started_ms > process->wall_clock_ms) {
        return WORKER_KILL_WALL_CLOCK;
    }
    if (process->memory_bytes && worker_resident_bytes(process->pid) > backstop_bytes(process)) {
        return WORKER_KILL_MEMORY;
    }
    return WORKER_KILL_NONE;
}

static void watch_process(struct worker_slot *slot, int64_t now)
{
    struct worker_process *process = &slot->process;
    if (now > slot->control.lease_until_ms) {
        slot->control.lost = true;
        worker_wake(slot->wake_fd);
    }
    enum worker_kill why = reason_to_kill(slot, now);
    if (why == WORKER_KILL_LEASE_LOST ||
        (why != WORKER_KILL_NONE && process->kill_for == WORKER_KILL_NONE)) {
        process->kill_for = why;
        process->kill_at_ms = now;
    }
    if (process->term_at_ms && now >= process->term_at_ms && !process->term_sent) {
        process->term_sent = true;
        signal_group(process, SIGTERM);
    }
    if (process->kill_at_ms && now >= process->kill_at_ms && !process->kill_sent) {
        process->kill_sent = true;
        signal_group(process, SIGKILL);
    }
}

/* One look at every slot. Returns how many children run; *out_finished: every thread is done. */
static size_t look(struct worker *worker, bool *out_finished)
{
    size_t running = 0;
    int64_t now = sv_clock_monotonic_ms();
    *out_finished = true;
    for (size_t i = 0; i < worker->n_slots; i++) {
        struct worker_slot *slot = &worker->slots[i];
        if (slot->process.state == PROCESS_WANTED) {
            start_wanted(slot);
        }
        if (slot->process.state == PROCESS_RUNNING) {
            reap_ended(slot);
        }
        if (slot->process.state == PROCESS_RUNNING) {
            watch_process(slot, now);
            running++;
        } else if (slot->busy && now > slot->control.lease_until_ms) {
            slot->control.lost = true; /* before its process, or after it */
            worker_wake(slot->wake_fd);
        }
        *out_finished = *out_finished && slot->finished;
    }
    return running;
}

static size_t collect_fds(struct worker *worker, struct pollfd *fds)
{
    size_t n = 0;
    fds[n++] = (struct pollfd){.fd = worker->supervisor_wake_fd, .events = POLLIN};
    fds[n++] =
        (struct pollfd){.fd = worker->draining ? -1 : worker->setup->drain_fd, .events = POLLIN};
    for (size_t i = 0; i < worker->n_slots; i++) {
        const struct worker_process *process = &worker->slots[i].process;
        if (process->state == PROCESS_RUNNING && process->pid_fd >= 0) {
            fds[n++] = (struct pollfd){.fd = process->pid_fd, .events = POLLIN};
        }
    }
    return n;
}

void worker_supervise(struct worker *worker)
{
    struct pollfd *fds = calloc(worker->n_slots + 2, sizeof *fds);
    bool finished = false;
    while (fds && !finished) {
        worker_lock(worker);
        size_t running = look(worker, &finished);
        bool busy = running > 0 || worker->draining;
        for (size_t i = 0; i < worker->n_slots; i++) {
            busy = busy || worker->slots[i].busy;
        }
        size_t n = collect_fds(worker, fds);
        worker_unlock(worker);
        if (finished) {
            break;
        }
        (void)poll(fds, n, busy ? TICK_MS : IDLE_MS);
        worker_wake_taken(worker->supervisor_wake_fd);
        if (fds[1].fd >= 0 && fds[1].revents) {
            worker_start_draining(worker);
        }
    }
    free(fds);
}
