/* SPDX-License-Identifier: MIT
 *
 * Small networks that together run every operator.
 */
#include "tests/support/network_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/cmocka_all.h"

#define IMAGE(h, w, c)                                                                             \
    .height = h, .width = w, .channels = c, .classes = 3, .batch = 3, .lengths = NULL
#define FC "{'name': 'fc', 'kind': 'fully_connected'}"

static const size_t LENGTHS[] = {2, 4, 1, 3, 4}, ALONE[] = {5, 1, 1}, SHORT[] = {1, 1, 1, 1, 2};
#define SEQUENCES(c, l)                                                                            \
    .height = 1, .width = 1, .channels = c, .classes = 2, .batch = 3, .lengths = l

const struct test_network_case test_network_cases[] = {
    {"fully_connected", IMAGE(1, 1, 5), FC, NULL, NULL, false},
    {"fully_connected without bias", IMAGE(2, 3, 2),
     "{'name': 'fc', 'kind': 'fully_connected', 'bias': false}", NULL, NULL, false},
    {"fully_connected+relu", IMAGE(2, 2, 2),
     "{'name': 'a', 'kind': 'fully_connected', 'outputs': 7}, {'name': 'r', 'kind': 'relu'}," FC,
     NULL, NULL, true},
    {"convolution 3x3", IMAGE(5, 4, 2),
     "{'name': 'c', 'kind': 'convolution', 'filters': 3, 'kernel': 3}," FC, NULL, NULL, false},
    {"convolution 1x1", IMAGE(3, 3, 4),
     "{'name': 'c', 'kind': 'convolution', 'filters': 2, 'kernel': 1, 'bias': false}," FC, NULL,
     NULL, false},
    {"convolution 3x2, stride 2x1, padded on each side differently", IMAGE(6, 5, 2),
     "{'name': 'c', 'kind': 'convolution', 'filters': 4, 'kernel': [3, 2], 'stride': [2, 1],"
     " 'padding': [1, 0, 0, 1]}," FC,
     NULL, NULL, false},
    {"convolution, depthwise", IMAGE(5, 4, 3),
     "{'name': 'c', 'kind': 'convolution', 'filters': 3, 'groups': 3, 'kernel': 3, 'padding': "
     "1}," FC,
     NULL, NULL, false},
    {"convolution+batch_norm, depthwise, stride 2", IMAGE(6, 5, 4),
     "{'name': 'c', 'kind': 'convolution', 'filters': 4, 'groups': 4, 'kernel': [3, 2],"
     " 'stride': 2, 'padding': [1, 0, 1, 1]}, {'name': 'n', 'kind': 'batch_norm'}," FC,
     NULL, NULL, false},
    {"convolution, dilated", IMAGE(7, 6, 2),
     "{'name': 'c', 'kind': 'convolution', 'filters': 3, 'kernel': 3, 'dilation': [2, 1],"
     " 'padding': [2, 1]}," FC,
     NULL, NULL, false},
    {"convolution, dilated, stride 2", IMAGE(7, 6, 2),
     "{'name': 'c', 'kind': 'convolution', 'filters': 3, 'kernel': 2, 'dilation': 3, 'stride': 2,"
     " 'padding': 1}," FC,
     NULL, NULL, false},
    {"convolution, depthwise and dilated", IMAGE(7, 6, 3),
     "{'name': 'c', 'kind': 'convolution', 'filters': 3, 'groups': 3, 'kernel': 3,"
     " 'dilation': 2, 'same_padding': true}," FC,
     NULL, NULL, false},
    {"convolution in groups", IMAGE(5, 4, 4),
     "{'name': 'c', 'kind': 'convolution', 'filters': 6, 'groups': 2, 'kernel': 3, 'padding': "
     "1}," FC,
     NULL, NULL, false},
    {"convolutions in groups, stride 2, then beside batch_norm", IMAGE(6, 5, 2),
     "{'name': 'a', 'kind': 'convolution', 'filters': 6, 'groups': 2, 'kernel': 1},"
     "{'name': 'c', 'kind': 'convolution', 'filters': 9, 'groups': 3, 'kernel': [3, 2],"
     " 'stride': 2, 'padding': [1, 0, 1, 1]}, {'name': 'n', 'kind': 'batch_norm'}," FC,
     NULL, NULL, false},
    {"convolution in groups+batch_norm+relu", IMAGE(5, 5, 4),
     "{'name': 'c', 'kind': 'convolution', 'filters': 4, 'groups': 2, 'kernel': 3},"
     "{'name': 'n', 'kind': 'batch_norm'}, {'name': 'r', 'kind': 'relu'}," FC,
     NULL, NULL, true},
    {"convolution in groups+relu", IMAGE(5, 5, 4),
     "{'name': 'c', 'kind': 'convolution', 'filters': 2, 'groups': 2, 'kernel': 3, 'dilation': 2},"
     "{'name': 'r', 'kind': 'relu'}," FC,
     NULL, NULL, true},
    {"transposed_convolution", IMAGE(3, 4, 2),
     "{'name': 't', 'kind': 'transposed_convolution', 'filters': 3, 'kernel': 3, 'stride': 2,"
     " 'padding': 1, 'output_padding': [1, 0]}," FC,
     NULL, NULL, false},
    {"transposed_convolution, stride 1, dilated, without bias", IMAGE(4, 3, 2),
     "{'name': 't', 'kind': 'transposed_convolution', 'filters': 2, 'kernel': [2, 3],"
     " 'dilation': [1, 2], 'padding': [0, 1, 2, 1], 'output_padding': [0, 1], 'bias': false}," FC,
     NULL, NULL, false},
    {"transposed_convolution in groups and depthwise, beside another layer", IMAGE(3, 3, 4),
     "{'name': 'c', 'kind': 'convolution', 'filters': 4, 'kernel': 1},"
     "{'name': 't', 'kind': 'transposed_convolution', 'filters': 6, 'groups': 2, 'kernel': 2,"
     " 'stride': 2},"
     "{'name': 'd', 'kind': 'transposed_convolution', 'filters': 4, 'groups': 4, 'kernel': 2,"
     " 'stride': 2}, {'name': 'j', 'kind': 'concatenation'}," FC,
     "['in', 'c'], ['c', 't'], ['c', 'd'], ['t', 'j'], ['d', 'j'], ['j', 'fc']", NULL, false},
    {"transposed_convolution, frozen", IMAGE(3, 3, 2),
     "{'name': 'c', 'kind': 'convolution', 'filters': 2, 'kernel': 1},"
     "{'name': 't', 'kind': 'transposed_convolution', 'filters': 3, 'kernel': 2, 'stride': 2}," FC,
     NULL, "t", false},
    {"spatial_padding, each mode, and cropping", IMAGE(4, 3, 2),
     "{'name': 'c', 'kind': 'convolution', 'filters': 3, 'kernel': 1},"
     "{'name': 'a', 'kind': 'spatial_padding', 'size': [1, 2, 0, 1], 'value': 0.5},"
     "{'name': 'b', 'kind': 'spatial_padding', 'size': [2, 1], 'mode': 'reflect'},"
     "{'name': 'd', 'kind': 'spatial_padding', 'size': [1, 0, 3, 2], 'mode': 'replicate'},"
     "{'name': 'e', 'kind': 'cropping', 'size': [0, 1, 2, 1]}," FC,
     NULL, NULL, false},
    {"spatial_padding and cropping beside another layer", IMAGE(4, 3, 2),
     "{'name': 'c', 'kind': 'convolution', 'filters': 2, 'kernel': 1},"
     "{'name': 'p', 'kind': 'spatial_padding', 'size': 1, 'mode': 'reflect'},"
     "{'name': 'q', 'kind': 'cropping', 'size': 1}, {'name': 's', 'kind': 'addition'}," FC,
     "['in', 'c'], ['c', 'p'], ['p', 'q'], ['c', 's'], ['q', 's'], ['s', 'fc']", NULL, false},
    {"two convolutions", IMAGE(6, 6, 1),
     "{'name': 'a', 'kind': 'convolution', 'filters': 3, 'kernel': 3, 'same_padding': true},"
     "{'name': 'b', 'kind': 'convolution', 'filters': 2, 'kernel': 2, 'stride': 2}," FC,
     NULL, NULL, false},
    {"convolution+relu", IMAGE(5, 5, 2),
     "{'name': 'c', 'kind': 'convolution', 'filters': 3, 'kernel': 3},"
     "{'name': 'r', 'kind': 'relu'}," FC,
     NULL, NULL, true},
    {"convolution+relu, frozen", IMAGE(5, 5, 2),
     "{'name': 'c', 'kind': 'convolution', 'filters': 3, 'kernel': 3},"
     "{'name': 'r', 'kind': 'relu'}," FC,
     NULL, "c", true},
    {"batch_norm", IMAGE(3, 2, 4), "{'name': 'n', 'kind': 'batch_norm'}," FC, NULL, NULL, false},
    {"batch_norm, frozen", IMAGE(3, 2, 4), "{'name': 'n', 'kind': 'batch_norm'}," FC, NULL, "n",
     false},
    {"batch_norm of one row", .height = 1, .width = 1, .channels = 4, .classes = 3, .batch = 1,
     .lengths = NULL, "{'name': 'n', 'kind': 'batch_norm'}," FC, NULL, NULL, false},
    {"batch_norm of one sample with pixels", .height = 3, .width = 3, .channels = 2, .classes = 3,
     .batch = 1, .lengths = NULL, "{'name': 'n', 'kind': 'batch_norm'}," FC, NULL, NULL, false},
    {"batch_norm+relu", IMAGE(3, 3, 2),
     "{'name': 'n', 'kind': 'batch_norm', 'epsilon': 0.01}, {'name': 'r', 'kind': 'relu'}," FC,
     NULL, NULL, true},
    {"convolution+batch_norm", IMAGE(5, 5, 2),
     "{'name': 'c', 'kind': 'convolution', 'filters': 3, 'kernel': 3},"
     "{'name': 'n', 'kind': 'batch_norm'}," FC,
     NULL, NULL, false},
    {"convolution+batch_norm+relu", IMAGE(5, 5, 2),
     "{'name': 'c', 'kind': 'convolution', 'filters': 3, 'kernel': 3},"
     "{'name': 'n', 'kind': 'batch_norm'}, {'name': 'r', 'kind': 'relu'}," FC,
     NULL, NULL, true},
    {"convolution+batch_norm+relu, batch norm frozen", IMAGE(5, 5, 2),
     "{'name': 'c', 'kind': 'convolution', 'filters': 3, 'kernel': 3},"
     "{'name': 'n', 'kind': 'batch_norm'}, {'name': 'r', 'kind': 'relu'}," FC,
     NULL, "n", true},
    {"convolution+batch_norm+relu, convolution frozen", IMAGE(5, 5, 2),
     "{'name': 'c', 'kind': 'convolution', 'filters': 3, 'kernel': 3},"
     "{'name': 'n', 'kind': 'batch_norm'}, {'name': 'r', 'kind': 'relu'}," FC,
     NULL, "c", true},
    {"convolution+batch_norm of one row", .height = 3, .width = 3, .channels = 2, .classes = 3,
     .batch = 1, .lengths = NULL,
     "{'name': 'c', 'kind': 'convolution', 'filters': 3, 'kernel': 3},"
     "{'name': 'n', 'kind': 'batch_norm'}, {'name': 'r', 'kind': 'relu'}," FC,
     NULL, NULL, true},
    {"relu", IMAGE(3, 3, 2), "{'name': 'r', 'kind': 'relu'}," FC, NULL, NULL, true},
    {"clipped_relu", IMAGE(3, 3, 2), "{'name': 'r', 'kind': 'clipped_relu', 'ceiling': 0.5}," FC,
     NULL, NULL, true},
    {"leaky_relu", IMAGE(3, 3, 2), "{'name': 'r', 'kind': 'leaky_relu', 'slope': 0.3}," FC, NULL,
     NULL, true},
    {"elu", IMAGE(3, 3, 2), "{'name': 'r', 'kind': 'elu', 'alpha': 0.5}," FC, NULL, NULL, true},
    {"gelu", IMAGE(3, 3, 2), "{'name': 'r', 'kind': 'gelu'}," FC, NULL, NULL, false},
    {"silu", IMAGE(3, 3, 2), "{'name': 'r', 'kind': 'silu'}," FC, NULL, NULL, false},
    {"hard_swish, also beyond 3", IMAGE(4, 4, 4),
     "{'name': 'a', 'kind': 'fully_connected', 'outputs': 20}, {'name': 'r', 'kind': "
     "'hard_swish'}," FC,
     NULL, NULL, true},
    {"tanh", IMAGE(3, 3, 2), "{'name': 'r', 'kind': 'tanh'}," FC, NULL, NULL, false},
    {"absolute and sigmoid", IMAGE(3, 3, 2),
     "{'name': 'a', 'kind': 'absolute'}, {'name': 's', 'kind': 'sigmoid'}," FC, NULL, NULL, true},
    {"activations beside each other", IMAGE(2, 3, 3),
     "{'name': 'a', 'kind': 'gelu'}, {'name': 'b', 'kind': 'sigmoid'}, {'name': 'c', 'kind': "
     "'tanh'},"
     "{'name': 's', 'kind': 'addition'}," FC,
     "['in', 'a'], ['in', 'b'], ['in', 'c'], ['a', 's'], ['b', 's'], ['c', 's'], ['s', 'fc']", NULL,
     false},
    {"soft_threshold", IMAGE(3, 3, 2),
     "{'name': 't', 'kind': 'soft_threshold', 'threshold': 0.3}," FC, NULL, NULL, true},
    {"soft_threshold a channel", IMAGE(3, 4, 3),
     "{'name': 'a', 'kind': 'absolute'}, {'name': 'm', 'kind': 'global_average_pool'},"
     "{'name': 'f', 'kind': 'fully_connected', 'outputs': 3}, {'name': 'g', 'kind': 'sigmoid'},"
     "{'name': 'p', 'kind': 'multiplication'}, {'name': 't', 'kind': 'soft_threshold'}," FC,
     "['in', 'a'], ['a', 'm'], ['m', 'f'], ['f', 'g'], ['g', 'p'], ['m', 'p'], ['in', 't'],"
     " ['p', 't'], ['t', 'fc']",
     NULL, true},
    {"soft_threshold for all channels", IMAGE(3, 4, 3),
     "{'name': 'c', 'kind': 'convolution', 'filters': 4, 'kernel': 1},"
     "{'name': 'a', 'kind': 'absolute'}, {'name': 'm', 'kind': 'global_average_pool'},"
     "{'name': 'f', 'kind': 'fully_connected', 'outputs': 1}, {'name': 'g', 'kind': 'sigmoid'},"
     "{'name': 'l', 'kind': 'channel_mean'}, {'name': 'p', 'kind': 'multiplication'},"
     "{'name': 't', 'kind': 'soft_threshold'}," FC,
     "['in', 'c'], ['c', 'a'], ['a', 'm'], ['m', 'f'], ['f', 'g'], ['g', 'p'], ['m', 'l'],"
     " ['l', 'p'], ['c', 't'], ['p', 't'], ['t', 'fc']",
     NULL, true},
    {"soft_threshold a pixel, and of itself", IMAGE(3, 2, 3),
     "{'name': 'l', 'kind': 'channel_mean'}, {'name': 'g', 'kind': 'sigmoid'},"
     "{'name': 't', 'kind': 'soft_threshold'}, {'name': 'h', 'kind': 'silu'},"
     "{'name': 'u', 'kind': 'soft_threshold'}," FC,
     "['in', 'l'], ['l', 'g'], ['in', 't'], ['g', 't'], ['in', 'h'], ['t', 'u'], ['h', 'u'],"
     " ['u', 'fc']",
     NULL, true},
    {"multiplication by a weight a channel", IMAGE(3, 4, 2),
     "{'name': 'm', 'kind': 'global_average_pool'}, {'name': 'f', 'kind': 'fully_connected',"
     " 'outputs': 2}, {'name': 'g', 'kind': 'sigmoid'}, {'name': 'p', 'kind': "
     "'multiplication'}," FC,
     "['in', 'm'], ['m', 'f'], ['f', 'g'], ['in', 'p'], ['g', 'p'], ['p', 'fc']", NULL, false},
    {"multiplication of each pixel, then whole", IMAGE(3, 2, 4),
     "{'name': 'l', 'kind': 'channel_mean'}, {'name': 'p', 'kind': 'multiplication'},"
     "{'name': 'h', 'kind': 'tanh'}, {'name': 'q', 'kind': 'multiplication'}," FC,
     "['in', 'l'], ['in', 'p'], ['l', 'p'], ['p', 'h'], ['p', 'q'], ['h', 'q'], ['q', 'fc']", NULL,
     false},
    {"multiplication of flattened images", IMAGE(2, 2, 3),
     "{'name': 'f', 'kind': 'flatten'}, {'name': 'g', 'kind': 'gelu'},"
     "{'name': 'p', 'kind': 'multiplication'}," FC,
     "['in', 'f'], ['f', 'g'], ['f', 'p'], ['g', 'p'], ['p', 'fc']", NULL, false},
    {"gates on every step", SEQUENCES(3, LENGTHS),
     "{'name': 'a', 'kind': 'fully_connected', 'outputs': 3}, {'name': 'g', 'kind': 'sigmoid'},"
     "{'name': 'p', 'kind': 'multiplication'}, {'name': 'm', 'kind': 'channel_mean'},"
     "{'name': 't', 'kind': 'soft_threshold'}, {'name': 'l', 'kind': 'lstm', 'units': 3}," FC,
     "['in', 'a'], ['a', 'g'], ['in', 'p'], ['g', 'p'], ['g', 'm'], ['p', 't'], ['m', 't'],"
     " ['t', 'l'], ['l', 'fc']",
     NULL, true},
    {"max_pool", IMAGE(5, 5, 2),
     "{'name': 'p', 'kind': 'max_pool', 'kernel': 3, 'stride': 2, 'padding': 1}," FC, NULL, NULL,
     true},
    {"max_pool that hangs over", IMAGE(6, 4, 2),
     "{'name': 'p', 'kind': 'max_pool', 'kernel': 3, 'stride': 2, 'ceil_mode': true}," FC, NULL,
     NULL, true},
    {"max_pool larger than the image", IMAGE(2, 2, 2),
     "{'name': 'p', 'kind': 'max_pool', 'kernel': 3, 'stride': 2, 'ceil_mode': true}," FC, NULL,
     NULL, true},
    {"average_pool", IMAGE(5, 4, 2),
     "{'name': 'p', 'kind': 'average_pool', 'kernel': [3, 2], 'stride': 2, 'padding': [1, 0]}," FC,
     NULL, NULL, false},
    {"average_pool without padding in the mean", IMAGE(5, 5, 2),
     "{'name': 'p', 'kind': 'average_pool', 'kernel': 3, 'stride': 2, 'padding': 1,"
     " 'count_padding': false, 'ceil_mode': true}," FC,
     NULL, NULL, false},
    {"adaptive_average_pool", IMAGE(5, 7, 3),
     "{'name': 'p', 'kind': 'adaptive_average_pool', 'size': [2, 4]}," FC, NULL, NULL, false},
    {"local_response_norm", IMAGE(3, 2, 7),
     "{'name': 'c', 'kind': 'convolution', 'filters': 9, 'kernel': 1},"
     "{'name': 'l', 'kind': 'local_response_norm', 'alpha': 2, 'size': 4, 'k': 0.5}," FC,
     NULL, NULL, false},
    {"local_response_norm beside another layer, another power", IMAGE(3, 2, 3),
     "{'name': 'l', 'kind': 'local_response_norm', 'alpha': 3, 'beta': 1.5},"
     "{'name': 's', 'kind': 'addition'}," FC,
     "['in', 'l'], ['l', 's'], ['in', 's'], ['s', 'fc']", NULL, false},
    {"layer_norm", IMAGE(3, 2, 5),
     "{'name': 'c', 'kind': 'convolution', 'filters': 6, 'kernel': 1},"
     "{'name': 'l', 'kind': 'layer_norm', 'epsilon': 0.01}," FC,
     NULL, NULL, false},
    {"layer_norm behind a flatten, beside another layer", IMAGE(2, 3, 2),
     "{'name': 'f', 'kind': 'flatten'}, {'name': 'l', 'kind': 'layer_norm'},"
     "{'name': 's', 'kind': 'addition'}," FC,
     "['in', 'f'], ['f', 'l'], ['f', 's'], ['l', 's'], ['s', 'fc']", NULL, false},
    {"norms of every step", SEQUENCES(6, LENGTHS),
     "{'name': 'a', 'kind': 'layer_norm'}, {'name': 'b', 'kind': 'fully_connected', 'outputs': 6},"
     "{'name': 'c', 'kind': 'rms_norm'}, {'name': 'd', 'kind': 'fully_connected', 'outputs': 6},"
     "{'name': 'e', 'kind': 'group_norm', 'groups': 2}," FC,
     NULL, NULL, false},
    {"rms_norm, frozen", IMAGE(2, 3, 4), "{'name': 'l', 'kind': 'rms_norm', 'epsilon': 0.1}," FC,
     NULL, "l", false},
    {"group_norm", IMAGE(3, 4, 6), "{'name': 'g', 'kind': 'group_norm', 'groups': 3}," FC, NULL,
     NULL, false},
    {"group_norm of one group, beside another layer", IMAGE(3, 2, 3),
     "{'name': 'g', 'kind': 'group_norm', 'groups': 1}, {'name': 's', 'kind': 'addition'}," FC,
     "['in', 'g'], ['g', 's'], ['in', 's'], ['s', 'fc']", NULL, false},
    {"group_norm of single channels", IMAGE(4, 3, 3),
     "{'name': 'c', 'kind': 'convolution', 'filters': 4, 'kernel': 1},"
     "{'name': 'g', 'kind': 'group_norm', 'groups': 4}," FC,
     NULL, "c", false},
    {"global_average_pool", IMAGE(4, 3, 5), "{'name': 'p', 'kind': 'global_average_pool'}," FC,
     NULL, NULL, false},
    {"flatten", IMAGE(3, 2, 2), "{'name': 'f', 'kind': 'flatten'}," FC, NULL, NULL, false},
    {"dropout", IMAGE(3, 3, 4), "{'name': 'd', 'kind': 'dropout', 'rate': 0.4}," FC, NULL, NULL,
     false},
    {"dropout of nothing", IMAGE(3, 3, 1), "{'name': 'd', 'kind': 'dropout', 'rate': 0}," FC, NULL,
     NULL, false},
    {"softmax inside", IMAGE(2, 2, 3), "{'name': 's', 'kind': 'softmax'}," FC, NULL, NULL, false},
    {"concatenation of three", IMAGE(3, 3, 2),
     "{'name': 'a', 'kind': 'convolution', 'filters': 2, 'kernel': 1},"
     "{'name': 'b', 'kind': 'convolution', 'filters': 3, 'kernel': 3, 'padding': 1},"
     "{'name': 'r', 'kind': 'relu'}, {'name': 'j', 'kind': 'concatenation'}," FC,
     "['in', 'a'], ['in', 'b'], ['b', 'r'], ['a', 'j'], ['r', 'j'], ['in', 'j'], ['j', 'fc']", NULL,
     true},
    {"concatenation within a concatenation", IMAGE(3, 3, 1),
     "{'name': 'a', 'kind': 'convolution', 'filters': 2, 'kernel': 1},"
     "{'name': 'b', 'kind': 'max_pool', 'kernel': 3, 'stride': 1, 'padding': 1},"
     "{'name': 'j', 'kind': 'concatenation'},"
     "{'name': 'c', 'kind': 'average_pool', 'kernel': 3, 'stride': 1, 'padding': 1},"
     "{'name': 'k', 'kind': 'concatenation'}, {'name': 'n', 'kind': 'batch_norm'}," FC,
     "['in', 'a'], ['in', 'b'], ['a', 'j'], ['b', 'j'], ['in', 'c'], ['j', 'k'], ['c', 'k'],"
     " ['k', 'n'], ['n', 'fc']",
     NULL, true},
    {"a tensor used by a concatenation and beside it", IMAGE(3, 3, 2),
     "{'name': 'a', 'kind': 'convolution', 'filters': 2, 'kernel': 1},"
     "{'name': 'b', 'kind': 'relu'}, {'name': 'j', 'kind': 'concatenation'}," FC,
     "['in', 'a'], ['a', 'b'], ['a', 'j'], ['b', 'j'], ['j', 'fc']", NULL, true},
    {"layers behind a flatten", IMAGE(2, 3, 2),
     "{'name': 'f', 'kind': 'flatten'}, {'name': 'n', 'kind': 'batch_norm'},"
     "{'name': 'd', 'kind': 'dropout', 'rate': 0.2}, {'name': 'r', 'kind': 'relu'},"
     "{'name': 's', 'kind': 'addition'}," FC,
     "['in', 'f'], ['f', 'n'], ['n', 'd'], ['d', 'r'], ['r', 's'], ['f', 's'], ['s', 'fc']", NULL,
     true},
    {"rows in a concatenation", IMAGE(2, 2, 3),
     "{'name': 'a', 'kind': 'fully_connected', 'outputs': 4},"
     "{'name': 'b', 'kind': 'global_average_pool'}, {'name': 'j', 'kind': 'concatenation'}," FC,
     "['in', 'a'], ['in', 'b'], ['a', 'j'], ['b', 'j'], ['j', 'fc']", NULL, false},
    {"channel_padding of a shortcut", IMAGE(3, 3, 2),
     "{'name': 'a', 'kind': 'convolution', 'filters': 5, 'kernel': 3, 'padding': 1},"
     "{'name': 'p', 'kind': 'channel_padding', 'before': 1, 'after': 2},"
     "{'name': 's', 'kind': 'addition'}, {'name': 'b', 'kind': 'convolution', 'filters': 2,"
     " 'kernel': 1}," FC,
     "['in', 'b'], ['b', 'a'], ['b', 'p'], ['a', 's'], ['p', 's'], ['s', 'fc']", NULL, false},
    {"addition with a shortcut", IMAGE(3, 3, 2),
     "{'name': 'a', 'kind': 'convolution', 'filters': 2, 'kernel': 3, 'padding': 1},"
     "{'name': 'n', 'kind': 'batch_norm'}, {'name': 's', 'kind': 'addition'}," FC,
     "['in', 'a'], ['a', 'n'], ['n', 's'], ['in', 's'], ['s', 'fc']", NULL, false},
    {"addition of three + relu", IMAGE(3, 3, 2),
     "{'name': 'a', 'kind': 'convolution', 'filters': 2, 'kernel': 1},"
     "{'name': 'b', 'kind': 'convolution', 'filters': 2, 'kernel': 3, 'padding': 1},"
     "{'name': 's', 'kind': 'addition'}, {'name': 'r', 'kind': 'relu'}," FC,
     "['in', 'a'], ['in', 'b'], ['a', 's'], ['b', 's'], ['in', 's'], ['s', 'r'], ['r', 'fc']", NULL,
     true},
    {"residual block twice", IMAGE(3, 3, 2),
     "{'name': 'a', 'kind': 'convolution', 'filters': 2, 'kernel': 1},"
     "{'name': 'b', 'kind': 'relu'}, {'name': 'c', 'kind': 'convolution', 'filters': 2,"
     " 'kernel': 1}, {'name': 's', 'kind': 'addition'}, {'name': 't', 'kind': 'relu'},"
     "{'name': 'd', 'kind': 'convolution', 'filters': 2, 'kernel': 1},"
     "{'name': 'u', 'kind': 'addition'}," FC,
     "['in', 'a'], ['a', 'b'], ['b', 'c'], ['b', 's'], ['c', 's'], ['s', 't'], ['t', 'd'],"
     " ['t', 'u'], ['d', 'u'], ['u', 'fc']",
     NULL, true},
    {"lstm", SEQUENCES(3, LENGTHS), "{'name': 'l', 'kind': 'lstm', 'units': 5}," FC, NULL, NULL,
     false},
    {"lstm, last step", SEQUENCES(3, LENGTHS),
     "{'name': 'l', 'kind': 'lstm', 'units': 4, 'output': 'last'}," FC, NULL, NULL, false},
    {"lstm of single steps", SEQUENCES(2, SHORT), "{'name': 'l', 'kind': 'lstm', 'units': 3}," FC,
     NULL, NULL, false},
    {"lstm of one sequence", .height = 1, .width = 1, .channels = 4, .classes = 2, .batch = 1,
     .lengths = ALONE, "{'name': 'l', 'kind': 'lstm', 'units': 3, 'bias': false}," FC, NULL, NULL,
     false},
    {"three lstm, dropout", SEQUENCES(2, LENGTHS),
     "{'name': 'a', 'kind': 'lstm', 'units': 3}, {'name': 'd', 'kind': 'dropout', 'rate': 0.3},"
     "{'name': 'b', 'kind': 'lstm', 'units': 4}, {'name': 'c', 'kind': 'lstm', 'units': 3,"
     " 'output': 'last'}, {'name': 'e', 'kind': 'dropout', 'rate': 0.3}," FC,
     NULL, NULL, false},
    {"lstm behind a frozen one", SEQUENCES(3, LENGTHS),
     "{'name': 'a', 'kind': 'lstm', 'units': 3}, {'name': 'b', 'kind': 'lstm', 'units': 2}," FC,
     NULL, "a", false},
    {"layers on every step", SEQUENCES(3, LENGTHS),
     "{'name': 'a', 'kind': 'fully_connected', 'outputs': 5}, {'name': 'n', 'kind': 'batch_norm'},"
     "{'name': 'r', 'kind': 'relu'}, {'name': 's', 'kind': 'softmax'},"
     "{'name': 'l', 'kind': 'lstm', 'units': 3}, {'name': 'q', 'kind': 'relu'}," FC,
     NULL, NULL, true},
    {"lstm beside lstm", SEQUENCES(2, LENGTHS),
     "{'name': 'a', 'kind': 'lstm', 'units': 3}, {'name': 'b', 'kind': 'lstm', 'units': 3},"
     "{'name': 's', 'kind': 'addition'}, {'name': 'j', 'kind': 'concatenation'},"
     "{'name': 'l', 'kind': 'lstm', 'units': 4, 'output': 'last'}," FC,
     "['in', 'a'], ['in', 'b'], ['a', 's'], ['b', 's'], ['a', 'j'], ['s', 'j'], ['in', 'j'],"
     " ['j', 'l'], ['l', 'fc']",
     NULL, false},
    {"gru", SEQUENCES(3, LENGTHS), "{'name': 'l', 'kind': 'gru', 'units': 5}," FC, NULL, NULL,
     false},
    {"gru, last step", SEQUENCES(3, LENGTHS),
     "{'name': 'l', 'kind': 'gru', 'units': 4, 'output': 'last'}," FC, NULL, NULL, false},
    {"gru of one sequence", .height = 1, .width = 1, .channels = 4, .classes = 2, .batch = 1,
     .lengths = ALONE, "{'name': 'l', 'kind': 'gru', 'units': 3, 'bias': false}," FC, NULL, NULL,
     false},
    {"two gru behind a frozen one", SEQUENCES(3, LENGTHS),
     "{'name': 'a', 'kind': 'gru', 'units': 3}, {'name': 'b', 'kind': 'gru', 'units': 2},"
     "{'name': 'c', 'kind': 'gru', 'units': 3, 'output': 'last'}," FC,
     NULL, "a", false},
    {"gru beside gru", SEQUENCES(2, LENGTHS),
     "{'name': 'a', 'kind': 'gru', 'units': 3}, {'name': 'b', 'kind': 'gru', 'units': 3},"
     "{'name': 's', 'kind': 'addition'}, {'name': 'j', 'kind': 'concatenation'},"
     "{'name': 'l', 'kind': 'gru', 'units': 4, 'output': 'last'}," FC,
     "['in', 'a'], ['in', 'b'], ['a', 's'], ['b', 's'], ['a', 'j'], ['s', 'j'], ['in', 'j'],"
     " ['j', 'l'], ['l', 'fc']",
     NULL, false},
    {"lstm both ways", SEQUENCES(3, LENGTHS),
     "{'name': 'l', 'kind': 'lstm', 'units': 4, 'direction': 'bidirectional'}," FC, NULL, NULL,
     false},
    {"two lstm both ways, last step", SEQUENCES(2, LENGTHS),
     "{'name': 'a', 'kind': 'lstm', 'units': 3, 'direction': 'bidirectional'},"
     "{'name': 'd', 'kind': 'dropout', 'rate': 0.3}, {'name': 'b', 'kind': 'lstm', 'units': 2,"
     " 'direction': 'bidirectional', 'output': 'last'}," FC,
     NULL, NULL, false},
    {"gru beside gru both ways", SEQUENCES(2, LENGTHS),
     "{'name': 'a', 'kind': 'gru', 'units': 2, 'direction': 'bidirectional'},"
     "{'name': 'b', 'kind': 'gru', 'units': 3, 'direction': 'bidirectional', 'bias': false},"
     "{'name': 'j', 'kind': 'concatenation'},"
     "{'name': 'l', 'kind': 'gru', 'units': 2, 'direction': 'bidirectional', 'output': 'last'}," FC,
     "['in', 'a'], ['a', 'b'], ['a', 'j'], ['b', 'j'], ['in', 'j'], ['j', 'l'], ['l', 'fc']", NULL,
     false},
    {"attention", SEQUENCES(6, LENGTHS), "{'name': 'a', 'kind': 'attention', 'heads': 2}," FC, NULL,
     NULL, false},
    {"attention, causal, without biases", SEQUENCES(3, LENGTHS),
     "{'name': 'a', 'kind': 'attention', 'causal': true, 'bias': false}," FC, NULL, NULL, false},
    {"attention of single steps", SEQUENCES(4, SHORT),
     "{'name': 'a', 'kind': 'attention', 'heads': 4}," FC, NULL, NULL, false},
    {"attention between frozen ones, beside itself", SEQUENCES(4, LENGTHS),
     "{'name': 'p', 'kind': 'fully_connected', 'outputs': 4},"
     "{'name': 'a', 'kind': 'attention', 'heads': 2}, {'name': 's', 'kind': 'addition'},"
     "{'name': 'b', 'kind': 'attention', 'heads': 1, 'causal': true}," FC,
     "['in', 'p'], ['p', 'a'], ['p', 's'], ['a', 's'], ['s', 'b'], ['b', 'fc']", "a", false},
    {"positions, mean of the steps", SEQUENCES(5, LENGTHS),
     "{'name': 'p', 'kind': 'positional_encoding'}, {'name': 'l', 'kind': 'lstm', 'units': 3},"
     "{'name': 'q', 'kind': 'positional_encoding', 'encoding': 'learned', 'length': 180},"
     "{'name': 'm', 'kind': 'sequence_pool', 'method': 'mean'}," FC,
     NULL, NULL, false},
    {"learned positions beside others, last step", SEQUENCES(3, LENGTHS),
     "{'name': 'a', 'kind': 'positional_encoding', 'encoding': 'learned', 'length': 200},"
     "{'name': 's', 'kind': 'addition'}, {'name': 'm', 'kind': 'sequence_pool'}," FC,
     "['in', 'a'], ['a', 's'], ['in', 's'], ['s', 'm'], ['m', 'fc']", NULL, false},
    {"two pools of the same steps", SEQUENCES(3, LENGTHS),
     "{'name': 'm', 'kind': 'sequence_pool', 'method': 'mean'}, {'name': 'l', 'kind':"
     " 'sequence_pool'}, {'name': 'j', 'kind': 'concatenation'}," FC,
     "['in', 'm'], ['in', 'l'], ['m', 'j'], ['l', 'j'], ['j', 'fc']", NULL, false},
    {"embedding", SEQUENCES(2, LENGTHS),
     "{'name': 'e', 'kind': 'embedding', 'ids': 4, 'outputs': 3, 'column': 1},"
     "{'name': 'a', 'kind': 'attention'}," FC,
     NULL, NULL, false, .ids = 4},
    {"temporal_convolution", SEQUENCES(3, LENGTHS),
     "{'name': 'a', 'kind': 'temporal_convolution', 'filters': 4},"
     "{'name': 'b', 'kind': 'temporal_convolution', 'filters': 3, 'kernel': 2, 'dilation': 2,"
     " 'bias': false}," FC,
     NULL, NULL, false},
    {"temporal_convolution to both sides, beside another layer", SEQUENCES(3, LENGTHS),
     "{'name': 'a', 'kind': 'temporal_convolution', 'filters': 3, 'kernel': 4, 'padding': 'same'},"
     "{'name': 's', 'kind': 'addition'}, {'name': 'b', 'kind': 'temporal_convolution', 'filters':"
     " 17, 'kernel': 3, 'dilation': 3, 'padding': 'same'}," FC,
     "['in', 'a'], ['a', 's'], ['in', 's'], ['s', 'b'], ['b', 'fc']", NULL, false},
    {"temporal_convolution behind a frozen one", SEQUENCES(2, LENGTHS),
     "{'name': 'a', 'kind': 'temporal_convolution', 'filters': 3, 'kernel': 1},"
     "{'name': 'b', 'kind': 'temporal_convolution', 'filters': 2}," FC,
     NULL, "a", false},
    {"flatten behind a clipped_relu, then dropout", IMAGE(4, 4, 1),
     "{'name': 'c', 'kind': 'convolution', 'filters': 2, 'kernel': 3},"
     "{'name': 'r', 'kind': 'clipped_relu', 'ceiling': 0.6}, {'name': 'f', 'kind': 'flatten'},"
     "{'name': 'd', 'kind': 'dropout', 'rate': 0.4}," FC,
     NULL, NULL, true},
    {"concatenation of lstm, then dropout", SEQUENCES(3, LENGTHS),
     "{'name': 'a', 'kind': 'lstm', 'units': 3}, {'name': 'b', 'kind': 'lstm', 'units': 4},"
     "{'name': 'j', 'kind': 'concatenation'}, {'name': 'd', 'kind': 'dropout', 'rate': 0.4}," FC,
     "['in', 'a'], ['in', 'b'], ['a', 'j'], ['b', 'j'], ['j', 'd'], ['d', 'fc']", NULL, false},
    {"concatenation of lstm, then relu", SEQUENCES(3, LENGTHS),
     "{'name': 'a', 'kind': 'lstm', 'units': 3}, {'name': 'b', 'kind': 'lstm', 'units': 4},"
     "{'name': 'j', 'kind': 'concatenation'}, {'name': 'r', 'kind': 'relu'}," FC,
     "['in', 'a'], ['in', 'b'], ['a', 'j'], ['b', 'j'], ['j', 'r'], ['r', 'fc']", NULL, true},
    {"concatenation of convolution+relu, then addition", IMAGE(4, 4, 2),
     "{'name': 'a', 'kind': 'convolution', 'filters': 2, 'kernel': 3},"
     "{'name': 'ar', 'kind': 'relu'}, {'name': 'b', 'kind': 'convolution', 'filters': 2,"
     " 'kernel': 3}, {'name': 'br', 'kind': 'relu'}, {'name': 'j', 'kind': 'concatenation'},"
     "{'name': 'k', 'kind': 'convolution', 'filters': 4, 'kernel': 3},"
     "{'name': 's', 'kind': 'addition'}," FC,
     "['in', 'a'], ['a', 'ar'], ['in', 'b'], ['b', 'br'], ['ar', 'j'], ['br', 'j'], ['in', 'k'],"
     " ['j', 's'], ['k', 's'], ['s', 'fc']",
     NULL, true},
    {"concatenation of convolutions, then relu", IMAGE(4, 4, 2),
     "{'name': 'a', 'kind': 'convolution', 'filters': 2, 'kernel': 3},"
     "{'name': 'b', 'kind': 'convolution', 'filters': 3, 'kernel': 3},"
     "{'name': 'j', 'kind': 'concatenation'}, {'name': 'r', 'kind': 'relu'}," FC,
     "['in', 'a'], ['in', 'b'], ['a', 'j'], ['b', 'j'], ['j', 'r'], ['r', 'fc']", NULL, true},
};

