/* SPDX-License-Identifier: MIT
 *
 * Ids: UUIDv7 (RFC 9562), written as 32 lowercase hex digits. Their order is about that of their
 * making.
 */
#ifndef SV_BASE_IDS_H
#define SV_BASE_IDS_H

#include <stdbool.h>

enum { SV_ID_SIZE = 33 }; /* 32 digits and NUL */

/* A new id. Never fails: the kernel's random numbers are there before any process of ours. */
void sv_id_make(char out_id[SV_ID_SIZE]);

/* true for exactly 32 lowercase hex digits; NULL is false. */
bool sv_id_is_valid(const char *text);

#endif
