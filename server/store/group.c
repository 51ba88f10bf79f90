/* SPDX-License-Identifier: Apache-2.0 */
#include "store/group.h"

struct group {
    struct wr_group_member *members;
    size_t n;
    enum wr_charge_mode mode;
    bool is_refused;
    struct wr_stripe_events *events;
};

/* The members of one key, or of one stripe. */
struct run {
    struct wr_group_member *members;
    size_t n;
};

static bool is_before(const struct wr_group_member *a, const struct wr_group_member *b, bool is_one)
{
    if (!is_one && a->take->group != b->take->group) {
        return a->take->group < b->take->group;
    }
    if (a->stripe != b->stripe) {
        return a->stripe < b->stripe;
    }
    if (a->hash.high != b->hash.high) {
        return a->hash.high < b->hash.high;
    }
    if (a->hash.low != b->hash.low) {
        return a->hash.low < b->hash.low;
    }
    return a->take < b->take;
}

/* Moves the member at `i` down the heap of `n`, whose last member is the root (Williams). */
static void sift_down(struct wr_group_member *members, size_t n, size_t i, bool is_one)
{
    const struct wr_group_member moved = members[i];

    for (size_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
        if (child + 1 < n && is_before(&members[child], &members[child + 1], is_one)) {
            child++;
        }
        if (!is_before(&moved, &members[child], is_one)) {
            break;
        }
        members[i] = members[child];
        i = child;
    }
    members[i] = moved;
}

void wr_group_sort(struct wr_group_member *members, size_t n, bool is_one)
{
    for (size_t i = n / 2; i-- > 0;) {
        sift_down(members, n, i, is_one);
    }
    for (size_t left = n; left-- > 1;) {
        const struct wr_group_member last = members[0];

        members[0] = members[left];
        members[left] = last;
        sift_down(members, left, 0, is_one);
    }
}

/* The members from `first` on that have its key. */
static struct run run_of_key(const struct group *group, size_t first)
{
    const struct run run = {.members = &group->members[first], .n = 1};
    size_t n = 1;

    while (first + n < group->n && run.members[n].stripe == run.members->stripe &&
           wr_hash_equal(run.members[n].hash, run.members->hash)) {
        n++;
    }
    return (struct run){.members = run.members, .n = n};
}

static bool is_first_of_stripe(const struct group *group, size_t i)
{
    return i == 0 || group->members[i].stripe != group->members[i - 1].stripe;
}

static void enter_all(const struct group *group, const struct wr_now *now) WR_UNCHECKED
{
    for (size_t i = 0; i < group->n; i++) {
        if (is_first_of_stripe(group, i)) {
            wr_stripe_enter(group->members[i].stripe, now, group->events);
        }
    }
}

static void leave_all(const struct group *group) WR_UNCHECKED
{
    for (size_t i = 0; i < group->n; i++) {
        if (is_first_of_stripe(group, i)) {
            wr_stripe_leave(group->members[i].stripe, group->events);
        }
    }
}

static uint64_t hits_of(const struct run *run)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < run->n; i++) {
        const struct wr_take *const take = run->members[i].take;

        if (!take->is_refund) {
            sum = take->hits > WR_COUNT_MAX - sum ? WR_COUNT_MAX : sum + take->hits;
        }
    }
    return sum;
}

static void judge_locked(struct group *group, const struct run *run) WR_UNCHECKED
{
    const uint64_t sum = hits_of(run);

    for (size_t i = 0; i < run->n; i++) {
        struct wr_group_member *const member = &run->members[i];
        const struct wr_take *const take = member->take;

        if (take->is_refund) {
            continue;
        }
        member->judged_hits = group->mode == WR_CHARGE_STOP ? take->hits : sum;
        member->is_over =
            wr_stripe_peek_locked(member->stripe, &member->hash, &take->limit, member->judged_hits)
                .over;
        group->is_refused |=
            member->is_over && (take->is_enforced || group->mode == WR_CHARGE_STOP);
    }
}

/* Whether the take needs a counter when the group is charged. */
static bool needs_place(const struct wr_group_member *member)
{
    const struct wr_take *const take = member->take;

    return !take->is_refund && take->hits > 0 &&
           !(member->is_over && take->limit.count == WR_COUNT_ADMITTED);
}

static void refuse_place(struct group *group, const struct run *run, enum wr_take_answer answer)
{
    for (size_t i = 0; i < run->n; i++) {
        if (needs_place(&run->members[i])) {
            run->members[i].take->answer = answer;
            group->is_refused |= run->members[i].take->is_enforced;
        }
    }
}

