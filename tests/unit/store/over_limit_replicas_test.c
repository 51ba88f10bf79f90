/* SPDX-License-Identifier: Apache-2.0 */
/* Caches of replicas on one store: what they may change of its answers, and what they may not. */
#include <criterion/criterion.h>

#include "base/random.h"
#include "store/local_store.h"
#include "store/over_limit_cache.h"
#include "tests/unit/store/over_limit_bed.h"

static struct handed *const handed = &over_limit_bed.handed;

/* A way into a store that others share. */
struct door {
    struct wr_backend backend;
    struct wr_backend *store; /* borrowed */
};

static void door_take(struct wr_backend *door, struct wr_batch *batch)
{
    wr_backend_take(((struct door *) door)->store, batch);
}

static void door_destroy(struct wr_backend *door)
{
    (void) door;
}

/* Two replicas with a cache each on one store, or the store without any. */
static const struct wr_backend_ops door_ops = {.take = door_take, .destroy = door_destroy};
static struct wr_backend *store, *replicas[2];
static struct door doors[2];

static void begin_replicas(void)
{
    over_limit_bed_begin();
    cr_assert_eq(wr_local_store_new(
                     &(struct wr_local_store_options){.max_counters = 10, .n_stripes = 1}, &store),
                 WR_OK);
    for (int i = 0; i < 2; i++) {
        doors[i] = (struct door){.backend = {.ops = &door_ops}, .store = store};
        replicas[i] = over_limit_bed_cache_around(&doors[i].backend);
    }
}

static void end_replicas(void)
{
    for (int i = 0; i < 2; i++) {
        wr_backend_destroy(replicas[i]);
    }
    wr_backend_destroy(store);
    over_limit_bed_end();
}

static struct wr_take put_at(struct wr_backend *at, uint64_t hits, bool is_refund)
{
    struct wr_take take = take_of("a");

    take.hits = hits;
    take.is_refund = is_refund;
    handed_put(handed, at, &take, 1);
    cr_assert_eq(handed->n_done, 1);
    return take;
}

/* Steps: hits, or a refund of the number after -; R: what remains, O: over. */
static const struct {
    const char *steps;
    const char *verdicts;
} stories[] = {
    {"111-111", "21010O"},
    {"-51111", "3210O"},
    {"11111-211", "210OO0OO"},
    {"11111111111-911", "210OOOOOOOO10O"},
};

Test(over_limit_replicas, hides_no_refund_wherever_it_is_sent)
{
    for (size_t s = 0; s < sizeof stories / sizeof stories[0]; s++) {
        for (int refunds_at = 0; refunds_at < 2; refunds_at++) {
            const char *step = stories[s].steps;

            if (s == 3 && refunds_at == 1) {
                continue; /* long enough to be held: see the next test */
            }
            begin_replicas();
            for (const char *verdict = stories[s].verdicts; *verdict != '\0'; verdict++) {
                const bool is_refund = *step == '-';

                step += is_refund;

                const struct wr_take take = put_at(replicas[is_refund ? refunds_at : 0],
                                                   (uint64_t) (*step++ - '0'), is_refund);

                cr_assert_eq(take.verdict.over, *verdict == 'O', "%s: at %s", stories[s].steps,
                             step - 1);
                if (!take.verdict.over) {
                    cr_assert_eq(take.verdict.remaining, (uint64_t) (*verdict - '0'));
                }
            }
            cr_assert_eq(*step, '\0');
            end_replicas();
        }
    }
}

Test(over_limit_replicas, sees_another_replicas_refund_when_its_word_is_old)
{
    begin_replicas();
    for (int i = 0; i < 20; i++) {
        (void) put_at(replicas[0], 1, false);
    }
    cr_assert(put_at(replicas[0], 0, false).verdict.over);
    (void) put_at(replicas[1], 100, true);
    cr_assert(put_at(replicas[0], 0, false).verdict.over, "nothing tells of the refund yet");
    pass(WR_OVER_LIMIT_TRUST_US);
    (void) put_at(replicas[0], 0, false); /* brings what was held */
    (void) put_at(replicas[1], 100, true);
    pass(WR_OVER_LIMIT_TRUST_US);

    const struct wr_take look = put_at(replicas[0], 0, false);

    cr_assert(!look.verdict.over);
    cr_assert_eq(look.verdict.remaining, 3);
    end_replicas();
}

Test(over_limit_replicas, leaves_the_store_with_the_count_that_it_would_have_alone)
{
    begin_replicas();
    for (int i = 0; i < 1000; i++) {
        pass(i % 7 * 1000);
        (void) put_at(replicas[i % 2], (uint64_t) i % 3, i % 50 == 49);
    }
    pass(WR_OVER_LIMIT_TRUST_US);
    for (int i = 0; i < 2; i++) {
        (void) put_at(replicas[i], 0, false);
    }

    uint64_t used = 0;

    for (int i = 0; i < 1000; i++) {
        const uint64_t hits = (uint64_t) i % 3;

        used = i % 50 == 49 ? used - (hits < used ? hits : used) : used + hits;
    }

    struct wr_take look = take_of("a");

    look.hits = 0;
    look.limit.requests = 1000000;
    handed_put(handed, store, &look, 1);
    cr_assert_eq(look.verdict.remaining, 1000000 - used);
    end_replicas();
}

