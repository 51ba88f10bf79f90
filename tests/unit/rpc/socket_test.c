/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/socket.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/tcp_pair.h"

Test(wr_socket, tells_what_came_and_what_was_answered)
{
    const struct wr_tcp_pair pair = wr_tcp_pair_open();
    struct wr_socket_traffic traffic;
    char bytes[5];

    cr_assert_eq(write(pair.client, "hello", 5), 5);
    cr_assert_eq(recv(pair.server, bytes, 5, MSG_WAITALL), 5);
    cr_assert_eq(write(pair.server, "you", 3), 3);
    cr_assert_eq(recv(pair.client, bytes, 3, MSG_WAITALL), 3);
    cr_assert_eq(write(pair.client, "!", 1), 1, "and with it the acknowledgement");
    cr_assert_eq(recv(pair.server, bytes, 1, MSG_WAITALL), 1);
    cr_assert(wr_socket_traffic(pair.server, &traffic));
    cr_assert_eq(traffic.received, 6);
    cr_assert_geq(traffic.answered, 3);
    cr_assert_leq(traffic.answered, 4, "the handshake may count as a byte");
    wr_tcp_pair_close(pair);
}

Test(wr_socket, tells_what_is_unread)
{
    const struct wr_tcp_pair pair = wr_tcp_pair_open();
    size_t unread = 9;
    char byte = 0;

    cr_assert(wr_socket_unread(pair.server, &unread));
    cr_assert_eq(unread, 0);
    cr_assert_eq(write(pair.client, "hello", 5), 5);
    cr_assert_eq(recv(pair.server, &byte, 1, MSG_PEEK), 1, "it has arrived");
    cr_assert(wr_socket_unread(pair.server, &unread));
    cr_assert_eq(unread, 5);
    wr_tcp_pair_close(pair);
}

Test(wr_socket, knows_no_traffic_but_by_tcp)
{
    struct wr_socket_traffic traffic;
    size_t unread = 0;
    int ends[2];

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    cr_assert_not(wr_socket_traffic(ends[0], &traffic));
    cr_assert_not(wr_socket_traffic(-1, &traffic));
    cr_assert_not(wr_socket_unread(-1, &unread));
    (void) close(ends[0]);
    (void) close(ends[1]);
}

Test(wr_socket, that_is_reset_drops_what_is_unread)
{
    const struct wr_tcp_pair pair = wr_tcp_pair_open();
    char byte = 0;

    cr_assert_eq(write(pair.client, "unread", 6), 6);
    cr_assert_eq(recv(pair.server, &byte, 1, MSG_PEEK), 1, "it has arrived");
    wr_socket_reset(pair.server);
    cr_assert_leq(recv(pair.server, &byte, 1, MSG_DONTWAIT), 0);
    cr_assert(wr_tcp_pair_is_cut_off(pair));
    wr_tcp_pair_close(pair);
}

Test(wr_socket, of_unix_is_shut)
{
    int ends[2];
    char byte = 0;

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    wr_socket_reset(ends[0]);
    cr_assert_eq(recv(ends[1], &byte, 1, 0), 0, "the end");
    (void) close(ends[0]);
    (void) close(ends[1]);
}
