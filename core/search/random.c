/* SPDX-License-Identifier: MIT
 *
 * Grid and random search.
 *
 * A space that can be listed is drawn from without putting back: each point gets the key
 * -log(1 - u) / share, u being its own random number, and points come in the order of their keys,
 * which is that of draws by share (Efraimidis, Spirakis 2006). A larger one is drawn from until a
 * point is new; a continuum has no doubles to speak of.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "core/search/axis_internal.h"

enum { LISTED = 65536, /* most points that get a key each */ DRAWN = 0, KEYED = 1 };

size_t nn_search_count(const struct nn_search_space *space)
{
    size_t n = 1;
    for (size_t i = 0; i < space->count; i++) {
        size_t m = nn_search_axis_count(&space->axes[i]);
        if (m == SIZE_MAX || !nn_size_mul(n, m, &n)) {
            return SIZE_MAX;
        }
    }
    return n;
}

void nn_search_grid(const struct nn_search_space *space, size_t index, double *out_point)
{
    for (size_t i = space->count; i-- > 0;) {
        size_t m = nn_search_axis_count(&space->axes[i]);
        out_point[i] = nn_search_axis_value(&space->axes[i], index % m);
        index /= m;
    }
}

struct keyed {
    double key;
    size_t index;
};

static int compare_keys(const void *a, const void *b)
{
    const struct keyed *left = a, *right = b;
    int by_key = (left->key > right->key) - (left->key < right->key);
    return by_key != 0 ? by_key : (left->index > right->index) - (left->index < right->index);
}

static enum nn_status draw_listed(const struct nn_search_space *space, uint64_t seed, size_t n,
                                  size_t count, double *out_points, struct nn_error *err)
{
    struct keyed *rows = calloc(count, sizeof *rows);
    double *point = calloc(space->count + 1, sizeof *point);
    if (!rows || !point) {
        free(rows);
        free(point);
        return nn_fail(err, NN_ERR_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        struct nn_random random;
        double share = 1;
        nn_search_grid(space, i, point);
        for (size_t k = 0; k < space->count; k++) {
            share *= nn_search_axis_share(&space->axes[k], point[k]);
        }
        nn_random_init(&random, seed, NN_RANDOM_SEARCH, KEYED, i);
        rows[i] = (struct keyed){-log(1.0 - nn_random_uniform(&random)) / share, i};
    }
    qsort(rows, count, sizeof *rows, compare_keys);
    for (size_t i = 0; i < n; i++) {
        nn_search_grid(space, rows[i].index, out_points + i * space->count);
    }
    free(rows);
    free(point);
    return NN_OK;
}

static bool stands_before(const double *points, size_t n, size_t axes)
{
    const double *point = points + n * axes;
    for (size_t i = 0; i < n; i++) {
        if (memcmp(points + i * axes, point, axes * sizeof *point) == 0) {
            return true;
        }
    }
    return false;
}

static void draw(const struct nn_search_space *space, struct nn_random *random, double *out_point)
{
    for (size_t i = 0; i < space->count; i++) {
        out_point[i] = nn_search_axis_at(&space->axes[i], nn_random_uniform(random));
    }
}

enum nn_status nn_search_random(const struct nn_search_space *space, uint64_t seed, size_t n,
                                double *out_points, struct nn_error *err)
{
    size_t count = nn_search_count(space);
    NN_ASSERT(n <= count);
    if (count <= LISTED) {
        return draw_listed(space, seed, n, count, out_points, err);
    }
    for (size_t i = 0; i < n; i++) {
        struct nn_random random;
        nn_random_init(&random, seed, NN_RANDOM_SEARCH, DRAWN, i);
        do {
            draw(space, &random, out_points + i * space->count);
        } while (count != SIZE_MAX && stands_before(out_points, i, space->count));
    }
    return NN_OK;
}
