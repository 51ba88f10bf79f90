/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/rule_set.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/settling.h"
#include "tests/support/failing_malloc.h"
#include "tests/unit/rules/scratch.h"
#include "tests/unit/rules/texts.h"

struct fixture {
    struct scratch scratch;
    const char *paths[1];
    struct wr_load_options options;
    struct wr_rule_set set;
    struct wr_diag diag; /* of the last time */
    struct wr_rule_set_change change;
    struct wr_rules *rules; /* in force */
    int64_t now_us;
};

static void init(struct fixture *fixture)
{
    *fixture = (struct fixture){0};
    scratch_init(&fixture->scratch);
    wr_diag_init(&fixture->diag, 100);
    fixture->paths[0] = fixture->scratch.path;
    fixture->options =
        (struct wr_load_options){.paths = fixture->paths, .n_paths = 1, .bounds = texts_bounds};
    cr_assert_eq(wr_rule_set_init(&fixture->set, &fixture->options, NULL), WR_OK);
}

static void fini(struct fixture *fixture)
{
    wr_rules_release(fixture->rules);
    wr_rule_set_fini(&fixture->set);
    wr_diag_fini(&fixture->diag);
    scratch_fini(&fixture->scratch);
}

static void write_rule(struct fixture *fixture, const char *name, const char *domain,
                       const char *key, unsigned limit)
{
    char text[256];

    (void) snprintf(text, sizeof text,
                    "domain: %s\n"
                    "descriptors: [{key: %s, rate_limit: {unit: hour, requests_per_unit: %u}}]\n",
                    domain, key, limit);
    scratch_replace(&fixture->scratch, name, text);
}

/* Looks and takes all there is. True when there is another snapshot. */
static bool take(struct fixture *fixture)
{
    wr_diag_fini(&fixture->diag);
    wr_diag_init(&fixture->diag, 100);
    fixture->change = (struct wr_rule_set_change){0};
    fixture->now_us += 10000000;
    cr_assert_eq(wr_file_set_look(&fixture->set.files, fixture->now_us, &fixture->diag), WR_OK);
    cr_assert_eq(
        wr_rule_set_take(&fixture->set, fixture->now_us, true, &fixture->diag, &fixture->change),
        WR_OK);
    if (fixture->change.rules == NULL) {
        return false;
    }
    wr_rules_release(fixture->rules);
    fixture->rules = fixture->change.rules;
    return true;
}

/* The limit of a key; -1 when the rule is not there. */
static int64_t limit_of(const struct fixture *fixture, const char *domain, const char *key)
{
    const struct wr_domain *const found = wr_rules_domain(fixture->rules, wr_str_of(domain));
    const struct wr_entry entry = entry_of(key, "v");
    const struct wr_node *const node = found == NULL ? NULL : wr_domain_match(found, &entry, 1);

    return node == NULL || node->n_rules == 0 ? -1 : (int64_t) node->rules->limit.requests;
}

static bool is_noted(const struct fixture *fixture, const char *name, const char *part)
{
    for (const struct wr_note *note = fixture->diag.first; note != NULL; note = note->next) {
        char line[1024];

        wr_note_format(note, line, sizeof line);
        if (strstr(line, name) != NULL && strstr(line, part) != NULL) {
            return true;
        }
    }
    return false;
}

static void assert_sums(const struct fixture *fixture, size_t n_files, size_t n_refused,
                        size_t n_newly)
{
    cr_assert_eq(fixture->change.n_files, n_files, "%zu files", fixture->change.n_files);
    cr_assert_eq(fixture->change.n_refused, n_refused, "%zu refused", fixture->change.n_refused);
    cr_assert_eq(fixture->change.n_newly_refused, n_newly, "%zu newly refused",
                 fixture->change.n_newly_refused);
}

Test(rule_set, a_changed_file_takes_effect)
{
    struct fixture fixture;

    init(&fixture);
    write_rule(&fixture, "a.yaml", "a", "k", 1);
    write_rule(&fixture, "b.yaml", "b", "k", 2);
    cr_assert(take(&fixture));
    write_rule(&fixture, "b.yaml", "b", "k", 3);
    cr_assert(take(&fixture));
    cr_assert_eq(limit_of(&fixture, "a", "k"), 1);
    cr_assert_eq(limit_of(&fixture, "b", "k"), 3);
    assert_sums(&fixture, 2, 0, 0);
    cr_assert_not(take(&fixture));
    fini(&fixture);
}

