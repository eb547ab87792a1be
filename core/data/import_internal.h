/* SPDX-License-Identifier: MIT
 *
 * One import while it runs: what the layouts (IDX, archive) find, what is kept of it, and what the
 * report will say.
 *
 * Life of a row (an entry of an archive): first pass: ITEM, FOLDER, IGNORED or REFUSED by name,
 * kind or header; then ITEM gets its class and part, or is REFUSED; second pass: ITEM is decoded
 * and becomes an item, or is REFUSED.
 */
#ifndef NN_DATA_IMPORT_INTERNAL_H
#define NN_DATA_IMPORT_INTERNAL_H

#include <stdio.h>

#include "core/base/memory.h"
#include "core/data/import.h"
#include "core/data/prepared.h"
#include "core/image/image.h"

enum nn_row_state { NN_ROW_ITEM, NN_ROW_FOLDER, NN_ROW_IGNORED, NN_ROW_REFUSED };

struct nn_import_row {
    const char *name;   /* cleaned; as stored where it was refused. Of the arena */
    const char *reason; /* slug, static */
    const char *text;   /* of the arena */
    enum nn_row_state state;
    bool is_picture; /* refused, but a picture: its folder is a class all the same */
    bool is_empty;   /* FOLDER: no file below it */
    bool is_colour;
    uint32_t height; /* of an ITEM, from its header */
    uint32_t width;
    uint32_t label;
    enum nn_part part;
};

struct nn_import_item {
    const char *name;
    uint64_t place; /* in the spool, in items */
    uint32_t row;   /* of signals: its recording */
    uint32_t label;
    enum nn_part part;
    uint8_t digest[NN_DIGEST_BYTES];
};

struct nn_signal_import;

struct nn_import {
    const struct nn_import_setup *setup;
    struct nn_import_limits limits; /* no zeros */
    struct nn_arena *arena;
    struct nn_error *err;

    struct nn_import_row *rows;
    size_t n_rows;
    size_t room_rows;
    struct nn_import_item *items;
    size_t n_items;
    size_t room_items;
    const char **classes; /* array of the arena */
    size_t n_classes;

    size_t height; /* of the prepared set */
    size_t width;
    size_t channels;
    size_t n_resized;
    size_t n_sixteen_bit;  /* pictures with samples of 16 bits */
    unsigned sixteen_most; /* the brightest level of them, of the 8 bits that are kept */
    bool any_colour;       /* among the items */
    FILE *spool;           /* pixels of the items in order of arrival */
    size_t n_spooled;      /* items in it; of signals some may be items no more */
    size_t value_bytes;    /* 1, of signals those of a float32 */

    struct nn_signal_import *signals; /* while recordings are read */
    struct nn_signal_options signal;  /* of signals: what was done in the end */
};

/* Makes room for one more element; false when there is no memory. */
NN_MUST_CHECK bool nn_import_grow(void **array, size_t *room, size_t n, size_t element);

/* printf into the arena; NULL when there is no memory. */
NN_MUST_CHECK char *nn_import_text(struct nn_import *import, const char *fmt, ...) NN_PRINTF(2, 3);

/* Whether its items are windows of signals. */
bool nn_import_is_signals(const struct nn_import *import);

/* "skip" or "fail". */
const char *nn_import_on_refused_name(int on_refused);

/* The user's image size, if there is one. */
bool nn_import_wants_size(const struct nn_import *import, size_t *out_height, size_t *out_width);

/* Tells how far it is; NN_ERR_CANCELLED. */
NN_MUST_CHECK enum nn_status nn_import_tell(struct nn_import *import, size_t done, size_t total);

/* Fixes the size of the prepared set, and checks that `count` items of it are below the cap. */
NN_MUST_CHECK enum nn_status nn_import_set_shape(struct nn_import *import, size_t count,
                                                 size_t height, size_t width, size_t channels);

/* Takes a decoded picture as one more item: digest, resizing, channels, spool. name lives as long
 * as the arena; image is borrowed. */
NN_MUST_CHECK enum nn_status nn_import_add(struct nn_import *import, const struct nn_image *image,
                                           const char *name, uint32_t label, enum nn_part part);

/* The layouts: fill classes and items. */
NN_MUST_CHECK enum nn_status nn_import_idx(struct nn_import *import);
NN_MUST_CHECK enum nn_status nn_import_archive(struct nn_import *import);
NN_MUST_CHECK enum nn_status nn_import_signals(struct nn_import *import);

/* The first pass over an archive: a row an entry; of each file that may be taken the content goes
 * to the image probe, or to nn_import_signal_entry (import_archive.c). */
NN_MUST_CHECK enum nn_status nn_import_look(struct nn_import *import);
NN_MUST_CHECK enum nn_status nn_import_signal_entry(struct nn_import *import, size_t row,
                                                    const uint8_t *bytes, size_t size);
/* Fails with the first refusal, as the reason why no item is left. */
NN_MUST_CHECK enum nn_status nn_import_nothing_left(const struct nn_import *import);

/* Finds out which folders are parts and classes, and gives every ITEM row its label and part
 * (import_layout.c). */
NN_MUST_CHECK enum nn_status nn_import_assign(struct nn_import *import);
/* Parts of it: refuses what has the name of an entry before it, and marks empty folders; makes the
 * sorted list of classes of n names of the arena, which are sorted on the way; the label of a class
 * in it; the part that a word names. */
NN_MUST_CHECK enum nn_status nn_import_study_names(struct nn_import *import);
NN_MUST_CHECK enum nn_status nn_import_sort_classes(struct nn_import *import, const char **names,
                                                    size_t n);
uint32_t nn_import_label_of(const struct nn_import *import, const char *name, size_t length);
bool nn_import_find_part(const char *word, size_t n, enum nn_part *out_part);

/* Marks a row refused and, under NN_IMPORT_FAIL, fails. reason is static; text is copied, NULL
 * means the usual words for this reason. */
NN_MUST_CHECK enum nn_status nn_import_refuse(struct nn_import *import, size_t row,
                                              const char *reason, const char *text);

/* Puts the items in their final order and writes the prepared set (import_write.c). */
NN_MUST_CHECK enum nn_status nn_import_write(struct nn_import *import, const char *path,
                                             struct nn_prepared_layout *out_layout,
                                             uint8_t out_digest[NN_DIGEST_BYTES]);

/* The report of a finished import; items stand in their final order. NULL when out of memory. */
json_t *nn_import_report(const struct nn_import *import, const struct nn_prepared_layout *layout,
                         const uint8_t digest[NN_DIGEST_BYTES]);

/* Checks the name of an entry and writes it without "./", "//" and trailing "/" to out (of at least
 * NN_ENTRY_NAME_MAX + 1 bytes). Returns NULL, or the slug of the reason to refuse it. An empty
 * result is the root folder. */
#define NN_ENTRY_NAME_MAX 1024
const char *nn_entry_name_clean(const char *stored, char *out);

/* "hidden" or "system_file" for a cleaned name to pass over, else NULL. */
const char *nn_entry_name_ignored(const char *name);

/* The k-th component of a cleaned name and its length; NULL when there are fewer. */
const char *nn_entry_name_part(const char *name, size_t k, size_t *out_length);
size_t nn_entry_name_depth(const char *name);

/* A class name that the user gave: NULL if it can be one, else what is wrong with it. */
const char *nn_class_name_fault(const char *name);

/* Writes what is left of a name without case and accents, to tell names that look alike. */
void nn_name_fold(const char *name, char *out, size_t size);

#endif
