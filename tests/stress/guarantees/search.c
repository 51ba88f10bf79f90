/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/stress/guarantees/search.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tests/stress/crew.h"
#include "tests/stress/guarantees/civil.h"
#include "tests/stress/guarantees/counter.h"
#include "tests/stress/guarantees/layers.h"

#define SCHEDULES_OF_ZONE 1000 /* in a row, since it takes long to change the zone */

const char *const wr_variants[WR_VARIANTS] = {"as it is", "changed meanwhile", "with warm-up",
                                              "with headroom"};

static const unsigned variant_traits[WR_VARIANTS] = {0, WR_RULE_VARIES, WR_RULE_WARMS_UP,
                                                     WR_RULE_HAS_HEADROOM};

/* What one schedule is about. */
struct draw {
    struct wr_schedule_name name;
    uint64_t random;
    unsigned traits;
    enum wr_style style;
};

/* SplitMix64 (Steele, Lea, Flood), so that schedules of near numbers have nothing in common. */
static uint64_t mix(uint64_t value)
{
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

static struct draw draw_of(const char *subject, uint64_t seed, uint32_t number)
{
    static const unsigned traits[] = {
        0,
        0,
        0,
        WR_RULE_VARIES,
        WR_RULE_WARMS_UP,
        WR_RULE_HAS_HEADROOM,
        WR_RULE_VARIES | WR_RULE_WARMS_UP,
        WR_RULE_VARIES | WR_RULE_WARMS_UP | WR_RULE_HAS_HEADROOM,
    };
    const uint64_t random = mix(mix(seed) + number);

    return (struct draw){
        .name = {.subject = subject, .seed = seed, .number = number},
        .random = random == 0 ? 1 : random,
        .traits = traits[number / WR_STYLES % (sizeof traits / sizeof traits[0])],
        .style = (enum wr_style)(number % WR_STYLES),
    };
}

static void check(const struct draw *draw, bool is_kept, const struct wr_excess *excess,
                  const struct wr_limit *limit)
{
    wr_check(is_kept,
             "%s: %" PRIu64 " admitted, bound %" PRIu64 ": limit %" PRIu64 ", burst %" PRIu64
             ", length %" PRId64 " us, %u buckets; until %" PRId64 " us of schedule %" PRIu32
             " of seed %" PRIu64,
             draw->name.subject, excess->found, excess->bound, excess->allowance.requests,
             excess->allowance.burst, limit->length_us, limit->n_buckets, excess->until_us,
             draw->name.number, draw->name.seed);
}

static bool is_of(const struct draw *draw, size_t variant)
{
    const unsigned traits = variant_traits[variant];

    return traits == 0 ? draw->traits == 0 : (draw->traits & traits) != 0;
}

static void judge(struct wr_search *search, const struct wr_subject *subject,
                  const struct draw *draw, const struct wr_limit *limit,
                  const struct wr_record *record, struct wr_civil *civil)
{
    struct wr_worst in_window = {0}, in_instant = {0};
    struct wr_excess excess = {0};

    if (limit->calendar != NULL) {
        check(draw,
              wr_record_judge_spans(record, wr_civil_span, civil, subject->window_bound, &in_window,
                                    &excess),
              &excess, limit);
    } else {
        check(draw,
              wr_record_judge(record, limit->length_us, subject->window_bound, &in_window, &excess),
              &excess, limit);
    }
    if (limit->length_us >= 100) {
        check(draw,
              wr_record_judge(record, limit->length_us / 100, subject->instant_bound, &in_instant,
                              &excess),
              &excess, limit);
    }
    for (size_t i = 0; i < WR_VARIANTS; i++) {
        if (is_of(draw, i)) {
            wr_worst_add(&search->findings[i].in_window, &in_window);
            wr_worst_add(&search->findings[i].in_instant, &in_instant);
        }
    }
}

static void count(struct wr_search *search, const struct draw *draw)
{
    for (size_t i = 0; i < WR_VARIANTS; i++) {
        search->findings[i].n_schedules += is_of(draw, i);
    }
}

/* ---- one counter ---- */

static void play_counter(struct wr_search *search, struct wr_prey_counter *counter,
                         struct draw *draw, struct wr_civil *civil, unsigned zone)
{
    const struct wr_subject *const subject = search->subject;
    const struct wr_calendar *calendar = NULL;
    enum wr_unit unit = WR_UNIT_UNKNOWN;
    int64_t now_us = wr_draw_between(&draw->random, INT64_C(1) << 40, INT64_C(1) << 50);

    if (subject->alignment == WR_ALIGN_CALENDAR) {
        calendar = wr_civil_choose(
            civil, zone, (unsigned) wr_draw_between(&draw->random, 0, WR_CIVIL_UNITS - 1));
        unit = calendar->unit;
        now_us = wr_civil_moment(civil, &draw->random);
    }

    const struct wr_drawn_rule rule =
        wr_drawn_rule(&draw->random, subject->algorithm, subject->alignment, draw->traits, unit);

    wr_prey_counter_init(counter, &draw->name, &rule, calendar);
    (void) wr_schedule_play(&counter->prey, draw->style, &draw->random, now_us);
    wr_schedule_check(&draw->name,
                      subject->n_words == 0 || (draw->traits & WR_RULE_WARMS_UP) != 0 ||
                          counter->n_words == subject->n_words,
                      "a state is not as large as it is said to be");
    judge(search, subject, draw, &counter->limit, &counter->record, civil);
}

static void search_counters(struct wr_search *search, uint64_t seed, uint32_t n_schedules)
{
    struct wr_prey_counter *const counter = calloc(1, sizeof *counter);
    struct wr_civil civil;

    wr_check(counter != NULL, "no memory");
    wr_civil_init(&civil);
    for (uint32_t i = 0; i < n_schedules; i++) {
        struct draw draw = draw_of(search->name, seed, i);

        play_counter(search, counter, &draw, &civil, i / SCHEDULES_OF_ZONE % WR_CIVIL_ZONES);
        count(search, &draw);
    }
    wr_civil_fini(&civil);
    free(counter);
}

/* ---- layers ---- */

/* Any but the calendar's windows, which last too long for the others. */
static const struct wr_subject *draw_subject(uint64_t *random)
{
    const struct wr_subject *subject;

    do {
        subject = &wr_subjects[wr_draw_between(random, 0, WR_SUBJECTS - 1)];
    } while (subject->alignment == WR_ALIGN_CALENDAR);
    return subject;
}

static int64_t play_layers(struct wr_search *search, struct wr_prey_layers *layers,
                           struct draw *draw, int64_t now_us)
{
    const struct wr_subject *subjects[WR_PREY_LAYERS];
    struct wr_drawn_rule rules[WR_PREY_LAYERS];
    const size_t n = (size_t) wr_draw_between(&draw->random, 2, WR_PREY_LAYERS);

    for (size_t i = 0; i < n; i++) {
        subjects[i] = draw_subject(&draw->random);

        rules[i] = wr_drawn_rule(&draw->random, subjects[i]->algorithm, subjects[i]->alignment,
                                 draw->traits, WR_UNIT_UNKNOWN);
    }
    wr_prey_layers_init(layers, &draw->name, rules, n);
    now_us = wr_schedule_play(&layers->prey, draw->style, &draw->random, now_us);
    for (size_t i = 0; i < n; i++) {
        judge(search, subjects[i], draw, &layers->layers[i].limit, &layers->layers[i].record, NULL);
    }
    return now_us;
}

static void search_layers(struct wr_search *search, uint64_t seed, uint32_t n_schedules)
{
    struct wr_prey_layers *const layers = calloc(1, sizeof *layers);
    int64_t now_us = INT64_C(1) << 40;

    wr_check(layers != NULL, "no memory");
    wr_prey_layers_open(layers);
    for (uint32_t i = 0; i < n_schedules; i++) {
        struct draw draw = draw_of(search->name, seed, i);

        now_us += wr_draw_between(&draw.random, 1, 1000000);
        now_us = play_layers(search, layers, &draw, now_us);
        count(search, &draw);
    }
    wr_prey_layers_close(layers);
    free(layers);
}

void wr_search_run(struct wr_search *search, uint64_t seed, uint32_t n_schedules)
{
    if (search->subject != NULL) {
        search_counters(search, seed, n_schedules);
    } else {
        search_layers(search, seed, n_schedules);
    }
}
