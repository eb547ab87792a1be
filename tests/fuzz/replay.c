/* SPDX-License-Identifier: MIT
 *
 * A plain main for a fuzz target: every file of tests/fuzz/corpus/<target> goes through it once, so
 * that what a fuzzer found stays found in every build. An empty corpus fails.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        return -1;
    }
    size_t size = (size_t)ftell(file);
    uint8_t *data = malloc(size ? size : 1); /* exact, so that a sanitizer sees a step too far */
    rewind(file);
    int rc = data && fread(data, 1, size, file) == size ? 0 : -1;
    fclose(file);
    if (rc == 0) {
        LLVMFuzzerTestOneInput(data, size);
    }
    free(data);
    return rc;
}

int main(int argc, char **argv)
{
    const char *name = argc > 0 && strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    char path[1024];
    size_t passed = 0;
    size_t failed = 0;
    snprintf(path, sizeof path, "tests/fuzz/corpus/%s", name);
    DIR *dir = opendir(path);
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof path, "tests/fuzz/corpus/%s/%s", name, entry->d_name);
            failed += replay(path) != 0;
            passed++;
        }
    }
    if (dir) {
        closedir(dir);
    }
    failed += passed == 0;
    printf("[  PASSED  ] %zu test(s).\n", passed);
    if (failed) {
        printf("[  FAILED  ] %zu test(s), the corpus of %s cannot be read\n", failed, name);
    }
    return failed ? 1 : 0;
}
