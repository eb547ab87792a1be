/* SPDX-License-Identifier: MIT
 *
 * The reader of tables: bytes -> cells -> rows. A row's text lies in one growing buffer; cells are
 * places in it until the row is whole.
 */
#include "core/data/table_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/data/archive_internal.h"
#include "core/data/import_internal.h"

#define CHUNK_BYTES ((size_t)1 << 16)
#define END         (-1)

enum ended { ENDED_CELL, ENDED_ROW, ENDED_TABLE, ENDED_BADLY };

struct place {
    size_t at;
    size_t length;
    bool quoted;
};

struct nn_table {
    struct nn_archive *stream;
    const char *name;
    struct nn_table_caps caps;
    enum nn_table_separator separator; /* never AUTO once open */
    size_t line;                       /* of the next byte */
    size_t row_line;
    size_t total;

    uint8_t *chunk;
    size_t chunk_at;
    size_t chunk_n;
    bool exhausted; /* no bytes behind this chunk */

    char *text;
    size_t n_text;
    size_t room_text;
    struct place *places;
    size_t n_places;
    size_t room_places;
    struct nn_table_cell *cells;
    size_t room_cells;

    struct nn_error *err; /* of the call in progress */
    enum nn_status status;
};

static enum ended fail(struct nn_table *t, enum nn_status status, size_t line, const char *what)
{
    t->status = nn_fail(t->err, status, "\"%.100s\", line %zu, field %zu: %.150s", t->name, line,
                        t->n_places + 1, what);
    return ENDED_BADLY;
}

/* ---------------------------------------------------------------------------------------- bytes */

static bool refill(struct nn_table *t)
{
    size_t got = 0;
    struct nn_error fault = {0};
    t->chunk_at = 0;
    t->chunk_n = 0;
    enum nn_status status = nn_archive_read_some(t->stream, t->chunk, CHUNK_BYTES, &got, &fault);
    if (status != NN_OK) {
        t->status =
            nn_fail(t->err, status, "\"%.100s\", line %zu: %.150s", t->name, t->line, fault.text);
        return false;
    }
    t->exhausted = got == 0;
    t->chunk_n = got;
    t->total += got;
    if (t->total > t->caps.total_bytes) {
        t->status = nn_fail(t->err, NN_ERR_LIMIT, "\"%.100s\" has more than %zu bytes", t->name,
                            t->caps.total_bytes);
        return false;
    }
    return true;
}

/* The next byte without taking it; END at the end and on failure (t->status). */
static int peek(struct nn_table *t)
{
    if (t->chunk_at == t->chunk_n && (t->exhausted || !refill(t) || t->exhausted)) {
        return END;
    }
    return t->chunk[t->chunk_at];
}

static int take(struct nn_table *t)
{
    int c = peek(t);
    t->chunk_at += c != END;
    return c;
}

/* One more byte of the row's text, of any value. */
static bool push(struct nn_table *t, char c)
{
    if (t->n_text == t->room_text) {
        size_t room = t->room_text ? 2 * t->room_text : 1024;
        char *text = realloc(t->text, room);
        if (!text) {
            (void)fail(t, NN_ERR_MEMORY, t->row_line, "no memory for the row");
            return false;
        }
        t->text = text;
        t->room_text = room;
    }
    t->text[t->n_text++] = c;
    return true;
}

/* One more byte of a cell. */
static bool append(struct nn_table *t, int c)
{
    if (t->n_text >= t->caps.row_bytes) {
        char text[64];
        snprintf(text, sizeof text, "the row has more than %zu bytes", t->caps.row_bytes);
        (void)fail(t, NN_ERR_LIMIT, t->row_line, text);
        return false;
    }
    if (c == 0) {
        (void)fail(t, NN_ERR_INVALID, t->line, "a NUL byte: no text file, or UTF-16");
        return false;
    }
    return push(t, (char)c);
}

/* ---------------------------------------------------------------------------------------- cells */

static bool is_blank(const struct nn_table *t, int c)
{
    return c == ' ' || (c == '\t' && t->separator != NN_TABLE_TAB);
}

