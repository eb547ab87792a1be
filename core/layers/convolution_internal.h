/* SPDX-License-Identifier: MIT
 *
 * What the operators that begin with a convolution share, and what the transposed one does.
 */
#ifndef NN_LAYERS_CONVOLUTION_INTERNAL_H
#define NN_LAYERS_CONVOLUTION_INTERNAL_H

#include "core/layers/shape_internal.h"

/* The weight: filters that each see so many channels. */
struct nn_parameter_plan nn_filters_plan(size_t filters, size_t channels, const struct nn_window *w,
                                         const struct nn_factor_options *factors);

/* Refuses groups that do not divide both. filters may be 0: not known yet. */
enum nn_status nn_groups_check(size_t groups, size_t filters, size_t channels,
                               struct nn_layer_issue *issue);

/* Whether kernels can take it for depthwise (nn_conv2d.depthwise). */
bool nn_is_depthwise(size_t groups, size_t filters, size_t channels, const struct nn_window *w);

/* Sizes of the pass's first layer, a convolution, for a batch. */
struct nn_conv2d nn_convolution_sizes(const struct nn_pass *pass, size_t batch);

/* Rows of its output. */
size_t nn_convolution_rows(const struct nn_conv2d *conv);

/* nn_exec workspace for forward and backward. */
size_t nn_convolution_workspace(const struct nn_conv2d *conv, size_t lanes);

/* Gradients of weight and input from d_y (of the convolution's own output). source makes its
 * rows as they are read; it must be NULL (and d_y be there) when the weight does not train.
 * scratch: nn_conv2d_pack_count numbers. */
void nn_convolution_gradients(const struct nn_pass *pass, const struct nn_run *run,
                              const struct nn_backward *args, const struct nn_conv2d *conv,
                              const struct nn_rows_source *source, void *scratch);

/* Of the bias, if it trains; d_y must be there. */
void nn_convolution_bias_gradient(const struct nn_pass *pass, const struct nn_run *run,
                                  const struct nn_backward *args, const struct nn_conv2d *conv);

#endif
