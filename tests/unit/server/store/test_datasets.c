/* SPDX-License-Identifier: MIT
 *
 * Blobs, data sets, uploads and import tasks.
 */
#include "tests/support/cmocka_all.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/sha256.h"
#include "server/base/clock.h"
#include "server/store/attempts.h"
#include "server/store/blobs.h"
#include "server/store/datasets.h"
#include "server/store/imports.h"
#include "server/store/weights.h"
#include "tests/support/store_fixture.h"

enum { CHUNK = STORE_CHUNK_BYTES };

static unsigned char *make_bytes(size_t n)
{
    unsigned char *bytes = malloc(n);
    assert_non_null(bytes);
    uint32_t x = 1;
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(x >> 24);
    }
    return bytes;
}

static void hex_of(const void *bytes, size_t n, char out_hex[65])
{
    uint8_t digest[NN_SHA256_SIZE];
    nn_sha256_of(bytes, n, digest);
    nn_sha256_hex(digest, out_hex);
}

static struct store_blob write_blob(struct store_fixture *f, const void *bytes, size_t n,
                                    size_t step)
{
    struct store_blob_writer *writer = NULL;
    struct store_blob blob = {0};
    assert_ok(f, store_blob_begin(f->store, f->scope.project_id, &writer, &f->err));
    for (size_t at = 0; at < n; at += step) {
        size_t size = n - at < step ? n - at : step;
        assert_ok(f, store_blob_append(writer, (const char *)bytes + at, size, &f->err));
    }
    assert_ok(f, store_blob_finish(writer, &blob, &f->err));
    store_blob_writer_destroy(writer);
    return blob;
}

/* Sizes round the chunk's, steps that do not divide it; every byte comes back, from any offset. */
static void blobs_come_back(void **state)
{
    static const size_t sizes[] = {0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 17};
    struct store_fixture f;
    store_fixture_open(&f, *state);
    unsigned char *bytes = make_bytes(3 * CHUNK);
    unsigned char *back = malloc(3 * CHUNK);
    assert_non_null(back);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char hex[65];
        struct store_blob blob = write_blob(&f, bytes, sizes[i], 700001);
        hex_of(bytes, sizes[i], hex);
        assert_string_equal(blob.sha256, hex);
        assert_int_equal(blob.size, sizes[i]);
        size_t n = 99;
        assert_ok(&f, store_blob_read(f.store, f.scope.project_id, blob.id, 0, back, 3 * CHUNK, &n,
                                      &f.err));
        assert_int_equal(n, sizes[i]);
        assert_memory_equal(bytes, back, n);
        int64_t middle = (int64_t)sizes[i] / 2;
        assert_ok(&f, store_blob_read(f.store, f.scope.project_id, blob.id, middle, back, 100, &n,
                                      &f.err));
        assert_memory_equal(bytes + middle, back, n);
    }
    free(bytes);
    free(back);
    store_fixture_close(&f);
}

static void equal_content_is_kept_once(void **state)
{
    struct store_fixture f;
    store_fixture_open(&f, *state);
    struct store_blob first = write_blob(&f, "same", 4, 2);
    struct store_blob second = write_blob(&f, "same", 4, 4);
    assert_string_equal(first.id, second.id);
    assert_int_equal(test_sql_number(f.conninfo, "select count(*) from blob"), 1);
    /* never across projects */
    size_t n;
    char byte;
    char other[SV_ID_SIZE];
    sv_id_make(other);
    assert_status(&f, store_blob_read(f.store, other, first.id, 0, &byte, 1, &n, &f.err),
                  SV_ERR_NOT_FOUND);
    struct store_blob_writer *writer = NULL;
    assert_ok(&f, store_blob_begin(f.store, f.scope.project_id, &writer, &f.err));
    assert_ok(&f, store_blob_append(writer, "gone", 4, &f.err));
    store_blob_writer_destroy(writer);
    assert_int_equal(test_sql_number(f.conninfo, "select count(*) from blob"), 1);
    store_fixture_close(&f);
}

static void make_dataset(struct store_fixture *f, const char *name, const struct store_file *files,
                         size_t n, struct store_created *out)
{
    struct store_dataset_new dataset = {.name = name,
                                        .kind = "images",
                                        .layout = "idx",
                                        .options = "{\"image_size\": 32}",
                                        .files = files,
                                        .n_files = n};
    assert_ok(f, store_dataset_create(f->store, &f->scope, &dataset, NULL, out, &f->err));
}

