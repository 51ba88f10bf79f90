/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/fake_redis.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/thread.h"
#include "tests/support/held_port.h"

#define MAX_PEERS 16
#define BUFFER_SIZE ((size_t) 256 << 10)
#define MAX_WORDS 64

struct peer {
    int fd;   /* owned; -1: free */
    char *in; /* owned; what came and was not understood yet */
    size_t n_in;
    bool is_subscriber;
};

struct wr_fake_redis {
    wr_fake_answer_fn answer;
    void *context;
    struct wr_thread thread;
    char dir[64];
    char path[96];
    uint16_t port; /* 0: on the path */
    int listener;
    int orders[2]; /* a pipe to the thread: f freezes, t thaws, p publishes, q ends */
    int acks[2];   /* a pipe back: that was done */
    atomic_size_t n_connections;
    /* of the thread */
    struct peer peers[MAX_PEERS];
    bool is_frozen;
    const char *message; /* to publish */
};

static bool is(struct wr_str word, const char *text)
{
    return wr_str_equal_nocase(word, wr_str_of(text));
}

static void hang_up(struct peer *peer)
{
    (void) close(peer->fd);
    peer->fd = -1;
    peer->n_in = 0;
}

static void say(struct peer *peer, const char *text, size_t n)
{
    while (n > 0 && peer->fd >= 0) {
        const ssize_t sent = send(peer->fd, text, n, MSG_NOSIGNAL);

        if (sent > 0) {
            text += sent;
            n -= (size_t) sent;
        } else if (errno != EINTR) {
            hang_up(peer);
        }
    }
}

static void say_text(struct peer *peer, const char *text)
{
    say(peer, text, strlen(text));
}

static void say_time(struct peer *peer)
{
    struct timespec now;
    char seconds[24], us[24], text[96];

    WR_ASSERT(clock_gettime(CLOCK_REALTIME, &now) == 0);
    (void) snprintf(seconds, sizeof seconds, "%lld", (long long) now.tv_sec);
    (void) snprintf(us, sizeof us, "%ld", now.tv_nsec / 1000);

    const int n = snprintf(text, sizeof text, "*2\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n", strlen(seconds),
                           seconds, strlen(us), us);

    say(peer, text, (size_t) n);
}

static void say_echo(struct peer *peer, struct wr_str word)
{
    char head[32];
    const int n = snprintf(head, sizeof head, "$%zu\r\n", word.len);

    say(peer, head, (size_t) n);
    say(peer, word.ptr, word.len);
    say(peer, "\r\n", 2);
}

static void obey(struct wr_fake_redis *fake, struct peer *peer, const struct wr_str *words,
                 size_t n)
{
    peer->is_subscriber |= is(words[0], "SUBSCRIBE");

    const char *const answer = fake->answer != NULL ? fake->answer(fake->context, words, n) : NULL;

    if (answer != NULL && strcmp(answer, WR_FAKE_HANGS_UP) == 0) {
        hang_up(peer);
    } else if (answer != NULL) {
        say_text(peer, answer);
    } else if (is(words[0], "PING")) {
        say_text(peer, "+PONG\r\n");
    } else if (is(words[0], "TIME")) {
        say_time(peer);
    } else if (is(words[0], "ROLE")) {
        say_text(peer, "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n");
    } else if (is(words[0], "ECHO") && n == 2) {
        say_echo(peer, words[1]);
    } else {
        say_text(peer, "+OK\r\n");
    }
}

/* A line's number after `marker` at `*at`; false: more has to come. */
static bool read_head(const struct peer *peer, size_t *at, char marker, size_t *out_number)
{
    const char *const line = peer->in + *at;
    const char *const end = memchr(line, '\n', peer->n_in - *at);

    if (end == NULL) {
        return false;
    }
    WR_ASSERT(line[0] == marker);
    *out_number = (size_t) strtoull(line + 1, NULL, 10);
    *at = (size_t) (end + 1 - peer->in);
    return true;
}

