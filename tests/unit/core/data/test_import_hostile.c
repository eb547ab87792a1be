/* SPDX-License-Identifier: MIT
 *
 * Archives made to hurt. Beside one good picture each holds something that must be refused by its
 * own reason, must fail the import, or must change nothing; never a crash, never a file elsewhere
 * (the fixture checks that the output folder holds the prepared set and nothing else).
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka_all.h"
#include "tests/support/imports.h"
#include "tests/support/sets.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct test_archive_options ZIP = {.format = TEST_ZIP};
static const struct test_archive_options TAR = {.format = TEST_TAR};
static const struct test_archive_options TAR_GZ = {.format = TEST_TAR_GZ};

/* One good picture and one entry to refuse. */
static void check_refused(struct test_import *t, const struct test_archive_options *options,
                          struct test_entry bad, const char *reason)
{
    if (bad.kind == TEST_FILE || bad.kind == TEST_SETUID) {
        bad.content = test_picture(8, 2);
    }
    struct test_entry entries[] = {bad, {"a/good.png", test_picture(8, 1), 0, 0}};
    test_import_entries(t, options, entries, 2);
    if (t->status != NN_OK) {
        fail_msg("%s: %s", bad.name, t->err.text);
    }
    assert_int_equal(test_import_count(t, "items"), 1);
    const json_t *row = json_array_get(json_object_get(t->report, "refused"), 0);
    const char *given = json_string_value(json_object_get(row, "reason"));
    if (!given || strcmp(given, reason) != 0) {
        fail_msg("%s: %s instead of %s", bad.name, given ? given : "not refused", reason);
    }
}

