/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/reload.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "rules/settling.h"
#include "tests/support/wait_for.h"
#include "tests/unit/rules/scratch.h"
#include "tests/unit/rules/texts.h"

#define WAIT_S 60
#define N_SOON 20
#define NEVER_US (INT64_C(3600) * 1000000)

struct fixture {
    struct scratch scratch;
    char rules[SCRATCH_PATH_MAX];
    const char *paths[1];
    struct wr_load_options load;
    struct wr_current_rules current;
    struct wr_rules_view view;
    struct wr_metrics *metrics;
    struct wr_reload_options options;
    struct wr_reload *reload;
    sem_t published;
};

static void on_rules(void *context)
{
    struct fixture *const fixture = context;

    cr_assert_eq(sem_post(&fixture->published), 0);
}

static void init(struct fixture *fixture)
{
    *fixture = (struct fixture){0};
    scratch_init(&fixture->scratch);
    fixture->paths[0] = scratch_path(&fixture->scratch, "rules", fixture->rules);
    fixture->load =
        (struct wr_load_options){.paths = fixture->paths, .n_paths = 1, .bounds = texts_bounds};
    wr_current_rules_init(&fixture->current);
    fixture->metrics = wr_metrics_new();
    cr_assert_not_null(fixture->metrics);
    cr_assert_eq(sem_init(&fixture->published, 0, 0), 0);
    fixture->options = (struct wr_reload_options){
        .load = &fixture->load,
        .current = &fixture->current,
        .metrics = fixture->metrics,
        .on_rules = on_rules,
        .context = fixture,
        .poll_us = NEVER_US,
    };
}

/* Writes file `name` in place. */
static void write_text(struct fixture *fixture, unsigned limit, const char *name)
{
    char text[128];

    (void) snprintf(text, sizeof text,
                    "domain: d\n"
                    "descriptors: [{key: k, rate_limit: {unit: hour, requests_per_unit: %u}}]\n",
                    limit);
    scratch_write(&fixture->scratch, name, text);
}

static void write_limit(struct fixture *fixture, unsigned limit)
{
    write_text(fixture, limit, ".new");
    scratch_age(&fixture->scratch, ".new");
    scratch_rename(&fixture->scratch, ".new", "rules/a.yaml");
}

/* With one file in place and in force, the thread at work. */
static void start(struct fixture *fixture)
{
    scratch_make_directory(&fixture->scratch, "rules");
    write_limit(fixture, 1);
    cr_assert_eq(wr_reload_new(&fixture->options, &fixture->reload), WR_OK);
    cr_assert_eq(wr_reload_load(fixture->reload), WR_OK);
    cr_assert_eq(sem_trywait(&fixture->published), 0);
    cr_assert_eq(wr_reload_start(fixture->reload), WR_OK);
}

static void fini(struct fixture *fixture)
{
    wr_reload_destroy(fixture->reload);
    wr_rules_view_fini(&fixture->view);
    wr_current_rules_fini(&fixture->current);
    wr_metrics_destroy(fixture->metrics);
    cr_assert_eq(sem_destroy(&fixture->published), 0);
    scratch_fini(&fixture->scratch);
}

/* The limit in force; -1 when the rule is not there, -2 when there are no rules. */
static int64_t limit_now(struct fixture *fixture)
{
    const struct wr_rules *const rules = wr_rules_view_renew(&fixture->view, &fixture->current);

    if (rules == NULL) {
        return -2;
    }

    const struct wr_domain *const domain = wr_rules_domain(rules, wr_str_of("d"));
    const struct wr_entry entry = entry_of("k", "v");
    const struct wr_node *const node = domain == NULL ? NULL : wr_domain_match(domain, &entry, 1);

    return node == NULL ? -1 : (int64_t) node->rules->limit.requests;
}

static struct timespec deadline(void)
{
    struct timespec end;

    cr_assert_eq(clock_gettime(CLOCK_REALTIME, &end), 0);
    end.tv_sec += WAIT_S;
    return end;
}

