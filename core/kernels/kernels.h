/* SPDX-License-Identifier: MIT
 *
 * The public header of the room: the loops over numbers, on channels-last matrices. Element
 * (row, channel) is x[row * ldx + channel]; image rows run batch x height x width, width fastest.
 *
 * Every operation is cut into chunks that its sizes alone fix and adds partial sums in chunk order,
 * so its bits do not depend on the number of threads. None can fail, allocate or check its
 * arguments: sizes were checked when the network was planned. Outputs are overwritten unless
 * "added to" is said; x, y and gradients may alias only where it is said. Zero rows are fine.
 */
#ifndef NN_KERNELS_KERNELS_H
#define NN_KERNELS_KERNELS_H

#include "core/kernels/activation.h"
#include "core/kernels/attention.h"
#include "core/kernels/batch_norm.h"
#include "core/kernels/broadcast.h"
#include "core/kernels/convolution.h"
#include "core/kernels/exec.h"
#include "core/kernels/framing.h"
#include "core/kernels/lrn.h"
#include "core/kernels/matrix.h"
#include "core/kernels/pointwise.h"
#include "core/kernels/pooling.h"
#include "core/kernels/recurrence.h"
#include "core/kernels/row_norm.h"
#include "core/kernels/sequences.h"
#include "core/kernels/softmax.h"
#include "core/kernels/update.h"

#endif
