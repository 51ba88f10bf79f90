/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/slots.h"

#include <stddef.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "base/number.h"

#define HOST_MAX 255 /* the longest name of a host, RFC 1035 section 2.3.4 */

/* What a reply says about one node. */
struct node {
    struct wr_str endpoint, hostname, ip;
    bool is_primary, is_online;
    uint16_t port, tls_port;
};

static bool is_array(const struct redisReply *reply)
{
    return reply->type == REDIS_REPLY_ARRAY;
}

/* Empty for whatever is no text. */
static struct wr_str text_of(const struct redisReply *reply)
{
    const bool is_text = reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS;

    return is_text ? (struct wr_str){.ptr = reply->str, .len = reply->len} : (struct wr_str){0};
}

static bool is_word(const struct redisReply *reply, const char *word)
{
    return wr_str_equal(text_of(reply), wr_str_of(word));
}

static bool read_port(const struct redisReply *reply, uint16_t *out_port)
{
    if (reply->type != REDIS_REPLY_INTEGER || reply->integer < 0 || reply->integer > UINT16_MAX) {
        return false;
    }
    *out_port = (uint16_t) reply->integer;
    return true;
}

/* The value of `key` in a map that is written as an array; NULL: there is none. */
static const struct redisReply *value_of(const struct redisReply *map, const char *key)
{
    for (size_t i = 0; i + 1 < map->elements; i += 2) {
        if (is_word(map->element[i], key)) {
            return map->element[i + 1];
        }
    }
    return NULL;
}

static struct wr_str text_at(const struct redisReply *map, const char *key)
{
    const struct redisReply *const value = value_of(map, key);

    return value != NULL ? text_of(value) : (struct wr_str){0};
}

/* A node that is to have a host name and has none says "?". */
static bool is_name(struct wr_str host)
{
    return host.len > 0 && host.len <= HOST_MAX && wr_str_find(host, '\0') == host.len &&
           !wr_str_equal(host, wr_str_of("?"));
}

/* ---- names ---- */

static void add_name(struct wr_redis_primary *primary, struct wr_str name)
{
    if (!is_name(name)) {
        return;
    }
    for (size_t i = 0; i < primary->n_names; i++) {
        if (wr_str_equal(primary->names[i], name)) {
            return;
        }
    }
    if (primary->n_names < WR_REDIS_NODE_NAMES) {
        primary->names[primary->n_names++] = name;
    }
}

/* The endpoint is what the cluster wants its clients to use; an empty one says: as you came here.
 * Certificates are for names. False when nothing is known to connect to. */
static bool name_primary(const struct node *node, const struct wr_redis_slots_asked *asked,
                         struct wr_redis_primary *out_primary)
{
    *out_primary = (struct wr_redis_primary){
        .port = asked->has_tls && node->tls_port != 0 ? node->tls_port : node->port,
    };
    if (asked->has_tls) {
        add_name(out_primary, node->hostname);
    }
    add_name(out_primary, node->endpoint.len > 0 ? node->endpoint : asked->host);
    add_name(out_primary, node->ip);
    add_name(out_primary, node->hostname);
    return out_primary->n_names > 0 && out_primary->port != 0;
}

/* Its index + 1; 0: it cannot be used. A node that owns several ranges comes several times. */
static uint16_t add_primary(struct wr_redis_slots *slots, const struct node *node,
                            const struct wr_redis_slots_asked *asked)
{
    struct wr_redis_primary primary;

    if (!name_primary(node, asked, &primary)) {
        return 0;
    }
    for (size_t i = 0; i < slots->n_primaries; i++) {
        if (slots->primaries[i].port == primary.port &&
            wr_str_equal(slots->primaries[i].names[0], primary.names[0])) {
            return (uint16_t) (i + 1);
        }
    }
    if (slots->n_primaries == WR_REDIS_PRIMARIES) {
        return 0;
    }
    slots->primaries[slots->n_primaries++] = primary;
    return (uint16_t) slots->n_primaries;
}

/* False when these are no slots, or have an owner already. An owner of 0 owns nothing. */
static bool add_range(struct wr_redis_slots *slots, const struct redisReply *first,
                      const struct redisReply *last, uint16_t owner)
{
    if (first->type != REDIS_REPLY_INTEGER || last->type != REDIS_REPLY_INTEGER ||
        first->integer < 0 || last->integer < first->integer || last->integer >= WR_REDIS_SLOTS) {
        return false;
    }
    for (long long slot = first->integer; owner != 0 && slot <= last->integer; slot++) {
        if (slots->owner[slot] != 0) {
            return false;
        }
        slots->owner[slot] = owner;
        slots->n_covered++;
    }
    return true;
}

static void clear(struct wr_redis_slots *slots)
{
    slots->n_primaries = slots->n_covered = 0;
    memset(slots->owner, 0, sizeof slots->owner);
}

/* ---- CLUSTER SHARDS ---- */

static bool read_shard_node(const struct redisReply *reply, struct node *out_node)
{
    *out_node = (struct node){0};
    if (!is_array(reply)) {
        return false;
    }

    const struct redisReply *const port = value_of(reply, "port");
    const struct redisReply *const tls_port = value_of(reply, "tls-port");

    out_node->endpoint = text_at(reply, "endpoint");
    out_node->hostname = text_at(reply, "hostname");
    out_node->ip = text_at(reply, "ip");
    out_node->is_primary = wr_str_equal(text_at(reply, "role"), wr_str_of("master"));
    out_node->is_online = wr_str_equal(text_at(reply, "health"), wr_str_of("online"));
    return (port != NULL || tls_port != NULL) &&
           (port == NULL || read_port(port, &out_node->port)) &&
           (tls_port == NULL || read_port(tls_port, &out_node->tls_port));
}

