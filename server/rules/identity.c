/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/identity.h"

#include <stdint.h>
#include <string.h>

/*
 * The layout, all numbers little-endian so that replicas of any kind agree:
 *
 *   u32 length, domain
 *   for each entry: u8 mark, u32 length, key, u32 length, value
 *   u8 0xff, i64 window length in microseconds, u8 alignment, u8 algorithm, u32 layer
 */
enum {
    MARK_LITERAL = 0, /* key and value of the request */
    MARK_PATTERN = 1, /* key and value as the rule writes them */
    MARK_END = 0xff,
};

enum {
    ALIGNMENT_EPOCH = 0,
    ALGORITHM_FIXED_WINDOW = 0,
    LAYER_ONLY = 0,
};

#define HEAD_SIZE 4
#define ENTRY_SIZE (1 + 4 + 4)
#define TAIL_SIZE (1 + 8 + 1 + 1 + 4)

/* Both passes, size and write, go over the entries from the last, since nodes know their parent. */
static const struct wr_node *shared(const struct wr_node *node)
{
    return node != NULL && node->has_share_threshold ? node : NULL;
}

static size_t entry_size(const struct wr_entry *entry, const struct wr_node *node)
{
    const struct wr_node *const pattern = shared(node);

    return pattern == NULL ? ENTRY_SIZE + entry->key.len + entry->value.len
                           : ENTRY_SIZE + pattern->key.len + pattern->value.len;
}

static char *put_number(char *at, uint64_t number, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        *at++ = (char) (number >> (8 * i) & 0xff);
    }
    return at;
}

static char *put_text(char *at, struct wr_str text)
{
    at = put_number(at, text.len, 4);
    if (text.len > 0) {
        memcpy(at, text.ptr, text.len);
    }
    return at + text.len;
}

static void put_entry(char *at, const struct wr_entry *entry, const struct wr_node *node)
{
    const struct wr_node *const pattern = shared(node);

    at = put_number(at, pattern == NULL ? MARK_LITERAL : MARK_PATTERN, 1);
    at = put_text(at, pattern == NULL ? entry->key : pattern->key);
    (void) put_text(at, pattern == NULL ? entry->value : pattern->value);
}

bool wr_identity_write(struct wr_arena *arena, struct wr_str domain, const struct wr_node *node,
                       const struct wr_entry *entries, size_t n, const struct wr_limit *limit,
                       struct wr_str *out_key)
{
    const struct wr_node *above = node;
    size_t size = HEAD_SIZE + domain.len + TAIL_SIZE;

    for (size_t i = n; i-- > 0; above = above == NULL ? NULL : above->parent) {
        size += entry_size(&entries[i], above);
    }

    char *const key = wr_arena_alloc(arena, size);

    if (key == NULL) {
        return false;
    }
    (void) put_text(key, domain);

    char *at = key + size - TAIL_SIZE;

    above = node;
    for (size_t i = n; i-- > 0; above = above == NULL ? NULL : above->parent) {
        at -= entry_size(&entries[i], above);
        put_entry(at, &entries[i], above);
    }
    at = put_number(key + size - TAIL_SIZE, MARK_END, 1);
    at = put_number(at, (uint64_t) limit->length_us, 8);
    at = put_number(at, ALIGNMENT_EPOCH, 1);
    at = put_number(at, ALGORITHM_FIXED_WINDOW, 1);
    (void) put_number(at, LAYER_ONLY, 4);
    *out_key = (struct wr_str){.ptr = key, .len = size};
    return true;
}
