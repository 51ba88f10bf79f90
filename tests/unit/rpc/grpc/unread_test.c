/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/lane.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/wait_for.h"
#include "tests/unit/rpc/grpc/bed.h"

#define TYPE_DATA 0
#define TYPE_HEADERS 1
#define END_STREAM 1
#define END_HEADERS 4
#define FRAME_HEAD 9
#define TYPE_SETTINGS 4
#define INITIAL_WINDOW_SIZE 4
/* More than may be unread, and few enough for the window of the connection. */
#define N_CALLS (4096 + 100)

static struct bed bed;

static void open_bed(void)
{
    bed.options.slots_per_worker = 4;
    bed_open(&bed);
}

static void close_bed(void)
{
    bed_close(&bed);
}

TestSuite(unread, .init = open_bed, .fini = close_bed);

static size_t put_head(unsigned char *at, size_t len, unsigned type, unsigned flags,
                       unsigned stream)
{
    const unsigned char head[FRAME_HEAD] = {
        (unsigned char) (len >> 16),    (unsigned char) (len >> 8),    (unsigned char) len,
        (unsigned char) type,           (unsigned char) flags,         0,
        (unsigned char) (stream >> 16), (unsigned char) (stream >> 8), (unsigned char) stream,
    };

    memcpy(at, head, sizeof head);
    return sizeof head;
}

/* A field that is neither indexed nor compressed (RFC 7541, 6.2.2). */
static size_t put_field(unsigned char *at, const char *name, const char *value)
{
    const size_t name_len = strlen(name), value_len = strlen(value);

    at[0] = 0;
    at[1] = (unsigned char) name_len;
    memcpy(at + 2, name, name_len);
    at[2 + name_len] = (unsigned char) value_len;
    memcpy(at + 3 + name_len, value, value_len);
    return 3 + name_len + value_len;
}

static size_t put_headers(unsigned char *at, unsigned stream, const char *path)
{
    unsigned char *const fields = at + FRAME_HEAD;
    size_t len = 0;

    len += put_field(fields + len, ":method", "POST");
    len += put_field(fields + len, ":scheme", "http");
    len += put_field(fields + len, ":path", path);
    len += put_field(fields + len, ":authority", "test");
    len += put_field(fields + len, "content-type", "application/grpc");
    len += put_field(fields + len, "te", "trailers");
    return put_head(at, len, TYPE_HEADERS, END_HEADERS, stream) + len;
}

/* A message of one byte. */
static size_t put_message(unsigned char *at, unsigned stream)
{
    static const unsigned char message[] = {0, 0, 0, 0, 1, 'x'};
    const size_t head = put_head(at, sizeof message, TYPE_DATA, END_STREAM, stream);

    memcpy(at + head, message, sizeof message);
    return head + sizeof message;
}

/* From now on no byte of an answer may be sent. */
static void close_windows(int fd)
{
    unsigned char bytes[FRAME_HEAD + 6] = {0};

    (void) put_head(bytes, 6, TYPE_SETTINGS, 0, 0);
    bytes[FRAME_HEAD + 1] = INITIAL_WINDOW_SIZE;
    cr_assert_eq(write(fd, bytes, sizeof bytes), (ssize_t) sizeof bytes);
}

static void send_call(int fd, unsigned stream)
{
    unsigned char bytes[256];
    size_t len = put_headers(bytes, stream, ECHO);

    len += put_message(bytes + len, stream);
    cr_assert_eq(write(fd, bytes, len), (ssize_t) len);
}

static bool is_served(void)
{
    struct wr_str got = {0};
    struct wr_grpc_client_call *const call =
        wr_grpc_client_call_new(&bed.client, ECHO, WR_GRPC_CLIENT_FOREVER);

    (void) wr_grpc_client_call_send(call, (struct wr_str) WR_STR("x"));
    (void) wr_grpc_client_call_receive(call, &got);

    const bool is_ok = wr_grpc_client_call_end(call) == GRPC_STATUS_OK;

    wr_grpc_client_call_free(call);
    return is_ok;
}

Test(unread, answers_are_given_up_the_oldest_first_and_others_are_served)
{
    const int fd = bed_connect_by_hand(&bed);

    close_windows(fd);
    for (unsigned i = 0; i < N_CALLS; i++) {
        send_call(fd, 2 * i + 1);
    }
    WAIT_FOR(wr_metrics_sum(bed.metrics, WR_METRIC_CALLS_UNREAD) >= 100);
    cr_assert(is_served(), "with four slots, and thousands of answers that are stuck");
    (void) close(fd);
    WAIT_FOR(bed_n_in_use(&bed) == 0);
}

Test(unread, answers_are_kept_while_they_are_few)
{
    const int fd = bed_connect_by_hand(&bed);

    close_windows(fd);
    for (unsigned i = 0; i < 1000; i++) {
        send_call(fd, 2 * i + 1);
    }
    cr_assert(is_served());
    WAIT_FOR(bed_n_in_use(&bed) == 1000);
    cr_assert_eq(wr_metrics_sum(bed.metrics, WR_METRIC_CALLS_UNREAD), 0);
    (void) close(fd);
    WAIT_FOR(bed_n_in_use(&bed) == 0);
}
