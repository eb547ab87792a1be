/* SPDX-License-Identifier: MIT
 *
 * Any bytes as an IDX pair: two bytes say where the images end and the labels begin.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/data/import.h"
#include "core/data/prepared.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int memory_file(const uint8_t *data, size_t size)
{
    int fd = memfd_create("data", MFD_CLOEXEC);
    NN_ASSERT(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    return fd;
}

static void open_and_remove(const char *directory, const char *name)
{
    char path[256];
    struct nn_prepared *set = NULL;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    NN_ASSERT(nn_prepared_open(path, &set, NULL) == NN_OK);
    nn_prepared_close(set);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char directory[] = "/tmp/assay-fuzz-XXXXXX";
    if (size < 2) {
        return 0;
    }
    size_t middle = 2 + ((size_t)data[0] << 8 | data[1]) % (size - 1);
    struct nn_import_file files[2] = {
        {.name = "images", .fd = memory_file(data + 2, middle - 2)},
        {.name = "labels", .fd = memory_file(data + middle, size - middle)},
    };
    struct nn_import_setup setup = {
        .layout = NN_IMPORT_IDX,
        .files = files,
        .n_files = 2,
        .directory = mkdtemp(directory),
        .limits = {.max_prepared_bytes = 8 << 20},
    };
    struct nn_import_result result = {0};
    NN_ASSERT(setup.directory);
    if (nn_import_run(&setup, &result, NULL) == NN_OK) {
        open_and_remove(directory, result.prepared_name);
        nn_import_result_deinit(&result);
    }
    close(files[0].fd);
    close(files[1].fd);
    NN_ASSERT(rmdir(directory) == 0); /* nothing else was left in it */
    return 0;
}
