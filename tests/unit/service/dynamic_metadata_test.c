/* SPDX-License-Identifier: Apache-2.0 */
#include "service/dynamic_metadata.h"

#include <criterion/criterion.h>

#define MAP(...)                                                                                   \
    {                                                                                              \
        .kind = WR_VALUE_MAP, .as.map = {                                                          \
            (const struct wr_value_member[]){__VA_ARGS__},                                         \
            sizeof((const struct wr_value_member[]){__VA_ARGS__}) / sizeof(struct wr_value_member) \
        }                                                                                          \
    }
#define TEXT(text)                                                                                 \
    {                                                                                              \
        .kind = WR_VALUE_STRING, .as.string = WR_STR(text)                                         \
    }

static const struct wr_value *at(const struct wr_value *value, const char *key)
{
    const struct wr_value *const found = wr_value_get(value, wr_str_of(key));

    cr_assert_not_null(found, "no %s", key);
    return found;
}

static void check_text(const struct wr_value *value, const char *want)
{
    cr_assert_eq(value->kind, WR_VALUE_STRING);
    cr_assert(wr_str_equal(value->as.string, wr_str_of(want)), "wanted %s, got %.*s", want,
              (int) value->as.string.len, value->as.string.ptr);
}

Test(dynamic_metadata, tells_what_was_asked)
{
    const struct wr_entry entries[] = {{WR_STR("a"), WR_STR("1")}, {WR_STR("b"), WR_STR("")}};
    const struct wr_descriptor descriptors[] = {
        {.entries = entries,
         .n_entries = 2,
         .has_hits_addend = true,
         .hits_addend = 0,
         .has_override = true,
         .override = {.requests_per_unit = 3, .unit = 3}},
        {.n_entries = 0},
    };
    const struct wr_request request = {
        .domain = WR_STR("d"), .descriptors = descriptors, .n_descriptors = 2, .hits_addend = 7};
    const struct wr_value *built = NULL;
    struct wr_arena arena;

    wr_arena_init(&arena, 64);
    cr_assert(wr_dynamic_metadata_build(&arena, &(struct wr_dynamic_metadata){.request = &request},
                                        &built));
    check_text(at(built, "domain"), "d");
    cr_assert_eq((int) at(built, "hitsAddend")->as.number, 7);
    cr_assert_null(wr_value_get(built, wr_str_of("metadata")));
    cr_assert_null(wr_value_get(built, wr_str_of("degraded")));

    const struct wr_value *const list = at(built, "descriptors");

    cr_assert_eq(list->as.list.n, 2);
    check_text(&at(&list->as.list.items[0], "entries")->as.list.items[0], "a=1");
    check_text(&at(&list->as.list.items[0], "entries")->as.list.items[1], "b=");
    check_text(at(&list->as.list.items[0], "limit"), "requests_per_unit:3 unit:HOUR");
    cr_assert_eq((int) at(&list->as.list.items[0], "hitsAddend")->as.number, 0);
    cr_assert_eq(at(&list->as.list.items[1], "entries")->as.list.n, 0);
    cr_assert_null(wr_value_get(&list->as.list.items[1], wr_str_of("limit")));
    wr_arena_fini(&arena);
}

