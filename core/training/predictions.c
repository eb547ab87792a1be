/* SPDX-License-Identifier: MIT
 *
 * Predictions as a file: a head {magic, count}, then the records as they stand in memory.
 */
#include "core/training/predictions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/files/atomic.h"

static const char MAGIC[8] = "ASSAYPR\n";

struct predictions_head {
    char magic[8];
    uint64_t count;
};

enum nn_status nn_predictions_write(const char *path, const struct nn_prediction *predictions,
                                    size_t n, struct nn_error *err)
{
    struct predictions_head head = {.count = n};
    memcpy(head.magic, MAGIC, sizeof head.magic);
    struct nn_atomic_file *file = malloc(sizeof *file);
    if (!file) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to write predictions");
    }
    enum nn_status status = nn_atomic_open(file, path, err);
    if (status == NN_OK) {
        nn_atomic_write(file, &head, sizeof head);
        nn_atomic_write(file, predictions, n * sizeof *predictions);
        status = nn_atomic_commit(file, err);
    }
    free(file);
    return status;
}

/* The count that the head claims, if the file has that size; false otherwise. */
static bool count_read(FILE *file, size_t *out)
{
    struct predictions_head head;
    if (fread(&head, sizeof head, 1, file) != 1 ||
        memcmp(head.magic, MAGIC, sizeof head.magic) != 0 || fseek(file, 0, SEEK_END) != 0) {
        return false;
    }
    long size = ftell(file);
    size_t bytes;
    if (size < 0 || !nn_size_mul(head.count, sizeof(struct nn_prediction), &bytes) ||
        bytes != (size_t)size - sizeof head) {
        return false;
    }
    *out = head.count;
    return fseek(file, (long)sizeof head, SEEK_SET) == 0;
}

enum nn_status nn_predictions_read(const char *path, struct nn_prediction **out, size_t *out_n,
                                   struct nn_error *err)
{
    size_t n = 0;
    FILE *file = fopen(path, "rbe");
    if (!file) {
        return nn_fail(err, NN_ERR_IO, "cannot open a file of predictions");
    }
    struct nn_prediction *predictions = NULL;
    bool ok = count_read(file, &n);
    if (ok) {
        predictions = calloc(n ? n : 1, sizeof *predictions);
        ok = predictions && fread(predictions, sizeof *predictions, n, file) == n;
    }
    (void)fclose(file);
    if (!ok) {
        free(predictions);
        return nn_fail(err, NN_ERR_CORRUPT, "a file of predictions is not whole");
    }
    *out = predictions;
    *out_n = n;
    return NN_OK;
}
