/* SPDX-License-Identifier: MIT
 *
 * The table of kinds.
 */
#include "server/jobs/kinds.h"

#include <string.h>

#include "core/json/json.h"

static const struct jobs_kind *const KINDS[] = {
    &jobs_kind_solver_comparison,     &jobs_kind_transfer_learning,
    &jobs_kind_sequence_regression,   &jobs_kind_sequence_classification,
    &jobs_kind_signal_classification, NULL,
};

const struct jobs_kind *jobs_kind_find(const char *name)
{
    for (size_t i = 0; KINDS[i]; i++) {
        if (strcmp(KINDS[i]->name, name) == 0) {
            return KINDS[i];
        }
    }
    return NULL;
}

const char *jobs_kind_nearest(const char *name)
{
    struct jx_choice names[sizeof KINDS / sizeof KINDS[0]] = {{0}};
    for (size_t i = 0; KINDS[i]; i++) {
        names[i].name = KINDS[i]->name;
    }
    return jx_nearest(name, names, sizeof names[0]);
}