static void names_that_lead_elsewhere(void **state)
{
    static const char *const rows[][2] = {
        {"../x.png", "path_traversal"},
        {"a/../../x.png", "path_traversal"},
        {"/tmp/assay-evil.png", "absolute_path"},
        {"C:\\x.png", "absolute_path"},
        {"a\\b/x.png", "bad_path"},
        {"a/\x01.png", "bad_path"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct test_entry bad = {.name = rows[i][0]};
        check_refused(*state, &ZIP, bad, rows[i][1]);
        check_refused(*state, &TAR, bad, rows[i][1]);
    }
}

/* A zip made on another system has backslashes between folders, which readers turn around. */
static void backslashes_lead_nowhere(void **state)
{
    struct test_import *t = *state;
    struct test_entry bad = {.name = "..\\..\\x.png"};
    check_refused(t, &TAR, bad, "path_traversal");
    check_refused(t, &ZIP, bad, "path_traversal");
}

/* B19: a link to "..", then a file through it. Both the link and what it hides are harmless. */
static void case_b19_links_are_refused(void **state)
{
    struct test_import *t = *state;
    static const char *const targets[] = {"..", "/", "../../x", "a/good.png"};
    for (size_t i = 0; i < COUNT(targets); i++) {
        struct test_entry bad = {"evil", {0}, TEST_SYMLINK, targets[i]};
        check_refused(t, &TAR, bad, "link");
        check_refused(t, &ZIP, bad, "link");
    }
    struct test_entry entries[] = {{"evil", {0}, TEST_SYMLINK, ".."},
                                   {"evil/pwned.png", test_picture(8, 1), 0, 0},
                                   {"a/good.png", test_picture(8, 2), 0, 0}};
    test_import_entries(t, &ZIP, entries, COUNT(entries));
    assert_int_equal(t->status, NN_OK);
    assert_int_equal(test_import_count(t, "items"), 2); /* "evil" is a class name, nothing more */
    struct test_entry hard = {"a/hard.png", {0}, TEST_HARDLINK, "/etc/passwd"};
    check_refused(t, &TAR, hard, "link");
}

static void devices_are_refused(void **state)
{
    struct test_entry device = {"a/device.png", {0}, TEST_DEVICE, NULL};
    struct test_entry fifo = {"a/fifo.png", {0}, TEST_FIFO, NULL};
    check_refused(*state, &TAR, device, "special_file");
    check_refused(*state, &TAR, fifo, "special_file");
    struct test_entry entries[] = {{"a/1.png", test_picture(8, 1), TEST_SETUID, NULL}};
    test_import_entries(*state, &TAR, entries, 1);
    assert_int_equal(((struct test_import *)*state)->status, NN_OK); /* modes mean nothing here */
}

static void names_without_end_and_without_sense(void **state)
{
    char name[4097];
    memset(name, 'x', sizeof name);
    name[4096] = '\0';
    struct test_entry bad = {.name = name};
    check_refused(*state, &ZIP, bad, "name_too_long");
    check_refused(*state, &TAR, bad, "name_too_long");
    bad.name = "gr\xfcn/1.png";
    check_refused(*state, &ZIP, bad, "name_not_utf8");
    check_refused(*state, &TAR, bad, "name_not_utf8");
}

static void doubles_are_refused(void **state)
{
    struct test_entry bad = {.name = "a/good.png"};
    struct test_import *t = *state;
    check_refused(t, &ZIP, bad, "duplicate_name");
    check_refused(t, &TAR, bad, "duplicate_name");
    bad.name = "./a//good.png";
    check_refused(t, &TAR, bad, "duplicate_name");
}

static void encrypted_entries_are_refused(void **state)
{
    struct test_import *t = *state;
    struct test_archive_options options = {.format = TEST_ZIP, .encrypted = true};
    struct test_entry entries[] = {{"a/1.png", test_picture(8, 1), 0, 0}};
    test_import_entries(t, &options, entries, 1);
    assert_int_equal(t->status, NN_ERR_INVALID);
    assert_non_null(strstr(t->err.text, "encrypted"));
}

/* --------------------------------------------------------------------------------- patched zips */

/* Writes a zip of two pictures, a/1.png and b/2.png. */
static struct test_bytes make_zip(struct test_import *t, bool stored)
{
    struct test_archive_options options = {.format = TEST_ZIP, .stored = stored};
    struct test_entry entries[] = {{"a/1.png", test_picture(16, 1), 0, 0},
                                   {"b/2.png", test_picture(16, 2), 0, 0}};
    char *path = test_path(t->directory, "zip");
    test_archive_write(path, &options, entries, 2);
    struct test_bytes zip = test_file_read(path);
    free(path);
    free(entries[0].content.data);
    free(entries[1].content.data);
    return zip;
}

static void import_bytes(struct test_import *t, const uint8_t *data, size_t size)
{
    char *path = test_path(t->directory, "bytes");
    test_file_write(path, data, size);
    free(path);
    test_import_file(t, "bytes");
}

/* Offset of the k-th record with that signature ("PK\x03\x04" local, "PK\x01\x02" directory). */
static size_t find_record(const struct test_bytes *zip, const char *signature, size_t k)
{
    for (size_t i = 0; i + 4 <= zip->size; i++) {
        if (memcmp(zip->data + i, signature, 4) == 0 && k-- == 0) {
            return i;
        }
    }
    fail_msg("no such record");
    return 0;
}

/* Patches one 16-bit or 32-bit field of the directory record of a/1.png, and imports. */
static void import_patched(struct test_import *t, size_t field, uint64_t value, size_t bytes)
{
    struct test_bytes zip = make_zip(t, false);
    memcpy(zip.data + find_record(&zip, "PK\x01\x02", 0) + field, &value, bytes);
    import_bytes(t, zip.data, zip.size);
    free(zip.data);
}

static void sizes_that_lie(void **state)
{
    struct test_import *t = *state;
    static const uint32_t sizes[] = {0, 1, 10, 1000, 0x7fffffff, 0xfffffffe, 0xffffffff};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        import_patched(t, 24, sizes[i], 4); /* unpacked size */
        assert_true(t->status == NN_OK || t->status == NN_ERR_INVALID);
        import_patched(t, 20, sizes[i], 4); /* packed size */
        assert_true(t->status == NN_OK || t->status == NN_ERR_INVALID);
        import_patched(t, 42, sizes[i], 4); /* offset of the local header */
        assert_true(t->status == NN_OK || t->status == NN_ERR_INVALID);
    }
}

/* A stored entry has no data descriptor that could put its sizes right again. */
static void stored_sizes_that_lie(void **state)
{
    struct test_import *t = *state;
    static const uint32_t sizes[] = {0, 10, 0x7fffffff};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct test_bytes zip = make_zip(t, true);
        size_t directory = find_record(&zip, "PK\x01\x02", 0);
        size_t local = find_record(&zip, "PK\x03\x04", 0);
        for (size_t field = 0; field < 8; field += 4) {
            memcpy(zip.data + directory + 20 + field, &sizes[i], 4);
            memcpy(zip.data + local + 18 + field, &sizes[i], 4);
        }
        import_bytes(t, zip.data, zip.size);
        free(zip.data);
        if (t->status == NN_OK) { /* the other entry is whole */
            assert_int_equal(test_import_count(t, "items"), 1);
            assert_non_null(test_import_reason(t, "refused", "a/1.png"));
        } else {
            assert_int_equal(t->status, NN_ERR_INVALID);
        }
    }
}

