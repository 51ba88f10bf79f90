/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/unpack.h"

#include <criterion/criterion.h>
#include <grpc/byte_buffer.h>
#include <grpc/slice.h>

#include "rpc/grpc/payload.h"

#define S(literal) ((struct wr_str) WR_STR(literal))
/* "hello hello hello hello" as gzip and as zlib has it. */
#define GZIP_BYTES                                                                                 \
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x27\x01\xe3\x51"     \
    "\x3d\x8d\x17\x00\x00\x00"
#define GZIP S(GZIP_BYTES)
#define ZLIB S("\x78\xda\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x27\x01\x68\x03\x08\xb1")
#define TEXT S("hello hello hello hello")

static grpc_byte_buffer *packed(struct wr_str bytes, grpc_compression_algorithm algorithm)
{
    grpc_slice slice = grpc_slice_from_copied_buffer(bytes.ptr, bytes.len);
    grpc_byte_buffer *const buffer = grpc_raw_compressed_byte_buffer_create(&slice, 1, algorithm);

    grpc_slice_unref(slice);
    return buffer;
}

static void expect(grpc_byte_buffer *buffer, size_t max_bytes, enum wr_err err, struct wr_str want)
{
    cr_assert_eq(wr_grpc_unpack(&buffer, max_bytes), err);
    if (err == WR_OK) {
        cr_assert_eq(buffer->data.raw.compression, GRPC_COMPRESS_NONE);
        cr_assert(wr_str_equal(wr_grpc_payload_bytes(&buffer), want));
    }
    grpc_byte_buffer_destroy(buffer);
}

Test(unpack, leaves_what_is_not_packed)
{
    grpc_byte_buffer *none = NULL;

    cr_assert_eq(wr_grpc_unpack(&none, 1), WR_OK);
    cr_assert_null(none);
    expect(wr_grpc_payload_new(GZIP), 1, WR_OK, GZIP);
}

Test(unpack, reads_gzip_and_deflate)
{
    expect(packed(GZIP, GRPC_COMPRESS_GZIP), 100, WR_OK, TEXT);
    expect(packed(ZLIB, GRPC_COMPRESS_DEFLATE), 100, WR_OK, TEXT);
}

Test(unpack, stops_at_the_bound)
{
    expect(packed(GZIP, GRPC_COMPRESS_GZIP), TEXT.len, WR_OK, TEXT);
    expect(packed(GZIP, GRPC_COMPRESS_GZIP), TEXT.len - 1, WR_ERR_TOO_LARGE, TEXT);
    expect(packed(GZIP, GRPC_COMPRESS_GZIP), 0, WR_ERR_TOO_LARGE, TEXT);
}

Test(unpack, refuses_what_is_broken)
{
    const struct wr_str whole = GZIP;

    for (size_t len = 0; len < whole.len; len++) {
        expect(packed((struct wr_str){.ptr = whole.ptr, .len = len}, GRPC_COMPRESS_GZIP), 100,
               WR_ERR_MALFORMED, TEXT);
    }
    expect(packed(S("plain text"), GRPC_COMPRESS_GZIP), 100, WR_ERR_MALFORMED, TEXT);
    expect(packed(S(GZIP_BYTES "and more"), GRPC_COMPRESS_GZIP), 100, WR_ERR_MALFORMED, TEXT);
}
