/* SPDX-License-Identifier: MIT
 *
 * Questions to trained networks: a queue of their own, the fence, what a child gets, how they end
 * and go.
 */
#include "tests/support/cmocka_all.h"

#include <string.h>

#include "server/store/blobs.h"
#include "server/store/housekeeping.h"
#include "server/store/predictions.h"
#include "tests/support/store_fixture.h"

struct world {
    struct store_world w;
    struct store_claimed_trial trial;
    struct store_blob input, network;
};

static struct store_blob write_blob(struct store_fixture *f, const char *text)
{
    struct store_blob_writer *writer = NULL;
    struct store_blob blob;
    assert_ok(f, store_blob_begin(f->store, f->scope.project_id, &writer, &f->err));
    assert_ok(f, store_blob_append(writer, text, strlen(text), &f->err));
    assert_ok(f, store_blob_finish(writer, &blob, &f->err));
    store_blob_writer_destroy(writer);
    return blob;
}

/* A trial, with a network when it is wanted. */
static void open_world(struct world *world, void *postgres, bool ended)
{
    struct store_fixture *f = &world->w.f;
    char state[16];
    store_world_open(&world->w, postgres, 1, 2);
    store_fixture_claim(f, world->w.worker, &world->trial);
    world->input = write_blob(f, "a picture");
    world->network = write_blob(f, "a network");
    struct store_evaluation_new evaluation = {.part = "test", .document = "{}"};
    struct store_artefact_new artefact = {"network", "application/octet-stream", world->network.id,
                                          "{\"height\": 3}"};
    struct store_ending ending = {.outcome = STORE_OUTCOME_STOPPED,
                                  .evaluations = &evaluation,
                                  .n_evaluations = 1,
                                  .artefacts = &artefact,
                                  .n_artefacts = 1};
    if (ended) {
        assert_ok(f, store_attempt_end(f->store, &world->trial.claim, &ending, state, &f->err));
    }
}

static struct store_created ask(struct world *world)
{
    struct store_fixture *f = &world->w.f;
    struct store_created made;
    struct store_posted_new posted = {.trial_id = world->trial.claim.trial_id,
                                      .media_type = "image/png",
                                      .blob_id = world->input.id};
    assert_ok(f, store_prediction_create(f->store, &f->scope, &posted, NULL, &made, &f->err));
    return made;
}

static bool claim(struct world *world, enum store_import_queue queue,
                  struct store_claimed_import *out_import)
{
    struct store_fixture *f = &world->w.f;
    bool found = false;
    assert_ok(f, store_import_claim(f->store, queue, world->w.worker, 60000, &f->memory, &found,
                                    out_import, &f->err));
    return found;
}

static struct store_posted read_back(struct world *world, const char *id)
{
    struct store_fixture *f = &world->w.f;
    struct store_posted found;
    assert_ok(f, store_prediction_get(f->store, &f->scope, id, &f->memory, &found, &f->err));
    return found;
}

static void a_question_is_answered_once(void **state)
{
    struct world world;
    struct store_created made;
    struct store_claimed_import import, none;
    open_world(&world, *state, true);
    struct store_fixture *f = &world.w.f;
    made = ask(&world);
    assert_string_equal(read_back(&world, made.id).state, "checking");
    assert_false(claim(&world, STORE_QUEUE_ASSETS, &none));
    assert_true(claim(&world, STORE_QUEUE_PREDICTIONS, &import));
    assert_false(claim(&world, STORE_QUEUE_PREDICTIONS, &none));
    assert_string_equal(import.claim.id, made.id);
    assert_int_equal(import.n_files, 2);
    assert_string_equal(import.files[0].name, "input");
    assert_string_equal(import.files[0].blob.id, world.input.id);
    assert_string_equal(import.files[1].name, "network");
    assert_string_equal(import.files[1].blob.id, world.network.id);
    assert_non_null(strstr(import.setup, "image/png"));
    assert_non_null(strstr(import.setup, "height"));
    int64_t revision = read_back(&world, made.id).revision;
    assert_ok(f, store_prediction_ready(f->store, &import.claim, "{\"last\": 3}", NULL, &f->err));
    assert_status(f, store_prediction_ready(f->store, &import.claim, "{}", NULL, &f->err),
                  SV_ERR_WRONG_STATE);
    struct store_posted found = read_back(&world, made.id);
    assert_string_equal(found.state, "ready");
    assert_string_equal(found.report, "{\"last\": 3}");
    assert_string_equal(found.trial_id, world.trial.claim.trial_id);
    assert_true(found.finished_at[0] && found.revision > revision);
    store_world_close(&world.w);
}

