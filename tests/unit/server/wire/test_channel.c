/* SPDX-License-Identifier: MIT
 *
 * server/wire/channel.c: framing over a socket pair, with peers that die, lie and dawdle.
 */
#include "tests/support/cmocka_all.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/wire/wire.h"
#include "tests/support/patience.h"

struct pair {
    struct wire_channel *a;
    int raw; /* the other end, for bytes no channel would send */
};

static struct pair pair_open(size_t max_payload, size_t max_outgoing)
{
    int fds[2];
    struct pair pair = {0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    struct wire_limits limits = {max_payload, max_outgoing};
    assert_int_equal(wire_channel_create(fds[0], limits, &pair.a, NULL), SV_OK);
    pair.raw = fds[1];
    return pair;
}

static void put(int fd, const void *bytes, size_t size)
{
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
}

static void put_header(int fd, uint32_t length, uint16_t type, uint16_t version)
{
    put(fd, &length, 4);
    put(fd, &type, 2);
    put(fd, &version, 2);
}

static void records_arrive_whole_and_in_order(void **state)
{
    (void)state;
    struct pair pair = pair_open(1000, 100000);
    struct wire_channel *b = NULL;
    struct wire_record record = {0};
    assert_int_equal(wire_channel_create(pair.raw, wire_limits_default(), &b, NULL), SV_OK);
    assert_int_equal(wire_receive(b, &record), WIRE_NOTHING_YET);
    assert_int_equal(wire_queue(pair.a, WIRE_LOG, "abc", 3), SV_OK);
    assert_int_equal(wire_queue(pair.a, WIRE_STOP, NULL, 0), SV_OK);
    assert_int_equal(wire_queue(pair.a, WIRE_DONE, "{}", 2), SV_OK);
    assert_int_equal(wire_receive(b, &record), WIRE_GOT_RECORD);
    assert_int_equal(record.type, WIRE_LOG);
    assert_string_equal(record.payload, "abc");
    assert_int_equal(wire_receive(b, &record), WIRE_GOT_RECORD);
    assert_int_equal(record.type, WIRE_STOP);
    assert_int_equal(record.size, 0);
    assert_int_equal(wire_receive(b, &record), WIRE_GOT_RECORD);
    assert_string_equal(record.payload, "{}");
    assert_int_equal(wire_receive(b, &record), WIRE_NOTHING_YET);
    wire_channel_destroy(pair.a);
    assert_int_equal(wire_receive(b, &record), WIRE_CLOSED);
    assert_int_equal(wire_receive(b, &record), WIRE_CLOSED);
    assert_int_equal(wire_queue(b, WIRE_LOG, "x", 1), SV_ERR_DRAINING);
    wire_channel_destroy(b);
}

/* Every cut of two records: what is whole is handed out, what is half is dropped and said. */
static void half_written_record_at_death_is_dropped(void **state)
{
    (void)state;
    char bytes[2 * WIRE_HEADER_BYTES + 5 + 3];
    uint32_t lengths[2] = {5, 3};
    uint16_t tail[2] = {WIRE_LOG, WIRE_VERSION};
    memcpy(bytes, &lengths[0], 4);
    memcpy(bytes + 4, tail, 4);
    memcpy(bytes + 8, "first", 5);
    memcpy(bytes + 13, &lengths[1], 4);
    memcpy(bytes + 17, tail, 4);
    memcpy(bytes + 21, "2nd", 3);
    for (size_t cut = 0; cut <= sizeof bytes; cut++) {
        struct pair pair = pair_open(1000, 1000);
        struct wire_record record = {0};
        size_t whole = cut == sizeof bytes ? 2 : cut >= 13 ? 1 : 0;
        put(pair.raw, bytes, cut);
        (void)close(pair.raw);
        for (size_t i = 0; i < whole; i++) {
            assert_int_equal(wire_receive(pair.a, &record), WIRE_GOT_RECORD);
            assert_string_equal(record.payload, i == 0 ? "first" : "2nd");
        }
        bool clean = cut == 0 || cut == 13 || cut == sizeof bytes;
        assert_int_equal(wire_receive(pair.a, &record), clean ? WIRE_CLOSED : WIRE_BROKEN);
        wire_channel_destroy(pair.a);
    }
}

static void record_that_breaks_the_rules_ends_the_channel(void **state)
{
    (void)state;
    static const struct {
        uint32_t length;
        uint16_t type, version;
    } cases[] = {
        {1001, WIRE_LOG, WIRE_VERSION}, {UINT32_MAX, WIRE_LOG, WIRE_VERSION}, {0, 0, WIRE_VERSION},
        {0, 63, WIRE_VERSION},          {0, WIRE_LOG, WIRE_VERSION + 1},      {0, WIRE_LOG, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pair pair = pair_open(1000, 1000);
        struct wire_record record = {0};
        put_header(pair.raw, cases[i].length, cases[i].type, cases[i].version);
        assert_int_equal(wire_receive(pair.a, &record), WIRE_BROKEN);
        put_header(pair.raw, 0, WIRE_LOG, WIRE_VERSION);
        assert_int_equal(wire_receive(pair.a, &record), WIRE_BROKEN);
        (void)close(pair.raw);
        wire_channel_destroy(pair.a);
    }
}

static void limits_are_exact(void **state)
{
    (void)state;
    struct pair pair = pair_open(16, 100);
    struct wire_channel *b = NULL;
    struct wire_record record = {0};
    struct wire_limits limits = {16, 100};
    assert_int_equal(wire_channel_create(pair.raw, limits, &b, NULL), SV_OK);
    assert_int_equal(wire_queue(pair.a, WIRE_LOG, "0123456789abcdefX", 17), SV_ERR_TOO_LARGE);
    assert_int_equal(wire_queue(pair.a, WIRE_LOG, "0123456789abcdef", 16), SV_OK);
    assert_int_equal(wire_receive(b, &record), WIRE_GOT_RECORD);
    assert_int_equal(record.size, 16);
    wire_channel_destroy(pair.a);
    wire_channel_destroy(b);
}

/* A peer that takes nothing: the queue fills up to its limit, then refuses; nothing blocks. */
static void slow_peer_fills_the_queue_and_no_more(void **state)
{
    (void)state;
    struct pair pair = pair_open(100000, 300000);
    char *block = calloc(1, 100000);
    enum sv_status st = SV_OK;
    int taken = 0;
    while (taken < 1000 && st == SV_OK) {
        st = wire_queue(pair.a, WIRE_LOG, block, 100000);
        taken += st == SV_OK;
    }
    assert_int_equal(st, SV_ERR_OVERLOADED);
    assert_true(wire_outgoing(pair.a) <= 300000);
    assert_int_equal(wire_send(pair.a, WIRE_LOG, block, 100000, 20), SV_ERR_OVERLOADED);
    (void)close(pair.raw);
    assert_int_equal(wire_send(pair.a, WIRE_LOG, block, 100000, -1), SV_ERR_DRAINING);
    wire_channel_destroy(pair.a);
    free(block);
}

enum { EXCHANGED = 200, EXCHANGED_BYTES = 50000 };

/* Takes what has arrived; every record must be the peer's, whole. */
static int receive_and_check(struct wire_channel *channel, char fill)
{
    struct wire_record record;
    int received = 0;
    while (wire_receive(channel, &record) == WIRE_GOT_RECORD) {
        if (record.size != EXCHANGED_BYTES || record.payload[0] == fill ||
            record.payload[0] != record.payload[EXCHANGED_BYTES - 1]) {
            abort();
        }
        received++;
    }
    return received;
}

/* Sends its records, reading on the way, then reads on until the peer's are all there: the peer
 * may still be sending. */
static void send_then_check(struct wire_channel *channel, char fill)
{
    char *block = malloc(EXCHANGED_BYTES);
    int received = 0;
    memset(block, fill, EXCHANGED_BYTES);
    for (int i = 0; i < EXCHANGED; i++) {
        if (wire_send(channel, WIRE_LOG, block, EXCHANGED_BYTES, TEST_PATIENCE_MS) != SV_OK) {
            abort();
        }
        received += receive_and_check(channel, fill);
    }
    while (received < EXCHANGED) {
        struct pollfd poll_fd = {.fd = wire_channel_fd(channel), .events = POLLIN};
        if (poll(&poll_fd, 1, TEST_PATIENCE_MS) != 1) {
            abort();
        }
        received += receive_and_check(channel, fill);
    }
    free(block);
}

static void *send_from_thread(void *arg)
{
    send_then_check(arg, 'b');
    return NULL;
}

static void two_senders_do_not_lock_each_other_up(void **state)
{
    (void)state;
    struct pair pair = pair_open(4 << 20, 8 << 20);
    struct wire_channel *b = NULL;
    pthread_t thread;
    assert_int_equal(wire_channel_create(pair.raw, wire_limits_default(), &b, NULL), SV_OK);
    assert_int_equal(pthread_create(&thread, NULL, send_from_thread, b), 0);
    send_then_check(pair.a, 'a');
    assert_int_equal(pthread_join(thread, NULL), 0);
    wire_channel_destroy(pair.a);
    wire_channel_destroy(b);
}

/* Random bytes never crash, never give a record over the limit, and end in BROKEN or CLOSED. */
static void random_bytes_are_survived(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 300; round++) {
        struct pair pair = pair_open(64, 1000);
        unsigned char bytes[256];
        struct wire_record record = {0};
        for (size_t i = 0; i < sizeof bytes; i++) {
            bytes[i] = (unsigned char)(rand() % 5 ? rand() % 80 : 0);
            bytes[i] = i % 8 == 0 || i % 8 == 4 || i % 8 == 6 ? bytes[i] : 0;
        }
        size_t size = (size_t)rand() % sizeof bytes;
        put(pair.raw, bytes, size);
        (void)close(pair.raw);
        enum wire_event event;
        while ((event = wire_receive(pair.a, &record)) == WIRE_GOT_RECORD) {
            assert_true(record.size <= 64);
            assert_int_equal(record.payload[record.size], '\0');
            assert_non_null(wire_type_slug(record.type));
        }
        assert_true(event == WIRE_BROKEN || event == WIRE_CLOSED);
        wire_channel_destroy(pair.a);
    }
}

static void descriptor_is_close_on_exec(void **state)
{
    (void)state;
    struct pair pair = pair_open(64, 1000);
    assert_true(fcntl(wire_channel_fd(pair.a), F_GETFD) & FD_CLOEXEC);
    (void)close(pair.raw);
    wire_channel_destroy(pair.a);
    wire_channel_destroy(NULL);
    struct wire_channel *none = NULL;
    assert_int_equal(wire_channel_create(-1, wire_limits_default(), &none, NULL), SV_ERR_INTERNAL);
    assert_null(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_arrive_whole_and_in_order),
        cmocka_unit_test(half_written_record_at_death_is_dropped),
        cmocka_unit_test(record_that_breaks_the_rules_ends_the_channel),
        cmocka_unit_test(limits_are_exact),
        cmocka_unit_test(slow_peer_fills_the_queue_and_no_more),
        cmocka_unit_test(two_senders_do_not_lock_each_other_up),
        cmocka_unit_test(random_bytes_are_survived),
        cmocka_unit_test(descriptor_is_close_on_exec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
