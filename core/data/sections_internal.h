/* SPDX-License-Identifier: MIT
 *
 * Files of ours made of a header and sections behind it (prepared.h, sequences.h): where the
 * sections lie, how they are written, and the checks that both readers need. Offsets are never
 * stored: they follow from the sizes in the header, so that they cannot lie.
 */
#ifndef NN_DATA_SECTIONS_INTERNAL_H
#define NN_DATA_SECTIONS_INTERNAL_H

#include <stdio.h>

#include "core/base/base.h"
#include "core/base/sha256.h"

#define NN_SECTION_ALIGNMENT 64
#define NN_SECTION_PAGE      4096

/* What the header of such a file begins with: 8 bytes of magic, uint32 version, CRC-32 of the
 * header with the CRC itself as 0. */
struct nn_section_format {
    const char *what; /* "prepared set", in errors */
    char magic[8];
    uint32_t version; /* that this build writes and reads */
    size_t header_bytes;
};
#define NN_SECTION_CRC_OFFSET 12

/* The CRC of a header as it stands in it. */
uint32_t nn_section_header_crc(const void *header, size_t header_bytes);

/* Copies the header from the first `size` bytes of a file; NN_ERR_CORRUPT when they are fewer, of
 * another kind or version, or the CRC is wrong. */
NN_MUST_CHECK enum nn_status nn_section_header_read(const struct nn_section_format *format,
                                                    const uint8_t *bytes, size_t size,
                                                    void *out_header, struct nn_error *err);

/* Opens a file for reading. NN_ERR_IO. */
NN_MUST_CHECK enum nn_status nn_section_file_open(const struct nn_section_format *format,
                                                  const char *path, int *out_fd,
                                                  struct nn_error *err);
/* Maps a whole file, at least as long as a header; to be unmapped. NN_ERR_IO, NN_ERR_CORRUPT. */
NN_MUST_CHECK enum nn_status nn_section_file_map(const struct nn_section_format *format, int fd,
                                                 void **out_bytes, size_t *out_size,
                                                 struct nn_error *err);

/* Places a section of n x size bytes at the next multiple of `alignment` behind *at, which moves to
 * its end; false when that does not fit. */
NN_MUST_CHECK bool nn_section_place(uint64_t *at, uint64_t n, uint64_t size, uint64_t alignment,
                                    uint64_t *out_offset);

/* Element i of a section of uint64. */
uint64_t nn_section_u64(const uint8_t *bytes, uint64_t section, uint64_t i);

/* A list of texts is two sections: the end of each (uint64), and the NUL-terminated texts one
 * behind the other. Whether n of them fill the section of `size` bytes exactly and are UTF-8. */
NN_MUST_CHECK bool nn_section_texts_hold(const uint8_t *bytes, uint64_t ends, uint64_t n,
                                         uint64_t texts, uint64_t size);
/* Text i of a list that was checked; lives as long as the bytes. */
const char *nn_section_text(const uint8_t *bytes, uint64_t ends, uint64_t texts, size_t i);

/* Whether n bytes are well-formed UTF-8 without NUL (no surrogates, no overlong forms). */
bool nn_text_is_utf8(const char *text, size_t n);

/* One pass over the sections; checksum and data digest on the way. */
struct nn_section_writer {
    FILE *file;
    char *buffer;
    int fd;
    uint64_t at;
    uint32_t crc; /* CRC-32 of everything behind the header */
    struct nn_sha256 digest;
    bool failed;
};

/* Creates path, which must not exist, and leaves room for a header. NN_ERR_IO. */
NN_MUST_CHECK enum nn_status nn_section_writer_open(struct nn_section_writer *writer,
                                                    const char *path, size_t header_bytes,
                                                    struct nn_error *err);
/* Writes the header into its place and closes; the file is removed when anything failed
 * (NN_ERR_IO). */
NN_MUST_CHECK enum nn_status nn_section_writer_close(struct nn_section_writer *writer,
                                                     const char *path, const void *header,
                                                     size_t header_bytes, struct nn_error *err);

void nn_section_put(struct nn_section_writer *writer, const void *data, size_t n);
/* The same for bytes that are part of the data digest. */
void nn_section_put_data(struct nn_section_writer *writer, const void *data, size_t n);
/* Zeros up to a section's offset, less than NN_SECTION_PAGE of them. */
void nn_section_pad(struct nn_section_writer *writer, uint64_t offset);

/* Both sections of a list of texts; text i is the `const char *` at first + i * stride bytes. */
void nn_section_put_texts(struct nn_section_writer *writer, uint64_t ends, uint64_t texts, size_t n,
                          const void *first, size_t stride);

/* CRC-32 (zlib's) of n bytes. */
uint32_t nn_section_crc(const void *data, size_t n);

#endif
