/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between protobuf-c and the arena: whole messages in and out, and texts as protobuf-c wants them.
 * The types of protobuf-c are only named here; its headers stay in the sources of this room.
 *
 * Threads: pure functions; the arena belongs to the calling thread.
 */
#ifndef WR_WIRE_MESSAGE_H
#define WR_WIRE_MESSAGE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct ProtobufCMessage;
struct ProtobufCMessageDescriptor;

/* The bytes of `message`, in `arena`. False when memory is out. */
bool wr_message_pack(const struct ProtobufCMessage *message, struct wr_arena *arena,
                     struct wr_str *out_bytes);

/*
 * The message of `bytes`, all of it in `arena` and never freed alone. protobuf-c has no bound on
 * nesting, checks no UTF-8, ends a string at its first NUL and takes some 70 times the memory of
 * the bytes: the caller bounds the bytes, and the type nests no deeper than its definition.
 * WR_ERR_MALFORMED, WR_ERR_NO_MEMORY.
 */
WR_MUST_USE enum wr_err wr_message_unpack(const struct ProtobufCMessageDescriptor *type,
                                          struct wr_str bytes, struct wr_arena *arena,
                                          struct ProtobufCMessage **out_message);

/*
 * A copy of `text` in `arena` for a string field, which is NUL-terminated and must be UTF-8: a NUL
 * within becomes '?', and so does every byte beyond ASCII of a text that is not UTF-8. NULL when
 * memory is out.
 */
char *wr_message_text(struct wr_arena *arena, struct wr_str text);

#endif
