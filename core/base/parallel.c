/* SPDX-License-Identifier: MIT
 *
 * The pool. The caller is lane 0; worker i is lane i.
 *
 * One round: the caller writes `round_*`, raises `generation` under the mutex and wakes everybody;
 * the active workers and the caller draw chunk numbers from `next` until there are none; each
 * active worker then lowers `running`; the caller leaves when it is 0.
 *
 * Invariants: round_* change only while running == 0; a worker whose lane is not active in a round
 * touches nothing of it but round_threads, which it reads together with generation under the mutex.
 * Waiting begins with a short spin, since steps follow each other within microseconds.
 */
#include "core/base/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "core/base/cpu.h"

#define MAX_THREADS 256
#define SPINS       2000
#define STACK_BYTES ((size_t)1 << 20)

struct worker {
    struct nn_pool *pool;
    size_t lane;
    pthread_t thread;
};

struct nn_pool {
    struct nn_memory *memory;
    size_t max_threads;
    size_t threads; /* active from the next round on */
    size_t started; /* workers with a thread, lanes 1 .. started */
    struct worker *workers;

    pthread_mutex_t mutex;
    pthread_cond_t wake; /* generation was raised, or stop set */
    pthread_cond_t idle; /* running reached 0 */
    atomic_size_t generation;
    atomic_size_t running;
    atomic_size_t next;
    atomic_bool stop;

    size_t round_threads; /* guarded by mutex */
    size_t round_chunks;
    nn_chunk_fn round_fn;
    void *round_ctx;
};

static inline void cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void work_on_round(struct nn_pool *pool, size_t lane)
{
    size_t n = pool->round_chunks;
    for (;;) {
        size_t chunk = atomic_fetch_add(&pool->next, 1);
        if (chunk >= n) {
            return;
        }
        pool->round_fn(pool->round_ctx, chunk, lane);
    }
}

static void leave_round(struct nn_pool *pool)
{
    if (atomic_fetch_sub(&pool->running, 1) == 1) {
        (void)pthread_mutex_lock(&pool->mutex);
        (void)pthread_cond_signal(&pool->idle);
        (void)pthread_mutex_unlock(&pool->mutex);
    }
}

/* Waits for a generation other than seen; returns it, with the number of threads of its round. */
static size_t await_round(struct nn_pool *pool, size_t seen, size_t *out_threads)
{
    for (int i = 0; i < SPINS && atomic_load(&pool->generation) == seen; i++) {
        cpu_relax();
    }
    (void)pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->generation) == seen) {
        (void)pthread_cond_wait(&pool->wake, &pool->mutex);
    }
    size_t generation = atomic_load(&pool->generation);
    *out_threads = pool->round_threads;
    (void)pthread_mutex_unlock(&pool->mutex);
    return generation;
}

static void *worker_main(void *arg)
{
    struct worker *worker = arg;
    struct nn_pool *pool = worker->pool;
    nn_cpu_flush_denormals();
    size_t seen = 0;
    for (;;) {
        size_t threads;
        seen = await_round(pool, seen, &threads);
        if (atomic_load(&pool->stop)) {
            return NULL;
        }
        if (worker->lane < threads) {
            work_on_round(pool, worker->lane);
            leave_round(pool);
        }
    }
}

static bool start_workers(struct nn_pool *pool)
{
    pthread_attr_t attr;
    sigset_t all, before;
    if (pthread_attr_init(&attr) != 0) {
        return false;
    }
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    for (size_t lane = 1; lane < pool->max_threads; lane++) {
        struct worker *worker = &pool->workers[lane];
        worker->pool = pool;
        worker->lane = lane;
        if (pthread_create(&worker->thread, &attr, worker_main, worker) != 0) {
            break;
        }
        pool->started = lane;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attr);
    return pool->started + 1 == pool->max_threads;
}

enum nn_status nn_pool_create(struct nn_memory *memory, size_t max_threads,
                              struct nn_pool **out_pool, struct nn_error *err)
{
    if (max_threads < 1 || max_threads > MAX_THREADS) {
        return nn_fail(err, NN_ERR_INVALID, "threads: 1 to %d, not %zu", MAX_THREADS, max_threads);
    }
    struct nn_pool *pool = nn_memory_alloc(memory, 1, sizeof *pool);
    struct worker *workers = nn_memory_alloc(memory, max_threads, sizeof *workers);
    if (!pool || !workers) {
        nn_memory_free(memory, workers);
        nn_memory_free(memory, pool);
        return nn_fail(err, NN_ERR_MEMORY, "no memory for %zu threads", max_threads);
    }
    pool->memory = memory;
    pool->max_threads = pool->threads = max_threads;
    pool->workers = workers;
    (void)pthread_mutex_init(&pool->mutex, NULL);
    (void)pthread_cond_init(&pool->wake, NULL);
    (void)pthread_cond_init(&pool->idle, NULL);
    if (!start_workers(pool)) {
        nn_pool_destroy(pool);
        return nn_fail(err, NN_ERR_LIMIT, "the system gives no %zu threads", max_threads);
    }
    *out_pool = pool;
    return NN_OK;
}

static void open_round(struct nn_pool *pool, size_t threads)
{
    (void)pthread_mutex_lock(&pool->mutex);
    pool->round_threads = threads;
    atomic_fetch_add(&pool->generation, 1);
    (void)pthread_cond_broadcast(&pool->wake);
    (void)pthread_mutex_unlock(&pool->mutex);
}

void nn_pool_destroy(struct nn_pool *pool)
{
    if (!pool) {
        return;
    }
    atomic_store(&pool->stop, true);
    open_round(pool, 0);
    for (size_t lane = 1; lane <= pool->started; lane++) {
        (void)pthread_join(pool->workers[lane].thread, NULL);
    }
    (void)pthread_cond_destroy(&pool->idle);
    (void)pthread_cond_destroy(&pool->wake);
    (void)pthread_mutex_destroy(&pool->mutex);
    nn_memory_free(pool->memory, pool->workers);
    nn_memory_free(pool->memory, pool);
}

void nn_pool_set_threads(struct nn_pool *pool, size_t n)
{
    pool->threads = n < 1 ? 1 : n > pool->max_threads ? pool->max_threads : n;
}

size_t nn_pool_threads(const struct nn_pool *pool)
{
    return pool->threads;
}

size_t nn_pool_lanes(const struct nn_pool *pool)
{
    return pool ? pool->max_threads : 1;
}

static void await_idle(struct nn_pool *pool)
{
    for (int i = 0; i < SPINS && atomic_load(&pool->running) > 0; i++) {
        cpu_relax();
    }
    (void)pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->running) > 0) {
        (void)pthread_cond_wait(&pool->idle, &pool->mutex);
    }
    (void)pthread_mutex_unlock(&pool->mutex);
}

void nn_parallel_for(struct nn_pool *pool, size_t n_chunks, nn_chunk_fn fn, void *ctx)
{
    size_t threads = pool ? pool->threads : 1;
    threads = threads < n_chunks ? threads : n_chunks;
    if (threads <= 1) {
        for (size_t chunk = 0; chunk < n_chunks; chunk++) {
            fn(ctx, chunk, 0);
        }
        return;
    }
    pool->round_chunks = n_chunks;
    pool->round_fn = fn;
    pool->round_ctx = ctx;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->running, threads - 1);
    open_round(pool, threads);
    work_on_round(pool, 0);
    await_idle(pool);
}
