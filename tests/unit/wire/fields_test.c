/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/fields.h"

#include <criterion/criterion.h>

#include "tests/unit/wire/bytes.h"

Test(fields, come_one_after_the_other)
{
    const struct wr_str message = bytes_of_hex("0801 1203616263 08ac02 190000000000000040 1a00");
    struct wr_scan scan = {0};
    struct wr_fields fields = wr_fields_of(&scan, message);

    cr_assert_eq(wr_fields_count(fields, WR_TAG(1, WR_WIRE_VARINT)), 2u);
    cr_assert(wr_fields_next(&fields));
    cr_assert_eq(fields.tag, WR_TAG(1, WR_WIRE_VARINT));
    cr_assert_eq(wr_fields_varint(&fields), 1u);
    cr_assert(wr_fields_next(&fields));

    const struct wr_str text = wr_fields_bytes(&fields);

    cr_assert(wr_str_equal(text, (struct wr_str) WR_STR("abc")));
    cr_assert(wr_fields_next(&fields));
    cr_assert_eq(wr_fields_varint(&fields), 300u);
    cr_assert(wr_fields_next(&fields));
    cr_assert_eq((int) (wr_fields_double(&fields) * 1000), 2000);
    cr_assert(wr_fields_next(&fields));
    wr_fields_skip(&fields);
    cr_assert_not(wr_fields_next(&fields));
    cr_assert_eq(scan.fault, WR_FAULT_NONE);
    bytes_free(message);
}

Test(fields, end_for_all_where_one_is_wrong)
{
    static const char *const rows[] = {"12036162", "08ff", "19000000", "0f", "0b08"};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_str message = bytes_of_hex(rows[i]);
        struct wr_scan scan = {0};
        struct wr_fields fields = wr_fields_of(&scan, message);
        struct wr_fields around = wr_fields_of(&scan, message);

        while (wr_fields_next(&fields)) {
            switch (fields.tag & 7) {
            case WR_WIRE_BYTES:
                cr_assert_eq(wr_fields_bytes(&fields).len, 0u);
                break;
            case WR_WIRE_FIXED64:
                cr_assert_eq((int) (wr_fields_double(&fields) * 1000), 0);
                break;
            case WR_WIRE_VARINT:
                cr_assert_eq(wr_fields_varint(&fields), 0u);
                break;
            default:
                wr_fields_skip(&fields);
                break;
            }
        }
        cr_assert_neq(scan.fault, WR_FAULT_NONE, "%s", rows[i]);
        cr_assert_not(wr_fields_next(&around));
        bytes_free(message);
    }
}
