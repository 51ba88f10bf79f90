/* SPDX-License-Identifier: Apache-2.0 */
#include "alarm.h"

#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000U

uint64_t weirctl_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * SECOND_NS + (uint64_t) now.tv_nsec;
}

bool weirctl_alarm_init(struct weirctl_alarm *alarm)
{
    alarm->fd = timerfd_create(CLOCK_MONOTONIC, 0);
    alarm->at_ns = UINT64_MAX;
    return alarm->fd >= 0;
}

void weirctl_alarm_fini(struct weirctl_alarm *alarm)
{
    if (alarm->fd >= 0) {
        close(alarm->fd);
    }
}

void weirctl_alarm_set(struct weirctl_alarm *alarm, uint64_t at_ns)
{
    if (at_ns >= alarm->at_ns) {
        return;
    }

    const struct itimerspec when = {.it_value = {.tv_sec = (time_t) (at_ns / SECOND_NS),
                                                 .tv_nsec = (long) (at_ns % SECOND_NS)}};

    alarm->at_ns = at_ns;
    timerfd_settime(alarm->fd, TFD_TIMER_ABSTIME, &when, NULL);
}

void weirctl_alarm_clear(struct weirctl_alarm *alarm)
{
    alarm->at_ns = UINT64_MAX;
}
