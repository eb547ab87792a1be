/* SPDX-License-Identifier: MIT
 *
 * core/base/sha256.h: the examples of FIPS 180-4, every way of cutting a message, and the C text
 * against the instructions.
 */
#include "tests/support/cmocka_all.h"

#include <string.h>

#include "core/base/random.h"
#include "core/base/sha256.h"
#include "core/base/sha256_internal.h"

static void hex_of(const void *data, size_t size, char hex[NN_SHA256_HEX])
{
    uint8_t digest[NN_SHA256_SIZE];
    nn_sha256_of(data, size, digest);
    nn_sha256_hex(digest, hex);
}

static void known_answers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hex;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    char hex[NN_SHA256_HEX];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        hex_of(rows[i].text, strlen(rows[i].text), hex);
        assert_string_equal(hex, rows[i].hex);
    }
    static char million[1000000];
    memset(million, 'a', sizeof million);
    hex_of(million, sizeof million, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void pieces_give_the_same_digest(void **state)
{
    (void)state;
    uint8_t data[300], whole[NN_SHA256_SIZE], pieces[NN_SHA256_SIZE];
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(i * 7 + 3);
    }
    for (size_t size = 0; size <= sizeof data; size += 13) {
        nn_sha256_of(data, size, whole);
        for (size_t step = 1; step < 140; step += 9) {
            struct nn_sha256 hash;
            nn_sha256_init(&hash);
            for (size_t at = 0; at < size; at += step) {
                nn_sha256_update(&hash, data + at, size - at < step ? size - at : step);
            }
            nn_sha256_finish(&hash, pieces);
            assert_memory_equal(whole, pieces, sizeof whole);
        }
    }
}

static void instructions_agree_with_the_text(void **state)
{
    (void)state;
    if (!nn_sha256_has_instructions()) {
        print_message("not run: this processor has no SHA instructions\n");
        skip();
    }
    uint8_t data[5 * 64];
    uint32_t plain[8], fast[8];
    struct nn_random random;
    nn_random_init(&random, 1, NN_RANDOM_TEST, 0, 0);
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < sizeof data; i++) {
            data[i] = (uint8_t)nn_random_u32(&random);
        }
        for (int i = 0; i < 8; i++) {
            plain[i] = fast[i] = nn_random_u32(&random);
        }
        nn_sha256_blocks_plain(plain, data, 5);
        nn_sha256_blocks_instructions(fast, data, 5);
        assert_memory_equal(plain, fast, sizeof plain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(pieces_give_the_same_digest),
        cmocka_unit_test(instructions_agree_with_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
