/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/file_set.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "rules/settling.h"
#include "tests/support/failing_malloc.h"
#include "tests/unit/rules/scratch.h"

#define MS(milliseconds) ((int64_t) (milliseconds) *1000)

struct fixture {
    struct scratch scratch;
    const char *roots[2];
    struct wr_file_set set;
    struct wr_diag diag;
    int64_t now_us, due_us;
    bool is_moved_in;         /* what is known of any file */
    size_t n_left, n_stopped; /* questions until it is to stop, SIZE_MAX: never; that said so */
};

static bool was_moved_in(void *context, const char *path)
{
    const struct fixture *const fixture = context;

    return fixture->is_moved_in && path[0] == '/';
}

static bool is_stopping(void *context)
{
    struct fixture *const fixture = context;

    if (fixture->n_left == SIZE_MAX) {
        return false;
    }
    fixture->n_stopped += fixture->n_left == 0;
    fixture->n_left -= fixture->n_left > 0;
    return fixture->n_stopped > 0;
}

static void init(struct fixture *fixture)
{
    scratch_init(&fixture->scratch);
    wr_diag_init(&fixture->diag, 100);
    fixture->roots[0] = fixture->scratch.path;
    fixture->now_us = MS(1000);
    fixture->is_moved_in = false;
    fixture->n_left = SIZE_MAX;
    fixture->n_stopped = 0;

    const struct wr_file_set_options options = {
        .roots = fixture->roots,
        .n_roots = 1,
        .max_file_bytes = 1000,
        .was_moved_in = was_moved_in,
        .is_stopping = is_stopping,
        .context = fixture,
    };

    cr_assert_eq(wr_file_set_init(&fixture->set, &options), WR_OK);
}

static void fini(struct fixture *fixture)
{
    wr_file_set_fini(&fixture->set);
    wr_diag_fini(&fixture->diag);
    scratch_fini(&fixture->scratch);
}

/* Looks, `ms` after the last time. Whether the set is due. */
static bool look_after(struct fixture *fixture, int64_t ms)
{
    fixture->now_us += MS(ms);
    cr_assert_eq(wr_file_set_look(&fixture->set, fixture->now_us, &fixture->diag), WR_OK);
    return wr_file_set_is_due(&fixture->set, fixture->now_us, &fixture->due_us);
}

static void take_all(struct fixture *fixture)
{
    for (size_t i = 0; i < fixture->set.n; i++) {
        wr_file_take(fixture->set.files[i]);
    }
}

/* With file `name` of that text in place and taken. */
static void init_with(struct fixture *fixture, const char *name, const char *text)
{
    init(fixture);
    scratch_write(&fixture->scratch, name, text);
    (void) look_after(fixture, 0);
    take_all(fixture);
    cr_assert_not(look_after(fixture, 0));
}

static const struct wr_file *file_of(const struct fixture *fixture, const char *name)
{
    for (size_t i = 0; i < fixture->set.n; i++) {
        const char *const path = fixture->set.files[i]->path;

        if (strcmp(strrchr(path, '/') + 1, name) == 0) {
            return fixture->set.files[i];
        }
    }
    return NULL;
}

static bool is_settled(const struct fixture *fixture, const char *name)
{
    return wr_file_is_settled(&fixture->set, file_of(fixture, name), fixture->now_us);
}

Test(file_set, what_has_not_changed_needs_no_look)
{
    struct fixture fixture;

    init_with(&fixture, "a.yaml", "one");
    cr_assert_not(look_after(&fixture, 10000));
    cr_assert_eq(fixture.due_us, INT64_MAX);
    fini(&fixture);
}

Test(file_set, the_same_text_again_is_no_change)
{
    struct fixture fixture;

    init_with(&fixture, "a.yaml", "one");
    scratch_replace(&fixture.scratch, "a.yaml", "one");
    cr_assert_not(look_after(&fixture, 1000));
    cr_assert_eq(fixture.due_us, INT64_MAX);
    fini(&fixture);
}

