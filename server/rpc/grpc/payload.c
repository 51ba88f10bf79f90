/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/payload.h"

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/slice.h>

#include "base/assert.h"

/* Copies the slices of `*buffer` into one. */
static void join(grpc_byte_buffer **buffer)
{
    grpc_byte_buffer_reader reader;

    WR_ASSERT(grpc_byte_buffer_reader_init(&reader, *buffer) == 1);

    grpc_slice whole = grpc_byte_buffer_reader_readall(&reader);

    grpc_byte_buffer_reader_destroy(&reader);
    grpc_byte_buffer_destroy(*buffer);
    *buffer = grpc_raw_byte_buffer_create(&whole, 1);
    grpc_slice_unref(whole);
}

struct wr_str wr_grpc_payload_bytes(grpc_byte_buffer **buffer)
{
    if (*buffer == NULL) {
        return (struct wr_str){0};
    }
    if (grpc_byte_buffer_length(*buffer) == 0) {
        return (struct wr_str) WR_STR("");
    }
    if ((*buffer)->data.raw.slice_buffer.count != 1) {
        join(buffer);
    }

    const grpc_slice *const slice = &(*buffer)->data.raw.slice_buffer.slices[0];

    return (struct wr_str){.ptr = (const char *) GRPC_SLICE_START_PTR(*slice),
                           .len = GRPC_SLICE_LENGTH(*slice)};
}

grpc_byte_buffer *wr_grpc_payload_new(struct wr_str bytes)
{
    grpc_slice slice = grpc_slice_from_copied_buffer(bytes.ptr, bytes.len);
    grpc_byte_buffer *const buffer = grpc_raw_byte_buffer_create(&slice, 1);

    grpc_slice_unref(slice);
    return buffer;
}
