/* SPDX-License-Identifier: MIT
 *
 * CSV, cell by cell.
 */
#include "server/api/csv_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool api_wants_csv(const struct http_request *req)
{
    return !http_accepts(req, "application/json") && http_accepts(req, "text/csv");
}

bool csv_begin(struct csv_writer *csv)
{
    *csv = (struct csv_writer){0};
    csv->out = open_memstream(&csv->text, &csv->size);
    return csv->out != NULL;
}

static void separate(struct csv_writer *csv)
{
    if (csv->row_begun) {
        (void)fputc(',', csv->out);
    }
    csv->row_begun = true;
}

void csv_text(struct csv_writer *csv, const char *text)
{
    separate(csv);
    if (!text || !text[0]) {
        return;
    }
    bool formula = strchr("=+-@\t\r", text[0]) != NULL;
    bool quote = strpbrk(text, ",\"\r\n") != NULL;
    (void)fputs(quote ? "\"" : "", csv->out);
    (void)fputs(formula ? "'" : "", csv->out);
    for (const char *c = text; *c; c++) {
        (void)fputs(*c == '"' ? "\"" : "", csv->out);
        (void)fputc(*c, csv->out);
    }
    (void)fputs(quote ? "\"" : "", csv->out);
}

void csv_integer(struct csv_writer *csv, int64_t value)
{
    separate(csv);
    (void)fprintf(csv->out, "%lld", (long long)value);
}

/* NaN and infinities by name. */
static bool write_special(struct csv_writer *csv, double value)
{
    if (isfinite(value)) {
        return false;
    }
    (void)fputs(isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity", csv->out);
    return true;
}

void csv_number(struct csv_writer *csv, double value)
{
    char text[40];
    separate(csv);
    if (write_special(csv, value)) {
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    (void)fputs(text, csv->out);
}

void csv_number_f32(struct csv_writer *csv, float value)
{
    char text[40];
    separate(csv);
    if (write_special(csv, (double)value)) {
        return;
    }
    for (int digits = 6; digits <= 9; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value) {
            break;
        }
    }
    (void)fputs(text, csv->out);
}

void csv_empty(struct csv_writer *csv)
{
    separate(csv);
}

void csv_end_row(struct csv_writer *csv)
{
    (void)fputs("\r\n", csv->out);
    csv->row_begun = false;
}

char *csv_finish(struct csv_writer *csv, size_t *out_size)
{
    bool failed = ferror(csv->out) != 0;
    if (fclose(csv->out) != 0 || failed) {
        free(csv->text);
        return NULL;
    }
    *out_size = csv->size;
    return csv->text;
}
