/* SPDX-License-Identifier: MIT
 *
 * The worker's threads and what they share.
 *
 *   supervisor  the thread that called worker_run: starts children, watches their time and memory,
 *               kills and reaps them. Never touches the database, so that a lost one delays
 *               nothing.
 *   keeper      one thread: heartbeats, claims, reaping of lost leases. Never touches a child.
 *   slots       one thread each, for one attempt after the other: prepares the directory, talks to
 *               the child, commits what it says, ends the attempt. As many for trials as cores, one
 *               for imports, and one for predictions, which somebody waits for.
 *
 * One mutex guards what is marked so; nobody holds it across a database call, a file operation on
 * user data, or a wait other than for `changed`.
 */
#ifndef WORKER_WORKER_INTERNAL_H
#define WORKER_WORKER_INTERNAL_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "server/base/ids.h"
#include "server/base/log.h"
#include "server/store/attempts.h"
#include "server/store/imports.h"
#include "server/wire/wire.h"
#include "server/worker/cache.h"
#include "server/worker/cgroup.h"
#include "server/worker/classify.h"
#include "server/worker/spawn.h"
#include "server/worker/trial_profile_internal.h"
#include "server/worker/trial_sequences_internal.h"
#include "server/worker/trouble_internal.h"
#include "server/worker/worker.h"

struct worker;
struct worker_slot;

/* What a kind of task does in its slot; all on the slot's thread. */
struct worker_task {
    const char *role; /* of the child */
    /* Puts inputs into the attempt's directory and gives the start record and the limits.
     * SV_ERR_INTERNAL: the machine is at fault (disk, memory), another worker may do better. */
    enum sv_status (*prepare)(struct worker_slot *slot, json_t **out_start, struct sv_error *err);
    /* Takes a record; false when it is not what a sound child sends. */
    bool (*take)(struct worker_slot *slot, const struct wire_record *record);
    /* Commits what is due; all of it when `all`. */
    void (*commit)(struct worker_slot *slot, bool all);
    /* Says in the database how the attempt ended, and frees what prepare and take made. */
    void (*end)(struct worker_slot *slot, const struct worker_verdict *verdict);
};

enum worker_process_state {
    PROCESS_NONE,
    PROCESS_WANTED, /* by the slot */
    PROCESS_RUNNING,
    PROCESS_NOT_STARTED,
    PROCESS_ENDED,
};

/* One child; guarded by the worker's mutex. Times are monotonic milliseconds, 0: none. */
struct worker_process {
    enum worker_process_state state;
    struct worker_spawn spawn;
    pid_t pid;
    int pid_fd;
    int wait_status;
    enum worker_kill kill_for;
    int64_t term_at_ms, kill_at_ms; /* when to send which signal */
    bool term_sent, kill_sent;
    int64_t started_ms;
    int64_t wall_clock_ms, memory_bytes; /* limits; 0: none */
    int64_t kernel_kills_before;         /* see worker_kernel_kills */
    int cgroup_fd;                       /* its own leaf; -1: none */
    bool out_of_memory_seen;
};

/* What the keeper learns of a claim; guarded by the worker's mutex. */
struct worker_control {
    bool lost; /* the lease; never taken back within an attempt */
    bool cancel, stop, pause;
    int64_t lease_until_ms; /* monotonic: sure to be ours until then */
    double progress;        /* of an import, set by the slot */
    size_t threads;         /* share of the cores now */
    size_t most_threads;
};

/* Points, lines and progress not yet committed; confined to the slot's thread. */
struct worker_pending {
    char **names; /* of metrics, owned; points refer to them */
    size_t n_names;
    struct store_point *points;
    size_t n_points, points_capacity;
    struct store_log_line *lines; /* texts owned */
    size_t n_lines, lines_capacity;
    struct store_progress progress;
    char phase[32];
    bool has_progress;
};

struct worker_part {
    char name[16];
    json_t *record; /* of the evaluation; NULL: none */
    int64_t *samples;
    int32_t *truths, *predicted;
    float *probabilities;
    size_t n, capacity;
    struct worker_sequences sequences;
};

enum { WORKER_MAX_CORES = 4096 }; /* as the option's range */

