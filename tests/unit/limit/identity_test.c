/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/identity.h"

#include <criterion/criterion.h>

Test(identity, reads_what_was_written)
{
    static const struct wr_str domain = WR_STR("edge\0proxy");
    static const struct wr_identity_entry entries[] = {
        {.key = WR_STR("user"), .value = WR_STR("\xff ann")},
        {.key = WR_STR(""), .value = WR_STR("")},
        {.is_pattern = true, .key = WR_STR("path"), .value = WR_STR("/a*")},
    };
    static const struct wr_identity_tail tail = {.length_us = INT64_C(31536000000000),
                                                 .alignment = 2,
                                                 .algorithm = 255,
                                                 .layer = 70000,
                                                 .zone = WR_STR("Europe/Paris")};
    const size_t n = sizeof entries / sizeof entries[0];
    char bytes[256];
    char *at = wr_identity_put_domain(bytes, domain);

    cr_assert_eq(at - bytes, WR_IDENTITY_HEAD_SIZE + (ptrdiff_t) domain.len);
    for (size_t i = 0; i < n; i++) {
        const char *const before = at;

        at = wr_identity_put_entry(at, entries[i].is_pattern, entries[i].key, entries[i].value);
        cr_assert_eq((size_t) (at - before),
                     WR_IDENTITY_ENTRY_SIZE + entries[i].key.len + entries[i].value.len);
    }

    const char *const before = at;

    at = wr_identity_put_tail(at, &tail);
    cr_assert_eq((size_t) (at - before), WR_IDENTITY_TAIL_SIZE + tail.zone.len);

    struct wr_str read_domain;
    struct wr_identity_entry entry;
    struct wr_identity_reader reader =
        wr_identity_read((struct wr_str){.ptr = bytes, .len = (size_t) (at - bytes)}, &read_domain);

    cr_assert(wr_str_equal(read_domain, domain));
    for (size_t i = 0; i < n; i++) {
        cr_assert(wr_identity_read_entry(&reader, &entry));
        cr_assert_eq(entry.is_pattern, entries[i].is_pattern);
        cr_assert(wr_str_equal(entry.key, entries[i].key));
        cr_assert(wr_str_equal(entry.value, entries[i].value));
    }
    cr_assert_not(wr_identity_read_entry(&reader, &entry));

    const struct wr_identity_tail read = wr_identity_read_tail(&reader);

    cr_assert_eq(read.length_us, tail.length_us);
    cr_assert_eq(read.alignment, tail.alignment);
    cr_assert_eq(read.algorithm, tail.algorithm);
    cr_assert_eq(read.layer, tail.layer);
    cr_assert(wr_str_equal(read.zone, tail.zone));
}
