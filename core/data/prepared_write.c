/* SPDX-License-Identifier: MIT
 *
 * Writing a prepared set: one pass over the sections, checksum and digest on the way, the header
 * last, so that a file that was cut off in the middle can never be opened.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "core/base/sha256.h"
#include "core/data/prepared_internal.h"

#define BUFFER_BYTES ((size_t)1 << 20)

/* Bytes of the character at p, 0 when it is malformed or NUL. */
static size_t character_size(const unsigned char *p, size_t left)
{
    unsigned char c = *p;
    if (c == 0 || (c >= 0x80 && c < 0xC2) || c > 0xF4) {
        return 0;
    }
    size_t size = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    /* the second byte excludes overlong forms, surrogates and what is above U+10FFFF */
    unsigned char low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
    unsigned char high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
    if (size > left || (size > 1 && (p[1] < low || p[1] > high))) {
        return 0;
    }
    for (size_t i = 2; i < size; i++) {
        if ((p[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return size;
}

bool nn_text_is_utf8(const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text;
    while (n > 0) {
        size_t size = character_size(p, n);
        if (size == 0) {
            return false;
        }
        p += size;
        n -= size;
    }
    return true;
}

struct writer {
    FILE *file;
    uint64_t at;
    uint32_t crc;
    struct nn_sha256 digest;
    bool failed;
};

static void put(struct writer *w, const void *data, size_t n)
{
    w->failed = w->failed || fwrite(data, 1, n, w->file) != n;
    w->crc = (uint32_t)crc32_z(w->crc, data, n);
    w->at += n;
}

/* Counts for the data digest too. */
static void put_data(struct writer *w, const void *data, size_t n)
{
    put(w, data, n);
    nn_sha256_update(&w->digest, data, n);
}

static void pad_to(struct writer *w, uint64_t offset)
{
    static const uint8_t zeros[4096];
    NN_ASSERT(offset >= w->at && offset - w->at <= sizeof zeros);
    put(w, zeros, (size_t)(offset - w->at));
}

static void put_u64(struct writer *w, uint64_t value)
{
    put_data(w, &value, sizeof value);
}

static void put_items(struct writer *w, const struct nn_prepared_draft *d,
                      const struct nn_prepared_layout *l)
{
    uint64_t end = 0;
    pad_to(w, l->labels);
    for (size_t i = 0; i < d->count; i++) {
        put_data(w, &d->items[i].label, sizeof d->items[i].label);
    }
    pad_to(w, l->parts);
    for (size_t i = 0; i < d->count; i++) {
        put_data(w, &(uint8_t){(uint8_t)d->items[i].part}, 1);
    }
    pad_to(w, l->digests);
    for (size_t i = 0; i < d->count; i++) {
        put_data(w, d->items[i].digest, NN_DIGEST_BYTES);
    }
    pad_to(w, l->name_ends);
    for (size_t i = 0; i < d->count; i++) {
        end += strlen(d->items[i].name) + 1;
        put_u64(w, end);
    }
    pad_to(w, l->names);
    for (size_t i = 0; i < d->count; i++) {
        put_data(w, d->items[i].name, strlen(d->items[i].name) + 1);
    }
}

static void put_rest(struct writer *w, const struct nn_prepared_draft *d,
                     const struct nn_prepared_layout *l)
{
    uint64_t end = 0;
    pad_to(w, l->class_ends);
    for (size_t k = 0; k < d->class_count; k++) {
        end += strlen(d->classes[k]) + 1;
        put_u64(w, end);
    }
    pad_to(w, l->class_names);
    for (size_t k = 0; k < d->class_count; k++) {
        put_data(w, d->classes[k], strlen(d->classes[k]) + 1);
    }
    pad_to(w, l->options);
    put(w, d->options, strlen(d->options) + 1);
    pad_to(w, l->pixels);
    for (size_t i = 0; i < d->count; i++) {
        put_data(w, d->items[i].pixels, (size_t)l->item_bytes);
    }
}

static enum nn_status check_draft(const struct nn_prepared_draft *d, struct nn_error *err)
{
    bool ok = d->count > 0 && d->count <= UINT32_MAX && d->height > 0 && d->width > 0 &&
              (d->channels == 1 || d->channels == 3) && d->class_count > 0 &&
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
        .options_bytes = strlen(d->options) + 1,
    };
    memcpy(h.magic, nn_prepared_magic, sizeof h.magic);
    for (size_t i = 0; i < d->count; i++) {
        h.names_bytes += strlen(d->items[i].name) + 1;
    }
    for (size_t k = 0; k < d->class_count; k++) {
        h.class_names_bytes += strlen(d->classes[k]) + 1;
    }
    return h;
}

static bool write_all(struct writer *w, const struct nn_prepared_draft *d,
                      struct nn_prepared_header *h, const struct nn_prepared_layout *l)
{
    static const struct nn_prepared_header blank;
    uint64_t shape[5] = {h->count, h->height, h->width, h->channels, h->class_count};
    w->failed = fwrite(&blank, sizeof blank, 1, w->file) != 1;
    w->at = sizeof blank;
    nn_sha256_init(&w->digest);
    nn_sha256_update(&w->digest, shape, sizeof shape);
    put_items(w, d, l);
    put_rest(w, d, l);
    nn_sha256_finish(&w->digest, h->digest);
    h->payload_crc = w->crc;
    h->file_bytes = l->file_bytes;
    h->header_crc = nn_prepared_header_crc(h);
    return !w->failed && fflush(w->file) == 0 && fseek(w->file, 0, SEEK_SET) == 0 &&
           fwrite(h, sizeof *h, 1, w->file) == 1 && fflush(w->file) == 0;
}

enum nn_status nn_prepared_write(const char *path, const struct nn_prepared_draft *draft,
                                 uint8_t out_digest[NN_DIGEST_BYTES], struct nn_error *err)
{
    struct writer w = {.crc = (uint32_t)crc32_z(0, NULL, 0)};
    struct nn_prepared_layout layout;
    enum nn_status status = check_draft(draft, err);
    if (status != NN_OK) {
        return status;
    }
    struct nn_prepared_header header = make_header(draft);
    if (!nn_prepared_layout_of(&header, &layout)) {
        return nn_fail(err, NN_ERR_LIMIT, "prepared set: too large");
    }
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    w.file = fd < 0 ? NULL : fdopen(fd, "wb");
    char *buffer = malloc(BUFFER_BYTES);
    if (!w.file || !buffer) {
        status = nn_fail(err, NN_ERR_IO, "cannot create the prepared set: %s", strerror(errno));
        goto cleanup;
    }
    setvbuf(w.file, buffer, _IOFBF, BUFFER_BYTES);
    if (!write_all(&w, draft, &header, &layout)) {
        status = nn_fail(err, NN_ERR_IO, "cannot write the prepared set: %s", strerror(errno));
    } else if (out_digest) {
        memcpy(out_digest, header.digest, NN_DIGEST_BYTES);
    }
cleanup:
    if (w.file) {
        fclose(w.file);
    } else if (fd >= 0) {
        close(fd);
    }
    if (status != NN_OK && fd >= 0) {
        unlink(path);
    }
    free(buffer);
    return status;
}
