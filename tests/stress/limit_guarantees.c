/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each algorithm promises, against an adversary: the most that is admitted in any window of a
 * limit's length, wherever it begins (of a calendar, in each of its windows), and in any instant, a
 * hundredth of that. Limits, lengths, bursts and buckets are random, and so is what rules have
 * besides: a limit that changes meanwhile, warm-up, headroom, several layers. That the bounds are
 * reached, or nearly, shows that the search is not blind.
 *
 *     stress_limit_guarantees [SEED [SCHEDULES]]
 *
 * Without a seed it plays the same schedules each time, and then some that nobody has seen before.
 * What breaks a promise is named by seed and number, and found again with that seed.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "tests/stress/crew.h"
#include "tests/stress/guarantees/search.h"

enum {
    SCHEDULES = 100000, /* of each algorithm */
    NEW_SCHEDULES = SCHEDULES / 10,
    OF_LAYERS = 10, /* one in so many; they take long */
    MEMBERS = 2,
};

#define KNOWN_SEED UINT64_C(1)
#define REACHED 0.95 /* of a bound, at least, by the schedules that are played each time */
#define N_SEARCHES (WR_SUBJECTS + 1)

/* So many schedules of a seed. */
struct part {
    uint64_t seed;
    uint32_t n_schedules;
};

struct shared {
    struct part parts[2];
    struct wr_search searches[N_SEARCHES];
    atomic_size_t n_begun; /* searches that somebody has taken up; they are in no other order */
};

static uint64_t draw_seed(void)
{
    uint64_t seed;

    wr_check(getrandom(&seed, sizeof seed, 0) == (ssize_t) sizeof seed, "no random seed");
    return seed;
}

static void plan(struct shared *shared, int argc, char **argv)
{
    shared->parts[0] = (struct part){KNOWN_SEED, SCHEDULES};
    if (argc > 1) {
        shared->parts[0].seed = strtoull(argv[1], NULL, 10);
    } else {
        shared->parts[1] = (struct part){draw_seed(), NEW_SCHEDULES};
    }
    if (argc > 2) {
        shared->parts[0].n_schedules = (uint32_t) strtoul(argv[2], NULL, 10);
    }
    for (size_t i = 0; i < N_SEARCHES; i++) {
        const struct wr_subject *const subject = i < WR_SUBJECTS ? &wr_subjects[i] : NULL;

        shared->searches[i] = (struct wr_search){
            .name = subject != NULL ? subject->name : "layers",
            .subject = subject,
        };
    }
}

/* Begins with the last, which takes longest. */
static void run(size_t number, void *context)
{
    struct shared *const shared = context;
    size_t n_begun;

    (void) number;
    while ((n_begun = atomic_fetch_add_explicit(&shared->n_begun, 1, memory_order_relaxed)) <
           N_SEARCHES) {
        struct wr_search *const search = &shared->searches[N_SEARCHES - 1 - n_begun];
        const uint32_t divisor = search->subject != NULL ? 1 : OF_LAYERS;

        for (size_t i = 0; i < 2; i++) {
            wr_search_run(search, shared->parts[i].seed, shared->parts[i].n_schedules / divisor);
        }
    }
}

static void print_worst(const char *bound, int width, const struct wr_worst *worst)
{
    printf(" %-*s %6.2f L, %5.3f of bound  ", width, bound, worst->of_limit, worst->of_bound);
}

static void print_finding(const struct wr_search *search, size_t variant)
{
    const struct wr_subject *const subject = search->subject;
    const struct wr_finding *const finding = &search->findings[variant];

    printf("%-24s %-18s", search->name, wr_variants[variant]);
    print_worst(subject != NULL ? subject->window_text : "of each", 16, &finding->in_window);
    print_worst(subject != NULL ? subject->instant_text : "of each", 25, &finding->in_instant);
    printf("%9" PRIu32 "  ", finding->n_schedules);
    if (subject != NULL && subject->n_words > 0) {
        printf("%" PRIu32 " words\n", subject->n_words);
    } else {
        printf("%s\n", subject != NULL ? "grows" : "of each");
    }
}

static void check_sight(const struct wr_search *search, size_t variant)
{
    const struct wr_finding *const finding = &search->findings[variant];
    const bool is_plain = variant == 0 && search->subject != NULL;
    const double least = is_plain ? search->subject->reached : REACHED;

    wr_check(finding->in_window.of_bound >= least && finding->in_instant.of_bound >= REACHED,
             "%s, %s: a search that is blind", search->name, wr_variants[variant]);
}

int main(int argc, char **argv)
{
    static struct shared shared;

    plan(&shared, argc, argv);
    printf("%" PRIu32 " schedules of seed %" PRIu64 " and %" PRIu32 " of seed %" PRIu64
           ", of layers a tenth; L is the limit in force, an instant a hundredth of its window\n",
           shared.parts[0].n_schedules, shared.parts[0].seed, shared.parts[1].n_schedules,
           shared.parts[1].seed);
    (void) fflush(stdout);
    wr_crew_run(MEMBERS, run, &shared);
    printf("%-24s %-18s %-16s %-26s  %-25s %-26s  %s  %s\n", "algorithm", "limit", "window",
           "worst found", "instant", "worst found", "schedules", "state");
    for (size_t i = 0; i < N_SEARCHES; i++) {
        for (size_t k = 0; k < WR_VARIANTS; k++) {
            print_finding(&shared.searches[i], k);
            if (argc == 1) {
                check_sight(&shared.searches[i], k);
            }
        }
    }
    return EXIT_SUCCESS;
}
