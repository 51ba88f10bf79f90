/* SPDX-License-Identifier: Apache-2.0 */
#include "loopback.h"

#include <criterion/criterion.h>
#include <netinet/in.h>
#include <sys/socket.h>

int loopback_listen(unsigned int *out_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    cr_assert_eq(bind(fd, (const struct sockaddr *) &address, sizeof address), 0);
    cr_assert_eq(listen(fd, 8), 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *) &address, &len), 0);
    *out_port = ntohs(address.sin_port);
    return fd;
}
