/* SPDX-License-Identifier: Apache-2.0 */
#include "store/split_store.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/support/failing_malloc.h"
#include "tests/support/fake_backend.h"
#include "tests/unit/store/handed.h"

#define SECOND INT64_C(1000000)

static struct wr_fake_backend main_store, second_store;
static struct wr_backend *backend;
static struct handed handed;

static void begin(void)
{
    struct wr_backend *main_backend = &main_store.backend;
    struct wr_backend *second_backend = &second_store.backend;

    wr_fake_backend_init(&main_store);
    wr_fake_backend_init(&second_store);
    cr_assert_eq(wr_split_store_new(&main_backend, &second_backend, &backend), WR_OK);
    cr_assert_null(main_backend);
    cr_assert_null(second_backend);
    handed_init(&handed);
}

static void end(void)
{
    handed_fini(&handed);
    wr_backend_destroy(backend);
}

static struct wr_take take_of(const char *key, int64_t length_us)
{
    return (struct wr_take){
        .key = wr_str_of(key),
        .limit = {.requests = 10, .length_us = length_us},
        .hits = 1,
        .is_enforced = true,
    };
}

/* The keys that a store was asked for in its last batch, one letter each. */
static const char *seen_by(const struct wr_fake_backend *fake)
{
    static char text[WR_FAKE_TAKES + 1];

    for (size_t i = 0; i < fake->n_seen; i++) {
        text[i] = fake->seen[i].key.ptr[0];
    }
    text[fake->n_seen] = '\0';
    return text;
}

/* What the windows are, who belongs together, and where each take goes. Of a case's takes the keys
 * are a, b, c. */
static const struct {
    const char *what;
    const char *lengths; /* s: a second, t: a tenth of it, m: a minute */
    const char *groups;  /* a digit each */
    const char *counts;  /* a: all, o: all or nothing */
    bool is_domain_group;
    enum wr_charge_mode mode;
    const char *of_main, *of_second;
} cases[] = {
    {"by window", "sms", "012", "aaa", false, WR_CHARGE_BY_COUNT, "b", "ac"},
    {"shorter than a second", "tm", "01", "aa", false, WR_CHARGE_BY_COUNT, "b", "a"},
    {"all long", "mm", "01", "aa", false, WR_CHARGE_BY_COUNT, "ab", ""},
    {"all short", "ss", "01", "aa", false, WR_CHARGE_BY_COUNT, "", "ab"},
    {"a group that counts all is not bound", "sm", "00", "aa", false, WR_CHARGE_BY_COUNT, "b", "a"},
    {"a bound group across both", "sms", "001", "oaa", false, WR_CHARGE_BY_COUNT, "ab", "c"},
    {"a bound group of seconds", "ssm", "001", "ooa", false, WR_CHARGE_BY_COUNT, "c", "ab"},
    {"a single bound take", "sm", "01", "oo", false, WR_CHARGE_BY_COUNT, "b", "a"},
    {"a domain that is a group", "ss", "00", "oo", true, WR_CHARGE_BY_COUNT, "ab", ""},
    {"stop", "sm", "01", "aa", false, WR_CHARGE_STOP, "ab", ""},
    {"stop without a long one", "s", "0", "a", false, WR_CHARGE_STOP, "a", ""},
};

Test(split_store, sends_takes_where_they_belong)
{
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        static const char *const keys[] = {"a", "b", "c"};
        const size_t n = strlen(cases[c].lengths);
        struct wr_take takes[3];

        begin();
        for (size_t i = 0; i < n; i++) {
            const char length = cases[c].lengths[i];

            takes[i] = take_of(keys[i], length == 's'   ? SECOND
                                        : length == 't' ? SECOND / 10
                                                        : 60 * SECOND);
            takes[i].group = (uint32_t) (cases[c].groups[i] - '0');
            takes[i].limit.count =
                cases[c].counts[i] == 'o' ? WR_COUNT_ALL_OR_NOTHING : WR_COUNT_ALL;
            takes[i].is_domain_group = cases[c].is_domain_group;
        }
        handed.batch.mode = cases[c].mode;
        handed_put(&handed, backend, takes, n);
        cr_assert_eq(handed.n_done, 1, "%s", cases[c].what);
        cr_assert_str_eq(seen_by(&main_store), cases[c].of_main, "%s", cases[c].what);
        cr_assert_str_eq(seen_by(&second_store), cases[c].of_second, "%s", cases[c].what);
        end();
    }
}

