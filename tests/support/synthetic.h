/* SPDX-License-Identifier: MIT
 *
 * Small data sets made of numbers, for tests of training: a prepared set in a temporary directory,
 * which is also the private directory of a run.
 */
#ifndef TESTS_SUPPORT_SYNTHETIC_H
#define TESTS_SUPPORT_SYNTHETIC_H

#include "core/data/prepared.h"
#include "core/data/sequence_loader.h"
#include "core/data/split.h"

/* Writes the height x width pixels of sample i and returns its label. */
typedef unsigned char (*synthetic_fn)(size_t i, unsigned char *pixels);

struct synthetic_spec {
    size_t height, width;
    size_t train, test; /* samples; the test part goes on counting i */
    synthetic_fn make;
};

struct synthetic_set {
    char directory[64];
    struct nn_prepared *prepared;   /* or NULL and: */
    struct nn_sequences *sequences; /* with their scaling, made from the train side */
    struct nn_scaling *scaling;
    enum nn_sequence_sort sort;
    struct nn_sequence_windows *windows;      /* NULL: sequences are whole */
    struct nn_split_side side[NN_PART_COUNT]; /* train and test as imported */
};

/* Fails the running test when anything goes wrong. */
void synthetic_open(struct synthetic_set *set, const struct synthetic_spec *spec);
/* Moves the last n samples of the train side to the validation side. */
void synthetic_hold_out(struct synthetic_set *set, size_t n);
/* Sequences of 3 to 22 steps, of inputs a and b, a constant, and a target that remembers: 40 +
 * 20 s_t with s_t = 0.7 s_{t-1} + 0.5 a_t - 0.3 b_t. The last `validation` of the train sequences
 * validate. */
void synthetic_open_sequences(struct synthetic_set *set, size_t train, size_t validation,
                              size_t test, const struct nn_scaling_options *scaling);
/* Likewise, z-scored, of three classes: input a rises from 0 to 1, falls, or falls and rises again,
 * under noise. Where it ends tells two of them apart, where it was the third. */
void synthetic_open_classes(struct synthetic_set *set, size_t train, size_t validation,
                            size_t test);
/* Cuts the sequences into windows. */
void synthetic_cut(struct synthetic_set *set, const struct nn_window_options *options);
/* Closes and removes the directory with all in it. */
void synthetic_close(struct synthetic_set *set);

/* Makers: XOR of two pixels (1 x 2); two blobs of four pixels (2 x 2), separable; a bright bar at
 * one of four places in noise (8 x 8). */
unsigned char synthetic_xor(size_t i, unsigned char *pixels);
unsigned char synthetic_blobs(size_t i, unsigned char *pixels);
unsigned char synthetic_bars(size_t i, unsigned char *pixels);

#endif
