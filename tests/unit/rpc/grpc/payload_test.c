/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/payload.h"

#include <criterion/criterion.h>
#include <grpc/byte_buffer.h>
#include <grpc/slice.h>

#define S(literal) ((struct wr_str) WR_STR(literal))

static void expect_bytes(grpc_byte_buffer *buffer, struct wr_str want)
{
    const struct wr_str got = wr_grpc_payload_bytes(&buffer);

    cr_assert_not_null(got.ptr);
    cr_assert(wr_str_equal(got, want));
    grpc_byte_buffer_destroy(buffer);
}

Test(payload, of_no_buffer_has_no_pointer)
{
    grpc_byte_buffer *none = NULL;

    cr_assert_null(wr_grpc_payload_bytes(&none).ptr);
}

Test(payload, comes_back_as_it_went)
{
    expect_bytes(wr_grpc_payload_new(S("")), S(""));
    expect_bytes(wr_grpc_payload_new((struct wr_str){0}), S(""));
    expect_bytes(wr_grpc_payload_new(S("a\0b")), S("a\0b"));
    expect_bytes(wr_grpc_payload_new(S("longer than what fits into a slice itself")),
                 S("longer than what fits into a slice itself"));
}

Test(payload, of_several_slices_becomes_one_piece)
{
    grpc_slice parts[] = {
        grpc_slice_from_static_string("one long enough not to be copied into the slice, "),
        grpc_slice_from_static_string(""),
        grpc_slice_from_static_string("two"),
    };

    expect_bytes(grpc_raw_byte_buffer_create(parts, 3),
                 S("one long enough not to be copied into the slice, two"));
}
