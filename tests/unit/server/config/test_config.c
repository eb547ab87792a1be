/* SPDX-License-Identifier: MIT
 *
 * The option table: every row's default is inside its range, precedence, refusals, export.
 */
#include "server/config/config.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka_all.h"

static enum sv_status load(char **argv, char *const *environment, struct cfg *out, int *out_argc,
                           struct sv_error *err)
{
    *out_argc = 0;
    while (argv[*out_argc]) {
        (*out_argc)++;
    }
    return cfg_load(out_argc, argv, environment, out, err);
}

static void test_defaults_of_every_row_load(void **state)
{
    (void)state;
    char *argv[] = {NULL};
    int argc = 0;
    struct cfg cfg;
    struct sv_error err = {0};
    assert_int_equal(load(argv, NULL, &cfg, &argc, &err), SV_OK);
    assert_string_equal(cfg.listen, "127.0.0.1:8470");
    assert_int_equal(cfg.max_body_bytes, 1 << 20);
    assert_string_equal(cfg.isa, "auto");
    cfg_deinit(&cfg);
}

static void test_flag_beats_environment_beats_default(void **state)
{
    (void)state;
    char flag[] = "--request-threads=3";
    char flag2[] = "--listen";
    char value2[] = "[::1]:0";
    char role[] = "serve";
    char rest[] = "--watch";
    char end[] = "--";
    char after[] = "--cores";
    char *argv[] = {role, flag, rest, flag2, value2, end, after, NULL};
    char env1[] = "ASSAY_REQUEST_THREADS=7";
    char env2[] = "ASSAY_REQUEST_QUEUE=9";
    char *environment[] = {env1, env2, NULL};
    int argc = 0;
    struct cfg cfg;
    struct sv_error err = {0};
    assert_int_equal(load(argv, environment, &cfg, &argc, &err), SV_OK);
    assert_int_equal(cfg.request_threads, 3);
    assert_int_equal(cfg.request_queue, 9);
    assert_string_equal(cfg.listen, "[::1]:0");
    assert_int_equal(argc, 3);
    assert_string_equal(argv[0], "serve");
    assert_string_equal(argv[1], "--watch");
    assert_string_equal(argv[2], "--cores");
    cfg_deinit(&cfg);
}

/* Every row refuses what its type and range refuse, by its own name. */
static void test_each_row_refuses_bad_values(void **state)
{
    (void)state;
    size_t count = 0;
    const struct cfg_option *options = cfg_options(&count);
    assert_true(count > 20);
    for (size_t i = 0; i < count; i++) {
        const struct cfg_option *o = &options[i];
        if (o->type == CFG_TEXT) {
            continue;
        }
        char below[64];
        char above[64];
        (void)snprintf(below, sizeof below, "%lld", (long long)o->min - 1);
        (void)snprintf(above, sizeof above, "%lld", (long long)o->max + 1);
        const char *bad[] = {"",
                             "x",
                             "1x",
                             " 1",
                             "+1",
                             "1.5",
                             "99999999999999999999",
                             "1T",
                             o->type == CFG_BOOL || o->type == CFG_CHOICE ? "y" : below,
                             o->type == CFG_BOOL || o->type == CFG_CHOICE ? "n" : above};
        for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
            char flag[CFG_NAME_SIZE];
            cfg_flag_name(o, flag, sizeof flag);
            char word[64];
            (void)snprintf(word, sizeof word, "%s", bad[k]);
            char *argv[] = {flag, word, NULL};
            int argc = 0;
            struct cfg cfg;
            struct sv_error err = {0};
            if (load(argv, NULL, &cfg, &argc, &err) == SV_OK) {
                fail_msg("%s accepts '%s'", flag, bad[k]);
            }
            assert_string_equal(err.parameter, flag);
            assert_true(err.text[0] != '\0');
        }
    }
}

static void test_suffixes(void **state)
{
    (void)state;
    const struct {
        const char *text;
        int64_t value;
    } rows[] = {{"4096", 4096}, {"8K", 8192}, {"3M", 3 << 20}, {"2G", INT64_C(2) << 30}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char flag[64];
        (void)snprintf(flag, sizeof flag, "--max-upload-bytes=%s", rows[i].text);
        char *argv[] = {flag, NULL};
        int argc = 0;
        struct cfg cfg;
        struct sv_error err = {0};
        assert_int_equal(load(argv, NULL, &cfg, &argc, &err), SV_OK);
        assert_int_equal(cfg.max_upload_bytes, rows[i].value);
        cfg_deinit(&cfg);
    }
}

static void test_missing_value(void **state)
{
    (void)state;
    char flag[] = "--listen";
    char *argv[] = {flag, NULL};
    int argc = 0;
    struct cfg cfg;
    struct sv_error err = {0};
    assert_int_equal(load(argv, NULL, &cfg, &argc, &err), SV_ERR_INVALID_PARAMETER);
    assert_string_equal(err.parameter, "--listen");
}

struct exported {
    char text[4096];
    size_t used;
    char *rows[64];
    size_t count;
};

static void export_one(void *ctx, const char *name, const char *value)
{
    struct exported *e = ctx;
    e->rows[e->count++] = e->text + e->used;
    int n = snprintf(e->text + e->used, sizeof e->text - e->used, "%s=%s", name, value);
    e->used += (size_t)n + 1;
}

/* What is exported loads again to the same export. */
static void test_export_round_trip(void **state)
{
    (void)state;
    char flag[] = "--trial-memory-bytes=1G";
    char *argv[] = {flag, NULL};
    int argc = 0;
    struct cfg cfg;
    struct sv_error err = {0};
    assert_int_equal(load(argv, NULL, &cfg, &argc, &err), SV_OK);
    static struct exported first;
    static struct exported second;
    cfg_export(&cfg, export_one, &first);
    cfg_deinit(&cfg);
    argv[0] = NULL;
    assert_int_equal(load(argv, first.rows, &cfg, &argc, &err), SV_OK);
    assert_int_equal(cfg.trial_memory_bytes, 1 << 30);
    cfg_export(&cfg, export_one, &second);
    cfg_deinit(&cfg);
    assert_int_equal(first.used, second.used);
    assert_memory_equal(first.text, second.text, first.used);
}

static void test_help_names_every_option(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cfg_print_help(out);
    assert_int_equal(fclose(out), 0);
    size_t count = 0;
    const struct cfg_option *options = cfg_options(&count);
    for (size_t i = 0; i < count; i++) {
        char env[CFG_NAME_SIZE];
        cfg_env_name(&options[i], env, sizeof env);
        assert_non_null(strstr(text, env));
        assert_non_null(strstr(text, options[i].doc));
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_of_every_row_load),
        cmocka_unit_test(test_flag_beats_environment_beats_default),
        cmocka_unit_test(test_each_row_refuses_bad_values),
        cmocka_unit_test(test_suffixes),
        cmocka_unit_test(test_missing_value),
        cmocka_unit_test(test_export_round_trip),
        cmocka_unit_test(test_help_names_every_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
