/* SPDX-License-Identifier: MIT
 *
 * The values of a pickle: kept, appended, read.
 */
#include <stdlib.h>
#include <string.h>

#include "core/files/pickle_internal.h"

enum { VALUES_MAX = 1 << 21 }; /* 65,536 tensors take about 1.6 million */

/* ---- memory ---- */

enum nn_status nn_pickle_grow(void *array, size_t size, size_t used, size_t *room, size_t most,
                              struct nn_error *err)
{
    void *old;
    if (used < *room) {
        return NN_OK;
    }
    if (used >= most) {
        return nn_fail(err, NN_ERR_LIMIT, "the pickle builds more than %zu values", most);
    }
    memcpy(&old, array, sizeof old);
    size_t wanted = *room ? *room * 2 : 256;
    void *grown = realloc(old, wanted * size);
    if (!grown) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to read a pickle");
    }
    memcpy(array, &grown, sizeof grown);
    *room = wanted;
    return NN_OK;
}

enum nn_status nn_pickle_add(struct nn_pickle *pickle, const struct nn_pickle_value *value,
                             uint32_t *out, struct nn_error *err)
{
    enum nn_status status = nn_pickle_grow(&pickle->values, sizeof *pickle->values,
                                           pickle->n_values, &pickle->room_values, VALUES_MAX, err);
    if (status == NN_OK) {
        *out = (uint32_t)pickle->n_values;
        pickle->values[pickle->n_values++] = *value;
    }
    return status;
}

enum nn_status nn_pickle_append(struct nn_pickle *pickle, uint32_t container, uint32_t key,
                                uint32_t value, struct nn_error *err)
{
    enum nn_status status = nn_pickle_grow(&pickle->cells, sizeof *pickle->cells, pickle->n_cells,
                                           &pickle->room_cells, VALUES_MAX, err);
    if (status != NN_OK) {
        return status;
    }
    uint32_t cell = (uint32_t)pickle->n_cells++;
    struct nn_pickle_items *items = &pickle->values[container].items;
    pickle->cells[cell] = (struct nn_pickle_cell){.key = key, .value = value};
    if (items->count > 0) {
        pickle->cells[items->last].next = cell;
    } else {
        items->first = cell;
    }
    items->last = cell;
    items->count++;
    return NN_OK;
}

void nn_pickle_deinit(struct nn_pickle *pickle)
{
    free(pickle->values);
    free(pickle->cells);
    free(pickle->stack);
    free(pickle->memo);
    *pickle = (struct nn_pickle){0};
}

/* ---- reading values ---- */

const struct nn_pickle_value *nn_pickle_item(const struct nn_pickle *pickle,
                                             const struct nn_pickle_value *tuple, size_t i)
{
    static const struct nn_pickle_value NONE = {.kind = NN_PICKLE_NONE};
    if (tuple->kind != NN_PICKLE_TUPLE || i >= tuple->items.count) {
        return &NONE;
    }
    uint32_t cell = tuple->items.first;
    for (; i > 0; i--) {
        cell = pickle->cells[cell].next;
    }
    return nn_pickle_at(pickle, pickle->cells[cell].value);
}

bool nn_pickle_text_is(const struct nn_pickle_value *value, const char *text)
{
    return value->kind == NN_PICKLE_TEXT && value->text.size == strlen(text) &&
           memcmp(value->text.data, text, value->text.size) == 0;
}
