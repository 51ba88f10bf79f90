/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/load.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tests/support/failing_malloc.h"
#include "tests/unit/rules/scratch.h"
#include "tests/unit/rules/texts.h"

struct fixture {
    struct scratch scratch;
    struct wr_diag diag;
    const char *paths[2];
    struct wr_load_options options;
    struct wr_load_result result;
};

static void init(struct fixture *fixture)
{
    scratch_init(&fixture->scratch);
    wr_diag_init(&fixture->diag, 100);
    fixture->paths[0] = fixture->scratch.path;
    fixture->options =
        (struct wr_load_options){.paths = fixture->paths, .n_paths = 1, .bounds = texts_bounds};
    fixture->result = (struct wr_load_result){0};
}

static void load(struct fixture *fixture)
{
    cr_assert_eq(wr_rules_load(&fixture->options, &fixture->diag, &fixture->result), WR_OK);
}

static void fini(struct fixture *fixture)
{
    wr_rules_release(fixture->result.rules);
    wr_diag_fini(&fixture->diag);
    scratch_fini(&fixture->scratch);
}

/* True when a note of that severity is about file `name` and says `part`. */
static bool is_noted(const struct fixture *fixture, enum wr_severity severity, const char *name,
                     const char *part)
{
    for (const struct wr_note *note = fixture->diag.first; note != NULL; note = note->next) {
        char line[1024];

        wr_note_format(note, line, sizeof line);
        if (note->severity == severity && strstr(line, name) != NULL &&
            strstr(line, part) != NULL) {
            return true;
        }
    }
    return false;
}

static bool has_domain(const struct fixture *fixture, const char *name)
{
    return wr_rules_domain(fixture->result.rules, wr_str_of(name)) != NULL;
}

Test(load, an_empty_directory_is_a_configuration)
{
    struct fixture fixture;

    init(&fixture);
    load(&fixture);
    cr_assert_eq(fixture.result.n_files, 0u);
    cr_assert_eq(wr_rules_domain_count(fixture.result.rules), 0u);
    fini(&fixture);
}

Test(load, bad_files_are_left_out_and_the_good_ones_are_in_force)
{
    struct fixture fixture;

    init(&fixture);
    scratch_write(&fixture.scratch, "a.yaml", "domain: a\ndescriptors: [{key: ''}]\n");
    scratch_write(&fixture.scratch, "b.yaml", "domain: b\n");
    scratch_write(&fixture.scratch, "c.yaml", "domain: [\n");
    scratch_make_fifo(&fixture.scratch, "d.yaml");
    scratch_write(&fixture.scratch, "e.txt", "domain: e\n");
    load(&fixture);
    cr_assert_eq(fixture.result.n_files, 4u);
    cr_assert_eq(fixture.result.n_refused, 3u);
    cr_assert(has_domain(&fixture, "b"));
    cr_assert_eq(wr_rules_domain_count(fixture.result.rules), 1u);
    cr_assert(is_noted(&fixture, WR_SEVERITY_ERROR, "/a.yaml:2:16: ", "has no `key`"));
    cr_assert(is_noted(&fixture, WR_SEVERITY_ERROR, "/c.yaml:2:1: ", "not readable"));
    cr_assert(is_noted(&fixture, WR_SEVERITY_ERROR, "/d.yaml: ", "not a regular file"));
    cr_assert(is_noted(&fixture, WR_SEVERITY_WARNING, "/e.txt: ", "only *.yaml and *.yml"));
    fini(&fixture);
}

Test(load, of_one_domain_in_two_files_the_first_in_order_counts)
{
    struct fixture fixture;

    init(&fixture);
    scratch_write(&fixture.scratch, "b.yaml", "domain: d\ndescriptors: []\n");
    scratch_write(&fixture.scratch, "a.yaml",
                  "domain: d\ndescriptors: [{key: k, rate_limit: {unit: day}}]\n");
    load(&fixture);
    cr_assert_eq(fixture.result.n_refused, 1u);
    cr_assert_eq(wr_rules_limit_count(fixture.result.rules), 1u);
    cr_assert(is_noted(&fixture, WR_SEVERITY_ERROR, "/b.yaml:1:9: ", "a.yaml:1:9"));
    fini(&fixture);
}

Test(load, domains_are_merged_when_asked_for)
{
    struct fixture fixture;

    init(&fixture);
    fixture.options.merges_domains = true;
    scratch_write(&fixture.scratch, "a.yaml",
                  "domain: d\ndescriptors: [{key: k, rate_limit: {unit: day}}]\n");
    scratch_write(&fixture.scratch, "b.yaml",
                  "domain: d\ndescriptors: [{key: l, rate_limit: {unit: day}}]\n");
    scratch_write(&fixture.scratch, "c.yaml", "domain: d\ndescriptors: [{key: k}]\n");
    load(&fixture);
    cr_assert_eq(fixture.result.n_refused, 1u);
    cr_assert_eq(wr_rules_limit_count(fixture.result.rules), 2u);
    cr_assert_eq(wr_rules_domain_count(fixture.result.rules), 1u);
    cr_assert(is_noted(&fixture, WR_SEVERITY_ERROR, "/c.yaml:2:16: ", "a.yaml:2:16"));
    fini(&fixture);
}

