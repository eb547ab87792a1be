/* SPDX-License-Identifier: MIT
 *
 * Ranges and single pictures of a stored prepared set.
 */
#include "server/api/prepared_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/image/draw.h"
#include "core/image/image.h"
#include "server/store/blobs.h"

const char *const api_prepared_parts[] = {"train", "validation", "test", NULL};

enum sv_status api_prepared_range(const struct api_prepared *p, uint64_t offset, void *out,
                                  size_t size, struct sv_error *err)
{
    size_t done = 0, n = 1;
    while (done < size && n > 0) {
        enum sv_status st =
            store_blob_read(p->ctx->store, p->scope.project_id, p->dataset.prepared_blob_id,
                            (int64_t)(offset + done), (char *)out + done, size - done, &n, err);
        if (st != SV_OK) {
            return st;
        }
        done += n;
    }
    return done == size ? SV_OK : sv_fail(err, SV_ERR_INTERNAL, "a stored data set is cut off");
}

/* What both kinds of prepared sets have. */
static enum nn_status read_sequences_layout(const uint8_t *head, size_t size,
                                            struct api_prepared *p, struct nn_error *err)
{
    struct nn_sequences_layout l;
    enum nn_status status = nn_sequences_layout_read(head, size, &l, err);
    if (status == NN_OK) {
        p->first_steps = l.first_steps;
        p->layout = (struct nn_prepared_layout){.count = l.count,
                                                .class_count = l.class_count,
                                                .labels = l.labels,
                                                .parts = l.parts,
                                                .name_ends = l.name_ends,
                                                .names = l.names,
                                                .names_bytes = l.names_bytes};
    }
    return status;
}

enum sv_status api_prepared_open(struct api_ctx *ctx, const struct store_scope *scope,
                                 const char *dataset_id, struct api_prepared *p,
                                 struct sv_error *err)
{
    uint8_t head[NN_PREPARED_HEADER_BYTES];
    struct nn_error nn = {0};
    p->ctx = ctx;
    p->scope = *scope;
    enum sv_status st =
        store_dataset_get(ctx->store, &p->scope, dataset_id, &p->memory, &p->dataset, err);
    if (st == SV_OK && strcmp(p->dataset.state, "ready") != 0) {
        st = sv_fail(err, SV_ERR_WRONG_STATE, "the data set is %s, not ready", p->dataset.state);
    }
    if (st == SV_OK) {
        st = api_prepared_range(p, 0, head, sizeof head, err);
    }
    if (st != SV_OK) {
        return st;
    }
    enum nn_status status = strcmp(p->dataset.kind, "sequences") == 0
                                ? read_sequences_layout(head, sizeof head, p, &nn)
                                : nn_prepared_layout_read(head, sizeof head, &p->layout, &nn);
    return status == NN_OK ? SV_OK : sv_fail(err, SV_ERR_INTERNAL, "%s", nn.text);
}

/* The item as a picture, in place of its values: those of pixels are one. */
static enum sv_status as_picture(const struct nn_prepared_layout *l, uint8_t **inout_pixels,
                                 size_t out_shape[3], struct sv_error *err)
{
    if (l->value_bytes == 1) {
        memcpy(out_shape, (size_t[3]){l->height, l->width, l->channels}, 3 * sizeof *out_shape);
        return SV_OK;
    }
    uint8_t *plot = malloc((size_t)NN_PLOT_HEIGHT * NN_PLOT_WIDTH);
    if (!plot) {
        return api_no_memory(err);
    }
    nn_draw_plot((const float *)(const void *)*inout_pixels, l->height * l->width, l->channels,
                 plot);
    free(*inout_pixels);
    *inout_pixels = plot;
    memcpy(out_shape, (size_t[3]){NN_PLOT_HEIGHT, NN_PLOT_WIDTH, 1}, 3 * sizeof *out_shape);
    return SV_OK;
}

enum sv_status api_prepared_png(const struct api_prepared *p, uint64_t n, char **out_bytes,
                                size_t *out_size, struct sv_error *err)
{
    const struct nn_prepared_layout *l = &p->layout;
    uint8_t *png = NULL;
    struct nn_error nn = {0};
    uint8_t *pixels = malloc(l->item_bytes);
    if (!pixels) {
        return api_no_memory(err);
    }
    enum sv_status st =
        api_prepared_range(p, l->pixels + n * l->item_bytes, pixels, l->item_bytes, err);
    size_t shape[3] = {0};
    st = st == SV_OK ? as_picture(l, &pixels, shape, err) : st;
    if (st == SV_OK &&
        nn_image_encode_png(pixels, shape[0], shape[1], shape[2], &png, out_size, &nn) != NN_OK) {
        st = sv_fail(err, SV_ERR_INTERNAL, "%s", nn.text);
    }
    free(pixels);
    *out_bytes = (char *)png;
    return st;
}

/* To be freed. */
static enum sv_status read_name(const struct api_prepared *p, uint64_t n, char **out_name,
                                struct sv_error *err)
{
    const struct nn_prepared_layout *l = &p->layout;
    uint64_t ends[2] = {0};
    uint64_t first = n > 0 ? n - 1 : 0;
    enum sv_status st =
        api_prepared_range(p, l->name_ends + first * sizeof ends[0], n > 0 ? ends : ends + 1,
                           (n > 0 ? 2 : 1) * sizeof ends[0], err);
    if (st == SV_OK && (ends[1] < ends[0] || ends[1] > l->names_bytes)) {
        st = sv_fail(err, SV_ERR_INTERNAL, "a stored data set is damaged");
    }
    char *name = st == SV_OK ? calloc(1, ends[1] - ends[0] + 1) : NULL;
    if (st == SV_OK) {
        st = name ? api_prepared_range(p, l->names + ends[0], name, ends[1] - ends[0], err)
                  : api_no_memory(err);
    }
    if (st != SV_OK) {
        free(name);
        return st;
    }
    *out_name = name;
    return SV_OK;
}

enum sv_status api_prepared_facts(const struct api_prepared *p, uint64_t n, json_t **out_facts,
                                  struct sv_error *err)
{
    const struct nn_prepared_layout *l = &p->layout;
    uint32_t label = 0;
    uint8_t part = 0;
    char *name = NULL;
    enum sv_status st =
        api_prepared_range(p, l->labels + n * sizeof label, &label, sizeof label, err);
    if (st == SV_OK) {
        st = api_prepared_range(p, l->parts + n, &part, sizeof part, err);
    }
    if (st == SV_OK) {
        st = read_name(p, n, &name, err);
    }
    if (st == SV_OK) {
        json_auto_t *report = api_document(p->dataset.report);
        const json_t *class = json_array_get(json_object_get(report, "classes"), label);
        *out_facts = json_pack("{s:I, s:o, s:s, s:O?}", "item", (json_int_t)n, "name",
                               jx_text(name, SIZE_MAX), "part", api_prepared_parts[part % 3],
                               "true", json_object_get(class, "name"));
        st = *out_facts ? SV_OK : api_no_memory(err);
    }
    free(name);
    return st;
}
