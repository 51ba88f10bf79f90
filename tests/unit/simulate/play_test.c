/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/play.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define S(seconds) (INT64_C(1000000) * (seconds))
#define DAY S(86400)

static const char rules[] =
    "domain: d\n"
    "descriptors:\n"
    "  - key: free\n"
    "  - key: a\n"
    "    descriptors:\n"
    "      - key: b\n"
    "        value: x*\n"
    "        rate_limit: {unit: minute, requests_per_unit: 60}\n"
    "  - {key: first, rate_limit: {unit: minute, requests_per_unit: 60, align: first_hit}}\n"
    "  - {key: month, rate_limit: {unit: month, requests_per_unit: 60, align: calendar}}\n"
    "  - {key: odd, rate_limit: {window: 11m, requests_per_unit: 60}}\n"
    "  - {key: warm, rate_limit: {unit: minute, requests_per_unit: 60, algorithm: token_bucket}}\n"
    "  - {key: never, rate_limit: {unlimited: true}}\n"
    "  - {key: log, limits: [{unit: minute, requests_per_unit: 60, algorithm: sliding_log},\n"
    "     {unit: hour, requests_per_unit: 600}]}\n"
    "  - key: trial\n"
    "    shadow_mode: true\n"
    "    quota_mode: true\n"
    "    limits:\n"
    "      - {unit: minute, requests_per_unit: 60}\n"
    "      - {unit: hour, requests_per_unit: 70}\n";

struct bed {
    struct wr_sim_subject subject;
    struct wr_sim_scene scene;
    uint64_t attempts_left;
    struct wr_diag diag;
};

/* A file with `text`, whose name is to be unlinked. */
static void write_file(char *path, const char *text)
{
    FILE *const file = fdopen(mkstemp(path), "w");

    cr_assert_not_null(file);
    cr_assert_geq(fputs(text, file), 0);
    cr_assert_eq(fclose(file), 0);
}

static bool find(struct wr_sim_subject *subject, const char *descriptor)
{
    char path[] = "/tmp/weir-simulate-XXXXXX";
    FILE *const err = tmpfile();

    write_file(path, rules);

    const bool is_found = wr_sim_subject_init(subject, path, descriptor, err) == WR_OK;

    cr_assert_eq(fclose(err), 0);
    cr_assert_eq(unlink(path), 0);
    return is_found;
}

/* Of the descriptor, measured against its own first limit. */
static void begin(struct bed *bed, const char *descriptor)
{
    cr_assert(find(&bed->subject, descriptor), "%s", descriptor);

    const struct wr_limit *const limit = &bed->subject.node->rules[0].limit;

    bed->attempts_left = 1000000;
    bed->scene = (struct wr_sim_scene){
        .subject = &bed->subject,
        .against = {.hits = limit->requests, .per_us = limit->length_us},
        .cost = wr_sim_subject_cost(&bed->subject),
        .attempts_left = &bed->attempts_left,
    };
    bed->scene.windows = wr_sim_windows_of(limit, &bed->scene.against);
    wr_diag_init(&bed->diag, 1);
}

static void end(struct bed *bed)
{
    wr_sim_subject_fini(&bed->subject);
    wr_diag_fini(&bed->diag);
}

static void describe(const struct wr_sim_subject *subject, char *text, size_t size)
{
    FILE *const out = fmemopen(text, size, "w");

    cr_assert_not_null(out);
    wr_sim_subject_describe(subject, out);
    cr_assert_eq(fclose(out), 0);
}