const size_t test_network_cases_count = sizeof test_network_cases / sizeof test_network_cases[0];

const struct test_network_case *test_network_case_named(const char *name)
{
    for (size_t i = 0; i < test_network_cases_count; i++) {
        if (strcmp(test_network_cases[i].name, name) == 0) {
            return &test_network_cases[i];
        }
    }
    fail_msg("no case %s", name);
    return NULL;
}

struct nn_network_bind test_network_case_bind(const struct test_network_case *c)
{
    if (!c->lengths) {
        return (struct nn_network_bind){
            .height = c->height, .width = c->width, .channels = c->channels, .classes = c->classes};
    }
    return (struct nn_network_bind){
        .features = c->channels, .longest = 180, .responses = c->classes};
}

size_t test_network_case_rows(const struct test_network_case *c, size_t batch)
{
    size_t rows = 0;
    for (size_t i = 0; i < batch; i++) {
        rows += c->lengths ? c->lengths[i] : 1;
    }
    return rows;
}

void test_network_case_load(const struct test_network_case *c, struct nn_network *network,
                            size_t batch, const nn_real *input)
{
    const nn_real *sequences[16];
    size_t row = 0, size = nn_network_input_size(network);
    for (size_t i = 0; c->lengths && i < batch; i++) {
        sequences[i] = input + row * size;
        row += c->lengths[i];
    }
    if (c->lengths) {
        const struct nn_sequence_batch loaded = {sequences, c->lengths, batch};
        nn_network_load_sequences(network, &loaded);
    }
    nn_real *loaded = nn_network_input(network);
    size_t count = test_network_case_rows(c, batch) * size;
    memcpy(loaded, input, count * sizeof *input);
    for (size_t i = 0; c->ids > 0 && i < count; i++) {
        loaded[i] = (nn_real)((size_t)(fabs((double)input[i]) * (double)c->ids) % c->ids);
    }
}

void test_network_case_text(const struct test_network_case *c, char *out, size_t size)
{
    (void)snprintf(
        out, size,
        "{'layers': [{'name': 'in', 'kind': '%s', 'normalisation': 'none'}, %s%s]%s%s%s}",
        c->lengths ? "sequence_input" : "image_input", c->layers,
        c->lengths ? "" : ", {'name': 'softmax', 'kind': 'softmax'}",
        c->connections ? ", 'connections': [" : "", c->connections ? c->connections : "",
        !c->connections ? ""
        : c->lengths    ? "]"
                        : ", ['fc', 'softmax']]");
}
