/* SPDX-License-Identifier: MIT
 *
 * A report as a table of plain text.
 */
#include "core/network/report.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/report_internal.h"

#define COLUMNS   8
#define CELL_SIZE 160

static const struct {
    const char *title;
    bool right; /* numbers end at the same place */
} TITLES[COLUMNS] = {
    {"#", true},           {"layer", false},     {"kind", false},         {"inputs", false},
    {"activation", false}, {"learnables", true}, {"multiply-adds", true}, {"bytes", true}};

const char *nn_report_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

void nn_report_size(const json_t *row, char out[NN_REPORT_SIZE_TEXT])
{
    const json_t *sides = json_object_get(row, "activation");
    size_t used = 0, i;
    json_t *side;
    if (!json_is_array(sides)) {
        (void)snprintf(out, NN_REPORT_SIZE_TEXT, "?");
        return;
    }
    json_array_foreach(sides, i, side)
    {
        used += (size_t)snprintf(out + used, NN_REPORT_SIZE_TEXT - used, "%s%lld", i ? "x" : "",
                                 (long long)json_integer_value(side));
    }
    (void)snprintf(out + used, NN_REPORT_SIZE_TEXT - used, " %s", nn_report_text(row, "format"));
}

char *nn_report_finish(FILE *out, char **text)
{
    bool failed = out && ferror(out) != 0;
    if (!out || fclose(out) != 0 || failed) {
        free(*text);
        *text = NULL;
    }
    return *text;
}

/* ---- cells ---- */

/* A text in one line, cut with "..." where it is too long. */
static void set_text(char *cell, const char *text)
{
    size_t n = strlen(text);
    (void)snprintf(cell, CELL_SIZE, "%s", text);
    if (n >= CELL_SIZE) {
        n = CELL_SIZE - 4;
        while (n > 0 && ((unsigned char)cell[n] & 0xc0) == 0x80) {
            n--;
        }
        (void)snprintf(cell + n, 4, "...");
    }
    for (; *cell; cell++) {
        *cell = (unsigned char)*cell < ' ' ? ' ' : *cell;
    }
}

static void set_number(char *cell, const json_t *number)
{
    if (json_is_number(number)) {
        (void)snprintf(cell, CELL_SIZE, "%.0f", json_number_value(number));
    } else {
        (void)snprintf(cell, CELL_SIZE, "-");
    }
}

static void set_inputs(char *cell, const json_t *inputs)
{
    char text[2 * CELL_SIZE] = "";
    size_t i, used = 0;
    json_t *input;
    json_array_foreach(inputs, i, input)
    {
        if (used < sizeof text) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "",
                                     json_string_value(input));
        }
    }
    set_text(cell, text);
}

static void set_cells(char cells[COLUMNS][CELL_SIZE], size_t i, const json_t *row)
{
    (void)snprintf(cells[0], CELL_SIZE, "%zu", i + 1);
    set_text(cells[1], nn_report_text(row, "name"));
    set_text(cells[2], nn_report_text(row, "kind"));
    set_inputs(cells[3], json_object_get(row, "inputs"));
    nn_report_size(row, cells[4]);
    set_number(cells[5], json_object_get(row, "learnable_count"));
    set_number(cells[6], json_object_get(row, "multiply_adds"));
    set_number(cells[7], json_object_get(row, "activation_bytes"));
}

/* Letters, not bytes. */
static size_t width_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++) {
        n += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return n;
}

/* ---- the table ---- */

static void put_line(FILE *out, char cells[COLUMNS][CELL_SIZE], const size_t *widths)
{
    for (size_t c = 0; c < COLUMNS; c++) {
        size_t width = width_of(cells[c]), gap = widths[c] > width ? widths[c] - width : 0;
        bool last = c + 1 == COLUMNS;
        (void)fprintf(out, "%s%*s%s%*s", c ? "  " : "", TITLES[c].right ? (int)gap : 0, "",
                      cells[c], TITLES[c].right || last ? 0 : (int)gap, "");
    }
    (void)fputc('\n', out);
}

static void put_layers(FILE *out, const json_t *layers)
{
    char cells[COLUMNS][CELL_SIZE];
    size_t widths[COLUMNS], i;
    json_t *row;
    for (size_t c = 0; c < COLUMNS; c++) {
        widths[c] = strlen(TITLES[c].title);
    }
    json_array_foreach(layers, i, row)
    {
        set_cells(cells, i, row);
        for (size_t c = 0; c < COLUMNS; c++) {
            size_t width = width_of(cells[c]);
            widths[c] = width > widths[c] ? width : widths[c];
        }
    }
    for (size_t c = 0; c < COLUMNS; c++) {
        (void)snprintf(cells[c], CELL_SIZE, "%s", TITLES[c].title);
    }
    put_line(out, cells, widths);
    json_array_foreach(layers, i, row)
    {
        set_cells(cells, i, row);
        put_line(out, cells, widths);
    }
}

static void put_totals(FILE *out, const json_t *totals)
{
    static const struct {
        const char *key, *title;
    } ROWS[] = {{"learnables", "learnables"},
                {"states", "other parameters"},
                {"multiply_adds", "multiply-adds of a sample (or step)"},
                {"parameter_bytes", "bytes of the parameters"},
                {"training_bytes", "bytes while training"},
                {"inference_bytes", "bytes while predicting"},
                {"batch_size", "samples in a batch (B)"}};
    char cell[CELL_SIZE];
    (void)fputs(
        "\nS space, T time, C channel; each activation is of one sample, or step where there "
        "is T, and B of them make a batch\n\n",
        out);
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        set_number(cell, json_object_get(totals, ROWS[i].key));
        (void)fprintf(out, "%-36s %15s\n", ROWS[i].title, cell);
    }
}

static void put_issues(FILE *out, const json_t *issues)
{
    static const char *const PARTS[] = {"severity", "layer", "pointer", "text", "mend"};
    static const char *const BEFORE[] = {"", " ", " ", ": ", "; "};
    size_t i;
    json_t *issue;
    (void)fputs(json_array_size(issues) ? "\n" : "", out);
    json_array_foreach(issues, i, issue)
    {
        for (size_t k = 0; k < sizeof PARTS / sizeof PARTS[0]; k++) {
            char cell[CELL_SIZE];
            set_text(cell, nn_report_text(issue, PARTS[k]));
            (void)fprintf(out, "%s%s", cell[0] ? BEFORE[k] : "", cell);
        }
        json_int_t more = json_integer_value(json_object_get(issue, "more"));
        if (more > 0) {
            (void)fprintf(out, " (and %" JSON_INTEGER_FORMAT " more like it)", more);
        }
        (void)fputc('\n', out);
    }
}

char *nn_report_table(const json_t *report)
{
    char *text = NULL;
    size_t size = 0;
    const char *name = nn_report_text(report, "name");
    FILE *out = open_memstream(&text, &size);
    if (out) {
        const json_t *layers = json_object_get(report, "layers");
        (void)fprintf(out, "%s: %zu layers, %s\n\n", name[0] ? name : "network",
                      json_array_size(layers),
                      json_is_true(json_object_get(report, "valid")) ? "valid" : "not valid");
        put_layers(out, layers);
        put_totals(out, json_object_get(report, "totals"));
        put_issues(out, json_object_get(report, "issues"));
    }
    return nn_report_finish(out, &text);
}
