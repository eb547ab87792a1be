/* SPDX-License-Identifier: MIT
 *
 * Polls over changes for tests.
 */
#include "tests/support/polls.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "server/http/query.h"
#include "tests/support/cmocka_all.h"

struct polls polls;

/* ----------------------------------------------------------------------------- the source */

#define QUEUE_MAX 65536
static struct {
    pthread_mutex_t mutex;
    struct changes_notice queue[QUEUE_MAX];
    size_t head, tail;
    int fd; /* readable when something has been pushed */
    bool away, connected;
    size_t opened;
} db = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void db_kick(void)
{
    uint64_t one = 1;
    assert_int_equal(write(db.fd, &one, sizeof one), sizeof one);
}

void polls_push(const char *id, int64_t revision)
{
    (void)pthread_mutex_lock(&db.mutex);
    struct changes_notice *notice = &db.queue[db.tail++ % QUEUE_MAX];
    (void)snprintf(notice->id, sizeof notice->id, "%s", id);
    (void)snprintf(notice->project_id, sizeof notice->project_id, "%s", POLLS_PROJECT);
    notice->revision = revision;
    (void)pthread_mutex_unlock(&db.mutex);
    db_kick();
}

void polls_set_away(bool away)
{
    (void)pthread_mutex_lock(&db.mutex);
    db.away = away;
    db.connected = db.connected && !away;
    db.head = db.tail; /* what was on the way is lost */
    (void)pthread_mutex_unlock(&db.mutex);
    db_kick();
}

static enum sv_status db_step(enum changes_heard *out_heard, struct changes_notice *out_notice,
                              bool *out_found, struct sv_error *err)
{
    enum sv_status status = SV_OK;
    (void)pthread_mutex_lock(&db.mutex);
    *out_found = true;
    if (db.away) {
        status = sv_fail(err, SV_ERR_DATABASE, "away");
    } else if (!db.connected) {
        db.connected = true;
        db.opened++;
        *out_heard = CHANGES_HEARD_CONNECTED;
    } else if (db.head < db.tail) {
        *out_notice = db.queue[db.head++ % QUEUE_MAX];
        *out_heard = CHANGES_HEARD_NOTICE;
    } else {
        *out_found = false;
        *out_heard = CHANGES_HEARD_NOTHING;
    }
    (void)pthread_mutex_unlock(&db.mutex);
    return status;
}

static enum sv_status db_wait(void *ctx, int timeout_ms, int wake_fd, enum changes_heard *out_heard,
                              struct changes_notice *out_notice, struct sv_error *err)
{
    bool found = false;
    uint64_t drop;
    (void)ctx;
    enum sv_status status = db_step(out_heard, out_notice, &found, err);
    if (found) {
        return status;
    }
    struct pollfd fds[] = {{.fd = db.fd, .events = POLLIN}, {.fd = wake_fd, .events = POLLIN}};
    (void)poll(fds, 2, timeout_ms);
    (void)!read(db.fd, &drop, sizeof drop);
    return db_step(out_heard, out_notice, &found, err);
}

/* ----------------------------------------------------------------------------- the server */

struct question {
    int64_t seen, wait, generation;
    const char *id;
};
static const struct http_param PARAMS[] = {
    {"seen", HTTP_PARAM_INT, offsetof(struct question, seen), -1, INT64_MAX, NULL},
    {"generation", HTTP_PARAM_INT, offsetof(struct question, generation), 0, INT64_MAX, NULL},
    {"id", HTTP_PARAM_ID, offsetof(struct question, id), 0, 0, NULL},
    HTTP_PARAM_ROW_WAIT(struct question, wait),
};

