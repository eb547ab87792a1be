/* SPDX-License-Identifier: MIT
 *
 * Writing files of PyTorch in tests.
 */
#include "tests/support/torch.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka_all.h"

void torch_put(struct torch_bytes *to, const void *data, size_t n)
{
    if (to->size + n > to->room) {
        to->room = 2 * (to->size + n);
        to->data = realloc(to->data, to->room);
        assert_non_null(to->data);
    }
    memcpy(to->data + to->size, data, n);
    to->size += n;
}

void torch_put_text(struct torch_bytes *to, const char *text)
{
    torch_put(to, text, strlen(text));
}

void torch_put_number(struct torch_bytes *to, uint64_t number, size_t n)
{
    for (size_t i = 0; i < n; i++, number >>= 8) {
        unsigned char byte = (unsigned char)number;
        torch_put(to, &byte, 1);
    }
}

void torch_put_tensor(struct torch_bytes *to, const char *key, const char *count, const char *rest)
{
    torch_put_text(to,
                   "ctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\nFloatStorage\nU\x01");
    torch_put_text(to, key);
    torch_put_text(to, "U\x03"
                       "cpu");
    torch_put_text(to, count);
    torch_put_text(to, "NtQ");
    torch_put_text(to, rest);
    torch_put_text(to, "\x89)tR");
}

enum nn_status torch_status(const struct torch_bytes *file, struct nn_error *err)
{
    struct nn_weights *weights = NULL;
    unsigned char *exact = malloc(file->size ? file->size : 1);
    assert_non_null(exact);
    memcpy(exact, file->data, file->size);
    enum nn_status status = nn_weights_open_bytes(exact, file->size, NULL, &weights, err);
    if (status == NN_OK) {
        nn_weights_close(weights);
    }
    free(exact);
    return status;
}

void torch_expect(struct torch_bytes *file, enum nn_status status, const char *words)
{
    struct nn_error err = {0};
    enum nn_status found = torch_status(file, &err);
    if (found != status || (words && !strstr(err.text, words))) {
        fail_msg("wanted %s \"%s\", got %s \"%s\"", nn_status_slug(status), words ? words : "",
                 nn_status_slug(found), err.text);
    }
    free(file->data);
}
