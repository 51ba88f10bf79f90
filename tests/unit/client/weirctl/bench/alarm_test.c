/* SPDX-License-Identifier: Apache-2.0 */
#include "client/weirctl/bench/alarm.h"

#include <criterion/criterion.h>
#include <poll.h>

#define MS 1000000U
#define NEVER_MS 3600000

static bool has_gone_off(const struct weirctl_alarm *alarm, int wait_ms)
{
    struct pollfd ready = {.fd = alarm->fd, .events = POLLIN};

    return poll(&ready, 1, wait_ms) == 1;
}

Test(alarm, goes_off_at_its_time_and_not_before)
{
    struct weirctl_alarm alarm;

    cr_assert(weirctl_alarm_init(&alarm));

    const uint64_t at = weirctl_now_ns() + 20 * MS;

    cr_assert_not(has_gone_off(&alarm, 0));
    weirctl_alarm_set(&alarm, at);
    cr_assert(has_gone_off(&alarm, NEVER_MS));
    cr_assert_geq(weirctl_now_ns(), at);
    weirctl_alarm_fini(&alarm);
}

Test(alarm, is_moved_forward_and_not_back)
{
    struct weirctl_alarm alarm;
    const uint64_t now = weirctl_now_ns();
    const uint64_t soon = now + 20 * MS;
    const uint64_t late = now + (uint64_t) NEVER_MS * MS;

    cr_assert(weirctl_alarm_init(&alarm));
    weirctl_alarm_set(&alarm, late);
    weirctl_alarm_set(&alarm, soon);
    weirctl_alarm_set(&alarm, late);
    cr_assert_eq(alarm.at_ns, soon);
    cr_assert(has_gone_off(&alarm, NEVER_MS / 2));
    weirctl_alarm_fini(&alarm);
}

Test(alarm, that_went_off_and_was_cleared_takes_any_time)
{
    struct weirctl_alarm alarm;
    const uint64_t now = weirctl_now_ns();

    cr_assert(weirctl_alarm_init(&alarm));
    weirctl_alarm_set(&alarm, now);
    cr_assert(has_gone_off(&alarm, NEVER_MS));
    weirctl_alarm_clear(&alarm);
    weirctl_alarm_set(&alarm, now + (uint64_t) NEVER_MS * MS);
    cr_assert_not(has_gone_off(&alarm, 0));
    weirctl_alarm_fini(&alarm);
}
