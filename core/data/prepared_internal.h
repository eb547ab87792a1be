/* SPDX-License-Identifier: MIT
 *
 * The prepared set as bytes: its header, and the layout that follows from it. Writer and reader
 * share this and nothing else.
 */
#ifndef NN_DATA_PREPARED_INTERNAL_H
#define NN_DATA_PREPARED_INTERNAL_H

#include "core/data/prepared.h"
#include "core/data/sections_internal.h"

#define NN_PREPARED_VERSION 1

/* 512 bytes, little-endian. Offsets are not stored: they follow from the sizes, so that they cannot
 * lie. */
struct nn_prepared_header {
    char magic[8]; /* "NNPREP\r\n" */
    uint32_t version;
    uint32_t header_crc; /* CRC-32 of the header with this field zero */
    uint64_t count;
    uint64_t height;
    uint64_t width;
    uint64_t channels;
    uint64_t class_count;
    uint64_t names_bytes;
    uint64_t class_names_bytes;
    uint64_t options_bytes; /* with the NUL */
    uint64_t file_bytes;
    uint32_t payload_crc; /* CRC-32 of everything behind the header */
    uint32_t value_bytes; /* 0 is 1: files of before there were signals */
    uint8_t digest[NN_DIGEST_BYTES];
    uint8_t padding[384];
};
_Static_assert(sizeof(struct nn_prepared_header) == NN_PREPARED_HEADER_BYTES, "header size");
_Static_assert(offsetof(struct nn_prepared_header, header_crc) == NN_SECTION_CRC_OFFSET, "CRC");

extern const struct nn_section_format nn_prepared_format;

/* Whether a set may have so many channels of values of so many bytes. */
bool nn_prepared_channels_hold(uint64_t value_bytes, uint64_t channels);
/* Whether an item's values can be: floats are finite. pixels is aligned for them. */
bool nn_prepared_values_hold(const struct nn_prepared_layout *layout, const uint8_t *pixels);

/* Fills the offsets from the sizes in the header; false when a product does not fit. */
NN_MUST_CHECK bool nn_prepared_layout_of(const struct nn_prepared_header *header,
                                         struct nn_prepared_layout *out_layout);

#endif