/* Waits for publications until the limit in force is `want`. */
static void await_limit(struct fixture *fixture, int64_t want)
{
    const struct timespec end = deadline();

    while (limit_now(fixture) != want) {
        const int failed = sem_timedwait(&fixture->published, &end);

        cr_assert(failed == 0 || errno == EINTR, "limit %d is not in force", (int) want);
    }
}

Test(reload, the_first_load_takes_all_at_once)
{
    struct fixture fixture;

    init(&fixture);
    start(&fixture);
    cr_assert_eq(limit_now(&fixture), 1);
    cr_assert_eq(wr_metrics_sum(fixture.metrics, WR_METRIC_CONFIG_LOADS), 1u);
    cr_assert_eq(wr_metrics_sum(fixture.metrics, WR_METRIC_CONFIG_ERRORS), 0u);
    fini(&fixture);
}

Test(reload, a_change_is_told_and_taken)
{
    struct fixture fixture;

    init(&fixture);
    start(&fixture);
    for (unsigned limit = 2; limit < 6; limit++) {
        write_limit(&fixture, limit);
        await_limit(&fixture, limit);
    }
    cr_assert_eq(wr_metrics_sum(fixture.metrics, WR_METRIC_CONFIG_LOADS), 5u);
    fini(&fixture);
}

/* None is given the time of a file that may be half-written. A busy machine may take as long now
 * and then. */
Test(reload, a_file_renamed_into_place_is_taken_soon_however_new_it_is)
{
    struct fixture fixture;
    int n_soon = 0;

    init(&fixture);
    start(&fixture);
    for (unsigned limit = 2; n_soon < N_SOON && limit < 10 * N_SOON; limit++) {
        const int64_t begin_us = wr_clock_mono_us();

        write_text(&fixture, limit, "rules/.new");
        scratch_rename(&fixture.scratch, "rules/.new", "rules/a.yaml");
        await_limit(&fixture, limit);
        n_soon += wr_clock_mono_us() - begin_us < WR_FILE_SETTLE_WRITTEN_US;
    }
    cr_assert_eq(n_soon, N_SOON);
    fini(&fixture);
}

Test(reload, a_load_ends_once_a_stop_is_asked_for)
{
    struct fixture fixture;

    init(&fixture);
    start(&fixture);
    wr_reload_stop(fixture.reload);
    write_limit(&fixture, 2);
    cr_assert_eq(wr_reload_load(fixture.reload), WR_ERR_SYSTEM);
    cr_assert_eq(limit_now(&fixture), 1);
    fini(&fixture);
}

Test(reload, a_poll_finds_what_no_event_told)
{
    struct fixture fixture;

    init(&fixture);
    fixture.options.poll_us = 10000;
    fixture.options.polls_only = true;
    start(&fixture);
    write_limit(&fixture, 2);
    await_limit(&fixture, 2);
    fini(&fixture);
}

Test(reload, a_look_can_be_asked_for)
{
    struct fixture fixture;

    init(&fixture);
    fixture.options.polls_only = true;
    start(&fixture);
    write_limit(&fixture, 2);
    wr_reload_look(fixture.reload);
    await_limit(&fixture, 2);
    fini(&fixture);
}

Test(reload, a_file_written_in_place_is_taken)
{
    struct fixture fixture;

    init(&fixture);
    start(&fixture);
    scratch_write(&fixture.scratch, "rules/a.yaml",
                  "domain: d\ndescriptors: [{key: k, rate_limit: {unit: day}}]\n");
    await_limit(&fixture, 0);
    fini(&fixture);
}

Test(reload, a_bad_file_is_counted_and_the_others_take_effect)
{
    struct fixture fixture;

    init(&fixture);
    start(&fixture);
    scratch_write(&fixture.scratch, ".bad", "domain: [\n");
    scratch_rename(&fixture.scratch, ".bad", "rules/b.yaml");
    WAIT_FOR(wr_metrics_sum(fixture.metrics, WR_METRIC_CONFIG_ERRORS) > 0);
    write_limit(&fixture, 2);
    await_limit(&fixture, 2);
    write_limit(&fixture, 3);
    await_limit(&fixture, 3);
    cr_assert_eq(wr_metrics_sum(fixture.metrics, WR_METRIC_CONFIG_ERRORS), 1u);
    fini(&fixture);
}

