/* SPDX-License-Identifier: MIT
 *
 * The JSON form of nn_description_frozen.
 */
#include "core/network/freeze.h"

#include <stdlib.h>
#include <string.h>

#include "core/network/network.h"

static bool is_text(const json_t *json, const char *text)
{
    return json_is_string(json) && strcmp(json_string_value(json), text) == 0;
}

/* The layer of {"up_to": layer}; NULL when freeze is no such object. */
static const char *last_of(const json_t *freeze)
{
    return json_object_size(freeze) == 1 ? json_string_value(json_object_get(freeze, "up_to"))
                                         : NULL;
}

enum nn_status nn_freeze_check(const json_t *freeze, struct nn_error *err)
{
    if (!freeze || is_text(freeze, "none") || is_text(freeze, "all_but_head") || last_of(freeze)) {
        return NN_OK;
    }
    return nn_fail_at(err, NN_ERR_INVALID, json_object_get(freeze, "up_to") ? "/up_to" : "",
                      "\"none\", \"all_but_head\" or {\"up_to\": \"<layer>\"} is expected");
}

enum nn_status nn_freeze_layers(const struct nn_description *description, const json_t *freeze,
                                struct nn_frozen *out, struct nn_error *err)
{
    const char *last = last_of(freeze);
    enum nn_freeze which = is_text(freeze, "all_but_head") ? NN_FREEZE_ALL_BUT_HEAD
                           : last                          ? NN_FREEZE_UP_TO
                                                           : NN_FREEZE_NONE;
    struct nn_error why = {0};
    enum nn_status status = nn_freeze_check(freeze, err);
    if (status != NN_OK) {
        return status;
    }
    status = nn_description_frozen(description, which, last, &out->layers, &out->count, &why);
    return status == NN_OK ? NN_OK : nn_fail_at(err, status, last ? "/up_to" : "", "%s", why.text);
}

void nn_frozen_deinit(struct nn_frozen *frozen)
{
    free((void *)(uintptr_t)frozen->layers);
    *frozen = (struct nn_frozen){0};
}
