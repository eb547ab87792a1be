/* SPDX-License-Identifier: MIT
 *
 * Values that layers and networks share with their users: what a network is bound to, phases,
 * parameters, what random layers depend on. No functions.
 */
#ifndef NN_LAYERS_TYPES_H
#define NN_LAYERS_TYPES_H

#include "core/base/base.h"

enum nn_normalisation {
    NN_NORMALISATION_DESCRIBED,         /* as the input layer's option says */
    NN_NORMALISATION_NONE,              /* 0..255 as they are */
    NN_NORMALISATION_RESCALE_UNIT,      /* x / 255 */
    NN_NORMALISATION_RESCALE_SYMMETRIC, /* x / 127.5 - 1 */
    NN_NORMALISATION_ZSCORE,            /* (x - mean[c]) / std[c], the input's two parameters */
    NN_NORMALISATION_OUTSIDE            /* they come scaled, and stay so */
};

/* What the network is bound to: the data set's images or sequences, and its classes or responses.
 */
struct nn_network_bind {
    size_t height, width, channels; /* of the images as loaded; 0: there are none */
    bool signals;                   /* these images are windows of signals; for words alone */
    size_t features;                /* of a step of the sequences; 0: there are none */
    size_t longest;                 /* steps of the longest sequence */
    size_t classes;                 /* 0: nothing to classify */
    size_t responses;               /* numbers to predict of a sample or step; 0: none */
    enum nn_normalisation normalisation;
};

/* A network built for TRAINING runs in all phases; one built for INFERENCE only in that (and needs
 * no gradients and far less memory). STATISTICS is a training-like forward (batch statistics, no
 * dropout) that gathers population statistics for batch normalisation. EXPLANATION computes what
 * INFERENCE does (stored statistics, no dropout) and lets a backward follow. */
enum nn_phase { NN_PHASE_TRAINING, NN_PHASE_INFERENCE, NN_PHASE_STATISTICS, NN_PHASE_EXPLANATION };

/* What the output means: scores of classes (the network ends in a softmax), or numbers. */
enum nn_task { NN_TASK_CLASSIFICATION, NN_TASK_REGRESSION };

enum nn_role {
    NN_ROLE_WEIGHT,
    NN_ROLE_RECURRENT_WEIGHT, /* begins orthogonal */
    NN_ROLE_BIAS,
    NN_ROLE_SCALE, /* batch norm's gamma, torch's "bn1.weight" */
    NN_ROLE_SHIFT, /* batch norm's beta, torch's "bn1.bias" */
    NN_ROLE_RUNNING_MEAN,
    NN_ROLE_RUNNING_VAR,
    NN_ROLE_INPUT_MEAN, /* only with zscore normalisation; no part of a torch state dict */
    NN_ROLE_INPUT_STD
};

/* shape is torch's: LSTM [4 units, inputs], [4 units, units], conv [O, I, KH, KW], fully connected
 * [O, I * H * W] with I the channels of the image before it (torch's flatten order C, H, W),
 * vectors [C]. extent is the same as four factors (O, I, KH, KW) or (O, I, H, W), vectors (C, 1, 1,
 * 1) or behind a flatten (C, H, W, 1); in memory, axis order[0] of extent varies slowest and axis
 * order[3] fastest. */
struct nn_parameter {
    const char *name; /* "conv1.weight", "bn1.running_mean": as in torchvision's state dicts */
    const char *layer;
    enum nn_role role;
    bool trainable;
    bool described; /* its first values stand in the description (an input's mean and std): they are
                       not to be taken from the data */
    bool auxiliary; /* of a branch that leads to auxiliary losses alone */
    size_t ndim;
    size_t shape[4];
    size_t extent[4];
    unsigned char order[4];
    size_t count;
    nn_real *value;
    nn_real *grad;               /* NULL if not trainable or built for INFERENCE */
    double learning_rate_factor; /* of the layer's description, 1 by default */
    double l2_factor;            /* 1 for weights, 0 for biases, scales and shifts by default */
};

/* What random layers depend on: mask = f(seed, layer, epoch, sample), and of sequences the step. */
struct nn_step {
    uint64_t seed;
    uint64_t epoch;
    uint64_t first_sample; /* position of the batch's first sample within the epoch */
};

#endif
