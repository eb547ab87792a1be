/* SPDX-License-Identifier: MIT
 *
 * core/files: the lies that a PyTorch file can tell, as pickles in a stream and as zip containers.
 * Each is refused with a reason; none is executed, and none costs much.
 */
#include "tests/support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/files/weights.h"

/* ---- bytes ---- */

struct bytes {
    unsigned char *data;
    size_t size, room;
};

static void put(struct bytes *to, const void *data, size_t n)
{
    if (to->size + n > to->room) {
        to->room = 2 * (to->size + n);
        to->data = realloc(to->data, to->room);
        assert_non_null(to->data);
    }
    memcpy(to->data + to->size, data, n);
    to->size += n;
}

static void put_text(struct bytes *to, const char *text)
{
    put(to, text, strlen(text));
}

static void put_number(struct bytes *to, uint64_t number, size_t n)
{
    for (size_t i = 0; i < n; i++, number >>= 8) {
        unsigned char byte = (unsigned char)number;
        put(to, &byte, 1);
    }
}

/* The status of a file in a block of exact size, so that a sanitizer sees a step too far. */
static enum nn_status status_of(const struct bytes *file, struct nn_error *err)
{
    struct nn_weights *weights = NULL;
    unsigned char *exact = malloc(file->size ? file->size : 1);
    assert_non_null(exact);
    memcpy(exact, file->data, file->size);
    enum nn_status status = nn_weights_open_bytes(exact, file->size, NULL, &weights, err);
    if (status == NN_OK) {
        nn_weights_close(weights);
    }
    free(exact);
    return status;
}

/* ---- streams ---- */

#define STREAM                                                                                     \
    "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.\x80\x02}."
#define STREAM_SIZE (sizeof STREAM - 1)

/* A stream whose object is the pickle `object`; `tail`: what follows it. */
static struct bytes stream_of(const void *object, size_t size, const void *tail, size_t tail_size)
{
    struct bytes file = {0};
    put(&file, STREAM, STREAM_SIZE);
    put(&file, object, size);
    put(&file, tail, tail_size);
    return file;
}

/* The keys of one storage "k" of four floats, and its elements. */
static struct bytes one_storage(void)
{
    struct bytes tail = {0};
    put_text(&tail, "\x80\x02]U\x01k"
                    "a.");
    put_number(&tail, 4, 8);
    put(&tail, (const float[4]){1, 2, 3, 4}, 16);
    return tail;
}

/* Opcodes of a tensor: of storage `key` with `count` elements, then offset, shape, strides. */
static void put_tensor(struct bytes *to, const char *key, const char *count, const char *rest)
{
    put_text(to, "ctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\nFloatStorage\nU\x01");
    put_text(to, key);
    put_text(to, "U\x03"
                 "cpu");
    put_text(to, count);
    put_text(to, "NtQ");
    put_text(to, rest);
    put_text(to, "\x89)tR");
}

/* A dictionary of one tensor called `name` with the given offset, shape and strides. */
static struct bytes one_tensor(const char *name, const char *rest)
{
    struct bytes pickle = {0};
    struct bytes tail = one_storage();
    put_text(&pickle, "\x80\x02}(X");
    put_number(&pickle, strlen(name), 4);
    put_text(&pickle, name);
    put_tensor(&pickle, "k", "K\x04", rest);
    put_text(&pickle, "u.");
    struct bytes file = stream_of(pickle.data, pickle.size, tail.data, tail.size);
    free(pickle.data);
    free(tail.data);
    return file;
}

static void expect(struct bytes *file, enum nn_status status, const char *words)
{
    struct nn_error err = {0};
    enum nn_status found = status_of(file, &err);
    if (found != status || (words && !strstr(err.text, words))) {
        fail_msg("wanted %s \"%s\", got %s \"%s\"", nn_status_slug(status), words ? words : "",
                 nn_status_slug(found), err.text);
    }
    free(file->data);
}

/* An object pickle on its own, refused with these words. */
static void expect_pickle(const char *pickle, size_t size, const char *words)
{
    struct bytes file = stream_of(pickle, size, "\x80\x02].", 4); /* no storages */
    expect(&file, NN_ERR_INVALID, words);
}
#define EXPECT_PICKLE(text, words) expect_pickle(text, sizeof(text) - 1, words)

