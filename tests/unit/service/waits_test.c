/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of any layers that do not warm up, whatever each of them counts: who is refused and waits as told
 * passes, and who comes sooner does not. In memory, and by the script of the Redis store. A climb
 * that another layer's wait undoes is warned of: rules/idle_check.h.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/decision.h"
#include "store/local_store.h"
#include "tests/support/rules_text.h"
#include "tests/support/script_bed.h"
#include "tests/support/taker.h"

#define MAX_CALLS 12
#define SECOND INT64_C(1000000)

/* A rule, and the calls that came to it, by when. */
struct story {
    char yaml[1024];
    int64_t at_us[MAX_CALLS];
    size_t n_calls;
    int64_t finest_us; /* no shorter difference is told */
};

struct desk {
    struct wr_script_bed *bed; /* NULL: in memory */
    struct wr_settings settings;
    struct wr_metrics *metrics;
    struct wr_metrics_block *block;
};

static unsigned draw(unsigned *seed, unsigned n)
{
    *seed = *seed * 1664525U + 1013904223U;
    return (*seed >> 8) % n;
}

/* Times are told in whole seconds, unless all windows are shorter. */
static void draw_story(struct story *story, unsigned seed)
{
    static const char *const windows[] = {"300ms", "900ms", "1s", "2s", "5s", "20s", "1m"};
    static const char *const algorithms[] = {"fixed_window", "sliding_window", "sliding_buckets",
                                             "sliding_log", "token_bucket"};
    static const char *const counts[] = {"", ", count: all", ", count: admitted"};
    const bool is_short = draw(&seed, 4) == 0;
    const size_t n_layers = 2 + draw(&seed, 3);
    size_t len = (size_t) snprintf(story->yaml, sizeof story->yaml,
                                   "domain: d\ndescriptors:\n  - key: k\n    limits:\n");

    for (size_t i = 0; i < n_layers; i++) {
        const char *const window = windows[draw(&seed, is_short ? 2 : 7)];
        const char *const algorithm = algorithms[draw(&seed, 5)];

        len += (size_t) snprintf(
            story->yaml + len, sizeof story->yaml - len,
            "      - {window: %s, requests_per_unit: %u, algorithm: %s, name: n%zu%s}\n", window,
            1 + draw(&seed, 4), algorithm, i, counts[draw(&seed, 3)]);
    }
    story->finest_us = is_short ? 1 : SECOND;
    story->at_us[0] = WR_SCRIPT_BED_DAY + draw(&seed, 3000000);
    story->n_calls = 2 + draw(&seed, MAX_CALLS - 2);
    for (size_t i = 1; i < story->n_calls; i++) {
        static const unsigned most_us[] = {1, 50000, 1000000, 8000000};

        story->at_us[i] = story->at_us[i - 1] + draw(&seed, most_us[draw(&seed, 4)]);
    }
}

/* The calls of a story on counters that were never hit, and the rules that they ask. */
struct telling {
    struct desk *desk;
    struct wr_rules *rules;
    struct wr_backend *backend; /* in memory */
};

static void open_telling(struct telling *telling, struct desk *desk, const struct story *story)
{
    *telling = (struct telling){.desk = desk, .rules = wr_rules_of_text(story->yaml)};
    if (desk->bed != NULL) {
        cr_assert_str_eq(wr_script_bed_ask(desk->bed, "FLUSHALL"), "OK");
    } else {
        cr_assert_eq(wr_local_store_new(&(struct wr_local_store_options){.max_counters = 64},
                                        &telling->backend),
                     WR_OK);
    }
}

static void close_telling(struct telling *telling)
{
    wr_backend_destroy(telling->backend);
    wr_rules_release(telling->rules);
}

static void charge(struct telling *telling, struct wr_batch *batch, int64_t now_us)
{
    if (telling->desk->bed != NULL) {
        wr_script_bed_send(telling->desk->bed, batch->takes, batch->n_takes, batch->mode, now_us,
                           0);
        cr_assert_eq(wr_script_bed_receive(telling->desk->bed, batch->takes, batch->n_takes),
                     WR_REDIS_SCRIPT_ANSWERED, "%s", telling->desk->bed->text);
        return;
    }

    struct wr_taker taker = {.backend = telling->backend,
                             .metrics = telling->desk->block,
                             .now = {.wall_us = now_us, .mono_us = now_us}};

    wr_taker_batch(&taker, batch->takes, batch->n_takes);
}