Test(file_set, another_text_of_the_same_size_and_times_is_a_change)
{
    struct fixture fixture;
    char path[SCRATCH_PATH_MAX];
    struct stat before;

    init_with(&fixture, "a.yaml", "one");
    cr_assert_eq(stat(scratch_path(&fixture.scratch, "a.yaml", path), &before), 0);
    scratch_write(&fixture.scratch, "a.yaml", "two");
    cr_assert_eq(utimensat(AT_FDCWD, path, (struct timespec[]){before.st_atim, before.st_mtim}, 0),
                 0);
    (void) look_after(&fixture, 1000);
    cr_assert(wr_file_is_changed(file_of(&fixture, "a.yaml")));
    cr_assert_eq(memcmp(file_of(&fixture, "a.yaml")->text.bytes, "two", 3), 0);
    fini(&fixture);
}

Test(file_set, a_file_that_was_replaced_settles_soon)
{
    struct fixture fixture;

    init_with(&fixture, "a.yaml", "one");
    scratch_replace(&fixture.scratch, "a.yaml", "two");
    cr_assert_not(look_after(&fixture, 1));
    cr_assert_eq(fixture.due_us, fixture.now_us + WR_FILE_SETTLE_US);
    cr_assert_not(look_after(&fixture, 29));
    cr_assert(look_after(&fixture, 1));
    cr_assert(is_settled(&fixture, "a.yaml"));
    take_all(&fixture);
    cr_assert_not(look_after(&fixture, 1));
    fini(&fixture);
}

Test(file_set, a_change_begins_the_settling_anew)
{
    struct fixture fixture;

    init_with(&fixture, "a.yaml", "one");
    scratch_replace(&fixture.scratch, "a.yaml", "two");
    cr_assert_not(look_after(&fixture, 1));
    scratch_replace(&fixture.scratch, "a.yaml", "three");
    cr_assert_not(look_after(&fixture, 30));
    cr_assert_not(look_after(&fixture, 29));
    cr_assert(look_after(&fixture, 1));
    fini(&fixture);
}

static void write_anew(const struct scratch *scratch, const char *name, const char *text)
{
    scratch_rename(scratch, name, "a.yaml~");
    scratch_write(scratch, name, text);
}

static void remove_and_write(const struct scratch *scratch, const char *name, const char *text)
{
    scratch_remove(scratch, name);
    scratch_write(scratch, name, text);
}

static void move_elsewhere_and_write(const struct scratch *scratch, const char *name,
                                     const char *text)
{
    scratch_make_directory(scratch, ".backups");
    scratch_rename(scratch, name, ".backups/a.yaml");
    scratch_write(scratch, name, text);
}

/* By a file that was written just now. */
static void replace_at_once(const struct scratch *scratch, const char *name, const char *text)
{
    scratch_write(scratch, ".new", text);
    scratch_rename(scratch, ".new", name);
}

static void replace_and_append(const struct scratch *scratch, const char *name, const char *text)
{
    scratch_replace(scratch, name, text);
    scratch_append(scratch, name, text);
}

static void turn_link(const struct scratch *scratch, const char *name, const char *text)
{
    scratch_rename(scratch, name, "a.yaml~");
    scratch_write(scratch, "v2", text);
    scratch_link(scratch, name, "v2");
}

