/* SPDX-License-Identifier: MIT
 *
 * What is kept of a trial beside its figures: logs, artefacts, profiles, and what is collected.
 */
#include "tests/support/cmocka_all.h"

#include <string.h>

#include "server/store/blobs.h"
#include "server/store/housekeeping.h"
#include "server/store/results.h"
#include "tests/support/store_fixture.h"

static void logs_are_clean_and_capped(void **state)
{
    struct store_claimed w;
    store_claimed_open(&w, *state);
    char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    struct store_log_line lines[] = {{"info", "bad \xff\xc3( \xed\xa0\x80 good ü"},
                                     {"odd level", longest}};
    struct store_commit commit = {.lines = lines, .n_lines = 2};
    assert_ok(&w.f, store_attempt_commit(w.f.store, &w.t.claim, &commit, NULL, &w.f.err));
    struct store_page page = {.limit = 500};
    struct store_log_list list;
    assert_ok(&w.f, store_log_read(w.f.store, &w.f.scope, w.t.claim.trial_id, &page, &w.f.memory,
                                   &list, &w.f.err));
    assert_int_equal(list.n, 2);
    assert_string_equal(list.rows[0].text, "bad ?\?( ?\?? good ü");
    assert_string_equal(list.rows[1].level, "info");
    assert_int_equal(strlen(list.rows[1].text), 4096);
    for (int i = 0; i < 70; i++) {
        assert_ok(&w.f, store_attempt_commit(w.f.store, &w.t.claim, &commit, NULL, &w.f.err));
    }
    assert_ok(&w.f, store_log_read(w.f.store, &w.f.scope, w.t.claim.trial_id, &page, &w.f.memory,
                                   &list, &w.f.err));
    assert_int_equal(list.rows[list.n - 1].n, 142);
    assert_true(test_sql_number(w.f.conninfo, "select sum(octet_length(line)) from trial_log") <=
                262144);
    store_claimed_close(&w);
}

static void artefacts_are_blobs(void **state)
{
    struct store_claimed w;
    struct store_blob_writer *writer = NULL;
    struct store_blob blob;
    char ended[16];
    store_claimed_open(&w, *state);
    assert_ok(&w.f, store_blob_begin(w.f.store, w.f.scope.project_id, &writer, &w.f.err));
    assert_ok(&w.f, store_blob_append(writer, "weights", 7, &w.f.err));
    assert_ok(&w.f, store_blob_finish(writer, &blob, &w.f.err));
    store_blob_writer_destroy(writer);
    struct store_evaluation_new evaluation = {.part = "test", .document = "{}"};
    struct store_artefact_new artefact = {"network", "application/octet-stream", blob.id, NULL};
    struct store_ending ending = {.outcome = STORE_OUTCOME_STOPPED,
                                  .evaluations = &evaluation,
                                  .n_evaluations = 1,
                                  .artefacts = &artefact,
                                  .n_artefacts = 1};
    assert_ok(&w.f, store_attempt_end(w.f.store, &w.t.claim, &ending, ended, &w.f.err));
    struct store_artefact_list list;
    assert_ok(&w.f, store_artefacts_list(w.f.store, &w.f.scope, w.t.claim.trial_id, &w.f.memory,
                                         &list, &w.f.err));
    assert_int_equal(list.n, 1);
    assert_string_equal(list.rows[0].blob.sha256, blob.sha256);
    assert_int_equal(list.rows[0].blob.size, 7);
    store_claimed_close(&w);
}

static void profiles_come_back_whole(void **state)
{
    static const char *const LAYERS[] = {"conv1+relu1", ""}, *const OPERATORS[] = {"x", "other"},
                             *const PHASES[] = {"forward", "other"};
    static const double SECONDS[] = {0.25, 1.0 / 3};
    const struct store_profile profile = {.steps = 7,
                                          .seconds = 0.25 + 1.0 / 3,
                                          .validation_seconds = 2,
                                          .layers = LAYERS,
                                          .operators = OPERATORS,
                                          .phases = PHASES,
                                          .row_seconds = SECONDS,
                                          .n = 2};
    struct store_evaluation_new evaluation = {.part = "test", .document = "{}"};
    struct store_ending ending = {.outcome = STORE_OUTCOME_STOPPED,
                                  .evaluations = &evaluation,
                                  .n_evaluations = 1,
                                  .profile = &profile};
    struct store_claimed w;
    struct store_profile got;
    char ended[16];
    store_claimed_open(&w, *state);
    const char *id = w.t.claim.trial_id;
    assert_status(&w.f, store_profile_get(w.f.store, &w.f.scope, id, &w.f.memory, &got, &w.f.err),
                  SV_ERR_NOT_FOUND);
    assert_ok(&w.f, store_attempt_end(w.f.store, &w.t.claim, &ending, ended, &w.f.err));
    assert_ok(&w.f, store_profile_get(w.f.store, &w.f.scope, id, &w.f.memory, &got, &w.f.err));
    assert_int_equal(got.steps, 7);
    assert_true(got.seconds == profile.seconds && got.validation_seconds == 2);
    assert_int_equal(got.n, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(got.layers[i], LAYERS[i]);
        assert_string_equal(got.operators[i], OPERATORS[i]);
        assert_string_equal(got.phases[i], PHASES[i]);
        assert_true(got.row_seconds[i] == SECONDS[i]);
    }
    store_claimed_close(&w);
}

static void what_nothing_refers_to_is_collected(void **state)
{
    static const struct store_housekeeping now = {0, 3600, 100000, 86400};
    static const struct store_housekeeping hour = {3600, 3600, 3, 86400};
    struct store_claimed w;
    struct store_housekept done;
    struct store_blob blob;
    struct store_blob_writer *writer = NULL;
    store_claimed_open(&w, *state);
    assert_ok(&w.f, store_blob_begin(w.f.store, w.f.scope.project_id, &writer, &w.f.err));
    assert_ok(&w.f, store_blob_append(writer, "loose", 5, &w.f.err));
    assert_ok(&w.f, store_blob_finish(writer, &blob, &w.f.err));
    store_blob_writer_destroy(writer);
    assert_ok(&w.f, store_housekeep(w.f.store, &hour, &done, &w.f.err));
    assert_int_equal(done.blobs, 0);
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from event"), 3);
    assert_ok(&w.f, store_housekeep(w.f.store, &now, &done, &w.f.err));
    assert_int_equal(done.blobs, 1);
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from blob"), 1);
    struct store_counters counters;
    assert_ok(&w.f, store_counters_read(w.f.store, &counters, &w.f.err));
    assert_int_equal(counters.trials_queued, 1);
    assert_int_equal(counters.trials_running, 1);
    assert_int_equal(counters.jobs, 1);
    assert_int_equal(counters.blobs, 1);
    assert_int_equal(counters.workers, 1);
    assert_int_equal(counters.datasets_ready, 1);
    assert_true(counters.database_bytes > 0);
    store_claimed_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_are_clean_and_capped),
        cmocka_unit_test(artefacts_are_blobs),
        cmocka_unit_test(profiles_come_back_whole),
        cmocka_unit_test(what_nothing_refers_to_is_collected),
    };
    return cmocka_run_group_tests(tests, test_postgres_setup, test_postgres_teardown);
}