Test(rule_set, a_bad_file_keeps_its_own_last_good_version)
{
    struct fixture fixture;

    init(&fixture);
    write_rule(&fixture, "a.yaml", "a", "k", 1);
    write_rule(&fixture, "b.yaml", "b", "k", 1);
    cr_assert(take(&fixture));
    scratch_write(&fixture.scratch, "a.yaml", "domain: a\ndescriptors: [{key: k}, {key: k}]\n");
    write_rule(&fixture, "b.yaml", "b", "k", 5);
    cr_assert(take(&fixture));
    cr_assert_eq(limit_of(&fixture, "a", "k"), 1);
    cr_assert_eq(limit_of(&fixture, "b", "k"), 5);
    assert_sums(&fixture, 2, 1, 1);
    cr_assert(is_noted(&fixture, "/a.yaml:2:26: ", "is already defined"));

    /* It is told once. */
    write_rule(&fixture, "b.yaml", "b", "k", 6);
    cr_assert(take(&fixture));
    assert_sums(&fixture, 2, 1, 0);
    cr_assert_eq(fixture.diag.n_errors, 0u);
    cr_assert_eq(limit_of(&fixture, "a", "k"), 1);

    write_rule(&fixture, "a.yaml", "a", "k", 7);
    cr_assert(take(&fixture));
    assert_sums(&fixture, 2, 0, 0);
    cr_assert_eq(limit_of(&fixture, "a", "k"), 7);
    fini(&fixture);
}

Test(rule_set, a_refused_change_alone_makes_no_snapshot)
{
    struct fixture fixture;

    init(&fixture);
    write_rule(&fixture, "a.yaml", "a", "k", 1);
    cr_assert(take(&fixture));
    scratch_write(&fixture.scratch, "a.yaml", "domain: [\n");
    cr_assert_not(take(&fixture));
    assert_sums(&fixture, 1, 1, 1);
    cr_assert_not(take(&fixture));
    assert_sums(&fixture, 1, 1, 0);
    fini(&fixture);
}

Test(rule_set, a_removed_file_takes_its_rules_along)
{
    struct fixture fixture;

    init(&fixture);
    write_rule(&fixture, "a.yaml", "a", "k", 1);
    write_rule(&fixture, "b.yaml", "b", "k", 1);
    cr_assert(take(&fixture));
    scratch_remove(&fixture.scratch, "a.yaml");
    cr_assert(take(&fixture));
    cr_assert_eq(limit_of(&fixture, "a", "k"), -1);
    cr_assert_eq(limit_of(&fixture, "b", "k"), 1);
    scratch_remove(&fixture.scratch, "b.yaml");
    cr_assert(take(&fixture));
    cr_assert_eq(wr_rules_domain_count(fixture.rules), 0u);
    assert_sums(&fixture, 0, 0, 0);
    fini(&fixture);
}

Test(rule_set, a_removed_bad_file_takes_its_last_good_version_along)
{
    struct fixture fixture;

    init(&fixture);
    write_rule(&fixture, "a.yaml", "a", "k", 1);
    write_rule(&fixture, "b.yaml", "b", "k", 1);
    cr_assert(take(&fixture));
    scratch_write(&fixture.scratch, "a.yaml", "domain: [\n");
    cr_assert_not(take(&fixture));
    scratch_remove(&fixture.scratch, "a.yaml");
    cr_assert(take(&fixture));
    cr_assert_eq(limit_of(&fixture, "a", "k"), -1);
    assert_sums(&fixture, 1, 0, 0);
    fini(&fixture);
}

Test(rule_set, files_can_exchange_their_domains)
{
    struct fixture fixture;

    init(&fixture);
    write_rule(&fixture, "a.yaml", "a", "k", 1);
    write_rule(&fixture, "b.yaml", "b", "k", 2);
    cr_assert(take(&fixture));
    write_rule(&fixture, "a.yaml", "b", "k", 3);
    write_rule(&fixture, "b.yaml", "a", "k", 4);
    cr_assert(take(&fixture));
    assert_sums(&fixture, 2, 0, 0);
    cr_assert_eq(limit_of(&fixture, "a", "k"), 4);
    cr_assert_eq(limit_of(&fixture, "b", "k"), 3);
    fini(&fixture);
}

