/* SPDX-License-Identifier: MIT
 *
 * The HTTP room in one include: request, response, query decoding, server.
 */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include "server/http/query.h"    /* IWYU pragma: export */
#include "server/http/request.h"  /* IWYU pragma: export */
#include "server/http/response.h" /* IWYU pragma: export */
#include "server/http/server.h"   /* IWYU pragma: export */

#endif
