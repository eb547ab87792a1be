/* SPDX-License-Identifier: MIT
 *
 * Lists that come in pages, read to their end.
 */
#include <string.h>

#include "server/cli/cli_internal.h"

enum { CURSOR_SIZE = 1100, PATH_SIZE = CURSOR_SIZE + 256, ROWS_MAX = 1000000 };

enum more { MORE_NO, MORE_YES, MORE_ODD };

/* What a server of ours never sends: a cursor that would have to be escaped, or one that leads
 * nowhere, and a list without an end. */
static enum more look_for_more(const json_t *page, size_t n_rows, char cursor[CURSOR_SIZE])
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
    const json_t *next = json_object_get(page, "next_cursor");
    const char *text = json_string_value(next);
    if (!next || json_is_null(next)) {
        return MORE_NO;
    }
    bool sound = text && *text && strlen(text) < CURSOR_SIZE &&
                 strspn(text, plain) == strlen(text) && strcmp(text, cursor) != 0 &&
                 json_array_size(json_object_get(page, "items")) > 0 && n_rows < ROWS_MAX;
    if (sound) {
        (void)snprintf(cursor, CURSOR_SIZE, "%s", text);
    }
    return sound ? MORE_YES : MORE_ODD;
}

json_t *cli_pages_take(struct cli_client *client, const char *path, json_t *first)
{
    char cursor[CURSOR_SIZE] = "";
    char target[PATH_SIZE];
    json_t *items = json_array();
    json_t *page = first;
    enum more more = MORE_ODD;
    while (page && json_array_extend(items, json_object_get(page, "items")) == 0) {
        more = look_for_more(page, json_array_size(items), cursor);
        json_decref(page);
        page = NULL;
        if (more == MORE_ODD) {
            cli_say("assayd: the server's list has no end");
        } else if (more == MORE_YES) {
            (void)snprintf(target, sizeof target, "%s&cursor=%s", path, cursor);
            struct cli_request request = {.method = "GET", .path = target, .list = "items"};
            page = cli_call(client, &request);
        }
    }
    json_decref(page);
    if (more != MORE_NO) {
        json_decref(items);
        return NULL;
    }
    return items;
}

json_t *cli_items(struct cli_client *client, const char *path)
{
    struct cli_request request = {.method = "GET", .path = path, .list = "items"};
    return cli_pages_take(client, path, cli_call(client, &request));
}