Test(rule_set, a_domain_in_force_wins_over_one_that_comes_whatever_the_order)
{
    struct fixture fixture;

    init(&fixture);
    write_rule(&fixture, "m.yaml", "d", "k", 1);
    cr_assert(take(&fixture));
    write_rule(&fixture, "a.yaml", "d", "k", 2);
    write_rule(&fixture, "z.yaml", "d", "k", 3);
    cr_assert_not(take(&fixture));
    assert_sums(&fixture, 3, 2, 2);
    cr_assert(is_noted(&fixture, "/a.yaml:1:9: ", "m.yaml:1:9"));
    cr_assert(is_noted(&fixture, "/z.yaml:1:9: ", "m.yaml:1:9"));
    cr_assert_eq(limit_of(&fixture, "d", "k"), 1);

    /* Who waits gets in when the way is free, the first in order, without being touched. */
    scratch_remove(&fixture.scratch, "m.yaml");
    cr_assert(take(&fixture));
    assert_sums(&fixture, 2, 1, 0);
    cr_assert_eq(limit_of(&fixture, "d", "k"), 2);
    cr_assert_eq(fixture.diag.n_errors, 0u);
    fini(&fixture);
}

/* b goes for the domain of a, a for that of c, which stays: a gives way, and so must b. */
Test(rule_set, who_gives_way_takes_its_place_back_from_others)
{
    struct fixture fixture;

    init(&fixture);
    write_rule(&fixture, "a.yaml", "a", "k", 1);
    write_rule(&fixture, "b.yaml", "b", "k", 2);
    write_rule(&fixture, "c.yaml", "c", "k", 3);
    cr_assert(take(&fixture));
    write_rule(&fixture, "a.yaml", "c", "k", 4);
    write_rule(&fixture, "b.yaml", "a", "k", 5);
    cr_assert_not(take(&fixture));
    assert_sums(&fixture, 3, 2, 2);
    cr_assert(is_noted(&fixture, "/a.yaml", "c.yaml"));
    cr_assert(is_noted(&fixture, "/b.yaml", "a.yaml"));
    cr_assert_eq(fixture.diag.n_errors, 2u);

    /* With c out of the way both can have what they want. */
    write_rule(&fixture, "c.yaml", "e", "k", 6);
    cr_assert(take(&fixture));
    assert_sums(&fixture, 3, 0, 0);
    cr_assert_eq(limit_of(&fixture, "c", "k"), 4);
    cr_assert_eq(limit_of(&fixture, "a", "k"), 5);
    cr_assert_eq(limit_of(&fixture, "e", "k"), 6);
    fini(&fixture);
}

Test(rule_set, merged_domains_agree_pair_by_pair)
{
    struct fixture fixture;

    init(&fixture);
    fixture.options.merges_domains = true;
    write_rule(&fixture, "m.yaml", "d", "k", 1);
    write_rule(&fixture, "n.yaml", "d", "l", 2);
    cr_assert(take(&fixture));
    write_rule(&fixture, "a.yaml", "d", "k", 3);
    write_rule(&fixture, "n.yaml", "d", "m", 4);
    cr_assert(take(&fixture));
    assert_sums(&fixture, 3, 1, 1);
    cr_assert(is_noted(&fixture, "/a.yaml:2:16: ", "m.yaml:2:16"));
    cr_assert_eq(limit_of(&fixture, "d", "k"), 1);
    cr_assert_eq(limit_of(&fixture, "d", "l"), -1);
    cr_assert_eq(limit_of(&fixture, "d", "m"), 4);
    fini(&fixture);
}

static void write_pairs(struct fixture *fixture, const char *name, const char *first,
                        const char *second, unsigned limit)
{
    char text[256];

    (void) snprintf(text, sizeof text,
                    "domain: d\n"
                    "descriptors:\n"
                    "- {key: %s, rate_limit: {unit: hour, requests_per_unit: %u}}\n"
                    "- {key: %s, rate_limit: {unit: hour, requests_per_unit: %u}}\n",
                    first, limit, second, limit);
    scratch_replace(&fixture->scratch, name, text);
}

