/* SPDX-License-Identifier: MIT
 *
 * The bodies that the service takes, by the names of their schemas in the API description.
 */
#include "server/api/handlers_internal.h"
#include "server/jobs/jobs.h"

json_t *api_body_schemas(void)
{
    const struct {
        const char *name;
        json_t *schema;
    } rows[] = {
        {"JobCreate", jobs_schema()},
        {"SearchRange", jobs_range_schema()},
        {"JobPatch", jobs_edit_schema()},
        {"JobRestart", jx_schema(api_restart_fields)},
        {"Extend", jx_schema(api_extend_fields)},
        {"JobBulk", jx_schema(api_bulk_fields)},
        {"TrialPatch", jx_schema(api_trial_patch_fields)},
        {"DatasetCreate", jx_schema(api_dataset_create_fields)},
        {"DatasetPatch", jx_schema(api_naming_fields)},
        {"WeightsCreate", jx_schema(api_weights_create_fields)},
        {"WeightsPatch", jx_schema(api_naming_fields)},
        {"WeightsMatch", jx_schema(api_match_fields)},
        {"ExperimentCreate", jx_schema(api_experiment_create_fields)},
        {"ExperimentPatch", jx_schema(api_naming_fields)},
        {"ExplanationCreate", jx_schema(api_explanation_fields)},
        {"NetworkAnalysis", jx_schema(api_analysis_fields)},
    };
    json_t *out = json_object();
    bool ok = true;
    for (size_t i = 0; i < API_COUNT(rows); i++) {
        ok = json_object_set_new(out, rows[i].name, rows[i].schema) == 0 && ok;
    }
    if (!ok) {
        json_decref(out);
        return NULL;
    }
    return out;
}
