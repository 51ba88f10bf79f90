/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/heartbeat.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "store/redis/key.h"

#define S(seconds) (INT64_C(1000000) * (seconds))

struct desk {
    struct wr_arena arena;
    struct wr_redis_heartbeat heartbeat;
    _Atomic uint32_t replicas;
};

static void begin(struct desk *desk, enum wr_redis_key_form form)
{
    wr_arena_init(&desk->arena, 1024);
    atomic_init(&desk->replicas, 0);

    const struct wr_redis_key_style style = {.form = form, .prefix = WR_STR("w:")};

    cr_assert_eq(wr_redis_heartbeat_init(&desk->heartbeat, &desk->arena, &style, UINT64_C(0xabc),
                                         &desk->replicas),
                 WR_OK);
}

/* What is told rises at once, and falls once it has been lower for as long as a mark is fresh; a
 * store that says nothing does not say that it is lower. */
Test(redis_heartbeat, rises_at_once_and_falls_late)
{
    static const struct {
        int64_t from_s, to_s; /* that it is told, each second */
        uint32_t count, told;
    } rows[] = {
        {1, 1, 1, 1},     {2, 2, 3, 3},     {3, 5, 2, 3},     {6, 11, 1, 3},
        {12, 12, 1, 1},   {13, 14, 2, 2},   {15, 23, 1, 2},   {24, 24, 1, 1},
        {25, 25, 3, 3},   {145, 153, 1, 3}, {154, 154, 2, 3}, {155, 155, 2, 2},
        {156, 156, 7, 7}, {157, 160, 6, 7}, {180, 185, 6, 7}, {186, 186, 6, 6},
    };
    struct desk desk;

    begin(&desk, WR_REDIS_KEY_READABLE);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int64_t at_s = rows[i].from_s; at_s <= rows[i].to_s; at_s++) {
            wr_redis_heartbeat_learn(&desk.heartbeat, rows[i].count, S(at_s));
            cr_assert_eq(atomic_load(&desk.replicas), rows[i].told, "row %zu: %u", i,
                         atomic_load(&desk.replicas));
        }
    }
    wr_arena_fini(&desk.arena);
}

static void expect_words(struct wr_str command, const char *const *words)
{
    char text[2048] = "";

    cr_assert_lt(command.len, sizeof text);
    for (size_t i = 0; i < command.len; i++) {
        text[i] = command.ptr[i] == '\0' ? '0' : command.ptr[i];
    }
    for (; *words != NULL; words++) {
        char line[64];

        (void) snprintf(line, sizeof line, "\r\n%s\r\n", *words);
        cr_assert_not_null(strstr(text, line), "%s", *words);
    }
}

Test(redis_heartbeat, marks_itself_in_a_set_of_the_prefix)
{
    static const char *const words[] = {"EVAL", "w:{replicas}", "0000000000000abc", "10000000",
                                        NULL};
    struct desk desk;

    begin(&desk, WR_REDIS_KEY_READABLE);
    expect_words(desk.heartbeat.mark.command, words);
    wr_redis_heartbeat_close(&desk.heartbeat);
    wr_arena_fini(&desk.arena);
}

Test(redis_heartbeat, probes_as_takes_do)
{
    static const char *const words[] = {"EVALSHA", "w:{replicas}|probe|1s",
                                        "w:{replicas}|probe|60s", NULL};
    struct desk desk;

    begin(&desk, WR_REDIS_KEY_HASHED);
    expect_words(desk.heartbeat.probe.command, words);
    wr_arena_fini(&desk.arena);
}

/* Among keys of the incumbent, which begin with a domain, they can be told and allowed. */
Test(redis_heartbeat, has_a_prefix_of_its_own_in_the_form_of_the_reference)
{
    static const char *const mark[] = {"weir:w:{replicas}", NULL};
    static const char *const probe[] = {"weir:w:{replicas}|probe|1s", NULL};
    struct desk desk;

    begin(&desk, WR_REDIS_KEY_REFERENCE);
    expect_words(desk.heartbeat.mark.command, mark);
    expect_words(desk.heartbeat.probe.command, probe);
    wr_arena_fini(&desk.arena);
}
