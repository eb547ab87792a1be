/* SPDX-License-Identifier: MIT
 *
 * The match of a file's tensors and a network's parameters. Both lists are ordered by name once;
 * the prefix is decided first, from the names alone, and then every parameter has one fate.
 */
#include "core/exchange/match_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What training in parallel, compiling and wrapping put before the names of a module. */
static const char *const PREFIXES[] = {"", "module.", "model.", "_orig_mod.", "module.model."};

/* ---- names ---- */

static int by_name(const void *a, const void *b)
{
    const struct nn_file_tensor *const *x = a;
    const struct nn_file_tensor *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* Index of the tensor called prefix + name; SIZE_MAX when there is none. */
static size_t find(const struct nn_match *match, const char *prefix, const char *name)
{
    char whole[NN_MATCH_NAME_SIZE];
    (void)snprintf(whole, sizeof whole, "%s%s", prefix, name);
    const struct nn_file_tensor key = {.name = whole};
    const struct nn_file_tensor *pointer = &key;
    const struct nn_file_tensor **found =
        bsearch(&pointer, match->tensors, match->n_tensors, sizeof(void *), by_name);
    return found ? (size_t)(found - match->tensors) : SIZE_MAX;
}

/* The same of the i-th wanted parameter, as a naming calls it. */
static size_t find_wanted(const struct nn_match *match, const char *prefix,
                          enum nn_match_naming naming, size_t i)
{
    char name[NN_MATCH_NAME_SIZE];
    return nn_match_name(match, naming, i, name) ? find(match, prefix, name) : SIZE_MAX;
}

/* PyTorch's count of batches; a counter, no weight. */
static bool is_batch_counter(const char *name)
{
    static const char SUFFIX[] = "num_batches_tracked";
    size_t length = strlen(name), tail = sizeof SUFFIX - 1;
    return length >= tail && strcmp(name + length - tail, SUFFIX) == 0;
}

static bool all_begin_with(const struct nn_match *match, const char *prefix)
{
    for (size_t i = 0; i < match->n_tensors; i++) {
        if (strncmp(match->tensors[i]->name, prefix, strlen(prefix)) != 0) {
            return false;
        }
    }
    return true;
}

static size_t count_found(const struct nn_match *match, const char *prefix,
                          enum nn_match_naming naming)
{
    size_t found = 0;
    for (size_t i = 0; i < match->n_wanted; i++) {
        found += find_wanted(match, prefix, naming, i) != SIZE_MAX;
    }
    return found;
}

/* The prefix and the naming under which most parameters are found, the first of equal ones. */
static void choose_names(struct nn_match *match)
{
    size_t most = 0;
    match->prefix = "";
    match->naming = NN_MATCH_NAMING_OWN;
    for (size_t k = 0; k < sizeof PREFIXES / sizeof PREFIXES[0]; k++) {
        for (int naming = 0; naming < NN_MATCH_NAMING_COUNT && all_begin_with(match, PREFIXES[k]);
             naming++) {
            size_t found = count_found(match, PREFIXES[k], (enum nn_match_naming)naming);
            if (found > most) {
                match->prefix = PREFIXES[k];
                match->naming = (enum nn_match_naming)naming;
                most = found;
            }
        }
    }
}

/* ---- fates ---- */

static bool shape_fits(const struct nn_parameter_shape *wanted, const struct nn_file_tensor *found)
{
    return wanted->ndim == found->rank &&
           memcmp(wanted->shape, found->shape, found->rank * sizeof *found->shape) == 0;
}

static bool is_wanted(const struct nn_match *match, const char *name)
{
    for (size_t i = 0; i < match->n_wanted; i++) {
        if (strcmp(match->wanted[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* PyTorch's LSTM has two biases that are only ever added; ours has their sum, under the name of the
 * first (a GRU has both). SIZE_MAX: the parameter is no such bias, or the file has no second one of
 * its shape. */
static size_t find_second_bias(const struct nn_match *match,
                               const struct nn_parameter_shape *wanted)
{
    char name[160];
    const char *suffix = strrchr(wanted->name, '.');
    if (!suffix || strlen(wanted->name) >= sizeof name ||
        (strcmp(suffix, ".bias_ih_l0") != 0 && strcmp(suffix, ".bias_ih_l0_reverse") != 0)) {
        return SIZE_MAX;
    }
    (void)snprintf(name, sizeof name, "%.*s.bias_hh_%s", (int)(suffix - wanted->name), wanted->name,
                   suffix + sizeof ".bias_ih_" - 1);
    if (is_wanted(match, name)) {
        return SIZE_MAX;
    }
    size_t at = find(match, match->prefix, name);
    return at != SIZE_MAX && shape_fits(wanted, match->tensors[at]) ? at : SIZE_MAX;
}

static bool is_optional(const struct nn_parameter_shape *wanted)
{
    return wanted->role == NN_ROLE_INPUT_MEAN || wanted->role == NN_ROLE_INPUT_STD;
}

/* Whether any tensor of the head is absent or of another shape. */
static bool head_differs(const struct nn_match *match)
{
    for (size_t i = 0; i < match->n_wanted; i++) {
        const struct nn_parameter_shape *wanted = &match->wanted[i];
        if (match->head && strcmp(wanted->layer, match->head) == 0) {
            size_t at = find_wanted(match, match->prefix, match->naming, i);
            if (at == SIZE_MAX || !shape_fits(wanted, match->tensors[at])) {
                return true;
            }
        }
    }
    return false;
}

static enum nn_match_fate fate_of(const struct nn_match *match,
                                  const struct nn_parameter_shape *wanted,
                                  const struct nn_file_tensor *found, bool new_head, bool may_lack)
{
    if (new_head && match->head && strcmp(wanted->layer, match->head) == 0) {
        return NN_MATCH_REPLACED;
    }
    if (may_lack && wanted->auxiliary && (!found || !shape_fits(wanted, found))) {
        return NN_MATCH_REPLACED;
    }
    if (!found) {
        return is_optional(wanted) ? NN_MATCH_OPTIONAL : NN_MATCH_MISSING;
    }
    return !shape_fits(wanted, found) ? NN_MATCH_WRONG_SHAPE
           : found->not_finite        ? NN_MATCH_NOT_FINITE
                                      : NN_MATCH_MATCHED;
}

static void decide(struct nn_match *match, enum nn_match_head head)
{
    choose_names(match);
    bool new_head = head == NN_MATCH_HEAD_REPLACED ||
                    (head == NN_MATCH_HEAD_REPLACED_IF_OTHER && head_differs(match));
    for (size_t k = 0; k < match->n_tensors; k++) {
        match->leftover[k] =
            is_batch_counter(match->tensors[k]->name) ? NN_MATCH_IGNORED : NN_MATCH_UNEXPECTED;
    }
    for (size_t i = 0; i < match->n_wanted; i++) {
        size_t at = find_wanted(match, match->prefix, match->naming, i);
        const struct nn_file_tensor *found = at == SIZE_MAX ? NULL : match->tensors[at];
        enum nn_match_fate fate =
            fate_of(match, &match->wanted[i], found, new_head, head != NN_MATCH_HEAD_KEPT);
        match->fits[i].found = found;
        if (found) {
            match->leftover[at] = NN_MATCH_MATCHED;
        }
        size_t second = find_second_bias(match, &match->wanted[i]);
        if (second != SIZE_MAX) {
            match->fits[i].added = match->tensors[second];
            match->leftover[second] = NN_MATCH_MATCHED;
            fate = fate == NN_MATCH_MATCHED && match->tensors[second]->not_finite
                       ? NN_MATCH_NOT_FINITE
                       : fate;
        }
        match->fits[i].fate = fate;
        match->counts[fate]++;
    }
    for (size_t k = 0; k < match->n_tensors; k++) {
        match->counts[match->leftover[k]] += match->leftover[k] != NN_MATCH_MATCHED;
    }
}

/* ---- creation ---- */

/* Takes match->wanted for granted; on failure the match is destroyed. */
static enum nn_status match_make(struct nn_match *match, const struct nn_file_tensor *tensors,
                                 size_t n, enum nn_match_head head, struct nn_match **out,
                                 struct nn_error *err)
{
    match->tensors = calloc(n + 1, sizeof(void *));
    match->leftover = calloc(n + 1, sizeof *match->leftover);
    match->fits = calloc(match->n_wanted + 1, sizeof *match->fits);
    if (!match->tensors || !match->leftover || !match->fits) {
        nn_match_destroy(match);
        return nn_fail(err, NN_ERR_MEMORY, "no memory to match %zu tensors", n);
    }
    for (size_t i = 0; i < n; i++) {
        match->tensors[i] = &tensors[i];
    }
    match->n_tensors = n;
    qsort(match->tensors, n, sizeof(void *), by_name);
    decide(match, head);
    nn_match_describe(match);
    *out = match;
    return NN_OK;
}

/* The description may go before the match does. */
static void head_keep(struct nn_match *match, const char *head)
{
    if (head) {
        (void)snprintf(match->head_copy, sizeof match->head_copy, "%s", head);
        match->head = match->head_copy;
    }
}

enum nn_status nn_match_description(const struct nn_description *description,
                                    const struct nn_network_bind *bind,
                                    const struct nn_file_tensor *tensors, size_t n,
                                    enum nn_match_head head, struct nn_match **out,
                                    struct nn_error *err)
{
    struct nn_match *match = calloc(1, sizeof *match);
    if (!match) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to match %zu tensors", n);
    }
    enum nn_status status =
        nn_description_parameters(description, bind, &match->wanted, &match->n_wanted, err);
    if (status != NN_OK) {
        nn_match_destroy(match);
        return status;
    }
    head_keep(match, nn_description_head(description));
    return match_make(match, tensors, n, head, out, err);
}

enum nn_status nn_match_network(const struct nn_network *network,
                                const struct nn_file_tensor *tensors, size_t n,
                                enum nn_match_head head, struct nn_match **out,
                                struct nn_error *err)
{
    struct nn_match *match = calloc(1, sizeof *match);
    size_t n_wanted = nn_network_parameter_count(network);
    if (match) {
        match->wanted = calloc(n_wanted + 1, sizeof *match->wanted);
    }
    if (!match || !match->wanted) {
        nn_match_destroy(match);
        return nn_fail(err, NN_ERR_MEMORY, "no memory to match %zu tensors", n);
    }
    for (; match->n_wanted < n_wanted; match->n_wanted++) {
        const struct nn_parameter *from = nn_network_parameter(network, match->n_wanted);
        struct nn_parameter_shape *to = &match->wanted[match->n_wanted];
        *to = (struct nn_parameter_shape){.layer = from->layer,
                                          .auxiliary = from->auxiliary,
                                          .role = from->role,
                                          .ndim = from->ndim};
        (void)snprintf(to->name, sizeof to->name, "%s", from->name);
        memcpy(to->shape, from->shape, sizeof to->shape);
    }
    head_keep(match, nn_network_head(network));
    return match_make(match, tensors, n, head, out, err);
}

void nn_match_destroy(struct nn_match *match)
{
    if (!match) {
        return;
    }
    free(match->wanted);
    free(match->tensors);
    free(match->leftover);
    free(match->fits);
    free(match);
}

/* ---- reading ---- */

size_t nn_match_count(const struct nn_match *match, enum nn_match_fate fate)
{
    return match->counts[fate];
}

bool nn_match_is_loadable(const struct nn_match *match)
{
    return match->text[0] == '\0';
}

const char *nn_match_text(const struct nn_match *match)
{
    return match->text;
}

const char *nn_match_partly(const struct nn_match *match)
{
    return match->partly;
}

const struct nn_file_tensor *nn_match_tensor(const struct nn_match *match, size_t i)
{
    return match->fits[i].fate == NN_MATCH_MATCHED ? match->fits[i].found : NULL;
}

const struct nn_file_tensor *nn_match_added(const struct nn_match *match, size_t i)
{
    return match->fits[i].fate == NN_MATCH_MATCHED ? match->fits[i].added : NULL;
}
