/* SPDX-License-Identifier: MIT
 *
 * What the opcodes of a pickle do with its bytes and with the stack.
 */
#include "core/files/pickle_internal.h"

enum { STACK_MAX = 1 << 20 };

enum nn_status nn_pickle_take(struct nn_pickle *p, size_t n, const unsigned char **out,
                              struct nn_error *err)
{
    if (n > p->size - p->at) {
        return nn_fail(err, NN_ERR_INVALID, "the pickle ends within an opcode");
    }
    *out = p->bytes + p->at;
    p->at += n;
    return NN_OK;
}

enum nn_status nn_pickle_take_number(struct nn_pickle *p, size_t n, uint64_t *out,
                                     struct nn_error *err)
{
    const unsigned char *bytes = NULL;
    enum nn_status status = nn_pickle_take(p, n, &bytes, err);
    if (status != NN_OK) {
        return status;
    }
    *out = 0;
    for (size_t i = n; i-- > 0;) {
        *out = *out << 8 | bytes[i];
    }
    return NN_OK;
}

enum nn_status nn_pickle_push(struct nn_pickle *p, uint32_t value, struct nn_error *err)
{
    enum nn_status status =
        nn_pickle_grow(&p->stack, sizeof *p->stack, p->n_stack, &p->room_stack, STACK_MAX, err);
    if (status == NN_OK) {
        p->stack[p->n_stack++] = value;
    }
    return status;
}

enum nn_status nn_pickle_push_new(struct nn_pickle *p, struct nn_pickle_value value,
                                  struct nn_error *err)
{
    uint32_t number = 0;
    enum nn_status status = nn_pickle_add(p, &value, &number, err);
    return status == NN_OK ? nn_pickle_push(p, number, err) : status;
}

enum nn_status nn_pickle_empty(struct nn_error *err)
{
    return nn_fail(err, NN_ERR_INVALID, "the pickle takes a value that is not there");
}

enum nn_status nn_pickle_pop(struct nn_pickle *p, uint32_t *out, struct nn_error *err)
{
    if (p->n_stack == 0 || p->values[p->stack[p->n_stack - 1]].kind == NN_PICKLE_MARK) {
        return nn_pickle_empty(err);
    }
    *out = p->stack[--p->n_stack];
    return NN_OK;
}

enum nn_status nn_pickle_find_mark(const struct nn_pickle *p, size_t *out, struct nn_error *err)
{
    size_t i = p->n_stack;
    while (i > 0 && p->values[p->stack[i - 1]].kind != NN_PICKLE_MARK) {
        i--;
    }
    if (i == 0) {
        return nn_pickle_empty(err);
    }
    *out = i;
    return NN_OK;
}

enum nn_status nn_pickle_find_last(const struct nn_pickle *p, size_t n, size_t *out,
                                   struct nn_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (i >= p->n_stack || p->values[p->stack[p->n_stack - 1 - i]].kind == NN_PICKLE_MARK) {
            return nn_pickle_empty(err);
        }
    }
    *out = p->n_stack - n;
    return NN_OK;
}

enum nn_status nn_pickle_container_at(const struct nn_pickle *p, size_t place,
                                      enum nn_pickle_kind kind, uint32_t *out, struct nn_error *err)
{
    if (place >= p->n_stack || p->values[p->stack[place]].kind != kind) {
        return nn_fail(err, NN_ERR_INVALID, "the pickle fills something that is no %s",
                       kind == NN_PICKLE_DICT ? "dictionary" : "list");
    }
    *out = p->stack[place];
    return NN_OK;
}
