/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/address.h"

#include <criterion/criterion.h>

Test(address, a_group_is_the_first_bits_in_one_spelling)
{
    static const struct {
        const char *text;
        unsigned ipv4_bits, ipv6_bits;
        const char *group; /* empty: no address */
    } rows[] = {
        {"192.0.2.77", 32, 64, "192.0.2.77"},
        {"192.0.2.77", 24, 64, "192.0.2.0"},
        {"192.0.2.77", 26, 64, "192.0.2.64"},
        {"192.0.2.77", 0, 64, "0.0.0.0"},
        {"::ffff:192.0.2.77", 32, 64, "192.0.2.77"},
        {"::FFFF:c000:24d", 32, 64, "192.0.2.77"},
        {"0:0:0:0:0:ffff:192.0.2.77", 8, 64, "192.0.0.0"},
        {"2001:db8:1:2:3:4:5:6", 32, 64, "2001:db8:1:2::"},
        {"2001:0DB8:0001:0002:ffff::", 32, 64, "2001:db8:1:2::"},
        {"2001:db8:1:2::", 32, 64, "2001:db8:1:2::"},
        {"2001:db8:1:2:3:4:5:6", 32, 60, "2001:db8:1::"},
        {"2001:db8:1:2:3:4:5:6", 32, 128, "2001:db8:1:2:3:4:5:6"},
        {"2001:db8::1", 32, 0, "::"},
        {"::1", 32, 128, "::1"},
        {"192.0.2.0/24", 24, 64, ""},
        {"192.0.2.77:80", 24, 64, ""},
        {"192.0.2", 24, 64, ""},
        {"192.0.2.077", 24, 64, ""},
        {"[2001:db8::1]", 24, 64, ""},
        {"fe80::1%eth0", 24, 64, "fe80::%eth0"},
        {"FE80:0::1%eth0", 24, 128, "fe80::1%eth0"},
        {"fe80::%eth0", 24, 64, "fe80::%eth0"},
        {"fe80::1%ETH0", 24, 64, "fe80::%ETH0"},
        {"fe80::1%2", 24, 0, "::%2"},
        {"1111:2222:3333:4444:5555:6666:7777:8888%a-zone-of-thirty-one-characters", 24, 128,
         "1111:2222:3333:4444:5555:6666:7777:8888%a-zone-of-thirty-one-characters"},
        {"fe80::1%this-zone-is-longer-than-31-bytes", 24, 64, ""},
        {"fe80::1%", 24, 64, ""},
        {"%eth0", 24, 64, ""},
        {"192.0.2.1%eth0", 24, 64, ""},
        {"::ffff:192.0.2.1%eth0", 24, 64, ""},
        {"ann", 24, 64, ""},
        {"", 24, 64, ""},
        {"2001:db8:1:2:3:4:5:6-and-much-more-than-an-address-has", 24, 64, ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char group[WR_ADDRESS_TEXT_SIZE] = "";
        const size_t len =
            wr_address_group(wr_str_of(rows[i].text), rows[i].ipv4_bits, rows[i].ipv6_bits, group);

        cr_assert_eq(len, wr_str_of(rows[i].group).len, "%s: %s", rows[i].text, group);
        cr_assert(len == 0 || wr_str_equal(wr_str_of(group), wr_str_of(rows[i].group)), "%s: %s",
                  rows[i].text, group);
    }
}

Test(address, a_text_with_a_nul_is_no_address)
{
    static const struct wr_str text = WR_STR("192.0.2.1\0");
    char group[WR_ADDRESS_TEXT_SIZE];

    cr_assert_eq(wr_address_group(text, 24, 64, group), 0u);
}

Test(address, a_prefix_is_an_address_and_how_long_it_is)
{
    static const struct {
        const char *text;
        bool is_prefix;
    } rows[] = {
        {"10.0.0.0/8", true},  {"10.1.2.3/32", true},  {"0.0.0.0/0", true}, {"2001:db8::/32", true},
        {"::/128", true},      {"10.0.0.0/33", false}, {"::/129", false},   {"10.0.0.0", false},
        {"10.0.0.0/", false},  {"/8", false},          {"10.0.0/8", false}, {"10.0.0.0/8/9", false},
        {"10.0.0.0/x", false}, {"10.0.0.0/-1", false}, {"docs/8", false},   {"", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(wr_address_is_prefix(wr_str_of(rows[i].text)), rows[i].is_prefix, "%s",
                     rows[i].text);
    }
    cr_assert_not(wr_address_is_prefix((struct wr_str){0}));
}