/* How long the caller is told to wait; 0 when it passes. */
static int64_t ask(struct telling *telling, int64_t now_us)
{
    struct wr_entry entry = {WR_STR("k"), WR_STR("v")};
    struct wr_descriptor descriptor = {.entries = &entry, .n_entries = 1};
    const struct wr_request request = {
        .domain = WR_STR("d"), .descriptors = &descriptor, .n_descriptors = 1};
    struct wr_log_limit line = {0};
    struct wr_arena arena;
    struct wr_decision *decision = NULL;
    struct wr_response response;
    struct wr_failure failure;

    wr_arena_init(&arena, 4096);

    const struct wr_decision_frame frame = {
        .settings = &telling->desk->settings,
        .rules = telling->rules,
        .arena = &arena,
        .metrics = telling->desk->block,
        .store_line = &line,
        .now = {.wall_us = now_us, .mono_us = now_us},
        .deadline_mono_us = INT64_MAX,
    };

    cr_assert_eq(wr_decision_begin(&frame, &request, &decision, &failure), WR_OK);
    charge(telling, wr_decision_batch(decision), now_us);
    cr_assert_eq(wr_decision_finish(decision, &response, &failure), WR_OK);

    const bool is_over = response.statuses[0].code == WR_CODE_OVER_LIMIT;
    const int64_t reset_us = response.statuses[0].reset_us;

    cr_assert(!is_over || reset_us > 0);
    wr_arena_fini(&arena);
    return is_over ? reset_us : 0;
}

/* Asks `n` times as the story has it; what the last comes to. */
static int64_t tell(struct telling *telling, const struct story *story, size_t n)
{
    int64_t wait_us = 0;

    for (size_t i = 0; i < n; i++) {
        wait_us = ask(telling, story->at_us[i]);
    }
    return wait_us;
}

/* What a caller is told who comes back so long after the n-th call. */
static int64_t come_back(struct desk *desk, const struct story *story, size_t n, int64_t after_us)
{
    struct telling telling;

    open_telling(&telling, desk, story);
    (void) tell(&telling, story, n);

    const int64_t wait_us = ask(&telling, story->at_us[n - 1] + after_us);

    close_telling(&telling);
    return wait_us;
}

/* Returns how many refusals were looked at. */
static size_t check_story(struct desk *desk, const struct story *story, unsigned seed)
{
    size_t n_refused = 0;

    for (size_t n = 2; n <= story->n_calls; n++) {
        struct telling telling;

        open_telling(&telling, desk, story);

        const int64_t wait_us = tell(&telling, story, n);

        close_telling(&telling);
        if (wait_us == 0) {
            continue;
        }
        n_refused++;
        cr_assert_eq(come_back(desk, story, n, wait_us), 0,
                     "story %u, call %zu, refused after %" PRId64 " us as told\n%s", seed, n,
                     wait_us, story->yaml);
        cr_assert(wait_us <= story->finest_us ||
                      come_back(desk, story, n, wait_us - story->finest_us) > 0,
                  "story %u, call %zu, passes before %" PRId64 " us\n%s", seed, n, wait_us,
                  story->yaml);
    }
    return n_refused;
}

static void check_stories(struct wr_script_bed *bed, unsigned n_stories)
{
    struct desk desk = {.bed = bed, .metrics = wr_metrics_new()};
    size_t n_refused = 0;

    desk.block = wr_metrics_block_new(desk.metrics);
    for (unsigned seed = 0; seed < n_stories; seed++) {
        struct story story;

        draw_story(&story, seed);
        n_refused += check_story(&desk, &story, seed);
    }
    wr_metrics_destroy(desk.metrics);
    cr_assert_gt(n_refused, n_stories);
}

Test(waits, of_layers_in_memory_are_as_long_as_needed)
{
    check_stories(NULL, 2000);
}

Test(waits, of_layers_by_the_script_are_as_long_as_needed)
{
    struct wr_script_bed bed;

    cr_assert(wr_script_bed_init(&bed));
    check_stories(&bed, 150);
    wr_script_bed_fini(&bed);
}
