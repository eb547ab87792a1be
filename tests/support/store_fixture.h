/* SPDX-License-Identifier: MIT
 *
 * An empty, migrated database with a store on it, and short ways to what most tests of the store
 * and of its callers need: a ready data set, a job with trials, a worker, a claim.
 *
 *     int main(void) { ... cmocka_run_group_tests(tests, test_postgres_setup,
 * test_postgres_teardown); } each test: struct store_fixture fixture; store_fixture_open(&fixture,
 * *state);
 */
#ifndef TESTS_SUPPORT_STORE_FIXTURE_H
#define TESTS_SUPPORT_STORE_FIXTURE_H

#include "server/store/attempts.h"
#include "server/store/jobs.h"
#include "server/store/store.h"
#include "tests/support/postgres.h"

struct store_fixture {
    struct test_postgres *postgres; /* borrowed */
    char conninfo[TEST_CONNINFO_SIZE];
    struct store *store;
    struct store_scope scope; /* the default project */
    struct store_memory memory;
    struct sv_error err; /* of the last failed call */
};

/* The server's one database, migrated and emptied: one fixture at a time. */
void store_fixture_open(struct store_fixture *fixture, struct test_postgres *postgres);
void store_fixture_close(struct store_fixture *fixture);

/* Fails the test, with the error's text, unless the status is the expected one. */
#define assert_status(fixture_, call_, expected_)                                                  \
    store_fixture_expect((fixture_), (call_), (expected_), #call_, __FILE__, __LINE__)
#define assert_ok(fixture_, call_) assert_status((fixture_), (call_), SV_OK)
void store_fixture_expect(const struct store_fixture *fixture, enum sv_status got,
                          enum sv_status expected, const char *call, const char *file, int line);

/* The resolved spec of its trials. */
#define STORE_FIXTURE_RESOLVED "{\"kind\": \"solver_comparison\", \"training\": {\"epochs\": 5}}"
/* A worker instance's row without its lock; a ready data set of 28 x 28 x 1, 10 classes; a job of n
 * trials whose max_attempts is given. */
void store_fixture_worker(struct store_fixture *fixture, char out_worker_id[SV_ID_SIZE]);
void store_fixture_dataset(struct store_fixture *fixture, const char *name,
                           char out_dataset_id[SV_ID_SIZE]);
void store_fixture_job(struct store_fixture *fixture, const char *dataset_id, size_t n,
                       int max_attempts, char out_job_id[SV_ID_SIZE]);
/* Claims the next trial for the worker and resumes it at its last checkpoint or 0. */
void store_fixture_claim(struct store_fixture *fixture, const char *worker_id,
                         struct store_claimed_trial *out_trial);
enum sv_status store_fixture_resume(struct store_fixture *fixture, const struct store_claim *claim,
                                    int64_t step, int64_t validated_step);
/* Rows that tests/chaos/invariants.sql finds: 0 is right. Prints what it finds. */
int store_fixture_violations(const struct store_fixture *fixture);

/* A fixture with a worker, a data set and, when n_trials > 0, a job. */
struct store_world {
    struct store_fixture f;
    char worker[SV_ID_SIZE], dataset[SV_ID_SIZE], job[SV_ID_SIZE];
};
void store_world_open(struct store_world *world, struct test_postgres *postgres, size_t n_trials,
                      int max_attempts);
/* Fails the test when an invariant does not hold. */
void store_world_close(struct store_world *world);
/* Ends every other session of its database, as a server that goes away does. */
void store_world_terminate(const struct store_world *world);

/* A world with a job of two trials, one of which is claimed. */
struct store_claimed {
    struct store_fixture f;
    char worker[SV_ID_SIZE], dataset[SV_ID_SIZE], job[SV_ID_SIZE];
    struct store_claimed_trial t;
};
void store_claimed_open(struct store_claimed *world, struct test_postgres *postgres);
void store_claimed_close(struct store_claimed *world);
void store_claimed_commit(struct store_claimed *world, const struct store_point *points, size_t n);

#endif