/* The length of the first command, and its words; 0: it is not whole. */
static size_t parse(const struct peer *peer, struct wr_str words[MAX_WORDS], size_t *out_n)
{
    size_t at = 0, n = 0;

    if (!read_head(peer, &at, '*', &n)) {
        return 0;
    }
    WR_ASSERT(n > 0 && n <= MAX_WORDS);
    for (size_t i = 0; i < n; i++) {
        size_t len = 0;

        if (!read_head(peer, &at, '$', &len) || peer->n_in - at < len + 2) {
            return 0;
        }
        words[i] = (struct wr_str){.ptr = peer->in + at, .len = len};
        at += len + 2;
    }
    *out_n = n;
    return at;
}

static void listen_to(struct wr_fake_redis *fake, struct peer *peer)
{
    const ssize_t got = recv(peer->fd, peer->in + peer->n_in, BUFFER_SIZE - 1 - peer->n_in, 0);
    struct wr_str words[MAX_WORDS];
    size_t n = 0, len = 0;

    if (got <= 0) {
        hang_up(peer);
        return;
    }
    peer->n_in += (size_t) got;
    peer->in[peer->n_in] = '\0';
    while (peer->fd >= 0 && (len = parse(peer, words, &n)) > 0) {
        obey(fake, peer, words, n);
        if (peer->fd >= 0) {
            peer->n_in -= len;
            memmove(peer->in, peer->in + len, peer->n_in + 1);
        }
    }
}

static void accept_one(struct wr_fake_redis *fake)
{
    const int fd = accept(fake->listener, NULL, NULL);

    WR_ASSERT(fd >= 0);
    (void) atomic_fetch_add(&fake->n_connections, 1);
    for (size_t i = 0; i < MAX_PEERS; i++) {
        if (fake->peers[i].fd < 0) {
            fake->peers[i].fd = fd;
            fake->peers[i].is_subscriber = false;
            return;
        }
    }
    (void) close(fd);
}

static void publish(struct wr_fake_redis *fake)
{
    for (size_t i = 0; i < MAX_PEERS; i++) {
        if (fake->peers[i].fd >= 0 && fake->peers[i].is_subscriber) {
            say_text(&fake->peers[i], fake->message);
        }
    }
}

/* False: the end. */
static bool take_order(struct wr_fake_redis *fake)
{
    char order = 'q';

    WR_ASSERT(read(fake->orders[0], &order, 1) == 1);
    if (order == 'p') {
        publish(fake);
    } else {
        fake->is_frozen = order == 'f';
    }
    WR_ASSERT(write(fake->acks[1], &order, 1) == 1);
    return order != 'q';
}

static void run(void *context)
{
    struct wr_fake_redis *const fake = context;

    for (;;) {
        struct pollfd polls[2 + MAX_PEERS];

        polls[0] = (struct pollfd){.fd = fake->orders[0], .events = POLLIN};
        polls[1] = (struct pollfd){.fd = fake->is_frozen ? -1 : fake->listener, .events = POLLIN};
        for (size_t i = 0; i < MAX_PEERS; i++) {
            polls[2 + i] =
                (struct pollfd){.fd = fake->is_frozen ? -1 : fake->peers[i].fd, .events = POLLIN};
        }
        WR_ASSERT(poll(polls, 2 + MAX_PEERS, -1) > 0);
        if (polls[0].revents != 0) {
            if (!take_order(fake)) {
                return;
            }
            continue;
        }
        if (polls[1].revents != 0) {
            accept_one(fake);
        }
        for (size_t i = 0; i < MAX_PEERS; i++) {
            if (polls[2 + i].fd >= 0 && polls[2 + i].revents != 0) {
                listen_to(fake, &fake->peers[i]);
            }
        }
    }
}

