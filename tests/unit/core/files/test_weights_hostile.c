/* SPDX-License-Identifier: MIT
 *
 * core/files: the lies that a PyTorch file can tell as pickles in a stream. Each is refused with a
 * reason; none is executed, and none costs much. Zip containers: test_weights_zip.c.
 */
#include "tests/support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/torch.h"

#define STREAM                                                                                     \
    "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.\x80\x02}."
#define STREAM_SIZE (sizeof STREAM - 1)

/* A stream whose object is the pickle `object`; `tail`: what follows it. */
static struct torch_bytes stream_of(const void *object, size_t size, const void *tail,
                                    size_t tail_size)
{
    struct torch_bytes file = {0};
    torch_put(&file, STREAM, STREAM_SIZE);
    torch_put(&file, object, size);
    torch_put(&file, tail, tail_size);
    return file;
}

/* The keys of one storage "k" of four floats, and its elements. */
static struct torch_bytes one_storage(void)
{
    struct torch_bytes tail = {0};
    torch_put_text(&tail, "\x80\x02]U\x01k"
                          "a.");
    torch_put_number(&tail, 4, 8);
    torch_put(&tail, (const float[4]){1, 2, 3, 4}, 16);
    return tail;
}

/* A dictionary of one tensor called `name` with the given offset, shape and strides. */
static struct torch_bytes one_tensor(const char *name, const char *rest)
{
    struct torch_bytes pickle = {0};
    struct torch_bytes tail = one_storage();
    torch_put_text(&pickle, "\x80\x02}(X");
    torch_put_number(&pickle, strlen(name), 4);
    torch_put_text(&pickle, name);
    torch_put_tensor(&pickle, "k", "K\x04", rest);
    torch_put_text(&pickle, "u.");
    struct torch_bytes file = stream_of(pickle.data, pickle.size, tail.data, tail.size);
    free(pickle.data);
    free(tail.data);
    return file;
}

/* An object pickle on its own, refused with these words. */
static void expect_pickle(const char *pickle, size_t size, const char *words)
{
    struct torch_bytes file = stream_of(pickle, size, "\x80\x02].", 4); /* no storages */
    torch_expect(&file, NN_ERR_INVALID, words);
}
#define EXPECT_PICKLE(text, words) expect_pickle(text, sizeof(text) - 1, words)

static void a_good_stream_is_read(void **state)
{
    (void)state;
    struct torch_bytes file = one_tensor("w", "K\x01(K\x03t(K\x01t");
    torch_expect(&file, NN_OK, NULL);
}

/* Python 2 made an OrderedDict of a list of lists, and counted its values from 1. */
static void pairs_of_python_2_are_read(void **state)
{
    (void)state;
    struct torch_bytes pickle = {0};
    struct torch_bytes tail = one_storage();
    torch_put_text(&pickle, "\x80\x02"
                            "ccollections\nOrderedDict\nq\x01]q\x02]q\x03(U\x01wq\x04");
    torch_put_tensor(&pickle, "k", "\x8a\x01\x04", "K\x01(\x8a\x01\x03t(K\x01t");
    torch_put_text(&pickle, "ea\x85Rq\x05.");
    struct torch_bytes file = stream_of(pickle.data, pickle.size, tail.data, tail.size);
    struct nn_weights *weights = NULL;
    nn_real values[3];
    assert_int_equal(nn_weights_open_bytes(file.data, file.size, NULL, &weights, NULL), NN_OK);
    assert_int_equal(nn_weights_count(weights), 1);
    nn_file_tensor_read(nn_weights_find(weights, "w"), values);
    assert_true(values[0] == 2 && values[2] == 4);
    nn_weights_close(weights);
    free(pickle.data);
    free(tail.data);
    free(file.data);
    EXPECT_PICKLE("ccollections\nOrderedDict\n](]K\x01"
                  "ae\x85R.",
                  "no pairs");
}

static void nothing_is_called(void **state)
{
    (void)state;
    EXPECT_PICKLE("cos\nsystem\n(U\x02idtR.", "os.system");
    EXPECT_PICKLE("cposix\nsystem\n(U\x02idtR.", "posix.system");
    EXPECT_PICKLE("cbuiltins\neval\n(U\x01"
                  "1tR.",
                  "builtins.eval");
    EXPECT_PICKLE("ctorch\nload\n(U\x01xtR.", "torch.load");
    EXPECT_PICKLE("ctorch._utils\n_rebuild_tensor_v2\n\x94.", "0x94");
    EXPECT_PICKLE("c\x01\x02\n<b>\n.", "??.?b?");
    EXPECT_PICKLE("}(tR.", "no function");
    EXPECT_PICKLE("ctorch\nFloatStorage\n)R.", "no function");
    EXPECT_PICKLE("ctorch._utils\n_rebuild_tensor_v2\n)R.", "too few arguments");
    EXPECT_PICKLE("ctorch._utils\n_rebuild_parameter\n(NNNtR.", "holds no tensor");
    EXPECT_PICKLE("ctorch._utils\n_rebuild_tensor_v2\n(NNNNNNtR.", "no storage");
    EXPECT_PICKLE("ccollections\nOrderedDict\n(K\x01tR.", "no pairs");
    EXPECT_PICKLE("ccollections\nOrderedDict\n(](K\x01"
                  "etR.",
                  "no pairs");
    EXPECT_PICKLE("K\x01Q.", "no type, key and size");
    EXPECT_PICKLE("K\x01}b.", "no dictionary");
}