/* What saturates is given back as it is without a cache. */
Test(over_limit_replicas, a_refund_meets_a_count_that_is_held_back)
{
    begin_replicas();
    for (int i = 0; i < 6; i++) {
        (void) put_at(replicas[0], 1, false);
    }
    cr_assert(put_at(replicas[0], WR_COUNT_MAX, false).verdict.over);
    cr_assert(put_at(replicas[0], 1, false).verdict.over);
    cr_assert_eq(wr_metrics_sum(handed->metrics, WR_METRIC_DESCRIPTORS_CACHED), 2);
    cr_assert_eq(put_at(replicas[0], WR_COUNT_MAX, true).verdict.remaining, 3);
    cr_assert(!put_at(replicas[0], 0, false).verdict.over);
    cr_assert_eq(put_at(replicas[0], 1, false).verdict.remaining, 2);
    end_replicas();
}

static uint64_t draw(uint64_t *state, uint64_t n)
{
    (void) wr_random_next(state);
    return (*state >> 32) % n;
}

/* When held hits are taken off refunds, what saturates comes out otherwise (over_limit_cache.h). */
static bool can_saturate(enum wr_charge_mode mode)
{
    return mode == WR_CHARGE_BY_COUNT && handed->batch.now.wall_us % (60 * SECOND) < 59 * SECOND;
}

/* A key has one count, as a rule has. */
static struct wr_take draw_take(uint64_t *state, enum wr_charge_mode mode)
{
    static const struct {
        const char *name;
        enum wr_count count;
    } keys[] = {{"a", WR_COUNT_ALL},
                {"b", WR_COUNT_ALL},
                {"c", WR_COUNT_ALL_OR_NOTHING},
                {"d", WR_COUNT_ADMITTED}};
    const uint64_t key = draw(state, 6); /* a and b more than others */
    struct wr_take take = take_of(keys[key % 4].name);

    take.limit.count = keys[key % 4].count;
    if (mode == WR_CHARGE_BY_COUNT && draw(state, 20) == 0) {
        take.limit.requests += draw(state, 4);
    }
    take.hits = draw(state, 3);
    take.is_refund = draw(state, 25) == 0;
    take.hits += take.is_refund ? draw(state, 30) : 0;
    if (can_saturate(mode) && draw(state, take.is_refund ? 4 : 100) == 0) {
        take.hits = WR_COUNT_MAX - draw(state, 3);
    }
    take.must_book = !take.is_refund && take.limit.count == WR_COUNT_ALL && draw(state, 25) == 0;
    take.is_enforced = draw(state, 4) != 0;
    return take;
}

static void compare(const struct wr_take *got, const struct wr_take *want, int call, size_t n)
{
    cr_assert_eq(got->verdict.over, want->verdict.over, "call %d, take %zu", call, n);
    cr_assert_eq(got->verdict.remaining, want->verdict.remaining, "call %d, take %zu", call, n);
    cr_assert_eq(got->verdict.reset_us, want->verdict.reset_us, "call %d, take %zu", call, n);
    cr_assert_eq(got->verdict.enforced, want->verdict.enforced, "call %d, take %zu", call, n);
}

static void change_no_verdict(enum wr_charge_mode mode)
{
    struct wr_backend *plain = NULL;
    uint64_t state = 1;

    begin_replicas();
    cr_assert_eq(wr_local_store_new(
                     &(struct wr_local_store_options){.max_counters = 10, .n_stripes = 1}, &plain),
                 WR_OK);
    handed->batch.mode = mode;
    for (int i = 0; i < 100000; i++) {
        struct wr_take takes[3], expected[3];
        const size_t n = 1 + draw(&state, 3);
        uint32_t group = 0;

        pass((int64_t) draw(&state, 100) == 0 ? 20 * SECOND : (int64_t) draw(&state, 50000));
        for (size_t k = 0; k < n; k++) {
            takes[k] = draw_take(&state, mode);
            group += (uint32_t) draw(&state, 2);
            takes[k].group = group;
            expected[k] = takes[k];
        }
        handed_put(handed, plain, expected, n);
        handed_put(handed, replicas[0], takes, n);
        for (size_t k = 0; k < n; k++) {
            compare(&takes[k], &expected[k], i, k);
        }
    }
    cr_assert_gt(wr_metrics_sum(handed->metrics, WR_METRIC_DESCRIPTORS_CACHED), 5000);
    wr_backend_destroy(plain);
    end_replicas();
}

Test(over_limit_replicas, changes_no_verdict_of_a_replica_alone)
{
    change_no_verdict(WR_CHARGE_BY_COUNT);
}

Test(over_limit_replicas, changes_no_verdict_when_charging_stops)
{
    change_no_verdict(WR_CHARGE_STOP);
}
