/* SPDX-License-Identifier: MIT
 *
 * Tables of text.
 */
#include <stdlib.h>
#include <string.h>

#include "server/cli/cli_internal.h"

/* Characters of UTF-8, as a terminal counts most of them. */
static size_t text_width(const char *text)
{
    size_t width = 0;
    for (; *text; text++) {
        width += ((unsigned char)*text & 0xC0) != 0x80;
    }
    return width;
}

static void print_cell(FILE *out, const char *text, size_t width, bool right, bool last)
{
    size_t used = text_width(text);
    int pad = (int)(width > used ? width - used : 0);
    if (right) {
        (void)fprintf(out, "%*s%s", pad, "", text);
    } else {
        (void)fprintf(out, "%s%*s", text, last ? 0 : pad, "");
    }
    (void)fputs(last ? "\n" : "  ", out);
}

void cli_table_print(FILE *out, const char *const *cells, size_t n_rows, size_t n_columns,
                     const bool *right)
{
    size_t *widths = calloc(n_columns + 1, sizeof *widths);
    for (size_t i = 0; widths && i < n_rows * n_columns; i++) {
        size_t width = text_width(cells[i]);
        size_t *column = &widths[i % n_columns];
        *column = width > *column ? width : *column;
    }
    for (size_t i = 0; widths && i < n_rows * n_columns; i++) {
        size_t column = i % n_columns;
        print_cell(out, cells[i], widths[column], right[column], column + 1 == n_columns);
    }
    free(widths);
}

char *cli_cell(const json_t *value)
{
    char text[64];
    if (!value || json_is_null(value)) {
        return strdup("-");
    }
    if (json_is_string(value)) {
        return cli_plain(json_string_value(value), "");
    }
    if (json_is_real(value)) {
        (void)snprintf(text, sizeof text, "%.4g", json_real_value(value));
        return strdup(text);
    }
    char *json = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    char *plain = json ? cli_plain(json, "") : NULL;
    free(json);
    return plain;
}

/* ---------------------------------------------------------------------- tables of documents */

struct grid {
    char **cells;
    size_t n, capacity;
    bool failed;
};

static void grid_add_take(struct grid *grid, char *text)
{
    if (grid->n == grid->capacity) {
        size_t capacity = grid->capacity ? 2 * grid->capacity : 64;
        char **cells = realloc(grid->cells, capacity * sizeof *cells);
        if (!cells) {
            free(text);
            grid->failed = true;
            return;
        }
        grid->cells = cells;
        grid->capacity = capacity;
    }
    grid->failed = grid->failed || !text;
    grid->cells[grid->n++] = text;
}

static void grid_deinit(struct grid *grid)
{
    for (size_t i = 0; i < grid->n; i++) {
        free(grid->cells[i]);
    }
    free(grid->cells);
}

void cli_rows_print(const json_t *items, const char *const *keys, size_t n_keys, const bool *right,
                    FILE *out)
{
    struct grid grid = {0};
    for (size_t k = 0; k < n_keys; k++) {
        grid_add_take(&grid, strdup(keys[k]));
    }
    for (size_t i = 0; i < json_array_size(items); i++) {
        for (size_t k = 0; k < n_keys; k++) {
            grid_add_take(&grid, cli_cell(json_object_get(json_array_get(items, i), keys[k])));
        }
    }
    if (!grid.failed) {
        cli_table_print(out, (const char *const *)grid.cells, grid.n / n_keys, n_keys, right);
    }
    grid_deinit(&grid);
}

/* "0.8912 [0.885, 0.897]" with its 95 % interval, or "-". */
static char *metric_cell(const json_t *metric)
{
    const json_t *value = json_object_get(metric, "value");
    const json_t *low = json_object_get(metric, "low");
    const json_t *high = json_object_get(metric, "high");
    char text[96];
    if (!json_is_number(value)) {
        return cli_cell(value);
    }
    if (!json_is_number(low) || !json_is_number(high)) {
        (void)snprintf(text, sizeof text, "%.4f", json_number_value(value));
    } else {
        (void)snprintf(text, sizeof text, "%.4f [%.3f, %.3f]", json_number_value(value),
                       json_number_value(low), json_number_value(high));
    }
    return strdup(text);
}

static char *seconds_cell(const json_t *value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.1f", json_number_value(value));
    return strdup(text);
}

/* The columns of a terminal's width: the headline metric, the same of the other parts, their
 * losses, and the job's own. The rest is in the service's own table. New reference. */