enum { WORKER_PARTS = 3, WORKER_ARTEFACTS = 8 };

struct worker_artefact {
    char kind[64], media_type[128];
    struct store_blob blob;
    char *detail; /* JSON or NULL */
};

struct worker_slot {
    struct worker *worker;
    size_t index;
    const struct worker_task *task;
    pthread_t thread;
    int wake_fd; /* eventfd: something of this slot changed */

    /* guarded by the worker's mutex */
    bool busy;     /* a claim is here, set by the keeper, cleared by the slot */
    bool finished; /* the thread is about to end */
    struct worker_control control;
    struct worker_process process;
    char prefix_key[65]; /* of the frozen prefix whose rows its child makes; "": none */

    /* the keeper's while not busy, the slot's while busy */
    struct store_memory memory;
    struct store_claimed_trial trial;
    struct store_claimed_import import;

    /* the slot's */
    char directory_name[80];
    int directory_fd, log_fd;
    struct wire_channel *channel;
    bool sent_cancel, sent_stop, sent_pause, sent_drain;
    size_t sent_threads;
    bool started;           /* the child said where it starts */
    bool checkpoint_missed; /* the last one could not be kept */
    bool done;
    char done_outcome[16];
    char failed_class[32], failed_text[320];
    bool failed;
    json_t *done_record, *failed_record;
    int64_t committed_ms, stored_checkpoint_ms;
    int64_t silent_ms;      /* listened to for so long since the child's last record */
    int64_t most_silent_ms; /* a child that is silent for longer hangs; 0: it never does */
    struct worker_pending pending;
    struct worker_part parts[WORKER_PARTS];
    struct worker_artefact artefacts[WORKER_ARTEFACTS];
    size_t n_artefacts;
    struct worker_profile profile;
    bool broken;       /* a bug of ours or of the child: end as internal */
    int given_back_ms; /* > 0: not prepared by this worker's own fault; when to try again */
};

struct worker {
    const struct worker_setup *setup;
    const struct cfg *config;
    struct store *store;
    const struct sv_log *log;
    int lock_fd, attempts_fd, checkpoints_fd;
    struct worker_cache *cache;
    char node_id[SV_ID_SIZE];
    uid_t uid; /* of children, 0: ours */
    gid_t gid;
    size_t cores;
    struct store_environment environment;
    char cpu[64], host[128];
    int pid;
    struct worker_cgroup cgroup; /* the supervisor's */
    pthread_t keeper;
    int supervisor_wake_fd, keeper_wake_fd;

    pthread_mutex_t mutex;
    pthread_cond_t changed; /* a process' state, busy, or draining */
    /* guarded by mutex */
    bool draining;
    bool keeper_may_end;
    bool refused;               /* the schema is newer than this program */
    char worker_id[SV_ID_SIZE]; /* "" before the keeper has registered */
    struct worker_trouble trouble;

    struct worker_slot *slots; /* n_slots: those for trials, one for imports, one for predictions */
    size_t n_slots, n_trial_slots;
};

/* ------------------------------------------------------------------------------ worker.c */

void worker_lock(struct worker *worker);
void worker_unlock(struct worker *worker);
void worker_wake(int event_fd);
void worker_wake_taken(int event_fd);
/* Shares the cores anew among the trials that run; the mutex is held. */
void worker_share_cores(struct worker *worker);
bool worker_is_draining(struct worker *worker);
/* No more claims; running attempts are given back. */
void worker_start_draining(struct worker *worker);

/* -------------------------------------------------------------------------- supervisor.c */

/* Runs until draining is over: every slot has finished. */
void worker_supervise(struct worker *worker);
/* Asks the supervisor to start slot->process.spawn and waits: false when that failed. */
bool worker_process_start(struct worker_slot *slot);
/* Asks for the end of the process: SIGTERM after grace_ms, SIGKILL half a second later. The first
 * reason stays, but for a lost lease. */
void worker_process_kill(struct worker_slot *slot, enum worker_kill why, int64_t grace_ms);
/* Waits up to timeout_ms (< 0: for ever) until the process has ended. */
bool worker_process_wait(struct worker_slot *slot, int64_t timeout_ms);

/* ------------------------------------------------------------------------------ keeper.c */

