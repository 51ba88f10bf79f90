/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/heartbeat.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/arena.h"

#define S(seconds) (INT64_C(1000000) * (seconds))

struct desk {
    struct wr_arena arena;
    struct wr_redis_heartbeat heartbeat;
    _Atomic uint32_t replicas;
};

static void begin(struct desk *desk)
{
    static const struct wr_str prefix = WR_STR("w:");

    wr_arena_init(&desk->arena, 1024);
    atomic_init(&desk->replicas, 0);
    cr_assert_eq(wr_redis_heartbeat_init(&desk->heartbeat, &desk->arena, prefix, UINT64_C(0xabc),
                                         &desk->replicas),
                 WR_OK);
}

/* What is told rises at once, and falls once it has been lower for as long as a mark is fresh. */
Test(redis_heartbeat, rises_at_once_and_falls_late)
{
    static const struct {
        int64_t at_s;
        uint32_t count, told;
    } rows[] = {
        {1, 1, 1},  {2, 3, 3},  {3, 2, 3},  {11, 1, 3}, {12, 1, 1},
        {13, 2, 2}, {14, 2, 2}, {23, 1, 2}, {24, 1, 1}, {25, 7, 7},
    };
    struct desk desk;

    begin(&desk);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wr_redis_heartbeat_learn(&desk.heartbeat, rows[i].count, S(rows[i].at_s));
        cr_assert_eq(atomic_load(&desk.replicas), rows[i].told, "row %zu: %u", i,
                     atomic_load(&desk.replicas));
    }
    wr_arena_fini(&desk.arena);
}

Test(redis_heartbeat, marks_itself_in_a_set_of_the_prefix)
{
    struct desk desk;

    begin(&desk);

    const struct wr_str command = desk.heartbeat.command;
    char text[1024] = "";

    cr_assert_lt(command.len, sizeof text);
    memcpy(text, command.ptr, command.len);
    cr_assert_not_null(strstr(text, "\r\nw:{replicas}\r\n"));
    cr_assert_not_null(strstr(text, "\r\n0000000000000abc\r\n"));
    cr_assert_not_null(strstr(text, "\r\n10000000\r\n"));
    wr_redis_heartbeat_close(&desk.heartbeat);
    wr_arena_fini(&desk.arena);
}
