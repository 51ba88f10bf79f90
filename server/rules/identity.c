/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/identity.h"

#include "limit/calendar.h"
#include "limit/identity.h"
#include "rules/address.h"

/* An entry as it is written. */
struct written {
    bool is_pattern;
    struct wr_str key, value;
    char group[WR_ADDRESS_TEXT_SIZE]; /* the value, of addresses that count together */
};

static void resolve(const struct wr_identity_parts *parts, size_t index, const struct wr_node *node,
                    struct written *written)
{
    const struct wr_entry *const entry = &parts->entries[index];
    size_t len;

    if (node != NULL && node->has_share_threshold && !parts->is_override) {
        written->is_pattern = true;
        written->key = node->key;
        written->value = node->value;
        return;
    }
    written->is_pattern = false;
    written->key = entry->key;
    written->value = entry->value;
    if (node != NULL && node->has_group_ip) {
        len = wr_address_group(entry->value, node->ipv4_bits, node->ipv6_bits, written->group);
        if (len > 0) {
            written->value = (struct wr_str){.ptr = written->group, .len = len};
        }
    }
}

static size_t depth_of(const struct wr_node *node)
{
    size_t depth = 0;

    for (; node != NULL; node = node->parent) {
        depth++;
    }
    return depth;
}

/* Both passes, size and write, go over the entries from the last, since nodes know their parent. */
static size_t entry_size(const struct wr_identity_parts *parts, size_t index,
                         const struct wr_node *node)
{
    struct written written;

    resolve(parts, index, node, &written);
    return WR_IDENTITY_ENTRY_SIZE + written.key.len + written.value.len;
}

/* Writes the entry so that it ends before `end`, and returns where it begins. */
static char *put_entry_before(char *end, const struct wr_identity_parts *parts, size_t index,
                              const struct wr_node *node)
{
    struct written written;

    resolve(parts, index, node, &written);

    char *const at = end - WR_IDENTITY_ENTRY_SIZE - written.key.len - written.value.len;

    (void) wr_identity_put_entry(at, written.is_pattern, written.key, written.value);
    return at;
}

static struct wr_identity_tail tail_of(const struct wr_identity_parts *parts)
{
    const struct wr_limit *const limit = parts->limit;
    const unsigned warm_up = limit->warm_up_us > 0 ? WR_IDENTITY_WARM_UP : 0;

    return (struct wr_identity_tail){
        .length_us = limit->length_us,
        .alignment = (uint8_t) limit->alignment,
        .algorithm = (uint8_t) (limit->algorithm | warm_up),
        .layer = parts->layer,
        .zone = limit->calendar != NULL ? limit->calendar->zone_name : (struct wr_str){0},
    };
}

bool wr_identity_write(struct wr_arena *arena, const struct wr_identity_parts *parts,
                       struct wr_str *out_key)
{
    const size_t depth = depth_of(parts->node);
    const struct wr_node *node = parts->node;
    const struct wr_identity_tail tail = tail_of(parts);
    const size_t tail_size = WR_IDENTITY_TAIL_SIZE + tail.zone.len;
    size_t size = WR_IDENTITY_HEAD_SIZE + parts->domain.len + tail_size;

    for (size_t i = parts->n_entries; i-- > 0;) {
        size += entry_size(parts, i, i < depth ? node : NULL);
        node = i < depth ? node->parent : node;
    }

    char *const key = wr_arena_alloc(arena, size);

    if (key == NULL) {
        return false;
    }
    (void) wr_identity_put_domain(key, parts->domain);

    char *at = key + size - tail_size;

    node = parts->node;
    for (size_t i = parts->n_entries; i-- > 0;) {
        at = put_entry_before(at, parts, i, i < depth ? node : NULL);
        node = i < depth ? node->parent : node;
    }

    (void) wr_identity_put_tail(key + size - tail_size, &tail);
    *out_key = (struct wr_str){.ptr = key, .len = size};
    return true;
}
