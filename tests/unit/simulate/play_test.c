/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/play.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define S(seconds) (INT64_C(1000000) * (seconds))

static const char rules[] = "domain: d\n"
                            "descriptors:\n"
                            "  - key: free\n"
                            "  - key: a\n"
                            "    descriptors:\n"
                            "      - key: b\n"
                            "        value: x*\n"
                            "        rate_limit: {unit: minute, requests_per_unit: 60}\n";

static const struct wr_rate against = {.hits = 60, .per_us = S(60)};

/* A file with `text`, whose name is to be unlinked. */
static void write_file(char *path, const char *text)
{
    const int fd = mkstemp(path);
    FILE *const file = fdopen(fd, "w");

    cr_assert_not_null(file);
    cr_assert_geq(fputs(text, file), 0);
    cr_assert_eq(fclose(file), 0);
}

static void begin(struct wr_sim_subject *subject)
{
    char path[] = "/tmp/weir-simulate-XXXXXX";

    write_file(path, rules);
    cr_assert(wr_sim_subject_init(subject, path, stderr));
    cr_assert_eq(unlink(path), 0);
}

Test(simulate_play, finds_the_first_limit)
{
    struct wr_sim_subject subject;

    begin(&subject);
    cr_assert_eq(subject.request.descriptors[0].n_entries, 2);
    cr_assert_eq(subject.node->rules[0].limit.requests, 60);
    wr_sim_subject_fini(&subject);
}

Test(simulate_play, a_fixed_window)
{
    static const struct {
        struct wr_load_spec spec;
        uint64_t admitted, refused, trailing;
    } rows[] = {
        {{.kind = WR_LOAD_STEADY, .rate = {1, S(1)}}, 300, 0, 60},
        {{.kind = WR_LOAD_STEADY, .rate = {2, S(1)}, .duration_us = S(60)}, 60, 60, 60},
        {{.kind = WR_LOAD_BOUNDARY}, 120, 0, 120},
        {{.kind = WR_LOAD_BOUNDARY, .hits = 70}, 120, 20, 120},
        {{.kind = WR_LOAD_BOUNDARY, .hits = 30, .gap_us = S(1)}, 60, 0, 60},
        {{.kind = WR_LOAD_ADVERSARY, .duration_us = S(120)}, 120, 1061, 120},
    };
    struct wr_sim_subject subject;

    begin(&subject);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_played played;
        uint64_t line = 0;

        cr_assert_eq(wr_sim_play(&subject, &rows[i].spec, &against, &played, &line), WR_OK);
        cr_assert_eq(played.n_admitted, rows[i].admitted, "row %zu: %lu", i,
                     (unsigned long) played.n_admitted);
        if (rows[i].spec.kind != WR_LOAD_ADVERSARY) {
            cr_assert_eq(played.n_refused, rows[i].refused, "row %zu", i);
        }
        cr_assert_eq(wr_passed_worst(&played.passed, S(60)).hits, rows[i].trailing, "row %zu", i);
        wr_played_fini(&played);
    }
    wr_sim_subject_fini(&subject);
}

Test(simulate_play, a_seed_always_means_the_same)
{
    const struct wr_load_spec spec = {.kind = WR_LOAD_POISSON, .rate = {3, S(1)}, .seed = 5};
    struct wr_load_spec other = spec;
    struct wr_sim_subject subject;
    struct wr_played played[3];
    uint64_t line = 0;

    other.seed = 6;
    begin(&subject);
    cr_assert_eq(wr_sim_play(&subject, &spec, &against, &played[0], &line), WR_OK);
    cr_assert_eq(wr_sim_play(&subject, &spec, &against, &played[1], &line), WR_OK);
    cr_assert_eq(wr_sim_play(&subject, &other, &against, &played[2], &line), WR_OK);
    cr_assert_eq(played[0].n_refused, played[1].n_refused);
    cr_assert_neq(played[0].passed.items[0].at_us, played[2].passed.items[0].at_us);
    /* 3 a second for five minutes: 900, give or take five times their root. */
    cr_assert(played[0].n_admitted + played[0].n_refused > 750 &&
              played[0].n_admitted + played[0].n_refused < 1050);
    for (size_t i = 0; i < 3; i++) {
        wr_played_fini(&played[i]);
    }
    wr_sim_subject_fini(&subject);
}

Test(simulate_play, traces)
{
    static const struct {
        const char *text;
        enum wr_err err;
        uint64_t admitted, refused, line;
    } rows[] = {
        {"seconds,hits\n0,50\n# later\n\n59.9,10\n60,60\n60.000001\n", WR_OK, 120, 1, 7},
        {"0.5\r\n0.5\r\n", WR_OK, 2, 0, 2},
        {"", WR_OK, 0, 0, 0},
        {"1\n2,x\n", WR_ERR_MALFORMED, 1, 0, 2},
        {"1\n0.5\n", WR_ERR_MALFORMED, 1, 0, 2},
        {"1\nnan\n", WR_ERR_MALFORMED, 1, 0, 2},
        {"0,x\n1\n", WR_ERR_MALFORMED, 0, 0, 1},
        {"1\n2,0\n", WR_ERR_MALFORMED, 1, 0, 2},
    };
    struct wr_sim_subject subject;

    begin(&subject);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[] = "/tmp/weir-simulate-XXXXXX";
        const struct wr_load_spec spec = {.kind = WR_LOAD_CSV, .path = path};
        struct wr_played played;
        uint64_t line = 0;

        write_file(path, rows[i].text);
        cr_assert_eq(wr_sim_play(&subject, &spec, &against, &played, &line), rows[i].err, "row %zu",
                     i);
        cr_assert_eq(played.n_admitted, rows[i].admitted, "row %zu", i);
        cr_assert_eq(played.n_refused, rows[i].refused, "row %zu", i);
        cr_assert_eq(line, rows[i].line, "row %zu", i);
        wr_played_fini(&played);
        cr_assert_eq(unlink(path), 0);
    }
    wr_sim_subject_fini(&subject);
}