static enum sv_status upload_to(struct store_fixture *f, enum store_asset asset, const char *id,
                                const char *file, int64_t offset, const void *data, size_t size,
                                bool final, int64_t *out_received)
{
    struct store_upload piece = {.asset = asset,
                                 .id = id,
                                 .file = file,
                                 .offset = offset,
                                 .data = data,
                                 .size = size,
                                 .final = final};
    return store_asset_upload(f->store, &f->scope, &piece, out_received, &f->err);
}

static enum sv_status upload(struct store_fixture *f, const char *id, const char *file,
                             int64_t offset, const void *data, size_t size, bool final,
                             int64_t *out_received)
{
    return upload_to(f, STORE_DATASET, id, file, offset, data, size, final, out_received);
}

/* Pieces of awkward sizes, a wrong offset, a wrong digest; then the import is waiting. */
static void uploads_resume_at_their_offset(void **state)
{
    struct store_fixture f;
    store_fixture_open(&f, *state);
    size_t n = 2 * CHUNK + 4321;
    unsigned char *bytes = make_bytes(n);
    struct store_file files[] = {{.name = "a", .declared_size = (int64_t)n},
                                 {.name = "b", .declared_size = -1}};
    hex_of(bytes, n, files[0].sha256);
    struct store_created created;
    make_dataset(&f, "set", files, 2, &created);
    int64_t at = 0;
    assert_ok(&f, upload(&f, created.id, "a", 0, bytes, 500000, false, &at));
    assert_int_equal(at, 500000);
    assert_status(&f, upload(&f, created.id, "a", 7, bytes, 10, false, &at), SV_ERR_RANGE);
    assert_int_equal(at, 500000);
    assert_ok(&f, upload(&f, created.id, "a", at, bytes + at, CHUNK, false, &at));
    /* a byte is wrong: refused at the end, and begins anew */
    bytes[n - 1] ^= 1;
    assert_status(&f, upload(&f, created.id, "a", at, bytes + at, n - (size_t)at, false, &at),
                  SV_ERR_INVALID_FIELD);
    assert_int_equal(at, 0);
    bytes[n - 1] ^= 1;
    assert_ok(&f, upload(&f, created.id, "a", 0, bytes, n, false, &at));
    assert_status(&f, upload(&f, created.id, "a", at, bytes, 1, false, &at), SV_ERR_WRONG_STATE);
    struct store_dataset dataset;
    assert_ok(&f, store_dataset_get(f.store, &f.scope, created.id, &f.memory, &dataset, &f.err));
    assert_string_equal(dataset.state, "uploading");
    assert_true(dataset.files[0].complete);
    assert_ok(&f, upload(&f, created.id, "b", 0, NULL, 0, true, &at));
    assert_ok(&f, store_dataset_get(f.store, &f.scope, created.id, &f.memory, &dataset, &f.err));
    assert_string_equal(dataset.state, "checking");
    free(bytes);
    store_fixture_close(&f);
}

static void too_many_bytes_start_again(void **state)
{
    struct store_fixture f;
    store_fixture_open(&f, *state);
    struct store_file file = {.name = "a", .declared_size = 3};
    struct store_created created;
    make_dataset(&f, "set", &file, 1, &created);
    int64_t at = 0;
    assert_status(&f, upload(&f, created.id, "a", 0, "four", 4, false, &at), SV_ERR_INVALID_FIELD);
    assert_status(&f, upload(&f, created.id, "a", 0, "ab", 2, true, &at), SV_ERR_INVALID_FIELD);
    assert_status(&f, upload(&f, created.id, "z", 0, "ab", 2, true, &at), SV_ERR_NOT_FOUND);
    assert_status(&f, upload(&f, "nonsense", "a", 0, "ab", 2, true, &at), SV_ERR_NOT_FOUND);
    assert_ok(&f, upload(&f, created.id, "a", 0, "abc", 3, false, &at));
    store_fixture_close(&f);
}

/* A set with one uploaded file, waiting for its import. */
static void waiting_import(struct store_fixture *f, const char *name, struct store_created *created)
{
    struct store_file file = {.name = "a", .declared_size = -1};
    int64_t at = 0;
    make_dataset(f, name, &file, 1, created);
    assert_ok(f, upload(f, created->id, "a", 0, "bytes", 5, true, &at));
}

