/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/stress/silence.h"

#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "tests/stress/crew.h"

int wr_silence_open(char out_target[WR_SILENCE_TARGET_SIZE])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    wr_check(fd >= 0 && bind(fd, (const struct sockaddr *) &address, sizeof address) == 0 &&
                 listen(fd, SOMAXCONN) == 0 &&
                 getsockname(fd, (struct sockaddr *) &address, &len) == 0,
             "no socket");
    (void) snprintf(out_target, WR_SILENCE_TARGET_SIZE, "127.0.0.1:%d", ntohs(address.sin_port));
    return fd;
}
