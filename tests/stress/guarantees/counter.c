/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/stress/guarantees/counter.h"

#include <string.h>

#include "limit/calendar.h"
#include "tests/stress/crew.h"

struct wr_allowance wr_prey_allowance(const struct wr_limit *limit, uint64_t enforced)
{
    uint64_t burst = limit->burst;

    if (enforced < limit->requests && burst > 0) {
        burst = burst * enforced / limit->requests;
        burst = burst > 0 ? burst : 1;
    }
    return (struct wr_allowance){.requests = enforced, .burst = burst};
}

int64_t wr_prey_end_of_window(const struct wr_limit *limit, int64_t now_us)
{
    return limit->calendar != NULL ? wr_calendar_window_of(limit->calendar, now_us).end_us
                                   : now_us - now_us % limit->length_us + limit->length_us;
}

static int64_t end_of_window(const struct wr_prey *prey, int64_t now_us)
{
    return wr_prey_end_of_window(&((const struct wr_prey_counter *) prey)->limit, now_us);
}

/* A late hit counts in the newer of two fixed windows, which goes by the time that it began at. */
static void check_enforced(const struct wr_prey_counter *counter, uint64_t enforced,
                           const struct wr_moment *moment)
{
    const struct wr_limit *const limit = &counter->limit;
    const bool is_fixed = limit->algorithm == WR_ALGORITHM_FIXED_WINDOW;
    uint64_t least = limit->requests, most = limit->requests;

    if (limit->warm_up_us > 0) {
        most = wr_climb_at(&counter->climb, limit, is_fixed ? moment->latest_us : moment->read_us);
        least = is_fixed ? limit->warm_up_start : most;
    }
    wr_schedule_check(&counter->prey.name, enforced >= least && enforced <= most,
                      "another limit is enforced than was promised");
}

static struct wr_verdict take(struct wr_prey *prey, uint64_t hits, const struct wr_moment *moment)
{
    struct wr_prey_counter *const counter = (struct wr_prey_counter *) prey;
    const struct wr_counter_kind *const kind = wr_counter_kind_of(&counter->limit);
    const uint32_t n_words = kind->state_words(counter->state, &counter->limit, hits);

    wr_check(n_words <= WR_PREY_WORDS, "a state of %u words", n_words);
    counter->n_words = n_words > counter->n_words ? n_words : counter->n_words;

    const struct wr_verdict verdict =
        kind->take(counter->state, &counter->limit, hits, moment->read_us);

    check_enforced(counter, verdict.enforced, moment);
    wr_climb_hit(&counter->climb, &counter->limit, moment->read_us);
    wr_record_add(&counter->record, moment->latest_us, verdict.over ? 0 : hits,
                  wr_prey_allowance(&counter->limit, verdict.enforced));
    return verdict;
}

static struct wr_verdict look(struct wr_prey *prey, const struct wr_moment *moment)
{
    const struct wr_prey_counter *const counter = (const struct wr_prey_counter *) prey;

    return wr_counter_kind_of(&counter->limit)
        ->peek(counter->state, &counter->limit, 0, moment->read_us);
}

static void set_limit(struct wr_prey_counter *counter)
{
    counter->limit = wr_drawn_rule_limit(&counter->rule);
    counter->limit.calendar = counter->calendar;
    counter->prey.keeps_its_waits = counter->limit.requests > 0;
}

static void vary(struct wr_prey *prey, uint64_t *random)
{
    struct wr_prey_counter *const counter = (struct wr_prey_counter *) prey;

    wr_drawn_rule_vary(&counter->rule, random);
    set_limit(counter);
}

void wr_prey_counter_init(struct wr_prey_counter *counter, const struct wr_schedule_name *name,
                          const struct wr_drawn_rule *rule, const struct wr_calendar *calendar)
{
    memset(counter->state, 0, counter->n_words * sizeof counter->state[0]);
    counter->n_words = 0;
    counter->record.n = 0;
    counter->climb = (struct wr_climb){0};
    counter->rule = *rule;
    counter->calendar = calendar;
    counter->prey = (struct wr_prey){
        .name = *name,
        .take = take,
        .look = look,
        .end_of_window = end_of_window,
        .vary = (rule->traits & WR_RULE_VARIES) != 0 ? vary : NULL,
        .length_us = rule->length_us,
        .n_steps = WR_SCHEDULE_STEPS(rule->requests),
    };
    set_limit(counter);
}
