/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/rule_files.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/unit/rules/scratch.h"

struct fixture {
    struct scratch scratch;
    struct wr_diag diag;
    struct wr_file_list list;
};

static void init(struct fixture *fixture)
{
    scratch_init(&fixture->scratch);
    wr_diag_init(&fixture->diag, 100);
    fixture->list = (struct wr_file_list){0};
}

static void fini(struct fixture *fixture)
{
    wr_file_list_fini(&fixture->list);
    wr_diag_fini(&fixture->diag);
    scratch_fini(&fixture->scratch);
}

/* Adds the directory itself and compares the names that came in, in order. */
static void assert_names(struct fixture *fixture, struct wr_file_choice choice,
                         const char *const *want, size_t n)
{
    const size_t skip = strlen(fixture->scratch.path) + 1;

    cr_assert_eq(wr_file_list_add(&fixture->list, fixture->scratch.path, &choice, &fixture->diag),
                 WR_OK);
    cr_assert_eq(fixture->list.n, n, "%zu", fixture->list.n);
    for (size_t i = 0; i < n; i++) {
        cr_assert_str_eq(fixture->list.paths[i] + skip, want[i]);
    }
}

static void fill(const struct scratch *scratch)
{
    scratch_write(scratch, "b.yaml", "");
    scratch_write(scratch, "a.yml", "");
    scratch_write(scratch, "c.txt", "");
    scratch_write(scratch, ".hidden.yaml", "");
    scratch_make_directory(scratch, "..2024");
    scratch_write(scratch, "..2024/x.yaml", "");
    scratch_make_directory(scratch, "sub");
    scratch_write(scratch, "sub/d.yaml", "");
    scratch_link(scratch, "e.yaml", "b.yaml");
    scratch_link(scratch, "linked", "sub");
}

Test(rule_files, names_of_yaml_in_sorted_order_and_a_warning_for_each_other)
{
    const char *const want[] = {"a.yml", "b.yaml", "e.yaml"};
    struct fixture fixture;

    init(&fixture);
    fill(&fixture.scratch);
    assert_names(&fixture, (struct wr_file_choice){0}, want, 3);
    cr_assert_eq(fixture.diag.n_warnings, 3u); /* c.txt, sub, linked */
    cr_assert_eq(fixture.diag.n_errors, 0u);
    fini(&fixture);
}

Test(rule_files, any_name_and_sub_directories_when_asked_for)
{
    const char *const want[] = {"a.yml", "b.yaml", "c.txt", "e.yaml", "sub/d.yaml"};
    struct fixture fixture;

    init(&fixture);
    fill(&fixture.scratch);
    assert_names(&fixture, (struct wr_file_choice){.any_name = true, .is_recursive = true}, want,
                 5);
    cr_assert_eq(fixture.diag.n_warnings, 1u); /* linked */
    fini(&fixture);
}

Test(rule_files, an_empty_directory_is_fine)
{
    struct fixture fixture;

    init(&fixture);
    assert_names(&fixture, (struct wr_file_choice){0}, NULL, 0);
    cr_assert_eq(fixture.diag.n_warnings, 0u);
    fini(&fixture);
}

Test(rule_files, a_file_named_by_itself_may_have_any_name)
{
    const struct wr_file_choice choice = {0};
    char path[SCRATCH_PATH_MAX];
    struct fixture fixture;

    init(&fixture);
    fill(&fixture.scratch);
    cr_assert_eq(wr_file_list_add(&fixture.list, scratch_path(&fixture.scratch, "c.txt", path),
                                  &choice, &fixture.diag),
                 WR_OK);
    cr_assert_eq(fixture.list.n, 1u);
    cr_assert_eq(wr_file_list_add(&fixture.list, scratch_path(&fixture.scratch, "nowhere", path),
                                  &choice, &fixture.diag),
                 WR_ERR_NOT_FOUND);
    cr_assert_eq(fixture.diag.n_errors, 1u);
    fini(&fixture);
}

Test(rule_files, reads_whole_files_and_one_byte_beyond_the_bound)
{
    static char large[10001];
    char path[SCRATCH_PATH_MAX];
    struct fixture fixture;
    struct wr_file_text text;

    memset(large, 'x', sizeof large - 1);
    init(&fixture);
    scratch_write(&fixture.scratch, "large", large);
    scratch_write(&fixture.scratch, "empty", "");
    scratch_path(&fixture.scratch, "large", path);
    cr_assert(wr_file_text_read(path, 20000, &fixture.diag, &text));
    cr_assert_eq(text.len, 10000u);
    cr_assert_eq(memcmp(text.bytes, large, 10000), 0);
    wr_file_text_fini(&text);
    cr_assert(wr_file_text_read(path, 9000, &fixture.diag, &text));
    cr_assert_eq(text.len, 9001u);
    wr_file_text_fini(&text);
    cr_assert(wr_file_text_read(scratch_path(&fixture.scratch, "empty", path), 9000, &fixture.diag,
                                &text));
    cr_assert_eq(text.len, 0u);
    wr_file_text_fini(&text);
    cr_assert_eq(fixture.diag.n_errors, 0u);
    fini(&fixture);
}

