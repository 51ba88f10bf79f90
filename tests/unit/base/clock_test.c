/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#include "base/log.h"

#define S(seconds) ((int64_t) (seconds) *1000000)
#define MINUTE S(60)
#define HOUR S(3600)
#define DAY S(86400)
#define BEGIN (1000 * DAY)

/* A source that says what it is told. */
static struct wr_now raw;

static struct wr_now read_raw(void *context)
{
    return *(struct wr_now *) context;
}

/* After `passed_us` more, the system's clock is `off_us` from where it was at the beginning. */
struct step {
    int64_t passed_us;
    int64_t off_us;
    int64_t want_off_us; /* of the wall time that the clock gives */
    uint64_t steps_back, steps_taken;
};

static void play(const struct step *steps, size_t n)
{
    struct wr_clock clock;
    int64_t passed_us = 0;

    wr_log_set_level(WR_LOG_ERROR);
    raw = (struct wr_now){.wall_us = BEGIN, .mono_us = 77};
    wr_clock_init(&clock, read_raw, &raw);
    for (size_t i = 0; i < n; i++) {
        passed_us += steps[i].passed_us;
        raw = (struct wr_now){
            .wall_us = BEGIN + passed_us + steps[i].off_us,
            .mono_us = 77 + passed_us,
        };

        const struct wr_now now = wr_clock_read(&clock);

        cr_assert_eq(now.mono_us, raw.mono_us, "row %zu", i);
        cr_assert_eq(now.wall_us, BEGIN + passed_us + steps[i].want_off_us,
                     "row %zu: wall time is off by %" PRId64 " us", i,
                     now.wall_us - BEGIN - passed_us);
        cr_assert_eq(atomic_load(&clock.steps_back), steps[i].steps_back, "row %zu", i);
        cr_assert_eq(atomic_load(&clock.steps_taken), steps[i].steps_taken, "row %zu", i);
    }
}

#define PLAY(steps) play((steps), sizeof(steps) / sizeof((steps)[0]))

