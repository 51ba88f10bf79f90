/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/connections.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static struct wr_connections connections;

static int open_socket(void)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    cr_assert_geq(fd, 0);
    return fd;
}

Test(connections, are_full_at_the_bound)
{
    wr_connections_init(&connections, 2);
    cr_assert(wr_connections_add(&connections, open_socket()));
    cr_assert_not(wr_connections_is_full(&connections));
    cr_assert(wr_connections_add(&connections, open_socket()));
    cr_assert(wr_connections_is_full(&connections));
    cr_assert_not(wr_connections_add(&connections, open_socket()));
    wr_connections_sweep(&connections);
    cr_assert_eq(connections.n, 2, "both are open");
    wr_connections_fini(&connections);
}

Test(connections, that_were_closed_are_swept)
{
    wr_connections_init(&connections, 10);

    const int gone = open_socket(), kept = open_socket();

    cr_assert(wr_connections_add(&connections, gone));
    cr_assert(wr_connections_add(&connections, kept));
    cr_assert_eq(close(gone), 0);
    wr_connections_sweep(&connections);
    cr_assert_eq(connections.n, 1);
    cr_assert_eq(close(kept), 0);
    wr_connections_sweep(&connections);
    cr_assert_eq(connections.n, 0);
    wr_connections_fini(&connections);
}

Test(connections, are_told_apart_when_a_descriptor_comes_again)
{
    wr_connections_init(&connections, 10);

    const int first = open_socket();

    cr_assert(wr_connections_add(&connections, first));
    cr_assert_eq(close(first), 0);
    cr_assert_eq(open_socket(), first, "the system gives the lowest free descriptor");
    cr_assert(wr_connections_add(&connections, first));
    wr_connections_sweep(&connections);
    cr_assert_eq(connections.n, 1, "only the second is open");
    cr_assert_eq(close(first), 0);
    cr_assert_eq(open("/dev/null", O_RDONLY), first);
    wr_connections_sweep(&connections);
    cr_assert_eq(connections.n, 0, "a file is no connection");
    wr_connections_fini(&connections);
}

Test(connections, give_a_copy_of_what_is_still_there)
{
    wr_connections_init(&connections, 10);

    const int fd = open_socket();

    cr_assert(wr_connections_add(&connections, fd));

    const int copy = wr_connection_dup(&connections.items[0]);

    cr_assert_geq(copy, 0);
    cr_assert_neq(copy, fd);
    cr_assert(fcntl(copy, F_GETFD) & FD_CLOEXEC);
    cr_assert_eq(close(fd), 0);
    cr_assert_eq(wr_connection_dup(&connections.items[0]), -1, "it is closed");
    cr_assert_eq(open_socket(), fd);
    cr_assert_eq(wr_connection_dup(&connections.items[0]), -1, "it is another");
    cr_assert_eq(close(fd), 0);
    cr_assert_eq(close(copy), 0);
    wr_connections_fini(&connections);
}

Test(connections, that_come_and_go_do_not_grow_the_table)
{
    wr_connections_init(&connections, (size_t) -1);
    for (int i = 0; i < 10000; i++) {
        const int fd = open_socket();

        cr_assert(wr_connections_add(&connections, fd));
        cr_assert_eq(close(fd), 0);
    }
    cr_assert_leq(connections.capacity, 64);
    wr_connections_fini(&connections);
}

Test(connections, refuse_a_descriptor_that_is_not_open)
{
    wr_connections_init(&connections, 10);
    cr_assert_not(wr_connections_add(&connections, -1));
    cr_assert_eq(connections.n, 0);
    wr_connections_fini(&connections);
}