/* A pipe that nobody writes to would wait for ever, and so would this test. */
Test(rule_files, only_regular_files_are_read)
{
    const char *const names[] = {"pipe.yaml", "sub", "nowhere.yaml", "dangling.yaml"};
    struct fixture fixture;

    init(&fixture);
    scratch_make_fifo(&fixture.scratch, "pipe.yaml");
    scratch_make_directory(&fixture.scratch, "sub");
    scratch_link(&fixture.scratch, "dangling.yaml", "nowhere.yaml");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[SCRATCH_PATH_MAX];
        struct wr_file_text text;

        cr_assert_not(wr_file_text_read(scratch_path(&fixture.scratch, names[i], path), 100,
                                        &fixture.diag, &text));
        cr_assert_eq(fixture.diag.n_errors, i + 1, "%s", names[i]);
    }
    fini(&fixture);
}

Test(rule_files, a_device_is_not_read)
{
    struct fixture fixture;
    struct wr_file_text text;

    init(&fixture);
    cr_assert_not(wr_file_text_read("/dev/zero", 100, &fixture.diag, &text));
    cr_assert_eq(fixture.diag.n_errors, 1u);
    fini(&fixture);
}

Test(rule_files, what_is_left_out_is_told_by_its_kind)
{
    const char *const want[] = {"a.yaml/x.yaml", "linked_file"};
    const struct wr_file_choice deep = {.any_name = true, .is_recursive = true}, flat = {0};
    char directory[SCRATCH_PATH_MAX], link[SCRATCH_PATH_MAX], file[SCRATCH_PATH_MAX];
    struct fixture fixture;

    init(&fixture);
    scratch_make_directory(&fixture.scratch, "a.yaml");
    scratch_write(&fixture.scratch, "a.yaml/x.yaml", "");
    scratch_link(&fixture.scratch, "b.yaml", "a.yaml");
    scratch_link(&fixture.scratch, "linked_file", "a.yaml/x.yaml");
    assert_names(&fixture, deep, want, 2);
    cr_assert_eq(fixture.diag.n_warnings, 1u);
    cr_assert(
        wr_str_equal(fixture.diag.first->text, wr_str_of("left out: it is a link to a directory")));
    scratch_path(&fixture.scratch, "a.yaml", directory);
    scratch_path(&fixture.scratch, "b.yaml", link);
    scratch_path(&fixture.scratch, "linked_file", file);
    cr_assert_not(wr_file_is_left_out_directory(directory, &deep));
    cr_assert(wr_file_is_left_out_directory(directory, &flat));
    cr_assert(wr_file_is_left_out_directory(link, &deep));
    cr_assert(wr_file_is_left_out_directory(link, &flat));
    cr_assert_not(wr_file_is_left_out_directory(file, &flat));
    fini(&fixture);
}

Test(rule_files, standard_input_is_a_file_where_it_may_be)
{
    const struct wr_file_choice with = {.has_stdin = true}, without = {0};
    struct fixture fixture;

    init(&fixture);
    cr_assert_eq(wr_file_list_add(&fixture.list, "-", &without, &fixture.diag), WR_ERR_NOT_FOUND);
    cr_assert_eq(wr_file_list_add(&fixture.list, "-", &with, &fixture.diag), WR_OK);
    cr_assert_eq(fixture.list.n, 1u);
    cr_assert_str_eq(fixture.list.paths[0], "-");
    fini(&fixture);
}

Test(rule_files, standard_input_is_read_to_its_end_or_one_byte_beyond_the_bound)
{
    static const struct {
        size_t max_len, len;
    } rows[] = {{100, 10}, {10, 10}, {9, 10}, {4, 5}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_file_text text;
        struct wr_diag diag;
        int ends[2];

        wr_diag_init(&diag, 10);
        cr_assert_eq(pipe(ends), 0);
        cr_assert_eq(write(ends[1], "0123456789", 10), 10);
        cr_assert_eq(close(ends[1]), 0);
        cr_assert_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
        cr_assert_eq(close(ends[0]), 0);
        cr_assert(wr_file_text_read_stdin(rows[i].max_len, &diag, &text));
        cr_assert_eq(text.len, rows[i].len, "row %zu: %zu", i, text.len);
        cr_assert_eq(memcmp(text.bytes, "0123456789", text.len), 0);
        wr_file_text_fini(&text);
        wr_diag_fini(&diag);
    }
}

