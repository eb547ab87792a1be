/* SPDX-License-Identifier: MIT
 *
 * Weights and a network, from the names and shapes that were kept at the import; no file is opened.
 */
#include <stdlib.h>
#include <string.h>

#include "server/api/weights_internal.h"

static void mark_not_finite(const json_t *names, struct nn_file_tensor *tensors, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < json_array_size(names); k++) {
            const char *name = json_string_value(json_array_get(names, k));
            tensors[i].not_finite =
                tensors[i].not_finite || (name && strcmp(name, tensors[i].name) == 0);
        }
    }
}

/* Without data; names are borrowed from the list. NULL as api_fit_begin says, or without memory. */
static struct nn_file_tensor *shapes_of(const json_t *list)
{
    size_t n = json_array_size(list);
    struct nn_file_tensor *tensors = calloc(n + 1, sizeof *tensors);
    for (size_t i = 0; tensors && i < n; i++) {
        const json_t *row = json_array_get(list, i);
        const json_t *shape = json_object_get(row, "shape");
        tensors[i].name = json_string_value(json_object_get(row, "name"));
        tensors[i].rank = json_array_size(shape);
        if (!tensors[i].name || tensors[i].rank > NN_FILE_MAX_RANK) {
            free(tensors);
            return NULL;
        }
        for (size_t k = 0; k < tensors[i].rank; k++) {
            tensors[i].shape[k] = (size_t)json_integer_value(json_array_get(shape, k));
        }
    }
    return tensors;
}

enum nn_status api_fit_begin(const json_t *list, const json_t *report, const json_t *network,
                             const struct nn_network_bind *bind, enum nn_match_head head,
                             struct api_fit *out_fit, struct nn_error *err)
{
    struct nn_description *description = NULL;
    *out_fit = (struct api_fit){.tensors = shapes_of(list)};
    if (!out_fit->tensors) {
        return nn_fail(err, NN_ERR_CORRUPT, "the list of tensors cannot be read");
    }
    mark_not_finite(json_object_get(report, "not_finite"), out_fit->tensors, json_array_size(list));
    enum nn_status status = nn_description_parse(network, &description, err);
    if (status == NN_OK) {
        status = nn_match_description(description, bind, out_fit->tensors, json_array_size(list),
                                      head, &out_fit->match, err);
    }
    nn_description_destroy(description);
    return status;
}

void api_fit_end(struct api_fit *fit)
{
    nn_match_destroy(fit->match);
    free(fit->tensors);
}