static void checksums_that_lie(void **state)
{
    struct test_import *t = *state;
    struct test_bytes zip = make_zip(t, true);
    zip.data[find_record(&zip, "PK\x03\x04", 0) + 80] ^= 1; /* inside the stored picture */
    import_bytes(t, zip.data, zip.size);
    free(zip.data);
    assert_int_equal(t->status, NN_OK);
    assert_int_equal(test_import_count(t, "items"), 1);
    assert_string_equal(test_import_reason(t, "refused", "a/1.png"), "unreadable");
}

static void methods_are_restricted(void **state)
{
    struct test_import *t = *state;
    static const uint16_t methods[] = {9, 12, 14, 93, 95, 98, 99};
    for (size_t i = 0; i < COUNT(methods); i++) {
        struct test_bytes zip = make_zip(t, false);
        memcpy(zip.data + find_record(&zip, "PK\x01\x02", 0) + 10, &methods[i], 2);
        memcpy(zip.data + find_record(&zip, "PK\x03\x04", 0) + 8, &methods[i], 2);
        import_bytes(t, zip.data, zip.size);
        free(zip.data);
        assert_int_equal(t->status, NN_OK);
        assert_int_equal(test_import_count(t, "items"), 1);
        assert_string_equal(test_import_reason(t, "refused", "a/1.png"), "compression_method");
    }
}

/* B20: names that a zip declares as UTF-8 survive a process in the C locale. */
static void case_b20_declared_utf8(void **state)
{
    struct test_import *t = *state;
    struct test_archive_options options = {.format = TEST_ZIP};
    struct test_entry entries[] = {{"\xe7\x8c\xab/\xd7\x90.png", test_picture(8, 1), 0, 0}};
    char *path = test_path(t->directory, "bytes");
    test_archive_write(path, &options, entries, 1);
    struct test_bytes zip = test_file_read(path);
    zip.data[find_record(&zip, "PK\x01\x02", 0) + 9] |= 8;
    zip.data[find_record(&zip, "PK\x03\x04", 0) + 7] |= 8;
    import_bytes(t, zip.data, zip.size);
    assert_int_equal(t->status, NN_OK);
    assert_string_equal(test_import_class(t, "\xe7\x8c\xab/\xd7\x90.png"), "\xe7\x8c\xab");
    free(entries[0].content.data);
    free(zip.data);
    free(path);
}

/* ------------------------------------------------------------------------------- cut and spoiled
 */

static struct test_bytes make_archive(struct test_import *t,
                                      const struct test_archive_options *options)
{
    struct test_entry entries[12];
    char names[12][16];
    char *path = test_path(t->directory, "whole");
    for (unsigned i = 0; i < 12; i++) {
        snprintf(names[i], sizeof names[i], "%c/%u.png", 'a' + (int)i % 3, i);
        entries[i] = (struct test_entry){names[i], test_picture(24, i), 0, 0};
    }
    test_archive_write(path, options, entries, 12);
    struct test_bytes whole = test_file_read(path);
    for (size_t i = 0; i < 12; i++) {
        free(entries[i].content.data);
    }
    free(path);
    return whole;
}

static void cut_archives_are_refused_whole(void **state)
{
    struct test_import *t = *state;
    const struct test_archive_options *formats[] = {&ZIP, &TAR, &TAR_GZ};
    for (size_t k = 0; k < 3; k++) {
        struct test_bytes whole = make_archive(t, formats[k]);
        import_bytes(t, whole.data, whole.size);
        assert_int_equal(t->status, NN_OK);
        assert_int_equal(test_import_count(t, "items"), 12);
        for (size_t tenth = 1; tenth < 10; tenth++) {
            size_t cut = whole.size * tenth / 10 - tenth % 2;
            import_bytes(t, whole.data, cut);
            assert_int_equal(t->status, NN_ERR_INVALID);
        }
        free(whole.data);
    }
}

static void spoiled_archives_are_survived(void **state)
{
    struct test_import *t = *state;
    const struct test_archive_options *formats[] = {&ZIP, &TAR, &TAR_GZ};
    uint32_t noise = 1;
    for (size_t k = 0; k < 3; k++) {
        struct test_bytes whole = make_archive(t, formats[k]);
        for (size_t i = 0; i < 40; i++) {
            noise = noise * 1664525 + 1013904223;
            size_t at = noise % whole.size;
            whole.data[at] ^= 0x41;
            import_bytes(t, whole.data, whole.size);
            assert_true(t->status == NN_OK || t->status == NN_ERR_INVALID ||
                        t->status == NN_ERR_NOT_SUPPORTED || t->status == NN_ERR_LIMIT);
            whole.data[at] ^= 0x41;
        }
        free(whole.data);
    }
}