Test(simulate_subject, what_is_played)
{
    static const struct {
        const char *descriptor, *text; /* NULL: there is none */
    } rows[] = {
        {NULL, "a=any,b=x: 60 in 1m by fixed_window"},
        {"a=1,b=xyz", "a=1,b=xyz: 60 in 1m by fixed_window"},
        {"first=", "first=: 60 in 1m by fixed_window aligned to first_hit"},
        {"warm=1", "warm=1: 60 in 1m by token_bucket with burst 6"},
        {"trial=1",
         "trial=1: 60 in 1m by fixed_window and 70 in 1h by fixed_window, played as if enforced"},
        {"free=1", NULL},
        {"never=1", NULL},
        {"a=1", NULL},
        {"nobody=1", NULL},
        {"a", NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_sim_subject subject;
        char text[200] = "";
        const bool is_found = find(&subject, rows[i].descriptor);

        cr_assert_eq(is_found, rows[i].text != NULL, "row %zu", i);
        if (is_found) {
            describe(&subject, text, sizeof text);
            cr_assert_str_eq(text, rows[i].text);
        }
        wr_sim_subject_fini(&subject);
    }
}

Test(simulate_play, loads)
{
    static const struct {
        const char *descriptor;
        struct wr_load_spec spec;
        uint64_t admitted, refused, trailing;
    } rows[] = {
        {"a=1,b=x", {.kind = WR_LOAD_STEADY, .rate = {1, S(1)}}, 300, 0, 60},
        {"a=1,b=x", {.kind = WR_LOAD_STEADY, .rate = {2, S(1)}, .duration_us = S(60)}, 60, 60, 60},
        {"a=1,b=x", {.kind = WR_LOAD_BOUNDARY}, 120, 0, 120},
        {"a=1,b=x", {.kind = WR_LOAD_BOUNDARY, .hits = 70}, 120, 20, 120},
        {"a=1,b=x", {.kind = WR_LOAD_BOUNDARY, .hits = 30, .gap_us = S(1)}, 60, 0, 60},
        {"a=1,b=x", {.kind = WR_LOAD_BOUNDARY, .gap_us = S(60)}, 120, 0, 60},
        {"a=1,b=x", {.kind = WR_LOAD_ADVERSARY, .duration_us = S(120)}, 120, 1001, 120},
        {"first=1", {.kind = WR_LOAD_BOUNDARY}, 120, 0, 119},
        {"first=1", {.kind = WR_LOAD_ADVERSARY, .duration_us = S(120)}, 120, 1875, 119},
        {"month=1", {.kind = WR_LOAD_BOUNDARY}, 120, 0, 120},
        {"odd=1", {.kind = WR_LOAD_BOUNDARY}, 120, 0, 120},
        {"trial=1", {.kind = WR_LOAD_BOUNDARY}, 70, 50, 70},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_played played;
        struct bed bed;

        begin(&bed, rows[i].descriptor);
        cr_assert_eq(wr_sim_play(&bed.scene, &rows[i].spec, &bed.diag, &played), WR_OK);
        cr_assert_eq(played.n_admitted, rows[i].admitted, "row %zu: %lu", i,
                     (unsigned long) played.n_admitted);
        cr_assert_eq(played.n_refused, rows[i].refused, "row %zu: %lu", i,
                     (unsigned long) played.n_refused);

        const uint64_t most = wr_passed_worst(&played.passed, bed.scene.against.per_us).hits;

        cr_assert_eq(most, rows[i].trailing, "row %zu: %lu", i, (unsigned long) most);
        wr_played_fini(&played);
        end(&bed);
    }
}

Test(simulate_play, ends_with_the_attempts_of_the_simulation)
{
    static const struct {
        const char *descriptor;
        struct wr_load_spec spec;
        uint64_t left_after;
    } rows[] = {
        {NULL, {.kind = WR_LOAD_STEADY, .rate = {2, S(1)}}, 500}, /* seen before */
        {NULL, {.kind = WR_LOAD_POISSON, .rate = {2, S(1)}, .seed = 1}, 500},
        {NULL, {.kind = WR_LOAD_BOUNDARY, .hits = 300}, 500},
        {NULL, {.kind = WR_LOAD_ADVERSARY}, 500},
        {NULL, {.kind = WR_LOAD_ADVERSARY, .duration_us = S(60)}, 0},
        {"trial=v", {.kind = WR_LOAD_STEADY, .rate = {1, S(1)}}, 500},
        {"trial=v", {.kind = WR_LOAD_BOUNDARY, .hits = 150}, 500},
        {"log=v", {.kind = WR_LOAD_BOUNDARY, .hits = 51}, 500},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_played played;
        struct bed bed;

        begin(&bed, rows[i].descriptor);
        bed.attempts_left = 500;
        cr_assert_eq(wr_sim_play(&bed.scene, &rows[i].spec, &bed.diag, &played), WR_ERR_TOO_LARGE,
                     "row %zu", i);
        cr_assert_eq(bed.attempts_left, rows[i].left_after, "row %zu: %lu", i,
                     (unsigned long) bed.attempts_left);
        wr_played_fini(&played);
        end(&bed);
    }
}

Test(simulate_play, just_before_a_window_ends_is_within_it)
{
    static const struct {
        int64_t per_us, first_us;
    } rows[] = {{100, 99}, {S(60), S(60) - 60000}};
    const struct wr_load_spec spec = {.kind = WR_LOAD_BOUNDARY, .hits = 1};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_played played;
        struct bed bed;

        begin(&bed, NULL);
        bed.scene.against = (struct wr_rate){.hits = 1, .per_us = rows[i].per_us};
        bed.scene.windows =
            wr_sim_windows_of(&bed.subject.node->rules[0].limit, &bed.scene.against);
        cr_assert_eq(wr_sim_play(&bed.scene, &spec, &bed.diag, &played), WR_OK);
        cr_assert_eq(played.passed.n, 2u, "row %zu", i);
        cr_assert_eq(played.passed.items[0].at_us, rows[i].first_us, "row %zu", i);
        cr_assert_eq(played.passed.items[1].at_us, rows[i].per_us, "row %zu", i);
        wr_played_fini(&played);
        end(&bed);
    }
}

