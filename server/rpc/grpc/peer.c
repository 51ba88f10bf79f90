/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/peer.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define PREFIX "fd:"

void wr_grpc_peer_format(const char *peer, char text[WR_ADDRESS_TEXT_SIZE])
{
    struct wr_address address = {.len = sizeof address.storage};

    text[0] = '\0';
    if (strncmp(peer, PREFIX, sizeof PREFIX - 1) != 0) {
        return;
    }

    const char *const number = peer + sizeof PREFIX - 1;
    char *end = NULL;
    const long fd = strtol(number, &end, 10);

    if (end != number && fd >= 0 && fd <= INT_MAX &&
        getpeername((int) fd, (struct sockaddr *) &address.storage, &address.len) == 0) {
        wr_address_format(&address, text);
    }
}
