/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fallback_store.h"

#include <criterion/criterion.h>

#include "store/local_store.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/fake_backend.h"
#include "tests/unit/store/handed.h"

#define SECOND INT64_C(1000000)

static struct wr_fake_backend remote;
static struct wr_backend *backend;
static struct handed handed;
static _Atomic uint32_t replicas;

static void begin_with(struct wr_backend *local)
{
    struct wr_backend *remote_backend = &remote.backend;

    handed_init(&handed);
    wr_fake_backend_init(&remote);
    cr_assert_eq(wr_fallback_store_new(
                     &(struct wr_fallback_options){
                         .replicas = &replicas,
                         .metrics = handed.metrics,
                     },
                     &remote_backend, &local, &backend),
                 WR_OK);
    cr_assert_null(remote_backend);
    cr_assert_null(local);
}

static void begin(uint32_t n_replicas)
{
    struct wr_backend *local;

    atomic_store(&replicas, n_replicas);
    cr_assert_eq(wr_local_store_new(
                     &(struct wr_local_store_options){.max_counters = 10, .n_stripes = 1}, &local),
                 WR_OK);
    begin_with(local);
}

static void end(void)
{
    wr_backend_destroy(backend);
    handed_fini(&handed);
}

static struct wr_take take_of(const char *key, uint64_t requests)
{
    return (struct wr_take){
        .key = wr_str_of(key),
        .limit = {.requests = requests, .length_us = 60 * SECOND},
        .hits = 1,
        .is_enforced = true,
        .has_local_fallback = true,
    };
}

static struct wr_take put_one(struct wr_take take)
{
    handed_put(&handed, backend, &take, 1);
    cr_assert_eq(handed.n_done, 1);
    return take;
}

Test(fallback_store, leaves_alone_what_the_remote_store_decides)
{
    begin(2);
    remote.verdicts[0] = (struct wr_verdict){.remaining = 9, .reset_us = 3};

    const struct wr_take take = put_one(take_of("a", 10));

    cr_assert_eq(take.answer, WR_TAKE_DECIDED);
    cr_assert(!take.is_degraded);
    cr_assert_eq(take.limit.requests, 10);
    cr_assert_eq(take.verdict.remaining, 9);
    end();
}

Test(fallback_store, takes_in_memory_whatever_the_reason)
{
    static const enum wr_take_answer answers[] = {
        WR_TAKE_TIMEOUT, WR_TAKE_AWAY, WR_TAKE_FAILED,
        WR_TAKE_LATE,    WR_TAKE_FULL, WR_TAKE_NO_MEMORY,
    };

    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        begin(1);
        remote.answers[0] = answers[i];

        const struct wr_take take = put_one(take_of("a", 10));

        cr_assert_eq(take.answer, WR_TAKE_DECIDED);
        cr_assert(take.is_degraded);
        cr_assert_eq(take.verdict.remaining, 9);
        end();
    }
}

Test(fallback_store, leaves_takes_without_the_fallback_undecided)
{
    struct wr_take takes[] = {take_of("a", 10), take_of("b", 10)};

    begin(1);
    remote.answers[0] = remote.answers[1] = WR_TAKE_AWAY;
    takes[0].has_local_fallback = false;
    handed_put(&handed, backend, takes, 2);
    cr_assert_eq(handed.n_done, 1);
    cr_assert_eq(takes[0].answer, WR_TAKE_AWAY);
    cr_assert(!takes[0].is_degraded);
    cr_assert_eq(takes[1].answer, WR_TAKE_DECIDED);
    cr_assert(takes[1].is_degraded);

    takes[1].has_local_fallback = false;
    takes[1].is_degraded = false;
    handed_put(&handed, backend, takes, 2);
    cr_assert_eq(takes[1].answer, WR_TAKE_AWAY);
    end();
}