void *worker_keeper_main(void *worker);

/* -------------------------------------------------------------------------------- slot.c */

void *worker_slot_main(void *slot);
/* Is the lease lost? */
bool worker_slot_lost(struct worker_slot *slot);
/* After a failed write under the claim: true when it should be tried again, after a pause that a
 * loss of the lease ends early. SV_ERR_WRONG_STATE marks the lease as lost; what no repetition
 * mends marks the slot as broken. */
bool worker_slot_retry(struct worker_slot *slot, enum sv_status st, const struct sv_error *err);
/* The JSON object of a record, a new reference; NULL when it is none. */
json_t *worker_record_json(const struct wire_record *record);
/* Links a blob of the project into the attempt's directory, through the cache. */
enum sv_status worker_slot_link_blob(struct worker_slot *slot, const char *project_id,
                                     const struct store_blob *blob, const char *name,
                                     struct sv_error *err);
/* Uploads a file of a directory; retries as above. False: lost or broken. */
bool worker_slot_upload(struct worker_slot *slot, const char *project_id, int directory_fd,
                        const char *name, struct store_blob *out_blob);

/* -------------------------------------------------------------------------------- begin.c */

/* Prepares, and starts the child; false when the attempt has ended already. */
bool worker_slot_begin(struct worker_slot *slot);

extern const struct worker_task worker_trial_task;
extern const struct worker_task worker_import_task;

/* ----------------------------------------------------------------------------- pending.c */

bool worker_pending_points(struct worker_pending *pending, const struct wire_point *points,
                           size_t n);
bool worker_pending_line(struct worker_pending *pending, const char *level, const char *text);
/* Takes step, total_steps, epoch and phase as far as the record has them. */
void worker_pending_progress(struct worker_pending *pending, const json_t *record);
/* What there is, as a commit; borrowed from pending. */
struct store_commit worker_pending_commit(struct worker_pending *pending);
/* After a commit: forgets everything but the names and where the trial stands. */
void worker_pending_clear(struct worker_pending *pending);
void worker_pending_deinit(struct worker_pending *pending);

/* ----------------------------------------------------------------------- trial_results.c */

/* Take a record of the child; false when it is not sound. */
bool worker_results_evaluation(struct worker_slot *slot, json_t *record);
bool worker_results_predictions(struct worker_slot *slot, const struct wire_record *record);
/* The place of the part that a record names by number; NULL: there is none. */
struct worker_part *worker_part_of(struct worker_slot *slot, uint32_t index);

bool worker_results_artefact(struct worker_slot *slot, const json_t *record);
/* worker_task.end of a trial. */
void worker_results_end(struct worker_slot *slot, const struct worker_verdict *verdict);

/* ------------------------------------------------------------------------------ prefix.c */

/* The file in the attempt's directory where the child finds, or makes, the rows of its frozen
 * prefix; NULL when it can have none. Waits while another slot makes the same. */
const char *worker_prefix_begin(struct worker_slot *slot, const json_t *resolved);
/* The largest such file. */
int64_t worker_prefix_bytes(const struct worker_slot *slot);
/* The child said whether it uses rows and has made them: those go into the cache. */
bool worker_prefix_take(struct worker_slot *slot, const json_t *record);
/* The attempt is over: who waits for its rows waits no longer. */
void worker_prefix_end(struct worker_slot *slot);

/* ------------------------------------------------------------------------------ memory.c */

/* Private resident bytes of a process; 0 when it cannot be read. */
int64_t worker_resident_bytes(pid_t pid);
enum { WORKER_TEXT_BYTES = 8192 };
/* Reads a small file as text; false when it cannot be read. */
bool worker_read_text(int directory_fd, const char *path, char text[WORKER_TEXT_BYTES]);
/* Our group in the hierarchy of these controllers ("": v2; "memory": v1), "/a/b". */
bool worker_own_group(const char *controllers, char *out, size_t size);
/* The number behind "oom_kill " in the text of a group's file; -1 when there is none. */
int64_t worker_kills_in(const char *text);
/* How often the kernel killed a process for memory in our control group (v2, else v1), else in the
 * whole machine; -1 when none can be read. */
int64_t worker_kernel_kills(void);

#endif