Test(reload, the_link_of_a_config_map_is_turned)
{
    struct fixture fixture;

    init(&fixture);
    start(&fixture);
    scratch_make_directory(&fixture.scratch, "rules/..v1");
    scratch_rename(&fixture.scratch, "rules/a.yaml", "rules/..v1/a.yaml");
    scratch_link(&fixture.scratch, "rules/..data", "..v1");
    scratch_link(&fixture.scratch, "rules/a.yaml", "..data/a.yaml");
    scratch_make_directory(&fixture.scratch, "rules/..v2");
    scratch_write(&fixture.scratch, "rules/..v2/a.yaml",
                  "domain: d\ndescriptors: [{key: k, rate_limit: {unit: day}}]\n");
    scratch_link(&fixture.scratch, "rules/..data_tmp", "..v2");
    scratch_rename(&fixture.scratch, "rules/..data_tmp", "rules/..data");
    scratch_remove(&fixture.scratch, "rules/..v1");
    await_limit(&fixture, 0);
    fini(&fixture);
}

Test(reload, a_directory_replaced_by_another_takes_over)
{
    struct fixture fixture;

    init(&fixture);
    start(&fixture);
    scratch_remove(&fixture.scratch, "rules");
    scratch_make_directory(&fixture.scratch, "rules");
    write_limit(&fixture, 2);
    await_limit(&fixture, 2);
    write_limit(&fixture, 3);
    await_limit(&fixture, 3);
    fini(&fixture);
}

Test(reload, rules_that_come_late_are_waited_for)
{
    struct fixture fixture;

    init(&fixture);
    cr_assert_eq(wr_reload_new(&fixture.options, &fixture.reload), WR_OK);
    cr_assert_eq(wr_reload_load(fixture.reload), WR_ERR_NOT_FOUND);
    cr_assert_eq(limit_now(&fixture), -2);
    cr_assert_eq(wr_reload_start(fixture.reload), WR_OK);
    scratch_make_directory(&fixture.scratch, "rules");
    write_limit(&fixture, 2);
    await_limit(&fixture, 2);
    fini(&fixture);
}

Test(reload, an_empty_directory_that_comes_late_is_a_configuration)
{
    struct fixture fixture;

    init(&fixture);
    cr_assert_eq(wr_reload_new(&fixture.options, &fixture.reload), WR_OK);
    cr_assert_eq(wr_reload_load(fixture.reload), WR_ERR_NOT_FOUND);
    cr_assert_eq(wr_reload_start(fixture.reload), WR_OK);
    scratch_make_directory(&fixture.scratch, "rules");
    await_limit(&fixture, -1);
    fini(&fixture);
}

Test(reload, files_below_the_directory_are_watched_too)
{
    struct fixture fixture;

    init(&fixture);
    fixture.load.is_recursive = true;
    start(&fixture);
    scratch_make_directory(&fixture.scratch, "rules/sub");
    scratch_rename(&fixture.scratch, "rules/a.yaml", "rules/sub/a.yaml");
    scratch_append(&fixture.scratch, "rules/sub/a.yaml", "  - {key: l}\n");
    scratch_write(&fixture.scratch, "rules/sub/a.yaml",
                  "domain: d\ndescriptors: [{key: k, rate_limit: {unit: day}}]\n");
    await_limit(&fixture, 0);
    fini(&fixture);
}

Test(reload, it_stops_and_can_be_destroyed_without_a_start)
{
    struct fixture fixture;

    init(&fixture);
    start(&fixture);
    wr_reload_stop(fixture.reload);
    wr_reload_stop(fixture.reload);
    wr_reload_destroy(fixture.reload);
    cr_assert_eq(wr_reload_new(&fixture.options, &fixture.reload), WR_OK);
    fini(&fixture);
}