static void a_crash_is_tried_again_and_then_told(void **state)
{
    struct world world;
    struct store_created made;
    struct store_claimed_import import;
    open_world(&world, *state, true);
    struct store_fixture *f = &world.w.f;
    made = ask(&world);
    for (int attempt = 1; attempt <= 2; attempt++) {
        test_sql(f->conninfo, "update prediction set not_before = now()");
        assert_true(claim(&world, STORE_QUEUE_PREDICTIONS, &import));
        assert_int_equal(import.attempt, attempt);
        assert_ok(f, store_import_crashed(f->store, &import.claim, "it fell over", &f->err));
    }
    assert_string_equal(read_back(&world, made.id).state, "refused");
    assert_string_equal(read_back(&world, made.id).error_text, "it fell over");
    store_world_close(&world.w);
}

/* The report of a refusal says its code; one that crashed has none. */
static void a_refusal_says_its_code(void **state)
{
    struct world world;
    struct store_claimed_import import;
    open_world(&world, *state, true);
    struct store_fixture *f = &world.w.f;
    struct store_created made = ask(&world);
    assert_true(claim(&world, STORE_QUEUE_PREDICTIONS, &import));
    assert_ok(f, store_import_refused(f->store, &import.claim, "it is no picture",
                                      "{\"code\": \"invalid_picture\"}", &f->err));
    struct store_posted found = read_back(&world, made.id);
    assert_string_equal(found.state, "refused");
    assert_string_equal(found.error_text, "it is no picture");
    assert_string_equal(found.report, "{\"code\": \"invalid_picture\"}");
    store_world_close(&world.w);
}

static void an_explanation_keeps_its_options_and_its_file(void **state)
{
    static const struct store_housekeeping limits = {0, 3600, 100000, 86400};
    struct world world;
    struct store_created made;
    struct store_claimed_import import;
    struct store_housekept done;
    open_world(&world, *state, true);
    struct store_fixture *f = &world.w.f;
    struct store_posted_new posted = {.trial_id = world.trial.claim.trial_id,
                                      .media_type = "image/png",
                                      .blob_id = world.input.id,
                                      .explain = "{\"class\": \"rose\"}"};
    struct store_blob maps = write_blob(f, "maps");
    assert_ok(f, store_prediction_create(f->store, &f->scope, &posted, NULL, &made, &f->err));
    assert_true(read_back(&world, made.id).explains);
    assert_false(read_back(&world, ask(&world).id).explains);
    assert_true(claim(&world, STORE_QUEUE_PREDICTIONS, &import));
    assert_non_null(strstr(import.setup, "rose"));
    assert_ok(f, store_prediction_ready(f->store, &import.claim, "{}", maps.id, &f->err));
    assert_string_equal(read_back(&world, made.id).output_blob_id, maps.id);
    assert_ok(f, store_housekeep(f->store, &limits, &done, &f->err));
    assert_int_equal(done.blobs, 0);
    test_sql(f->conninfo, "update prediction set created_at = now() - interval '25 hours'");
    assert_ok(f, store_housekeep(f->store, &limits, &done, &f->err));
    assert_ok(f, store_housekeep(f->store, &limits, &done, &f->err));
    assert_int_equal(done.blobs, 2); /* what was asked about, and the maps */
    store_world_close(&world.w);
}

static void a_lost_lease_is_reaped(void **state)
{
    struct world world;
    struct store_created made;
    struct store_claimed_import import;
    size_t reaped = 0;
    open_world(&world, *state, true);
    struct store_fixture *f = &world.w.f;
    made = ask(&world);
    assert_true(claim(&world, STORE_QUEUE_PREDICTIONS, &import));
    test_sql(f->conninfo, "update prediction set lease_until = now() - interval '1 s'");
    assert_ok(f, store_reap(f->store, &reaped, &f->err));
    assert_int_equal(reaped, 1);
    assert_status(f, store_prediction_ready(f->store, &import.claim, "{}", NULL, &f->err),
                  SV_ERR_WRONG_STATE);
    assert_string_equal(read_back(&world, made.id).state, "checking");
    store_world_close(&world.w);
}

/* The child says that there is no network: the question itself may have come just before a
 * restart. */
static void a_trial_without_a_network_gives_none(void **state)
{
    struct world world;
    struct store_claimed_import import;
    open_world(&world, *state, false);
    (void)ask(&world);
    assert_true(claim(&world, STORE_QUEUE_PREDICTIONS, &import));
    assert_int_equal(import.n_files, 1);
    assert_string_equal(import.files[0].name, "input");
    store_world_close(&world.w);
}

