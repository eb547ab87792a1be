/* SPDX-License-Identifier: MIT
 *
 * The list of custom metrics of a job: its field table, its names, its texts.
 */
#include "core/metrics/custom.h"

#include <string.h>

static const struct jx_choice DIRECTIONS[] = {
    {"none", NN_DIRECTION_NONE, "neither is better"},
    {"higher", NN_DIRECTION_HIGHER, "more is better"},
    {"lower", NN_DIRECTION_LOWER, "less is better"},
    JX_END,
};

#define OFFSET(member) offsetof(struct nn_custom_metric, member)
const struct jx_field nn_custom_fields[] = {
    {.name = "name",
     .type = JX_CHARS,
     .offset = OFFSET(name),
     .size = NN_CUSTOM_NAME_MAX + 1,
     .min = 1,
     .max = NN_CUSTOM_NAME_MAX,
     .required = true,
     .doc = "a letter, then letters, digits and underscores; its column in the results table"},
    {.name = "lua",
     .type = JX_STRING,
     .offset = OFFSET(lua),
     .min = 1,
     .max = NN_CUSTOM_LUA_MAX,
     .required = true,
     .doc = "body of a function in Lua 5.4 that returns a number; it sees predictions, targets, "
            "lengths, classes and parameters"},
    {.name = "direction",
     .type = JX_ENUM,
     .offset = OFFSET(direction),
     .choices = DIRECTIONS,
     .fallback = "\"none\"",
     .doc = "which values are better"},
    JX_END,
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name(const char *name)
{
    for (size_t i = 0; name[i]; i++) {
        bool later = i > 0 && ((name[i] >= '0' && name[i] <= '9') || name[i] == '_');
        if (!is_letter(name[i]) && !later) {
            return false;
        }
    }
    return true;
}

/* The name of the last of n metrics against the rules. */
static const char *name_mistake(const struct nn_custom_metric *metrics, size_t n)
{
    const char *name = metrics[n - 1].name;
    if (!is_name(name)) {
        return "a name is a letter, then letters, digits and underscores";
    }
    if (nn_metric_find(name)) {
        return "there is a metric of that name";
    }
    for (size_t i = 0; i + 1 < n; i++) {
        if (strcmp(metrics[i].name, name) == 0) {
            return "the name stands twice";
        }
    }
    return NULL;
}

enum nn_status nn_custom_decode(const json_t *list, const char *pointer,
                                struct nn_custom_metric out[NN_CUSTOM_MAX], size_t *out_count,
                                struct nn_error *err)
{
    size_t n = json_array_size(list);
    if (n > NN_CUSTOM_MAX) {
        return nn_fail_at(err, NN_ERR_INVALID, pointer, "more than %d metrics", NN_CUSTOM_MAX);
    }
    for (size_t i = 0; i < n; i++) {
        char item[160], at[160];
        jx_pointer_index(pointer, i, item, sizeof item);
        enum nn_status status =
            jx_decode(nn_custom_fields, json_array_get(list, i), item, &out[i], err);
        if (status != NN_OK) {
            return status;
        }
        const char *mistake = name_mistake(out, i + 1);
        if (mistake) {
            jx_pointer_key(item, "name", at, sizeof at);
            return nn_fail_at(err, NN_ERR_INVALID, at, "%s", mistake);
        }
        struct nn_error why = {0};
        jx_pointer_key(item, "lua", at, sizeof at);
        if (nn_custom_check(out[i].lua, strlen(out[i].lua), &why) != NN_OK) {
            return nn_fail_at(err, NN_ERR_INVALID, at, "%s", why.text);
        }
    }
    *out_count = n;
    return NN_OK;
}