static void open_listener(struct wr_fake_redis *fake)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    (void) snprintf(fake->dir, sizeof fake->dir, "/tmp/weir-fake.XXXXXX");
    WR_ASSERT(mkdtemp(fake->dir) != NULL);
    (void) snprintf(fake->path, sizeof fake->path, "%s/sock", fake->dir);
    (void) snprintf(address.sun_path, sizeof address.sun_path, "%s", fake->path);
    fake->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    WR_ASSERT(fake->listener >= 0);
    WR_ASSERT(bind(fake->listener, (struct sockaddr *) &address, sizeof address) == 0);
    WR_ASSERT(listen(fake->listener, 64) == 0);
}

static void open_port(struct wr_fake_redis *fake, uint16_t port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int yes = 1;

    fake->listener = socket(AF_INET, SOCK_STREAM, 0);
    WR_ASSERT(fake->listener >= 0);
    WR_ASSERT(setsockopt(fake->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0);
    WR_ASSERT(bind(fake->listener, (const struct sockaddr *) &address, sizeof address) == 0);
    WR_ASSERT(listen(fake->listener, 64) == 0);
    fake->port = port;
}

static struct wr_fake_redis *make_fake(wr_fake_answer_fn answer, void *context)
{
    struct wr_fake_redis *const fake = calloc(1, sizeof *fake);

    WR_ASSERT(fake != NULL);
    fake->answer = answer;
    fake->context = context;
    for (size_t i = 0; i < MAX_PEERS; i++) {
        fake->peers[i].fd = -1;
        fake->peers[i].in = malloc(BUFFER_SIZE);
        WR_ASSERT(fake->peers[i].in != NULL);
    }
    return fake;
}

static struct wr_fake_redis *serve(struct wr_fake_redis *fake)
{
    WR_ASSERT(pipe(fake->orders) == 0 && pipe(fake->acks) == 0);
    WR_ASSERT(wr_thread_start(&fake->thread, "fake-redis", run, fake) == WR_OK);
    return fake;
}

struct wr_fake_redis *wr_fake_redis_start(wr_fake_answer_fn answer, void *context)
{
    struct wr_fake_redis *const fake = make_fake(answer, context);

    open_listener(fake);
    return serve(fake);
}

struct wr_fake_redis *wr_fake_redis_start_tcp(wr_fake_answer_fn answer, void *context,
                                              uint16_t port)
{
    struct wr_fake_redis *const fake = make_fake(answer, context);

    open_port(fake, port != 0 ? port : wr_held_port());
    return serve(fake);
}

static void give_order(struct wr_fake_redis *fake, char order)
{
    WR_ASSERT(write(fake->orders[1], &order, 1) == 1);
    WR_ASSERT(read(fake->acks[0], &order, 1) == 1);
}

void wr_fake_redis_stop(struct wr_fake_redis *fake)
{
    give_order(fake, 'q');
    wr_thread_join(&fake->thread);
    for (size_t i = 0; i < MAX_PEERS; i++) {
        if (fake->peers[i].fd >= 0) {
            hang_up(&fake->peers[i]);
        }
        free(fake->peers[i].in);
    }
    (void) close(fake->listener);
    for (int i = 0; i < 2; i++) {
        (void) close(fake->orders[i]);
        (void) close(fake->acks[i]);
    }
    if (fake->port == 0) {
        (void) unlink(fake->path);
        (void) rmdir(fake->dir);
    }
    free(fake);
}

struct wr_str wr_fake_redis_path(const struct wr_fake_redis *fake)
{
    return wr_str_of(fake->path);
}

uint16_t wr_fake_redis_port(const struct wr_fake_redis *fake)
{
    return fake->port;
}

void wr_fake_redis_freeze(struct wr_fake_redis *fake, bool is_frozen)
{
    give_order(fake, is_frozen ? 'f' : 't');
}

void wr_fake_redis_publish(struct wr_fake_redis *fake, const char *message)
{
    fake->message = message;
    give_order(fake, 'p');
}

size_t wr_fake_redis_connections(const struct wr_fake_redis *fake)
{
    return atomic_load(&fake->n_connections);
}
