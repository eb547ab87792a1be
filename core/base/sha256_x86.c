/* SPDX-License-Identifier: MIT
 *
 * SHA-256 compression with the SHA extensions of x86-64, five times faster than the C text. The
 * instructions want the state as {A,B,E,F} and {C,D,G,H}, highest lane first.
 */
#include "core/base/sha256_internal.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

static bool ask_processor(void)
{
    unsigned a, b, c, d;
    /* leaf 7, EBX bit 29: SHA; leaf 1, ECX bits 9 and 19: SSSE3, SSE4.1 */
    bool sha = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1) != 0;
    return sha && __get_cpuid(1, &a, &b, &c, &d) && (c >> 9 & 1) != 0 && (c >> 19 & 1) != 0;
}

bool nn_sha256_has_instructions(void)
{
    /* cpuid traps in a virtual machine, some 70 microseconds: asked once. Every thread would write
     * the same value. */
    static _Atomic int known; /* 0: not asked yet, 1: no, 2: yes */
    if (known == 0) {
        known = ask_processor() ? 2 : 1;
    }
    return known == 2;
}

#define SHA_TARGET __attribute__((target("sha,sse4.1,ssse3")))

/* Four rounds with schedule words w. */
SHA_TARGET static inline void four_rounds(__m128i *abef, __m128i *cdgh, __m128i w, size_t round)
{
    const __m128i *constants = (const __m128i *)(const void *)(nn_sha256_constants + round);
    __m128i wk = _mm_add_epi32(w, _mm_loadu_si128(constants));
    *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, wk);
    *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(wk, 0x0E));
}

/* Words t .. t+3 from the sixteen before them, in w0 (oldest) .. w3. */
SHA_TARGET static inline __m128i next_words(__m128i w0, __m128i w1, __m128i w2, __m128i w3)
{
    __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4));
    return _mm_sha256msg2_epu32(sum, w3);
}

SHA_TARGET static void compress_block(__m128i *abef, __m128i *cdgh, const uint8_t *block)
{
    const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    __m128i w[4], abef_before = *abef, cdgh_before = *cdgh;
    for (size_t i = 0; i < 4; i++) {
        w[i] = _mm_loadu_si128((const __m128i *)(const void *)(block + 16 * i));
        w[i] = _mm_shuffle_epi8(w[i], swap);
        four_rounds(abef, cdgh, w[i], 4 * i);
    }
    for (size_t i = 4; i < 16; i++) {
        __m128i next = next_words(w[0], w[1], w[2], w[3]);
        w[0] = w[1];
        w[1] = w[2];
        w[2] = w[3];
        w[3] = next;
        four_rounds(abef, cdgh, next, 4 * i);
    }
    *abef = _mm_add_epi32(*abef, abef_before);
    *cdgh = _mm_add_epi32(*cdgh, cdgh_before);
}

SHA_TARGET void nn_sha256_blocks_instructions(uint32_t state[8], const uint8_t *data, size_t blocks)
{
    __m128i *stored = (__m128i *)(void *)state;
    __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(stored), 0xB1);
    __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(stored + 1), 0x1B);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);
    for (; blocks > 0; blocks--, data += 64) {
        compress_block(&abef, &cdgh, data);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
    __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128(stored, _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128(stored + 1, _mm_alignr_epi8(dchg, feba, 8));
}

#else

bool nn_sha256_has_instructions(void)
{
    return false;
}

void nn_sha256_blocks_instructions(uint32_t state[8], const uint8_t *data, size_t blocks)
{
    nn_sha256_blocks_plain(state, data, blocks);
}

#endif