/* m holds k. a wants k and l, and stays out; b wanted l behind it, and is in nobody's way. */
Test(rule_set, who_was_refused_because_of_one_that_is_out_comes_in)
{
    struct fixture fixture;

    init(&fixture);
    fixture.options.merges_domains = true;
    write_rule(&fixture, "m.yaml", "d", "k", 1);
    cr_assert(take(&fixture));
    write_pairs(&fixture, "a.yaml", "k", "l", 2);
    write_pairs(&fixture, "b.yaml", "l", "o", 3);
    write_pairs(&fixture, "c.yaml", "o", "p", 4);
    cr_assert(take(&fixture));
    assert_sums(&fixture, 4, 2, 2);
    cr_assert_eq(limit_of(&fixture, "d", "k"), 1);
    cr_assert_eq(limit_of(&fixture, "d", "l"), 3);
    cr_assert_eq(limit_of(&fixture, "d", "p"), -1);

    /* Nothing is noted of who came in. */
    cr_assert(is_noted(&fixture, "/a.yaml:3:4: ", "m.yaml"));
    cr_assert(is_noted(&fixture, "/c.yaml:3:4: ", "b.yaml"));
    cr_assert_not(is_noted(&fixture, "/b.yaml:3:4: ", ""));
    cr_assert_eq(fixture.diag.n_errors, 2u);
    cr_assert_not(take(&fixture));
    fini(&fixture);
}

/* z is refused because of a, which stays out, and its old text pushes b out: once z is in, so is b,
 * in the round behind. */
Test(rule_set, who_comes_in_makes_room_for_more)
{
    struct fixture fixture;

    init(&fixture);
    fixture.options.merges_domains = true;
    write_rule(&fixture, "m.yaml", "d", "k", 1);
    write_rule(&fixture, "z.yaml", "d", "q", 1);
    cr_assert(take(&fixture));
    write_pairs(&fixture, "a.yaml", "k", "l", 2);
    write_pairs(&fixture, "b.yaml", "q", "r", 3);
    write_pairs(&fixture, "z.yaml", "l", "s", 4);
    cr_assert(take(&fixture));
    assert_sums(&fixture, 4, 1, 1);
    cr_assert_eq(limit_of(&fixture, "d", "k"), 1);
    cr_assert_eq(limit_of(&fixture, "d", "l"), 4);
    cr_assert_eq(limit_of(&fixture, "d", "q"), 3);
    cr_assert_eq(limit_of(&fixture, "d", "r"), 3);
    cr_assert_eq(fixture.diag.n_errors, 1u);
    fini(&fixture);
}

Test(rule_set, without_a_good_file_the_rules_stay)
{
    struct fixture fixture;

    init(&fixture);
    write_rule(&fixture, "a.yaml", "a", "k", 1);
    cr_assert(take(&fixture));

    /* A file renamed and spoilt in one go. */
    scratch_remove(&fixture.scratch, "a.yaml");
    scratch_write(&fixture.scratch, "b.yaml", "domain: [\n");
    cr_assert_not(take(&fixture));
    assert_sums(&fixture, 1, 1, 1);
    cr_assert_not(take(&fixture));
    write_rule(&fixture, "b.yaml", "b", "k", 2);
    cr_assert(take(&fixture));
    cr_assert_eq(limit_of(&fixture, "a", "k"), -1);
    cr_assert_eq(limit_of(&fixture, "b", "k"), 2);
    fini(&fixture);
}

Test(rule_set, bad_files_at_the_start_are_no_rules_and_an_empty_directory_is)
{
    struct fixture fixture;

    init(&fixture);
    scratch_write(&fixture.scratch, "a.yaml", "domain: [\n");
    cr_assert_not(take(&fixture));
    scratch_remove(&fixture.scratch, "a.yaml");
    cr_assert(take(&fixture));
    cr_assert_eq(wr_rules_domain_count(fixture.rules), 0u);
    fini(&fixture);
}

Test(rule_set, a_missing_directory_is_no_configuration)
{
    struct fixture fixture;

    init(&fixture);
    fixture.paths[0] = "/nonexistent/rules";
    cr_assert_not(take(&fixture));
    fini(&fixture);
}

Test(rule_set, a_file_that_cannot_be_read_keeps_its_last_good_version)
{
    struct fixture fixture;

    init(&fixture);
    write_rule(&fixture, "a.yaml", "a", "k", 1);
    cr_assert(take(&fixture));
    scratch_remove(&fixture.scratch, "a.yaml");
    scratch_link(&fixture.scratch, "a.yaml", "nowhere");
    cr_assert_not(take(&fixture));
    assert_sums(&fixture, 1, 1, 1);
    cr_assert(is_noted(&fixture, "/a.yaml: ", "No such file"));
    fini(&fixture);
}

