/* SPDX-License-Identifier: MIT
 *
 * server/wire/payloads.c: points keep every bit of step and value; malformed payloads are refused.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/wire/wire.h"

static void values_keep_their_bits(void **state)
{
    (void)state;
    const struct wire_point sent[] = {
        {"training_loss", 0, 2.302585092994046},
        {"training_loss", 1, (double)NAN},
        {"learning_rate", 1, -(double)INFINITY},
        {"training_loss", INT64_MAX, -0.0},
        {"x", INT64_MIN, 5e-324},
    };
    enum { N = sizeof sent / sizeof sent[0] };
    void *bytes = NULL;
    size_t size = 0;
    struct wire_point *got = NULL;
    size_t n = 0;
    assert_int_equal(wire_points_encode(sent, N, &bytes, &size), SV_OK);
    assert_int_equal(wire_points_decode(bytes, size, &got, &n), SV_OK);
    assert_int_equal(n, N);
    for (size_t i = 0; i < N; i++) {
        assert_string_equal(got[i].metric, sent[i].metric);
        assert_true(got[i].step == sent[i].step);
        assert_memory_equal(&got[i].value, &sent[i].value, 8);
    }
    free(got);
    for (size_t cut = 0; cut < size; cut++) {
        char *copy = malloc(cut + 1);
        memcpy(copy, bytes, cut);
        assert_int_equal(wire_points_decode(copy, cut, &got, &n), SV_ERR_INVALID_FIELD);
        free(copy);
    }
    free(bytes);
}

static void empty_list_travels(void **state)
{
    (void)state;
    void *bytes = NULL;
    size_t size = 0;
    size_t n = 9;
    struct wire_point *got = NULL;
    assert_int_equal(wire_points_encode(NULL, 0, &bytes, &size), SV_OK);
    assert_int_equal(wire_points_decode(bytes, size, &got, &n), SV_OK);
    assert_int_equal(n, 0);
    free(bytes);
    free(got);
}

static void names_and_counts_have_limits(void **state)
{
    (void)state;
    char name[65];
    memset(name, 'n', 64);
    name[64] = '\0';
    struct wire_point point = {name, 1, 1};
    void *bytes = NULL;
    size_t size = 0;
    assert_int_equal(wire_points_encode(&point, 1, &bytes, &size), SV_ERR_INVALID_FIELD);
    point.metric = "";
    assert_int_equal(wire_points_encode(&point, 1, &bytes, &size), SV_ERR_INVALID_FIELD);
    struct wire_point *many = calloc(65536, sizeof *many);
    char names[256][4];
    for (size_t i = 0; i < 65536; i++) {
        if (i < 256) {
            (void)snprintf(names[i], sizeof names[i], "%zu", i);
        }
        many[i].metric = names[i % 256];
    }
    assert_int_equal(wire_points_encode(many, 65536, &bytes, &size), SV_ERR_TOO_LARGE);
    assert_int_equal(wire_points_encode(many, 256, &bytes, &size), SV_ERR_TOO_LARGE);
    assert_int_equal(wire_points_encode(many, 255, &bytes, &size), SV_OK);
    free(bytes);
    free(many);
}

/* Flips each byte of a good payload in turn: refused or decoded, never out of bounds (asan). */
static void every_flipped_byte_is_survived(void **state)
{
    (void)state;
    const struct wire_point sent[] = {{"a", 1, 1}, {"bc", 2, 2}, {"a", 3, 3}};
    void *bytes = NULL;
    size_t size = 0;
    assert_int_equal(wire_points_encode(sent, 3, &bytes, &size), SV_OK);
    for (size_t i = 0; i < size * 256; i++) {
        char *copy = malloc(size);
        memcpy(copy, bytes, size);
        copy[i / 256] = (char)(i % 256);
        struct wire_point *got = NULL;
        size_t n = 0;
        if (wire_points_decode(copy, size, &got, &n) == SV_OK) {
            for (size_t k = 0; k < n; k++) {
                size_t length = strlen(got[k].metric);
                assert_true(length >= 1 && length <= WIRE_METRIC_MAX);
            }
            free(got);
        }
        free(copy);
    }
    free(bytes);
}