/* The numbers of the wire, also those that only an unknown domain lets through. */
Test(dynamic_metadata, tells_the_unit_of_a_limit_that_came_with_the_request)
{
    static const struct {
        int32_t unit;
        const char *limit;
    } rows[] = {
        {0, "requests_per_unit:4294967295 unit:UNKNOWN"},
        {1, "requests_per_unit:4294967295 unit:SECOND"},
        {2, "requests_per_unit:4294967295 unit:MINUTE"},
        {3, "requests_per_unit:4294967295 unit:HOUR"},
        {4, "requests_per_unit:4294967295 unit:DAY"},
        {5, "requests_per_unit:4294967295 unit:MONTH"},
        {6, "requests_per_unit:4294967295 unit:YEAR"},
        {7, "requests_per_unit:4294967295 unit:WEEK"},
        {8, "requests_per_unit:4294967295 unit:8"},
        {-1, "requests_per_unit:4294967295 unit:-1"},
        {INT32_MIN, "requests_per_unit:4294967295 unit:-2147483648"},
        {INT32_MAX, "requests_per_unit:4294967295 unit:2147483647"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_descriptor descriptor = {
            .has_override = true,
            .override = {.requests_per_unit = UINT32_MAX, .unit = rows[i].unit}};
        const struct wr_request request = {
            .domain = WR_STR("d"), .descriptors = &descriptor, .n_descriptors = 1};
        const struct wr_value *built = NULL;
        struct wr_arena arena;

        wr_arena_init(&arena, 64);
        cr_assert(wr_dynamic_metadata_build(
            &arena, &(struct wr_dynamic_metadata){.request = &request}, &built));
        check_text(at(&at(built, "descriptors")->as.list.items[0], "limit"), rows[i].limit);
        wr_arena_fini(&arena);
    }
}

Test(dynamic_metadata, the_first_value_wins_and_maps_are_merged_without_touching_the_rules)
{
    const struct wr_value first =
        MAP({WR_STR("m"), MAP({WR_STR("one"), TEXT("1")})}, {WR_STR("t"), TEXT("x")});
    const struct wr_value second =
        MAP({WR_STR("m"), MAP({WR_STR("two"), TEXT("2")}, {WR_STR("one"), TEXT("no")})},
            {WR_STR("t"), TEXT("y")});
    const struct wr_value *const passed[] = {&first, &second};
    const struct wr_request request = {.domain = WR_STR("d")};
    const struct wr_value *built = NULL;
    struct wr_arena arena;

    wr_arena_init(&arena, 64);
    cr_assert(wr_dynamic_metadata_build(
        &arena, &(struct wr_dynamic_metadata){.request = &request, .passed = passed, .n_passed = 2},
        &built));

    const struct wr_value *const merged = at(built, "metadata");

    cr_assert_eq(merged->as.map.n, 2);
    check_text(at(merged, "t"), "x");
    check_text(at(at(merged, "m"), "one"), "1");
    check_text(at(at(merged, "m"), "two"), "2");
    cr_assert_eq(at(&first, "m")->as.map.n, 1, "the rule's own value has not changed");
    cr_assert_eq(at(&second, "m")->as.map.n, 2);
    wr_arena_fini(&arena);
}

Test(dynamic_metadata, tells_who_decided_in_place_of_the_store)
{
    const struct wr_request request = {.domain = WR_STR("d"), .hits_addend = 1};
    const struct wr_value metadata = MAP({WR_STR("t"), TEXT("x")});
    const struct wr_value *const passed[] = {&metadata};
    const struct wr_dynamic_metadata parts = {
        .request = &request, .passed = passed, .n_passed = 1, .decider = WR_STR("local")};
    const struct wr_value *built = NULL;
    struct wr_arena arena;

    wr_arena_init(&arena, 64);
    cr_assert(wr_dynamic_metadata_build(&arena, &parts, &built));
    check_text(at(built, "degraded"), "local");
    cr_assert_eq(built->as.map.n, 5, "and all else");
    wr_arena_fini(&arena);
}

Test(dynamic_metadata, tells_a_window_that_the_unit_does_not)
{
    const struct wr_descriptor descriptors[2] = {{.n_entries = 0}};
    const struct wr_request request = {
        .domain = WR_STR("d"), .descriptors = descriptors, .n_descriptors = 2};
    const struct wr_descriptor_status statuses[] = {{.window = WR_STR("100ms")}, {.window = {0}}};
    const struct wr_dynamic_metadata parts = {.request = &request, .statuses = statuses};
    const struct wr_value *built = NULL;
    struct wr_arena arena;

    wr_arena_init(&arena, 64);
    cr_assert(wr_dynamic_metadata_build(&arena, &parts, &built));

    const struct wr_value *const list = at(built, "descriptors");

    check_text(at(&list->as.list.items[0], "window"), "100ms");
    cr_assert_null(wr_value_get(&list->as.list.items[1], wr_str_of("window")));
    wr_arena_fini(&arena);
}
