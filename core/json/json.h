/* SPDX-License-Identifier: MIT
 *
 * The one JSON decoder of the project. A struct is described once, by a table of fields; the table
 * decodes it (with the JSON pointer of every mistake), encodes it, fills its defaults and writes
 * its schema. Beside that: a guarded parser, numbers that survive NaN, dotted paths, canonical
 * text. Builds on jansson; reads no files and no environment.
 */
#ifndef NN_JSON_JSON_H
#define NN_JSON_JSON_H

#include <jansson.h>

#include "core/base/base.h"

#define JX_MAX_BYTES      ((size_t)1 << 20)
#define JX_MAX_DEPTH      32
#define JX_MAX_DUMP_DEPTH 64
#define JX_LIST_MAX       64

/* ------------------------------------------------------------------------------------ parsing */

struct jx_limits {
    size_t max_bytes; /* NN_ERR_LIMIT above it */
    size_t max_depth; /* nested arrays and objects; NN_ERR_LIMIT above it */
};

/* Parses n bytes (no terminator needed) into a new reference. limits NULL: the defaults above.
 * The top level must be an object or an array. Refused with NN_ERR_INVALID and a text that holds
 * line and column, never the bytes: duplicate keys, invalid UTF-8, \u0000, NaN literals, integers
 * beyond 64 bits, reals beyond double, trailing bytes. Deeper or longer than the limits:
 * NN_ERR_LIMIT, found by a scan before anything is allocated. */
NN_MUST_CHECK enum nn_status jx_parse(const void *bytes, size_t n, const struct jx_limits *limits,
                                      json_t **out, struct nn_error *err);

/* -------------------------------------------------------------------------------- field tables */

enum jx_type {
    JX_BOOL = 1, /* bool */
    JX_INT,      /* int64_t; 10.0 is taken as 10, 10.5 is refused */
    JX_SIZE,     /* size_t; as JX_INT, at least 0 */
    JX_UINT64,   /* uint64_t; an integer >= 0 or its decimal digits as a string (seeds) */
    JX_REAL,     /* double, finite, not subnormal: threads that flush those would read 0 */
    JX_STRING,   /* const char *, borrowed from the json_t; min and max count bytes */
    JX_CHARS,    /* char[size], copied; min and max count bytes, size - 1 is always a limit */
    JX_ENUM,     /* int, from the rows of `choices` */
    JX_INTS,     /* struct jx_ints */
    JX_REALS,    /* struct jx_reals */
    JX_OBJECT,   /* a nested struct, from the rows of `fields` */
    JX_ARRAY,    /* const json_t *, borrowed array; items checked against `items` when given */
    JX_MAP,      /* const json_t *, borrowed object with free keys; values checked as `items` */
    JX_ANY       /* const json_t *, borrowed; no check; NULL when absent */
};

struct jx_ints {
    size_t count;
    int64_t value[JX_LIST_MAX];
};

struct jx_reals {
    size_t count;
    double value[JX_LIST_MAX];
};

/* A name of an enumeration; a row with name NULL ends the list. */
struct jx_choice {
    const char *name;
    int value;
    const char *doc;
};

/* One field of a struct; a row with name NULL ends the table (JX_END). Rows are static constants.
 *
 * min and max bound: the number; each number of JX_INTS and JX_REALS; the bytes of a string.
 * Both 0 means no bound. min_items and max_items bound lists and maps (max 0: no bound; JX_INTS
 * and JX_REALS hold at most JX_LIST_MAX).
 * A field that is absent takes `fallback`, a JSON text ("0.9", "true", "\"sgdm\"", "[5, 5]"); it
 * needs no memory, so JX_STRING (use JX_CHARS), JX_ARRAY, JX_MAP and JX_ANY have none. Without a
 * fallback a field stays zero (NULL, 0, false). An absent JX_OBJECT takes its own table's defaults.
 * null is accepted where `nullable` is set and means: no value, whatever the fallback.
 */
struct jx_field {
    const char *name;
    enum jx_type type;
    size_t offset;
    size_t size;  /* JX_CHARS: bytes of the array */
    size_t given; /* JX_GIVEN(...): a bool set to whether there is a value (null and absent without
                     fallback: false); 0: no such bool */
    double min, max;
    bool above_min, below_max; /* the bound itself is excluded */
    size_t min_items, max_items;
    bool required, nullable;
    bool scalar_too; /* JX_INTS, JX_REALS: a lone number counts as a list of one */
    const char *fallback;
    const char *doc;  /* one sentence for the schema */
    const char *unit; /* "seconds", "" or NULL if none */
    const char *ref;  /* where a schema of its own stands, NULL if nowhere */
    const struct jx_choice *choices;
    const struct jx_field *fields;
    /* JX_ARRAY, JX_MAP: one row that describes an item; its name, offset and fallback are ignored.
     * Items that are objects are decoded by the caller, one by one. */
    const struct jx_field *items;
};

