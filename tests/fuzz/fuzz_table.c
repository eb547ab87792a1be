/* SPDX-License-Identifier: MIT
 *
 * Any bytes as sequence tables. The first byte chooses how they are read; a 0x01 byte ends one file
 * and begins the next (train, test, ends of life).
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/data/import.h"
#include "core/data/sequences.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const OPTIONS[] = {
    "{\"table\": {\"sequence\": 1, \"time\": 2, \"remaining_life\": true}}",
    "{\"table\": {\"sequence\": \"id\", \"target\": \"y\", \"missing\": \"previous\"}}",
    "{\"table\": {\"target\": 1, \"missing\": \"mean\", \"decimal_comma\": true}}",
    "{\"table\": {\"sequence\": 1, \"target\": 3, \"task\": \"classification\"}}",
    "{\"on_refused\": \"fail\", \"table\": {\"sequence\": 1, \"target\": [2, 3], \"header\": "
    "\"yes\", \"missing\": \"value\", \"missing_value\": 0, \"missing_texts\": [\"NA\"]}}",
    "{}", /* C-MAPSS */
};
enum { N_OPTIONS = sizeof OPTIONS / sizeof OPTIONS[0], FILES_MAX = 3 };

static int memory_file(const uint8_t *data, size_t size)
{
    int fd = memfd_create("data", MFD_CLOEXEC);
    NN_ASSERT(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    return fd;
}

/* Cuts the bytes into files; how many there are. */
static size_t cut(const uint8_t *data, size_t size, struct nn_import_file files[FILES_MAX])
{
    static const char *const names[FILES_MAX] = {"train.csv", "test.csv", "rul.csv"};
    size_t n = 0;
    while (n < FILES_MAX) {
        const uint8_t *end = n + 1 < FILES_MAX ? memchr(data, 1, size) : NULL;
        size_t length = end ? (size_t)(end - data) : size;
        files[n] = (struct nn_import_file){.name = names[n], .fd = memory_file(data, length)};
        n++;
        if (!end) {
            break;
        }
        data += length + 1;
        size -= length + 1;
    }
    return n;
}

static void open_and_remove(const char *directory, const char *name)
{
    char path[256];
    struct nn_sequences *set = NULL;
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    NN_ASSERT(nn_sequences_open(path, &set, NULL) == NN_OK);
    NN_ASSERT(nn_sequences_info(set)->part_count[NN_PART_TRAIN] > 0);
    nn_sequences_close(set);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char directory[] = "/tmp/assay-fuzz-XXXXXX";
    struct nn_import_file files[FILES_MAX];
    struct nn_import_result result = {0};
    if (size < 1) {
        return 0;
    }
    size_t choice = data[0] % N_OPTIONS;
    struct nn_import_setup setup = {
        .layout = choice + 1 == N_OPTIONS ? NN_IMPORT_CMAPSS : NN_IMPORT_TABLE,
        .files = files,
        .n_files = cut(data + 1, size - 1, files),
        .directory = mkdtemp(directory),
        .limits = {.max_values = 1 << 18, .max_entries = 1 << 12, .max_total_bytes = 8 << 20},
    };
    json_t *options = json_loads(OPTIONS[choice], 0, NULL);
    NN_ASSERT(setup.directory && options);
    NN_ASSERT(nn_import_options_decode(setup.layout, options, "", &setup.options, NULL) == NN_OK);
    if (nn_import_run(&setup, &result, NULL) == NN_OK) {
        open_and_remove(directory, result.prepared_name);
        nn_import_result_deinit(&result);
    }
    json_decref(options);
    for (size_t i = 0; i < setup.n_files; i++) {
        close(files[i].fd);
    }
    NN_ASSERT(rmdir(directory) == 0); /* nothing else was left in it */
    return 0;
}