/* A poll as the README of the room describes it. */
static enum sv_status get_job(void *state, const struct http_request *req,
                              struct http_response *resp, struct sv_error *err)
{
    struct question q = {.seen = -1, .id = POLLS_JOB};
    char etag[HTTP_ETAG_SIZE];
    char text[64];
    int64_t revision = 0;
    (void)state;
    enum sv_status status = http_query_decode(req, PARAMS, 4, &q, err);
    if (status != SV_OK) {
        return status;
    }
    struct changes_mark mark = changes_mark(polls.changes);
    bool known = changes_revision(polls.changes, req->actor.project_id, q.id, &revision);
    if (known && changes_answer_get(polls.changes, req, revision, resp)) {
        return SV_OK;
    }
    if (!known) {
        atomic_fetch_add(&polls.queries, 1);
        revision = atomic_load(&polls.current);
        changes_learn(polls.changes, mark, req->actor.project_id, q.id, POLLS_JOB, revision);
    }
    if (revision <= q.seen && q.wait && req->wake != HTTP_WAKE_DEADLINE) {
        if (atomic_exchange(&polls.write_before_wait, false)) {
            atomic_store(&polls.current, q.seen + 1);
            changes_wrote(polls.changes);
        }
        return changes_wait(polls.changes, mark, q.id, q.seen, req, resp, q.wait, err);
    }
    int n = snprintf(text, sizeof text, "{\"revision\":%lld}", (long long)revision);
    http_etag(req, revision, etag);
    changes_answer_put(polls.changes, req, revision, etag, "application/json", text, (size_t)n);
    http_response_etag(resp, etag);
    return http_response_copy(resp, 200, "application/json", text, (size_t)n);
}

static enum sv_status get_list(void *state, const struct http_request *req,
                               struct http_response *resp, struct sv_error *err)
{
    struct question q = {.generation = -1};
    uint64_t generation = 0;
    (void)state;
    enum sv_status status = http_query_decode(req, PARAMS, 4, &q, err);
    if (status != SV_OK) {
        return status;
    }
    bool known = changes_generation(polls.changes, &generation);
    if (known && (int64_t)generation == q.generation && q.wait && req->wake != HTTP_WAKE_DEADLINE) {
        return changes_wait_any(polls.changes, generation, req, resp, q.wait, err);
    }
    return http_response_json_take(resp, 200,
                                   json_pack("{s:I}", "generation", (json_int_t)generation));
}

static enum sv_status fill(void *ctx, void *state, struct http_ticket ticket,
                           struct http_events *out, struct sv_error *err)
{
    long long *sent = ctx;
    char id[32];
    (void)state;
    (void)err;
    changes_watch(polls.changes, ticket);
    long long now = atomic_load(&polls.current);
    if (now == *sent) {
        return SV_OK;
    }
    *sent = now;
    (void)snprintf(id, sizeof id, "%lld", now);
    return http_events_send(out, id, NULL, "{}");
}

static enum sv_status get_events(void *state, const struct http_request *req,
                                 struct http_response *resp, struct sv_error *err)
{
    (void)state;
    return http_response_events_take(req, resp, fill, free, calloc(1, sizeof(long long)), err);
}

static const struct http_route ROUTES[] = {
    {.method = "GET", .pattern = "/job", .handler = get_job},
    {.method = "GET", .pattern = "/list", .handler = get_list},
    {.method = "GET", .pattern = "/events", .handler = get_events, .produces = "text/event-stream"},
};

bool polls_await_listening(bool wanted)
{
    for (int64_t until = test_patience();
         changes_is_listening(polls.changes) != wanted && test_patience_lasts(until);) {
    }
    return changes_is_listening(polls.changes) == wanted;
}

static int setup_with(void **state, size_t entries)
{
    const char *flags[] = {"--request-threads=2", NULL};
    struct changes_settings settings = {
        .source = {NULL, db_wait}, .answer_bytes = 100000, .max_entries = entries, .retry_ms = 10};
    struct sv_error err = {0};
    db.head = db.tail = db.opened = 0;
    db.away = db.connected = false;
    db.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    polls.map_entries = entries;
    atomic_store(&polls.queries, 0);
    atomic_store(&polls.current, 5);
    assert_int_equal(changes_create(&settings, &polls.changes, &err), SV_OK);
    test_http_start(&polls.http, ROUTES, sizeof ROUTES / sizeof ROUTES[0], flags, NULL);
    assert_true(polls_await_listening(true));
    *state = &polls.http;
    return 0;
}

int polls_setup(void **state)
{
    return setup_with(state, 0);
}

int polls_setup_small(void **state)
{
    return setup_with(state, 8);
}

int polls_teardown(void **state)
{
    struct test_http *t = *state;
    http_server_stop(t->server, 500); /* the order that app keeps */
    changes_destroy(polls.changes);
    test_http_stop(t, 0);
    (void)close(db.fd);
    return 0;
}
