/* SPDX-License-Identifier: MIT
 *
 * The import of weights: one file of named tensors, told by its content, is written anew as
 * safetensors; nobody else ever reads what was uploaded.
 *
 * progress* -> artefact {kind "weights", path} -> done {outcome "ready", report {format,
 * not_finite}, format, tensors [{name, dtype, shape}], element_count}.
 */
#include <math.h>
#include <stdlib.h>

#include "core/files/weights.h"
#include "server/trial/import_internal.h"

enum { SHOWN = 100 }; /* names of tensors with values that are not finite */

static const char CONTENT[] = "content";

/* What is said of the file. */
struct summary {
    json_t *tensors, *not_finite;
    json_int_t elements;
};

static json_t *encode_tensor(const struct nn_file_tensor *tensor)
{
    json_t *shape = json_array();
    for (size_t i = 0; i < tensor->rank; i++) {
        if (json_array_append_new(shape, json_integer((json_int_t)tensor->shape[i])) != 0) {
            json_decref(shape);
            return NULL;
        }
    }
    return json_pack("{s:s, s:s, s:o}", "name", tensor->name, "dtype",
                     nn_file_dtype_name(tensor->dtype), "shape", shape);
}

static enum nn_status is_finite(const struct nn_file_tensor *tensor, bool *out_finite,
                                struct nn_error *err)
{
    nn_real *values = calloc(tensor->count ? tensor->count : 1, sizeof *values);
    if (!values) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for a tensor of %zu numbers", tensor->count);
    }
    nn_file_tensor_read(tensor, values);
    *out_finite = true;
    for (size_t i = 0; i < tensor->count; i++) {
        *out_finite = *out_finite && isfinite(values[i]);
    }
    free(values);
    return NN_OK;
}

static enum nn_status look_at(const struct nn_file_tensor *tensor, struct summary *summary,
                              struct nn_error *err)
{
    bool finite = true;
    enum nn_status status = is_finite(tensor, &finite, err);
    if (status != NN_OK) {
        return status;
    }
    if (json_array_append_new(summary->tensors, encode_tensor(tensor)) != 0) {
        return nn_fail(err, NN_ERR_INVALID, "the name of a tensor is not UTF-8");
    }
    if (!finite && json_array_size(summary->not_finite) < SHOWN &&
        json_array_append_new(summary->not_finite, json_string(tensor->name)) != 0) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory");
    }
    summary->elements += (json_int_t)tensor->count;
    return NN_OK;
}

static enum nn_status look_at_all(struct trial_link *link, const struct nn_weights *file,
                                  struct summary *summary, struct nn_error *err)
{
    size_t n = nn_weights_count(file);
    enum nn_status status =
        n > 0 ? NN_OK : nn_fail(err, NN_ERR_INVALID, "the file holds no tensors");
    for (size_t i = 0; i < n && status == NN_OK; i++) {
        status = look_at(nn_weights_tensor(file, i), summary, err);
        if (status == NN_OK && !trial_import_goes_on(link, i + 1, n)) {
            status = NN_ERR_CANCELLED;
        }
    }
    return status;
}

/* Takes the arrays of the summary. */
static void say_ready_take(struct trial_link *link, const char *format, struct summary *summary)
{
    trial_say_take(link, WIRE_ARTEFACT,
                   json_pack("{s:s, s:s}", "kind", "weights", "path", CONTENT));
    trial_say_take(link, WIRE_DONE,
                   json_pack("{s:s, s:{s:s, s:o}, s:s, s:o, s:I}", "outcome", "ready", "report",
                             "format", format, "not_finite", summary->not_finite, "format", format,
                             "tensors", summary->tensors, "element_count", summary->elements));
    *summary = (struct summary){0};
}

enum nn_status trial_import_weights(struct trial_link *link, const json_t *start,
                                    const struct nn_import_file *files, size_t n,
                                    struct nn_error *err)
{
    struct nn_weights *file = NULL;
    struct summary summary = {.tensors = json_array(), .not_finite = json_array()};
    enum nn_status status = NN_OK;
    (void)start; /* no options */
    if (n != 1) {
        status = nn_fail(err, NN_ERR_NOT_SUPPORTED, "weights come as one file");
    }
    if (status == NN_OK) {
        status = nn_weights_open(files[0].path, NULL, &file, err);
    }
    if (status == NN_OK) {
        status = look_at_all(link, file, &summary, err);
    }
    if (status == NN_OK) {
        status = nn_weights_save(file, CONTENT, NULL, 0, err);
    }
    if (status == NN_OK) {
        say_ready_take(link, nn_weights_format_name(nn_weights_format(file)), &summary);
    }
    json_decref(summary.tensors);
    json_decref(summary.not_finite);
    nn_weights_close(file);
    return status;
}