Test(load, when_strict_a_warning_refuses_its_file)
{
    struct fixture fixture;

    init(&fixture);
    scratch_write(&fixture.scratch, "a.yaml", "domain: a\nunit: hour\n");
    scratch_write(&fixture.scratch, "b.yaml", "domain: b\n");
    scratch_write(&fixture.scratch, "c.yaml",
                  "domain: c\n"
                  "descriptors: [{key: k, rate_limit: {unlimited: true, unit: fortnight}}]\n");
    load(&fixture);
    cr_assert_eq(fixture.result.n_refused, 0u);
    cr_assert_eq(fixture.diag.n_warnings, 2u);
    wr_rules_release(fixture.result.rules);
    wr_diag_fini(&fixture.diag);
    wr_diag_init(&fixture.diag, 100);
    fixture.options.is_strict = true;
    load(&fixture);
    cr_assert_eq(fixture.result.n_refused, 2u);
    cr_assert_eq(fixture.diag.n_warnings, 0u);
    cr_assert_eq(fixture.diag.n_errors, 2u);
    cr_assert(has_domain(&fixture, "b"));
    cr_assert(is_noted(&fixture, WR_SEVERITY_ERROR, "/a.yaml:2:1: ", "has no effect"));
    fini(&fixture);
}

Test(load, a_file_beyond_the_bound_is_refused)
{
    struct fixture fixture;

    init(&fixture);
    fixture.options.bounds.max_file_bytes = 20;
    scratch_write(&fixture.scratch, "a.yaml", "domain: a\n#123456789");
    scratch_write(&fixture.scratch, "b.yaml", "domain: b\n#1234567890");
    load(&fixture);
    cr_assert(has_domain(&fixture, "a"));
    cr_assert(is_noted(&fixture, WR_SEVERITY_ERROR, "/b.yaml: ", "larger than 20 bytes"));
    cr_assert(is_noted(&fixture, WR_SEVERITY_ERROR, "/b.yaml: ", "--max-rules-file-bytes"));
    fini(&fixture);
}

Test(load, several_paths_are_taken_in_their_order)
{
    char path[SCRATCH_PATH_MAX];
    struct fixture fixture;

    init(&fixture);
    scratch_make_directory(&fixture.scratch, "sub");
    scratch_write(&fixture.scratch, "sub/z.yaml", "domain: d\n");
    scratch_write(&fixture.scratch, "a.yaml", "domain: d\n");
    fixture.paths[1] = fixture.paths[0];
    fixture.paths[0] = scratch_path(&fixture.scratch, "sub", path);
    fixture.options.n_paths = 2;
    load(&fixture);
    cr_assert_eq(fixture.result.n_files, 2u);
    cr_assert(is_noted(&fixture, WR_SEVERITY_ERROR, "/a.yaml:1:9: ", "z.yaml:1:9"));
    fini(&fixture);
}

Test(load, a_path_that_is_not_there_is_an_error)
{
    const char *const path[] = {"/nonexistent/rules"};
    struct fixture fixture;

    init(&fixture);
    fixture.options.paths = path;
    cr_assert_eq(wr_rules_load(&fixture.options, &fixture.diag, &fixture.result), WR_ERR_NOT_FOUND);
    cr_assert_null(fixture.result.rules);
    cr_assert(is_noted(&fixture, WR_SEVERITY_ERROR, "/nonexistent/rules: ", ""));
    fini(&fixture);
}

/* However early memory runs out, nothing leaks and nothing is half in force: there is no result, or
 * the file counts as refused, with an error. */
Test(load, memory_that_runs_out_is_no_half_configuration)
{
    struct fixture fixture;
    size_t n_failed = 0;
    bool is_whole = false;

    init(&fixture);
    scratch_write(
        &fixture.scratch, "a.yaml",
        "domain: d\n"
        "descriptors:\n"
        "  - &a {key: k, value: 'x*', metadata: {a: [1, {b: c}]}, rate_limit: {unit: day}}\n"
        "  - {<<: [*a], key: l, rate_limit: {name: n, replaces: [{name: m}]}}\n"
        "  - {key: m, descriptors: [{key: n, rate_limit: {unlimited: true}}]}\n");
    for (size_t n = 0; !is_whole; n++) {
        struct wr_load_result result = {0};

        wr_diag_fini(&fixture.diag);
        wr_diag_init(&fixture.diag, 100);
        failing_malloc_start(n);

        const enum wr_err err = wr_rules_load(&fixture.options, &fixture.diag, &result);

        failing_malloc_stop();
        if (err != WR_OK) {
            cr_assert_eq(err, WR_ERR_NO_MEMORY, "%zu", n);
            cr_assert_null(result.rules);
        } else if (result.n_refused > 0) {
            cr_assert_gt(fixture.diag.n_errors, 0u, "%zu", n);
            cr_assert_eq(wr_rules_limit_count(result.rules), 0u, "%zu", n);
        } else {
            cr_assert_eq(wr_rules_limit_count(result.rules), 3u, "%zu", n);
            is_whole = true;
        }
        n_failed += !is_whole;
        wr_rules_release(result.rules);
    }
    cr_assert_gt(n_failed, 10u, "%zu", n_failed);
    fini(&fixture);
}