/* Limit, replicas, and what one of them lets through. */
static const struct {
    uint64_t requests;
    uint32_t replicas;
    uint64_t share;
} shares[] = {
    {10, 1, 10}, {10, 2, 5}, {10, 3, 4}, {1, 3, 1},
    {0, 3, 0},   {3, 3, 1},  {4, 3, 2},  {UINT64_MAX, 2, UINT64_C(1) << 63},
};

Test(fallback_store, enforces_a_share_and_says_so)
{
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        begin(shares[i].replicas);
        remote.answers[0] = WR_TAKE_AWAY;

        const struct wr_take first = put_one(take_of("a", shares[i].requests));

        cr_assert_eq(first.limit.requests, shares[i].share, "of %zu", i);
        cr_assert_eq(first.verdict.over, shares[i].share == 0);
        for (uint64_t n = 1; n < shares[i].share && n < 10; n++) {
            cr_assert(!put_one(take_of("a", shares[i].requests)).verdict.over);
        }
        if (shares[i].share < 11) {
            cr_assert(put_one(take_of("a", shares[i].requests)).verdict.over);
        }
        end();
    }
}

/* Else each of them would let the whole burst through. */
Test(fallback_store, a_burst_is_shared_as_well)
{
    struct wr_take take = take_of("a", 60);

    take.limit.algorithm = WR_ALGORITHM_TOKEN_BUCKET;
    take.limit.count = WR_COUNT_ADMITTED;
    take.limit.burst = 6;
    begin(3);
    remote.answers[0] = WR_TAKE_AWAY;
    cr_assert(!put_one(take).verdict.over);
    cr_assert(!put_one(take).verdict.over);
    cr_assert(put_one(take).verdict.over);
    end();
}

Test(fallback_store, a_limit_that_warms_up_begins_with_its_share)
{
    struct wr_take take = take_of("a", 60);

    take.limit.warm_up_us = 60 * SECOND;
    take.limit.warm_up_start = 6;
    begin(3);
    remote.answers[0] = WR_TAKE_AWAY;
    cr_assert_eq(put_one(take).verdict.enforced, 2u);
    end();
}

Test(fallback_store, decides_nothing_while_the_number_is_unknown)
{
    begin(0);
    remote.answers[0] = WR_TAKE_AWAY;

    const struct wr_take take = put_one(take_of("a", 10));

    cr_assert_eq(take.answer, WR_TAKE_AWAY);
    cr_assert(!take.is_degraded);
    end();
}

Test(fallback_store, goes_by_the_number_of_replicas_at_the_time)
{
    begin(1);
    remote.answers[0] = WR_TAKE_AWAY;
    cr_assert_eq(put_one(take_of("a", 10)).limit.requests, 10);
    atomic_store(&replicas, 5);
    cr_assert_eq(put_one(take_of("a", 10)).limit.requests, 2);
    end();
}

Test(fallback_store, returns_to_the_remote_store_at_once)
{
    begin(2);
    remote.answers[0] = WR_TAKE_AWAY;
    cr_assert(put_one(take_of("a", 10)).is_degraded);
    remote.answers[0] = WR_TAKE_DECIDED;
    remote.verdicts[0].remaining = 6;

    const struct wr_take take = put_one(take_of("a", 10));

    cr_assert(!take.is_degraded);
    cr_assert_eq(take.limit.requests, 10);
    cr_assert_eq(take.verdict.remaining, 6);
    cr_assert_eq(remote.seen[0].limit.requests, 10);
    end();
}

Test(fallback_store, gives_refunds_in_memory)
{
    struct wr_take refund = take_of("a", 4);

    begin(2);
    remote.answers[0] = WR_TAKE_AWAY;
    refund.is_refund = true;
    cr_assert_eq(put_one(refund).verdict.remaining, 2);
    cr_assert_eq(put_one(take_of("a", 4)).verdict.remaining, 1);
    cr_assert_eq(put_one(refund).verdict.remaining, 2);
    end();
}

