/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/bulletin.h"

#include <criterion/criterion.h>

#define SECOND INT64_C(1000000)
#define DAY (86400 * SECOND)

static uint64_t left_out;

static bool away(struct wr_redis_bulletin *bulletin, const char *why, int64_t mono_us)
{
    return wr_redis_bulletin_away(bulletin, why, mono_us, &left_out);
}

static bool back(struct wr_redis_bulletin *bulletin, int64_t mono_us)
{
    return wr_redis_bulletin_back(bulletin, mono_us, &left_out);
}

Test(redis_bulletin, an_outage_is_told_whole)
{
    struct wr_redis_bulletin bulletin = {0};

    cr_assert_not(back(&bulletin, DAY), "it was never away");
    cr_assert(away(&bulletin, "closed", DAY));
    cr_assert(away(&bulletin, "refused", DAY + 1));
    cr_assert_not(away(&bulletin, "refused", DAY + 2));
    cr_assert(back(&bulletin, DAY + SECOND));
    cr_assert_not(back(&bulletin, DAY + 2 * SECOND));
    cr_assert_eq(left_out, 0);
}

Test(redis_bulletin, a_reason_that_stays_is_told_now_and_then)
{
    struct wr_redis_bulletin bulletin = {0};
    int n = 0;

    for (int64_t i = 0; i < 3000; i++) {
        n += away(&bulletin, "refused", DAY + i * SECOND / 10);
    }
    cr_assert_eq(n, 10);
}

/* Twelve times a second for a hundred seconds, for one reason or many. */
Test(redis_bulletin, what_comes_and_goes_has_few_lines_with_a_count)
{
    for (int n_reasons = 1; n_reasons <= 2; n_reasons++) {
        static const char *const reasons[] = {"closed", "refused"};
        struct wr_redis_bulletin bulletin = {0};
        uint64_t n_lines = 0, n_counted = 0;

        for (int64_t i = 0; i < 1200; i++) {
            const int64_t now_us = DAY + i * SECOND / 12;

            if (away(&bulletin, reasons[i % n_reasons], now_us)) {
                n_lines++;
                n_counted += left_out;
            }
            if (back(&bulletin, now_us + SECOND / 24)) {
                n_lines++;
                n_counted += left_out;
            }
        }
        cr_assert_geq(n_lines, 10);
        cr_assert_leq(n_lines, 16);
        cr_assert_eq(n_lines + n_counted + bulletin.n_left_out, 2400, "%llu",
                     (unsigned long long) (n_lines + n_counted + bulletin.n_left_out));
    }
}

Test(redis_bulletin, the_last_line_is_right_in_the_end)
{
    for (int ends_away = 0; ends_away <= 1; ends_away++) {
        struct wr_redis_bulletin bulletin = {0};

        for (int i = 0; i < 100; i++) {
            (void) away(&bulletin, "closed", DAY);
            (void) back(&bulletin, DAY);
        }
        for (int64_t i = 0; i < 60; i++) {
            (void) (ends_away ? away(&bulletin, "closed", DAY + i * SECOND)
                              : back(&bulletin, DAY + i * SECOND));
        }
        cr_assert_eq(bulletin.is_away, ends_away);
    }
}
