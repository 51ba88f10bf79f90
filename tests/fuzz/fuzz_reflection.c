/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes into the answers of reflection: what is answered is a response that sends the question
 * back, in memory that the size of the question bounds.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "grpc/reflection/v1/reflection.pb-c.h"
#include "wire/reflection.h"

/* Far beyond what the longest answer takes, all files of the set. */
#define MEMORY_MAX (8 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_reply(struct wr_str reply)
{
    Grpc__Reflection__V1__ServerReflectionResponse *const response =
        grpc__reflection__v1__server_reflection_response__unpack(NULL, reply.len,
                                                                 (const uint8_t *) reply.ptr);

    WR_ASSERT(response != NULL);
    WR_ASSERT(response->original_request != NULL);
    WR_ASSERT(strcmp(response->valid_host, response->original_request->host) == 0);
    WR_ASSERT(response->message_response_case !=
              GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE__NOT_SET);
    grpc__reflection__v1__server_reflection_response__free_unpacked(response, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct wr_descriptor_pool *pool; /* made once, never changed */
    const struct wr_str message = {.ptr = (const char *) data, .len = size};
    struct wr_arena arena;
    struct wr_str reply = {NULL, 0};

    if (pool == NULL) {
        WR_ASSERT(wr_descriptor_pool_new(&pool) == WR_OK);
    }
    wr_arena_init(&arena, 4096);

    const enum wr_err err = wr_reflection_answer(pool, message, &arena, &reply);

    WR_ASSERT(err == WR_OK || err == WR_ERR_MALFORMED || err == WR_ERR_TOO_LARGE);
    WR_ASSERT(arena.total_size <= MEMORY_MAX);
    if (err == WR_OK) {
        check_reply(reply);
    }
    wr_arena_fini(&arena);
    return 0;
}
