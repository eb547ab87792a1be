/* SPDX-License-Identifier: MIT
 *
 * What the files of options share.
 */
#ifndef NN_EXPLAIN_OPTIONS_INTERNAL_H
#define NN_EXPLAIN_OPTIONS_INTERNAL_H

#include "core/explain/options.h"

/* Completes a plan that says which methods are wanted; pointers are relative to the `explain`
 * object. */
NN_MUST_CHECK enum nn_status nn_explain_plan_hiding(const struct nn_hiding_options *options,
                                                    const struct nn_explain_subject *subject,
                                                    struct nn_explain_plan *plan,
                                                    struct nn_error *err);

#endif
