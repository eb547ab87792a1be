/* SPDX-License-Identifier: MIT
 *
 * Trains simple_cnn on an IDX data set from given weights and tells what happened as JSON, so that
 * a peer (peer_simple_cnn.py) can do the same and be compared.
 *
 *   train_driver prepare IDX_DIRECTORY OUT_DIRECTORY     imports; prints {"prepared": path}
 *   train_driver order PREPARED SEED EPOCHS OUT_FILE     the order of samples, uint32, epoch by
 * epoch train_driver train PREPARED SPEC                     SPEC is JSON: weights, directory,
 * seed, threads, limit, evaluate, training
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/cpu.h"
#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/data/import.h"
#include "core/training/training.h"

static int complain(const char *what, const struct nn_error *err)
{
    (void)fprintf(stderr, "%s: %s %s\n", what, err->text, err->pointer);
    return 1;
}

static int print_json(json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    if (!text) {
        return 1;
    }
    (void)printf("%s\n", text);
    free(text);
    return 0;
}

/* --- prepare ---------------------------------------------------------------------------------- */

static int prepare(const char *source, const char *directory)
{
    static const char *const NAMES[] = {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
                                        "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"};
    char paths[4][512];
    struct nn_import_file files[4];
    for (size_t i = 0; i < 4; i++) {
        (void)snprintf(paths[i], sizeof paths[i], "%s/%s", source, NAMES[i]);
        files[i] = (struct nn_import_file){.name = NAMES[i], .path = paths[i], .fd = -1};
    }
    const struct nn_import_setup setup = {
        .layout = NN_IMPORT_IDX, .files = files, .n_files = 4, .directory = directory};
    struct nn_import_result result;
    struct nn_error err = {0};
    if (nn_import_run(&setup, &result, &err) != NN_OK) {
        return complain("import", &err);
    }
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", directory, result.prepared_name);
    nn_import_result_deinit(&result);
    return print_json(json_pack("{s:s}", "prepared", path));
}

/* --- order ------------------------------------------------------------------------------------ */

/* The items of a part, at most `limit` of them (0 = all). */
static struct nn_split_side side_make(const struct nn_prepared *prepared, enum nn_part part,
                                      size_t limit)
{
    const struct nn_prepared_info *info = nn_prepared_info(prepared);
    struct nn_split_side side = {.items = calloc(info->count, sizeof *side.items)};
    for (size_t i = 0; side.items && i < info->count; i++) {
        if (nn_prepared_part(prepared, i) == part && (limit == 0 || side.count < limit)) {
            side.items[side.count++] = (uint32_t)i;
        }
    }
    return side;
}

static int order(const char *path, const char *seed, const char *epochs, const char *out)
{
    struct nn_prepared *prepared = NULL;
    struct nn_error err = {0};
    if (nn_prepared_open(path, &prepared, &err) != NN_OK) {
        return complain("open", &err);
    }
    struct nn_split_side side = side_make(prepared, NN_PART_TRAIN, 0);
    uint32_t *items = calloc(side.count, sizeof *items);
    FILE *file = fopen(out, "wb");
    const struct nn_loader_options options = {.items = side.items,
                                              .count = side.count,
                                              .batch_size = 1,
                                              .shuffle = NN_SHUFFLE_EVERY_EPOCH,
                                              .seed = strtoull(seed, NULL, 10),
                                              .epochs = 1};
    bool ok = items && file;
    for (size_t epoch = 0; ok && epoch < strtoull(epochs, NULL, 10); epoch++) {
        nn_loader_order(&options, epoch, items);
        ok = fwrite(items, sizeof *items, side.count, file) == side.count;
    }
    ok = file && fclose(file) == 0 && ok;
    free(items);
    free(side.items);
    nn_prepared_close(prepared);
    return ok ? 0 : 1;
}

/* --- train ------------------------------------------------------------------------------------ */

struct run {
    json_t *losses, *images_per_second;
    struct nn_memory *memory;
    struct nn_pool *pool;
    struct nn_prepared *prepared;
    struct nn_description *description;
};

static void take_points(void *ctx, const struct nn_point *points, size_t n)
{
    struct run *run = ctx;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(points[i].metric, "training_loss") == 0) {
            (void)json_array_append_new(run->losses, jx_number(points[i].value));
        } else if (strcmp(points[i].metric, "images_per_second") == 0) {
            (void)json_array_append_new(run->images_per_second, jx_number(points[i].value));
        }
    }
}

static double cpu_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static json_t *profile_json(const struct nn_training_result *result)
{
    json_t *list = json_array();
    for (size_t i = 0; i < result->profile.count; i++) {
        const struct nn_profile_item *item = &result->profile.items[i];
        (void)json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:f}", "layers", item->layers,
                                                    "operator", item->operator_name, "phase",
                                                    item->phase, "seconds", item->seconds));
    }
    return list;
}

