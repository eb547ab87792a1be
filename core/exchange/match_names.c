/* SPDX-License-Identifier: MIT
 *
 * What other libraries call the parameters of a network. The catalogue's names are those of
 * torchvision and timm; a file that follows another naming is read through a table from ours to
 * theirs.
 *
 * efficientnet_pytorch (and its offspring for the Lite networks) numbers the blocks of an
 * EfficientNet in one row, where timm counts stages and blocks of a stage, and names layers by what
 * they do: "blocks.2.1.conv_dw.weight" is "_blocks.4._depthwise_conv.weight".
 */
#include <stdio.h>
#include <string.h>

#include "core/exchange/match_internal.h"

const char *nn_match_naming_name(enum nn_match_naming naming)
{
    return naming == NN_MATCH_NAMING_EFFICIENTNET_PYTORCH ? "efficientnet_pytorch" : NULL;
}

struct renamed {
    const char *ours, *theirs;
};

static const struct renamed OUTSIDE[] = {{"conv_stem", "_conv_stem"}, {"bn1", "_bn0"},
                                         {"conv_head", "_conv_head"}, {"bn2", "_bn1"},
                                         {"classifier", "_fc"},       {0}};
/* A block that expands its channels first, filters each, and projects. */
static const struct renamed EXPANDING[] = {{"conv_pw", "_expand_conv"},
                                           {"bn1", "_bn0"},
                                           {"conv_dw", "_depthwise_conv"},
                                           {"bn2", "_bn1"},
                                           {"conv_pwl", "_project_conv"},
                                           {"bn3", "_bn2"},
                                           {0}};
/* The first block: it filters and projects. */
static const struct renamed PLAIN[] = {{"conv_dw", "_depthwise_conv"},
                                       {"bn1", "_bn1"},
                                       {"conv_pw", "_project_conv"},
                                       {"bn2", "_bn2"},
                                       {0}};

static const char *theirs(const struct renamed *table, const char *ours)
{
    while (table->ours && strcmp(table->ours, ours) != 0) {
        table++;
    }
    return table->theirs;
}

/* The length of "blocks.S.B." at the beginning of a name; 0: no block's. */
static size_t block_length(const char *name)
{
    static const char BLOCKS[] = "blocks.";
    size_t length = sizeof BLOCKS - 1;
    if (strncmp(name, BLOCKS, length) != 0) {
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        size_t digits = strspn(name + length, "0123456789");
        if (digits == 0 || name[length + digits] != '.') {
            return 0;
        }
        length += digits + 1;
    }
    return length;
}

/* How many blocks have ended before the i-th parameter; those of a block stand together. */
static size_t block_number(const struct nn_match *match, size_t i)
{
    size_t number = 0;
    for (size_t k = 1; k <= i; k++) {
        const char *before = match->wanted[k - 1].name;
        size_t length = block_length(before);
        number += length > 0 && strncmp(match->wanted[k].name, before, length) != 0;
    }
    return number;
}

/* Whether a layer of the block projects after a filter of its own. */
static bool block_expands(const struct nn_match *match, const char *block, size_t length)
{
    for (size_t k = 0; k < match->n_wanted; k++) {
        const char *layer = match->wanted[k].layer;
        if (strncmp(layer, block, length) == 0 && strcmp(layer + length, "conv_pwl") == 0) {
            return true;
        }
    }
    return false;
}

static bool efficientnet_name(const struct nn_match *match, size_t i, char out[NN_MATCH_NAME_SIZE])
{
    const struct nn_parameter_shape *wanted = &match->wanted[i];
    const char *suffix = wanted->name + strlen(wanted->layer);
    size_t length = block_length(wanted->layer);
    if (length == 0) {
        const char *layer = theirs(OUTSIDE, wanted->layer);
        (void)snprintf(out, NN_MATCH_NAME_SIZE, "%s%s", layer ? layer : "", suffix);
        return layer != NULL;
    }
    bool expands = block_expands(match, wanted->layer, length);
    const char *layer = theirs(expands ? EXPANDING : PLAIN, wanted->layer + length);
    (void)snprintf(out, NN_MATCH_NAME_SIZE, "_blocks.%zu.%s%s", block_number(match, i),
                   layer ? layer : "", suffix);
    return layer != NULL;
}

bool nn_match_name(const struct nn_match *match, enum nn_match_naming naming, size_t i,
                   char out[NN_MATCH_NAME_SIZE])
{
    if (naming == NN_MATCH_NAMING_EFFICIENTNET_PYTORCH) {
        return efficientnet_name(match, i, out);
    }
    (void)snprintf(out, NN_MATCH_NAME_SIZE, "%s", match->wanted[i].name);
    return true;
}
