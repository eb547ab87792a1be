/* SPDX-License-Identifier: MIT
 *
 * Records between the supervisor (`assayd work`) and a child process (`assayd trial`, `import`):
 * {u32 payload length, u16 type, u16 version} in the machine's byte order, then the payload, over a
 * stream socket pair of one machine. Payloads are JSON texts that this room does not look into,
 * but for points, predictions and threads, which are binary (payloads.c).
 *
 * A channel never trusts its peer: a record over the limit, of an unknown version or half written
 * at the peer's death ends the channel, it is never handed out.
 */
#ifndef WIRE_WIRE_H
#define WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/error.h"

enum { WIRE_VERSION = 1, WIRE_HEADER_BYTES = 8 };

/* The file descriptor on which a child finds its end of the socket pair. */
enum { WIRE_CHILD_FD = 3 };

/* WIRE_TYPE(name, value, slug, payload): values are never reused. 1-63 go to the child, from 64 on
 * they come from it. */
#define WIRE_TYPE_MAP(X)                                                                           \
    X(START, 1, "start", "JSON: everything the child needs (server/trial/README.md)")              \
    X(STOP, 2, "stop", "empty: finish the step, evaluate, keep")                                   \
    X(PAUSE, 3, "pause", "empty: write a checkpoint, then exit")                                   \
    X(CANCEL, 4, "cancel", "empty: exit, nothing is kept")                                         \
    X(THREADS, 5, "threads", "u32: use so many threads from the next step on")                     \
    X(HELLO, 64, "hello", "JSON: core build, core type, instruction set, pid")                     \
    X(PROGRESS, 65, "progress", "JSON: step, total_steps, epoch")                                  \
    X(POINTS, 66, "points", "binary: metric points")                                               \
    X(CHECKPOINT, 67, "checkpoint", "JSON: path, step, reason, summaries")                         \
    X(ARTEFACT, 68, "artefact", "JSON: kind, path, and what the kind asks for")                    \
    X(EVALUATION, 69, "evaluation", "JSON: part, numbers, confusion matrix")                       \
    X(LOG, 70, "log", "JSON: level, text")                                                         \
    X(FAILED, 71, "failed", "JSON: class, text, pointer")                                          \
    X(DONE, 72, "done", "JSON: outcome and closing facts; the child's last record")                \
    X(STARTED, 73, "started", "JSON: step resumed after (0: none), total_steps")                   \
    X(PREDICTIONS, 74, "predictions", "binary: some predicted samples of a part")                  \
    X(PREFIX, 75, "prefix", "JSON: kept (rows of the frozen prefix are in use), new (and made)")   \
    X(SEQUENCE, 76, "sequence", "binary: a predicted sequence of a part, or a piece of one")       \
    X(PROFILE, 77, "profile", "JSON: where the time of a step went")

enum wire_type {
#define WIRE_TYPE_ENUM(name, value, slug, payload) WIRE_##name = (value),
    WIRE_TYPE_MAP(WIRE_TYPE_ENUM)
#undef WIRE_TYPE_ENUM
};

/* "points" for WIRE_POINTS, NULL for a type that is not in the table. */
const char *wire_type_slug(unsigned type);

struct wire_limits {
    size_t max_payload;  /* bytes of one record, either way */
    size_t max_outgoing; /* bytes queued and not yet taken by the peer; wire_queue refuses beyond */
};

/* 4 MiB a record, 8 MiB queued. */
struct wire_limits wire_limits_default(void);

/* One received record; payload is borrowed until the next wire_receive. It is followed by a NUL
 * that size does not count, so that a JSON payload is a C string unless it holds NULs itself. */
struct wire_record {
    unsigned type;
    const char *payload;
    size_t size;
};

enum wire_event {
    WIRE_GOT_RECORD,
    WIRE_NOTHING_YET, /* poll for POLLIN and come back */
    WIRE_CLOSED,      /* the peer is gone, between two records */
    WIRE_BROKEN,      /* the peer is gone amid a record, or sent what no peer of ours sends */
};

/* One end of a socket pair; confined to one thread. */
struct wire_channel;

/* Takes fd, also on failure, and makes it non-blocking and close-on-exec. */
SV_MUST_CHECK enum sv_status wire_channel_create(int fd, struct wire_limits limits,
                                                 struct wire_channel **out_channel,
                                                 struct sv_error *err);
