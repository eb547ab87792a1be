/* SPDX-License-Identifier: MIT
 *
 * Explanations of single samples by a network, pictures or windows of signals, and the file that
 * they leave in: of a finished trial (explain.c), or asked for later (predict_explain.c).
 *
 * The file is a safetensors file with the arrays and the samples themselves; its detail says what
 * each is:
 *     {"pictures": [{item, name, part, trial_part, true, predicted, probability, shape, offset,
 *                    signal?}],
 *      "arrays": [{picture, method, layer, class, score, shape, offset}]}
 * picture counts from 0 within "pictures"; part is the item's in the data set, trial_part the side
 * of the trial's split that it stood on; item, name, both parts and true are null where they are
 * not known, layer where none is concerned, predicted where the scores are no numbers; offsets are
 * bytes from the beginning of the file; arrays are F32, height x width, or height x width x
 * channels; pictures are U8 likewise, those with signal F32.
 */
#ifndef TRIAL_EXPLAINED_INTERNAL_H
#define TRIAL_EXPLAINED_INTERNAL_H

#include "core/explain/explain.h"
#include "server/trial/trial_internal.h"

#define TRIAL_EXPLAINED_FILE "explanations.safetensors"

struct trial_explained_setup {
    struct nn_explainer_setup explainer; /* layers and methods are those of the plan */
    const struct nn_explain_plan *plan;
    const double *mean; /* of each channel over what trained; NULL: not known */
    const char *const *classes;
    bool (*go_on)(void *ctx); /* as in struct nn_hider_setup */
    void *ctx;
};

struct trial_explained_picture {
    const void *values; /* kept until the file is written */
    json_t *facts;      /* {item, name, part, trial_part, true}, transferred */
    size_t truth;       /* class, or NN_NO_CLASS: not known */
    size_t class_index; /* the one to map; NN_NO_CLASS: the predicted one and, where that is
                           another, the true one */
};

struct trial_explained;

/* What the setup points to is borrowed. As nn_explainer_create and nn_hider_create; NN_ERR_INVALID
 * at /mask_value: the plan says none, and the mean is not known. */
NN_MUST_CHECK enum nn_status trial_explained_create(const struct trial_explained_setup *setup,
                                                    struct trial_explained **out,
                                                    struct nn_error *err);
void trial_explained_destroy(struct trial_explained *explained);

void trial_explained_add_take(struct trial_explained *explained,
                              const struct trial_explained_picture *picture);
/* Of the last picture, a number for each class; borrowed. */
const nn_real *trial_explained_scores(const struct trial_explained *explained);
const nn_real *trial_explained_probabilities(struct trial_explained *explained);
/* Arrays that were too large to be kept. */
size_t trial_explained_left_out(const struct trial_explained *explained);

/* Writes TRIAL_EXPLAINED_FILE into the working directory; *out_detail is new. Nothing may be added
 * any more. */
NN_MUST_CHECK enum nn_status trial_explained_write(struct trial_explained *explained,
                                                   json_t **out_detail, struct nn_error *err);

#endif