Test(rule_set, when_strict_a_warning_refuses_its_file)
{
    struct fixture fixture;

    init(&fixture);
    fixture.options.is_strict = true;
    write_rule(&fixture, "a.yaml", "a", "k", 1);
    cr_assert(take(&fixture));
    scratch_write(&fixture.scratch, "a.yaml", "domain: a\nunit: hour\n");
    cr_assert_not(take(&fixture));
    cr_assert_eq(fixture.diag.n_warnings, 0u);
    cr_assert(is_noted(&fixture, "/a.yaml:2:1: error", "has no effect"));
    fini(&fixture);
}

#define STAR "domain: d\ndescriptors: [{key: k, value: '*'}]\n"
#define BEHIND "domain: d\ndescriptors: [{key: k, value: 'a*'}, {key: l}]\n"

Test(rule_set, what_is_hardly_meant_is_told_once_and_is_in_force)
{
    struct fixture fixture;

    init(&fixture);
    scratch_write(&fixture.scratch, "a.yaml",
                  "domain: d\ndescriptors: [{key: k, rate_limit: {unit: hour}}]\n");
    cr_assert(take(&fixture));
    cr_assert(is_noted(&fixture, "/a.yaml:2:36: warning", "has no `requests_per_unit`"));
    assert_sums(&fixture, 1, 0, 0);
    write_rule(&fixture, "b.yaml", "b", "k", 1);
    cr_assert(take(&fixture));
    cr_assert_eq(fixture.diag.n_warnings, 0u);
    fini(&fixture);
}

Test(rule_set, when_strict_a_doubt_refuses_its_file)
{
    struct fixture fixture;

    init(&fixture);
    fixture.options.is_strict = fixture.options.merges_domains = true;
    scratch_write(&fixture.scratch, "a.yaml", "domain: d\n");
    cr_assert(take(&fixture));
    scratch_write(&fixture.scratch, "b.yaml",
                  "domain: d\ndescriptors: [{key: k, value: '*'}, {key: k, value: 'a*'}]\n");
    cr_assert_not(take(&fixture));
    assert_sums(&fixture, 2, 1, 1);
    cr_assert(is_noted(&fixture, "/b.yaml:2:38: error", "is never found"));
    cr_assert_eq(fixture.diag.n_warnings, 0u);
    fini(&fixture);
}

/* Which of the files came first decides nothing: all are in force, and a change of any is taken. */
Test(rule_set, when_strict_a_doubt_between_files_refuses_none)
{
    for (int is_at_once = 0; is_at_once < 2; is_at_once++) {
        struct fixture fixture;

        init(&fixture);
        fixture.options.is_strict = fixture.options.merges_domains = true;
        scratch_write(&fixture.scratch, "b.yaml", BEHIND);
        if (!is_at_once) {
            cr_assert(take(&fixture));
        }
        scratch_write(&fixture.scratch, "a.yaml", STAR);
        cr_assert(take(&fixture));
        assert_sums(&fixture, 2, 0, 0);
        cr_assert(is_noted(&fixture, "/b.yaml:2:16: warning", "is never found"));
        cr_assert_eq(fixture.diag.n_errors, 0u);
        cr_assert_not(take(&fixture));
        cr_assert_eq(fixture.diag.n_warnings, 0u);
        scratch_replace(&fixture.scratch, "a.yaml", "domain: d\n");
        cr_assert(take(&fixture));
        assert_sums(&fixture, 2, 0, 0);
        cr_assert_eq(fixture.diag.n_warnings, 0u);
        fini(&fixture);
    }
}

Test(rule_set, a_copy_draws_no_doubt_beside_its_error)
{
    struct fixture fixture;

    init(&fixture);
    fixture.options.merges_domains = true;
    scratch_write(&fixture.scratch, "a.yaml", STAR);
    scratch_write(&fixture.scratch, "b.yaml", STAR);
    cr_assert(take(&fixture));
    assert_sums(&fixture, 2, 1, 1);
    cr_assert(is_noted(&fixture, "/b.yaml:2:16: error", "is already defined"));
    cr_assert_eq(fixture.diag.n_warnings, 0u);
    fini(&fixture);
}