/* Closes the descriptor; NULL is allowed. Records still queued are lost: wire_flush first. */
void wire_channel_destroy(struct wire_channel *channel);
int wire_channel_fd(const struct wire_channel *channel);

/* Hands out the next whole record, reading without blocking where needed. After WIRE_CLOSED or
 * WIRE_BROKEN every further call says the same. */
enum wire_event wire_receive(struct wire_channel *channel, struct wire_record *out_record);

/* Queues a record and writes what the peer takes at once; never blocks. SV_ERR_OVERLOADED when the
 * queue is full (nothing queued), SV_ERR_TOO_LARGE over the record limit, SV_ERR_DRAINING when the
 * peer is gone. */
SV_MUST_CHECK enum sv_status wire_queue(struct wire_channel *channel, enum wire_type type,
                                        const void *payload, size_t size);
/* Bytes queued and not yet taken: poll for POLLOUT and call wire_write while not 0. */
size_t wire_outgoing(const struct wire_channel *channel);
/* Writes what the peer takes without blocking; SV_ERR_DRAINING when the peer is gone. */
SV_MUST_CHECK enum sv_status wire_write(struct wire_channel *channel);

/* As wire_queue, but waits for room and until all is written. Incoming bytes are taken into the
 * buffer meanwhile, so two peers that both send do not lock each other up. timeout_ms < 0: no
 * limit. SV_ERR_OVERLOADED on time-out. For the child's side. */
SV_MUST_CHECK enum sv_status wire_send(struct wire_channel *channel, enum wire_type type,
                                       const void *payload, size_t size, int timeout_ms);

/* A metric point as it travels. */
struct wire_point {
    const char *metric; /* 1 to 63 bytes */
    int64_t step;
    double value; /* any bit pattern, NaN and infinities included */
};

enum { WIRE_METRIC_MAX = 63 };

/* Encodes n points; the caller frees *out_bytes. SV_ERR_TOO_LARGE above 65535 points or 255
 * different names, SV_ERR_INVALID_FIELD for an empty or over-long name. */
SV_MUST_CHECK enum sv_status wire_points_encode(const struct wire_point *points, size_t n,
                                                void **out_bytes, size_t *out_size);
/* Decodes a payload of unknown origin; one allocation, freed by free(*out_points); names point
 * into it. SV_ERR_INVALID_FIELD for anything malformed. */
SV_MUST_CHECK enum sv_status wire_points_decode(const void *bytes, size_t size,
                                                struct wire_point **out_points, size_t *out_n);

/* One predicted sample. */
struct wire_prediction {
    uint32_t sample; /* index in the prepared set */
    uint32_t truth;
    uint32_t predicted;
    float probability;
};

/* Predictions of one part; a part with many comes as several records, in order. */
enum { WIRE_PREDICTIONS_MAX = 65536 }; /* rows of one record */

/* As wire_points_encode and _decode; *out_rows is one allocation of *out_n rows, NULL for none. */
SV_MUST_CHECK enum sv_status wire_predictions_encode(uint32_t part,
                                                     const struct wire_prediction *rows, size_t n,
                                                     void **out_bytes, size_t *out_size);
SV_MUST_CHECK enum sv_status wire_predictions_decode(const void *bytes, size_t size,
                                                     uint32_t *out_part,
                                                     struct wire_prediction **out_rows,
                                                     size_t *out_n);

/* Some consecutive rows of one predicted sequence; those of one come in order. */
enum { WIRE_SEQUENCE_ROWS_MAX = 1 << 18, WIRE_SEQUENCE_NAME_MAX = 65536 };
struct wire_sequence {
    uint32_t part;
    uint32_t sample;      /* index in the prepared set */
    uint32_t length;      /* steps of the whole sequence */
    uint32_t first, rows; /* first + rows <= length */
    const char *name;
    const float *target, *predicted; /* [rows] */
};
/* As wire_points_encode and _decode; what out_piece points to is in *out_block, the caller's. */
SV_MUST_CHECK enum sv_status wire_sequence_encode(const struct wire_sequence *piece,
                                                  void **out_bytes, size_t *out_size);
SV_MUST_CHECK enum sv_status wire_sequence_decode(const void *bytes, size_t size,
                                                  struct wire_sequence *out_piece,
                                                  void **out_block);

/* The payload of WIRE_THREADS; false unless it is a number from 1 to 1024. */
SV_MUST_CHECK bool wire_threads_decode(const struct wire_record *record, unsigned *out_threads);

#endif
