/* SPDX-License-Identifier: MIT
 *
 * Framing and buffers of one end of a socket pair.
 *
 * Invariants:
 * 1. in[in_start .. in_end) are the bytes received and not yet handed out; the byte in[in_end] is
 *    always allocated, for the NUL behind the last payload.
 * 2. A handed-out payload stays where it is until the next wire_receive: only that call moves or
 *    grows `in`, and gives back the byte the NUL replaced.
 * 3. Once `ended` is not WIRE_GOT_RECORD it never changes again.
 */
#include "server/wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/base/clock.h"

enum { READ_BYTES = 64 * 1024 };

struct buffer {
    char *bytes;
    size_t start;
    size_t end;
    size_t capacity;
};

struct wire_channel {
    int fd;
    struct wire_limits limits;
    struct buffer in;
    struct buffer out;
    size_t nul_at;   /* where the NUL behind the last payload stands, 0 if none */
    char nul_was;    /* the byte it replaced */
    bool peer_gone;  /* end of file or reset seen while reading */
    bool write_gone; /* the peer takes nothing any more */
    enum wire_event ended;
};

struct header {
    uint32_t length;
    uint16_t type;
    uint16_t version;
};
_Static_assert(sizeof(struct header) == WIRE_HEADER_BYTES, "the header has no padding");

static const struct {
    unsigned type;
    const char *slug;
} TYPES[] = {
#define TYPE_ROW(name, value, slug, payload) {value, slug},
    WIRE_TYPE_MAP(TYPE_ROW)
#undef TYPE_ROW
};

const char *wire_type_slug(unsigned type)
{
    for (size_t i = 0; i < sizeof TYPES / sizeof TYPES[0]; i++) {
        if (TYPES[i].type == type) {
            return TYPES[i].slug;
        }
    }
    return NULL;
}

struct wire_limits wire_limits_default(void)
{
    return (struct wire_limits){.max_payload = (size_t)4 << 20, .max_outgoing = (size_t)8 << 20};
}

enum sv_status wire_channel_create(int fd, struct wire_limits limits,
                                   struct wire_channel **out_channel, struct sv_error *err)
{
    struct wire_channel *channel = calloc(1, sizeof *channel);
    int flags = fcntl(fd, F_GETFL);
    if (!channel || flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
        fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
        free(channel);
        if (fd >= 0) {
            (void)close(fd);
        }
        return sv_fail(err, SV_ERR_INTERNAL, "cannot use the descriptor as a channel");
    }
    channel->fd = fd;
    channel->limits = limits;
    channel->ended = WIRE_GOT_RECORD;
    *out_channel = channel;
    return SV_OK;
}

void wire_channel_destroy(struct wire_channel *channel)
{
    if (!channel) {
        return;
    }
    (void)close(channel->fd);
    free(channel->in.bytes);
    free(channel->out.bytes);
    free(channel);
}

int wire_channel_fd(const struct wire_channel *channel)
{
    return channel->fd;
}

