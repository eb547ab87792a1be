/* SPDX-License-Identifier: MIT
 *
 * The main of `assayd import`: what all imports share. The start record names the asset; each kind
 * has its own file.
 *
 * hello -> progress* -> artefact {kind, path} -> done {outcome "ready", report, ...}, or failed
 * {class, text}.
 */
#include "server/trial/import_internal.h"

#include <string.h>

static const struct {
    const char *asset;
    trial_import_fn run;
} KINDS[] = {
    {"dataset", trial_import_dataset},
    {"weights", trial_import_weights},
    {"prediction", trial_import_prediction},
};

static trial_import_fn find_kind(const json_t *start)
{
    const char *asset = json_string_value(json_object_get(start, "asset"));
    for (size_t i = 0; asset && i < sizeof KINDS / sizeof KINDS[0]; i++) {
        if (strcmp(KINDS[i].asset, asset) == 0) {
            return KINDS[i].run;
        }
    }
    return NULL;
}

bool trial_import_goes_on(struct trial_link *link, size_t done, size_t total)
{
    trial_listen(link);
    trial_say_take(link, WIRE_PROGRESS,
                   json_pack("{s:I, s:I}", "done", (json_int_t)done, "total", (json_int_t)total));
    return !link->cancel && !link->pause && !link->stop;
}

static enum nn_status decode_files(const json_t *start, struct nn_import_file *files, size_t *out_n,
                                   struct nn_error *err)
{
    const json_t *list = json_object_get(start, "files");
    size_t n = json_array_size(list);
    if (n == 0 || n > TRIAL_IMPORT_FILES) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED, "this number of files cannot be imported");
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *file = json_array_get(list, i);
        files[i] = (struct nn_import_file){
            .name = json_string_value(json_object_get(file, "name")),
            .path = json_string_value(json_object_get(file, "path")),
            .fd = -1,
        };
        if (!files[i].name || !files[i].path) {
            return nn_fail(err, NN_ERR_INTERNAL, "the start record is incomplete");
        }
    }
    *out_n = n;
    return NN_OK;
}

static int import(struct trial_link *link, const json_t *start)
{
    struct nn_import_file files[TRIAL_IMPORT_FILES];
    size_t n = 0;
    struct nn_error err = {0};
    trial_import_fn run = find_kind(start);
    enum nn_status status = run ? decode_files(start, files, &n, &err)
                                : nn_fail(&err, NN_ERR_INTERNAL, "the asset is not known");
    if (status == NN_OK) {
        status = run(link, start, files, n, &err);
    }
    if (status == NN_ERR_CANCELLED) {
        trial_say_take(link, WIRE_DONE, json_pack("{s:s}", "outcome", "cancelled"));
        return TRIAL_EXIT_DONE;
    }
    return status == NN_OK ? TRIAL_EXIT_DONE : trial_say_failed(link, status, &err);
}

int trial_import_main(int argc, char *const *argv)
{
    struct trial_link link;
    json_t *json = NULL;
    int exit_status = TRIAL_EXIT_PROTOCOL;
    if (!trial_open(argc, argv, &link, &json, &exit_status)) {
        return exit_status;
    }
    exit_status = import(&link, json);
    json_decref(json);
    trial_close(&link);
    return exit_status;
}