static json_t *result_json(const struct run *run, const struct nn_training_result *result)
{
    const struct nn_part_result *test = &result->parts[NN_PART_TEST];
    json_t *accuracy = test->present ? jx_number(test->evaluation.accuracy.value) : json_null();
    return json_pack("{s:O, s:O, s:o, s:f, s:f, s:f, s:o}", "losses", run->losses,
                     "images_per_second", run->images_per_second, "test_accuracy", accuracy,
                     "seconds", result->seconds, "cpu_seconds", cpu_seconds(),
                     "loader_stall_seconds", result->loader_stall_seconds, "profile",
                     profile_json(result));
}

static enum nn_status run_open(struct run *run, const char *prepared, const json_t *spec,
                               struct nn_error *err)
{
    json_t *network = json_pack("{s:s}", "name", "simple_cnn");
    size_t threads = (size_t)json_integer_value(json_object_get(spec, "threads"));
    run->losses = json_array();
    run->images_per_second = json_array();
    enum nn_status status = nn_memory_create((size_t)4 << 30, &run->memory);
    if (status == NN_OK) {
        status = nn_pool_create(run->memory, threads ? threads : 1, &run->pool, err);
    }
    if (status == NN_OK) {
        status = nn_prepared_open(prepared, &run->prepared, err);
    }
    if (status == NN_OK) {
        status = nn_description_parse(network, &run->description, err);
    }
    json_decref(network);
    return status;
}

static void run_close(struct run *run)
{
    nn_description_destroy(run->description);
    if (run->prepared) {
        nn_prepared_close(run->prepared);
    }
    nn_pool_destroy(run->pool);
    nn_memory_destroy(run->memory);
    json_decref(run->losses);
    json_decref(run->images_per_second);
}

static enum nn_status options_read(const json_t *spec, struct nn_training_options *out,
                                   struct nn_error *err)
{
    json_t *training = json_object_get(spec, "training");
    enum nn_status status = jx_decode(nn_training_fields, training, "/training", out, err);
    if (status == NN_OK) {
        nn_training_options_resolve(out);
    }
    return status;
}

static enum nn_status run_train(struct run *run, const json_t *spec,
                                struct nn_training_result **out, struct nn_error *err)
{
    const struct nn_prepared_info *info = nn_prepared_info(run->prepared);
    struct nn_training_setup setup = {
        .description = run->description,
        .bind = {.height = info->height,
                 .width = info->width,
                 .channels = info->channels,
                 .classes = info->class_count,
                 .normalisation = NN_NORMALISATION_RESCALE_UNIT},
        .prepared = run->prepared,
        .seed = (uint64_t)json_integer_value(json_object_get(spec, "seed")),
        .memory = run->memory,
        .pool = run->pool,
        .directory = json_string_value(json_object_get(spec, "directory")),
        .initial_weights = json_string_value(json_object_get(spec, "weights")),
        .core_build = "accept",
        .spec_digest = "accept",
    };
    enum nn_status status = options_read(spec, &setup.options, err);
    if (status != NN_OK) {
        return status;
    }
    size_t limit = (size_t)json_integer_value(json_object_get(spec, "limit"));
    setup.parts[NN_PART_TRAIN] = side_make(run->prepared, NN_PART_TRAIN, limit);
    if (json_is_true(json_object_get(spec, "evaluate"))) {
        setup.parts[NN_PART_TEST] = side_make(run->prepared, NN_PART_TEST, 0);
    }
    const struct nn_training_callbacks callbacks = {.ctx = run, .points = take_points};
    status = nn_training_run(&setup, &callbacks, out, err);
    free(setup.parts[NN_PART_TRAIN].items);
    free(setup.parts[NN_PART_TEST].items);
    return status;
}

static int train(const char *prepared, const char *text)
{
    struct run run = {0};
    struct nn_error err = {0};
    struct nn_training_result *result = NULL;
    json_t *spec = NULL;
    nn_cpu_flush_denormals();
    enum nn_status status = jx_parse(text, strlen(text), NULL, &spec, &err);
    if (status == NN_OK) {
        status = run_open(&run, prepared, spec, &err);
    }
    if (status == NN_OK) {
        status = run_train(&run, spec, &result, &err);
    }
    int code = status == NN_OK ? print_json(result_json(&run, result)) : complain("train", &err);
    nn_training_result_destroy(result);
    run_close(&run);
    json_decref(spec);
    return code;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "prepare") == 0) {
        return prepare(argv[2], argv[3]);
    }
    if (argc == 6 && strcmp(argv[1], "order") == 0) {
        return order(argv[2], argv[3], argv[4], argv[5]);
    }
    if (argc == 4 && strcmp(argv[1], "train") == 0) {
        return train(argv[2], argv[3]);
    }
    (void)fprintf(stderr, "usage: see the head of train_driver.c\n");
    return 2;
}
