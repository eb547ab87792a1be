/* SPDX-License-Identifier: MIT
 *
 * A network as an ONNX model: its layers in order; then the messages around them, whose lengths are
 * known by then, and the values of the tensors from where they are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/exchange/onnx_write_graph.h"

static enum nn_status put_all(int fd, const void *data, size_t n, struct nn_error *err)
{
    const char *at = data;
    while (n > 0) {
        ssize_t written = write(fd, at, n);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return nn_fail(err, NN_ERR_IO, "a network was not written: %s", strerror(errno));
        }
        at += written;
        n -= (size_t)written;
    }
    return NN_OK;
}

static enum nn_status file_write(const struct nn_onnx_writer *w, struct nn_bytes *model,
                                 const struct nn_bytes *frame, int fd, struct nn_error *err)
{
    size_t total = frame->size + w->nodes.size, head = 0;
    for (size_t i = 0; i < w->n_pieces; i++) {
        total += w->pieces[i].size;
    }
    nn_bytes_head(model, 7, total);
    if (model->failed || frame->failed) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to write a network");
    }
    if (total >= (size_t)1 << 31) {
        return nn_fail(err, NN_ERR_LIMIT, "an ONNX file cannot have 2 GiB or more");
    }
    enum nn_status status = put_all(fd, model->data, model->size, err);
    status = status == NN_OK ? put_all(fd, frame->data, frame->size, err) : status;
    status = status == NN_OK ? put_all(fd, w->nodes.data, w->nodes.size, err) : status;
    for (size_t i = 0; status == NN_OK && i < w->n_pieces; i++) {
        const struct nn_onnx_piece *piece = &w->pieces[i];
        bool is_head = piece->data == NULL;
        status = put_all(fd, is_head ? w->heads.data + head : piece->data, piece->size, err);
        head += is_head ? piece->size : 0;
    }
    return status;
}

static enum nn_status model_write(struct nn_onnx_writer *w, struct nn_onnx_graph *graph,
                                  const struct nn_network_bind *bind,
                                  const struct nn_file_pair *metadata, size_t n_metadata, int fd,
                                  struct nn_error *err)
{
    struct nn_bytes model = {0}, frame = {0};
    enum nn_status status = nn_onnx_layers_write(w, graph, err);
    if (status == NN_OK) {
        nn_onnx_graph_frame(graph, &frame);
        nn_onnx_model_frame(w, graph, bind, &model);
        for (size_t i = 0; i < n_metadata; i++) {
            nn_onnx_put_pair(&model, metadata[i].key, metadata[i].value);
        }
        status = file_write(w, &model, &frame, fd, err);
    }
    nn_bytes_deinit(&model);
    nn_bytes_deinit(&frame);
    return status;
}

enum nn_status nn_onnx_write(const struct nn_description *description,
                             const struct nn_network_bind *bind,
                             const struct nn_file_tensor *tensors, size_t n,
                             const struct nn_file_pair *metadata, size_t n_metadata, int fd,
                             struct nn_error *err)
{
    struct nn_onnx_writer w = {.tensors = tensors, .n_tensors = n};
    struct nn_onnx_graph graph = {.description = NULL};
    enum nn_status status = nn_arena_create(NULL, 0, &w.arena) == NN_OK
                                ? nn_onnx_graph_read(description, bind, &graph, err)
                                : nn_fail(err, NN_ERR_MEMORY, "no memory to write a network");
    if (status == NN_OK) {
        status = model_write(&w, &graph, bind, metadata, n_metadata, fd, err);
    }
    nn_onnx_graph_deinit(&graph);
    nn_bytes_deinit(&w.nodes);
    nn_bytes_deinit(&w.node);
    nn_bytes_deinit(&w.attribute);
    nn_bytes_deinit(&w.heads);
    free(w.pieces);
    nn_arena_destroy(w.arena);
    return status;
}