static void files_that_are_no_archive(void **state)
{
    struct test_import *t = *state;
    import_bytes(t, (const uint8_t *)"", 0);
    assert_int_equal(t->status, NN_ERR_INVALID);
    import_bytes(t, (const uint8_t *)"7z\xbc\xaf\x27\x1c\0\0\0\0\0\0\0\0", 14);
    assert_int_equal(t->status, NN_ERR_NOT_SUPPORTED);
    import_bytes(t, (const uint8_t *)"Rar!\x1a\x07\x01\0\0\0\0\0\0\0", 14);
    assert_int_equal(t->status, NN_ERR_NOT_SUPPORTED);
    import_bytes(t, (const uint8_t *)"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);
    assert_int_equal(t->status, NN_ERR_INVALID); /* an empty zip */
    uint8_t zeros[10240] = {0};
    import_bytes(t, zeros, sizeof zeros); /* an empty tar */
    assert_int_equal(t->status, NN_ERR_INVALID);
    struct test_bytes gzip = test_gzip("only a text in it", 17);
    import_bytes(t, gzip.data, gzip.size);
    assert_int_equal(t->status, NN_ERR_INVALID);
    free(gzip.data);
}

/* A tar in gzip in gzip, a zip in a zip: one layer is enough, the rest is no picture. */
static void nested_archives_are_not_opened(void **state)
{
    struct test_import *t = *state;
    struct test_bytes once = make_archive(t, &TAR_GZ);
    struct test_bytes twice = test_gzip(once.data, once.size);
    import_bytes(t, twice.data, twice.size);
    assert_int_equal(t->status, NN_ERR_INVALID);
    free(once.data);
    free(twice.data);
    struct test_entry entries[] = {{"a/inner.zip", make_zip(t, false), 0, 0},
                                   {"a/1.png", test_picture(8, 1), 0, 0}};
    test_import_entries(t, &ZIP, entries, 2);
    assert_int_equal(test_import_count(t, "items"), 1);
    assert_string_equal(test_import_reason(t, "refused", "a/inner.zip"), "not_an_image");
}

/* ----------------------------------------------------------------------------------------- bombs
 */

static struct test_bytes zeros(size_t n)
{
    return (struct test_bytes){calloc(1, n), n};
}

static void caps_are_kept(void **state)
{
    struct test_import *t = *state;
    const struct test_archive_options *formats[] = {&ZIP, &TAR, &TAR_GZ};
    enum { BIG = 3 << 20 };
    for (size_t k = 0; k < 3; k++) {
        struct test_entry big[] = {{"a/bomb.png", zeros(BIG), 0, 0},
                                   {"a/1.png", test_picture(8, 1), 0, 0}};
        t->setup.limits = (struct nn_import_limits){.max_entry_bytes = 1 << 20};
        test_import_entries(t, formats[k], big, 2);
        assert_int_equal(t->status, NN_OK);
        assert_string_equal(test_import_reason(t, "refused", "a/bomb.png"), "entry_too_large");
        struct test_entry many[] = {{"a/bomb.png", zeros(BIG), 0, 0},
                                    {"a/.ignored", zeros(BIG), 0, 0},
                                    {"a/1.png", test_picture(8, 1), 0, 0}};
        t->setup.limits = (struct nn_import_limits){.max_total_bytes = BIG + BIG / 2};
        test_import_entries(t, formats[k], many, 3);
        /* a zip skips the ignored one for free; a tar has to be read through it */
        assert_int_equal(t->status, k == 0 ? NN_OK : NN_ERR_LIMIT);
        t->setup.limits = (struct nn_import_limits){.max_total_bytes = BIG - 1};
        struct test_entry one[] = {{"a/bomb.png", zeros(BIG), 0, 0}};
        test_import_entries(t, formats[k], one, 1);
        assert_int_equal(t->status, NN_ERR_LIMIT);
    }
}

static void counts_are_capped(void **state)
{
    struct test_import *t = *state;
    struct test_entry entries[50];
    char names[50][24];
    for (int round = 0; round < 4; round++) {
        for (unsigned i = 0; i < 50; i++) {
            snprintf(names[i], sizeof names[i], "c%02u/%u.png", i, i);
            entries[i] = (struct test_entry){names[i], test_picture(4, i), 0, 0};
        }
        t->setup.limits = (struct nn_import_limits){0};
        t->setup.limits.max_entries = round == 0 ? 49 : 0;
        t->setup.limits.max_classes = round == 1 ? 49 : 0;
        t->setup.limits.max_prepared_bytes = round == 2 ? 50 * 16 - 1 : 0;
        test_import_entries(t, &ZIP, entries, 50);
        assert_int_equal(t->status, round < 3 ? NN_ERR_LIMIT : NN_OK);
    }
    assert_int_equal(test_import_count(t, "items"), 50);
}

static void long_lists_are_cut_but_counted(void **state)
{
    struct test_import *t = *state;
    struct test_entry entries[31];
    char names[31][24];
    for (unsigned i = 0; i < 30; i++) {
        snprintf(names[i], sizeof names[i], "a/%u.txt", i);
        entries[i] = (struct test_entry){names[i], zeros(5), 0, 0};
    }
    entries[30] = (struct test_entry){"a/1.png", test_picture(8, 1), 0, 0};
    t->setup.limits.max_listed = 7;
    test_import_entries(t, &ZIP, entries, 31);
    assert_int_equal(test_import_count(t, "refused"), 30);
    assert_int_equal(json_array_size(json_object_get(t->report, "refused")), 7);
}

/* A thousand refused names of a thousand bytes: the report stays small enough to travel. */
static void reports_stay_small(void **state)
{
    struct test_import *t = *state;
    enum { N = 1001 };
    struct test_entry *entries = calloc(N, sizeof *entries);
    char(*names)[1024] = calloc(N, sizeof *names);
    for (unsigned i = 0; i + 1 < N; i++) {
        memset(names[i], 1, sizeof names[i] - 1); /* six characters each in JSON */
        int n = snprintf(names[i], 16, "%u", i);
        names[i][n] = 'x';
        entries[i] = (struct test_entry){.name = names[i]};
    }
    entries[N - 1] = (struct test_entry){"a/1.png", test_picture(8, 1), 0, 0};
    test_import_entries(t, &ZIP, entries, N);
    assert_int_equal(test_import_count(t, "refused"), N - 1);
    size_t size = json_dumpb(t->report, NULL, 0, JSON_COMPACT);
    assert_true(size > 1 << 20 && size < 3 << 19);
    free(entries);
    free(names);
}

/* ------------------------------------------------------------------------------ found corpora */

/* Odd and hostile archives of others, where they are at hand: any answer but a crash. */
static void found_archives_are_survived(void **state)
{
    struct test_import *t = *state;
    static const char *const folders[] = {"zip_libzip", "zip_slip"};
    const char *root = getenv("ASSAY_TEST_DATA");
    for (size_t k = 0; k < 2; k++) {
        char *folder = NULL;
        assert_true(
            asprintf(&folder, "%s/robustness/%s", root ? root : "../shared/data", folders[k]) > 0);
        DIR *dir = opendir(folder);
        for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
            char *path = test_path(folder, e->d_name);
            struct test_bytes bytes =
                e->d_name[0] == '.' ? (struct test_bytes){0} : test_file_read(path);
            if (bytes.data) {
                import_bytes(t, bytes.data, bytes.size);
                assert_true(t->status == NN_ERR_INVALID || t->status == NN_ERR_NOT_SUPPORTED);
            }
            free(bytes.data);
            free(path);
        }
        if (dir) {
            closedir(dir);
        }
        free(folder);
    }
}

