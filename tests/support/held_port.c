/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/held_port.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/assert.h"

uint16_t wr_held_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof address;
    const int yes = 1;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    WR_ASSERT(fd >= 0);
    WR_ASSERT(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0);
    WR_ASSERT(bind(fd, (struct sockaddr *) &address, sizeof address) == 0);
    WR_ASSERT(getsockname(fd, (struct sockaddr *) &address, &len) == 0);
    return ntohs(address.sin_port);
}
