/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/reflection.h"

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "wire/reflection.h"

#define ARENA_SIZE 4096

static void fail(struct wr_call *call, enum wr_status status, const char *text)
{
    call->ops->finish(call, status, wr_str_of(text), (struct wr_str){0});
}

/* The first message marks the call, so that each stream is counted once. */
static void count_stream(struct wr_call *call, void *mark)
{
    if (call->state == NULL) {
        call->state = mark;
        wr_metrics_add(call->metrics, WR_METRIC_REFLECTION_CALLS, 1);
    }
}

/* The arena is one of its own: the call's would grow with every question of a long stream. */
static void answer(void *context, struct wr_call *call, struct wr_str message)
{
    const struct wr_descriptor_pool *const pool = context;
    struct wr_arena arena;
    struct wr_str reply = {0};

    count_stream(call, context);
    if (message.ptr == NULL) {
        call->ops->finish(call, WR_STATUS_OK, (struct wr_str){0}, (struct wr_str){0});
        return;
    }
    wr_arena_init(&arena, ARENA_SIZE);

    const enum wr_err err = wr_reflection_answer(pool, message, &arena, &reply);

    if (err == WR_OK) {
        call->ops->send(call, reply);
    } else if (err == WR_ERR_MALFORMED) {
        fail(call, WR_STATUS_INVALID_ARGUMENT, "the message is not a ServerReflectionRequest");
    } else if (err == WR_ERR_TOO_LARGE) {
        fail(call, WR_STATUS_RESOURCE_EXHAUSTED,
             "the message is larger than any that asks for descriptors");
    } else {
        fail(call, WR_STATUS_RESOURCE_EXHAUSTED, "out of memory");
    }
    wr_arena_fini(&arena);
}

void wr_reflection_methods(struct wr_descriptor_pool *pool,
                           struct wr_method out_methods[WR_REFLECTION_METHODS])
{
    static const char *const paths[WR_REFLECTION_METHODS] = {
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    };

    for (size_t i = 0; i < WR_REFLECTION_METHODS; i++) {
        out_methods[i] = (struct wr_method){
            .path = paths[i],
            .kind = WR_METHOD_STREAM,
            .context = pool,
            .on_message = answer,
        };
    }
}