Test(simulate_play, a_seed_always_means_the_same)
{
    const struct wr_load_spec spec = {.kind = WR_LOAD_POISSON, .rate = {3, S(1)}, .seed = 5};
    struct wr_load_spec other = spec;
    struct wr_played played[3];
    struct bed bed;

    other.seed = 6;
    begin(&bed, NULL);
    cr_assert_eq(wr_sim_play(&bed.scene, &spec, &bed.diag, &played[0]), WR_OK);
    cr_assert_eq(wr_sim_play(&bed.scene, &spec, &bed.diag, &played[1]), WR_OK);
    cr_assert_eq(wr_sim_play(&bed.scene, &other, &bed.diag, &played[2]), WR_OK);
    cr_assert_eq(played[0].n_refused, played[1].n_refused);
    cr_assert_neq(played[0].passed.items[0].at_us, played[2].passed.items[0].at_us);
    /* 3 a second for five minutes: 900, give or take five times their root. */
    cr_assert(played[0].n_admitted + played[0].n_refused > 750 &&
              played[0].n_admitted + played[0].n_refused < 1050);
    for (size_t i = 0; i < 3; i++) {
        wr_played_fini(&played[i]);
    }
    end(&bed);
}

Test(simulate_play, traces)
{
    static const struct {
        const char *descriptor, *text;
        enum wr_err err;
        uint64_t admitted, refused;
        int64_t duration_us;
        bool is_dated;
    } rows[] = {
        {NULL, "0,50\n59.9,10\n60,60\n60.000001\n", WR_OK, 120, 1, S(60) + 2, false},
        {NULL, "0.5\n0.5\n", WR_OK, 2, 0, S(1) / 2 + 1, false},
        /* from the middle of a minute of the clock on */
        {NULL, "1767225650,60\n1767225659.9\n1767225660,60\n", WR_OK, 120, 1, S(10) + 1, true},
        {"month=1", "2026-01-31T23:59:59Z,60\n2026-01-31T23:59:59.999999Z\n2026-02-01T00:00:00Z\n",
         WR_OK, 61, 1, S(1) + 1, true},
        {NULL, "1\n2,x\n", WR_ERR_MALFORMED, 1, 0, S(1) + 1, false},
        {NULL, "", WR_ERR_MALFORMED, 0, 0, 0, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[] = "/tmp/weir-simulate-XXXXXX";
        const struct wr_load_spec spec = {.kind = WR_LOAD_CSV, .path = path};
        struct wr_played played;
        struct bed bed;

        write_file(path, rows[i].text);
        begin(&bed, rows[i].descriptor);
        cr_assert_eq(wr_sim_play(&bed.scene, &spec, &bed.diag, &played), rows[i].err, "row %zu", i);
        cr_assert_eq(played.n_admitted, rows[i].admitted, "row %zu", i);
        cr_assert_eq(played.n_refused, rows[i].refused, "row %zu", i);
        cr_assert_eq(played.duration_us, rows[i].duration_us, "row %zu", i);
        cr_assert_eq(played.is_dated, rows[i].is_dated, "row %zu", i);
        cr_assert_eq(bed.diag.n_errors, rows[i].err == WR_OK ? 0 : 1, "row %zu", i);
        wr_played_fini(&played);
        end(&bed);
        cr_assert_eq(unlink(path), 0);
    }
}