static void imports_are_claimed_once_and_fenced(void **state)
{
    struct store_fixture f;
    store_fixture_open(&f, *state);
    struct store_created created;
    char worker[SV_ID_SIZE];
    store_fixture_worker(&f, worker);
    waiting_import(&f, "set", &created);
    struct store_claimed_import import;
    struct store_claimed_import none;
    bool found;
    assert_ok(&f, store_import_claim(f.store, STORE_QUEUE_ASSETS, worker, 60000, &f.memory, &found,
                                     &import, &f.err));
    assert_true(found);
    assert_string_equal(import.claim.id, created.id);
    assert_int_equal(import.n_files, 1);
    assert_string_equal(import.files[0].name, "a");
    assert_int_equal(import.files[0].blob.size, 5);
    assert_string_equal(
        import.setup,
        "{\"kind\" : \"images\", \"layout\" : \"idx\", \"options\" : {\"image_size\": 32}}");
    assert_ok(&f, store_import_claim(f.store, STORE_QUEUE_ASSETS, worker, 60000, &f.memory, &found,
                                     &none, &f.err));
    assert_false(found);
    assert_status(&f, store_asset_delete(f.store, &f.scope, STORE_DATASET, created.id, &f.err),
                  SV_ERR_WRONG_STATE);
    assert_ok(&f, store_import_heartbeat(f.store, &import.claim, 60000, 0.5, &f.err));
    struct store_import_claim stale = import.claim;
    stale.fence--;
    assert_status(&f, store_import_heartbeat(f.store, &stale, 60000, 0.6, &f.err),
                  SV_ERR_WRONG_STATE);
    struct store_blob blob = write_blob(&f, "prepared", 8, 8);
    struct store_dataset_ready ready = {.report = "{\"classes\": []}",
                                        .prepared_blob_id = blob.id,
                                        .height = 2,
                                        .width = 2,
                                        .channels = 1,
                                        .class_count = 2,
                                        .train_count = 3};
    memcpy(ready.digest, blob.sha256, sizeof ready.digest);
    assert_status(&f, store_dataset_ready(f.store, &stale, &ready, &f.err), SV_ERR_WRONG_STATE);
    assert_ok(&f, store_dataset_ready(f.store, &import.claim, &ready, &f.err));
    struct store_dataset dataset;
    assert_ok(&f, store_dataset_get(f.store, &f.scope, created.id, &f.memory, &dataset, &f.err));
    assert_string_equal(dataset.state, "ready");
    assert_string_equal(dataset.report, "{\"classes\": []}");
    assert_int_equal(dataset.train_count, 3);
    assert_string_equal(dataset.prepared_blob_id, blob.id);
    assert_ok(&f, store_asset_delete(f.store, &f.scope, STORE_DATASET, created.id, &f.err));
    store_fixture_close(&f);
}

/* B37 for imports: a crash at the last attempt ends it. */
static void a_crashing_import_is_given_up(void **state)
{
    struct store_fixture f;
    store_fixture_open(&f, *state);
    struct store_created created;
    char worker[SV_ID_SIZE];
    store_fixture_worker(&f, worker);
    waiting_import(&f, "set", &created);
    for (int i = 0; i < 3; i++) {
        struct store_claimed_import import;
        bool found = false;
        test_sql(f.conninfo, "update dataset set not_before = now()");
        assert_ok(&f, store_import_claim(f.store, STORE_QUEUE_ASSETS, worker, 60000, &f.memory,
                                         &found, &import, &f.err));
        assert_true(found);
        assert_ok(&f, store_import_crashed(f.store, &import.claim, "the import crashed", &f.err));
    }
    struct store_dataset dataset;
    assert_ok(&f, store_dataset_get(f.store, &f.scope, created.id, &f.memory, &dataset, &f.err));
    assert_string_equal(dataset.state, "refused");
    assert_string_equal(dataset.error_text, "the import crashed");
    store_fixture_close(&f);
}

static void waiting_weights(struct store_fixture *f, const char *name,
                            struct store_created *created)
{
    struct store_file file = {.name = "w", .declared_size = 5};
    struct store_weights_new weights = {
        .name = name, .licence = "MIT", .files = &file, .n_files = 1};
    int64_t at = 0;
    assert_ok(f, store_weights_create(f->store, &f->scope, &weights, NULL, created, &f->err));
    assert_ok(f, upload_to(f, STORE_WEIGHTS, created->id, "w", 0, "bytes", 5, false, &at));
}

