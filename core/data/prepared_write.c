/* SPDX-License-Identifier: MIT
 *
 * Writing a prepared set: one pass over the sections, checksum and digest on the way, the header
 * last, so that a file that was cut off in the middle can never be opened.
 */
#include <string.h>

#include "core/data/prepared_internal.h"

static void put_all(struct nn_section_writer *w, const struct nn_prepared_draft *d,
                    const struct nn_prepared_layout *l)
{
    nn_section_pad(w, l->labels);
    for (size_t i = 0; i < d->count; i++) {
        nn_section_put_data(w, &d->items[i].label, sizeof d->items[i].label);
    }
    nn_section_pad(w, l->parts);
    for (size_t i = 0; i < d->count; i++) {
        nn_section_put_data(w, &(uint8_t){(uint8_t)d->items[i].part}, 1);
    }
    nn_section_pad(w, l->digests);
    for (size_t i = 0; i < d->count; i++) {
        nn_section_put_data(w, d->items[i].digest, NN_DIGEST_BYTES);
    }
    nn_section_put_texts(w, l->name_ends, l->names, d->count, &d->items[0].name,
                         sizeof d->items[0]);
    nn_section_put_texts(w, l->class_ends, l->class_names, d->class_count, d->classes,
                         sizeof d->classes[0]);
    nn_section_pad(w, l->options);
    nn_section_put(w, d->options, strlen(d->options) + 1);
    nn_section_pad(w, l->pixels);
    for (size_t i = 0; i < d->count; i++) {
        nn_section_put_data(w, d->items[i].pixels, (size_t)l->item_bytes);
    }
}

static enum nn_status check_draft(const struct nn_prepared_draft *d, struct nn_error *err)
{
    bool ok = d->count > 0 && d->count <= UINT32_MAX && d->height > 0 && d->width > 0 &&
              nn_prepared_channels_hold(d->value_bytes, d->channels) && d->class_count > 0 &&
              nn_text_is_utf8(d->options, strlen(d->options));
    for (size_t k = 0; ok && k < d->class_count; k++) {
        ok = nn_text_is_utf8(d->classes[k], strlen(d->classes[k]));
    }
    for (size_t i = 0; ok && i < d->count; i++) {
        const struct nn_prepared_item *item = &d->items[i];
        ok = item->label < d->class_count && (size_t)item->part < NN_PART_COUNT &&
             nn_text_is_utf8(item->name, strlen(item->name));
    }
    return ok ? NN_OK : nn_fail(err, NN_ERR_INVALID, "prepared set: a value is out of range");
}

static struct nn_prepared_header make_header(const struct nn_prepared_draft *d)
{
    struct nn_prepared_header h = {
        .version = NN_PREPARED_VERSION,
        .count = d->count,
        .height = d->height,
        .width = d->width,
        .channels = d->channels,
        .class_count = d->class_count,
        .value_bytes = d->value_bytes > 1 ? (uint32_t)d->value_bytes : 0,
        .options_bytes = strlen(d->options) + 1,
    };
    memcpy(h.magic, nn_prepared_format.magic, sizeof h.magic);
    for (size_t i = 0; i < d->count; i++) {
        h.names_bytes += strlen(d->items[i].name) + 1;
    }
    for (size_t k = 0; k < d->class_count; k++) {
        h.class_names_bytes += strlen(d->classes[k]) + 1;
    }
    return h;
}

enum nn_status nn_prepared_write(const char *path, const struct nn_prepared_draft *draft,
                                 uint8_t out_digest[NN_DIGEST_BYTES], struct nn_error *err)
{
    struct nn_section_writer w;
    struct nn_prepared_layout layout;
    enum nn_status status = check_draft(draft, err);
    if (status != NN_OK) {
        return status;
    }
    struct nn_prepared_header h = make_header(draft);
    if (!nn_prepared_layout_of(&h, &layout)) {
        return nn_fail(err, NN_ERR_LIMIT, "prepared set: too large");
    }
    for (size_t i = 0; i < draft->count; i++) {
        if (!nn_prepared_values_hold(&layout, draft->items[i].pixels)) {
            return nn_fail(err, NN_ERR_INVALID, "prepared set: a value is not finite");
        }
    }
    status = nn_section_writer_open(&w, path, sizeof h, err);
    if (status != NN_OK) {
        return status;
    }
    uint64_t shape[6] = {h.count, h.height, h.width, h.channels, h.class_count, h.value_bytes};
    nn_sha256_update(&w.digest, shape, (h.value_bytes ? 6 : 5) * sizeof shape[0]);
    put_all(&w, draft, &layout);
    nn_sha256_finish(&w.digest, h.digest);
    h.payload_crc = w.crc;
    h.file_bytes = layout.file_bytes;
    h.header_crc = nn_section_header_crc(&h, sizeof h);
    status = nn_section_writer_close(&w, path, &h, sizeof h, err);
    if (status == NN_OK && out_digest) {
        memcpy(out_digest, h.digest, NN_DIGEST_BYTES);
    }
    return status;
}
