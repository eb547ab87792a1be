/* SPDX-License-Identifier: MIT
 *
 * The child's end of the socket pair.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/cpu.h"
#include "server/trial/confine.h"
#include "server/trial/trial_internal.h"

/* The supervisor is gone: nobody wants a result, and nothing here needs an orderly end. */
static _Noreturn void leave_orphaned(void)
{
    _exit(TRIAL_EXIT_ORPHANED);
}

static void take_wish(struct trial_link *link, const struct wire_record *record)
{
    unsigned threads = 0;
    switch (record->type) {
    case WIRE_STOP:
        link->stop = true;
        break;
    case WIRE_PAUSE:
        link->pause = true;
        break;
    case WIRE_CANCEL:
        link->cancel = true;
        break;
    case WIRE_THREADS:
        if (wire_threads_decode(record, &threads)) {
            link->threads = threads;
        }
        break;
    default: /* of a later version: not for us */
        break;
    }
}

void trial_listen(struct trial_link *link)
{
    struct wire_record record;
    enum wire_event event;
    while ((event = wire_receive(link->channel, &record)) == WIRE_GOT_RECORD) {
        take_wish(link, &record);
    }
    if (event != WIRE_NOTHING_YET) {
        leave_orphaned();
    }
}

/* Waits for the start record; NULL when the first record is none. */
static json_t *wait_start(struct trial_link *link)
{
    static const struct jx_limits limits = {.max_bytes = (size_t)64 << 20, .max_depth = 64};
    struct wire_record record;
    enum wire_event event;
    json_t *json = NULL;
    while ((event = wire_receive(link->channel, &record)) == WIRE_NOTHING_YET) {
        struct pollfd fd = {.fd = wire_channel_fd(link->channel), .events = POLLIN};
        (void)poll(&fd, 1, -1);
    }
    if (event != WIRE_GOT_RECORD) {
        leave_orphaned();
    }
    if (record.type != WIRE_START ||
        jx_parse(record.payload, record.size, &limits, &json, NULL) != NN_OK) {
        return NULL;
    }
    return json;
}

bool trial_open(int argc, char *const *argv, struct trial_link *out_link, json_t **out_start,
                int *out_exit)
{
    struct trial_limits limits;
    struct sv_error err = {0};
    *out_exit = TRIAL_EXIT_PROTOCOL;
    if (!trial_limits_parse(argc, argv, &limits)) {
        (void)fputs("assayd: this role is started by assayd work only\n", stderr);
        return false;
    }
    enum sv_status st = trial_confine(&limits, &err);
    if (st == SV_ERR_DRAINING) {
        *out_exit = TRIAL_EXIT_ORPHANED;
        return false;
    }
    struct trial_link link = {.channel = NULL};
    struct wire_limits sizes = {.max_payload = (size_t)64 << 20, .max_outgoing = (size_t)8 << 20};
    if (st != SV_OK || trial_sandbox(&err) != SV_OK ||
        wire_channel_create(WIRE_CHILD_FD, sizes, &link.channel, &err) != SV_OK) {
        (void)fprintf(stderr, "assayd: %s\n", err.text);
        return false;
    }
    nn_cpu_flush_denormals();
    json_t *start = wait_start(&link);
    if (!start) {
        wire_channel_destroy(link.channel);
        return false;
    }
    *out_link = link;
    *out_start = start;
    return true;
}

void trial_close(struct trial_link *link)
{
    wire_channel_destroy(link->channel);
    link->channel = NULL;
}

static void send_record(struct trial_link *link, enum wire_type type, const void *bytes,
                        size_t size)
{
    enum sv_status st = wire_send(link->channel, type, bytes, size, -1);
    if (st == SV_ERR_DRAINING) {
        leave_orphaned();
    }
    if (st != SV_OK) {
        (void)fprintf(stderr, "assayd: a %s record of %zu bytes cannot be sent\n",
                      wire_type_slug(type), size);
        abort(); /* a record that is lost must not look like a result */
    }
}

void trial_say_take(struct trial_link *link, enum wire_type type, json_t *json)
{
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    if (!text) {
        (void)fputs("assayd: no memory for a record\n", stderr);
        abort();
    }
    send_record(link, type, text, strlen(text));
    free(text);
}

void trial_say_bytes_take(struct trial_link *link, enum wire_type type, void *bytes, size_t size)
{
    send_record(link, type, bytes, size);
    free(bytes);
}

void trial_say_log(struct trial_link *link, const char *level, const char *text)
{
    trial_say_take(link, WIRE_LOG,
                   json_pack("{s:s, s:o}", "level", level, "text", jx_text(text, SIZE_MAX)));
}

void trial_say_phase(struct trial_link *link, const char *phase)
{
    trial_say_take(link, WIRE_PROGRESS, json_pack("{s:s}", "phase", phase));
}

/* Which class of failure a core status is. */
static const char *failure_class(enum nn_status status)
{
    switch (status) {
    case NN_ERR_INVALID:
    case NN_ERR_NOT_SUPPORTED:
    case NN_ERR_LIMIT:
        return "invalid_input";
    case NN_ERR_DIVERGED:
        return "diverged";
    case NN_ERR_MEMORY:
        return "out_of_memory";
    case NN_ERR_IO: /* a full or failing disk: another attempt may find it mended */
        return "crashed";
    case NN_OK:
    case NN_ERR_CORRUPT:
    case NN_ERR_CANCELLED:
    case NN_ERR_INTERNAL:
    case NN_STATUS_COUNT:
        break;
    }
    return "internal";
}

int trial_say_failed(struct trial_link *link, enum nn_status status, const struct nn_error *err)
{
    const char *text = err->text[0] ? err->text : nn_status_text(status);
    const char *code = link->refusal ? sv_status_slug(link->refusal) : NULL;
    trial_say_take(link, WIRE_FAILED,
                   json_pack("{s:s, s:o, s:o, s:s?}", "class", failure_class(status), "text",
                             jx_text(text, SIZE_MAX), "pointer", jx_text(err->pointer, SIZE_MAX),
                             "code", code));
    return TRIAL_EXIT_FAILED;
}

void trial_say_hello(struct trial_link *link, json_t *facts)
{
    trial_say_take(link, WIRE_HELLO, facts);
}
