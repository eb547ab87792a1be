/* SPDX-License-Identifier: MIT
 *
 * The options of an import: their table of fields, and which belong to which layout.
 */
#include "core/data/import_internal.h"

#define IMAGE_SIDE_MAX 8192

static const struct jx_choice ON_REFUSED[] = {
    {"skip", NN_IMPORT_SKIP, "leave refused entries out and list them"},
    {"fail", NN_IMPORT_FAIL, "refuse the data set at the first refused entry"},
    {0},
};

static const struct jx_field CLASS_NAME = {
    .type = JX_STRING, .min = 1, .max = 255, .doc = "Name of a class."};

const struct jx_field nn_import_fields[] = {
    {.name = "image_size",
     .type = JX_INTS,
     .offset = offsetof(struct nn_import_options, image_size),
     .min = 1,
     .max = IMAGE_SIDE_MAX,
     .max_items = 2,
     .scalar_too = true,
     .nullable = true,
     .doc = "Side, or height and width, that every image is resized to; the most frequent size of "
            "the set when absent.",
     .unit = "pixels"},
    {.name = "channels",
     .type = JX_SIZE,
     .offset = offsetof(struct nn_import_options, channels),
     .min = 3,
     .max = 3,
     .nullable = true,
     .doc = "3: grey pictures get three equal channels, as networks with pretrained weights want; "
            "as the pictures are when absent."},
    {.name = "on_refused",
     .type = JX_ENUM,
     .offset = offsetof(struct nn_import_options, on_refused),
     .fallback = "\"skip\"",
     .choices = ON_REFUSED,
     .doc = "What happens when an entry cannot be taken."},
    {.name = "classes",
     .type = JX_ARRAY,
     .offset = offsetof(struct nn_import_options, classes),
     .min_items = 1,
     .max_items = 256,
     .nullable = true,
     .items = &CLASS_NAME,
     .doc = "Class names by label (IDX only)."},
    {.name = "table",
     .type = JX_OBJECT,
     .offset = offsetof(struct nn_import_options, table),
     .given = JX_GIVEN(struct nn_import_options, table_given),
     .nullable = true,
     .fields = nn_table_fields,
     .doc = "How sequence tables are written and what their columns mean."},
    {.name = "signal",
     .type = JX_OBJECT,
     .offset = offsetof(struct nn_import_options, signal),
     .given = JX_GIVEN(struct nn_import_options, signal_given),
     .nullable = true,
     .fields = nn_signal_fields,
     .doc = "How recordings are cut into windows, and which part these belong to."},
    JX_END,
};

bool nn_import_is_table(enum nn_import_layout layout)
{
    return layout == NN_IMPORT_TABLE || layout == NN_IMPORT_CMAPSS;
}

/* Fields of the other kind of data set would be ignored: better refused. */
static enum nn_status check_options(enum nn_import_layout layout,
                                    const struct nn_import_options *options, const char *pointer,
                                    struct nn_error *err)
{
    char field[160];
    bool table = nn_import_is_table(layout);
    bool signals = layout == NN_IMPORT_SIGNALS;
    bool images = !table && !signals;
    const char *foreign = !table && options->table_given             ? "table"
                          : !signals && options->signal_given        ? "signal"
                          : !images && options->image_size.count > 0 ? "image_size"
                          : !images && options->channels > 0         ? "channels"
                          : !images && options->classes              ? "classes"
                                                                     : NULL;
    if (foreign) {
        jx_pointer_key(pointer, foreign, field, sizeof field);
        return nn_fail_at(err, NN_ERR_INVALID, field, "means nothing for this layout");
    }
    if (signals) {
        struct nn_signal_options complete = options->signal;
        jx_pointer_key(pointer, "signal", field, sizeof field);
        return nn_signal_options_complete(&complete, field, err);
    }
    if (!table) {
        return NN_OK;
    }
    jx_pointer_key(pointer, "table", field, sizeof field);
    return nn_table_options_check(&options->table, layout == NN_IMPORT_CMAPSS, field, err);
}

enum nn_status nn_import_options_decode(enum nn_import_layout layout, const json_t *options,
                                        const char *pointer, struct nn_import_options *out_options,
                                        struct nn_error *err)
{
    struct nn_import_options decoded = {0};
    jx_defaults(nn_import_fields, &decoded);
    enum nn_status status =
        options ? jx_decode(nn_import_fields, options, pointer, &decoded, err) : NN_OK;
    if (status == NN_OK) {
        status = check_options(layout, &decoded, pointer, err);
    }
    if (status == NN_OK) {
        *out_options = decoded;
    }
    return status;
}

const char *nn_import_on_refused_name(int on_refused)
{
    return jx_choice_name(ON_REFUSED, on_refused);
}
