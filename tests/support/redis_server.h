/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Redis server of a test's own: on a Unix socket in a new directory below the one for temporary
 * files, without persistence. It ends with the test, also when that crashes; then its directory
 * stays. The variable TEST_REDIS_SERVER names another program than redis-server, as Valkey's.
 *
 * Threads: owner thread only, which must outlive the server.
 */
#ifndef WR_TESTS_SUPPORT_REDIS_SERVER_H
#define WR_TESTS_SUPPORT_REDIS_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

struct wr_redis_server {
    char dir[64];         /* its working directory */
    char socket_path[96]; /* in it */
    pid_t pid;
    int log_fd; /* what it prints */
};

/*
 * Starts a server and waits until it accepts connections. `options` are more words for its command
 * line, up to a NULL; they override those of the helper. False, with a line on stderr, when it is
 * not ready within some seconds.
 */
bool wr_redis_server_start(struct wr_redis_server *server, const char *const *options);

/* Ends it at once and removes its directory. */
void wr_redis_server_stop(struct wr_redis_server *server);

#endif