static void a_good_stream_is_read(void **state)
{
    (void)state;
    struct bytes file = one_tensor("w", "K\x01(K\x03t(K\x01t");
    expect(&file, NN_OK, NULL);
}

/* Python 2 made an OrderedDict of a list of lists, and counted its values from 1. */
static void pairs_of_python_2_are_read(void **state)
{
    (void)state;
    struct bytes pickle = {0};
    struct bytes tail = one_storage();
    put_text(&pickle, "\x80\x02"
                      "ccollections\nOrderedDict\nq\x01]q\x02]q\x03(U\x01wq\x04");
    put_tensor(&pickle, "k", "\x8a\x01\x04", "K\x01(\x8a\x01\x03t(K\x01t");
    put_text(&pickle, "ea\x85Rq\x05.");
    struct bytes file = stream_of(pickle.data, pickle.size, tail.data, tail.size);
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
        struct bytes file = stream_of(pickle, 1, "", 0);
        assert_int_equal(status_of(&file, &err), NN_ERR_INVALID);
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
    struct bytes file = stream_of("\x80\x04}.", 4, "", 0);
    expect(&file, NN_ERR_NOT_SUPPORTED, "protocol 4");
}

/* Lists within lists within lists, and a list that holds itself: no walk follows them. */
static void depth_and_circles_cost_nothing(void **state)
{
    (void)state;
    struct bytes pickle = {0};
    put_text(&pickle, "\x80\x02");
    for (int i = 0; i < 200000; i++) {
        put_text(&pickle, "](");
    }
    for (int i = 0; i < 200000; i++) {
        put_text(&pickle, "e");
    }
    put_text(&pickle, ".");
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
    struct bytes pickle = {0};
    put_text(&pickle, "(");
    for (int i = 0; i < 3 << 20; i++) {
        put_text(&pickle, "]");
    }
    struct bytes file = stream_of(pickle.data, pickle.size, "", 0);
    free(pickle.data);
    expect(&file, NN_ERR_LIMIT, "more than");
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
        struct bytes file = one_tensor("w", LIES[i].rest);
        expect(&file, NN_ERR_INVALID, LIES[i].words);
    }
}

/* One number shown as a billion through a stride of 0. The 0 is made by LONG1 of no bytes. */
static void views_do_not_blow_up(void **state)
{
    (void)state;
    struct bytes pickle = {0};
    struct bytes tail = one_storage();
    put_text(&pickle, "}(U\x01w");
    put_tensor(&pickle, "k", "K\x04", "K\x01(J\x01\x01\x01\x3bt(");
    pickle.size -= strlen("\x89)tR");
    put(&pickle, "\x8a\0t\x89)tRu.", 9);
    struct bytes file = stream_of(pickle.data, pickle.size, tail.data, tail.size);
    free(pickle.data);
    free(tail.data);
    expect(&file, NN_ERR_LIMIT, "times the file");
}

static void names_are_checked(void **state)
{
    static const char *const NAMES[] = {"", "a\nb", "\x7f", "\xff\xfe"};
    char longest[600] = {0};
    (void)state;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        struct bytes file = one_tensor(NAMES[i], "K\x01(K\x03t(K\x01t");
        expect(&file, NN_ERR_INVALID, "name");
    }
    memset(longest, 'a', sizeof longest - 1);
    struct bytes file = one_tensor(longest, "K\x01(K\x03t(K\x01t");
    expect(&file, NN_ERR_INVALID, "name");
    file = one_tensor("__metadata__", "K\x01(K\x03t(K\x01t");
    expect(&file, NN_ERR_INVALID, "no tensor may be named \"__metadata__\"");
}

static void put_two(struct bytes *pickle, const char *second, const char *key, const char *count)
{
    put_text(pickle, "}(U\x01w");
    put_tensor(pickle, "k", "K\x04", "K\x01(K\x03t(K\x01t");
    put_text(pickle, "U\x01");
    put_text(pickle, second);
    put_tensor(pickle, key, count, "K\x01(K\x01t(K\x01t");
    put_text(pickle, "u.");
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
        struct bytes pickle = {0};
        struct bytes tail = one_storage();
        put_two(&pickle, LIES[i].second, LIES[i].key, LIES[i].count);
        struct bytes file = stream_of(pickle.data, pickle.size, tail.data, tail.size);
        free(pickle.data);
        free(tail.data);
        expect(&file, NN_ERR_INVALID, LIES[i].words);
    }
}

