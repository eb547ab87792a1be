/* SPDX-License-Identifier: MIT
 *
 * The API description that is compiled in agrees with the code: every body's schema is that of the
 * field table that decodes it, every route is a path.
 */
#include <ctype.h>
#include <string.h>

#include "core/json/json.h"
#include "server/api/api.h"
#include "server/base/embedded.h"
#include "tests/support/cmocka_all.h"

static json_t *description(void)
{
    for (const struct sv_embedded_file *file = sv_embedded_table; file->name; file++) {
        if (strcmp(file->name, "openapi.json") == 0) {
            json_t *json = json_loadb(file->data, file->size, JSON_REJECT_DUPLICATES, NULL);
            assert_non_null(json);
            return json;
        }
    }
    fail_msg("openapi.json is not compiled in");
    return NULL;
}

static void bodies_are_described_by_their_field_tables(void **state)
{
    (void)state;
    const char *name;
    json_t *schema, *spec = description(), *bodies = api_body_schemas();
    json_t *components = json_object_get(json_object_get(spec, "components"), "schemas");
    assert_true(json_object_size(bodies) >= 10);
    json_object_foreach(bodies, name, schema)
    {
        char *ours = jx_canonical(schema),
             *theirs = jx_canonical(json_object_get(components, name));
        assert_non_null(theirs);
        if (strcmp(ours, theirs) != 0) {
            fail_msg("%s in openapi.yaml differs from its field table:\n%s\n%s", name, theirs,
                     ours);
        }
        free(ours);
        free(theirs);
    }
    json_decref(bodies);
    json_decref(spec);
}

static void every_route_is_a_path(void **state)
{
    (void)state;
    size_t n;
    json_t *spec = description(), *paths = json_object_get(spec, "paths");
    const struct http_route *routes = api_routes(&n);
    for (size_t i = 0; i < n; i++) {
        char method[16] = "";
        for (size_t k = 0; routes[i].method[k] && k + 1 < sizeof method; k++) {
            method[k] = (char)tolower((unsigned char)routes[i].method[k]);
        }
        const json_t *path = json_object_get(paths, routes[i].pattern);
        if (!json_object_get(path, method)) {
            fail_msg("%s %s is not in openapi.yaml", routes[i].method, routes[i].pattern);
        }
        assert_non_null(routes[i].handler);
    }
    json_decref(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_are_described_by_their_field_tables),
        cmocka_unit_test(every_route_is_a_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