Test(split_store, gives_each_take_its_own_answer)
{
    struct wr_take takes[] = {take_of("a", SECOND), take_of("b", 60 * SECOND),
                              take_of("c", SECOND)};

    begin();
    main_store.verdicts[0] = (struct wr_verdict){.remaining = 7, .reset_us = 5};
    second_store.answers[0] = WR_TAKE_TIMEOUT;
    second_store.verdicts[1] = (struct wr_verdict){.over = true, .reset_us = 9};
    handed_put(&handed, backend, takes, 3);
    cr_assert_eq(takes[0].answer, WR_TAKE_TIMEOUT);
    cr_assert_eq(takes[1].answer, WR_TAKE_DECIDED);
    cr_assert_eq(takes[1].verdict.remaining, 7);
    cr_assert_eq(takes[2].answer, WR_TAKE_DECIDED);
    cr_assert(takes[2].verdict.over);
    cr_assert_eq(takes[2].verdict.reset_us, 9);
    cr_assert_eq(takes[2].key.ptr[0], 'c');
    end();
}

Test(split_store, is_done_when_both_are_in_either_order)
{
    for (int order = 0; order < 2; order++) {
        struct wr_take takes[] = {take_of("a", SECOND), take_of("b", 60 * SECOND)};

        begin();
        main_store.holds = true;
        second_store.holds = true;
        handed_put(&handed, backend, takes, 2);
        cr_assert_eq(handed.n_done, 0);
        wr_fake_backend_release(order == 0 ? &main_store : &second_store);
        cr_assert_eq(handed.n_done, 0);
        wr_fake_backend_release(order == 0 ? &second_store : &main_store);
        cr_assert_eq(handed.n_done, 1);
        end();
    }
}

Test(split_store, hands_on_mode_time_and_deadline)
{
    struct wr_take takes[] = {take_of("a", SECOND), take_of("b", 60 * SECOND)};

    begin();
    main_store.holds = true;
    second_store.holds = true;
    handed.batch.deadline_mono_us = 77;
    handed_put(&handed, backend, takes, 2);
    cr_assert_eq(main_store.held->deadline_mono_us, 77);
    cr_assert_eq(second_store.held->deadline_mono_us, 77);
    cr_assert_eq(second_store.held->now.mono_us, handed.batch.now.mono_us);
    wr_fake_backend_release(&main_store);
    wr_fake_backend_release(&second_store);
    end();
}

Test(split_store, counts_nothing_when_memory_is_out)
{
    size_t n_good = 0;

    for (bool is_decided = false; !is_decided; n_good++) {
        struct wr_take takes[] = {take_of("a", SECOND), take_of("b", 60 * SECOND)};

        begin();
        is_decided = handed_put_failing(&handed, backend, takes, 2, n_good);
        cr_assert(is_decided || main_store.n_batches + second_store.n_batches == 0);
        end();
    }
    cr_assert_gt(n_good, 2u, "memory was out less than twice");
}

Test(split_store, leaves_the_stores_to_the_caller_when_it_cannot_be_made)
{
    struct wr_backend *main_backend = &main_store.backend;
    struct wr_backend *second_backend = &second_store.backend;

    failing_malloc_start(0);
    const enum wr_err err = wr_split_store_new(&main_backend, &second_backend, &backend);
    failing_malloc_stop();
    cr_assert_eq(err, WR_ERR_NO_MEMORY);
    cr_assert_eq(main_backend, &main_store.backend);
    cr_assert_eq(second_backend, &second_store.backend);
}