/* The limit that the member is charged by when its group is: what does not fit itself is booked,
 * and in stop mode what other hits of its key leave no room for. */
static struct wr_limit limit_as_charged(const struct group *group,
                                        const struct wr_group_member *member)
{
    struct wr_limit limit = member->take->limit;
    const bool is_to_fit = needs_place(member) && !member->is_over;

    if (group->mode == WR_CHARGE_STOP) {
        limit.count = WR_COUNT_ALL;
    } else if (limit.count == WR_COUNT_ALL_OR_NOTHING) {
        limit.count = is_to_fit ? WR_COUNT_ADMITTED : WR_COUNT_ALL;
    }
    return limit;
}

static void reserve_locked(struct group *group, const struct run *run) WR_UNCHECKED
{
    struct wr_group_member *const first = run->members;
    const uint64_t sum = hits_of(run);

    for (size_t i = 0; i < run->n; i++) {
        if (needs_place(&run->members[i])) {
            const struct wr_limit limit = limit_as_charged(group, &run->members[i]);
            const enum wr_take_answer answer = wr_stripe_reserve_locked(
                first->stripe, &first->hash, &limit, sum, group->events, &first->is_kept);

            if (answer != WR_TAKE_DECIDED) {
                refuse_place(group, run, answer);
                return;
            }
        }
    }
}

/* What a take that is over comes to by itself, and leaves: what its kind mends or notes when it
 * refuses. */
static struct wr_verdict refuse_locked(const struct group *group,
                                       const struct wr_group_member *member) WR_UNCHECKED
{
    struct wr_take refused = *member->take;

    refused.hits = member->judged_hits;
    refused.limit.count = WR_COUNT_ADMITTED;
    wr_stripe_charge_locked(member->stripe, &member->hash, &refused, &refused.limit, group->events);
    return refused.verdict;
}

/* What was over stays so, though a refund of the group has made room since. */
static void look_locked(const struct group *group,
                        const struct wr_group_member *member) WR_UNCHECKED
{
    struct wr_take *const take = member->take;

    take->verdict = wr_stripe_peek_locked(member->stripe, &member->hash, &take->limit,
                                          member->is_over ? member->judged_hits : 0);
    if (!member->is_over) {
        return;
    }
    if (take->verdict.over && take->hits > 0) {
        take->verdict = refuse_locked(group, member);
    }
    take->verdict.over = true;
    take->verdict.remaining = 0;
    take->verdict.reset_us = take->verdict.reset_us > 0 ? take->verdict.reset_us : 1;
}

static bool is_charged(const struct group *group, const struct wr_group_member *member)
{
    if (member->take->is_refund || !group->is_refused) {
        return true;
    }
    return group->mode == WR_CHARGE_STOP ? member->is_over
                                         : member->take->limit.count != WR_COUNT_ALL_OR_NOTHING;
}

static void charge_locked(const struct group *group,
                          const struct wr_group_member *member) WR_UNCHECKED
{
    const struct wr_limit limit = limit_as_charged(group, member);

    wr_stripe_charge_locked(member->stripe, &member->hash, member->take, &limit, group->events);
}

static void answer_locked(struct group *group, const struct run *run) WR_UNCHECKED
{
    if (run->members->is_kept) {
        wr_stripe_release_locked(run->members->stripe, &run->members->hash,
                                 &run->members->take->limit);
    }
    for (size_t i = 0; i < run->n; i++) {
        const struct wr_group_member *const member = &run->members[i];

        if (member->take->answer != WR_TAKE_DECIDED) {
            continue;
        }
        if (is_charged(group, member)) {
            charge_locked(group, member);
        } else {
            look_locked(group, member);
        }
    }
}

typedef void (*run_fn)(struct group *group, const struct run *run);

static void for_each_key(struct group *group, run_fn fn)
{
    for (size_t i = 0; i < group->n;) {
        const struct run run = run_of_key(group, i);

        fn(group, &run);
        i += run.n;
    }
}

void wr_group_take(struct wr_group_member *members, size_t n, enum wr_charge_mode mode,
                   const struct wr_now *now, struct wr_stripe_events *events)
{
    struct group group = {.members = members, .n = n, .mode = mode, .events = events};

    for (size_t i = 0; i < n; i++) {
        members[i].take->answer = WR_TAKE_DECIDED;
    }
    enter_all(&group, now);
    for_each_key(&group, judge_locked);
    if (!group.is_refused) {
        for_each_key(&group, reserve_locked);
    }
    for_each_key(&group, answer_locked);
    leave_all(&group);
}