static json_t *choose_metrics(const json_t *results)
{
    const char *headline = json_string_value(json_object_get(results, "headline_metric"));
    const char *metric = headline ? strchr(headline, '_') : NULL;
    const json_t *all = json_object_get(results, "metrics");
    const char *const wanted[] = {metric ? metric : "", "_loss"};
    json_t *chosen = json_array();
    for (size_t w = 0; w < 2; w++) {
        for (size_t i = 0; i < json_array_size(all); i++) {
            const char *name = json_string_value(json_array_get(all, i));
            const char *rest = name ? strchr(name, '_') : NULL;
            if (rest && strcmp(rest, wanted[w]) == 0) {
                (void)json_array_append_new(chosen, json_string(name));
            }
        }
    }
    const json_t *custom = json_object_get(results, "custom_metrics");
    for (size_t i = 0; i < json_array_size(custom); i++) {
        (void)json_array_append(chosen, json_array_get(custom, i));
    }
    return chosen;
}

/* Why a metric has no value, below the table. */
static void print_warnings(const json_t *items, FILE *out)
{
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *trial = json_array_get(items, i);
        const json_t *warnings = json_object_get(trial, "warnings");
        for (size_t k = 0; k < json_array_size(warnings); k++) {
            const json_t *warning = json_array_get(warnings, k);
            const char *part = json_string_value(json_object_get(warning, "part"));
            const char *metric = json_string_value(json_object_get(warning, "metric"));
            const char *text = json_string_value(json_object_get(warning, "text"));
            (void)fprintf(out, "trial %lld: %s_%s has no value: %s\n",
                          (long long)json_integer_value(json_object_get(trial, "index")),
                          part ? part : "", metric ? metric : "", text ? text : "");
        }
    }
}

/* Why some rows are not to be compared, below the table. */
static void print_targets(const json_t *results, FILE *out)
{
    const json_t *names = json_object_get(results, "target_parameters");
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        char *plain = name ? cli_plain(name, "") : NULL;
        (void)fprintf(out,
                      "trials that differ in %s have different targets: do not compare their "
                      "errors\n",
                      plain ? plain : "it");
        free(plain);
    }
}

static void add_head(struct grid *grid, const json_t *first, const json_t *metrics)
{
    const char *key;
    json_t *value;
    grid_add_take(grid, strdup("trial"));
    json_object_foreach(json_object_get(first, "parameters"), key, value)
    {
        grid_add_take(grid, cli_plain(key, ""));
    }
    grid_add_take(grid, strdup("seed"));
    grid_add_take(grid, strdup("state"));
    grid_add_take(grid, strdup("seconds"));
    for (size_t i = 0; i < json_array_size(metrics); i++) {
        const char *name = json_string_value(json_array_get(metrics, i));
        grid_add_take(grid, cli_plain(name ? name : "?", ""));
    }
}

static void add_trial(struct grid *grid, const json_t *first, const json_t *trial,
                      const json_t *metrics)
{
    const char *key;
    json_t *value;
    grid_add_take(grid, cli_cell(json_object_get(trial, "index")));
    json_object_foreach(json_object_get(first, "parameters"), key, value)
    {
        grid_add_take(grid, cli_cell(json_object_get(json_object_get(trial, "parameters"), key)));
    }
    grid_add_take(grid, cli_cell(json_object_get(trial, "seed")));
    grid_add_take(grid, cli_cell(json_object_get(trial, "state")));
    grid_add_take(grid, seconds_cell(json_object_get(trial, "seconds")));
    for (size_t i = 0; i < json_array_size(metrics); i++) {
        const char *name = json_string_value(json_array_get(metrics, i));
        grid_add_take(grid, metric_cell(json_object_get(json_object_get(trial, "metrics"), name)));
    }
}

static void print_results(const json_t *results, FILE *out)
{
    const json_t *items = json_object_get(results, "items");
    json_t *metrics = choose_metrics(results);
    const json_t *first = json_array_get(items, 0);
    struct grid grid = {0};
    size_t parameters = json_object_size(json_object_get(first, "parameters"));
    size_t n_columns = 4 + parameters + json_array_size(metrics);
    bool *right = calloc(n_columns, sizeof *right);
    add_head(&grid, first, metrics);
    for (size_t i = 0; i < json_array_size(items); i++) {
        add_trial(&grid, first, json_array_get(items, i), metrics);
    }
    if (right && !grid.failed) {
        right[0] = right[1 + parameters] = right[3 + parameters] = true;
        cli_table_print(out, (const char *const *)grid.cells, grid.n / n_columns, n_columns, right);
        print_warnings(items, out);
        print_targets(results, out);
    }
    free(right);
    grid_deinit(&grid);
    json_decref(metrics);
}

bool cli_results_print(struct cli_client *client, const char *job_id, FILE *out)
{
    char path[128];
    (void)snprintf(path, sizeof path, "/v1/jobs/%.64s/results", job_id);
    struct cli_request request = {.method = "GET", .path = path, .list = "items"};
    json_t *results = cli_call(client, &request);
    if (!results) {
        return false;
    }
    print_results(results, out);
    json_decref(results);
    return true;
}
