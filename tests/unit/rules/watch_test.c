/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/watch.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>

#include "tests/unit/rules/scratch.h"

struct fixture {
    struct scratch scratch;
    struct wr_watch *watch;
    char rules[SCRATCH_PATH_MAX];
};

/* Watches rules/ and the way to it. True when something new is watched. */
static bool renew(struct fixture *fixture)
{
    wr_watch_begin(fixture->watch);
    wr_watch_add_way(fixture->watch, fixture->rules);
    wr_watch_add_directory(fixture->watch, fixture->rules);
    return wr_watch_end(fixture->watch);
}

static void init(struct fixture *fixture)
{
    scratch_init(&fixture->scratch);
    (void) scratch_path(&fixture->scratch, "rules", fixture->rules);
    cr_assert_eq(wr_watch_new(&fixture->watch), WR_OK);
}

static void init_with_directory(struct fixture *fixture)
{
    init(fixture);
    scratch_make_directory(&fixture->scratch, "rules");
    cr_assert(renew(fixture));
    cr_assert_not(wr_watch_drain(fixture->watch));
    cr_assert_not(wr_watch_is_partial(fixture->watch));
}

static void fini(struct fixture *fixture)
{
    wr_watch_destroy(fixture->watch);
    scratch_fini(&fixture->scratch);
}

/* The system queues an event before the call that causes it returns. */
static bool has_event(struct fixture *fixture)
{
    return wr_watch_drain(fixture->watch);
}

Test(watch, changes_in_a_directory_are_told)
{
    struct fixture fixture;
    struct pollfd polled = {.events = POLLIN};

    init_with_directory(&fixture);
    polled.fd = wr_watch_fd(fixture.watch);
    cr_assert_eq(poll(&polled, 1, 0), 0);
    scratch_write(&fixture.scratch, "rules/a.yaml", "one");
    cr_assert_eq(poll(&polled, 1, 0), 1);
    cr_assert(has_event(&fixture));
    cr_assert_not(has_event(&fixture));
    scratch_append(&fixture.scratch, "rules/a.yaml", "two");
    cr_assert(has_event(&fixture));
    scratch_rename(&fixture.scratch, "rules/a.yaml", "rules/b.yaml");
    cr_assert(has_event(&fixture));
    scratch_link(&fixture.scratch, "rules/..data", "..v1");
    cr_assert(has_event(&fixture));
    scratch_remove(&fixture.scratch, "rules/b.yaml");
    cr_assert(has_event(&fixture));
    fini(&fixture);
}

Test(watch, what_is_the_same_grows_nothing)
{
    struct fixture fixture;

    init_with_directory(&fixture);
    cr_assert_not(renew(&fixture));
    scratch_write(&fixture.scratch, "rules/a.yaml", "one");
    cr_assert(has_event(&fixture));
    cr_assert_not(renew(&fixture));
    fini(&fixture);
}

Test(watch, others_on_the_way_do_not_matter)
{
    struct fixture fixture;

    init_with_directory(&fixture);
    scratch_write(&fixture.scratch, "other", "text");
    scratch_make_directory(&fixture.scratch, "directory");
    cr_assert_not(has_event(&fixture));
    fini(&fixture);
}

Test(watch, a_directory_that_appears_late_is_noticed)
{
    struct fixture fixture;

    init(&fixture);
    (void) renew(&fixture);
    cr_assert_not(wr_watch_is_partial(fixture.watch));
    scratch_make_directory(&fixture.scratch, "rules");
    cr_assert(has_event(&fixture));
    cr_assert(renew(&fixture));
    scratch_write(&fixture.scratch, "rules/a.yaml", "one");
    cr_assert(has_event(&fixture));
    fini(&fixture);
}

Test(watch, a_directory_that_is_replaced_is_noticed)
{
    struct fixture fixture;

    init_with_directory(&fixture);
    scratch_make_directory(&fixture.scratch, "new");
    scratch_rename(&fixture.scratch, "rules", "old");
    scratch_rename(&fixture.scratch, "new", "rules");
    cr_assert(has_event(&fixture));
    cr_assert(renew(&fixture));
    (void) has_event(&fixture);
    scratch_write(&fixture.scratch, "old/a.yaml", "one");
    cr_assert_not(has_event(&fixture));
    scratch_write(&fixture.scratch, "rules/a.yaml", "one");
    cr_assert(has_event(&fixture));
    fini(&fixture);
}

Test(watch, a_link_on_the_way_that_is_turned_is_noticed)
{
    struct fixture fixture;

    init(&fixture);
    scratch_make_directory(&fixture.scratch, "v1");
    scratch_make_directory(&fixture.scratch, "v1/rules");
    scratch_make_directory(&fixture.scratch, "v2");
    scratch_make_directory(&fixture.scratch, "v2/rules");
    scratch_link(&fixture.scratch, "root", "v1");
    (void) scratch_path(&fixture.scratch, "root/rules", fixture.rules);
    cr_assert(renew(&fixture));
    scratch_link(&fixture.scratch, "next", "v2");
    cr_assert_not(has_event(&fixture));
    scratch_rename(&fixture.scratch, "next", "root");
    cr_assert(has_event(&fixture));
    cr_assert(renew(&fixture));
    scratch_write(&fixture.scratch, "v2/rules/a.yaml", "one");
    cr_assert(has_event(&fixture));
    fini(&fixture);
}

