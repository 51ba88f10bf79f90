/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/scan.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "tests/unit/wire/bytes.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

struct place {
    struct wr_str bytes;
    const unsigned char *at, *end;
    struct wr_scan scan;
};

static struct place open_hex(const char *hex)
{
    const struct wr_str bytes = bytes_of_hex(hex);
    const unsigned char *const at = (const unsigned char *) bytes.ptr;

    return (struct place){.bytes = bytes, .at = at, .end = at + bytes.len};
}

Test(scan, reads_numbers_of_one_to_ten_bytes)
{
    const struct {
        const char *hex;
        uint64_t value;
    } rows[] = {
        {"00", 0},
        {"7f", 127},
        {"8001", 128},
        {"ac02", 300},
        {"8000", 0},
        {"80808080808080808000", 0},
        {"ffffffff0f", UINT32_MAX},
        {"ffffffffffffffffff01", UINT64_MAX},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct place p = open_hex(rows[i].hex);
        uint64_t value = 1;

        cr_assert_eq(wr_scan_varint(&p.scan, p.at, p.end, &value), p.end, "row %zu", i);
        cr_assert_eq(value, rows[i].value, "row %zu: %" PRIu64, i, value);
        bytes_free(p.bytes);
    }
}

Test(scan, refuses_numbers_that_are_cut_or_beyond_64_bits)
{
    const struct {
        const char *hex;
        enum wr_fault fault;
        ptrdiff_t at;
    } rows[] = {
        {"", WR_FAULT_CUT, 0},
        {"80", WR_FAULT_CUT, 1},
        {"ffffffffffffffffff", WR_FAULT_CUT, 9},
        {"ffffffffffffffffff02", WR_FAULT_VARINT, 0},
        {"ffffffffffffffffff7f", WR_FAULT_VARINT, 0},
        {"ffffffffffffffffffff01", WR_FAULT_VARINT, 0},
        {"8080808080808080808000", WR_FAULT_VARINT, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct place p = open_hex(rows[i].hex);
        uint64_t value = 1;

        cr_assert_null(wr_scan_varint(&p.scan, p.at, p.end, &value), "row %zu", i);
        cr_assert_eq(p.scan.fault, rows[i].fault, "row %zu: %d", i, (int) p.scan.fault);
        cr_assert_eq(p.scan.at - p.at, rows[i].at, "row %zu: at %td", i, p.scan.at - p.at);
        bytes_free(p.bytes);
    }
}

Test(scan, reads_tags_and_refuses_bad_numbers_and_wire_types)
{
    const struct {
        const char *hex;
        enum wr_fault fault;
        uint32_t tag;
    } rows[] = {
        {"08", WR_FAULT_NONE, WR_TAG(1, WR_WIRE_VARINT)},
        {"7d", WR_FAULT_NONE, WR_TAG(15, WR_WIRE_FIXED32)},
        {"8201", WR_FAULT_NONE, WR_TAG(16, WR_WIRE_BYTES)},
        {"8a00", WR_FAULT_NONE, WR_TAG(1, WR_WIRE_BYTES)},
        {"faffffff0f", WR_FAULT_NONE, WR_TAG(536870911, WR_WIRE_BYTES)},
        {"8280808010", WR_FAULT_NUMBER, 0},
        {"ffffffffffffffffff01", WR_FAULT_NUMBER, 0},
        {"02", WR_FAULT_NUMBER, 0},
        {"8200", WR_FAULT_NUMBER, 0},
        {"00", WR_FAULT_NUMBER, 0},
        {"0e", WR_FAULT_WIRE_TYPE, 0},
        {"0f", WR_FAULT_WIRE_TYPE, 0},
        {"8601", WR_FAULT_WIRE_TYPE, 0},
        {"", WR_FAULT_CUT, 0},
        {"82", WR_FAULT_CUT, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct place p = open_hex(rows[i].hex);
        uint32_t tag = 0;
        const bool is_read = wr_scan_tag(&p.scan, p.at, p.end, &tag) == p.end;

        cr_assert_eq(is_read, rows[i].fault == WR_FAULT_NONE, "row %zu", i);
        cr_assert_eq(p.scan.fault, rows[i].fault, "row %zu: %d", i, (int) p.scan.fault);
        cr_assert_eq(tag, rows[i].tag, "row %zu: %" PRIu32, i, tag);
        bytes_free(p.bytes);
    }
}

Test(scan, reads_lengths_up_to_the_end_and_no_further)
{
    const struct {
        const char *hex;
        enum wr_fault fault;
    } rows[] = {
        {"00", WR_FAULT_NONE},
        {"01aa", WR_FAULT_NONE},
        {"8100aa", WR_FAULT_NONE},
        {"01", WR_FAULT_LENGTH},
        {"02aa", WR_FAULT_LENGTH},
        {"8200aa", WR_FAULT_LENGTH},
        {"ffffffffffffffffff01aa", WR_FAULT_LENGTH},
        {"", WR_FAULT_CUT},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct place p = open_hex(rows[i].hex);
        const unsigned char *behind = NULL;
        const bool is_read = wr_scan_length(&p.scan, p.at, p.end, &behind) != NULL;

        cr_assert_eq(is_read, rows[i].fault == WR_FAULT_NONE, "row %zu", i);
        cr_assert_eq(p.scan.fault, rows[i].fault, "row %zu: %d", i, (int) p.scan.fault);
        cr_assert_eq(behind, is_read ? p.end : NULL, "row %zu", i);
        bytes_free(p.bytes);
    }
}

/* The first byte of each row is the tag of the field that is skipped. */
Test(scan, skips_one_field_of_any_wire_type)
{
    const struct {
        const char *hex;
        enum wr_fault fault;
    } rows[] = {
        {"28 05", WR_FAULT_NONE},
        {"29 0102030405060708", WR_FAULT_NONE},
        {"2a 03616263", WR_FAULT_NONE},
        {"2d 01020304", WR_FAULT_NONE},
        {"2b 2c", WR_FAULT_NONE},
        {"2b 0805 1200 2c", WR_FAULT_NONE},
        {"2b 2b 33 34 2c 2c", WR_FAULT_NONE},
        {"28 80", WR_FAULT_CUT},
        {"29 01020304050607", WR_FAULT_CUT},
        {"2a 04616263", WR_FAULT_LENGTH},
        {"2d 010203", WR_FAULT_CUT},
        {"2b", WR_FAULT_GROUP},
        {"2b 0805", WR_FAULT_GROUP},
        {"2b 34", WR_FAULT_GROUP},
        {"2b 33 2c", WR_FAULT_GROUP},
        {"2c", WR_FAULT_GROUP},
        {"2b 0602 2c", WR_FAULT_NUMBER},
        {"2b 0e 2c", WR_FAULT_WIRE_TYPE},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct place p = open_hex(rows[i].hex);
        const bool is_skipped = wr_scan_skip(&p.scan, p.at + 1, p.end, *p.at) == p.end;

        cr_assert_eq(is_skipped, rows[i].fault == WR_FAULT_NONE, "row %zu", i);
        cr_assert_eq(p.scan.fault, rows[i].fault, "row %zu: %d", i, (int) p.scan.fault);
        bytes_free(p.bytes);
    }
}

Test(scan, skips_groups_down_to_the_bound_and_refuses_one_more)
{
    unsigned char groups[2 * (WR_SCAN_DEPTH_MAX + 1)];

    for (size_t depth = WR_SCAN_DEPTH_MAX; depth <= WR_SCAN_DEPTH_MAX + 1; depth++) {
        const unsigned char *const end = groups + 2 * depth;
        struct wr_scan scan = {.fault = WR_FAULT_NONE};

        memset(groups, 0x2b, depth);
        memset(groups + depth, 0x2c, depth);

        const bool is_skipped = wr_scan_skip(&scan, groups + 1, end, groups[0]) == end;

        cr_assert_eq(is_skipped, depth == WR_SCAN_DEPTH_MAX, "depth %zu", depth);
        cr_assert_eq(scan.fault, is_skipped ? WR_FAULT_NONE : WR_FAULT_DEPTH);
    }
}

Test(scan, keeps_the_first_of_two_failures)
{
    const unsigned char bytes[2] = {0};
    struct wr_scan scan = {.fault = WR_FAULT_NONE};

    cr_assert_null(wr_scan_fail(&scan, WR_FAULT_GROUP, bytes));
    cr_assert_null(wr_scan_fail(&scan, WR_FAULT_CUT, bytes + 1));
    cr_assert_eq(scan.fault, WR_FAULT_GROUP);
    cr_assert_eq(scan.at, bytes);
    cr_assert_str_eq(wr_fault_text(scan.fault), "has a group that does not end as it began");
}
