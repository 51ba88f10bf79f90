/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/newcomers.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAGIC "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
/* With a SETTINGS of one: 4 bytes of window. */
#define PREFACE                                                                                    \
    MAGIC "\0\0\6\4\0\0\0\0\0"                                                                     \
          "\0\4\0\0\0\1"
#define TIMEOUT_US 1000

static struct wr_metrics *metrics;
static struct wr_newcomers *newcomers;
static int adopted[4];
static size_t n_adopted;

static void adopt(void *context, int fd)
{
    (void) context;
    cr_assert_lt(n_adopted, 4);
    adopted[n_adopted] = fd;
    n_adopted++;
}

static void set_up(void)
{
    metrics = wr_metrics_new();

    const struct wr_newcomers_options options = {
        .timeout_us = TIMEOUT_US, .adopt = adopt, .metrics = wr_metrics_block_new(metrics)};

    cr_assert_eq(wr_newcomers_new(&options, &newcomers), WR_OK);
    n_adopted = 0;
}

static void tear_down(void)
{
    wr_newcomers_destroy(newcomers);
    wr_metrics_destroy(metrics);
}

TestSuite(newcomers, .init = set_up, .fini = tear_down);

/* The client's end of a connection that came at `mono_us`. */
static int come(int64_t mono_us)
{
    int ends[2];

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    cr_assert_eq(wr_newcomers_add(newcomers, ends[1], mono_us), WR_OK);
    return ends[0];
}

static void say(int client, const char *bytes, size_t len)
{
    cr_assert_eq(write(client, bytes, len), (ssize_t) len);
}

static bool is_closed(int client)
{
    char byte = 0;
    const ssize_t n = read(client, &byte, 1);

    return n == 0 || (n < 0 && errno != EAGAIN);
}

Test(newcomers, are_handed_over_with_all_their_bytes)
{
    const int client = come(0);
    char bytes[sizeof PREFACE + 4] = "";

    say(client, PREFACE "more", sizeof PREFACE + 3);
    wr_newcomers_turn(newcomers, 0);
    cr_assert_eq(n_adopted, 1);
    cr_assert_eq(read(adopted[0], bytes, sizeof bytes), (ssize_t) sizeof PREFACE + 3);
    cr_assert_eq(memcmp(bytes, PREFACE "more", sizeof PREFACE + 3), 0);
    cr_assert(wr_newcomers_is_empty(newcomers));
    (void) close(adopted[0]);
    (void) close(client);
}

Test(newcomers, may_speak_bit_by_bit_and_cost_nothing_in_between)
{
    const int client = come(0);
    struct pollfd spoken = {.fd = wr_newcomers_fd(newcomers), .events = POLLIN};

    for (size_t i = 0; i < sizeof PREFACE - 1; i++) {
        cr_assert_eq(n_adopted, 0);
        say(client, &PREFACE[i], 1);
        cr_assert_eq(poll(&spoken, 1, 0), 1);
        wr_newcomers_turn(newcomers, 0);
        cr_assert_eq(poll(&spoken, 1, 0), 0, "what was looked at is no news");
    }
    cr_assert_eq(n_adopted, 1);
    (void) close(adopted[0]);
    (void) close(client);
}

Test(newcomers, that_send_the_magic_alone_are_silent)
{
    const int client = come(0);

    say(client, MAGIC, sizeof MAGIC - 1);
    wr_newcomers_turn(newcomers, 0);
    cr_assert_eq(n_adopted, 0);
    wr_newcomers_turn(newcomers, TIMEOUT_US);
    cr_assert(is_closed(client));
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_CONNECTIONS_SILENT), 1);
    (void) close(client);
}

static const struct {
    const char *said;
    enum wr_metric metric;
    const char *answer;
} others[] = {
    {"GET / HTTP/1.1\r\n\r\n", WR_METRIC_CONNECTIONS_HTTP1, "HTTP/1.1 505 "},
    {"\x16\x03\x01\x02", WR_METRIC_CONNECTIONS_TLS, ""},
    {"\xde\xad\xbe\xef", WR_METRIC_CONNECTIONS_OTHER, ""},
    {MAGIC "not settings", WR_METRIC_CONNECTIONS_OTHER, ""},
};

Test(newcomers, that_speak_something_else_are_closed_and_counted)
{
    uint64_t n_before[WR_METRICS_COUNT] = {0};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const int client = come(0);
        char answer[512] = "";

        say(client, others[i].said, strlen(others[i].said));
        wr_newcomers_turn(newcomers, 0);
        cr_assert_eq(wr_metrics_sum(metrics, others[i].metric), ++n_before[others[i].metric],
                     "row %zu", i);

        const ssize_t n_read = read(client, answer, sizeof answer - 1); /* or a reset */

        answer[n_read > 0 ? n_read : 0] = '\0';
        cr_assert_eq(strncmp(answer, others[i].answer, strlen(others[i].answer)), 0, "row %zu: %s",
                     i, answer);
        cr_assert(is_closed(client));
        (void) close(client);
    }
    cr_assert_eq(n_adopted, 0);
    cr_assert(wr_newcomers_is_empty(newcomers));
}

Test(newcomers, that_are_silent_are_closed_when_due_the_oldest_first)
{
    const int first = come(0), second = come(500), third = come(500);

    say(second, PREFACE, 10);
    say(third, PREFACE, sizeof PREFACE - 1);
    cr_assert_eq(wr_newcomers_due_us(newcomers), TIMEOUT_US);
    wr_newcomers_turn(newcomers, TIMEOUT_US - 1);
    cr_assert_not(is_closed(first));
    wr_newcomers_turn(newcomers, TIMEOUT_US);
    cr_assert(is_closed(first));
    cr_assert_not(is_closed(second));
    cr_assert_eq(wr_newcomers_due_us(newcomers), TIMEOUT_US + 500);
    wr_newcomers_turn(newcomers, TIMEOUT_US + 500);
    cr_assert(is_closed(second));
    cr_assert_eq(wr_newcomers_due_us(newcomers), INT64_MAX);
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_CONNECTIONS_SILENT), 2);
    cr_assert_eq(n_adopted, 1, "the third spoke in time");
    (void) close(adopted[0]);
    (void) close(first);
    (void) close(second);
    (void) close(third);
}

Test(newcomers, that_leave_are_forgotten_and_not_counted)
{
    const int silent = come(0), half = come(0);

    (void) close(silent);
    say(half, PREFACE, 10);
    (void) close(half);
    wr_newcomers_turn(newcomers, 0);
    cr_assert(wr_newcomers_is_empty(newcomers));
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_CONNECTIONS_SILENT), 0);
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_CONNECTIONS_OTHER), 0);
}

Test(newcomers, that_are_still_waited_for_are_closed_at_the_end)
{
    const int client = come(0);

    wr_newcomers_destroy(newcomers);
    newcomers = NULL;
    cr_assert(is_closed(client));
    (void) close(client);
}
