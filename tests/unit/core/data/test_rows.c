/* SPDX-License-Identifier: MIT
 *
 * core/data: kept rows when the disk takes no more: the writer says so at once, and leaves nothing.
 */
#include "tests/support/cmocka_all.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/data/rows.h"
#include "tests/support/sets.h"

static int set_up(void **state)
{
    *state = test_directory();
    return 0;
}

static int tear_down(void **state)
{
    test_directory_remove(*state);
    return 0;
}

/* Returns what the limit was. */
static rlim_t limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    return before;
}

static void a_failed_write_is_told(void **state)
{
    enum { WIDTH = 4096, ROWS = 1000, LIMIT = 1 << 20 };
    const struct nn_rows_key key = {.count = ROWS, .width = WIDTH};
    char *path = test_path(*state, "rows");
    nn_real *row = calloc(WIDTH, sizeof *row);
    struct nn_rows_writer *writer = NULL;
    struct nn_error err = {0};
    size_t n = 0;
    assert_non_null(row);
    assert_int_equal(nn_rows_writer_open(path, &key, &writer, &err), NN_OK);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    rlim_t before = limit_files(LIMIT);
    while (n < ROWS && nn_rows_write(writer, row, 1)) {
        n++;
    }
    (void)limit_files(before);
    (void)signal(SIGXFSZ, handler);
    assert_true(n > 0 && n < 2 * LIMIT / (WIDTH * sizeof *row));
    assert_int_equal(nn_rows_writer_close(writer, true, &err), NN_ERR_IO);
    assert_int_not_equal(access(path, F_OK), 0);
    free(row);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_failed_write_is_told, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