/* Both kinds of imports stand in one queue: whatever waited longest is first. */
static void weights_are_imported_in_turn(void **state)
{
    struct store_fixture f;
    store_fixture_open(&f, *state);
    struct store_created weights[2], set;
    char worker[SV_ID_SIZE];
    store_fixture_worker(&f, worker);
    waiting_weights(&f, "first", &weights[0]);
    waiting_import(&f, "second", &set);
    waiting_weights(&f, "third", &weights[1]);
    const char *const order[] = {weights[0].id, set.id, weights[1].id};
    struct store_claimed_import imports[3];
    bool found;
    for (int i = 0; i < 3; i++) {
        assert_ok(&f, store_import_claim(f.store, STORE_QUEUE_ASSETS, worker, 60000, &f.memory,
                                         &found, &imports[i], &f.err));
        assert_true(found);
        assert_string_equal(imports[i].claim.id, order[i]);
        assert_int_equal(imports[i].claim.asset, i == 1 ? STORE_DATASET : STORE_WEIGHTS);
    }
    assert_string_equal(imports[0].setup, "{}");
    struct store_blob blob = write_blob(&f, "content", 7, 7);
    struct store_weights_ready ready = {.report = "{}",
                                        .tensors = "[]",
                                        .format = "pytorch",
                                        .content = &blob,
                                        .tensor_count = 2,
                                        .element_count = 30};
    assert_ok(&f, store_weights_ready(f.store, &imports[0].claim, &ready, &f.err));
    assert_status(&f, store_weights_ready(f.store, &imports[0].claim, &ready, &f.err),
                  SV_ERR_WRONG_STATE);
    assert_ok(&f, store_import_refused(f.store, &imports[2].claim, "no tensors", NULL, &f.err));
    struct store_weights found_weights;
    assert_ok(
        &f, store_weights_get(f.store, &f.scope, weights[0].id, &f.memory, &found_weights, &f.err));
    assert_string_equal(found_weights.state, "ready");
    assert_string_equal(found_weights.content.id, blob.id);
    assert_string_equal(found_weights.digest, blob.sha256);
    assert_string_equal(found_weights.licence, "MIT");
    assert_int_equal(found_weights.element_count, 30);
    assert_ok(
        &f, store_weights_get(f.store, &f.scope, weights[1].id, &f.memory, &found_weights, &f.err));
    assert_string_equal(found_weights.error_text, "no tensors");
    assert_int_equal(test_sql_number(f.conninfo,
                                     "select count(*) from event where weights_id is not"
                                     " null and kind like 'weights_%'"),
                     8);
    store_fixture_close(&f);
}

/* The reaper gives imports of every kind back, and what is in use is not collected. */
static void lost_imports_of_weights_are_reaped(void **state)
{
    struct store_fixture f;
    store_fixture_open(&f, *state);
    struct store_created weights;
    char worker[SV_ID_SIZE];
    struct store_claimed_import import;
    bool found;
    size_t reaped = 0;
    store_fixture_worker(&f, worker);
    waiting_weights(&f, "lost", &weights);
    assert_ok(&f, store_import_claim(f.store, STORE_QUEUE_ASSETS, worker, 60000, &f.memory, &found,
                                     &import, &f.err));
    test_sql(f.conninfo, "update weights set lease_until = now() - interval '1 s'");
    assert_ok(&f, store_reap(f.store, &reaped, &f.err));
    assert_int_equal(reaped, 1);
    assert_status(&f, store_import_heartbeat(f.store, &import.claim, 60000, 0.5, &f.err),
                  SV_ERR_WRONG_STATE);
    assert_int_equal(test_sql_number(f.conninfo, "select count(*) from blob_reference"), 1);
    test_sql(f.conninfo, "update weights set not_before = now()");
    assert_ok(&f, store_import_claim(f.store, STORE_QUEUE_ASSETS, worker, 60000, &f.memory, &found,
                                     &import, &f.err));
    assert_true(found);
    assert_int_equal(import.attempt, 2);
    store_fixture_close(&f);
}

struct creator {
    struct store_fixture *fixture;
    enum sv_status status;
    char text[384];
};