Test(rule_set, only_what_has_settled_is_taken_unless_all_is)
{
    struct fixture fixture;

    init(&fixture);
    write_rule(&fixture, "a.yaml", "a", "k", 1);
    cr_assert(take(&fixture));
    write_rule(&fixture, "a.yaml", "a", "k", 2);
    scratch_write(&fixture.scratch, "b.yaml", "domain: b\n");
    cr_assert_eq(wr_file_set_look(&fixture.set.files, fixture.now_us, &fixture.diag), WR_OK);
    cr_assert_eq(wr_rule_set_take(&fixture.set, fixture.now_us + WR_FILE_SETTLE_US, false,
                                  &fixture.diag, &fixture.change),
                 WR_OK);
    cr_assert_not_null(fixture.change.rules);
    wr_rules_release(fixture.rules);
    fixture.rules = fixture.change.rules;
    cr_assert_eq(limit_of(&fixture, "a", "k"), 2);
    cr_assert_eq(wr_rules_domain_count(fixture.rules), 1u);
    cr_assert(take(&fixture));
    cr_assert_eq(wr_rules_domain_count(fixture.rules), 2u);
    fini(&fixture);
}

/* Stops at the question behind the next `*context`. */
static bool is_stopping(void *context)
{
    size_t *const n_left = context;

    *n_left -= *n_left > 0;
    return *n_left == 0;
}

/* However early it is to stop, nothing is taken, nothing leaks, and the next time goes well. */
Test(rule_set, a_take_ends_before_its_next_file_when_it_is_to_stop)
{
    size_t n_stopped = 0;
    bool is_whole = false;

    for (size_t n = 1; !is_whole; n++) {
        struct fixture fixture;
        struct wr_rule_set_change change = {0};
        size_t n_left = SIZE_MAX;
        const struct wr_rule_set_hooks hooks = {.is_stopping = is_stopping, .context = &n_left};

        init(&fixture);
        wr_rule_set_fini(&fixture.set);
        cr_assert_eq(wr_rule_set_init(&fixture.set, &fixture.options, &hooks), WR_OK);
        write_rule(&fixture, "a.yaml", "a", "k", 1);
        cr_assert(take(&fixture));
        write_rule(&fixture, "a.yaml", "a", "k", 2);
        write_rule(&fixture, "b.yaml", "b", "k", 3);
        cr_assert_eq(wr_file_set_look(&fixture.set.files, 0, &fixture.diag), WR_OK);
        n_left = n;

        const enum wr_err err = wr_rule_set_take(&fixture.set, 0, true, &fixture.diag, &change);

        n_left = SIZE_MAX;
        is_whole = err == WR_OK;
        n_stopped += err == WR_ERR_SYSTEM;
        cr_assert_eq(change.rules != NULL, is_whole, "%zu", n);
        wr_rules_release(change.rules);
        cr_assert_eq(take(&fixture), !is_whole, "%zu", n);
        fini(&fixture);
    }
    cr_assert_eq(n_stopped, 3u, "before each file and behind them");
}

/* However early memory runs out, nothing is taken, nothing leaks, and the next time goes well. */
Test(rule_set, memory_that_runs_out_takes_nothing)
{
    size_t n_failed = 0;
    bool is_whole = false;

    for (size_t n = 0; !is_whole; n++) {
        struct fixture fixture;
        struct wr_rule_set_change change = {0};

        init(&fixture);
        fixture.options.merges_domains = true;
        write_rule(&fixture, "a.yaml", "a", "k", 1);
        write_rule(&fixture, "b.yaml", "a", "l", 1);
        cr_assert(take(&fixture));
        write_rule(&fixture, "a.yaml", "a", "k", 2);
        write_rule(&fixture, "c.yaml", "a", "l", 3);
        cr_assert_eq(wr_file_set_look(&fixture.set.files, 0, &fixture.diag), WR_OK);
        failing_malloc_start(n);

        const enum wr_err err = wr_rule_set_take(&fixture.set, 0, true, &fixture.diag, &change);

        failing_malloc_stop();
        is_whole = err == WR_OK;
        n_failed += !is_whole;
        cr_assert_eq(change.rules != NULL, is_whole, "%zu", n);
        wr_rules_release(change.rules);
        cr_assert_eq(take(&fixture), !is_whole, "%zu", n);
        cr_assert_eq(fixture.change.n_refused, 1u, "%zu", n);
        fini(&fixture);
    }
    cr_assert_gt(n_failed, 10u, "%zu", n_failed);
}
