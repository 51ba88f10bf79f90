/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <criterion/criterion.h>
#include <string.h>

static struct wr_hash_key counting_key(void)
{
    struct wr_hash_key key;

    for (size_t i = 0; i < sizeof key.bytes; i++) {
        key.bytes[i] = (unsigned char) i;
    }
    return key;
}

/* The first rows of vectors_sip128 in the reference code of SipHash. */
Test(hash, is_siphash_2_4_with_128_bits)
{
    static const unsigned char want[][16] = {
        {0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02,
         0x93},
        {0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59, 0x11, 0x9b, 0x22, 0xfc,
         0x45},
    };
    const struct wr_hash_key key = counting_key();

    for (size_t len = 0; len < 2; len++) {
        const struct wr_hash hash = wr_hash_of(&key, (struct wr_str){"\0", len});

        cr_assert_eq(memcmp(&hash, want[len], sizeof hash), 0, "%zu bytes", len);
    }
}

Test(hash, differs_with_every_byte_and_with_the_length)
{
    static const struct wr_str texts[] = {
        WR_STR(""),  WR_STR("\0"), WR_STR("\0\0"), WR_STR("a"),
        WR_STR("b"), WR_STR("ab"), WR_STR("ba"),   WR_STR("a\0"),
    };
    const struct wr_hash_key key = counting_key();

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
            cr_assert_eq(wr_hash_equal(wr_hash_of(&key, texts[i]), wr_hash_of(&key, texts[k])),
                         i == k, "texts %zu and %zu", i, k);
        }
    }
}

Test(hash, equal_looks_at_both_halves)
{
    const struct wr_hash a = {1, 2};

    cr_assert(wr_hash_equal(a, (struct wr_hash){1, 2}));
    cr_assert(!wr_hash_equal(a, (struct wr_hash){1, 3}));
    cr_assert(!wr_hash_equal(a, (struct wr_hash){3, 2}));
}

Test(hash, every_key_drawn_makes_other_hashes)
{
    const struct wr_str text = WR_STR("text");
    struct wr_hash_key a, b;

    cr_assert_eq(wr_hash_key_draw(&a), WR_OK);
    cr_assert_eq(wr_hash_key_draw(&b), WR_OK);
    cr_assert(!wr_hash_equal(wr_hash_of(&a, text), wr_hash_of(&b, text)));
    cr_assert(wr_hash_equal(wr_hash_of(&a, text), wr_hash_of(&a, text)));
}

Test(hash, a_secret_always_gives_the_same_key)
{
    static const struct wr_str one = WR_STR("correct horse"), other = WR_STR("correct horse ");
    struct wr_hash_key first, again, second;

    cr_assert_eq(wr_hash_key_derive(one, &first), WR_OK);
    cr_assert_eq(wr_hash_key_derive(one, &again), WR_OK);
    cr_assert_eq(wr_hash_key_derive(other, &second), WR_OK);
    cr_assert_eq(memcmp(&first, &again, sizeof first), 0);
    cr_assert_neq(memcmp(&first, &second, sizeof first), 0);
}

Test(hash, a_secret_is_wiped_as_far_as_asked)
{
    char secret[] = "open sesame";

    wr_secret_wipe(secret, 4);
    cr_assert_eq(memcmp(secret, "\0\0\0\0 sesame", sizeof secret), 0);
    wr_secret_wipe(secret, sizeof secret);
    cr_assert_eq(strspn(secret + 4, "aems "), 0);
}