static void others_see_nothing_of_it(void **state)
{
    struct world world;
    struct store_created made;
    struct store_posted found;
    open_world(&world, *state, true);
    struct store_fixture *f = &world.w.f;
    made = ask(&world);
    struct store_scope scope = f->scope;
    struct store_posted_new posted = {.trial_id = world.trial.claim.trial_id,
                                      .media_type = "image/png",
                                      .blob_id = world.input.id};
    sv_id_make(scope.project_id);
    assert_status(f, store_prediction_get(f->store, &scope, made.id, &f->memory, &found, &f->err),
                  SV_ERR_NOT_FOUND);
    assert_status(f, store_prediction_create(f->store, &scope, &posted, NULL, &made, &f->err),
                  SV_ERR_NOT_FOUND);
    posted.trial_id = "nonsense";
    assert_status(f, store_prediction_create(f->store, &f->scope, &posted, NULL, &made, &f->err),
                  SV_ERR_NOT_FOUND);
    store_world_close(&world.w);
}

static void a_key_asks_once(void **state)
{
    struct world world;
    struct store_created first, again;
    struct store_idempotency key = {.key = "k", .digest = {1}};
    open_world(&world, *state, true);
    struct store_fixture *f = &world.w.f;
    struct store_posted_new posted = {.trial_id = world.trial.claim.trial_id,
                                      .media_type = "image/png",
                                      .blob_id = world.input.id};
    assert_ok(f, store_prediction_create(f->store, &f->scope, &posted, &key, &first, &f->err));
    assert_ok(f, store_prediction_create(f->store, &f->scope, &posted, &key, &again, &f->err));
    assert_true(!first.replayed && again.replayed);
    assert_string_equal(first.id, again.id);
    assert_int_equal(test_sql_number(f->conninfo, "select count(*) from prediction"), 1);
    key.digest[0] = 2;
    assert_status(f, store_prediction_create(f->store, &f->scope, &posted, &key, &again, &f->err),
                  SV_ERR_KEY_REUSED);
    store_world_close(&world.w);
}

static void a_full_queue_takes_no_more(void **state)
{
    struct world world;
    struct store_created made;
    struct store_claimed_import import;
    open_world(&world, *state, true);
    struct store_fixture *f = &world.w.f;
    struct store_posted_new posted = {.trial_id = world.trial.claim.trial_id,
                                      .media_type = "image/png",
                                      .blob_id = world.input.id};
    for (int i = 0; i < STORE_QUESTIONS_WAITING; i++) {
        ask(&world);
    }
    assert_status(f, store_prediction_create(f->store, &f->scope, &posted, NULL, &made, &f->err),
                  SV_ERR_TOO_MANY);
    assert_true(claim(&world, STORE_QUEUE_PREDICTIONS, &import));
    assert_ok(f, store_prediction_ready(f->store, &import.claim, "{}", NULL, &f->err));
    ask(&world);
    store_world_close(&world.w);
}

static void questions_go_after_a_day_with_what_was_posted(void **state)
{
    static const struct store_housekeeping limits = {0, 3600, 100000, 86400};
    struct world world;
    struct store_created made;
    struct store_posted found;
    struct store_housekept done;
    open_world(&world, *state, true);
    struct store_fixture *f = &world.w.f;
    made = ask(&world);
    assert_ok(f, store_housekeep(f->store, &limits, &done, &f->err));
    assert_true(done.predictions == 0 && done.blobs == 0);
    test_sql(f->conninfo, "update prediction set created_at = now() - interval '25 hours'");
    assert_ok(f, store_housekeep(f->store, &limits, &done, &f->err));
    assert_int_equal(done.predictions, 1);
    assert_status(f,
                  store_prediction_get(f->store, &f->scope, made.id, &f->memory, &found, &f->err),
                  SV_ERR_NOT_FOUND);
    assert_ok(f, store_housekeep(f->store, &limits, &done, &f->err));
    assert_int_equal(done.blobs, 1);
    store_world_close(&world.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_is_answered_once),
        cmocka_unit_test(a_crash_is_tried_again_and_then_told),
        cmocka_unit_test(a_refusal_says_its_code),
        cmocka_unit_test(an_explanation_keeps_its_options_and_its_file),
        cmocka_unit_test(a_lost_lease_is_reaped),
        cmocka_unit_test(a_trial_without_a_network_gives_none),
        cmocka_unit_test(others_see_nothing_of_it),
        cmocka_unit_test(a_key_asks_once),
        cmocka_unit_test(a_full_queue_takes_no_more),
        cmocka_unit_test(questions_go_after_a_day_with_what_was_posted),
    };
    return cmocka_run_group_tests(tests, test_postgres_setup, test_postgres_teardown);
}
