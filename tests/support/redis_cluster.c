/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/redis_cluster.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "tests/support/held_port.h"

#define SLOTS 16384
#define NODES WR_REDIS_CLUSTER_NODES
#define READY_MS 60000
#define LOOK_MS 10

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
    uint16_t bus_ports[NODES];
    bool is_well = true;

    for (size_t i = 0; i < NODES && is_well; i++) {
        cluster->ports[i] = wr_held_port();
        bus_ports[i] = wr_held_port();
        is_well = start_node(&cluster->servers[i], cluster->ports[i], bus_ports[i]);
    }
    return is_well && join(cluster, bus_ports);
}

bool wr_redis_cluster_start(struct wr_redis_test_cluster *cluster)
{
    *cluster = (struct wr_redis_test_cluster){0};
    if (start_nodes(cluster) && wait_until_whole(cluster)) {
        return true;
    }
    wr_redis_cluster_stop(cluster);
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
