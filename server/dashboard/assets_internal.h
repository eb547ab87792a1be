/* SPDX-License-Identifier: MIT
 *
 * The table of assets, made by the build (pack.py), sorted by path.
 */
#include <stddef.h>

/* One form in which an asset is sent; etag is its own, in quotes. */
struct dashboard_form {
    const void *bytes;
    size_t size;
    const char *etag;
};

struct dashboard_asset {
    const char *path; /* of the address: "/" or "/page/..." */
    const char *type; /* media type */
    struct dashboard_form plain, gzip;
};

extern const struct dashboard_asset dashboard_assets[];
extern const size_t dashboard_asset_count;

/* NULL: there is none. */
const struct dashboard_asset *dashboard_asset_find(const char *path);
