/* SPDX-License-Identifier: MIT
 *
 * Passes of the norms within a sample; the formulas stand in core/kernels/row_norm.h.
 */
#include "core/layers/row_norm_internal.h"

void nn_row_norm_plan(const struct nn_layer *layer, const struct nn_layer_input *in, bool shift,
                      struct nn_layer_plan *out)
{
    const struct nn_factor_options *f =
        &((const struct nn_row_norm_options *)layer->options)->factors;
    size_t c = in[0].shape.channels;
    *out = (struct nn_layer_plan){
        .out = in[0].shape,
        .image = in[0].image,
        .n_parameters = shift ? 2 : 1,
        .parameters = {nn_vector_plan("weight", NN_ROLE_SCALE, c, f->weight_learning_rate_factor,
                                      f->weight_l2_factor),
                       nn_vector_plan("bias", NN_ROLE_SHIFT, c, f->bias_learning_rate_factor,
                                      f->bias_l2_factor)},
        .multiply_adds = nn_values(in[0].shape),
    };
    for (size_t i = 0; i < 2 && !nn_shape_equal(in[0].image, in[0].shape); i++) {
        nn_vector_of_image(&out->parameters[i], in[0].image);
    }
}

static struct nn_row_norm norm_of(const struct nn_pass *pass, size_t batch)
{
    const struct nn_placed *placed = pass->layers[0];
    const struct nn_row_norm_options *options = placed->layer->options;
    bool over_pixels = options->groups > 0;
    struct nn_row_norm norm = {
        .samples = over_pixels ? batch : nn_pass_rows(pass, batch),
        .pixels = over_pixels ? nn_pass_rows(pass, 1) : 1,
        .channels = pass->out.channels,
        .groups = over_pixels ? options->groups : 1,
        .epsilon = (nn_real)options->epsilon,
        .scale = nn_placed_value(placed, NN_ROLE_SCALE),
        .shift = nn_placed_value(placed, NN_ROLE_SHIFT),
    };
    norm.centred = nn_placed_parameter(placed, NN_ROLE_SHIFT) != NULL;
    return norm;
}

/* With the place of the statistics: means, then factors, each as many as a full batch has. */
static struct nn_row_norm placed_norm(const struct nn_pass *pass, size_t batch)
{
    struct nn_row_norm norm = norm_of(pass, batch), most = norm_of(pass, pass->max_batch);
    void *memory = pass->saved;
    norm.mean = nn_piece(&memory, nn_bytes(most.samples * most.groups));
    norm.factor = memory;
    return norm;
}

void nn_row_norm_pass_plan(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    struct nn_row_norm norm = norm_of(pass, pass->max_batch);
    out->saved_bytes = 2 * nn_bytes(norm.samples * norm.groups);
    out->workspace_bytes = nn_row_norm_workspace(norm.samples, norm.pixels, norm.channels, lanes);
    out->needs_input = true;
    out->in_place = !pass->backward;
    out->gradient_in_place = true;
}

void nn_row_norm_pass_forward(const struct nn_pass *pass, const struct nn_run *run,
                              const struct nn_view *x, struct nn_view y)
{
    struct nn_row_norm norm = placed_norm(pass, run->batch);
    nn_row_norm_forward(run->exec, &norm, y.data, y.ld, x[0].data, x[0].ld);
}

void nn_row_norm_pass_backward(const struct nn_pass *pass, const struct nn_run *run,
                               const struct nn_backward *args)
{
    const struct nn_placed *placed = pass->layers[0];
    struct nn_row_norm norm = placed_norm(pass, run->batch);
    const struct nn_row_norm_gradient gradient = {
        .x = args->x[0].data,
        .ldx = args->x[0].ld,
        .d_y = args->d_y.data,
        .ldd_y = args->d_y.ld,
        .d_x = args->d_x[0].view.data,
        .ldd_x = args->d_x[0].view.ld,
        .accumulate = args->d_x[0].add,
        .d_scale = nn_placed_grad(placed, NN_ROLE_SCALE),
        .d_shift = nn_placed_grad(placed, NN_ROLE_SHIFT),
    };
    nn_row_norm_gradient(run->exec, &norm, &gradient);
}
