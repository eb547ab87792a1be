/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a metric in Lua: checked, and run on two samples under small caps.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/metrics/custom.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const float probabilities[] = {0.75F, 0.25F, 0.5F, 0.5F};
    static const uint32_t labels[] = {0, 1};
    static const char *const classes[] = {"a", "b"};
    const struct nn_custom_input input = {.samples = 2,
                                          .classes = 2,
                                          .probabilities = probabilities,
                                          .labels = labels,
                                          .class_names = classes};
    const struct nn_custom_limits limits = {
        .work = 20000, .bytes = (size_t)1 << 20, .seconds = 2.0};
    struct nn_custom_value value;
    struct nn_error err = {0};
    const char *text = (const char *)data;
    enum nn_status status = nn_custom_check(text, size, &err);
    nn_custom_run(text, size, &input, &limits, &value);
    NN_ASSERT(value.defined || strlen(value.error) <= NN_CUSTOM_ERROR_MAX);
    NN_ASSERT(!value.defined || status == NN_OK || status == NN_ERR_LIMIT);
    NN_ASSERT(status == NN_OK || err.text[0]);
    return 0;
}
