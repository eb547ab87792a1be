/* SPDX-License-Identifier: MIT
 *
 * core/files: the lies that a PyTorch file can tell as a zip container.
 */
#include "tests/support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/support/torch.h"

struct entry {
    const char *name, *local_name; /* local_name NULL: the same */
    const void *data;
    size_t size;
    unsigned method, flags;
    uint32_t crc_lie, size_lie; /* added */
    size_t again;               /* place of the first entry instead of its own */
};

static void put_header(struct torch_bytes *zip, const struct entry *entry, bool central, size_t at)
{
    const char *name = !central && entry->local_name ? entry->local_name : entry->name;
    torch_put_number(zip, central ? 0x02014b50 : 0x04034b50, 4);
    torch_put_number(zip, central ? 20 : 0, central ? 4 : 2);
    torch_put_number(zip, entry->flags, 2);
    torch_put_number(zip, entry->method, 2);
    torch_put_number(zip, 0, 4);
    torch_put_number(zip, crc32_z(0, entry->data, entry->size) + entry->crc_lie, 4);
    torch_put_number(zip, entry->size + (central ? entry->size_lie : 0), 4);
    torch_put_number(zip, entry->size + (central ? entry->size_lie : 0), 4);
    torch_put_number(zip, strlen(name), 2);
    torch_put_number(zip, 0, central ? 12 : 2);
    if (central) {
        torch_put_number(zip, at, 4);
    }
    torch_put_text(zip, name);
}

static struct torch_bytes zip_of(const struct entry *entries, size_t n)
{
    struct torch_bytes zip = {0};
    size_t places[8];
    for (size_t i = 0; i < n; i++) {
        places[i] = entries[i].again ? places[0] : zip.size;
        if (!entries[i].again) {
            put_header(&zip, &entries[i], false, 0);
            torch_put(&zip, entries[i].data, entries[i].size);
        }
    }
    size_t directory = zip.size;
    for (size_t i = 0; i < n; i++) {
        put_header(&zip, &entries[i], true, places[i]);
    }
    size_t size = zip.size - directory;
    torch_put_number(&zip, 0x06054b50, 4);
    torch_put_number(&zip, 0, 4);
    torch_put_number(&zip, n, 2);
    torch_put_number(&zip, n, 2);
    torch_put_number(&zip, size, 4);
    torch_put_number(&zip, directory, 4);
    torch_put_number(&zip, 0, 2);
    return zip;
}

static const float FOUR[4] = {1, 2, 3, 4};

/* A good container of one tensor, for the tests to spoil. */
static void good_entries(struct torch_bytes *pickle, struct entry entries[2])
{
    *pickle = (struct torch_bytes){0};
    torch_put_text(pickle, "\x80\x02}(U\x01w");
    torch_put_tensor(pickle, "k", "K\x04", "K\x01(K\x03t(K\x01t");
    torch_put_text(pickle, "u.");
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
        struct torch_bytes pickle;
        struct entry entries[3];
        good_entries(&pickle, entries);
        entries[1] = CASES[i].second;
        entries[2] = CASES[i].third;
        struct torch_bytes zip = zip_of(entries, CASES[i].third.name ? 3 : 2);
        free(pickle.data);
        torch_expect(&zip, CASES[i].status, CASES[i].words);
    }
}

static void zip_entries_do_not_overlap(void **state)
{
    (void)state;
    struct torch_bytes pickle;
    struct entry entries[3];
    good_entries(&pickle, entries);
    entries[2] = entries[0];
    entries[2].again = 1;
    entries[2].crc_lie = 1; /* not looked at: many that overlap would cost the file each */
    struct torch_bytes zip = zip_of(entries, 3);
    torch_expect(&zip, NN_ERR_INVALID, "overlap");
    zip = zip_of(entries + 1, 1);
    torch_expect(&zip, NN_ERR_INVALID, "no data.pkl");
    zip = zip_of(entries, 0);
    torch_expect(&zip, NN_ERR_INVALID, "no data.pkl");
    free(pickle.data);
}

static void zip_containers_end_where_they_end(void **state)
{
    (void)state;
    struct torch_bytes pickle;
    struct entry entries[2];
    good_entries(&pickle, entries);
    struct torch_bytes zip = zip_of(entries, 2);
    for (size_t n = 0; n < zip.size; n++) {
        struct torch_bytes cut = {.data = zip.data, .size = n};
        assert_int_not_equal(torch_status(&cut, NULL), NN_OK);
    }
    for (size_t i = zip.size - 22; i < zip.size; i++) { /* every byte of the end record matters */
        zip.data[i] ^= 1;
        bool disk = i >= zip.size - 18 && i < zip.size - 14; /* disk numbers are not looked at */
        assert_true(disk || torch_status(&zip, NULL) != NN_OK);
        zip.data[i] ^= 1;
    }
    torch_put_text(&zip, "x");
    torch_expect(&zip, NN_ERR_INVALID, "no end");
    free(pickle.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zip_containers_are_checked),
        cmocka_unit_test(zip_entries_do_not_overlap),
        cmocka_unit_test(zip_containers_end_where_they_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
