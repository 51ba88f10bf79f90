/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/core_args.h"

#include <criterion/criterion.h>
#include <grpc/slice.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/wait_for.h"
#include "tests/unit/rpc/grpc/bed.h"

#define PING "\0\0\x08\6\0\0\0\0\0weirweir"
#define FRAME_HEAD 9
#define TYPE_PING 6
#define TYPE_GOAWAY 7
#define FLAG_ACK 1

/* What is allowed, and some time for a ping that is late to be followed by one that is not. */
#define PING_INTERVAL_MS 900

static struct bed bed;

static void open_bed(void)
{
    bed_open(&bed);
}

static void close_bed(void)
{
    bed_close(&bed);
}

TestSuite(core_args, .init = open_bed, .fini = close_bed);

static grpc_status_code call_with_header(struct wr_grpc_client *client, size_t len)
{
    static char text[128 * 1024];

    cr_assert_leq(len, sizeof text);
    memset(text, 'x', len);

    const grpc_metadata header = {
        .key = grpc_slice_from_static_string("x-large"),
        .value = grpc_slice_from_copied_buffer(text, len),
    };
    struct wr_grpc_client_call *const call =
        wr_grpc_client_call_new_with(client, ECHO, WR_GRPC_CLIENT_FOREVER, &header);
    struct wr_str got = {0};

    (void) wr_grpc_client_call_send(call, (struct wr_str) WR_STR("x"));
    (void) wr_grpc_client_call_receive(call, &got);

    const grpc_status_code status = wr_grpc_client_call_end(call);

    wr_grpc_client_call_free(call);
    grpc_slice_unref(header.value);
    return status;
}

Test(core_args, bound_the_headers_of_a_call)
{
    struct wr_grpc_client other;

    wr_grpc_client_open(&other, bed.target);
    cr_assert_eq(call_with_header(&bed.client, 60 * 1024), GRPC_STATUS_OK);
    cr_assert_eq(call_with_header(&other, 100 * 1024), GRPC_STATUS_RESOURCE_EXHAUSTED);
    cr_assert_eq(call_with_header(&bed.client, 1), GRPC_STATUS_OK);
    wr_grpc_client_close(&other);
    WAIT_FOR(bed_n_in_use(&bed) == 0);
}

static void read_all(int fd, unsigned char *bytes, size_t len)
{
    for (size_t done = 0; done < len;) {
        const ssize_t n = read(fd, bytes + done, len - done);

        cr_assert_gt(n, 0, "the server closed the connection");
        done += (size_t) n;
    }
}

/* Reads a frame, which must not be a complaint. True when it is the answer of a ping. */
static bool read_frame(int fd)
{
    unsigned char head[FRAME_HEAD], body[16 * 1024];

    read_all(fd, head, sizeof head);

    const size_t len = (size_t) head[0] << 16 | (size_t) head[1] << 8 | head[2];

    cr_assert_leq(len, sizeof body);
    cr_assert_neq(head[3], TYPE_GOAWAY, "told to calm down");
    read_all(fd, body, len);
    return head[3] == TYPE_PING && (head[4] & FLAG_ACK) != 0;
}

static int64_t mono_ms(void)
{
    struct timespec now;

    cr_assert_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads what comes until the next ping is due, and the server must not end the connection. */
static void listen_for_complaints(int fd, int64_t until_ms)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};

    for (int64_t left_ms; (left_ms = until_ms - mono_ms()) > 0;) {
        if (poll(&polled, 1, (int) left_ms) == 1) {
            (void) read_frame(fd);
        }
    }
}

Test(core_args, tolerate_pings_without_calls)
{
    const int fd = bed_connect_by_hand(&bed);

    for (int i = 0; i < 6; i++) {
        cr_assert_eq(write(fd, PING, sizeof PING - 1), (ssize_t) sizeof PING - 1);
        while (!read_frame(fd)) {
        }
        /* Now it has come; a busy server may have read it a while after it was sent. */
        listen_for_complaints(fd, mono_ms() + PING_INTERVAL_MS);
    }
    (void) close(fd);
}