/* Whether the first thread of the process sleeps. */
static bool is_reader_asleep(void)
{
    char text[512];
    FILE *const stat = fopen("/proc/self/stat", "r");

    cr_assert_not_null(stat);

    const size_t len = fread(text, 1, sizeof text - 1, stat);

    cr_assert_eq(fclose(stat), 0);
    text[len] = '\0';
    return strstr(text, ") S ") != NULL;
}

/* Writes once whoever reads waits. */
static void *write_late(void *context)
{
    const int *const end = context;

    while (!is_reader_asleep()) {
        (void) sched_yield();
    }
    cr_assert_eq(write(*end, "late", 4), 4);
    cr_assert_eq(close(*end), 0);
    return NULL;
}

Test(rule_files, standard_input_that_does_not_wait_is_waited_for)
{
    struct wr_file_text text;
    struct wr_diag diag;
    pthread_t writer;
    int ends[2];

    wr_diag_init(&diag, 10);
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    cr_assert_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    cr_assert_eq(pthread_create(&writer, NULL, write_late, &ends[1]), 0);
    cr_assert(wr_file_text_read_stdin(100, &diag, &text));
    cr_assert_eq(text.len, 4u);
    cr_assert_eq(pthread_join(writer, NULL), 0);
    wr_file_text_fini(&text);
    wr_diag_fini(&diag);
}

Test(rule_files, what_is_no_input_is_not_read)
{
    static const int fds[] = {-1, 0, 1}; /* none, of an event, of a directory */

    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        struct wr_file_text text = {0};
        struct wr_diag diag;
        const int fd = fds[i] < 0    ? -1
                       : fds[i] == 0 ? eventfd(1, EFD_NONBLOCK)
                                     : open("/", O_RDONLY | O_DIRECTORY);

        wr_diag_init(&diag, 10);
        if (fd < 0) {
            (void) close(STDIN_FILENO);
        } else {
            cr_assert_eq(dup2(fd, STDIN_FILENO), STDIN_FILENO);
        }
        cr_assert_not(wr_file_text_read_stdin(100, &diag, &text), "row %zu", i);
        cr_assert_eq(diag.n_errors, 1u);
        cr_assert_not_null(strstr(diag.first->text.ptr, "standard input is closed"));
        if (fd > 0) {
            (void) close(fd);
        }
        wr_diag_fini(&diag);
    }
}

Test(rule_files, only_what_a_name_says_also_behind_a_link)
{
    const char *const want[] = {"conf.d/y.yaml", "conf.one.yaml", "conf/x.yaml"};
    const struct wr_file_choice choice = {.any_name = true, .is_recursive = true, .name = "conf"};
    struct fixture fixture;

    init(&fixture);
    fill(&fixture.scratch);
    scratch_write(&fixture.scratch, "conf.one.yaml", "");
    scratch_write(&fixture.scratch, "config.yaml", "");
    scratch_make_directory(&fixture.scratch, "conf.d");
    scratch_write(&fixture.scratch, "conf.d/y.yaml", "");
    scratch_make_directory(&fixture.scratch, "real");
    scratch_write(&fixture.scratch, "real/x.yaml", "");
    scratch_link(&fixture.scratch, "conf", "real");
    assert_names(&fixture, choice, want, 3);
    cr_assert_eq(fixture.diag.n_warnings, 0u, "what is beside it is passed over in silence");
    fini(&fixture);
}

Test(rule_files, a_name_that_is_not_there_is_no_empty_directory)
{
    const struct wr_file_choice choice = {.any_name = true, .is_recursive = true, .name = "conf"};
    struct fixture fixture;

    init(&fixture);
    fill(&fixture.scratch);
    scratch_write(&fixture.scratch, "conf", "no directory");
    cr_assert_eq(wr_file_list_add(&fixture.list, fixture.scratch.path, &choice, &fixture.diag),
                 WR_ERR_NOT_FOUND);
    cr_assert_eq(fixture.diag.n_errors, 1u);
    scratch_remove(&fixture.scratch, "conf");
    scratch_make_directory(&fixture.scratch, "conf");
    cr_assert_eq(wr_file_list_add(&fixture.list, fixture.scratch.path, &choice, &fixture.diag),
                 WR_OK);
    cr_assert_eq(fixture.list.n, 0u);
    fini(&fixture);
}