static bool is_separator(const struct nn_table *t, int c)
{
    static const char characters[] = {
        [NN_TABLE_COMMA] = ',', [NN_TABLE_SEMICOLON] = ';', [NN_TABLE_TAB] = '\t'};
    return t->separator == NN_TABLE_BLANK ? is_blank(t, c) : c == characters[t->separator];
}

static void skip_blanks(struct nn_table *t)
{
    while (is_blank(t, peek(t))) {
        take(t);
    }
}

/* Takes what stands behind a cell: a separator, the end of the line, the end of the table. */
static enum ended take_end(struct nn_table *t)
{
    bool blanks = is_blank(t, peek(t));
    skip_blanks(t);
    int c = peek(t);
    if (t->status != NN_OK) {
        return ENDED_BADLY;
    }
    if (c == END) {
        return ENDED_TABLE;
    }
    if (c == '\n' || c == '\r') {
        take(t);
        if (c == '\r' && peek(t) == '\n') {
            take(t);
        }
        t->line++;
        return ENDED_ROW;
    }
    if (t->separator == NN_TABLE_BLANK) {
        return blanks ? ENDED_CELL : fail(t, NN_ERR_INVALID, t->line, "text behind a quoted field");
    }
    if (!is_separator(t, c)) {
        return fail(t, NN_ERR_INVALID, t->line, "text behind a quoted field");
    }
    take(t);
    return ENDED_CELL;
}

static bool read_plain(struct nn_table *t)
{
    int c = peek(t);
    while (c != END && c != '\n' && c != '\r' && !is_separator(t, c)) {
        if (!append(t, take(t))) {
            return false;
        }
        c = peek(t);
    }
    return t->status == NN_OK;
}

static bool read_quoted(struct nn_table *t)
{
    size_t begin = t->line;
    take(t);
    for (;;) {
        int c = take(t);
        if (c == END) {
            if (t->status == NN_OK) {
                (void)fail(t, NN_ERR_INVALID, begin, "a quoted field never ends");
            }
            return false;
        }
        if (c == '"' && peek(t) != '"') {
            return true;
        }
        if (c == '"') {
            take(t);
        }
        t->line += c == '\n' || (c == '\r' && peek(t) != '\n');
        if (!append(t, c)) {
            return false;
        }
    }
}

/* One cell and what ends it. */
static enum ended read_cell(struct nn_table *t)
{
    if (t->n_places >= t->caps.cells) {
        char text[64];
        snprintf(text, sizeof text, "the row has more than %zu fields", t->caps.cells);
        return fail(t, NN_ERR_LIMIT, t->row_line, text);
    }
    if (!nn_import_grow((void **)&t->places, &t->room_places, t->n_places, sizeof *t->places)) {
        return fail(t, NN_ERR_MEMORY, t->row_line, "no memory for the row");
    }
    skip_blanks(t);
    struct place place = {.at = t->n_text, .quoted = peek(t) == '"'};
    if (!(place.quoted ? read_quoted(t) : read_plain(t))) {
        return ENDED_BADLY;
    }
    while (!place.quoted && t->n_text > place.at && is_blank(t, t->text[t->n_text - 1])) {
        t->n_text--;
    }
    place.length = t->n_text - place.at;
    enum ended ended = push(t, '\0') ? take_end(t) : ENDED_BADLY;
    if (ended != ENDED_BADLY) {
        t->places[t->n_places++] = place;
    }
    return ended;
}

/* ----------------------------------------------------------------------------------------- rows */

/* A row of one plain empty cell is an empty line. */
static bool is_empty_line(const struct nn_table *t)
{
    return t->n_places == 1 && t->places[0].length == 0 && !t->places[0].quoted;
}

static enum ended read_row(struct nn_table *t)
{
    enum ended ended;
    t->n_text = 0;
    t->n_places = 0;
    t->row_line = t->line;
    skip_blanks(t);
    do {
        ended = read_cell(t);
    } while (ended == ENDED_CELL);
    return ended;
}

