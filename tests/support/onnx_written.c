/* SPDX-License-Identifier: MIT
 *
 * Writing networks of tests as ONNX.
 */
#include "tests/support/onnx_written.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "core/exchange/exchange.h"
#include "core/exchange/onnx.h"
#include "tests/support/cmocka_all.h"

void test_onnx_write(const struct test_network *net, const struct nn_network_bind *bind,
                     const char *path)
{
    struct nn_error err = {0};
    struct nn_safetensors *file = NULL;
    char weights[80];
    (void)snprintf(weights, sizeof weights, "%s.safetensors", path);
    enum nn_status status = nn_exchange_save(net->network, weights, NN_FILE_F32, NULL, 0, &err);
    status = status == NN_OK ? nn_safetensors_open(weights, NULL, &file, &err) : status;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    if (status == NN_OK) {
        status = nn_onnx_write(net->description, bind, nn_safetensors_tensor(file, 0),
                               nn_safetensors_count(file), NULL, 0, fd, &err);
    }
    if (status != NN_OK) {
        fail_msg("%s", err.text);
    }
    nn_safetensors_close(file);
    (void)close(fd);
    (void)unlink(weights);
}
