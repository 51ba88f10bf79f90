/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/rpc/grpc/bed.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/support/wait_for.h"

#define S(literal) ((struct wr_str) WR_STR(literal))

static void echo(void *context, struct wr_call *call, struct wr_str message)
{
    (void) context;
    if (message.ptr == NULL) {
        call->ops->finish(call, WR_STATUS_INVALID_ARGUMENT, S("no message"), (struct wr_str){0});
    } else {
        call->ops->reply(call, message);
    }
}

static void huge_arena(void *context, struct wr_call *call, struct wr_str message)
{
    cr_assert_not_null(wr_arena_alloc(call->arena, (size_t) 1 << 20));
    echo(context, call, message);
}

static void fail(void *context, struct wr_call *call, struct wr_str message)
{
    (void) context;
    (void) message;
    call->ops->finish(call, WR_STATUS_NOT_FOUND, S("nothing here: 100 % \xc3\xa4"), S("\0\1\xff"));
}

static void left(void *context, struct wr_call *call, struct wr_str message)
{
    struct wr_clock clock;
    char text[32];

    (void) context;
    (void) message;
    wr_clock_init(&clock, NULL, NULL);
    (void) snprintf(text, sizeof text, "%" PRId64,
                    call->deadline_mono_us == INT64_MAX
                        ? INT64_MAX
                        : call->deadline_mono_us - wr_clock_read(&clock).mono_us);
    call->ops->reply(call, wr_str_of(text));
}

static void peer(void *context, struct wr_call *call, struct wr_str message)
{
    (void) context;
    (void) message;
    call->ops->reply(call, call->ops->peer(call));
}

static void begin_wait(void *context, struct wr_call *call, struct wr_str message)
{
    struct bed *const bed = context;
    struct wr_str *const kept = wr_arena_alloc(call->arena, sizeof *kept);

    cr_assert_not_null(kept);
    *kept = message; /* lives as long as the call */
    call->state = kept;
    call->ops->await(call);
    (void) pthread_mutex_lock(&bed->mutex);
    cr_assert_lt(bed->n_waiting, BED_WAITING);
    bed->waiting[bed->n_waiting] = call;
    bed->n_waiting++;
    (void) pthread_mutex_unlock(&bed->mutex);
}

static void end_wait(void *context, struct wr_call *call)
{
    struct bed *const bed = context;
    const struct wr_str *const kept = call->state;

    atomic_fetch_add(&bed->n_woken, 1);
    call->ops->reply(call, *kept);
}

static void note_close(void *context, struct wr_call *call, bool is_cancelled)
{
    struct bed *const bed = context;

    (void) call;
    atomic_fetch_add(is_cancelled ? &bed->n_cancelled : &bed->n_closed, 1);
}

static void echo_stream(void *context, struct wr_call *call, struct wr_str message)
{
    (void) context;
    if (message.ptr == NULL) {
        call->ops->finish(call, WR_STATUS_OK, (struct wr_str){0}, (struct wr_str){0});
    } else {
        call->ops->send(call, message);
    }
}

static void flood_stream(void *context, struct wr_call *call, struct wr_str message)
{
    (void) context;
    for (size_t i = 0; i < 100 && message.ptr != NULL; i++) {
        call->ops->send(call, message);
    }
}

static void short_stream(void *context, struct wr_call *call, struct wr_str message)
{
    (void) context;
    if (message.ptr != NULL) {
        call->ops->send(call, message);
    }
    call->ops->finish(call, WR_STATUS_UNAVAILABLE, S("enough"), (struct wr_str){0});
}

static void fill_methods(struct bed *bed)
{
    const struct wr_method methods[BED_METHODS] = {
        {.path = ECHO, .on_message = echo},
        {.path = WAIT, .on_message = begin_wait, .on_wake = end_wait},
        {.path = FAIL, .on_message = fail},
        {.path = LEFT, .on_message = left},
        {.path = HUGE_ARENA, .on_message = huge_arena},
        {.path = PEER, .on_message = peer},
        {.path = ECHO_STREAM, .kind = WR_METHOD_STREAM, .on_message = echo_stream},
        {.path = FLOOD_STREAM, .kind = WR_METHOD_STREAM, .on_message = flood_stream},
        {.path = SHORT_STREAM, .kind = WR_METHOD_STREAM, .on_message = short_stream},
    };

    for (size_t i = 0; i < BED_METHODS; i++) {
        bed->methods[i] = methods[i];
        bed->methods[i].context = bed;
        bed->methods[i].on_close = note_close;
    }
}