static void predictions_travel_and_are_checked(void **state)
{
    (void)state;
    const struct wire_prediction sent[] = {{0, 1, 2, 0.5f}, {UINT32_MAX, 0, 0, 1.0f}};
    struct wire_prediction *got = NULL;
    void *bytes = NULL;
    size_t size = 0;
    size_t n = 0;
    uint32_t part = 0;
    assert_int_equal(wire_predictions_encode(2, sent, 2, &bytes, &size), SV_OK);
    assert_int_equal(wire_predictions_decode(bytes, size, &part, &got, &n), SV_OK);
    assert_int_equal(part, 2);
    assert_int_equal(n, 2);
    assert_memory_equal(got, sent, sizeof sent);
    free(got);
    for (size_t cut = 0; cut < size; cut++) {
        assert_int_equal(wire_predictions_decode(bytes, cut, &part, &got, &n),
                         SV_ERR_INVALID_FIELD);
    }
    free(bytes);
    assert_int_equal(wire_predictions_encode(0, sent, WIRE_PREDICTIONS_MAX + 1, &bytes, &size),
                     SV_ERR_TOO_LARGE);
    assert_int_equal(wire_predictions_encode(0, NULL, 0, &bytes, &size), SV_OK);
    assert_int_equal(wire_predictions_decode(bytes, size, &part, &got, &n), SV_OK);
    assert_int_equal(n, 0);
    assert_null(got);
    free(bytes);
}

static void threads_are_checked(void **state)
{
    (void)state;
    static const struct {
        uint32_t value;
        size_t size;
        bool ok;
    } cases[] = {{1, 4, true}, {1024, 4, true}, {0, 4, false}, {1025, 4, false}, {1, 3, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char payload[4];
        unsigned threads = 77;
        memcpy(payload, &cases[i].value, 4);
        struct wire_record record = {WIRE_THREADS, payload, cases[i].size};
        assert_int_equal(wire_threads_decode(&record, &threads), cases[i].ok);
        assert_int_equal(threads, cases[i].ok ? cases[i].value : 77);
    }
}

/* A piece keeps its bits; whatever is cut, too long or out of place is refused. */
static void pieces_of_sequences_travel(void **state)
{
    (void)state;
    const float target[] = {3, 2, 1};
    const float predicted[] = {(float)NAN, -0.0F, 1e-40F};
    const struct wire_sequence sent = {2, 7, 9, 6, 3, "test/8", target, predicted};
    struct wire_sequence got;
    void *bytes = NULL;
    void *block = NULL;
    size_t size = 0;
    assert_int_equal(wire_sequence_encode(&sent, &bytes, &size), SV_OK);
    assert_int_equal(wire_sequence_decode(bytes, size, &got, &block), SV_OK);
    assert_true(got.part == 2 && got.sample == 7 && got.length == 9);
    assert_true(got.first == 6 && got.rows == 3);
    assert_string_equal(got.name, "test/8");
    assert_memory_equal(got.target, target, sizeof target);
    assert_memory_equal(got.predicted, predicted, sizeof predicted);
    free(block);
    for (size_t cut = 0; cut < size; cut++) {
        char *copy = malloc(cut + 1);
        memcpy(copy, bytes, cut);
        assert_int_equal(wire_sequence_decode(copy, cut, &got, &block), SV_ERR_INVALID_FIELD);
        free(copy);
    }
    static const struct {
        size_t at;
        uint32_t value;
    } wrong[] = {{3, 7}, {2, 8}, {4, 0}, {4, UINT32_MAX}, {5, 7}, {5, UINT32_MAX}, {3, UINT32_MAX}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char *copy = malloc(size);
        memcpy(copy, bytes, size);
        memcpy(copy + 4 * wrong[i].at, &wrong[i].value, 4);
        assert_int_equal(wire_sequence_decode(copy, size, &got, &block), SV_ERR_INVALID_FIELD);
        free(copy);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_of_sequences_travel),
        cmocka_unit_test(values_keep_their_bits),
        cmocka_unit_test(empty_list_travels),
        cmocka_unit_test(names_and_counts_have_limits),
        cmocka_unit_test(every_flipped_byte_is_survived),
        cmocka_unit_test(predictions_travel_and_are_checked),
        cmocka_unit_test(threads_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
