/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/tcp_pair.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"

struct wr_tcp_pair wr_tcp_pair_open(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    const int listening = socket(AF_INET, SOCK_STREAM, 0);
    struct wr_tcp_pair pair = {.client = socket(AF_INET, SOCK_STREAM, 0)};

    WR_ASSERT(bind(listening, (struct sockaddr *) &address, len) == 0);
    WR_ASSERT(listen(listening, 1) == 0);
    WR_ASSERT(getsockname(listening, (struct sockaddr *) &address, &len) == 0);
    WR_ASSERT(connect(pair.client, (const struct sockaddr *) &address, len) == 0);
    pair.server = accept(listening, NULL, NULL);
    WR_ASSERT(pair.server >= 0);
    (void) close(listening);
    return pair;
}

void wr_tcp_pair_close(struct wr_tcp_pair pair)
{
    (void) close(pair.client);
    (void) close(pair.server);
}

bool wr_tcp_pair_is_cut_off(struct wr_tcp_pair pair)
{
    char byte = 0;

    return recv(pair.client, &byte, 1, MSG_DONTWAIT) < 0 && errno == ECONNRESET;
}
