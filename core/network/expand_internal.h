/* SPDX-License-Identifier: MIT
 *
 * What the files of the expansion share (expand.c says what it is).
 */
#ifndef NN_NETWORK_EXPAND_INTERNAL_H
#define NN_NETWORK_EXPAND_INTERNAL_H

#include "core/network/description_internal.h"

enum { NN_SCOPE_PREFIX = 256, POINTER_SIZE = 240, MEND_SIZE = 240 };

/* What comes out, and what all of it shares. */
struct nn_expansion {
    struct nn_issues *issues;
    const json_t *blocks;
    json_t *layers, *connections, *origins; /* origins: the pointer of each layer's text */
    bool given;                             /* the connections are given as a list */
    bool wired;                             /* some layer says its inputs, or is of a block */
    size_t steps;
};

/* The inside of the description or of a block. */
struct nn_scope {
    char prefix[NN_SCOPE_PREFIX]; /* "" or the name of the block's instance */
    const json_t *values;         /* of the variables */
    const json_t *inputs;         /* whole names of what the block takes; NULL at the top */
    json_t *outputs;              /* name -> whole names of its last layers */
    json_t *last;                 /* whole names of what the next layer takes; or NULL */
    size_t depth;
};

/* ---- expand_values.c ---- */

/* Makes it known when json is NULL, which is so only when out of memory. Returns json. */
json_t *nn_expand_made(struct nn_expansion *x, json_t *json);
/* Likewise what jansson says of a change: not 0 only when out of memory. */
void nn_expand_kept(struct nn_expansion *x, int status);
/* Counts an item, or some, and says once when they are too many. False: it is over. */
bool nn_expand_step(struct nn_expansion *x, const char *pointer);
bool nn_expand_steps(struct nn_expansion *x, size_t count, const char *pointer);
/* What a member counts that is written down: its values, long texts for several. */
size_t nn_expand_weight(const char *key, const json_t *value);
/* A copy of an object or of NULL, and a list made longer; each member counts. When it is over the
 * copy is empty and the list stays. */
json_t *nn_expand_copy(struct nn_expansion *x, const json_t *object, const char *pointer);
void nn_expand_extend(struct nn_expansion *x, json_t *names, const json_t *more,
                      const char *pointer);
/* "did you mean ...", or `begin` and the names themselves, of an object's keys. */
void nn_expand_mend(const json_t *object, const char *name, const char *begin, char out[MEND_SIZE]);
/* The value with its variables filled in, new reference: null after an issue, NULL when out of
 * memory. The second is that of a member of an item; NULL also when there is none. */
json_t *nn_expand_fill(struct nn_expansion *x, const json_t *values, const json_t *json,
                       const char *pointer);
json_t *nn_expand_member(struct nn_expansion *x, const struct nn_scope *scope, const json_t *item,
                         const char *key, const char *pointer);

/* ---- expand_wires.c ---- */

/* The whole names of what an item takes. New reference. */
json_t *nn_expand_resolve(struct nn_expansion *x, const struct nn_scope *scope, const json_t *item,
                          const char *pointer);
/* Connects the layer `whole` to what it takes. */
void nn_expand_connect(struct nn_expansion *x, const struct nn_scope *scope, const json_t *item,
                       const char *pointer, const char *whole);
/* The item `name` ends in the layers `names`, whose reference is taken: what comes next takes them,
 * and so does whoever names it. */
void nn_expand_output(struct nn_expansion *x, struct nn_scope *scope, const char *name,
                      json_t *names);

#endif
