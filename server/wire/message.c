/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/message.h"

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

struct allocator {
    struct wr_arena *arena;
    bool is_out; /* of memory; what protobuf-c does not tell apart from malformed */
};

static void *allocate(void *context, size_t size)
{
    struct allocator *const allocator = context;
    void *const memory = wr_arena_alloc(allocator->arena, size);

    allocator->is_out = allocator->is_out || memory == NULL;
    return memory;
}

/* The arena frees all at once. */
static void free_nothing(void *context, void *memory)
{
    (void) context;
    (void) memory;
}

bool wr_message_pack(const struct ProtobufCMessage *message, struct wr_arena *arena,
                     struct wr_str *out_bytes)
{
    const size_t len = protobuf_c_message_get_packed_size(message);
    unsigned char *const bytes = wr_arena_alloc(arena, len);

    if (bytes == NULL) {
        return false;
    }
    *out_bytes = (struct wr_str){.ptr = (const char *) bytes,
                                 .len = protobuf_c_message_pack(message, bytes)};
    return true;
}

enum wr_err wr_message_unpack(const struct ProtobufCMessageDescriptor *type, struct wr_str bytes,
                              struct wr_arena *arena, struct ProtobufCMessage **out_message)
{
    struct allocator context = {.arena = arena};
    ProtobufCAllocator allocator = {
        .alloc = allocate, .free = free_nothing, .allocator_data = &context};
    ProtobufCMessage *const message = protobuf_c_message_unpack(
        type, &allocator, bytes.len, (const uint8_t *) (bytes.len > 0 ? bytes.ptr : ""));

    if (message == NULL) {
        return context.is_out ? WR_ERR_NO_MEMORY : WR_ERR_MALFORMED;
    }
    *out_message = message;
    return WR_OK;
}

char *wr_message_text(struct wr_arena *arena, struct wr_str text)
{
    char *const copy = wr_arena_alloc(arena, text.len + 1);
    const bool is_utf8 = wr_str_is_utf8(text);

    if (copy == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char) text.ptr[i];

        copy[i] = c == 0 || (c >= 0x80 && !is_utf8) ? '?' : text.ptr[i];
    }
    copy[text.len] = '\0';
    return copy;
}