enum nn_status nn_table_next(struct nn_table *table, struct nn_table_row *out_row,
                             struct nn_error *err)
{
    struct nn_table *t = table;
    enum ended ended;
    t->err = err;
    do {
        ended = read_row(t);
    } while (ended == ENDED_ROW && is_empty_line(t));
    if (ended == ENDED_BADLY) {
        return t->status;
    }
    if (is_empty_line(t)) {
        *out_row = (struct nn_table_row){.line = t->line};
        return NN_OK;
    }
    while (t->room_cells < t->n_places) {
        if (!nn_import_grow((void **)&t->cells, &t->room_cells, t->room_cells, sizeof *t->cells)) {
            return nn_fail(err, NN_ERR_MEMORY, "no memory for the row");
        }
    }
    for (size_t i = 0; i < t->n_places; i++) {
        const struct place *place = &t->places[i];
        t->cells[i] = (struct nn_table_cell){t->text + place->at, place->length, place->quoted};
    }
    *out_row = (struct nn_table_row){.cells = t->cells, .n = t->n_places, .line = t->row_line};
    return NN_OK;
}

/* --------------------------------------------------------------------------------- open and close
 */

static void skip_mark(struct nn_table *t)
{
    if (peek(t) == 0xEF && t->chunk_n >= 3 && memcmp(t->chunk, "\xEF\xBB\xBF", 3) == 0) {
        t->chunk_at = 3;
    }
}

/* Looks ahead in the first chunk only; a first line longer than that has its separator in it. */
static enum nn_table_separator find_separator(const struct nn_table *t, char decimal)
{
    bool quoted = false;
    bool content = false;
    bool tab = false; /* behind content; counts once something follows it */
    bool seen[128] = {false};
    for (size_t i = t->chunk_at; i < t->chunk_n; i++) {
        uint8_t c = t->chunk[i];
        bool line_end = c == '\n' || c == '\r';
        if (line_end && content && !quoted) {
            break;
        }
        quoted = quoted != (c == '"');
        if (c == '\t' && content && !quoted) {
            tab = true;
        } else if (!line_end && c != ' ' && c != '\t') {
            content = true;
            seen['\t'] = seen['\t'] || tab;
            if (!quoted && c < sizeof seen) {
                seen[c] = true;
            }
        }
    }
    return seen[';']                     ? NN_TABLE_SEMICOLON
           : seen['\t']                  ? NN_TABLE_TAB
           : seen[','] && decimal != ',' ? NN_TABLE_COMMA
                                         : NN_TABLE_BLANK;
}

static enum nn_status open_stream(struct nn_table *t, const struct nn_import_file *file)
{
    static const struct nn_archive_caps no_caps = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    struct nn_archive_entry entry;
    bool end = false;
    enum nn_status status = nn_archive_open(file, NN_ARCHIVE_PLAIN, &no_caps, &t->stream, t->err);
    if (status == NN_OK) {
        status = nn_archive_next(t->stream, &entry, &end, t->err);
    }
    t->exhausted = end;
    return status;
}

enum nn_status nn_table_open(const struct nn_import_file *file, enum nn_table_separator separator,
                             char decimal, const struct nn_table_caps *caps,
                             struct nn_table **out_table, struct nn_error *err)
{
    struct nn_table *t = calloc(1, sizeof *t);
    uint8_t *chunk = malloc(CHUNK_BYTES);
    if (!t || !chunk) {
        free(t);
        free(chunk);
        return nn_fail(err, NN_ERR_MEMORY, "no memory to read a table");
    }
    t->name = file->name;
    t->caps = *caps;
    t->separator = separator;
    t->line = 1;
    t->chunk = chunk;
    t->err = err;
    t->status = open_stream(t, file);
    if (t->status == NN_OK) {
        skip_mark(t);
    }
    if (t->status != NN_OK) {
        enum nn_status status = t->status;
        nn_table_close(t);
        return status;
    }
    if (separator == NN_TABLE_AUTO) {
        t->separator = find_separator(t, decimal);
    }
    *out_table = t;
    return NN_OK;
}

void nn_table_close(struct nn_table *table)
{
    if (!table) {
        return;
    }
    nn_archive_close(table->stream);
    free(table->chunk);
    free(table->text);
    free(table->places);
    free(table->cells);
    free(table);
}