static void *create_in_thread(void *arg)
{
    struct creator *creator = arg;
    struct store_file file = {.name = "a", .declared_size = -1};
    struct store_dataset_new dataset = {
        .name = "wanted by all", .kind = "images", .layout = "idx", .files = &file, .n_files = 1};
    struct store_created created;
    struct sv_error err = {0};
    creator->status = store_dataset_create(creator->fixture->store, &creator->fixture->scope,
                                           &dataset, NULL, &created, &err);
    memcpy(creator->text, err.text, sizeof creator->text);
    return NULL;
}

/* B15: 20 at once under one name: one wins, nineteen conflict, and nobody sees SQL. */
static void b15_one_name_is_made_once(void **state)
{
    enum { N = 20 };
    struct store_fixture f;
    store_fixture_open(&f, *state);
    struct creator creators[N];
    pthread_t threads[N];
    for (int i = 0; i < N; i++) {
        creators[i] = (struct creator){.fixture = &f};
        assert_int_equal(pthread_create(&threads[i], NULL, create_in_thread, &creators[i]), 0);
    }
    int made = 0;
    for (int i = 0; i < N; i++) {
        (void)pthread_join(threads[i], NULL);
        made += creators[i].status == SV_OK;
        if (creators[i].status != SV_OK) {
            assert_int_equal(creators[i].status, SV_ERR_CONFLICT);
            assert_string_equal(creators[i].text, "a data set of this name exists already");
        }
    }
    assert_int_equal(made, 1);
    store_fixture_close(&f);
}

/* Every order, page by page, meets every row once. */
static void lists_page_through_everything(void **state)
{
    struct store_fixture f;
    store_fixture_open(&f, *state);
    static const char *const names[] = {"b", "a", "Zoë", "c%d", "d"};
    struct store_file file = {.name = "a", .declared_size = -1};
    struct store_created created;
    for (size_t i = 0; i < 5; i++) {
        make_dataset(&f, names[i], &file, 1, &created);
    }
    static const char *const expected[] = {
        [STORE_DATASETS_NEWEST] = "d c%d Zoë a b ",
        [STORE_DATASETS_OLDEST] = "b a Zoë c%d d ",
        [STORE_DATASETS_BY_NAME] = "Zoë a b c%d d ",
    };
    for (int sort = STORE_DATASETS_NEWEST; sort <= STORE_DATASETS_BY_NAME; sort++) {
        struct store_dataset_filter filter = {.sort = (enum store_dataset_sort)sort};
        struct store_page page = {.limit = 2};
        char seen[100] = "";
        do {
            struct store_dataset_list list;
            assert_ok(&f, store_datasets_list(f.store, &f.scope, &filter, &page, &f.memory, &list,
                                              &f.err));
            for (size_t i = 0; i < list.n; i++) {
                (void)strcat(strcat(seen, list.rows[i].name), " ");
            }
            page.cursor = list.next;
        } while (page.cursor);
        assert_string_equal(seen, expected[sort]);
    }
    struct store_dataset_list list;
    struct store_dataset_filter filter = {.search = "%"};
    struct store_page page = {.limit = 10};
    assert_ok(&f, store_datasets_list(f.store, &f.scope, &filter, &page, &f.memory, &list, &f.err));
    assert_int_equal(list.n, 1);
    static const char *const bad[] = {
        "x", "-1", "1x", "1.zz", "1.6", "1.00", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        page.cursor = bad[i];
        assert_status(
            &f, store_datasets_list(f.store, &f.scope, &filter, &page, &f.memory, &list, &f.err),
            SV_ERR_INVALID_PARAMETER);
    }
    store_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blobs_come_back),
        cmocka_unit_test(equal_content_is_kept_once),
        cmocka_unit_test(uploads_resume_at_their_offset),
        cmocka_unit_test(too_many_bytes_start_again),
        cmocka_unit_test(imports_are_claimed_once_and_fenced),
        cmocka_unit_test(a_crashing_import_is_given_up),
        cmocka_unit_test(weights_are_imported_in_turn),
        cmocka_unit_test(lost_imports_of_weights_are_reaped),
        cmocka_unit_test(b15_one_name_is_made_once),
        cmocka_unit_test(lists_page_through_everything),
    };
    return cmocka_run_group_tests(tests, test_postgres_setup, test_postgres_teardown);
}
