/* SPDX-License-Identifier: Apache-2.0 */
/* What a peer makes of one that is no server; with servers in tests/e2e/test_bench.py. */
#include "client/weirctl/bench/peer.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loopback.h"

#define FRAME_DATA 0
#define FRAME_RST_STREAM 3

/* Both ends of a connection, of which the peer has one. */
struct pair {
    struct weirctl_peer *peer;
    int other;
};

static void count_end(void *arg, struct weirctl_turn *turn, enum weirctl_answer answer)
{
    (void) turn;
    cr_assert_eq(answer, WEIRCTL_ANSWER_FAILED);
    ++*(int *) arg;
}

static struct pair pair_of(int *ends)
{
    unsigned int port;
    const int listener = loopback_listen(&port);
    char target[32];
    struct weir_error error;

    snprintf(target, sizeof target, "127.0.0.1:%u", port);

    const struct weirctl_peer_options options = {
        .target = target, .timeout_ms = 5000, .on_end = count_end, .arg = ends};
    struct pair pair = {.peer = weirctl_peer_new(&options, &error)};

    cr_assert_neq(pair.peer, NULL, "%s", error.text);
    pair.other = accept(listener, NULL, NULL);
    close(listener);
    return pair;
}

/* Reads until the connection is over; the test's own time limit ends it otherwise. */
static void read_to_the_end(struct pair *pair)
{
    struct pollfd ready = {.fd = weirctl_peer_fd(pair->peer), .events = POLLIN};

    do {
        poll(&ready, 1, -1);
    } while (weirctl_peer_read(pair->peer));
}

Test(peer, that_hangs_up_is_a_connection_that_broke_off)
{
    int ends = 0;
    struct pair pair = pair_of(&ends);

    shutdown(pair.other, SHUT_RDWR);
    read_to_the_end(&pair);
    cr_assert_str_eq(weirctl_peer_complaint(pair.peer), "the connection broke off");
    close(pair.other);
    weirctl_peer_destroy(pair.peer);
    cr_assert_eq(ends, 0);
}

Test(peer, that_speaks_something_else_is_told_apart)
{
    static const char words[] = "SSH-2.0-OpenSSH_9.2 and a bit more, a frame's head is long\r\n";
    int ends = 0;
    struct pair pair = pair_of(&ends);

    cr_assert_eq(write(pair.other, words, sizeof words), (ssize_t) sizeof words);
    shutdown(pair.other, SHUT_WR);
    read_to_the_end(&pair);
    cr_assert_neq(weirctl_peer_complaint(pair.peer)[0], '\0');
    close(pair.other);
    weirctl_peer_destroy(pair.peer);
}

Test(peer, writes_what_was_begun_and_forgets_it_at_its_end)
{
    static const uint8_t body[40000] = {0};
    int ends = 0;
    struct pair pair = pair_of(&ends);
    struct weirctl_turn turn = {.body = body, .body_len = sizeof body};
    char preface[24];

    cr_assert(weirctl_peer_begin(pair.peer, &turn));
    cr_assert(weirctl_peer_flush(pair.peer));
    cr_assert_not(weirctl_peer_is_full(pair.peer));
    cr_assert_eq(recv(pair.other, preface, sizeof preface, MSG_WAITALL), (ssize_t) sizeof preface);
    cr_assert_eq(memcmp(preface, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", sizeof preface), 0);
    cr_assert_eq(turn.body_sent, sizeof body);
    cr_assert_eq(turn.peer, pair.peer);
    close(pair.other);
    weirctl_peer_destroy(pair.peer);
    cr_assert_eq(ends, 0);
}

/* Reads frames until one of this type; -> its stream. */
static int32_t stream_of_next(int fd, uint8_t type)
{
    uint8_t head[9];
    uint8_t rest[16384];

    do {
        cr_assert_eq(recv(fd, head, sizeof head, MSG_WAITALL), (ssize_t) sizeof head);

        const size_t len = (size_t) head[0] << 16 | (size_t) head[1] << 8 | head[2];

        cr_assert_leq(len, sizeof rest);
        cr_assert_eq(recv(fd, rest, len, MSG_WAITALL), (ssize_t) len);
    } while (head[3] != type);
    return head[7] << 8 | head[8];
}

Test(peer, gives_up_what_it_sent_and_what_it_did_not_send_yet)
{
    static const uint8_t body[40000] = {0};
    int ends = 0;
    struct pair pair = pair_of(&ends);
    struct weirctl_turn sent = {.body = body, .body_len = 5};
    struct weirctl_turn not_sent = {.body = body, .body_len = sizeof body};
    uint8_t preface[24];

    cr_assert(weirctl_peer_begin(pair.peer, &sent));
    cr_assert(weirctl_peer_flush(pair.peer));
    cr_assert_eq(recv(pair.other, preface, sizeof preface, MSG_WAITALL), (ssize_t) sizeof preface);
    cr_assert_eq(stream_of_next(pair.other, FRAME_DATA), sent.stream_id);
    cr_assert(weirctl_peer_begin(pair.peer, &not_sent));
    weirctl_peer_cancel(pair.peer, &not_sent);
    weirctl_peer_cancel(pair.peer, &sent);
    cr_assert(sent.peer == NULL && not_sent.peer == NULL);
    cr_assert(weirctl_peer_flush(pair.peer));
    cr_assert_eq(stream_of_next(pair.other, FRAME_RST_STREAM), sent.stream_id);
    cr_assert_eq(not_sent.body_sent, 0);
    cr_assert_eq(ends, 0, "on_end is for what ended by itself");
    close(pair.other);
    weirctl_peer_destroy(pair.peer);
}

Test(peer, is_not_made_of_nobody)
{
    const struct weirctl_peer_options options = {.target = "unix:/nonexistent/weir.sock",
                                                 .timeout_ms = 5000};
    struct weir_error error = {.code = WEIR_OK};

    cr_assert_eq(weirctl_peer_new(&options, &error), NULL);
    cr_assert_eq(error.code, WEIR_ERR_CONNECT);
    weirctl_peer_destroy(NULL);
}
