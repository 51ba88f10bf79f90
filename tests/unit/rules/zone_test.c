/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/zone.h"

#include <criterion/criterion.h>

#include "tests/support/failing_malloc.h"

#define N_MOMENTS 10

static int32_t offset_at(const struct wr_zone *zone, int64_t wall_s)
{
    size_t i = zone->n - 1;

    while (i > 0 && zone->transitions[i].from_us > wall_s * 1000000) {
        i--;
    }
    return zone->transitions[i].offset_s;
}

/* Offsets by another reader of the same database; the last year is beyond what its files list. */
Test(zone, offsets_are_those_of_the_database)
{
    static const int64_t moments[N_MOMENTS] = {86400,      930787200,  1325289600, 1768435200,
                                               1774745999, 1774746000, 1782864000, 2143152000,
                                               3788121600, 3803760000};
    static const struct {
        const char *name;
        int32_t offsets[N_MOMENTS];
    } rows[] = {
        {"UTC", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
        {"Europe/Paris", {3600, 7200, 3600, 3600, 3600, 7200, 7200, 3600, 3600, 7200}},
        {"America/New_York",
         {-18000, -14400, -18000, -18000, -14400, -14400, -14400, -18000, -18000, -14400}},
        {"Asia/Kathmandu", {19800, 20700, 20700, 20700, 20700, 20700, 20700, 20700, 20700, 20700}},
        {"Australia/Lord_Howe",
         {36000, 37800, 39600, 39600, 39600, 39600, 37800, 39600, 39600, 37800}},
        {"Europe/Dublin", {3600, 3600, 0, 0, 0, 3600, 3600, 0, 0, 3600}},
        {"America/Nuuk", {-10800, -7200, -10800, -7200, -7200, -3600, -3600, -7200, -7200, -3600}},
        {"Pacific/Apia", {-39600, -39600, 50400, 46800, 46800, 46800, 46800, 46800, 46800, 46800}},
        {"America/Sao_Paulo",
         {-10800, -10800, -7200, -10800, -10800, -10800, -10800, -10800, -10800, -10800}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_arena arena;
        struct wr_zone zone;

        wr_arena_init(&arena, 1024);
        cr_assert_eq(wr_zone_load(&arena, wr_str_of(rows[i].name), &zone), WR_ZONE_GOOD, "%s",
                     rows[i].name);
        for (size_t k = 0; k < N_MOMENTS; k++) {
            cr_assert_eq(offset_at(&zone, moments[k]), rows[i].offsets[k], "%s, moment %zu",
                         rows[i].name, k);
        }
        for (size_t k = 1; k < zone.n; k++) {
            cr_assert_gt(zone.transitions[k].from_us, zone.transitions[k - 1].from_us,
                         "%s, change %zu", rows[i].name, k);
        }
        wr_arena_fini(&arena);
    }
}

Test(zone, names_that_are_none)
{
    static const char *const rows[] = {
        "",
        "Europe/Atlantis",
        "Europe",
        "/etc/localtime",
        "../localtime",
        "Europe/../Europe/Paris",
        "right/UTC",
        "europe/paris",
        "Europe/Paris ",
        "zone.tab",
        "tzdata.zi",
        "a_name_that_is_far_longer_than_any_name_of_a_time_zone_will_ever_be"};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert(wr_zone_is_unknown(wr_str_of(rows[i])), "%s", rows[i]);
    }
}

/* However early memory runs out: a zone that is there is not called unknown. */
Test(zone, memory_that_runs_out_makes_none_unknown)
{
    size_t n_failed = 0;
    enum wr_zone_fault fault;

    do {
        struct wr_arena arena;
        struct wr_zone zone;

        wr_arena_init(&arena, 64);
        failing_malloc_start(n_failed);
        fault = wr_zone_load(&arena, wr_str_of("Europe/Paris"), &zone);

        const bool is_unknown = wr_zone_is_unknown(wr_str_of("Europe/Paris"));

        failing_malloc_stop();
        cr_assert_not(is_unknown, "%zu", n_failed);
        cr_assert_neq(fault, WR_ZONE_UNKNOWN, "%zu", n_failed);
        n_failed += fault != WR_ZONE_GOOD;
        wr_arena_fini(&arena);
    } while (fault != WR_ZONE_GOOD);
    cr_assert_gt(n_failed, 1u);
}

#define NO_TYPES                                                                                   \
    "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
/* Counts: is_ut, is_standard, leap, time, type, letters. */
#define HEADER(leap, time, type)                                                                   \
    "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" leap "\0\0\0" time "\0\0\0" type   \
    "\0\0\0\0"
#define WEST "\xff\xff\xf1\xf0\0\0" /* an hour */
#define AT_1 "\0\0\0\0\0\0\0\1"

Test(zone, bytes_are_held_to_their_counts)
{
    static const struct {
        struct wr_str bytes;
        enum wr_zone_fault fault;
        int32_t offset_s; /* at 1970-01-01 00:00:02 */
    } rows[] = {
        {WR_STR(NO_TYPES HEADER("\0", "\0", "\1") WEST "\n\n"), WR_ZONE_GOOD, -3600},
        {WR_STR(NO_TYPES HEADER("\0", "\1", "\2") AT_1 "\1" WEST "\0\0\0\5\0\0"
                                                       "\n\n"),
         WR_ZONE_GOOD, 5},
        {WR_STR(NO_TYPES HEADER("\0", "\0", "\1") WEST "\nX-2\n"), WR_ZONE_GOOD, -3600},
        {WR_STR(NO_TYPES HEADER("\0", "\0", "\0") "\n\n"), WR_ZONE_UNKNOWN, 0},
        {WR_STR(NO_TYPES HEADER("\0", "\0", "\1") WEST "\n"), WR_ZONE_UNKNOWN, 0},
        {WR_STR(NO_TYPES HEADER("\0", "\0", "\1") WEST "\nX\n"), WR_ZONE_UNKNOWN, 0},
        {WR_STR(NO_TYPES HEADER("\0", "\0", "\1") WEST), WR_ZONE_UNKNOWN, 0},
        {WR_STR(NO_TYPES HEADER("\0", "\0", "\2") WEST "\n\n"), WR_ZONE_UNKNOWN, 0},
        {WR_STR(NO_TYPES HEADER("\0", "\1", "\1") AT_1 "\1" WEST "\n\n"), WR_ZONE_UNKNOWN, 0},
        {WR_STR(NO_TYPES HEADER("\0", "\2", "\1") AT_1 AT_1 "\0\0" WEST "\n\n"), WR_ZONE_UNKNOWN,
         0},
        {WR_STR(NO_TYPES HEADER("\1", "\0", "\1") WEST "\0\0\0\0\0\0\0\0\0\0\0\0\n\n"),
         WR_ZONE_UNKNOWN, 0},
        {WR_STR(NO_TYPES), WR_ZONE_UNKNOWN, 0},
        {WR_STR("TZif"), WR_ZONE_UNKNOWN, 0},
        {WR_STR(""), WR_ZONE_UNKNOWN, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_arena arena;
        struct wr_zone zone;

        wr_arena_init(&arena, 1024);
        cr_assert_eq(wr_zone_parse(&arena, rows[i].bytes, &zone), rows[i].fault, "row %zu", i);
        if (rows[i].fault == WR_ZONE_GOOD) {
            cr_assert_eq(offset_at(&zone, 2), rows[i].offset_s, "row %zu", i);
        }
        wr_arena_fini(&arena);
    }
}
