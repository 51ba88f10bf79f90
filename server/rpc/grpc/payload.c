/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/payload.h"

#include <string.h>

#include <grpc/byte_buffer.h>
#include <grpc/slice.h>

/* Copies the slices of `*buffer` into one, packed or not. */
static void join(grpc_byte_buffer **buffer)
{
    const grpc_slice_buffer *const slices = &(*buffer)->data.raw.slice_buffer;
    grpc_slice whole = grpc_slice_malloc(slices->length);
    size_t done = 0;

    for (size_t i = 0; i < slices->count; i++) {
        memcpy(GRPC_SLICE_START_PTR(whole) + done, GRPC_SLICE_START_PTR(slices->slices[i]),
               GRPC_SLICE_LENGTH(slices->slices[i]));
        done += GRPC_SLICE_LENGTH(slices->slices[i]);
    }

    grpc_byte_buffer *const joined =
        grpc_raw_compressed_byte_buffer_create(&whole, 1, (*buffer)->data.raw.compression);

    grpc_slice_unref(whole);
    grpc_byte_buffer_destroy(*buffer);
    *buffer = joined;
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
