/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/socket.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

bool wr_socket_traffic(int fd, struct wr_socket_traffic *out_traffic)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof info;

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0) {
        return false;
    }
    *out_traffic = (struct wr_socket_traffic){.received = info.tcpi_bytes_received,
                                              .answered = info.tcpi_bytes_acked};
    return true;
}

bool wr_socket_unread(int fd, size_t *out_bytes)
{
    int n = 0;

    if (ioctl(fd, FIONREAD, &n) != 0 || n < 0) {
        return false;
    }
    *out_bytes = (size_t) n;
    return true;
}

void wr_socket_reset(int fd)
{
    const struct sockaddr nobody = {.sa_family = AF_UNSPEC};

    if (connect(fd, &nobody, sizeof nobody) != 0) {
        (void) shutdown(fd, SHUT_RDWR);
    }
}
