/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/unpack.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include <grpc/byte_buffer.h>
#include <grpc/slice.h>
#define ZLIB_CONST
#include <zlib.h>

#include "rpc/grpc/payload.h"

#define FIRST_SIZE 4096
/* A window of 32 KiB, with the head of either gzip or zlib ("deflate"). */
#define WINDOW_BITS (15 + 32)

/* What came out so far. */
struct output {
    char *bytes; /* owned */
    size_t len, size;
    size_t max; /* no more than this may come out */
};

/* Room for at least one byte more; one beyond the bound, to see that it is passed. */
static enum wr_err make_room(struct output *output)
{
    if (output->len < output->size) {
        return WR_OK;
    }
    if (output->len > output->max) {
        return WR_ERR_TOO_LARGE;
    }

    const size_t wish = output->size == 0 ? FIRST_SIZE : output->size * 2;
    const size_t size = wish > output->max ? output->max + 1 : wish;
    char *const bytes = realloc(output->bytes, size);

    if (bytes == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    output->bytes = bytes;
    output->size = size;
    return WR_OK;
}

static enum wr_err inflate_all(z_stream *stream, struct output *output)
{
    for (;;) {
        const enum wr_err err = make_room(output);

        if (err != WR_OK) {
            return err;
        }

        const size_t room = output->size - output->len;

        stream->next_out = (Bytef *) output->bytes + output->len;
        stream->avail_out = room > UINT_MAX ? UINT_MAX : (uInt) room;

        const uInt given = stream->avail_out;
        const int state = inflate(stream, Z_NO_FLUSH);

        output->len += given - stream->avail_out;
        if (state == Z_STREAM_END) {
            break;
        }
        if (state == Z_MEM_ERROR) {
            return WR_ERR_NO_MEMORY;
        }
        if (state != Z_OK) { /* Z_BUF_ERROR too: the input ends before the stream does */
            return WR_ERR_MALFORMED;
        }
    }
    if (output->len > output->max) {
        return WR_ERR_TOO_LARGE;
    }
    return stream->avail_in == 0 ? WR_OK : WR_ERR_MALFORMED;
}

static enum wr_err inflate_text(struct wr_str packed, struct output *output)
{
    z_stream stream = {0};

    if (packed.len > UINT_MAX) {
        return WR_ERR_TOO_LARGE;
    }
    stream.next_in = (const Bytef *) packed.ptr;
    stream.avail_in = (uInt) packed.len;
    if (inflateInit2(&stream, WINDOW_BITS) != Z_OK) {
        return WR_ERR_NO_MEMORY;
    }

    const enum wr_err err = inflate_all(&stream, output);

    (void) inflateEnd(&stream);
    return err;
}

enum wr_err wr_grpc_unpack(grpc_byte_buffer **buffer, size_t max_bytes)
{
    if (*buffer == NULL || (*buffer)->data.raw.compression == GRPC_COMPRESS_NONE) {
        return WR_OK;
    }

    struct output output = {.max = max_bytes};
    const enum wr_err err = inflate_text(wr_grpc_payload_bytes(buffer), &output);

    if (err == WR_OK) {
        grpc_byte_buffer_destroy(*buffer);
        *buffer = wr_grpc_payload_new((struct wr_str){.ptr = output.bytes, .len = output.len});
    }
    free(output.bytes);
    return err;
}
