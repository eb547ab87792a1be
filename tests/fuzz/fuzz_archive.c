/* SPDX-License-Identifier: MIT
 *
 * Any bytes as an archive of pictures: refused, or imported into a set that opens.
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
    struct nn_import_file file = {.name = "data", .fd = memfd_create("data", MFD_CLOEXEC)};
    struct nn_import_setup setup = {
        .layout = NN_IMPORT_ARCHIVE,
        .files = &file,
        .n_files = 1,
        .directory = mkdtemp(directory),
        .limits = {.max_entries = 200,
                   .max_entry_bytes = 1 << 20,
                   .max_total_bytes = 8 << 20,
                   .max_prepared_bytes = 8 << 20},
    };
    struct nn_import_result result = {0};
    NN_ASSERT(file.fd >= 0 && setup.directory);
    NN_ASSERT(write(file.fd, data, size) == (ssize_t)size);
    if (nn_import_run(&setup, &result, NULL) == NN_OK) {
        open_and_remove(directory, result.prepared_name);
        nn_import_result_deinit(&result);
    }
    close(file.fd);
    NN_ASSERT(rmdir(directory) == 0); /* nothing else was left in it */
    return 0;
}
