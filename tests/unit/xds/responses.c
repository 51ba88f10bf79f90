/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/xds/responses.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define MESSAGE_SIZE 4096

const struct wr_load_options responses_load = {
    .bounds = {.max_file_bytes = 1 << 20, .max_depth = 64, .max_nodes = 1000}};

struct out {
    unsigned char bytes[MESSAGE_SIZE];
    size_t len;
};

static void put(struct out *out, const void *bytes, size_t len)
{
    cr_assert_lt(out->len + len, sizeof out->bytes);
    memcpy(out->bytes + out->len, bytes, len);
    out->len += len;
}

static void put_varint(struct out *out, size_t value)
{
    do {
        const unsigned char byte = (unsigned char) ((value & 0x7f) | (value > 0x7f ? 0x80 : 0));

        put(out, &byte, 1);
        value >>= 7;
    } while (value > 0);
}

static void put_number(struct out *out, unsigned number, size_t value)
{
    put_varint(out, number << 3);
    put_varint(out, value);
}

static void put_field(struct out *out, unsigned number, const void *bytes, size_t len)
{
    put_varint(out, number << 3 | 2);
    put_varint(out, len);
    put(out, bytes, len);
}

static void put_text(struct out *out, unsigned number, const char *text)
{
    put_field(out, number, text, strlen(text));
}

static void put_message(struct out *out, unsigned number, const struct out *inner)
{
    put_field(out, number, inner->bytes, inner->len);
}

static struct wr_str kept(struct wr_arena *arena, const struct out *out)
{
    struct wr_str copy;

    cr_assert(wr_arena_copy(
        arena, (struct wr_str){.ptr = (const char *) out->bytes, .len = out->len}, &copy));
    return copy;
}

static void write_resource(struct out *config, const struct resource_row *row)
{
    struct out rule = {.len = 0}, limit = {.len = 0};

    put_number(&limit, 1, row->unit);
    put_number(&limit, 2, row->requests);
    put_text(&rule, 1, "k");
    put_message(&rule, 3, &limit);
    put_text(config, 1, row->name);
    put_text(config, 2, row->domain);
    put_message(config, 3, &rule);
}

struct wr_str responses_message(struct wr_arena *arena, const struct resource_row *row)
{
    struct out config = {.len = 0};

    write_resource(&config, row);
    return kept(arena, &config);
}

struct wr_str responses_bytes(struct wr_arena *arena, const char *version, const char *nonce,
                              const char *type_url, const struct resource_row *rows, size_t n)
{
    struct out response = {.len = 0};

    put_text(&response, 1, version);
    for (size_t i = 0; i < n; i++) {
        struct out any = {.len = 0}, config = {.len = 0};

        write_resource(&config, &rows[i]);
        put_text(&any, 1, type_url);
        put_message(&any, 2, &config);
        put_message(&response, 2, &any);
    }
    put_text(&response, 4, type_url);
    put_text(&response, 5, nonce);
    return kept(arena, &response);
}
