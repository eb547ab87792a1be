/* SPDX-License-Identifier: MIT
 *
 * Experiments and tokens of a project.
 */
#include "tests/support/cmocka_all.h"

#include <string.h>

#include "server/store/blobs.h"
#include "server/store/experiments.h"
#include "server/store/points.h"
#include "server/store/projects.h"
#include "server/store/results.h"
#include "tests/support/store_fixture.h"

static void experiments(void **state)
{
    struct store_claimed w;
    struct store_created created;
    struct store_experiment_list list;
    store_claimed_open(&w, *state);
    assert_ok(&w.f, store_experiment_create(w.f.store, &w.f.scope, "flowers", "n", NULL, &created,
                                            &w.f.err));
    assert_status(
        &w.f,
        store_experiment_create(w.f.store, &w.f.scope, "flowers", "n", NULL, &created, &w.f.err),
        SV_ERR_CONFLICT);
    assert_status(&w.f, store_experiment_patch(w.f.store, &w.f.scope, w.job, "x", NULL, &w.f.err),
                  SV_ERR_NOT_FOUND);
    struct store_page page = {.limit = 1};
    assert_ok(&w.f, store_experiments_list(w.f.store, &w.f.scope, NULL, &page, &w.f.memory, &list,
                                           &w.f.err));
    assert_string_equal(list.rows[0].name, "flowers");
    page.cursor = list.next;
    assert_ok(&w.f, store_experiments_list(w.f.store, &w.f.scope, NULL, &page, &w.f.memory, &list,
                                           &w.f.err));
    assert_string_equal(list.rows[0].name, "an experiment");
    assert_int_equal(list.rows[0].job_count, 1);
    assert_int_equal(list.rows[0].trial_count, 2);
    assert_null(list.next);
    assert_status(
        &w.f,
        store_experiment_patch(w.f.store, &w.f.scope, list.rows[0].id, "flowers", NULL, &w.f.err),
        SV_ERR_CONFLICT);
    store_claimed_close(&w);
}

#define TEN       "0123456789"
#define LONG_NAME TEN TEN TEN TEN TEN TEN TEN TEN TEN "012345" /* one byte too many */

static void tokens(void **state)
{
    struct store_claimed w;
    char id[SV_ID_SIZE];
    char token[STORE_TOKEN_SIZE];
    char project[SV_ID_SIZE];
    struct store_scope scope = {0};
    enum store_role role = STORE_ROLE_VIEWER;
    bool exist = true;
    store_claimed_open(&w, *state);
    assert_ok(&w.f, store_tokens_exist(w.f.store, &exist, &w.f.err));
    assert_false(exist);
    assert_ok(&w.f, store_project_ensure(w.f.store, "team", project, &w.f.err));
    assert_ok(&w.f, store_token_create(w.f.store, project, "ann", STORE_ROLE_SUBMITTER, 1, id,
                                       token, &w.f.err));
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from api_token a where a::text"
                                                   " like '%assay_%'"),
                     0);
    assert_ok(&w.f, store_token_check(w.f.store, token, &scope, &role, &w.f.err));
    assert_string_equal(scope.project_id, project);
    assert_string_equal(scope.actor, "ann");
    assert_int_equal(role, STORE_ROLE_SUBMITTER);
    token[10] ^= 1;
    assert_status(&w.f, store_token_check(w.f.store, token, &scope, &role, &w.f.err),
                  SV_ERR_UNAUTHENTICATED);
    token[10] ^= 1;
    assert_ok(&w.f, store_tokens_exist(w.f.store, &exist, &w.f.err));
    assert_true(exist);
    assert_ok(&w.f, store_token_revoke(w.f.store, project, id, &w.f.err));
    assert_status(&w.f, store_token_check(w.f.store, token, &scope, &role, &w.f.err),
                  SV_ERR_UNAUTHENTICATED);
    assert_ok(&w.f, store_tokens_exist(w.f.store, &exist, &w.f.err));
    assert_true(exist); /* what was closed once stays closed */
    static const char *const odd[] = {"", "two\nlines", "C1 \xc2\x9b", LONG_NAME};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        assert_status(&w.f,
                      store_token_create(w.f.store, project, odd[i], STORE_ROLE_VIEWER, 0, id,
                                         token, &w.f.err),
                      SV_ERR_INVALID_PARAMETER);
    }
    struct store_token_list list;
    assert_ok(&w.f, store_tokens_list(w.f.store, project, &w.f.memory, &list, &w.f.err));
    assert_int_equal(list.n, 1);
    assert_string_not_equal(list.rows[0].revoked_at, "");
    store_claimed_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(experiments),
        cmocka_unit_test(tokens),
    };
    return cmocka_run_group_tests(tests, test_postgres_setup, test_postgres_teardown);
}