Test(fallback_store, asks_memory_when_the_remote_store_ends_later)
{
    struct wr_take take = take_of("a", 4);

    begin(2);
    remote.holds = true;
    remote.answers[0] = WR_TAKE_TIMEOUT;
    handed.batch.deadline_mono_us = 99;
    handed_put(&handed, backend, &take, 1);
    cr_assert_eq(handed.n_done, 0);
    cr_assert_eq(remote.held->deadline_mono_us, 99);
    wr_fake_backend_release(&remote);
    cr_assert_eq(handed.n_done, 1);
    cr_assert(take.is_degraded);
    cr_assert_eq(remote.n_batches, 1);
    end();
}

Test(fallback_store, keeps_what_memory_counts_of_itself)
{
    static const char *const keys[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"};

    begin(1);
    remote.answers[0] = WR_TAKE_AWAY;
    for (size_t i = 0; i < 10; i++) {
        cr_assert(put_one(take_of(keys[i], 4)).is_degraded);
    }

    const struct wr_take refused = put_one(take_of(keys[10], 4));

    cr_assert_eq(refused.answer, WR_TAKE_FULL);
    cr_assert(!refused.is_degraded);
    cr_assert_eq(refused.limit.requests, 4);
    cr_assert_eq(wr_metrics_sum(handed.metrics, WR_METRIC_STORE_FULL), 1);
    end();
}

/*
 * Torn groups: what the remote store said of each take (d: decided, o: decided and over, x: no
 * decision, X: none, and that refuses), and what memory is asked for: the hits of each take, - when
 * not at all, R: it is told of a refusal.
 */
static const struct {
    const char *what;
    const char *remote;
    const char *groups;
    const char *counts; /* a: all, o: all or nothing, A: all and must be booked, r: a refund */
    const char *enforced;
    const char *fallback;
    enum wr_charge_mode mode;
    const char *local;
} torn[] = {
    {"all lost", "xxx", "000", "ooo", "yyy", "yyy", WR_CHARGE_BY_COUNT, "111"},
    {"a torn group is judged as a whole", "dxd", "001", "ooo", "yyy", "yyy", WR_CHARGE_BY_COUNT,
     "11-"},
    {"groups of their own", "dx", "01", "oo", "yy", "yy", WR_CHARGE_BY_COUNT, "-1"},
    {"who has no fallback stays", "dxd", "000", "ooo", "yyy", "nyy", WR_CHARGE_BY_COUNT, "-11"},
    {"nobody to fall", "dx", "00", "oo", "yy", "yn", WR_CHARGE_BY_COUNT, "--"},
    {"a refusal stands", "oxd", "000", "ooo", "yyy", "yyy", WR_CHARGE_BY_COUNT, "R1-"},
    {"what counts all is counted", "ox", "00", "oa", "yy", "yy", WR_CHARGE_BY_COUNT, "R1"},
    {"a shadow refuses nobody", "ox", "00", "oo", "ny", "yy", WR_CHARGE_BY_COUNT, "11"},
    {"a refusal elsewhere", "ox", "01", "oo", "yy", "yy", WR_CHARGE_BY_COUNT, "-1"},
    {"no answer refuses", "xX", "00", "oo", "yy", "yn", WR_CHARGE_BY_COUNT, "1R"},
    {"no answer refuses elsewhere", "Xx", "01", "oo", "yy", "ny", WR_CHARGE_BY_COUNT, "-1"},
    {"no answer refuses whom memory is asked for", "Xdx", "000", "ooo", "yyy", "nyy",
     WR_CHARGE_BY_COUNT, "R-1"},
    {"stop is one group", "dx", "01", "aa", "yy", "yy", WR_CHARGE_STOP, "11"},
    {"stop by a shadow", "ox", "01", "aa", "ny", "yy", WR_CHARGE_STOP, "R1"},
    {"stop for lack of an answer", "Xx", "01", "aa", "yy", "ny", WR_CHARGE_STOP, "R1"},
    {"stop gives refunds", "ox", "01", "ar", "yy", "yy", WR_CHARGE_STOP, "R1"},
    {"stop books what must be", "ox", "01", "aA", "yy", "yy", WR_CHARGE_STOP, "R1"},
};

static struct wr_take torn_take(size_t c, size_t i)
{
    static const char *const keys[] = {"a", "b", "c"};
    struct wr_take take = take_of(keys[i], 10);

    take.group = (uint32_t) (torn[c].groups[i] - '0');
    take.limit.count = torn[c].counts[i] == 'o' ? WR_COUNT_ALL_OR_NOTHING : WR_COUNT_ALL;
    take.must_book = torn[c].counts[i] == 'A';
    take.is_refund = torn[c].counts[i] == 'r';
    take.is_enforced = torn[c].enforced[i] == 'y';
    take.has_local_fallback = torn[c].fallback[i] == 'y';
    take.refuses_unanswered = torn[c].remote[i] == 'X';
    return take;
}

/* A refusal has no key. */
static void assert_seen(size_t c, size_t i, const struct wr_take *seen)
{
    const bool is_refusal = torn[c].local[i] == 'R';
    const char key[] = {"abc"[i], '\0'};

    cr_assert(wr_str_equal(seen->key, wr_str_of(is_refusal ? "" : key)), "%s: %zu", torn[c].what,
              i);
    cr_assert_eq(seen->hits, 1, "%s: %zu", torn[c].what, i);
    cr_assert_eq(seen->limit.requests, is_refusal ? 0 : 10, "%s: %zu", torn[c].what, i);
    cr_assert_eq(seen->group, (uint32_t) (torn[c].groups[i] - '0'), "%s: %zu", torn[c].what, i);
}

static void assert_torn(size_t c, const struct wr_fake_backend *local)
{
    size_t n = 0;

    for (size_t i = 0; torn[c].remote[i] != '\0'; i++) {
        if (torn[c].local[i] != '-') {
            cr_assert_lt(n, local->n_seen, "%s", torn[c].what);
            assert_seen(c, i, &local->seen[n]);
            n++;
        }
    }
    cr_assert_eq(local->n_seen, n, "%s", torn[c].what);
}

Test(fallback_store, judges_torn_groups_as_a_whole)
{
    for (size_t c = 0; c < sizeof torn / sizeof torn[0]; c++) {
        const size_t n = strlen(torn[c].remote);
        struct wr_fake_backend local;
        struct wr_take takes[3];

        wr_fake_backend_init(&local);
        atomic_store(&replicas, 1);
        begin_with(&local.backend);
        for (size_t i = 0; i < n; i++) {
            takes[i] = torn_take(c, i);
            remote.answers[i] = torn[c].remote[i] == 'x' || torn[c].remote[i] == 'X'
                                    ? WR_TAKE_AWAY
                                    : WR_TAKE_DECIDED;
            remote.verdicts[i].over = torn[c].remote[i] == 'o';
        }
        handed.batch.mode = torn[c].mode;
        handed_put(&handed, backend, takes, n);
        cr_assert_eq(handed.n_done, 1);
        assert_torn(c, &local);
        for (size_t i = 0; i < n; i++) {
            cr_assert_eq(takes[i].is_degraded, torn[c].local[i] == '1', "%s: %zu", torn[c].what, i);
            cr_assert_eq(takes[i].hits, 1);
        }
        end();
    }
}

/* Calls of a take that refuses without an answer, and of one with the fallback, whose limit is 4.
 */
static const struct {
    enum wr_count count;
    enum wr_charge_mode mode;
    bool refuses, is_over;
    uint64_t hits;
    uint64_t remaining; /* of the second, after three calls */
} refused[] = {
    {WR_COUNT_ALL_OR_NOTHING, WR_CHARGE_BY_COUNT, true, false, 1, 4},
    {WR_COUNT_ALL_OR_NOTHING, WR_CHARGE_BY_COUNT, false, false, 1, 1},
    {WR_COUNT_ALL_OR_NOTHING, WR_CHARGE_BY_COUNT, true, true, 7, 4},
    {WR_COUNT_ADMITTED, WR_CHARGE_BY_COUNT, true, false, 1, 1},
    {WR_COUNT_ALL, WR_CHARGE_BY_COUNT, true, false, 1, 1},
    {WR_COUNT_ALL, WR_CHARGE_STOP, true, false, 1, 4},
    {WR_COUNT_ALL, WR_CHARGE_STOP, false, false, 1, 1},
};

Test(fallback_store, charges_no_group_that_is_refused_for_lack_of_an_answer)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct wr_take look = take_of("l", 4);

        begin(1);
        remote.answers[0] = remote.answers[1] = WR_TAKE_AWAY;
        handed.batch.mode = refused[i].mode;
        for (int n = 0; n < 3; n++) {
            struct wr_take takes[] = {take_of("e", 100), take_of("l", 4)};

            takes[0].has_local_fallback = false;
            takes[0].refuses_unanswered = refused[i].refuses;
            takes[1].limit.count = refused[i].count;
            takes[1].hits = refused[i].hits;
            handed_put(&handed, backend, takes, 2);
            cr_assert_eq(takes[0].answer, WR_TAKE_AWAY);
            cr_assert_eq(takes[1].answer, WR_TAKE_DECIDED);
            cr_assert_eq(takes[1].verdict.over, refused[i].is_over, "case %zu", i);
        }
        look.hits = 0;
        cr_assert_eq(put_one(look).verdict.remaining, refused[i].remaining, "case %zu", i);
        end();
    }
}

