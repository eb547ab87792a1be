/* SPDX-License-Identifier: MIT
 *
 * Kinds of layers by the names that other libraries have for them, where these are not near enough
 * to ours to be found by their letters. Capitals, dashes, a trailing "1d", "2d" or "3d" and the
 * word "layer" behind a name do not matter.
 */
#include <ctype.h>
#include <string.h>

#include "core/network/description_internal.h"

enum { NAME_SIZE = 48 };

struct synonym {
    const char *theirs, *ours;
};

/* The first that fits: a name with its "1d" before the one without. */
static const struct synonym SYNONYMS[] = {
    {"input", "image_input"},
    {"inputimage", "image_input"},
    {"featureinput", "image_input"},
    {"mha", "attention"},
    {"multiheadattention", "attention"},
    {"selfattention", "attention"},
    {"embed", "embedding"},
    {"embeddingbag", "embedding"},
    {"bilstm", "lstm"},
    {"rnn", "lstm"},
    {"simplernn", "lstm"},
    {"positionalembedding", "positional_encoding"},
    {"positionembedding", "positional_encoding"},
    {"sinusoidalpositionencoding", "positional_encoding"},
    {"globalaveragepooling1d", "sequence_pool"},
    {"globalavgpool1d", "sequence_pool"},
    {"globalmaxpooling1d", "sequence_pool"},
    {"conv1d", "temporal_convolution"},
    {"causalconv", "temporal_convolution"},
    {"conv", "convolution"},
    {"convolutional", "convolution"},
    {"depthwiseconv", "convolution"},
    {"groupedconvolution", "convolution"},
    {"convtranspose", "transposed_convolution"},
    {"convtransposed", "transposed_convolution"},
    {"transposedconv", "transposed_convolution"},
    {"conv2dtranspose", "transposed_convolution"},
    {"deconv", "transposed_convolution"},
    {"deconvolution", "transposed_convolution"},
    {"upconv", "transposed_convolution"},
    {"bn", "batch_norm"},
    {"batchnormalization", "batch_norm"},
    {"batchnormalisation", "batch_norm"},
    {"gn", "group_norm"},
    {"groupnormalization", "group_norm"},
    {"instancenorm", "group_norm"},
    {"instancenormalization", "group_norm"},
    {"ln", "layer_norm"},
    {"layernormalization", "layer_norm"},
    {"lrn", "local_response_norm"},
    {"crosschannelnormalization", "local_response_norm"},
    {"relu6", "clipped_relu"},
    {"prelu", "leaky_relu"},
    {"selu", "elu"},
    {"celu", "elu"},
    {"swish", "silu"},
    {"hswish", "hard_swish"},
    {"logistic", "sigmoid"},
    {"abs", "absolute"},
    {"softshrink", "soft_threshold"},
    {"shrinkage", "soft_threshold"},
    {"maxpool", "max_pool"},
    {"maxpooling", "max_pool"},
    {"avgpool", "average_pool"},
    {"averagepooling", "average_pool"},
    {"meanpool", "average_pool"},
    {"adaptiveavgpool", "adaptive_average_pool"},
    {"gap", "global_average_pool"},
    {"globalavgpool", "global_average_pool"},
    {"globalaveragepooling", "global_average_pool"},
    {"view", "flatten"},
    {"reshape", "flatten"},
    {"dense", "fully_connected"},
    {"linear", "fully_connected"},
    {"fc", "fully_connected"},
    {"affine", "fully_connected"},
    {"gemm", "fully_connected"},
    {"innerproduct", "fully_connected"},
    {"concat", "concatenation"},
    {"cat", "concatenation"},
    {"concatenate", "concatenation"},
    {"depthconcatenation", "concatenation"},
    {"zeropad", "spatial_padding"},
    {"zeropadding", "spatial_padding"},
    {"pad", "spatial_padding"},
    {"crop", "cropping"},
    {"add", "addition"},
    {"plus", "addition"},
    {"sum", "addition"},
    {"residual", "addition"},
    {"mul", "multiplication"},
    {"multiply", "multiplication"},
    {"product", "multiplication"},
    {"logsoftmax", "softmax"},
};

/* Letters and digits in lower case; false when they do not fit. */
static bool simplify(const char *name, char out[NAME_SIZE])
{
    size_t n = 0;
    for (; *name; name++) {
        if (!isalnum((unsigned char)*name)) {
            continue;
        }
        if (n + 1 == NAME_SIZE) {
            return false;
        }
        out[n++] = (char)tolower((unsigned char)*name);
    }
    out[n] = '\0';
    return n > 0;
}

static void cut(char *name, const char *tail)
{
    size_t n = strlen(name), length = strlen(tail);
    if (n > length && strcmp(name + n - length, tail) == 0) {
        name[n - length] = '\0';
    }
}

static const char *find(const char *name)
{
    for (size_t i = 0; i < sizeof SYNONYMS / sizeof SYNONYMS[0]; i++) {
        if (strcmp(SYNONYMS[i].theirs, name) == 0) {
            return SYNONYMS[i].ours;
        }
    }
    return NULL;
}

const char *nn_layer_synonym(const char *name)
{
    char simple[NAME_SIZE];
    if (!simplify(name, simple)) {
        return NULL;
    }
    cut(simple, "layer");
    const char *ours = find(simple);
    if (!ours) {
        cut(simple, "1d");
        cut(simple, "2d");
        cut(simple, "3d");
        ours = find(simple);
    }
    return ours;
}
