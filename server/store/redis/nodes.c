/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "store/redis/loop.h"

#define KEEP_US INT64_C(10000000) /* a node that nobody names */

void wr_redis_nodes_init(struct wr_redis_nodes *nodes, const struct wr_redis_link_options *options)
{
    nodes->options = *options;
    nodes->n = nodes->next = 0;
}

static void destroy_node(struct wr_redis_node *node)
{
    wr_redis_link_destroy(node->link);
    free(node->texts);
    free(node);
}

void wr_redis_nodes_fini(struct wr_redis_nodes *nodes)
{
    while (nodes->n > 0) {
        destroy_node(nodes->items[--nodes->n]);
    }
}

static bool has_same_names(const struct wr_redis_node *node, const struct wr_redis_primary *names)
{
    if (node->n_names != names->n_names) {
        return false;
    }
    for (size_t i = 0; i < names->n_names; i++) {
        if (!wr_str_equal(node->names[i], names->names[i])) {
            return false;
        }
    }
    return true;
}

/* Copies them. False when memory is out; the old ones stay. */
static bool set_names(struct wr_redis_node *node, const struct wr_redis_primary *names)
{
    size_t len = 0;

    for (size_t i = 0; i < names->n_names; i++) {
        len += names->names[i].len;
    }

    char *const texts = malloc(len + 1);
    char *at = texts;

    if (texts == NULL) {
        return false;
    }
    for (size_t i = 0; i < names->n_names; i++) {
        const struct wr_str name = names->names[i];

        memcpy(at, name.ptr, name.len);
        node->names[i] = (struct wr_str){.ptr = at, .len = name.len};
        at += name.len;
    }
    free(node->texts);
    node->texts = texts;
    node->n_names = names->n_names;
    node->port = names->port;
    return true;
}

static struct wr_redis_node *make_node(const struct wr_redis_nodes *nodes,
                                       const struct wr_redis_primary *names)
{
    struct wr_redis_node *const node = calloc(1, sizeof *node);
    struct wr_redis_link_options options = nodes->options;

    if (node == NULL) {
        return NULL;
    }
    options.place = (struct wr_redis_place){.host = names->names[0], .port = names->port};
    if (!set_names(node, names) || wr_redis_link_new(&options, &node->link) != WR_OK) {
        destroy_node(node);
        return NULL;
    }
    return node;
}

/* The one that is connected to by this name. */
static struct wr_redis_node *find_place(struct wr_redis_nodes *nodes, struct wr_str name,
                                        uint16_t port)
{
    for (size_t i = 0; i < nodes->n; i++) {
        struct wr_redis_node *const node = nodes->items[i];

        if (node->port == port && wr_str_equal(node->names[0], name)) {
            return node;
        }
    }
    return NULL;
}

struct wr_redis_node *wr_redis_nodes_get(struct wr_redis_nodes *nodes,
                                         const struct wr_redis_primary *names)
{
    struct wr_redis_node *node = find_place(nodes, names->names[0], names->port);
    const bool is_new = node == NULL;

    if (is_new && nodes->n < WR_REDIS_NODES) {
        node = make_node(nodes, names);
    }
    if (node == NULL) {
        return NULL;
    }
    if (is_new) {
        nodes->items[nodes->n++] = node;
    } else if (!has_same_names(node, names) && !set_names(node, names)) {
        return NULL;
    }
    node->named_us = wr_redis_loop_now(nodes->options.loop);
    wr_redis_link_open(node->link);
    return node;
}

struct wr_redis_node *wr_redis_nodes_find(struct wr_redis_nodes *nodes, struct wr_str name,
                                          uint16_t port)
{
    struct wr_redis_node *const node = find_place(nodes, name, port);

    for (size_t i = 0; i < nodes->n && node == NULL; i++) {
        struct wr_redis_node *const other = nodes->items[i];

        for (size_t k = 1; k < other->n_names && other->port == port; k++) {
            if (wr_str_equal(other->names[k], name)) {
                return other;
            }
        }
    }
    return node;
}

struct wr_redis_node *wr_redis_nodes_next(struct wr_redis_nodes *nodes)
{
    struct wr_redis_node *found = NULL;
    size_t found_at = 0;

    for (size_t i = 0; i < nodes->n && (found == NULL || !found->is_on_map); i++) {
        const size_t at = (nodes->next + i) % nodes->n;
        struct wr_redis_node *const node = nodes->items[at];

        if (wr_redis_link_is_ready(node->link) && (found == NULL || node->is_on_map)) {
            found = node;
            found_at = at;
        }
    }
    nodes->next = found_at + 1;
    return found;
}

bool wr_redis_nodes_any_ready(const struct wr_redis_nodes *nodes)
{
    for (size_t i = 0; i < nodes->n; i++) {
        if (nodes->items[i]->is_on_map && wr_redis_link_is_ready(nodes->items[i]->link)) {
            return true;
        }
    }
    return false;
}

bool wr_redis_nodes_all_ready(const struct wr_redis_nodes *nodes)
{
    for (size_t i = 0; i < nodes->n; i++) {
        if (nodes->items[i]->is_on_map && !wr_redis_link_is_ready(nodes->items[i]->link)) {
            return false;
        }
    }
    return true;
}

void wr_redis_nodes_tidy(struct wr_redis_nodes *nodes)
{
    const int64_t now_us = wr_redis_loop_now(nodes->options.loop);

    /* Its requests go elsewhere, perhaps to new nodes: those come to the end. */
    for (size_t i = nodes->n; i-- > 0;) {
        struct wr_redis_node *const node = nodes->items[i];

        if (!node->is_on_map && now_us - node->named_us > KEEP_US &&
            wr_redis_link_load(node->link) == 0) {
            nodes->items[i] = nodes->items[--nodes->n];
            destroy_node(node);
        }
    }
}

void wr_redis_nodes_close(struct wr_redis_nodes *nodes)
{
    for (size_t i = 0; i < nodes->n; i++) {
        wr_redis_link_close(nodes->items[i]->link);
    }
}
