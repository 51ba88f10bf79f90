/* SPDX-License-Identifier: Apache-2.0 */
/* How a link gets connections, greets on them, and loses them. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/unit/store/redis/link_desk.h"

Test(redis_link_connect, what_was_in_flight_is_lost_and_the_next_finds_a_new_connection,
     .timeout = 300)
{
    struct ask hushed, killer, next;

    lay_desk();
    open_desk_and_wait();
    post(&hushed, "HUSH", "", PATIENT_US);
    cr_assert_eq(ask_for(&killer, "DIE", ""), WR_REDIS_LOST);
    cr_assert_eq(wait_for(&hushed), WR_REDIS_LOST);
    cr_assert_eq(ask_for(&next, "ECHO", "x"), WR_REDIS_REPLIED, "it waits while it is replaced");
    cr_assert_eq(wr_fake_redis_connections(link_desk.fake), 2);
    cr_assert_eq(counted(WR_METRIC_REDIS_CONNECTIONS_LOST), 1);
    clear_desk();
}

Test(redis_link_connect, nobody_there, .timeout = 300)
{
    struct ask ask;

    lay_desk();
    link_desk.options.place.host = wr_str_of("/nowhere/at/all");
    open_desk();
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(sem_wait(&link_desk.is_down), 0);
    }
    cr_assert_eq(ask_for(&ask, "ECHO", "x"), WR_REDIS_AWAY);
    cr_assert_not(is_ready());
    cr_assert_str_eq(link_desk.why, "No such file or directory");
    cr_assert_geq(counted(WR_METRIC_REDIS_CONNECT_FAILURES), 3);
    clear_desk();
}

static void renew_link(struct wr_redis_job *job)
{
    (void) job;
    wr_redis_link_renew(link_desk.link);
}

Test(redis_link_connect, a_renewal_lets_those_in_flight_have_their_answers, .timeout = 300)
{
    struct ask before, after;

    lay_desk();
    open_desk_and_wait();
    wr_fake_redis_freeze(link_desk.fake, true);
    post(&before, "ECHO", "before", PATIENT_US);
    on_loop(renew_link, NULL);
    post(&after, "ECHO", "after", PATIENT_US);
    wr_fake_redis_freeze(link_desk.fake, false);
    cr_assert_eq(wait_for(&before), WR_REDIS_REPLIED);
    cr_assert_eq(wait_for(&after), WR_REDIS_REPLIED);
    cr_assert_str_eq(after.text, "after");
    cr_assert_eq(wr_fake_redis_connections(link_desk.fake), 2);
    clear_desk();
}

Test(redis_link_connect, greets_with_user_and_password, .timeout = 300)
{
    struct ask ask;

    lay_desk();
    link_desk.options.user = (struct wr_str) WR_STR("ann");
    link_desk.options.password = (struct wr_str) WR_STR("secret");
    open_desk_and_wait();
    cr_assert_eq(ask_for(&ask, "ECHO", "x"), WR_REDIS_REPLIED);
    cr_assert_str_eq(link_desk.auth, "ann secret");
    clear_desk();
}

Test(redis_link_connect, a_greeting_that_is_refused_is_no_connection, .timeout = 300)
{
    static const struct {
        const char *ping, *login, *role, *name, *why;
        bool needs_primary;
    } rows[] = {
        {.ping = "-LOADING Redis is loading\r\n", .why = "answers LOADING to PING"},
        {.ping = "-NOAUTH Authentication required.\r\n", .why = "a password is needed"},
        {.ping = "+OK\r\n", .why = "no PONG"},
        {.name = "-NOAUTH Authentication required.\r\n", .why = "a password is needed"},
        {.name = "-ERR max number of clients reached\r\n", .why = "as many clients as it allows"},
        {.login = "-WRONGPASS invalid\r\n", .why = "user or password is wrong"},
        {.role = "*3\r\n$5\r\nslave\r\n$1\r\na\r\n:1\r\n",
         .why = "is a replica",
         .needs_primary = true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ask ask;

        memset(&link_desk, 0, sizeof link_desk);
        lay_desk();
        link_desk.ping = rows[i].ping;
        link_desk.login = rows[i].login;
        link_desk.name = rows[i].name;
        link_desk.role = rows[i].role;
        link_desk.options.password = (struct wr_str) WR_STR("secret");
        link_desk.options.needs_primary = rows[i].needs_primary;
        open_desk();
        cr_assert_eq(sem_wait(&link_desk.is_down), 0);
        cr_assert_eq(ask_for(&ask, "ECHO", "x"), WR_REDIS_AWAY, "row %zu", i);
        cr_assert_not_null(strstr(link_desk.why, rows[i].why), "row %zu: %s", i, link_desk.why);
        cr_assert_null(strstr(link_desk.why, "secret"));
        clear_desk();
    }
}

Test(redis_link_connect, a_user_who_may_not_ping_is_let_in, .timeout = 300)
{
    struct ask ask;

    lay_desk();
    link_desk.ping = "-NOPERM User weir has no permissions to run the 'ping' command\r\n";
    open_desk_and_wait();
    cr_assert_eq(ask_for(&ask, "ECHO", "x"), WR_REDIS_REPLIED);
    clear_desk();
}

static void move_link(struct wr_redis_job *job)
{
    cr_assert_eq(wr_redis_link_move(link_desk.link, *(struct wr_redis_place *) job->context),
                 WR_OK);
}

Test(redis_link_connect, moves_to_another_place, .timeout = 300)
{
    struct wr_fake_redis *const other = wr_fake_redis_start(NULL, NULL);
    struct wr_redis_place place = {.host = wr_fake_redis_path(other)};

    lay_desk();
    open_desk_and_wait();
    on_loop(move_link, &place);
    wait_for_echo();
    cr_assert_eq(wr_fake_redis_connections(other), 1);
    place.host = wr_str_of("/nowhere/at/all");
    on_loop(move_link, &place);
    cr_assert_eq(sem_wait(&link_desk.is_down), 0);
    place.host = wr_fake_redis_path(link_desk.fake);
    on_loop(move_link, &place);
    wait_for_echo();
    cr_assert_eq(wr_fake_redis_connections(link_desk.fake), 2);
    clear_desk();
    wr_fake_redis_stop(other);
}