static void streams_end_where_they_end(void **state)
{
    (void)state;
    struct bytes whole = one_tensor("w", "K\x01(K\x03t(K\x01t");
    for (size_t n = 0; n < whole.size; n++) {
        struct bytes cut = {.data = whole.data, .size = n};
        assert_int_not_equal(status_of(&cut, NULL), NN_OK);
    }
    whole.data[whole.size - 24]++; /* the count of the storage */
    assert_int_equal(status_of(&whole, NULL), NN_ERR_INVALID);
    whole.data[whole.size - 24]--;
    put_text(&whole, "x");
    expect(&whole, NN_ERR_INVALID, "1 bytes follow");
    struct bytes big = {0};
    put(&big, STREAM, STREAM_SIZE - 2);
    put_text(&big, "}U\x0dlittle_endian\x89s.");
    expect(&big, NN_ERR_NOT_SUPPORTED, "big-endian");
}

/* ---- zip containers ---- */

struct entry {
    const char *name, *local_name; /* local_name NULL: the same */
    const void *data;
    size_t size;
    unsigned method, flags;
    uint32_t crc_lie, size_lie; /* added */
    size_t again;               /* place of the first entry instead of its own */
};

static void put_header(struct bytes *zip, const struct entry *entry, bool central, size_t at)
{
    const char *name = !central && entry->local_name ? entry->local_name : entry->name;
    put_number(zip, central ? 0x02014b50 : 0x04034b50, 4);
    put_number(zip, central ? 20 : 0, central ? 4 : 2);
    put_number(zip, entry->flags, 2);
    put_number(zip, entry->method, 2);
    put_number(zip, 0, 4);
    put_number(zip, crc32_z(0, entry->data, entry->size) + entry->crc_lie, 4);
    put_number(zip, entry->size + (central ? entry->size_lie : 0), 4);
    put_number(zip, entry->size + (central ? entry->size_lie : 0), 4);
    put_number(zip, strlen(name), 2);
    put_number(zip, 0, central ? 12 : 2);
    if (central) {
        put_number(zip, at, 4);
    }
    put_text(zip, name);
}

static struct bytes zip_of(const struct entry *entries, size_t n)
{
    struct bytes zip = {0};
    size_t places[8];
    for (size_t i = 0; i < n; i++) {
        places[i] = entries[i].again ? places[0] : zip.size;
        if (!entries[i].again) {
            put_header(&zip, &entries[i], false, 0);
            put(&zip, entries[i].data, entries[i].size);
        }
    }
    size_t directory = zip.size;
    for (size_t i = 0; i < n; i++) {
        put_header(&zip, &entries[i], true, places[i]);
    }
    size_t size = zip.size - directory;
    put_number(&zip, 0x06054b50, 4);
    put_number(&zip, 0, 4);
    put_number(&zip, n, 2);
    put_number(&zip, n, 2);
    put_number(&zip, size, 4);
    put_number(&zip, directory, 4);
    put_number(&zip, 0, 2);
    return zip;
}

static const float FOUR[4] = {1, 2, 3, 4};

/* A good container of one tensor, for the tests to spoil. */
static void good_entries(struct bytes *pickle, struct entry entries[2])
{
    *pickle = (struct bytes){0};
    put_text(pickle, "\x80\x02}(U\x01w");
    put_tensor(pickle, "k", "K\x04", "K\x01(K\x03t(K\x01t");
    put_text(pickle, "u.");
    entries[0] = (struct entry){.name = "a/data.pkl", .data = pickle->data, .size = pickle->size};
    entries[1] = (struct entry){.name = "a/data/k", .data = FOUR, .size = sizeof FOUR};
}

