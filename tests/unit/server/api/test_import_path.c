/* SPDX-License-Identifier: MIT
 *
 * Files of the server that a data set may name: only regular ones below an allowed root, by
 * whatever text; case B18.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/api/assets_internal.h"
#include "tests/support/cmocka_all.h"

struct tree {
    char top[64];  /* holds allowed/ and secret */
    char root[80]; /* a.zip, sub/b.zip, links that lead out and in */
    char roots[256];
};

static void write_file(const char *directory, const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "x", 1), 1);
    (void)close(fd);
}

static int make_tree(void **state)
{
    struct tree *t = calloc(1, sizeof *t);
    char path[160], link_path[160];
    (void)snprintf(t->top, sizeof t->top, "/tmp/assay-import-XXXXXX");
    assert_non_null(mkdtemp(t->top));
    (void)snprintf(t->root, sizeof t->root, "%s/allowed", t->top);
    (void)snprintf(path, sizeof path, "%s/sub", t->root);
    assert_int_equal(mkdir(t->root, 0700), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    write_file(t->top, "secret");
    write_file(t->root, "a.zip");
    write_file(path, "b.zip");
    (void)snprintf(link_path, sizeof link_path, "%s/out", t->root);
    (void)snprintf(path, sizeof path, "%s/secret", t->top);
    assert_int_equal(symlink(path, link_path), 0);
    (void)snprintf(link_path, sizeof link_path, "%s/in", t->root);
    assert_int_equal(symlink("a.zip", link_path), 0);
    (void)snprintf(link_path, sizeof link_path, "%s/up", t->root);
    assert_int_equal(symlink("..", link_path), 0);
    (void)snprintf(path, sizeof path, "%s/fifo", t->root);
    assert_int_equal(mkfifo(path, 0600), 0);
    (void)snprintf(t->roots, sizeof t->roots, "/nowhere:%s", t->root);
    *state = t;
    return 0;
}

static int remove_tree(void **state)
{
    struct tree *t = *state;
    static const char *const names[] = {
        "allowed/sub/b.zip", "allowed/sub",  "allowed/a.zip", "allowed/out", "allowed/in",
        "allowed/up",        "allowed/fifo", "allowed",       "secret",      ""};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[256];
        (void)snprintf(path, sizeof path, "%s/%s", t->top, names[i]);
        (void)remove(path);
    }
    free(t);
    return 0;
}

static enum sv_status try(const struct tree *t, const char *roots, const char *path,
                          const char **out_name, struct sv_error *err)
{
    int fd = -1;
    char full[512];
    (void)snprintf(full, sizeof full, "%s%s", path[0] == '+' ? t->root : "",
                   path[0] == '+' ? path + 1 : path);
    enum sv_status st = api_import_open(roots, full, "/files/0/path", &fd, out_name, err);
    if (st == SV_OK) {
        assert_true(fd >= 0);
        (void)close(fd);
        *out_name = strcmp(*out_name, "b.zip") == 0 ? "b.zip" : "a.zip";
    }
    return st;
}

static void files_below_a_root_open(void **state)
{
    const struct tree *t = *state;
    static const struct {
        const char *path, *name;
    } rows[] = {{"+/a.zip", "a.zip"},   {"+//a.zip", "a.zip"},    {"a.zip", "a.zip"},
                {"sub/b.zip", "b.zip"}, {"+/sub/b.zip", "b.zip"}, {"sub/../a.zip", "a.zip"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *name = "";
        struct sv_error err = {0};
        assert_int_equal(try(t, t->roots, rows[i].path, &name, &err), SV_OK);
        assert_string_equal(name, rows[i].name);
    }
}

static void nothing_else_does_and_all_refusals_are_alike(void **state)
{
    const struct tree *t = *state;
    static const char *const paths[] = {
        "+/../secret",
        "../secret",
        "sub/../../secret",
        "/etc/passwd",
        "+/out",
        "out",
        "+/in",
        "up/secret",
        "+/up/allowed/a.zip",
        "+/missing",
        "+",
        "+/",
        "sub",
        "+/fifo",
        "/",
        ".",
        "..",
        "+x/a.zip",
        "//etc/passwd",
        "/proc/self/cwd/etc/passwd",
    };
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const char *name = "";
        struct sv_error err = {0};
        if (try(t, t->roots, paths[i], &name, &err) != SV_ERR_INVALID_FIELD) {
            fail_msg("%s was opened", paths[i]);
        }
        assert_string_equal(err.pointer, "/files/0/path");
        assert_string_equal(err.text,
                            "there is no such file below an allowed directory of the server");
    }
}

static void without_roots_nothing_opens(void **state)
{
    const struct tree *t = *state;
    const char *name = "";
    assert_int_equal(try(t, "", "+/a.zip", &name, NULL), SV_ERR_INVALID_FIELD);
    assert_int_equal(try(t, ":", "a.zip", &name, NULL), SV_ERR_INVALID_FIELD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_below_a_root_open, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(nothing_else_does_and_all_refusals_are_alike, make_tree,
                                        remove_tree),
        cmocka_unit_test_setup_teardown(without_roots_nothing_opens, make_tree, remove_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
