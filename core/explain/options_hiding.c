/* SPDX-License-Identifier: MIT
 *
 * The options of what hides parts of samples: their tables, and what they mean for samples of a
 * size.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/explain/options_internal.h"

#define OCCLUSION(member) offsetof(struct nn_occlusion_options, member)
const struct jx_field nn_occlusion_fields[] = {
    {.name = "mask_size",
     .type = JX_INTS,
     .offset = OCCLUSION(mask_size),
     .given = JX_GIVEN(struct nn_occlusion_options, mask_size_given),
     .min = 1,
     .max = 1048576,
     .min_items = 1,
     .max_items = 2,
     .scalar_too = true,
     .doc = "side of the mask, or height and width; of windows its samples; default: a fifth of "
            "each side, of windows a twentieth"},
    {.name = "stride",
     .type = JX_INTS,
     .offset = OCCLUSION(stride),
     .given = JX_GIVEN(struct nn_occlusion_options, stride_given),
     .min = 1,
     .max = 1048576,
     .min_items = 1,
     .max_items = 2,
     .scalar_too = true,
     .doc = "how far the mask moves at a time, at most its side; at most 4096 places in all; "
            "default: half the mask"},
    JX_END,
};

static const struct jx_choice SEGMENTATIONS[] = {
    {"grid", NN_SEGMENTATION_GRID, "cells of equal size"},
    {"superpixels", NN_SEGMENTATION_SUPERPIXELS, "like colours near each other, of pictures"},
    JX_END,
};

#define LIME(member) offsetof(struct nn_lime_options, member)
const struct jx_field nn_lime_fields[] = {
    {.name = "segmentation",
     .type = JX_ENUM,
     .offset = LIME(segmentation),
     .choices = SEGMENTATIONS,
     .fallback = "\"grid\"",
     .doc = "what the sample is cut into"},
    {.name = "segments",
     .type = JX_INT,
     .offset = LIME(segments),
     .min = 2,
     .max = NN_LIME_SEGMENTS_MAX,
     .fallback = "49",
     .doc = "about how many segments the sample is cut into"},
    {.name = "copies",
     .type = JX_INT,
     .offset = LIME(copies),
     .min = 16,
     .max = NN_LIME_COPIES_MAX,
     .fallback = "512",
     .doc = "copies of the sample, each with about half of its segments hidden"},
    {.name = "seed",
     .type = JX_INT,
     .offset = LIME(seed),
     .min = 0,
     .max = 4294967295,
     .fallback = "1",
     .doc = "of what is hidden"},
    JX_END,
};

/* ---- occlusion ---- */

struct sides {
    size_t down, right;
};

/* A lone number is both sides; of a sample of one row it is the width. */
static struct sides sides_of(const struct jx_ints *ints, bool given, size_t height,
                             struct sides usual)
{
    if (!given) {
        return usual;
    }
    size_t first = (size_t)ints->value[0];
    if (ints->count == 2) {
        return (struct sides){first, (size_t)ints->value[1]};
    }
    return (struct sides){height == 1 ? 1 : first, first};
}

static size_t share_of(size_t side, size_t parts)
{
    size_t share = (side + parts / 2) / parts;
    return share > 0 ? share : 1;
}

static struct sides usual_mask(const struct nn_network_bind *bind)
{
    return bind->height == 1 ? (struct sides){1, share_of(bind->width, 20)}
                             : (struct sides){share_of(bind->height, 5), share_of(bind->width, 5)};
}

static enum nn_status plan_occlusion(const struct nn_occlusion_options *options,
                                     const struct nn_network_bind *bind, struct nn_occlusion *out,
                                     struct nn_error *err)
{
    struct sides mask =
        sides_of(&options->mask_size, options->mask_size_given, bind->height, usual_mask(bind));
    struct sides stride = sides_of(&options->stride, options->stride_given, bind->height,
                                   (struct sides){(mask.down + 1) / 2, (mask.right + 1) / 2});
    if (mask.down > bind->height || mask.right > bind->width) {
        return nn_fail_at(err, NN_ERR_INVALID, "/occlusion/mask_size",
                          "the mask of %zu x %zu is larger than the samples of %zu x %zu",
                          mask.down, mask.right, bind->height, bind->width);
    }
    if (stride.down > mask.down || stride.right > mask.right) {
        return nn_fail_at(err, NN_ERR_INVALID, "/occlusion/stride",
                          "steps of %zu x %zu would pass over values that no mask of %zu x %zu "
                          "hides",
                          stride.down, stride.right, mask.down, mask.right);
    }
    size_t places = nn_occlusion_places(bind->height, mask.down, stride.down) *
                    nn_occlusion_places(bind->width, mask.right, stride.right);
    if (places > NN_OCCLUSION_PLACES_MAX) {
        return nn_fail_at(err, NN_ERR_INVALID, "/occlusion/stride",
                          "the mask would stand at %zu places; at most %d are tried", places,
                          NN_OCCLUSION_PLACES_MAX);
    }
    *out = (struct nn_occlusion){mask.down, mask.right, stride.down, stride.right};
    return NN_OK;
}

