/* SPDX-License-Identifier: MIT
 *
 * Weights of the classes in the loss: given one by one, or balanced by what trains.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/training/training.h"

#define LARGEST 1e6

static enum nn_status items_check(const json_t *weights, struct nn_error *err)
{
    char pointer[64];
    bool any = false;
    for (size_t i = 0; i < json_array_size(weights); i++) {
        const json_t *item = json_array_get(weights, i);
        double weight = json_is_number(item) ? json_number_value(item) : -1;
        if (!(weight >= 0 && weight <= LARGEST)) {
            jx_pointer_index("/class_weights", i, pointer, sizeof pointer);
            return nn_fail_at(err, NN_ERR_INVALID, pointer, "a number from 0 to %g is expected",
                              LARGEST);
        }
        any = any || weight > 0;
    }
    return any ? NN_OK
               : nn_fail_at(err, NN_ERR_INVALID, "/class_weights", "no class has a weight over 0");
}

static bool is_balanced(const json_t *weights)
{
    return json_is_string(weights) && strcmp(json_string_value(weights), "balanced") == 0;
}

enum nn_status nn_training_class_weights_check(const json_t *class_weights, size_t classes,
                                               struct nn_error *err)
{
    if (!class_weights || is_balanced(class_weights)) {
        return NN_OK;
    }
    if (!json_is_array(class_weights)) {
        return nn_fail_at(err, NN_ERR_INVALID, "/class_weights",
                          "\"balanced\" or an array of numbers is expected");
    }
    if (json_array_size(class_weights) != classes) {
        return nn_fail_at(err, NN_ERR_INVALID, "/class_weights", "%zu weights for %zu classes",
                          json_array_size(class_weights), classes);
    }
    return items_check(class_weights, err);
}

static void count(const struct nn_training_labels *labels, const struct nn_split_side *train,
                  size_t *counts)
{
    for (size_t i = 0; i < train->count; i++) {
        uint32_t item = train->items[i];
        counts[labels->prepared ? nn_prepared_label(labels->prepared, item)
                                : nn_sequences_label(labels->sequences, item)]++;
    }
}

static void balance(size_t trained, const size_t *counts, size_t classes, nn_real *out)
{
    size_t occurring = 0;
    for (size_t c = 0; c < classes; c++) {
        occurring += counts[c] > 0;
    }
    for (size_t c = 0; c < classes; c++) {
        double share = (double)counts[c] * (double)occurring;
        out[c] = counts[c] > 0 ? (nn_real)((double)trained / share) : 1;
    }
}

/* Whether a class that trains has a weight over 0. */
static bool fill(const json_t *given, size_t trained, const size_t *counts, size_t classes,
                 nn_real *out)
{
    bool learns = false;
    if (is_balanced(given)) {
        balance(trained, counts, classes, out);
    }
    for (size_t c = 0; c < classes; c++) {
        if (json_is_array(given)) {
            out[c] = (nn_real)json_number_value(json_array_get(given, c));
        }
        learns = learns || (counts[c] > 0 && out[c] > 0);
    }
    return learns;
}

enum nn_status nn_training_class_weights(const struct nn_training_options *options,
                                         const struct nn_training_labels *labels,
                                         const struct nn_split_side *train, nn_real **out,
                                         struct nn_error *err)
{
    const json_t *given = options->class_weights;
    size_t classes = labels->prepared ? nn_prepared_info(labels->prepared)->class_count
                                      : nn_sequences_info(labels->sequences)->class_count;
    enum nn_status status = nn_training_class_weights_check(given, classes, err);
    if (status != NN_OK || !given) {
        return status;
    }
    nn_real *weights = calloc(classes, sizeof *weights);
    size_t *counts = calloc(classes, sizeof *counts);
    if (!weights || !counts) {
        free(weights);
        free(counts);
        return nn_fail(err, NN_ERR_MEMORY, "no memory for the weights of classes");
    }
    count(labels, train, counts);
    bool learns = fill(given, train->count, counts, classes, weights);
    free(counts);
    if (!learns) {
        free(weights);
        return nn_fail_at(err, NN_ERR_INVALID, "/class_weights",
                          "no class that trains has a weight over 0");
    }
    *out = weights;
    return NN_OK;
}
