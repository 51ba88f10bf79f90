/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/dialogue.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "store/redis/replies.h"

#define FIRST_OUT ((size_t) 16 << 10)
#define MAX_OUT ((size_t) 64 << 20)
#define KEPT_OUT ((size_t) 1 << 20) /* a buffer that grew beyond goes when it is empty */
#define FIRST_RING ((size_t) 256)
#define MAX_RING ((size_t) 1 << 20)
#define READ_SIZE ((size_t) 32 << 10)

static struct wr_redis_line *line_at(const struct wr_redis_dialogue *dialogue, uint64_t place)
{
    return &dialogue->lines[place & (dialogue->ring_size - 1)];
}

enum wr_err wr_redis_dialogue_init(struct wr_redis_dialogue *dialogue)
{
    *dialogue = (struct wr_redis_dialogue){0};
    return wr_redis_replies_new(&dialogue->replies);
}

void wr_redis_dialogue_fini(struct wr_redis_dialogue *dialogue)
{
    wr_redis_replies_destroy(dialogue->replies);
    free(dialogue->lines);
    free(dialogue->out);
    *dialogue = (struct wr_redis_dialogue){0};
}

bool wr_redis_dialogue_reset(struct wr_redis_dialogue *dialogue)
{
    WR_ASSERT(dialogue->first == dialogue->end);
    dialogue->stream_at = 0;
    dialogue->n_out = dialogue->n_written = 0;
    return wr_redis_replies_reset(dialogue->replies);
}

/* What was written leaves, so that the buffer does not creep. */
static void compact(struct wr_redis_dialogue *dialogue)
{
    if (dialogue->n_written == 0) {
        return;
    }
    dialogue->stream_at += dialogue->n_written;
    dialogue->n_out -= dialogue->n_written;
    memmove(dialogue->out, dialogue->out + dialogue->n_written, dialogue->n_out);
    dialogue->n_written = 0;
    if (dialogue->n_out == 0 && dialogue->out_size > KEPT_OUT) {
        free(dialogue->out);
        dialogue->out = NULL;
        dialogue->out_size = 0;
    }
}

static bool make_room(struct wr_redis_dialogue *dialogue, size_t n)
{
    if (n <= dialogue->out_size - dialogue->n_out) {
        return true;
    }
    compact(dialogue);
    if (n > MAX_OUT - dialogue->n_out) {
        return false;
    }

    size_t size = dialogue->out_size > 0 ? dialogue->out_size : FIRST_OUT;

    while (size - dialogue->n_out < n) {
        size *= 2;
    }

    char *const out = size > dialogue->out_size ? realloc(dialogue->out, size) : dialogue->out;

    if (out == NULL) {
        return false;
    }
    dialogue->out = out;
    dialogue->out_size = size;
    return true;
}

static bool make_line(struct wr_redis_dialogue *dialogue)
{
    if (dialogue->end - dialogue->first < dialogue->ring_size) {
        return true;
    }

    const size_t size = dialogue->ring_size > 0 ? 2 * dialogue->ring_size : FIRST_RING;
    struct wr_redis_line *const lines =
        size <= MAX_RING ? calloc(size, sizeof *dialogue->lines) : NULL;

    if (lines == NULL) {
        return false;
    }
    for (uint64_t place = dialogue->first; place < dialogue->end; place++) {
        lines[place & (size - 1)] = *line_at(dialogue, place);
    }
    free(dialogue->lines);
    dialogue->lines = lines;
    dialogue->ring_size = size;
    return true;
}

bool wr_redis_dialogue_say(struct wr_redis_dialogue *dialogue, struct wr_str bytes, unsigned step,
                           struct wr_redis_request *request, uint64_t *out_place)
{
    if (!make_line(dialogue) || !make_room(dialogue, bytes.len)) {
        return false;
    }
    *line_at(dialogue, dialogue->end) = (struct wr_redis_line){
        .request = request,
        .step = step,
        .begins_at = dialogue->stream_at + dialogue->n_out,
    };
    memcpy(dialogue->out + dialogue->n_out, bytes.ptr, bytes.len);
    dialogue->n_out += bytes.len;
    dialogue->n_live += request != NULL;
    if (out_place != NULL) {
        *out_place = dialogue->end;
    }
    dialogue->end++;
    return true;
}

bool wr_redis_dialogue_take(struct wr_redis_dialogue *dialogue, struct wr_redis_line *out_line)
{
    if (dialogue->first == dialogue->end) {
        return false;
    }
    *out_line = *line_at(dialogue, dialogue->first++);
    dialogue->n_live -= out_line->request != NULL;
    return true;
}

bool wr_redis_dialogue_is_unsent(const struct wr_redis_dialogue *dialogue,
                                 const struct wr_redis_line *line)
{
    return line->begins_at >= dialogue->stream_at + dialogue->n_written;
}

void wr_redis_dialogue_forget(struct wr_redis_dialogue *dialogue, uint64_t place)
{
    struct wr_redis_line *const line = line_at(dialogue, place);

    WR_ASSERT(place >= dialogue->first && place < dialogue->end && line->request != NULL);
    line->request = NULL;
    dialogue->n_live--;
}

enum wr_redis_io wr_redis_dialogue_write(struct wr_redis_dialogue *dialogue,
                                         struct wr_redis_socket *socket)
{
    while (wr_redis_dialogue_has_output(dialogue)) {
        size_t n = 0;
        const enum wr_redis_io io = wr_redis_socket_write(
            socket, dialogue->out + dialogue->n_written, dialogue->n_out - dialogue->n_written, &n);

        if (io != WR_REDIS_IO_DONE) {
            return io;
        }
        dialogue->n_written += n;
    }
    compact(dialogue);
    return WR_REDIS_IO_DONE;
}

enum wr_redis_io wr_redis_dialogue_read(struct wr_redis_dialogue *dialogue,
                                        struct wr_redis_socket *socket)
{
    char buffer[READ_SIZE];
    size_t n = 0;
    const enum wr_redis_io io = wr_redis_socket_read(socket, buffer, sizeof buffer, &n);

    if (io == WR_REDIS_IO_DONE && !wr_redis_replies_feed(dialogue->replies, buffer, n)) {
        socket->error = 0;
        socket->why = "a reply is larger than any that belongs here";
        return WR_REDIS_IO_FAILED;
    }
    return io;
}

bool wr_redis_dialogue_next(struct wr_redis_dialogue *dialogue, const struct redisReply **out_reply)
{
    return wr_redis_replies_next(dialogue->replies, out_reply);
}