/* clang-format off */
#define JX_END {0}
/* clang-format on */
#define JX_GIVEN(type, member) (offsetof(type, member) + 1)

/* Called for every mistake found: unknown fields first, then in table order. text and pointer live
 * for the call. A text that begins with "unknown field" names a field that the table does not have
 * (and the nearest it has). */
typedef void (*jx_issue_fn)(void *ctx, const char *pointer, const char *text);

/* Decodes an object into `out`, a struct that the table describes (every described member is
 * written). `pointer` is the JSON pointer of `json` inside its document ("" for the document).
 * jx_decode stops at nothing but reports the first mistake: NN_ERR_INVALID, and `out` then holds
 * no meaning. jx_decode_all calls `issue` for each and returns how many there were.
 * Strings, arrays and maps are borrowed from `json`. */
NN_MUST_CHECK enum nn_status jx_decode(const struct jx_field *fields, const json_t *json,
                                       const char *pointer, void *out, struct nn_error *err);
size_t jx_decode_all(const struct jx_field *fields, const json_t *json, const char *pointer,
                     void *out, jx_issue_fn issue, void *ctx);

/* Fills `out` as decoding {} would; required fields stay zero. */
void jx_defaults(const struct jx_field *fields, void *out);

/* The struct as a full object, defaults included, in table order. NULL when out of memory. Absent
 * values (`given` false, or a NULL pointer) become null if nullable, else are left out. */
json_t *jx_encode(const struct jx_field *fields, const void *in);

/* JSON schema (draft 2020-12 subset: type, enum, minimum..., default, description) of the table:
 * {"type": "object", "additionalProperties": false, "properties": {...}, "required": [...]}. */
json_t *jx_schema(const struct jx_field *fields);

/* ----------------------------------------------------------------------------------- values out */

/* The number; NaN and the infinities as the strings "NaN", "Infinity", "-Infinity". Every number
 * that leaves the program goes through here. NULL only when out of memory. jx_number_f32 keeps the
 * nine digits that give a float back. */
json_t *jx_number(double value);
json_t *jx_number_f32(float value);
/* The reverse: a finite number or one of the three strings; false for anything else. */
NN_MUST_CHECK bool jx_number_get(const json_t *json, double *out);

/* n bytes of text (n = SIZE_MAX: up to the NUL) as a string; bytes that are not UTF-8, and NUL,
 * become U+FFFD, so that no file name or library text can make a document fail. */
json_t *jx_text(const char *text, size_t n);

/* ---------------------------------------------------------------------------------------- paths */

/* The value at a dotted path ("training.solver", "layers.0.name"), borrowed, or NULL. */
json_t *jx_path_get(const json_t *root, const char *path);
/* Puts `value` (transferred, even on failure) there; missing objects on the way are made, array
 * elements must exist. NN_ERR_INVALID when the path runs through another kind of value, is empty
 * or malformed. */
NN_MUST_CHECK enum nn_status jx_path_set(json_t *root, const char *path, json_t *value,
                                         struct nn_error *err);
/* Merges an object into another as RFC 7386 says: null takes a member out, objects are merged, any
 * other value replaces what is there. patch is copied. False when out of memory. */
NN_MUST_CHECK bool jx_merge(json_t *target, const json_t *patch);
/* "training.solver" -> "/training/solver" (with ~0 and ~1); cut to size, always terminated. */
void jx_path_pointer(const char *path, char *out, size_t size);
/* pointer + "/" + escaped key (or index), cut to size, always terminated. */
void jx_pointer_key(const char *pointer, const char *key, char *out, size_t size);
void jx_pointer_index(const char *pointer, size_t index, char *out, size_t size);

/* --------------------------------------------------------------------------------- text, naming */

/* Compact text in the document's own order; a real number has the fewest digits that give it back
 * (0.1, not 0.10000000000000001). jx_canonical also sorts keys by bytes: equal documents give equal
 * text (for digests). out_size (may be NULL) does not count the NUL. The caller frees the text.
 * NULL when out of memory or deeper than JX_MAX_DUMP_DEPTH. */
char *jx_dump(const json_t *json, size_t *out_size);
char *jx_canonical(const json_t *json);

/* Among `rows` (each `stride` bytes, a `const char *name` first, ended by a NULL name: fields,
 * choices, route tables...) the name closest to `name` by edits, if close enough to be worth
 * naming; else NULL. */
const char *jx_nearest(const char *name, const void *rows, size_t stride);

/* The row of a table by name, or NULL. */
const struct jx_field *jx_field_find(const struct jx_field *fields, const char *name);
const struct jx_choice *jx_choice_find(const struct jx_choice *choices, const char *name);
/* The name of a value, or NULL. */
const char *jx_choice_name(const struct jx_choice *choices, int value);

#endif
