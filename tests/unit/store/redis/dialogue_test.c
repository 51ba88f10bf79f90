/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/dialogue.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <hiredis/hiredis.h>

#include "store/redis/request.h"

struct desk {
    struct wr_redis_dialogue dialogue;
    struct wr_redis_socket socket;
    int peer;
    struct wr_redis_request requests[1000];
};

static struct desk desk;

static void lay_desk(void)
{
    int fds[2];

    cr_assert_eq(wr_redis_dialogue_init(&desk.dialogue), WR_OK);
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(fcntl(fds[i], F_SETFL, O_NONBLOCK), 0);
    }
    wr_redis_socket_init(&desk.socket);
    desk.socket.fd = fds[0];
    desk.peer = fds[1];
}

static void clear_desk(void)
{
    wr_redis_dialogue_fini(&desk.dialogue);
    wr_redis_socket_close(&desk.socket);
    cr_assert_eq(close(desk.peer), 0);
}

static uint64_t say(size_t number, const char *text)
{
    uint64_t place = 0;

    cr_assert(
        wr_redis_dialogue_say(&desk.dialogue, wr_str_of(text), 0, &desk.requests[number], &place));
    return place;
}

static void answer(const char *text)
{
    cr_assert_eq(write(desk.peer, text, strlen(text)), (ssize_t) strlen(text));
    cr_assert_eq(wr_redis_dialogue_read(&desk.dialogue, &desk.socket), WR_REDIS_IO_DONE);
}

/* The next reply's integer, and whose it is. */
static long long take(struct wr_redis_request **out_request)
{
    const redisReply *reply = NULL;
    struct wr_redis_line line;

    cr_assert(wr_redis_dialogue_next(&desk.dialogue, &reply));
    cr_assert_not_null(reply);
    cr_assert(wr_redis_dialogue_take(&desk.dialogue, &line));
    *out_request = line.request;
    return reply->integer;
}

Test(redis_dialogue, what_was_said_goes_out_in_one_stream)
{
    char got[32] = "";

    lay_desk();
    say(0, "one ");
    say(1, "two ");
    memcpy(wr_redis_dialogue_said(&desk.dialogue, 4), "2", 1);
    say(2, "three");
    cr_assert(wr_redis_dialogue_has_output(&desk.dialogue));
    cr_assert_eq(wr_redis_dialogue_write(&desk.dialogue, &desk.socket), WR_REDIS_IO_DONE);
    cr_assert_not(wr_redis_dialogue_has_output(&desk.dialogue));
    cr_assert_eq(read(desk.peer, got, sizeof got), 13);
    cr_assert_str_eq(got, "one 2wo three");
    clear_desk();
}

Test(redis_dialogue, replies_find_their_lines_though_some_have_left)
{
    struct wr_redis_request *request = NULL;

    lay_desk();
    for (size_t i = 0; i < 1000; i++) {
        const uint64_t place = say(i, "x");

        if (i % 3 == 0) {
            wr_redis_dialogue_forget(&desk.dialogue, place);
        }
    }
    cr_assert_eq(desk.dialogue.n_live, 666);
    for (int i = 0; i < 1000; i++) {
        char text[16];

        (void) snprintf(text, sizeof text, ":%d\r\n", i);
        answer(text);
        cr_assert_eq(take(&request), i);
        cr_assert_eq(request, i % 3 == 0 ? NULL : &desk.requests[i]);
    }
    cr_assert_eq(desk.dialogue.n_live, 0);
    clear_desk();
}

Test(redis_dialogue, tells_what_was_sent_from_what_was_not)
{
    static char large[1 << 20];
    static const bool is_unsent[] = {false, false, true};
    struct wr_redis_line line;

    lay_desk();
    memset(large, 'x', sizeof large);
    say(0, "small");
    cr_assert(wr_redis_dialogue_say(&desk.dialogue,
                                    (struct wr_str){.ptr = large, .len = sizeof large}, 0,
                                    &desk.requests[1], NULL));
    say(2, "never");
    cr_assert_eq(wr_redis_dialogue_write(&desk.dialogue, &desk.socket), WR_REDIS_IO_WANT_WRITE);
    for (size_t i = 0; i < 3; i++) {
        cr_assert(wr_redis_dialogue_take(&desk.dialogue, &line));
        cr_assert_eq(line.request, &desk.requests[i]);
        cr_assert_eq(wr_redis_dialogue_is_unsent(&desk.dialogue, &line), is_unsent[i], "%zu", i);
    }
    cr_assert_not(wr_redis_dialogue_take(&desk.dialogue, &line));
    cr_assert(wr_redis_dialogue_reset(&desk.dialogue));
    cr_assert_not(wr_redis_dialogue_has_output(&desk.dialogue));
    clear_desk();
}

Test(redis_dialogue, what_nobody_reads_is_bounded)
{
    static char large[1 << 20];
    size_t n = 0;

    lay_desk();
    while (n < 1000 &&
           wr_redis_dialogue_say(&desk.dialogue, (struct wr_str){.ptr = large, .len = sizeof large},
                                 0, NULL, NULL)) {
        n++;
    }
    cr_assert(n > 10 && n < 100, "%zu MiB", n);
    clear_desk();
}

Test(redis_dialogue, the_end_of_the_stream)
{
    lay_desk();
    cr_assert_eq(wr_redis_dialogue_read(&desk.dialogue, &desk.socket), WR_REDIS_IO_WANT_READ);
    cr_assert_eq(shutdown(desk.peer, SHUT_WR), 0);
    cr_assert_eq(wr_redis_dialogue_read(&desk.dialogue, &desk.socket), WR_REDIS_IO_CLOSED);
    clear_desk();
}
