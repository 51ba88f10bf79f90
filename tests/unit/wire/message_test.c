/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/message.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "google/rpc/status.pb-c.h"
#include "tests/support/failing_malloc.h"
#include "tests/unit/wire/bytes.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

Test(message, unpacks_and_packs_the_same_bytes)
{
    const char *const hex = "0805 12026869 1a06 0a0161 120162";
    const struct wr_str bytes = bytes_of_hex(hex);
    struct wr_arena arena;
    ProtobufCMessage *message = NULL;
    struct wr_str packed = {NULL, 0};

    wr_arena_init(&arena, 64);
    cr_assert_eq(wr_message_unpack(&google__rpc__status__descriptor, bytes, &arena, &message),
                 WR_OK);
    bytes_free(bytes);
    cr_assert_str_eq(((Google__Rpc__Status *) message)->message, "hi");
    cr_assert(wr_message_pack(message, &arena, &packed));
    bytes_expect(packed, hex);
    wr_arena_fini(&arena);
}

Test(message, unpacks_no_bytes_as_an_empty_message)
{
    struct wr_arena arena;
    ProtobufCMessage *message = NULL;

    wr_arena_init(&arena, 64);
    cr_assert_eq(wr_message_unpack(&google__rpc__status__descriptor, (struct wr_str){NULL, 0},
                                   &arena, &message),
                 WR_OK);
    cr_assert_eq(((Google__Rpc__Status *) message)->code, 0);
    wr_arena_fini(&arena);
}

Test(message, tells_malformed_from_out_of_memory)
{
    const struct wr_str good = bytes_of_hex("0805 12026869");
    const struct wr_str bad = bytes_of_hex("0805 12036869");
    struct wr_arena arena;
    ProtobufCMessage *message = NULL;

    wr_arena_init(&arena, 16);
    failing_malloc_start(0);

    const enum wr_err without =
        wr_message_unpack(&google__rpc__status__descriptor, good, &arena, &message);

    failing_malloc_stop();
    cr_assert_eq(without, WR_ERR_NO_MEMORY);
    cr_assert_eq(wr_message_unpack(&google__rpc__status__descriptor, bad, &arena, &message),
                 WR_ERR_MALFORMED);
    cr_assert_null(message);
    wr_arena_fini(&arena);
    bytes_free(good);
    bytes_free(bad);
}

Test(message, makes_texts_that_any_parser_takes)
{
    static const struct {
        struct wr_str text;
        const char *want;
    } rows[] = {
        {WR_STR(""), ""},
        {WR_STR("abc"), "abc"},
        {WR_STR("a\0\0"), "a??"},
        {WR_STR("\xe2\x82\xac\0"), "\xe2\x82\xac?"},
        {WR_STR("\xe2\x82z"), "??z"},
    };
    struct wr_arena arena;

    wr_arena_init(&arena, 64);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *const text = wr_message_text(&arena, rows[i].text);

        cr_assert_str_eq(text, rows[i].want, "row %zu: %s", i, text);
    }
    wr_arena_fini(&arena);
}
