/* SPDX-License-Identifier: MIT
 *
 * A posted window of a signal: as many samples as the network takes, without noise. One channel is
 * a list of numbers, several are a list of lists, one a sample.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/trial/question_internal.h"

struct posted {
    const json_t *signal;
};
static const struct jx_field SAMPLE_ITEM = {.name = "sample", .type = JX_ANY};
static const struct jx_field POSTED_FIELDS[] = {
    {.name = "signal",
     .type = JX_ARRAY,
     .offset = offsetof(struct posted, signal),
     .items = &SAMPLE_ITEM,
     .min_items = 1,
     .max_items = 1048576,
     .required = true},
    JX_END,
};

static enum nn_status read_sample(const json_t *sample, size_t t, size_t channels, float *out,
                                  struct nn_error *err)
{
    char pointer[64];
    bool lone = channels == 1 && json_is_number(sample);
    jx_pointer_index("/signal", t, pointer, sizeof pointer);
    if (!lone && json_array_size(sample) != channels) {
        return nn_fail_at(err, NN_ERR_INVALID, pointer,
                          "sample %zu is not a number for each of %zu %s", t + 1, channels,
                          channels == 1 ? "channel" : "channels");
    }
    for (size_t c = 0; c < channels; c++) {
        const json_t *number = lone ? sample : json_array_get(sample, c);
        out[c] = (float)json_number_value(number);
        if (!json_is_number(number) || !isfinite(out[c])) {
            return nn_fail_at(err, NN_ERR_INVALID, pointer, "sample %zu is %s", t + 1,
                              json_is_number(number) ? "too large" : "not a number");
        }
    }
    return NN_OK;
}

static enum nn_status read_window(const json_t *signal, const struct nn_network_bind *bind,
                                  float *out, struct nn_error *err)
{
    enum nn_status status = NN_OK;
    if (json_array_size(signal) != bind->width) {
        return nn_fail_at(err, NN_ERR_INVALID, "/signal",
                          "the network takes windows of %zu samples, not %zu", bind->width,
                          json_array_size(signal));
    }
    for (size_t t = 0; status == NN_OK && t < bind->width; t++) {
        status = read_sample(json_array_get(signal, t), t, bind->channels, out + t * bind->channels,
                             err);
    }
    return status;
}

enum nn_status question_answer_signal(struct question *q, json_t **out, struct nn_error *err)
{
    struct posted posted = {0};
    json_t *body = NULL;
    const struct nn_network_bind bind = question_bind(q);
    float *window = calloc(bind.width * bind.channels, sizeof *window);
    enum nn_status status = window ? question_parse(q, POSTED_FIELDS, &body, &posted, err)
                                   : nn_fail(err, NN_ERR_MEMORY, "no memory for the window");
    if (status == NN_OK) {
        status = question_refuse(q, SV_ERR_INVALID_FIELD,
                                 read_window(posted.signal, &bind, window, err));
    }
    status = status == NN_OK ? question_load_network(q, &bind, 0, err) : status;
    if (status == NN_OK) {
        nn_network_load_f32(q->network, window, 1);
        nn_network_forward(q->network, 1, NN_PHASE_INFERENCE, NULL);
        *out = question_encode_classes(q, nn_network_output(q->network),
                                       nn_network_probabilities(q->network, 1));
    }
    json_decref(body);
    free(window);
    return status;
}

/* Items are stored as they were prepared, where values are finite (core/data/prepared.h). */
enum nn_status question_fit_window(struct question *q, struct nn_network_bind *out_bind,
                                   const void **out_values, struct nn_error *err)
{
    *out_bind = question_bind(q);
    size_t bytes = out_bind->height * out_bind->width * out_bind->channels * sizeof(float);
    if (strcmp(q->media_type, QUESTION_WINDOW_TYPE) != 0 || q->size != bytes) {
        return question_refuse(
            q, SV_ERR_WRONG_INPUT,
            nn_fail(err, NN_ERR_INVALID, "the network takes windows of signals: name an item"));
    }
    *out_values = q->body;
    return NN_OK;
}