/* The primary of a shard; one that is online goes before one that is not. False: garbage. */
static bool find_primary(const struct redisReply *nodes, struct node *out_node)
{
    *out_node = (struct node){0};
    for (size_t i = 0; i < nodes->elements; i++) {
        struct node node;

        if (!read_shard_node(nodes->element[i], &node)) {
            return false;
        }
        if (node.is_primary && (!out_node->is_primary || !out_node->is_online)) {
            *out_node = node;
        }
    }
    return true;
}

static bool read_shard(const struct redisReply *shard, const struct wr_redis_slots_asked *asked,
                       struct wr_redis_slots *slots)
{
    const struct redisReply *const ranges = is_array(shard) ? value_of(shard, "slots") : NULL;
    const struct redisReply *const nodes = is_array(shard) ? value_of(shard, "nodes") : NULL;
    struct node primary;

    if (ranges == NULL || nodes == NULL || !is_array(ranges) || !is_array(nodes) ||
        ranges->elements % 2 != 0 || !find_primary(nodes, &primary)) {
        return false;
    }

    /* One that failed and has lost its slots is left alone. */
    const bool is_used = primary.is_primary && (primary.is_online || ranges->elements > 0);
    const uint16_t owner = is_used ? add_primary(slots, &primary, asked) : 0;

    for (size_t i = 0; i < ranges->elements; i += 2) {
        if (!add_range(slots, ranges->element[i], ranges->element[i + 1], owner)) {
            return false;
        }
    }
    return true;
}

bool wr_redis_slots_read_shards(const struct redisReply *reply,
                                const struct wr_redis_slots_asked *asked,
                                struct wr_redis_slots *out_slots)
{
    clear(out_slots);
    if (!is_array(reply)) {
        return false;
    }
    for (size_t i = 0; i < reply->elements; i++) {
        if (!read_shard(reply->element[i], asked, out_slots)) {
            return false;
        }
    }
    return true;
}

/* ---- CLUSTER SLOTS ---- */

/* Endpoint, port (for TLS to who asks by TLS), id, and since Redis 7 a map of other names. */
static bool read_slots_node(const struct redisReply *reply, struct node *out_node)
{
    *out_node = (struct node){0};
    if (!is_array(reply) || reply->elements < 2 || !read_port(reply->element[1], &out_node->port)) {
        return false;
    }
    out_node->endpoint = text_of(reply->element[0]);
    if (reply->elements > 3 && is_array(reply->element[3])) {
        out_node->hostname = text_at(reply->element[3], "hostname");
        out_node->ip = text_at(reply->element[3], "ip");
    }
    return true;
}

bool wr_redis_slots_read_slots(const struct redisReply *reply,
                               const struct wr_redis_slots_asked *asked,
                               struct wr_redis_slots *out_slots)
{
    clear(out_slots);
    if (!is_array(reply)) {
        return false;
    }
    for (size_t i = 0; i < reply->elements; i++) {
        const struct redisReply *const entry = reply->element[i];
        struct node primary;

        /* The first two say from where to where, the third who is the primary. */
        if (!is_array(entry) || entry->elements < 3 ||
            !read_slots_node(entry->element[2], &primary) ||
            !add_range(out_slots, entry->element[0], entry->element[1],
                       add_primary(out_slots, &primary, asked))) {
            return false;
        }
    }
    return true;
}

/* ---- redirections ---- */

/* The decimal number at `*at`, which is moved behind it. */
static bool read_number(struct wr_str text, size_t *at, unsigned max, unsigned *out_number)
{
    struct wr_str digits = wr_str_skip(text, *at);
    uint64_t number = 0;

    digits.len = wr_number_digits(digits);
    *at += digits.len;
    if (!wr_number_parse(digits, max, &number)) {
        return false;
    }
    *out_number = (unsigned) number;
    return true;
}

/* HOST:PORT up to a blank; an address of IPv6 has colons, too, and no brackets. */
static bool read_address(struct wr_str text, size_t at, struct wr_redis_redirect *redirect)
{
    size_t end = at, colon = 0;
    unsigned port = 0;

    for (; end < text.len && text.ptr[end] != ' '; end++) {
        if (text.ptr[end] == ':') {
            colon = end;
        }
    }
    if (colon < at) {
        return false;
    }
    redirect->host = wr_str_part(text, at, colon);
    at = colon + 1;
    if (!read_number(text, &at, UINT16_MAX, &port) || at != end) {
        return false;
    }
    redirect->port = (uint16_t) port;
    return port != 0 && (redirect->host.len == 0 || is_name(redirect->host));
}

bool wr_redis_redirect_read(struct wr_str error, struct wr_redis_redirect *out_redirect)
{
    struct wr_redis_redirect redirect = {0};
    size_t at = 0;
    unsigned slot = 0;

    if (wr_str_has_prefix(error, wr_str_of("MOVED "))) {
        at = sizeof "MOVED " - 1;
    } else if (wr_str_has_prefix(error, wr_str_of("ASK "))) {
        at = sizeof "ASK " - 1;
    } else {
        return false;
    }
    if (!read_number(error, &at, WR_REDIS_SLOTS - 1, &slot) || at == error.len ||
        error.ptr[at] != ' ' || !read_address(error, at + 1, &redirect)) {
        return false;
    }
    redirect.slot = (uint16_t) slot;
    *out_redirect = redirect;
    return true;
}