Test(fallback_store, keeps_a_remote_decision_that_memory_has_no_room_to_repeat)
{
    struct wr_take takes[] = {take_of("a", 10), take_of("b", 10)};
    struct wr_fake_backend local;

    wr_fake_backend_init(&local);
    atomic_store(&replicas, 2);
    begin_with(&local.backend);
    takes[0].limit.count = takes[1].limit.count = WR_COUNT_ALL_OR_NOTHING;
    remote.verdicts[0].remaining = 8;
    remote.answers[1] = WR_TAKE_AWAY;
    local.answers[0] = local.answers[1] = WR_TAKE_FULL;
    handed_put(&handed, backend, takes, 2);
    cr_assert_eq(local.n_seen, 2);
    cr_assert_eq(takes[0].answer, WR_TAKE_DECIDED);
    cr_assert_eq(takes[0].verdict.remaining, 8);
    cr_assert_eq(takes[0].limit.requests, 10);
    cr_assert(!takes[0].is_degraded);
    cr_assert_eq(takes[1].answer, WR_TAKE_FULL);
    end();
}

Test(fallback_store, counts_nothing_when_memory_is_out)
{
    size_t n_good = 0;

    for (bool is_decided = false; !is_decided; n_good++) {
        struct wr_take take = take_of("a", 4);

        begin(1);
        is_decided = handed_put_failing(&handed, backend, &take, 1, n_good);
        cr_assert(is_decided || remote.n_batches == 0);
        end();
    }
    cr_assert_gt(n_good, 2u, "memory was out less than twice");
}

Test(fallback_store, leaves_the_stores_to_the_caller_when_it_cannot_be_made)
{
    struct wr_fake_backend local;

    wr_fake_backend_init(&remote);
    wr_fake_backend_init(&local);
    handed_init(&handed);
    for (size_t n = 0; n < 2; n++) {
        struct wr_backend *remote_backend = &remote.backend;
        struct wr_backend *local_backend = &local.backend;

        failing_malloc_start(n);
        const enum wr_err err = wr_fallback_store_new(
            &(struct wr_fallback_options){.replicas = &replicas, .metrics = handed.metrics},
            &remote_backend, &local_backend, &backend);
        failing_malloc_stop();
        cr_assert_eq(err, WR_ERR_NO_MEMORY);
        cr_assert_eq(remote_backend, &remote.backend);
        cr_assert_eq(local_backend, &local.backend);
    }
    handed_fini(&handed);
}