/* What each row does to a.yaml, and whether it may be half of something. */
Test(file_set, what_may_be_half_written_settles_late)
{
    static const struct {
        const char *what;
        void (*act)(const struct scratch *, const char *, const char *);
        const char *name, *text;
        bool is_late, is_moved_in;
    } rows[] = {
        {"replaced", scratch_replace, "a.yaml", "other text", false, false},
        {"replaced by a longer one", scratch_replace, "a.yaml", "a longer other text", false,
         false},
        {"replaced by a shorter one", scratch_replace, "a.yaml", "shorter", false, false},
        {"replaced by less than half", scratch_replace, "a.yaml", "half", true, false},
        {"replaced by nothing", scratch_replace, "a.yaml", "", true, false},
        {"emptied", scratch_write, "a.yaml", "", true, false},
        {"written in place", scratch_write, "a.yaml", "other text", true, false},
        {"added to", scratch_append, "a.yaml", "x", true, false},
        {"new", scratch_replace, "b.yaml", "other text", true, false},
        {"renamed away and written anew", write_anew, "a.yaml", "other text", true, false},
        {"a link in its place", turn_link, "a.yaml", "other text", false, false},
        {"removed and written anew", remove_and_write, "a.yaml", "other text", true, false},
        {"moved elsewhere and written anew", move_elsewhere_and_write, "a.yaml", "other text", true,
         false},
        {"written on behind the renaming", replace_and_append, "a.yaml", "other text", true, false},
        {"replaced at once", replace_at_once, "a.yaml", "other text", false, true},
        {"replaced at once, as far as is known", replace_at_once, "a.yaml", "other text", true,
         false},
        {"new, and known to be whole", replace_at_once, "b.yaml", "other text", true, true},
        {"written in place of one known to be whole", scratch_write, "a.yaml", "other text", true,
         true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture fixture;

        init_with(&fixture, "a.yaml", "first text");
        fixture.is_moved_in = rows[i].is_moved_in;
        rows[i].act(&fixture.scratch, rows[i].name, rows[i].text);
        cr_assert_not(look_after(&fixture, 1), "%s", rows[i].what);
        cr_assert_eq(look_after(&fixture, 30), !rows[i].is_late, "%s", rows[i].what);
        cr_assert_not(rows[i].is_late && look_after(&fixture, 969), "%s", rows[i].what);
        cr_assert(look_after(&fixture, 1), "%s", rows[i].what);
        fini(&fixture);
    }
}

Test(file_set, a_file_written_in_blocks_settles_behind_the_last)
{
    struct fixture fixture;

    init_with(&fixture, "a.yaml", "0123456789");
    scratch_write(&fixture.scratch, "a.yaml", "");
    for (size_t i = 0; i < 10; i++) {
        scratch_append(&fixture.scratch, "a.yaml", "x");
        cr_assert_not(look_after(&fixture, 500), "block %zu", i);
        cr_assert_not(look_after(&fixture, 490), "block %zu", i);
    }
    cr_assert(look_after(&fixture, 510));
    cr_assert_eq(file_of(&fixture, "a.yaml")->text.len, 10u);
    fini(&fixture);
}

Test(file_set, a_file_written_anew_in_two_pieces_is_taken_whole)
{
    static const struct {
        const char *what;
        void (*act)(const struct scratch *, const char *, const char *);
    } rows[] = {
        {"renamed away", write_anew},
        {"moved elsewhere", move_elsewhere_and_write},
        {"removed", remove_and_write},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture fixture;

        init_with(&fixture, "a.yaml", "first text");
        rows[i].act(&fixture.scratch, "a.yaml", "another");
        cr_assert_not(look_after(&fixture, 1), "%s", rows[i].what);
        cr_assert_not(look_after(&fixture, 500), "%s", rows[i].what);
        scratch_append(&fixture.scratch, "a.yaml", " text");
        cr_assert_not(look_after(&fixture, 1), "%s", rows[i].what);
        cr_assert_not(look_after(&fixture, 999), "%s", rows[i].what);
        cr_assert(look_after(&fixture, 1), "%s", rows[i].what);
        cr_assert_eq(file_of(&fixture, "a.yaml")->text.len, 12u, "%s", rows[i].what);
        fini(&fixture);
    }
}

Test(file_set, a_file_made_anew_settles_late)
{
    struct fixture fixture;

    init_with(&fixture, "a.yaml", "first text");
    scratch_remove(&fixture.scratch, "a.yaml");
    (void) look_after(&fixture, 1);
    scratch_write(&fixture.scratch, "a.yaml", "other text");
    cr_assert_not(look_after(&fixture, 1));
    cr_assert_not(look_after(&fixture, 999));
    cr_assert(look_after(&fixture, 1));
    fini(&fixture);
}

Test(file_set, of_what_changes_together_the_last_to_settle_counts)
{
    struct fixture fixture;

    init_with(&fixture, "a.yaml", "first text");
    scratch_replace(&fixture.scratch, "a.yaml", "other text");
    scratch_write(&fixture.scratch, "b.yaml", "new text");
    cr_assert_not(look_after(&fixture, 1));
    cr_assert_not(look_after(&fixture, 999));
    cr_assert(is_settled(&fixture, "a.yaml"));
    cr_assert(look_after(&fixture, 1));
    fini(&fixture);
}

Test(file_set, patience_with_a_file_that_does_not_settle_ends)
{
    struct fixture fixture;
    bool is_due = false;
    int64_t waited_ms = 0;

    init_with(&fixture, "a.yaml", "first text");
    scratch_replace(&fixture.scratch, "a.yaml", "other text");
    scratch_write(&fixture.scratch, "b.yaml", "");
    is_due = look_after(&fixture, 1);
    for (; !is_due && waited_ms < 10000; waited_ms += 100) {
        scratch_append(&fixture.scratch, "b.yaml", "x");
        is_due = look_after(&fixture, 100);
    }
    cr_assert_eq(MS(waited_ms), WR_FILE_SET_PATIENCE_US);
    cr_assert(is_settled(&fixture, "a.yaml"));
    cr_assert_not(is_settled(&fixture, "b.yaml"));
    fini(&fixture);
}

/* Each look finds another text, a file renamed into place. Returns how long until it is due. */
static int64_t await_restless(struct fixture *fixture)
{
    int64_t waited_ms = 0;
    bool is_due = false;

    for (; !is_due && waited_ms < 10000; waited_ms += 20) {
        char text[32];

        (void) snprintf(text, sizeof text, "text number %d", (int) (fixture->now_us / 1000));
        scratch_replace(&fixture->scratch, "a.yaml", text);
        is_due = look_after(fixture, 20);
    }
    return waited_ms - 20;
}

Test(file_set, a_file_replaced_again_and_again_is_taken_all_the_same)
{
    struct fixture fixture;

    init_with(&fixture, "a.yaml", "first text");
    scratch_write(&fixture.scratch, "b.yaml", "first text");
    (void) look_after(&fixture, 0);
    take_all(&fixture);
    for (size_t i = 0; i < 3; i++) {
        scratch_replace(&fixture.scratch, "b.yaml", i % 2 == 0 ? "other text" : "first text");
        cr_assert_eq(MS(await_restless(&fixture)), WR_FILE_RESTLESS_US, "%zu", i);
        cr_assert(is_settled(&fixture, "a.yaml"), "%zu", i);
        cr_assert(is_settled(&fixture, "b.yaml"), "%zu", i);
        take_all(&fixture);
    }
    fini(&fixture);
}

/* Whatever was taken before, each has its own wait. */
Test(file_set, a_file_that_never_settles_delays_each_other_once)
{
    struct fixture fixture;

    init_with(&fixture, "a.yaml", "first text");
    scratch_write(&fixture.scratch, "b.yaml", "x");
    for (size_t i = 0; i < 3; i++) {
        int64_t waited_ms = 0;

        scratch_replace(&fixture.scratch, "a.yaml", i % 2 == 0 ? "other text" : "first text");
        while (!look_after(&fixture, waited_ms == 0 ? 1 : 100) && waited_ms < 10000) {
            scratch_append(&fixture.scratch, "b.yaml", "x");
            waited_ms += 100;
        }
        cr_assert_eq(MS(waited_ms), WR_FILE_SET_PATIENCE_US, "%zu", i);
        cr_assert(is_settled(&fixture, "a.yaml"), "%zu", i);
        wr_file_take(fixture.set.files[0]);
    }
    cr_assert_not(is_settled(&fixture, "b.yaml"));
    fini(&fixture);
}

Test(file_set, what_is_removed_one_by_one_is_taken_away_together)
{
    struct fixture fixture;
    static const char *const names[] = {"a.yaml", "b.yaml", "c.yaml"};

    init_with(&fixture, "z.yaml", "text");
    for (size_t i = 0; i < 3; i++) {
        scratch_write(&fixture.scratch, names[i], "text");
    }
    (void) look_after(&fixture, 1);
    take_all(&fixture);
    for (size_t i = 0; i < 3; i++) {
        scratch_remove(&fixture.scratch, names[i]);
        cr_assert_not(look_after(&fixture, 500), "%zu", i);
    }
    cr_assert_not(look_after(&fixture, 999));
    cr_assert_not(is_settled(&fixture, "a.yaml"));
    cr_assert(look_after(&fixture, 1));
    for (size_t i = 0; i < 3; i++) {
        cr_assert(is_settled(&fixture, names[i]), "%zu", i);
    }
    fini(&fixture);
}

Test(file_set, removals_without_end_are_taken_in_time)
{
    struct fixture fixture;
    int64_t waited_ms = 0;

    init_with(&fixture, "z.yaml", "text");
    for (char name[] = "a.yaml"; name[0] <= 'y'; name[0]++) {
        scratch_write(&fixture.scratch, name, "text");
    }
    (void) look_after(&fixture, 1);
    take_all(&fixture);
    scratch_remove(&fixture.scratch, "a.yaml");
    (void) look_after(&fixture, 1);
    for (char name[] = "b.yaml"; name[0] <= 'y'; name[0]++) {
        scratch_remove(&fixture.scratch, name);
        waited_ms += 500;
        if (look_after(&fixture, 500)) {
            break;
        }
    }
    cr_assert_eq(MS(waited_ms), WR_FILE_SET_PATIENCE_US);
    cr_assert(is_settled(&fixture, "a.yaml"));
    cr_assert_not(is_settled(&fixture, "f.yaml"));
    fini(&fixture);
}

/* However early, what is known stays, and the next look is whole. */
Test(file_set, a_look_ends_before_its_next_file_when_it_is_to_stop)
{
    for (size_t n = 0; n < 3; n++) {
        struct fixture fixture;

        init_with(&fixture, "b.yaml", "first text");
        scratch_write(&fixture.scratch, "a.yaml", "new text");
        scratch_write(&fixture.scratch, "c.yaml", "new text");
        fixture.n_left = n;
        cr_assert_eq(wr_file_set_look(&fixture.set, fixture.now_us, &fixture.diag), WR_ERR_SYSTEM,
                     "%zu", n);
        cr_assert_not_null(file_of(&fixture, "b.yaml"), "%zu", n);
        cr_assert_eq(file_of(&fixture, "a.yaml") != NULL, n > 0, "%zu", n);
        cr_assert_null(file_of(&fixture, "c.yaml"), "%zu", n);
        fixture.n_left = SIZE_MAX;
        (void) look_after(&fixture, 1);
        cr_assert_eq(fixture.set.n, 3u, "%zu", n);
        fini(&fixture);
    }
}

Test(file_set, a_removed_file_is_a_change_and_then_forgotten)
{
    struct fixture fixture;

    init_with(&fixture, "a.yaml", "text");
    scratch_write(&fixture.scratch, "b.yaml", "text");
    (void) look_after(&fixture, 1);
    take_all(&fixture);
    scratch_remove(&fixture.scratch, "a.yaml");
    cr_assert_not(look_after(&fixture, 1));
    cr_assert_eq(fixture.set.n_present, 1u);
    cr_assert_not(look_after(&fixture, 999));
    cr_assert(look_after(&fixture, 1));
    cr_assert_eq(file_of(&fixture, "a.yaml")->seen.state, WR_FILE_ABSENT);
    take_all(&fixture);
    cr_assert_not(look_after(&fixture, 1));
    cr_assert_eq(fixture.set.n, 1u);
    fini(&fixture);
}

Test(file_set, a_file_that_came_and_went_leaves_nothing)
{
    struct fixture fixture;

    init_with(&fixture, "a.yaml", "text");
    scratch_write(&fixture.scratch, "b.yaml", "text");
    (void) look_after(&fixture, 1);
    cr_assert_eq(fixture.set.n, 2u);
    scratch_remove(&fixture.scratch, "b.yaml");
    cr_assert_not(look_after(&fixture, 1));
    cr_assert_eq(fixture.set.n, 1u);
    cr_assert_eq(fixture.due_us, INT64_MAX);
    fini(&fixture);
}

Test(file_set, a_directory_that_is_empty_at_once_may_be_filled_again)
{
    struct fixture fixture;

    init_with(&fixture, "a.yaml", "text");
    scratch_remove(&fixture.scratch, "a.yaml");
    cr_assert_not(look_after(&fixture, 1));
    cr_assert_not(look_after(&fixture, 999));
    cr_assert(look_after(&fixture, 1));
    fini(&fixture);
}

Test(file_set, a_missing_root_takes_nothing_away)
{
    struct fixture fixture;
    char path[SCRATCH_PATH_MAX];

    init(&fixture);
    scratch_make_directory(&fixture.scratch, "rules");
    scratch_write(&fixture.scratch, "rules/a.yaml", "first text");
    fixture.roots[0] = scratch_path(&fixture.scratch, "rules", path);
    (void) look_after(&fixture, 1);
    take_all(&fixture);
    scratch_remove(&fixture.scratch, "rules");
    cr_assert_not(look_after(&fixture, 100000));
    cr_assert_eq(fixture.set.n_missing_roots, 1u);
    cr_assert_eq(fixture.set.n, 1u);
    cr_assert_eq(fixture.due_us, INT64_MAX);
    cr_assert_eq(fixture.diag.n_errors, 1u);

    /* What comes in its place may still be being written. */
    scratch_make_directory(&fixture.scratch, "rules");
    scratch_write(&fixture.scratch, "rules/a.yaml", "other text");
    cr_assert_not(look_after(&fixture, 100));
    cr_assert_eq(fixture.set.n_missing_roots, 0u);
    cr_assert_eq(fixture.set.rooted_us, fixture.now_us);
    cr_assert_not(look_after(&fixture, 999));
    cr_assert(look_after(&fixture, 1));
    fini(&fixture);
}

static void clear(const struct fixture *fixture)
{
    scratch_remove(&fixture->scratch, "rules/a.yaml");
    scratch_remove(&fixture->scratch, "rules/b.yaml");
    scratch_remove(&fixture->scratch, "rules/c.yaml");
}

static void go_missing(struct fixture *fixture)
{
    scratch_rename(&fixture->scratch, "rules", "old");
    cr_assert_not(look_after(fixture, 5000));
    scratch_rename(&fixture->scratch, "old", "rules");
    clear(fixture);
}

static void go_empty(struct fixture *fixture)
{
    clear(fixture);
    cr_assert_not(look_after(fixture, 50));
}

static void become_another(struct fixture *fixture)
{
    scratch_rename(&fixture->scratch, "rules", "old");
    scratch_make_directory(&fixture->scratch, "rules");
}

Test(file_set, what_lacks_in_a_directory_that_is_filled_again_is_waited_for)
{
    static const struct {
        const char *what, *root;
        void (*act)(struct fixture *);
    } rows[] = {
        {"missing", "rules", go_missing},
        {"missing behind a link", "link", go_missing},
        {"empty", "rules", go_empty},
        {"another", "rules", become_another},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture fixture;
        char path[SCRATCH_PATH_MAX];

        init(&fixture);
        scratch_make_directory(&fixture.scratch, "rules");
        scratch_write(&fixture.scratch, "rules/a.yaml", "text");
        scratch_write(&fixture.scratch, "rules/b.yaml", "text");
        scratch_write(&fixture.scratch, "rules/c.yaml", "text");
        scratch_link(&fixture.scratch, "link", "rules");
        fixture.roots[0] = scratch_path(&fixture.scratch, rows[i].root, path);
        (void) look_after(&fixture, 1);
        take_all(&fixture);
        rows[i].act(&fixture);
        scratch_write(&fixture.scratch, "rules/a.yaml", "text");
        cr_assert_not(look_after(&fixture, 50), "%s", rows[i].what);
        cr_assert_not(look_after(&fixture, 900), "%s", rows[i].what);
        scratch_write(&fixture.scratch, "rules/b.yaml", "text");
        cr_assert_not(look_after(&fixture, 50), "%s", rows[i].what);
        cr_assert_not(look_after(&fixture, 999), "%s", rows[i].what);
        cr_assert_eq(fixture.due_us, fixture.now_us + MS(1), "%s", rows[i].what);

        /* What does not come was taken away. */
        cr_assert(look_after(&fixture, 1), "%s", rows[i].what);
        cr_assert(is_settled(&fixture, "c.yaml"), "%s", rows[i].what);
        fini(&fixture);
    }
}

Test(file_set, files_are_kept_by_root_and_then_by_path)
{
    struct fixture fixture;
    char path[SCRATCH_PATH_MAX];
    static const char *const want[] = {"b.yaml", "z.yaml", "a.yaml", "c.yaml"};

    init(&fixture);
    scratch_make_directory(&fixture.scratch, "sub");
    fixture.roots[0] = scratch_path(&fixture.scratch, "sub", path);
    fixture.roots[1] = fixture.scratch.path;
    fixture.set.options.n_roots = 2;
    scratch_write(&fixture.scratch, "sub/z.yaml", "");
    scratch_write(&fixture.scratch, "c.yaml", "");
    (void) look_after(&fixture, 1);
    scratch_write(&fixture.scratch, "sub/b.yaml", "");
    scratch_write(&fixture.scratch, "a.yaml", "");
    (void) look_after(&fixture, 1);
    cr_assert_eq(fixture.set.n, 4u);
    for (size_t i = 0; i < 4; i++) {
        cr_assert_str_eq(strrchr(fixture.set.files[i]->path, '/') + 1, want[i]);
    }
    fini(&fixture);
}

Test(file_set, a_file_that_cannot_be_read_says_why)
{
    struct fixture fixture;

    init_with(&fixture, "a.yaml", "text");
    scratch_make_fifo(&fixture.scratch, "b.yaml");
    (void) look_after(&fixture, 1);
    cr_assert(look_after(&fixture, 30));

    const struct wr_file *const file = file_of(&fixture, "b.yaml");

    cr_assert_eq(file->seen.state, WR_FILE_UNREADABLE);
    cr_assert_eq(memcmp(file->text.bytes, "is not a regular file", file->text.len), 0);
    fini(&fixture);
}

Test(file_set, a_file_in_whose_place_a_directory_stands_cannot_be_read)
{
    for (int is_link = 0; is_link <= 1; is_link++) {
        struct fixture fixture;

        init_with(&fixture, "a.yaml", "text");
        scratch_remove(&fixture.scratch, "a.yaml");
        scratch_make_directory(&fixture.scratch, is_link ? "sub" : "a.yaml");
        if (is_link) {
            scratch_link(&fixture.scratch, "a.yaml", "sub");
        }
        (void) look_after(&fixture, 1);
        cr_assert_eq(file_of(&fixture, "a.yaml")->seen.state, WR_FILE_UNREADABLE, "%d", is_link);
        scratch_remove(&fixture.scratch, "a.yaml");
        (void) look_after(&fixture, 1);
        cr_assert_eq(file_of(&fixture, "a.yaml")->seen.state, WR_FILE_ABSENT, "%d", is_link);
        fini(&fixture);
    }
}

Test(file_set, a_file_in_whose_place_a_directory_is_read_is_gone)
{
    struct fixture fixture;

    init_with(&fixture, "a.yaml", "text");
    fixture.set.options.choice = (struct wr_file_choice){.any_name = true, .is_recursive = true};
    scratch_remove(&fixture.scratch, "a.yaml");
    scratch_make_directory(&fixture.scratch, "a.yaml");
    (void) look_after(&fixture, 1);
    cr_assert_eq(file_of(&fixture, "a.yaml")->seen.state, WR_FILE_ABSENT);
    fini(&fixture);
}

/* However early memory runs out, what is known stays, and the next look is whole. */
Test(file_set, memory_that_runs_out_loses_no_file)
{
    bool is_whole = false;
    size_t n_failed = 0;

    for (size_t n = 0; !is_whole; n++) {
        struct fixture fixture;

        init_with(&fixture, "b.yaml", "first text");
        scratch_write(&fixture.scratch, "a.yaml", "new text");
        scratch_replace(&fixture.scratch, "b.yaml", "other text");
        failing_malloc_start(n);
        is_whole = wr_file_set_look(&fixture.set, fixture.now_us, &fixture.diag) == WR_OK &&
                   fixture.set.n == 2;
        failing_malloc_stop();
        n_failed += !is_whole;
        cr_assert_not_null(file_of(&fixture, "b.yaml"), "%zu", n);
        (void) look_after(&fixture, 1);
        cr_assert_eq(fixture.set.n, 2u, "%zu", n);
        fini(&fixture);
    }
    cr_assert_geq(n_failed, 3u);
}
