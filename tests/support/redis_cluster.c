/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/redis_cluster.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <hiredis/hiredis.h>

#define SLOTS 16384
#define NODES WR_REDIS_CLUSTER_NODES
#define STARTS 5 /* a port may be taken between the look and the start */
#define READY_MS 60000
#define LOOK_MS 10

/* Ports that were free a moment ago: they are held until all are found. */
static bool find_ports(uint16_t *ports, size_t n)
{
    int fds[2 * NODES];
    size_t found = 0;

    for (; found < n; found++) {
        struct sockaddr_in address = {.sin_family = AF_INET};
        socklen_t len = sizeof address;

        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        fds[found] = socket(AF_INET, SOCK_STREAM, 0);
        if (fds[found] < 0 || bind(fds[found], (struct sockaddr *) &address, sizeof address) != 0 ||
            getsockname(fds[found], (struct sockaddr *) &address, &len) != 0) {
            break;
        }
        ports[found] = ntohs(address.sin_port);
    }

    const bool has_all = found == n;

    for (size_t i = 0; i < found; i++) {
        (void) close(fds[i]);
    }
    return has_all;
}

static bool start_node(struct wr_redis_server *server, uint16_t port, uint16_t bus_port)
{
    char port_text[8], bus_port_text[8];
    const char *const options[] = {"--port",
                                   port_text,
                                   "--bind",
                                   "127.0.0.1",
                                   "--cluster-enabled",
                                   "yes",
                                   "--cluster-config-file",
                                   "nodes.conf",
                                   "--cluster-port",
                                   bus_port_text,
                                   NULL};

    (void) snprintf(port_text, sizeof port_text, "%u", port);
    (void) snprintf(bus_port_text, sizeof bus_port_text, "%u", bus_port);
    return wr_redis_server_start(server, options);
}

/* The words of `format` as a command to one of the nodes; false unless the reply is a text that
 * holds `part`. */
__attribute__((format(printf, 3, 4))) static bool tell(const struct wr_redis_server *server,
                                                       const char *part, const char *format, ...)
{
    redisContext *const redis = redisConnectUnix(server->socket_path);
    bool is_well = false;
    va_list list;

    va_start(list, format);
    if (redis != NULL && redis->err == 0) {
        redisReply *const reply = redisvCommand(redis, format, list);

        is_well = reply != NULL && reply->str != NULL && strstr(reply->str, part) != NULL;
        freeReplyObject(reply);
    }
    va_end(list);
    if (redis != NULL) {
        redisFree(redis);
    }
    return is_well;
}

static bool join(const struct wr_redis_test_cluster *cluster, const uint16_t *bus_ports)
{
    bool is_well = true;

    for (size_t i = 0; i < NODES && is_well; i++) {
        const struct wr_redis_server *const server = &cluster->servers[i];

        is_well = tell(server, "OK", "CLUSTER SET-CONFIG-EPOCH %d", (int) i + 1) &&
                  tell(server, "OK", "CLUSTER ADDSLOTSRANGE %d %d", (int) (SLOTS * i / NODES),
                       (int) (SLOTS * (i + 1) / NODES) - 1) &&
                  (i == 0 || tell(server, "OK", "CLUSTER MEET 127.0.0.1 %d %d", cluster->ports[0],
                                  bus_ports[0]));
    }
    return is_well;
}

static bool is_whole(const struct wr_redis_test_cluster *cluster)
{
    for (size_t i = 0; i < NODES; i++) {
        if (!tell(&cluster->servers[i], "cluster_state:ok", "CLUSTER INFO") ||
            !tell(&cluster->servers[i], "cluster_slots_ok:16384", "CLUSTER INFO")) {
            return false;
        }
    }
    return true;
}

static bool wait_until_whole(const struct wr_redis_test_cluster *cluster)
{
    for (int left_ms = READY_MS; left_ms > 0; left_ms -= LOOK_MS) {
        if (is_whole(cluster)) {
            return true;
        }
        (void) poll(NULL, 0, LOOK_MS);
    }
    return false;
}

static bool start_nodes(struct wr_redis_test_cluster *cluster)
{
    uint16_t ports[2 * NODES];
    bool is_well = find_ports(ports, 2 * NODES);

    for (size_t i = 0; i < NODES && is_well; i++) {
        cluster->ports[i] = ports[i];
        is_well = start_node(&cluster->servers[i], ports[i], ports[NODES + i]);
    }
    return is_well && join(cluster, ports + NODES);
}

bool wr_redis_cluster_start(struct wr_redis_test_cluster *cluster)
{
    for (int i = 0; i < STARTS; i++) {
        *cluster = (struct wr_redis_test_cluster){0};
        if (start_nodes(cluster) && wait_until_whole(cluster)) {
            return true;
        }
        wr_redis_cluster_stop(cluster);
    }
    (void) fprintf(stderr, "the cluster does not come together\n");
    return false;
}

void wr_redis_cluster_stop(struct wr_redis_test_cluster *cluster)
{
    for (size_t i = 0; i < NODES; i++) {
        if (cluster->servers[i].dir[0] != '\0') {
            wr_redis_server_stop(&cluster->servers[i]);
        }
    }
}