static void zip_containers_are_checked(void **state)
{
    static const struct {
        struct entry second, third;
        enum nn_status status;
        const char *words;
    } CASES[] = {
        {{.name = "a/data/k", .data = FOUR, .size = 16}, {0}, NN_OK, NULL},
        {{.name = "a/data/k", .data = FOUR, .size = 16, .method = 8},
         {0},
         NN_ERR_INVALID,
         "compressed"},
        {{.name = "a/data/k", .data = FOUR, .size = 16, .flags = 1},
         {0},
         NN_ERR_INVALID,
         "encrypted"},
        {{.name = "a/data/k", .data = FOUR, .size = 16, .crc_lie = 1},
         {0},
         NN_ERR_INVALID,
         "checksum"},
        {{.name = "a/data/k", .data = FOUR, .size = 16, .size_lie = 4000},
         {0},
         NN_ERR_INVALID,
         "leaves the file"},
        {{.name = "a/data/k", .data = FOUR, .size = 16, .size_lie = 0xffffffff - 16},
         {0},
         NN_ERR_NOT_SUPPORTED,
         "4 GiB"},
        {{.name = "a/data/k", .local_name = "a/data/l", .data = FOUR, .size = 16},
         {0},
         NN_ERR_INVALID,
         "otherwise"},
        {{.name = "a/data/k", .data = FOUR, .size = 12}, {0}, NN_ERR_INVALID, "12 bytes"},
        {{.name = "b/data/k", .data = FOUR, .size = 16}, {0}, NN_ERR_INVALID, "not in the"},
        {{.name = "a/data/k", .data = FOUR, .size = 16},
         {.name = "a/data/k", .data = FOUR, .size = 16},
         NN_ERR_INVALID,
         "twice"},
        {{.name = "a/data/k", .data = FOUR, .size = 16},
         {.name = "b/data.pkl", .data = "}.", .size = 2},
         NN_ERR_INVALID,
         "two data.pkl"},
        {{.name = "a/data/k", .data = FOUR, .size = 16},
         {.name = "a/constants.pkl", .data = "}.", .size = 2},
         NN_ERR_NOT_SUPPORTED,
         "TorchScript"},
        {{.name = "a/data/k", .data = FOUR, .size = 16},
         {.name = "a/byteorder", .data = "bigger", .size = 6},
         NN_ERR_NOT_SUPPORTED,
         "big-endian"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct bytes pickle;
        struct entry entries[3];
        good_entries(&pickle, entries);
        entries[1] = CASES[i].second;
        entries[2] = CASES[i].third;
        struct bytes zip = zip_of(entries, CASES[i].third.name ? 3 : 2);
        free(pickle.data);
        expect(&zip, CASES[i].status, CASES[i].words);
    }
}

static void zip_entries_do_not_overlap(void **state)
{
    (void)state;
    struct bytes pickle;
    struct entry entries[3];
    good_entries(&pickle, entries);
    entries[2] = entries[0];
    entries[2].again = 1;
    entries[2].crc_lie = 1; /* not looked at: many that overlap would cost the file each */
    struct bytes zip = zip_of(entries, 3);
    expect(&zip, NN_ERR_INVALID, "overlap");
    zip = zip_of(entries + 1, 1);
    expect(&zip, NN_ERR_INVALID, "no data.pkl");
    zip = zip_of(entries, 0);
    expect(&zip, NN_ERR_INVALID, "no data.pkl");
    free(pickle.data);
}

static void zip_containers_end_where_they_end(void **state)
{
    (void)state;
    struct bytes pickle;
    struct entry entries[2];
    good_entries(&pickle, entries);
    struct bytes zip = zip_of(entries, 2);
    for (size_t n = 0; n < zip.size; n++) {
        struct bytes cut = {.data = zip.data, .size = n};
        assert_int_not_equal(status_of(&cut, NULL), NN_OK);
    }
    for (size_t i = zip.size - 22; i < zip.size; i++) { /* every byte of the end record matters */
        zip.data[i] ^= 1;
        bool disk = i >= zip.size - 18 && i < zip.size - 14; /* disk numbers are not looked at */
        assert_true(disk || status_of(&zip, NULL) != NN_OK);
        zip.data[i] ^= 1;
    }
    put_text(&zip, "x");
    expect(&zip, NN_ERR_INVALID, "no end");
    free(pickle.data);
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
        cmocka_unit_test(zip_containers_are_checked),
        cmocka_unit_test(zip_entries_do_not_overlap),
        cmocka_unit_test(zip_containers_end_where_they_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