Test(watch, a_single_file_is_watched_by_the_way_to_it)
{
    struct fixture fixture;

    init(&fixture);
    scratch_write(&fixture.scratch, "rules", "one");
    cr_assert(renew(&fixture));
    scratch_append(&fixture.scratch, "rules", "two");
    cr_assert(has_event(&fixture));
    scratch_write(&fixture.scratch, "another", "one");
    cr_assert_not(has_event(&fixture));
    fini(&fixture);
}

static bool has_moved_in(struct fixture *fixture, const char *name)
{
    char path[SCRATCH_PATH_MAX];

    (void) wr_watch_drain(fixture->watch);
    return wr_watch_has_moved_in(fixture->watch, scratch_path(&fixture->scratch, name, path));
}

static void replace_at_once(const struct scratch *scratch)
{
    scratch_write(scratch, "rules/.new", "two");
    scratch_rename(scratch, "rules/.new", "rules/a.yaml");
}

static void replace_and_write(const struct scratch *scratch)
{
    replace_at_once(scratch);
    scratch_append(scratch, "rules/a.yaml", "three");
}

static void make_anew(const struct scratch *scratch)
{
    scratch_remove(scratch, "rules/a.yaml");
    scratch_write(scratch, "rules/a.yaml", "two");
}

static void make_anew_and_replace(const struct scratch *scratch)
{
    make_anew(scratch);
    replace_at_once(scratch);
}

static void replace_from_elsewhere(const struct scratch *scratch)
{
    scratch_write(scratch, "new", "two");
    scratch_rename(scratch, "new", "rules/a.yaml");
}

static void replace_another(const struct scratch *scratch)
{
    scratch_write(scratch, "rules/b.yaml", "two");
    scratch_rename(scratch, "rules/b.yaml", "rules/c.yaml");
}

static void replace_and_turn_directory(const struct scratch *scratch)
{
    replace_at_once(scratch);
    scratch_rename(scratch, "rules", "old");
    scratch_make_directory(scratch, "rules");
    scratch_write(scratch, "rules/a.yaml", "three");
}

Test(watch, what_was_moved_in_and_nothing_else_is_known_to_be_whole)
{
    static const struct {
        const char *what;
        void (*act)(const struct scratch *);
        bool is_known;
    } rows[] = {
        {"replaced", replace_at_once, true},
        {"replaced from elsewhere", replace_from_elsewhere, true},
        {"replaced and written on", replace_and_write, false},
        {"made anew", make_anew, false},
        {"made anew and replaced", make_anew_and_replace, false},
        {"another one", replace_another, false},
        {"replaced in another directory", replace_and_turn_directory, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture fixture;

        init_with_directory(&fixture);
        scratch_write(&fixture.scratch, "rules/a.yaml", "one");
        cr_assert(has_event(&fixture));
        for (size_t look = 0; look < 3; look++) {
            wr_watch_begin_look(fixture.watch);
        }
        cr_assert_not(has_moved_in(&fixture, "rules/a.yaml"), "%s", rows[i].what);
        rows[i].act(&fixture.scratch);
        cr_assert_eq(has_moved_in(&fixture, "rules/a.yaml"), rows[i].is_known, "%s", rows[i].what);
        fini(&fixture);
    }
}

/* A file may have been read, and then replaced, in the look before. */
Test(watch, how_a_file_came_is_known_for_two_looks)
{
    struct fixture fixture;

    init_with_directory(&fixture);
    scratch_write(&fixture.scratch, "rules/b.yaml", "one");
    replace_at_once(&fixture.scratch);
    cr_assert(has_moved_in(&fixture, "rules/a.yaml"));
    wr_watch_begin_look(fixture.watch);
    cr_assert(has_moved_in(&fixture, "rules/a.yaml"));
    scratch_rename(&fixture.scratch, "rules/a.yaml", "rules/b.yaml");
    cr_assert_not(has_moved_in(&fixture, "rules/b.yaml"));
    wr_watch_begin_look(fixture.watch);
    cr_assert_not(has_moved_in(&fixture, "rules/a.yaml"));
    cr_assert_not(has_moved_in(&fixture, "rules/b.yaml"));
    wr_watch_begin_look(fixture.watch);
    scratch_rename(&fixture.scratch, "rules/b.yaml", "rules/a.yaml");
    cr_assert(has_moved_in(&fixture, "rules/a.yaml"));
    fini(&fixture);
}

Test(watch, more_files_than_are_noted_are_not_known_to_be_whole)
{
    struct fixture fixture;
    char name[32];

    init_with_directory(&fixture);
    replace_at_once(&fixture.scratch);
    cr_assert(has_moved_in(&fixture, "rules/a.yaml"));
    for (unsigned i = 0; i < 5000; i++) {
        (void) snprintf(name, sizeof name, "rules/f%u.yaml", i);
        scratch_make_fifo(&fixture.scratch, name);
    }
    cr_assert_not(has_moved_in(&fixture, "rules/a.yaml"));
    fini(&fixture);
}

Test(watch, none_is_granted_without_descriptors)
{
    struct rlimit before, none;
    struct wr_watch *watch = NULL;

    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);

    const enum wr_err err = wr_watch_new(&watch);

    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    cr_assert_eq(err, WR_ERR_SYSTEM);
    cr_assert_null(watch);
}