/* Makes room for `more` bytes (and one) behind end: moves the content down, grows if needed. */
static bool buffer_reserve(struct buffer *buffer, size_t more)
{
    if (buffer->start == buffer->end) {
        buffer->start = buffer->end = 0;
    }
    if (buffer->capacity - buffer->end > more) {
        return true;
    }
    size_t used = buffer->end - buffer->start;
    if (buffer->start > 0) {
        memmove(buffer->bytes, buffer->bytes + buffer->start, used);
        buffer->start = 0;
        buffer->end = used;
    }
    if (buffer->capacity > used + more) {
        return true;
    }
    size_t capacity = used + more + 1;
    if (capacity < 2 * buffer->capacity) {
        capacity = 2 * buffer->capacity;
    }
    char *bytes = realloc(buffer->bytes, capacity);
    if (!bytes) {
        return false;
    }
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

/* Reads once; true when bytes came. A failed allocation counts as a broken peer: the channel cannot
 * go on without losing a record. */
static bool take_incoming(struct wire_channel *channel)
{
    if (channel->peer_gone) {
        return false;
    }
    if (!buffer_reserve(&channel->in, READ_BYTES)) {
        channel->peer_gone = true;
        channel->ended = WIRE_BROKEN;
        return false;
    }
    ssize_t n;
    do {
        n = recv(channel->fd, channel->in.bytes + channel->in.end, READ_BYTES, MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    if (n > 0) {
        channel->in.end += (size_t)n;
        return true;
    }
    if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) {
        channel->peer_gone = true;
    }
    return false;
}

/* Looks at the front of the buffer: a whole record, not yet one, or one that breaks the rules. */
static enum wire_event parse_front(struct wire_channel *channel, struct wire_record *out_record)
{
    size_t have = channel->in.end - channel->in.start;
    struct header header;
    if (have < sizeof header) {
        return WIRE_NOTHING_YET;
    }
    memcpy(&header, channel->in.bytes + channel->in.start, sizeof header);
    if (header.length > channel->limits.max_payload || header.version != WIRE_VERSION ||
        !wire_type_slug(header.type)) {
        return WIRE_BROKEN;
    }
    if (have - sizeof header < header.length) {
        return WIRE_NOTHING_YET;
    }
    char *payload = channel->in.bytes + channel->in.start + sizeof header;
    channel->in.start += sizeof header + header.length;
    channel->nul_at = channel->in.start;
    channel->nul_was = payload[header.length];
    payload[header.length] = '\0';
    *out_record = (struct wire_record){header.type, payload, header.length};
    return WIRE_GOT_RECORD;
}

enum wire_event wire_receive(struct wire_channel *channel, struct wire_record *out_record)
{
    if (channel->nul_at) {
        channel->in.bytes[channel->nul_at] = channel->nul_was;
        channel->nul_at = 0;
    }
    if (channel->ended != WIRE_GOT_RECORD) {
        return channel->ended;
    }
    for (;;) {
        enum wire_event event = parse_front(channel, out_record);
        if (event == WIRE_GOT_RECORD) {
            return event;
        }
        if (event == WIRE_BROKEN) {
            channel->ended = WIRE_BROKEN;
            return event;
        }
        if (take_incoming(channel)) {
            continue;
        }
        if (!channel->peer_gone) {
            return WIRE_NOTHING_YET;
        }
        if (channel->ended == WIRE_GOT_RECORD) {
            bool partial = channel->in.end != channel->in.start;
            channel->ended = partial ? WIRE_BROKEN : WIRE_CLOSED;
        }
        return channel->ended;
    }
}

size_t wire_outgoing(const struct wire_channel *channel)
{
    return channel->out.end - channel->out.start;
}

enum sv_status wire_write(struct wire_channel *channel)
{
    while (!channel->write_gone && wire_outgoing(channel) > 0) {
        ssize_t n = send(channel->fd, channel->out.bytes + channel->out.start,
                         wire_outgoing(channel), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n >= 0) {
            channel->out.start += (size_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return SV_OK;
        } else if (errno != EINTR) {
            channel->write_gone = true;
        }
    }
    return channel->write_gone ? SV_ERR_DRAINING : SV_OK;
}

static enum sv_status append(struct wire_channel *channel, enum wire_type type, const void *payload,
                             size_t size)
{
    struct header header = {(uint32_t)size, (uint16_t)type, WIRE_VERSION};
    if (!buffer_reserve(&channel->out, sizeof header + size)) {
        return SV_ERR_OVERLOADED;
    }
    memcpy(channel->out.bytes + channel->out.end, &header, sizeof header);
    if (size > 0) {
        memcpy(channel->out.bytes + channel->out.end + sizeof header, payload, size);
    }
    channel->out.end += sizeof header + size;
    return SV_OK;
}

enum sv_status wire_queue(struct wire_channel *channel, enum wire_type type, const void *payload,
                          size_t size)
{
    if (size > channel->limits.max_payload) {
        return SV_ERR_TOO_LARGE;
    }
    if (channel->write_gone) {
        return SV_ERR_DRAINING;
    }
    if (wire_outgoing(channel) > 0 &&
        wire_outgoing(channel) + size + WIRE_HEADER_BYTES > channel->limits.max_outgoing) {
        return SV_ERR_OVERLOADED;
    }
    enum sv_status st = append(channel, type, payload, size);
    return st == SV_OK ? wire_write(channel) : st;
}

/* Waits until the peer takes bytes; SV_ERR_OVERLOADED at the deadline (< 0: none). Incoming bytes
 * are taken as long as less than one record's limit of them waits. */
static enum sv_status wait_writable(struct wire_channel *channel, int64_t deadline_ms)
{
    bool read_too =
        !channel->peer_gone && channel->in.end - channel->in.start < channel->limits.max_payload;
    struct pollfd pfd = {.fd = channel->fd, .events = (short)(POLLOUT | (read_too ? POLLIN : 0))};
    int64_t left_ms = deadline_ms < 0 ? 1000 : deadline_ms - sv_clock_monotonic_ms();
    if (left_ms <= 0) {
        return SV_ERR_OVERLOADED;
    }
    if (poll(&pfd, 1, left_ms > 1000 ? 1000 : (int)left_ms) > 0 && read_too &&
        (pfd.revents & POLLIN)) {
        (void)take_incoming(channel);
    }
    return wire_write(channel);
}

enum sv_status wire_send(struct wire_channel *channel, enum wire_type type, const void *payload,
                         size_t size, int timeout_ms)
{
    int64_t deadline_ms = timeout_ms < 0 ? -1 : sv_clock_monotonic_ms() + timeout_ms;
    /* taking bytes in may move what the last wire_receive handed out */
    if (channel->nul_at) {
        channel->in.bytes[channel->nul_at] = channel->nul_was;
        channel->nul_at = 0;
    }
    enum sv_status st = wire_queue(channel, type, payload, size);
    while (st == SV_ERR_OVERLOADED) {
        st = wait_writable(channel, deadline_ms);
        if (st == SV_OK) {
            st = wire_queue(channel, type, payload, size);
        } else if (st == SV_ERR_OVERLOADED) {
            return st;
        }
    }
    while (st == SV_OK && wire_outgoing(channel) > 0) {
        st = wait_writable(channel, deadline_ms);
    }
    return st;
}
