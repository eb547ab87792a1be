/* SPDX-License-Identifier: MIT
 *
 * core/network: broken descriptions and all that is wrong with each (broken.json): severity, layer,
 * place, sentence and remedy of every issue, none missing and none too many. Each error says how to
 * mend it, and a network with errors is never built.
 */
#include "tests/support/cmocka_all.h"

#include <string.h>

#include "core/network/report.h"
#include "tests/support/network.h"

enum { CASES_MIN = 60, BATCH = 8 };

static size_t member(const json_t *object, const char *key)
{
    return (size_t)json_integer_value(json_object_get(object, key));
}

static struct nn_network_bind bind_of(const json_t *data)
{
    return (struct nn_network_bind){.height = member(data, "height"),
                                    .width = member(data, "width"),
                                    .channels = member(data, "channels"),
                                    .classes = member(data, "classes"),
                                    .features = member(data, "features"),
                                    .longest = member(data, "longest"),
                                    .responses = member(data, "responses")};
}

/* [severity, layer, pointer, text, mend] of every issue. */
static json_t *listed(const json_t *report)
{
    static const char *const KEYS[] = {"severity", "layer", "pointer", "text", "mend"};
    json_t *list = json_array(), *issue;
    size_t i;
    json_array_foreach(json_object_get(report, "issues"), i, issue)
    {
        json_t *row = json_array();
        for (size_t k = 0; k < sizeof KEYS / sizeof KEYS[0]; k++) {
            assert_int_equal(json_array_append(row, json_object_get(issue, KEYS[k])), 0);
        }
        assert_true(json_is_string(json_object_get(issue, "mend")));
        assert_int_equal(json_array_append_new(list, row), 0);
    }
    return list;
}

static void expect_texts(const char *name, const json_t *report)
{
    char *dot = nn_report_dot(report), *table = nn_report_table(report);
    if (!dot || !table || strncmp(dot, "digraph", 7) != 0 || !strstr(table, "not valid")) {
        fail_msg("%s: no graph or no table", name);
    }
    free(dot);
    free(table);
}

static void check(const json_t *c)
{
    const char *name = json_string_value(json_object_get(c, "name"));
    const json_t *network = json_object_get(c, "network"), *data = json_object_get(c, "data");
    const struct nn_network_bind bind = bind_of(data);
    json_t *report = NULL;
    struct nn_error err = {0};
    assert_int_equal(nn_network_analyze(network, data ? &bind : NULL, BATCH, &report, &err), NN_OK);
    json_t *found = listed(report);
    if (!json_equal(found, json_object_get(c, "issues"))) {
        char *text = json_dumps(found, JSON_INDENT(1));
        fail_msg("%s: the issues are\n%s", name, text);
    }
    assert_true(json_is_false(json_object_get(report, "valid")));
    expect_texts(name, report);
    json_decref(found);
    json_decref(report);
}

static void every_issue_of_every_description_is_listed(void **state)
{
    (void)state;
    json_t *cases = json_load_file("tests/unit/core/network/broken.json", 0, NULL), *c;
    size_t i;
    assert_non_null(cases);
    assert_true(json_array_size(cases) >= CASES_MIN);
    json_array_foreach(cases, i, c)
    {
        check(c);
    }
    json_decref(cases);
}

static void what_is_broken_is_not_built(void **state)
{
    (void)state;
    json_t *cases = json_load_file("tests/unit/core/network/broken.json", 0, NULL), *c;
    size_t i;
    json_array_foreach(cases, i, c)
    {
        const struct nn_network_bind bind = bind_of(json_object_get(c, "data"));
        const struct nn_network_options options = {.max_batch = BATCH};
        struct nn_description *description = NULL;
        struct nn_network *network = NULL;
        struct nn_error err = {0};
        enum nn_status status =
            nn_description_parse(json_object_get(c, "network"), &description, &err);
        if (status == NN_OK) {
            status = nn_network_create(description, &bind, &options, &network, &err);
        }
        if (status != NN_ERR_INVALID || !err.text[0]) {
            fail_msg("%s is built", json_string_value(json_object_get(c, "name")));
        }
        nn_description_destroy(description);
    }
    json_decref(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_issue_of_every_description_is_listed),
        cmocka_unit_test(what_is_broken_is_not_built),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