#define IMPORT_TEST(f) cmocka_unit_test_setup_teardown(f, test_import_setup, test_import_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IMPORT_TEST(names_that_lead_elsewhere),
        IMPORT_TEST(backslashes_lead_nowhere),
        IMPORT_TEST(case_b19_links_are_refused),
        IMPORT_TEST(devices_are_refused),
        IMPORT_TEST(names_without_end_and_without_sense),
        IMPORT_TEST(doubles_are_refused),
        IMPORT_TEST(encrypted_entries_are_refused),
        IMPORT_TEST(sizes_that_lie),
        IMPORT_TEST(stored_sizes_that_lie),
        IMPORT_TEST(checksums_that_lie),
        IMPORT_TEST(methods_are_restricted),
        IMPORT_TEST(case_b20_declared_utf8),
        IMPORT_TEST(cut_archives_are_refused_whole),
        IMPORT_TEST(spoiled_archives_are_survived),
        IMPORT_TEST(files_that_are_no_archive),
        IMPORT_TEST(nested_archives_are_not_opened),
        IMPORT_TEST(caps_are_kept),
        IMPORT_TEST(counts_are_capped),
        IMPORT_TEST(long_lists_are_cut_but_counted),
        IMPORT_TEST(reports_stay_small),
        IMPORT_TEST(found_archives_are_survived),
    };
    return cmocka_run_group_tests_name("import_hostile", tests, NULL, NULL);
}
