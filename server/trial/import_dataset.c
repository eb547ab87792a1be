/* SPDX-License-Identifier: MIT
 *
 * The import of a data set: checks and prepares it.
 *
 * progress* -> artefact {kind "prepared", path} -> done {outcome "ready", report, digest, height,
 * ...}.
 */
#include <string.h>

#include "core/data/import.h"
#include "core/data/prepared.h"
#include "core/data/sequences.h"
#include "server/trial/import_internal.h"

static bool on_progress(void *ctx, size_t done, size_t total)
{
    return trial_import_goes_on(ctx, done, total);
}

static const struct jx_choice LAYOUTS[] = {
    {"idx", NN_IMPORT_IDX, ""},         {"archive", NN_IMPORT_ARCHIVE, ""},
    {"table", NN_IMPORT_TABLE, ""},     {"cmapss", NN_IMPORT_CMAPSS, ""},
    {"signals", NN_IMPORT_SIGNALS, ""}, JX_END,
};

static enum nn_status decode_setup(const json_t *start, struct nn_import_setup *setup,
                                   struct nn_error *err)
{
    const char *layout = json_string_value(json_object_get(start, "layout"));
    const struct jx_choice *choice = layout ? jx_choice_find(LAYOUTS, layout) : NULL;
    const json_t *options = json_object_get(start, "options");
    if (!choice) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED, "this layout of files cannot be imported");
    }
    setup->layout = (enum nn_import_layout)choice->value;
    return nn_import_options_decode(setup->layout, json_is_null(options) ? NULL : options,
                                    "/options", &setup->options, err);
}

/* What the data set's row will say of it. Of sequences: height is the longest, width the targets,
 * channels the inputs. */
struct shape {
    uint8_t digest[NN_DIGEST_BYTES];
    size_t height, width, channels, class_count;
    size_t part_count[NN_PART_COUNT];
};

static enum nn_status look_at_images(const char *path, struct shape *out_shape,
                                     struct nn_error *err)
{
    struct nn_prepared *prepared = NULL;
    enum nn_status status = nn_prepared_open(path, &prepared, err);
    if (status != NN_OK) {
        return status;
    }
    const struct nn_prepared_info *info = nn_prepared_info(prepared);
    struct shape shape = {.height = info->height,
                          .width = info->width,
                          .channels = info->channels,
                          .class_count = info->class_count};
    memcpy(shape.digest, info->digest, sizeof shape.digest);
    memcpy(shape.part_count, info->part_count, sizeof shape.part_count);
    nn_prepared_close(prepared);
    *out_shape = shape;
    return NN_OK;
}

static enum nn_status look_at_sequences(const char *path, struct shape *out_shape,
                                        struct nn_error *err)
{
    struct nn_sequences *sequences = NULL;
    enum nn_status status = nn_sequences_open(path, &sequences, err);
    if (status != NN_OK) {
        return status;
    }
    const struct nn_sequences_info *info = nn_sequences_info(sequences);
    struct shape shape = {.height = info->longest,
                          .width = info->targets,
                          .channels = info->inputs,
                          .class_count = info->class_count};
    memcpy(shape.digest, info->digest, sizeof shape.digest);
    memcpy(shape.part_count, info->part_count, sizeof shape.part_count);
    nn_sequences_close(sequences);
    *out_shape = shape;
    return NN_OK;
}

/* Opens what was made, as every trial will, and says what it is. */
static enum nn_status say_ready(struct trial_link *link, enum nn_import_layout layout,
                                const struct nn_import_result *result, struct nn_error *err)
{
    struct shape s;
    char digest[NN_SHA256_HEX];
    enum nn_status status = nn_import_is_table(layout)
                                ? look_at_sequences(result->prepared_name, &s, err)
                                : look_at_images(result->prepared_name, &s, err);
    if (status != NN_OK) {
        return status;
    }
    nn_sha256_hex(s.digest, digest);
    trial_say_take(link, WIRE_ARTEFACT,
                   json_pack("{s:s, s:s}", "kind", "prepared", "path", result->prepared_name));
    trial_say_take(link, WIRE_DONE,
                   json_pack("{s:s, s:O, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "outcome",
                             "ready", "report", result->report, "digest", digest, "height",
                             (json_int_t)s.height, "width", (json_int_t)s.width, "channels",
                             (json_int_t)s.channels, "class_count", (json_int_t)s.class_count,
                             "train", (json_int_t)s.part_count[NN_PART_TRAIN], "validation",
                             (json_int_t)s.part_count[NN_PART_VALIDATION], "test",
                             (json_int_t)s.part_count[NN_PART_TEST]));
    return NN_OK;
}

enum nn_status trial_import_dataset(struct trial_link *link, const json_t *start,
                                    const struct nn_import_file *files, size_t n,
                                    struct nn_error *err)
{
    struct nn_import_setup setup = {.directory = ".",
                                    .files = files,
                                    .n_files = n,
                                    .progress = on_progress,
                                    .progress_ctx = link};
    struct nn_import_result result = {0};
    enum nn_status status = decode_setup(start, &setup, err);
    if (status == NN_OK) {
        status = nn_import_run(&setup, &result, err);
    }
    if (status == NN_OK) {
        status = say_ready(link, setup.layout, &result, err);
    }
    nn_import_result_deinit(&result);
    return status;
}
