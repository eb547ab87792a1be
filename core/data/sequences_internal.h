/* SPDX-License-Identifier: MIT
 *
 * The prepared sequence set as bytes: its header, and the layout that follows from it.
 */
#ifndef NN_DATA_SEQUENCES_INTERNAL_H
#define NN_DATA_SEQUENCES_INTERNAL_H

#include "core/data/sections_internal.h"
#include "core/data/sequences.h"

#define NN_SEQUENCES_VERSION 1
/* Caps of what a file may declare; all products of them fit 64 bits. */
#define NN_SEQUENCES_COLUMNS_MAX 65536

/* 512 bytes, little-endian. */
struct nn_sequences_header {
    char magic[8]; /* "NNSEQS\r\n" */
    uint32_t version;
    uint32_t header_crc; /* CRC-32 of the header with this field zero */
    uint64_t count;
    uint64_t steps;
    uint64_t inputs;
    uint64_t targets;
    uint64_t class_count;
    uint64_t names_bytes;
    uint64_t columns_bytes;
    uint64_t classes_bytes;
    uint64_t options_bytes; /* with the NUL */
    uint64_t file_bytes;
    uint32_t payload_crc; /* CRC-32 of everything behind the header */
    uint32_t unused;
    uint8_t digest[NN_DIGEST_BYTES];
    uint8_t padding[376];
};
_Static_assert(sizeof(struct nn_sequences_header) == NN_SEQUENCES_HEADER_BYTES, "header size");
_Static_assert(offsetof(struct nn_sequences_header, header_crc) == NN_SECTION_CRC_OFFSET, "CRC");

extern const struct nn_section_format nn_sequences_format;

/* Fills the offsets from the sizes in the header; false when a product does not fit. */
NN_MUST_CHECK bool nn_sequences_layout_of(const struct nn_sequences_header *header,
                                          struct nn_sequences_layout *out_layout);

#endif
