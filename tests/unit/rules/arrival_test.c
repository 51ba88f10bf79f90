/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/arrival.h"

#include <criterion/criterion.h>

#include "tests/unit/rules/scratch.h"

static const struct wr_hash_key key = {{1}};

static struct wr_arrival see(const struct scratch *scratch, const char *name,
                             const struct wr_arrival *before)
{
    char path[SCRATCH_PATH_MAX];
    struct wr_file_text text;
    struct wr_diag diag;

    wr_diag_init(&diag, 1);
    cr_assert(wr_file_text_read(scratch_path(scratch, name, path), 1000, &diag, &text));

    const struct wr_arrival arrival = wr_arrival_of(&key, path, &text, before);

    wr_file_text_fini(&text);
    wr_diag_fini(&diag);
    return arrival;
}

static void replace_aged(const struct scratch *scratch)
{
    scratch_write(scratch, ".new", "two");
    scratch_age(scratch, ".new");
    scratch_rename(scratch, ".new", "a");
}

/* The inode of the file before is kept from use by a link elsewhere. */
static void remove_and_write(const struct scratch *scratch)
{
    scratch_make_directory(scratch, "elsewhere");
    scratch_rename(scratch, "a", "elsewhere/a");
    scratch_write(scratch, "a", "two");
}

static void write_in_place(const struct scratch *scratch)
{
    scratch_write(scratch, "a", "two");
    scratch_age(scratch, "a");
}

static void turn(const struct scratch *scratch)
{
    scratch_rename(scratch, "a", "b");
    scratch_write(scratch, "c", "two");
    scratch_link(scratch, "a", "c");
}

static void append_to_moved(const struct scratch *scratch)
{
    replace_aged(scratch);
    scratch_append(scratch, "a", "three");
}

Test(arrival, only_what_shows_it_is_whole)
{
    static const struct {
        const char *what;
        void (*act)(const struct scratch *);
        bool is_whole;
    } rows[] = {
        {"renamed to there a while after it was written", replace_aged, true},
        {"written there", remove_and_write, false},
        {"written in place, its date set back", write_in_place, false},
        {"behind a turned link", turn, true},
        {"renamed to there and written on", append_to_moved, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_arrival nothing = {0};
        struct scratch scratch;

        scratch_init(&scratch);
        scratch_write(&scratch, "a", "one");

        const struct wr_arrival before = see(&scratch, "a", &nothing);

        rows[i].act(&scratch);

        const struct wr_arrival arrival = see(&scratch, "a", &before);

        cr_assert_eq(wr_arrival_is_whole(&arrival, &before), rows[i].is_whole, "%s", rows[i].what);
        cr_assert_not(wr_arrival_is_whole(&arrival, &nothing), "%s", rows[i].what);
        scratch_fini(&scratch);
    }
}

Test(arrival, the_same_file_is_known_by_any_text)
{
    const struct wr_arrival nothing = {0};
    struct scratch scratch;

    scratch_init(&scratch);
    scratch_write(&scratch, "a", "one");

    const struct wr_arrival before = see(&scratch, "a", &nothing);

    scratch_write(&scratch, "a", "another");

    const struct wr_arrival arrival = see(&scratch, "a", &before);

    cr_assert(wr_arrival_is_same_file(&arrival, &before));
    cr_assert_not(wr_arrival_is_same_file(&arrival, &nothing));
    scratch_fini(&scratch);
}