/* ---- what hides ---- */

static enum nn_status plan_fill(const struct nn_hiding_options *options,
                                const struct nn_explain_subject *subject,
                                struct nn_explain_plan *plan, struct nn_error *err)
{
    const struct jx_reals *values = &options->mask_value;
    size_t channels = subject->bind.channels;
    if (!options->mask_value_given) {
        return NN_OK;
    }
    if (values->count != 1 && values->count != channels) {
        return nn_fail_at(err, NN_ERR_INVALID, "/mask_value",
                          "%zu values are given for %zu channels: one for all, or one each",
                          values->count, channels);
    }
    for (size_t c = 0; c < channels && c < NN_SIGNAL_CHANNELS_MAX; c++) {
        plan->fill[c] = values->value[values->count == 1 ? 0 : c];
        if (!subject->signals && (plan->fill[c] < 0 || plan->fill[c] > 255)) {
            return nn_fail_at(err, NN_ERR_INVALID, "/mask_value",
                              "pixels have values from 0 to 255");
        }
        if (!(fabs(plan->fill[c]) <= (double)FLT_MAX)) {
            return nn_fail_at(err, NN_ERR_INVALID, "/mask_value",
                              "no sample of a signal is as large as %g", plan->fill[c]);
        }
    }
    plan->fill_given = true;
    return NN_OK;
}

static enum nn_status plan_lime(const struct nn_lime_options *options,
                                const struct nn_explain_subject *subject, struct nn_lime *out,
                                struct nn_error *err)
{
    if (options->segmentation == NN_SEGMENTATION_SUPERPIXELS && subject->signals) {
        return nn_fail_at(err, NN_ERR_INVALID, "/lime/segmentation",
                          "superpixels are of pictures; a window of a signal is cut by a grid");
    }
    *out = (struct nn_lime){.segmentation = (enum nn_segmentation)options->segmentation,
                            .segments = (size_t)options->segments,
                            .copies = (size_t)options->copies,
                            .seed = (uint64_t)options->seed};
    return NN_OK;
}

/* Options of a method that is not wanted are a mistake. */
static enum nn_status refuse_unused(const struct nn_hiding_options *options,
                                    const struct nn_explain_plan *plan, struct nn_error *err)
{
    if (options->occlusion_given && !plan->occludes) {
        return nn_fail_at(err, NN_ERR_INVALID, "/occlusion",
                          "these are options of occlusion, which is no method here");
    }
    if (options->lime_given && !plan->limes) {
        return nn_fail_at(err, NN_ERR_INVALID, "/lime",
                          "these are options of lime, which is no method here");
    }
    if (options->mask_value_given && !plan->occludes && !plan->limes) {
        return nn_fail_at(err, NN_ERR_INVALID, "/mask_value",
                          "a mask value is for occlusion and lime alone");
    }
    return NN_OK;
}

enum nn_status nn_explain_plan_hiding(const struct nn_hiding_options *options,
                                      const struct nn_explain_subject *subject,
                                      struct nn_explain_plan *plan, struct nn_error *err)
{
    enum nn_status status = refuse_unused(options, plan, err);
    if (status == NN_OK && plan->occludes) {
        status = plan_occlusion(&options->occlusion, &subject->bind, &plan->occlusion, err);
    }
    if (status == NN_OK && plan->limes) {
        status = plan_lime(&options->lime, subject, &plan->lime, err);
    }
    return status == NN_OK ? plan_fill(options, subject, plan, err) : status;
}
