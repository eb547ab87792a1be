/* SPDX-License-Identifier: MIT
 *
 * SHA-256 (FIPS 180-4). The compression function exists twice: in C and with the SHA instructions.
 */
#include "core/base/sha256.h"

#include <string.h>

#include "core/base/sha256_internal.h"

const uint32_t nn_sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int bits)
{
    return x >> bits | x << (32 - bits);
}

static uint32_t load_big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store_big_endian(uint8_t *p, uint32_t x)
{
    for (int i = 0; i < 4; i++) {
        p[i] = (uint8_t)(x >> (24 - 8 * i));
    }
}

static void schedule(uint32_t w[64], const uint8_t *block)
{
    for (int i = 0; i < 16; i++) {
        w[i] = load_big_endian(block + (size_t)4 * (size_t)i);
    }
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
}

static void compress_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64], s[8];
    schedule(w, block);
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t sum1 = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t t1 = s[7] + sum1 + choice + nn_sha256_constants[i] + w[i];
        uint32_t sum0 = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + sum0 + majority;
    }
    for (int i = 0; i < 8; i++) {
        state[i] += s[i];
    }
}

void nn_sha256_blocks_plain(uint32_t state[8], const uint8_t *data, size_t blocks)
{
    for (; blocks > 0; blocks--, data += 64) {
        compress_block(state, data);
    }
}

static void compress(struct nn_sha256 *hash, const uint8_t *data, size_t blocks)
{
    if (hash->instructions) {
        nn_sha256_blocks_instructions(hash->state, data, blocks);
    } else {
        nn_sha256_blocks_plain(hash->state, data, blocks);
    }
}

void nn_sha256_init(struct nn_sha256 *hash)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(hash->state, start, sizeof start);
    hash->total = 0;
    hash->instructions = nn_sha256_has_instructions();
}

void nn_sha256_update(struct nn_sha256 *hash, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    size_t held = (size_t)(hash->total % 64);
    if (size == 0) {
        return;
    }
    hash->total += size;
    if (held > 0) {
        size_t part = size < 64 - held ? size : 64 - held;
        memcpy(hash->block + held, bytes, part);
        bytes += part;
        size -= part;
        if (held + part < 64) {
            return;
        }
        compress(hash, hash->block, 1);
    }
    compress(hash, bytes, size / 64);
    if (size % 64 > 0) {
        memcpy(hash->block, bytes + size / 64 * 64, size % 64);
    }
}

void nn_sha256_finish(struct nn_sha256 *hash, uint8_t out_digest[NN_SHA256_SIZE])
{
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = hash->total * 8;
    size_t held = (size_t)(hash->total % 64);
    uint8_t length[8];
    store_big_endian(length, (uint32_t)(bits >> 32));
    store_big_endian(length + 4, (uint32_t)bits);
    nn_sha256_update(hash, padding, held < 56 ? 56 - held : 120 - held);
    nn_sha256_update(hash, length, sizeof length);
    for (size_t i = 0; i < 8; i++) {
        store_big_endian(out_digest + 4 * i, hash->state[i]);
    }
}

void nn_sha256_of(const void *data, size_t size, uint8_t out_digest[NN_SHA256_SIZE])
{
    struct nn_sha256 hash;
    nn_sha256_init(&hash);
    nn_sha256_update(&hash, data, size);
    nn_sha256_finish(&hash, out_digest);
}

void nn_sha256_hex(const uint8_t digest[NN_SHA256_SIZE], char out_hex[NN_SHA256_HEX])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < NN_SHA256_SIZE; i++) {
        out_hex[2 * i] = digits[digest[i] >> 4];
        out_hex[2 * i + 1] = digits[digest[i] & 15];
    }
    out_hex[NN_SHA256_HEX - 1] = '\0';
}