/* Every opcode that is not among those of state dicts is refused by its number, and every one
 * that is finds an empty stack or an end. */
static void every_other_opcode_is_refused(void **state)
{
    static const char KNOWN[] = "\x80(N]})\x88\x89JKM\x8aGXTUt\x85\x86\x87"
                                "euasqrhjcRQb.";
    (void)state;
    for (int op = 0; op < 256; op++) {
        const unsigned char pickle[] = {(unsigned char)op};
        bool known = op != 0 && strchr(KNOWN, (char)op) != NULL;
        struct nn_error err = {0};
        struct torch_bytes file = stream_of(pickle, 1, "", 0);
        assert_int_equal(torch_status(&file, &err), NN_ERR_INVALID);
        assert_int_equal(strstr(err.text, "none that state dicts use") == NULL, known);
        free(file.data);
    }
}

static void stacks_and_memos_are_checked(void **state)
{
    (void)state;
    EXPECT_PICKLE("t.", "not there");
    EXPECT_PICKLE("\x85.", "not there");
    EXPECT_PICKLE("(\x85.", "not there");
    EXPECT_PICKLE("N(.", "not there");
    EXPECT_PICKLE("NN.", "leaves values over");
    EXPECT_PICKLE("](K\x01u.", "no dictionary");
    EXPECT_PICKLE("}(K\x01u.", "key without a value");
    EXPECT_PICKLE("}K\x01"
                  "a.",
                  "no list");
    EXPECT_PICKLE("h\x05.", "never kept");
    EXPECT_PICKLE("Nq\x01h\x00.", "never kept");
    EXPECT_PICKLE("Nq\x05.", "gaps");
    EXPECT_PICKLE("Nr\xff\xff\xff\xff.", "gaps");
    EXPECT_PICKLE("(q\x00.", "not there");
    EXPECT_PICKLE("X\xff\xff\xff\xff.", "ends within");
    EXPECT_PICKLE("\x8a\xff.", "ends within");
    EXPECT_PICKLE("cabc", "does not end");
    EXPECT_PICKLE("K\x01.", "no dictionary of tensors");
    struct torch_bytes file = stream_of("\x80\x04}.", 4, "", 0);
    torch_expect(&file, NN_ERR_NOT_SUPPORTED, "protocol 4");
}

/* Lists within lists within lists, and a list that holds itself: no walk follows them. */
static void depth_and_circles_cost_nothing(void **state)
{
    (void)state;
    struct torch_bytes pickle = {0};
    torch_put_text(&pickle, "\x80\x02");
    for (int i = 0; i < 200000; i++) {
        torch_put_text(&pickle, "](");
    }
    for (int i = 0; i < 200000; i++) {
        torch_put_text(&pickle, "e");
    }
    torch_put_text(&pickle, ".");
    expect_pickle((const char *)pickle.data, pickle.size, NULL);
    free(pickle.data);
    EXPECT_PICKLE("]q\x00h\x00"
                  "a.",
                  "no dictionary of tensors");
    EXPECT_PICKLE("}q\x00(U\nstate_dicth\x00u.", "no tensor");
}

static void many_values_are_too_many(void **state)
{
    (void)state;
    struct torch_bytes pickle = {0};
    torch_put_text(&pickle, "(");
    for (int i = 0; i < 3 << 20; i++) {
        torch_put_text(&pickle, "]");
    }
    struct torch_bytes file = stream_of(pickle.data, pickle.size, "", 0);
    free(pickle.data);
    torch_expect(&file, NN_ERR_LIMIT, "more than");
}