Test(clock, runs_with_the_system)
{
    const struct step steps[] = {{0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {DAY, 0, 0, 0, 0}};
    PLAY(steps);
}

Test(clock, a_step_forward_is_taken_over_however_far)
{
    const struct step steps[] = {
        {S(1), S(1), S(1), 0, 0},
        {S(1), HOUR, HOUR, 0, 0},
        {S(1), 40000 * DAY, 40000 * DAY, 0, 0},
    };
    PLAY(steps);
}

Test(clock, a_step_back_by_seconds_is_waited_out)
{
    const struct step steps[] = {
        {S(1), 0, 0, 0, 0},     {S(1), -S(5), 0, 1, 0},
        {S(1), -S(5), 0, 1, 0}, {S(1), -S(2), 0, 1, 0}, /* the system's clock is slewed forward */
        {S(1), 0, 0, 1, 0},     {S(1), S(1), S(1), 1, 0},
    };
    PLAY(steps);
}

Test(clock, a_second_step_back_after_the_first_was_caught_up_is_another)
{
    const struct step steps[] = {
        {S(1), -S(5), 0, 1, 0},
        {S(1), 0, 0, 1, 0},
        {S(1), -S(5), 0, 2, 0},
    };
    PLAY(steps);
}

Test(clock, a_step_back_by_minutes_is_waited_out)
{
    const struct step steps[] = {
        {S(1), -10 * MINUTE, 0, 1, 0},
        {S(1), -59 * MINUTE, 0, 1, 0},
        {HOUR, -59 * MINUTE, 0, 1, 0},
    };
    PLAY(steps);
}

Test(clock, an_hour_back_is_waited_out_and_a_microsecond_more_is_taken_over)
{
    const struct step wait[] = {{S(1), -WR_CLOCK_WAIT_US, 0, 1, 0}};
    const struct step take[] = {{S(1), -WR_CLOCK_WAIT_US - 1, -WR_CLOCK_WAIT_US - 1, 0, 1}};
    PLAY(wait);
    PLAY(take);
}

Test(clock, a_step_back_by_days_is_taken_over)
{
    const struct step steps[] = {
        {S(1), -3 * DAY, -3 * DAY, 0, 1},
        {S(1), -3 * DAY, -3 * DAY, 0, 1},
        {S(1), -4 * DAY, -4 * DAY, 0, 2},
    };
    PLAY(steps);
}

Test(clock, steps_back_that_add_up_to_over_an_hour_are_taken_over)
{
    const struct step steps[] = {
        {S(1), -40 * MINUTE, 0, 1, 0},
        {S(1), -80 * MINUTE, -80 * MINUTE, 1, 1},
        {S(1), -100 * MINUTE, -80 * MINUTE, 2, 1},
    };
    PLAY(steps);
}

Test(clock, far_forward_and_back_again_is_one_step_taken_over)
{
    const struct step steps[] = {
        {S(1), 365 * DAY, 365 * DAY, 0, 0},
        {S(1), 0, 0, 0, 1},
    };
    PLAY(steps);
}

/* The two readings of the system's clocks are not taken at one moment. */
Test(clock, a_jitter_is_no_step)
{
    const struct step steps[] = {
        {S(1), -20, 0, 0, 0},
        {S(1), -400000, 0, 0, 0},
        {S(1), -500000, 0, 1, 0},
    };
    PLAY(steps);
}

/* A source whose reader loses the processor after each reading, while the system's clock steps and
 * another thread reads it, as often as the row says. */
struct preempting {
    struct wr_clock *clock;
    struct wr_now raw;
    const int64_t (*rows)[2]; /* steps after one reading; 0: none */
    size_t n_rows;
    bool is_other;
};

static struct wr_now read_preempting(void *context)
{
    struct preempting *const source = context;
    const struct wr_now now = source->raw;

    source->raw.wall_us++;
    source->raw.mono_us++;
    if (source->is_other || source->n_rows == 0) {
        return now;
    }
    source->is_other = true;
    for (size_t i = 0; i < 2 && (*source->rows)[i] != 0; i++) {
        source->raw.wall_us += (*source->rows)[i];
        (void) wr_clock_read(source->clock);
    }
    source->is_other = false;
    source->rows++;
    source->n_rows--;
    return now;
}

/* One read of a clock that is off by `first_off_us` as it begins; the next finds nothing to do. */
static void play_preempted(int64_t first_off_us, const int64_t (*rows)[2], size_t n_rows,
                           int64_t want_off_us, uint64_t want_steps_taken)
{
    struct wr_clock clock;
    struct preempting source = {.clock = &clock, .raw = {.wall_us = BEGIN, .mono_us = 77}};

    wr_log_set_level(WR_LOG_ERROR);
    wr_clock_init(&clock, read_preempting, &source);
    source.raw.wall_us += first_off_us;
    source.rows = rows;
    source.n_rows = n_rows;
    for (int i = 0; i < 2; i++) {
        const struct wr_now now = wr_clock_read(&clock);

        cr_assert_eq(now.wall_us - now.mono_us, BEGIN - 77 + want_off_us,
                     "read %d: wall time is off by %" PRId64 " us", i,
                     now.wall_us - now.mono_us - BEGIN + 77);
        cr_assert_eq(atomic_load(&clock.steps_taken), want_steps_taken, "read %d: %" PRIu64, i,
                     atomic_load(&clock.steps_taken));
    }
    cr_assert_eq(source.n_rows, 0u, "all was read");
}

Test(clock, anothers_step_forward_is_no_step_back_for_a_reading_before_it)
{
    const int64_t rows[][2] = {{2 * HOUR}, {0}};
    play_preempted(0, rows, 2, 2 * HOUR, 0);
}

/* It sees three hours back, and meanwhile another takes that over and goes forward again. */
Test(clock, a_step_back_that_another_took_over_is_not_taken_over_again)
{
    const int64_t rows[][2] = {{0}, {-HOUR, 5 * HOUR}, {0}};
    play_preempted(-3 * HOUR, rows, 3, HOUR, 1);
}

Test(clock, a_step_forward_that_was_undone_is_not_taken_over)
{
    const int64_t rows[][2] = {{DAY, -2 * DAY}, {0}};
    play_preempted(HOUR, rows, 2, HOUR - DAY, 1);
}

Test(clock, wall_time_is_never_negative)
{
    struct wr_clock clock;

    raw = (struct wr_now){.wall_us = -S(10), .mono_us = S(5)};
    wr_clock_init(&clock, read_raw, &raw);
    cr_assert_eq(wr_clock_read(&clock).wall_us, 0);
}

Test(clock, reads_the_system_in_order)
{
    struct wr_clock clock;
    struct wr_now before;

    wr_clock_init(&clock, NULL, NULL);
    before = wr_clock_read(&clock);
    cr_assert_gt(before.wall_us, S(1577836800), "it is after 2020");
    for (int i = 0; i < 10000; i++) {
        const struct wr_now now = wr_clock_read(&clock);

        cr_assert_geq(now.wall_us, before.wall_us);
        cr_assert_geq(now.mono_us, before.mono_us);
        before = now;
    }
}

Test(clock, monotonic_time_is_that_of_the_system)
{
    struct wr_clock clock;

    wr_clock_init(&clock, NULL, NULL);

    const int64_t before_us = wr_clock_mono_us();
    const int64_t now_us = wr_clock_read(&clock).mono_us;

    cr_assert(before_us <= now_us && now_us <= wr_clock_mono_us());
}
