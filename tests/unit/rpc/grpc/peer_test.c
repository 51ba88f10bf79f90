/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/peer.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

Test(peer, that_is_no_connection_is_empty)
{
    static const char *const rows[] = {
        "",         "unknown", "ipv4:127.0.0.1:80",      "fd:", "fd:x",
        "fd:99999", "fd:-1",   "fd:99999999999999999999"};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[WR_ADDRESS_TEXT_SIZE] = "before";

        wr_grpc_peer_format(rows[i], text);
        cr_assert_str_eq(text, "", "%s", rows[i]);
    }
}

Test(peer, of_a_Unix_socket_has_no_path)
{
    int pair[2];
    char name[32], text[WR_ADDRESS_TEXT_SIZE] = "";

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    (void) snprintf(name, sizeof name, "fd:%d", pair[0]);
    wr_grpc_peer_format(name, text);
    cr_assert_str_eq(text, "unix:");
    (void) close(pair[0]);
    (void) close(pair[1]);
}