static void tensors_stay_in_their_storage(void **state)
{
    static const struct {
        const char *rest, *words;
    } LIES[] = {
        {"K\x05(K\x01t(K\x01t", "leaves its storage"},
        {"K\x01(K\x04t(K\x01t", "leaves its storage"},
        {"K\x01(K\x02K\x02t(K\x02K\x02t", "leaves its storage"},
        {"J\xff\xff\xff\xff(K\x01t(K\x01t", "no storage"},
        {"K\x01(J\xff\xff\xff\xfft(K\x01t", "size or stride"},
        {"K\x01(K\x02t(J\xff\xff\xff\xfft", "size or stride"},
        {"K\x01(Nt(K\x01t", "size or stride"},
        {"K\x01(K\x02K\x02t(K\x01t", "no storage"},
        {"K\x01(J\xff\xff\xff\x7fJ\xff\xff\xff\x7fJ\xff\xff\xff\x7ft(K\x01K\x01K\x01t",
         "too large"},
        {"K\x01(K\x02t(\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7ft", "leaves its storage"},
        {"K\x01(K\x02K\x02K\x02t(\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"
         "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"
         "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7ft",
         "too large"},
        {"K\x01(K\x01K\x01K\x01K\x01K\x01K\x01K\x01K\x01K\x01t"
         "(K\x01K\x01K\x01K\x01K\x01K\x01K\x01K\x01K\x01t",
         "no storage"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof LIES / sizeof LIES[0]; i++) {
        struct torch_bytes file = one_tensor("w", LIES[i].rest);
        torch_expect(&file, NN_ERR_INVALID, LIES[i].words);
    }
}

/* One number shown as a billion through a stride of 0. The 0 is made by LONG1 of no bytes. */
static void views_do_not_blow_up(void **state)
{
    (void)state;
    struct torch_bytes pickle = {0};
    struct torch_bytes tail = one_storage();
    torch_put_text(&pickle, "}(U\x01w");
    torch_put_tensor(&pickle, "k", "K\x04", "K\x01(J\x01\x01\x01\x3bt(");
    pickle.size -= strlen("\x89)tR");
    torch_put(&pickle, "\x8a\0t\x89)tRu.", 9);
    struct torch_bytes file = stream_of(pickle.data, pickle.size, tail.data, tail.size);
    free(pickle.data);
    free(tail.data);
    torch_expect(&file, NN_ERR_LIMIT, "times the file");
}

static void names_are_checked(void **state)
{
    static const char *const NAMES[] = {"", "a\nb", "\x7f", "\xff\xfe"};
    char longest[600] = {0};
    (void)state;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        struct torch_bytes file = one_tensor(NAMES[i], "K\x01(K\x03t(K\x01t");
        torch_expect(&file, NN_ERR_INVALID, "name");
    }
    memset(longest, 'a', sizeof longest - 1);
    struct torch_bytes file = one_tensor(longest, "K\x01(K\x03t(K\x01t");
    torch_expect(&file, NN_ERR_INVALID, "name");
    file = one_tensor("__metadata__", "K\x01(K\x03t(K\x01t");
    torch_expect(&file, NN_ERR_INVALID, "no tensor may be named \"__metadata__\"");
}

static void put_two(struct torch_bytes *pickle, const char *second, const char *key,
                    const char *count)
{
    torch_put_text(pickle, "}(U\x01w");
    torch_put_tensor(pickle, "k", "K\x04", "K\x01(K\x03t(K\x01t");
    torch_put_text(pickle, "U\x01");
    torch_put_text(pickle, second);
    torch_put_tensor(pickle, key, count, "K\x01(K\x01t(K\x01t");
    torch_put_text(pickle, "u.");
}

static void storages_are_compared(void **state)
{
    static const struct {
        const char *second, *key, *count, *words;
    } LIES[] = {
        {"w", "k", "K\x04", "two tensors are named"},
        {"v", "k", "K\x03", "two types or sizes"},
        {"v", "l", "K\x04", "list of storages"},
        {"v", "l", "J\xff\xff\xff\x7f", "larger than the file"},
        {"v", "l", "J\xff\xff\xff\xff", "no type, key and size"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof LIES / sizeof LIES[0]; i++) {
        struct torch_bytes pickle = {0};
        struct torch_bytes tail = one_storage();
        put_two(&pickle, LIES[i].second, LIES[i].key, LIES[i].count);
        struct torch_bytes file = stream_of(pickle.data, pickle.size, tail.data, tail.size);
        free(pickle.data);
        free(tail.data);
        torch_expect(&file, NN_ERR_INVALID, LIES[i].words);
    }
}

static void streams_end_where_they_end(void **state)
{
    (void)state;
    struct torch_bytes whole = one_tensor("w", "K\x01(K\x03t(K\x01t");
    for (size_t n = 0; n < whole.size; n++) {
        struct torch_bytes cut = {.data = whole.data, .size = n};
        assert_int_not_equal(torch_status(&cut, NULL), NN_OK);
    }
    whole.data[whole.size - 24]++; /* the count of the storage */
    assert_int_equal(torch_status(&whole, NULL), NN_ERR_INVALID);
    whole.data[whole.size - 24]--;
    torch_put_text(&whole, "x");
    torch_expect(&whole, NN_ERR_INVALID, "1 bytes follow");
    struct torch_bytes big = {0};
    torch_put(&big, STREAM, STREAM_SIZE - 2);
    torch_put_text(&big, "}U\x0dlittle_endian\x89s.");
    torch_expect(&big, NN_ERR_NOT_SUPPORTED, "big-endian");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_stream_is_read),
        cmocka_unit_test(pairs_of_python_2_are_read),
        cmocka_unit_test(nothing_is_called),
        cmocka_unit_test(every_other_opcode_is_refused),
        cmocka_unit_test(stacks_and_memos_are_checked),
        cmocka_unit_test(depth_and_circles_cost_nothing),
        cmocka_unit_test(many_values_are_too_many),
        cmocka_unit_test(tensors_stay_in_their_storage),
        cmocka_unit_test(views_do_not_blow_up),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(storages_are_compared),
        cmocka_unit_test(streams_end_where_they_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
