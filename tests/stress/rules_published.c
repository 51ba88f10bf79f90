/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots published one after another while workers match: each sees whole snapshots only, in
 * order and up to the last, and what it holds on to stays as it was. Every other reference that is
 * kept is given back by another thread.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "rules/current.h"
#include "tests/stress/crew.h"
#include "tests/support/rules_text.h"

enum {
    WORKERS = 6,
    SNAPSHOTS = 2000,
    WAIT_EVERY = 10, /* of so many snapshots one is seen before the next is published */
    KEEP_EVERY = 64, /* of so many matches one keeps its snapshot until the next that does */
};

struct shared {
    struct wr_current_rules current;
    _Atomic(struct wr_rules *) handed; /* owned reference that whoever takes it gives back */
    _Atomic uint64_t newest_seen;
    _Atomic uint64_t n_matches, n_changes, n_kept;
};

/* Both rules of a snapshot have its number as their limit, and the tree has a level more or less.
 */
static struct wr_rules *make_rules(unsigned number)
{
    char yaml[512];
    const int len = snprintf(yaml, sizeof yaml,
                             "domain: d\n"
                             "descriptors:\n"
                             "  - {key: k, rate_limit: {unit: hour, requests_per_unit: %u}}\n"
                             "  - {key: p, value: 'v%u*'}\n"
                             "  - {key: p, descriptors: [{key: q, value: 'a*b',\n"
                             "     rate_limit: {unit: day, requests_per_unit: %u, name: n%u}}]}\n",
                             number, number % 7, number, number);

    wr_check(len > 0 && (size_t) len < sizeof yaml, "a text of %d bytes", len);
    return wr_rules_of_text(yaml);
}

/* The number of the snapshot, which both rules agree on. */
static uint64_t number_of(const struct wr_rules *rules)
{
    static const struct wr_entry one[] = {{WR_STR("k"), WR_STR("x")}};
    static const struct wr_entry two[] = {{WR_STR("p"), WR_STR("w")},
                                          {WR_STR("q"), WR_STR("a and b")}};
    const struct wr_domain *const domain = wr_rules_domain(rules, wr_str_of("d"));

    wr_check(domain != NULL, "no domain");

    const struct wr_node *const first = wr_domain_match(domain, one, 1);
    const struct wr_node *const second = wr_domain_match(domain, two, 2);

    wr_check(first != NULL && second != NULL, "a rule was not found");
    wr_check(first->rules->limit.requests == second->rules->limit.requests,
             "parts of two snapshots");
    return first->rules->limit.requests;
}

static void publish_all(struct shared *shared)
{
    for (unsigned number = 1; number <= SNAPSHOTS; number++) {
        struct wr_rules *rules = make_rules(number);

        wr_current_rules_publish(&shared->current, &rules);
        wr_check(rules == NULL, "the reference was left with the publisher");
        while (number % WAIT_EVERY == 0 && atomic_load(&shared->newest_seen) < number) {
            (void) sched_yield();
        }
    }
}

/* A snapshot that a worker holds on to while others come into force. */
struct kept {
    struct wr_rules *rules;
    uint64_t number;
};

static void give_back(struct shared *shared, struct kept *kept, bool by_another)
{
    struct wr_rules *rules = kept->rules;

    if (rules == NULL) {
        return;
    }
    wr_check(number_of(rules) == kept->number, "a kept snapshot changed");
    if (by_another) {
        rules = atomic_exchange_explicit(&shared->handed, rules, memory_order_acq_rel);
    }
    wr_rules_release(rules);
    atomic_fetch_add(&shared->n_kept, 1);
}

static void match_all(struct shared *shared)
{
    struct wr_rules_view view = {0};
    struct kept kept = {0};
    uint64_t latest = 0;

    for (uint64_t i = 0; latest < SNAPSHOTS; i++) {
        struct wr_rules *const rules = wr_rules_view_renew(&view, &shared->current);
        const uint64_t number = rules == NULL ? 0 : number_of(rules);

        wr_check(number >= latest, "%" PRIu64 " after %" PRIu64, number, latest);
        if (number != latest) {
            atomic_fetch_add(&shared->n_changes, 1);
            atomic_store(&shared->newest_seen, number);
            latest = number;
        }
        if (rules != NULL && i % KEEP_EVERY == 0) {
            give_back(shared, &kept, i % (2 * KEEP_EVERY) == 0);
            kept = (struct kept){.rules = wr_rules_acquire(rules), .number = number};
        }
        atomic_fetch_add(&shared->n_matches, 1);
    }
    give_back(shared, &kept, false);
    wr_rules_view_fini(&view);
}

static void run(size_t number, void *context)
{
    if (number == WORKERS) {
        publish_all(context);
    } else {
        match_all(context);
    }
}

int main(void)
{
    static struct shared shared;

    wr_current_rules_init(&shared.current);
    wr_crew_run(WORKERS + 1, run, &shared);
    wr_rules_release(atomic_load(&shared.handed));
    wr_current_rules_fini(&shared.current);
    wr_check(atomic_load(&shared.n_changes) >= SNAPSHOTS / WAIT_EVERY, "a test that shows little");
    printf("rules_published: %d workers, %d snapshots, %" PRIu64 " matches saw %" PRIu64
           " changes; %" PRIu64 " held on to\n",
           WORKERS, SNAPSHOTS, atomic_load(&shared.n_matches), atomic_load(&shared.n_changes),
           atomic_load(&shared.n_kept));
    return EXIT_SUCCESS;
}