static void adopt(void *context, int fd)
{
    wr_grpc_server_adopt(context, fd);
}

static void open_acceptor(struct bed *bed)
{
    const struct wr_str address = WR_STR("127.0.0.1:0");
    const struct wr_listen_options listen = {.addresses = &address, .n_addresses = 1, .option = ""};
    struct wr_diag diag;

    wr_diag_init(&diag, 4);
    cr_assert_eq(wr_listen_open(&listen, &diag, &bed->listen), WR_OK);
    wr_diag_fini(&diag);
    wr_address_format(wr_listen_address(bed->listen, 0), bed->target);

    const struct wr_acceptor_options acceptor = {
        .listen = bed->listen, .adopt = adopt, .context = bed->server, .metrics = bed->metrics};

    cr_assert_eq(wr_acceptor_new(&acceptor, &bed->acceptor), WR_OK);
    cr_assert_eq(wr_acceptor_start(bed->acceptor), WR_OK);
}

void bed_open(struct bed *bed)
{
    cr_assert_eq(pthread_mutex_init(&bed->mutex, NULL), 0);
    bed->metrics = wr_metrics_new();
    cr_assert_not_null(bed->metrics);
    fill_methods(bed);
    bed->options.table =
        (struct wr_method_table){.methods = bed->methods, .n_methods = BED_METHODS};
    bed->options.metrics = bed->metrics;
    cr_assert_eq(wr_grpc_server_new(&bed->options, &bed->server), WR_OK);
    cr_assert_eq(wr_grpc_server_start(bed->server), WR_OK);
    open_acceptor(bed);
    wr_grpc_client_open(&bed->client, bed->target);
}

size_t bed_n_in_use(const struct bed *bed)
{
    const size_t n_workers = bed->options.n_workers == 0 ? 1 : bed->options.n_workers;
    size_t n = 0;

    for (size_t i = 0; i < n_workers; i++) {
        struct wr_grpc_stats stats;

        wr_grpc_server_read_stats(bed->server, i, &stats);
        n += stats.n_in_use;
    }
    return n;
}

void bed_close(struct bed *bed)
{
    wr_acceptor_destroy(bed->acceptor);
    wr_listen_close(bed->listen);
    wr_grpc_server_stop(bed->server, 0);
    WAIT_FOR(bed_n_in_use(bed) == 0);
    wr_grpc_server_destroy(bed->server);
    wr_grpc_client_close(&bed->client);
    wr_metrics_destroy(bed->metrics);
    (void) pthread_mutex_destroy(&bed->mutex);
}

void bed_wake_all(struct bed *bed)
{
    (void) pthread_mutex_lock(&bed->mutex);
    for (size_t i = 0; i < bed->n_waiting; i++) {
        bed->waiting[i]->ops->wake(bed->waiting[i]);
    }
    bed->n_waiting = 0;
    (void) pthread_mutex_unlock(&bed->mutex);
}

size_t bed_n_waiting(struct bed *bed)
{
    (void) pthread_mutex_lock(&bed->mutex);

    const size_t n = bed->n_waiting;

    (void) pthread_mutex_unlock(&bed->mutex);
    return n;
}

size_t bed_arena_bytes(const struct bed *bed)
{
    struct wr_grpc_stats stats;

    wr_grpc_server_read_stats(bed->server, 0, &stats);
    return stats.arena_bytes;
}

int bed_connect_by_hand(const struct bed *bed)
{
    static const char begin[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                                "\0\0\0\4\0\0\0\0\0"; /* empty settings */
    const struct wr_address *const address = wr_listen_address(bed->listen, 0);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    cr_assert_geq(fd, 0);
    cr_assert_eq(connect(fd, (const struct sockaddr *) &address->storage, address->len), 0);
    cr_assert_eq(write(fd, begin, sizeof begin - 1), (ssize_t) sizeof begin - 1);
    return fd;
}
