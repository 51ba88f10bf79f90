/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of the grammar, where each has its place, and which one was meant by a misspelt one.
 *
 * Threads: immutable.
 */
#ifndef WR_RULES_CONFIG_KEYS_H
#define WR_RULES_CONFIG_KEYS_H

#include <stdbool.h>

#include "base/str.h"

/* A map's level in the grammar; a key belongs to one or more. */
enum wr_config_level {
    WR_LEVEL_TOP = 1,
    WR_LEVEL_RULE = 2,
    WR_LEVEL_LIMIT = 4,
    WR_LEVEL_REPLACE = 8,
    WR_LEVEL_WARM_UP = 16,
    WR_LEVEL_GROUP_IP = 32,
    WR_LEVEL_IGNORED = 0, /* below a key without effect: every key may stand, none has its place */
};

/* From `limits` on they are keys that files of the incumbent cannot have. */
#define WR_CONFIG_KEY_TABLE(X)                                                                     \
    X(WR_KEY_DOMAIN, "domain", WR_LEVEL_TOP)                                                       \
    X(WR_KEY_DESCRIPTORS, "descriptors", WR_LEVEL_TOP | WR_LEVEL_RULE)                             \
    X(WR_KEY_KEY, "key", WR_LEVEL_RULE)                                                            \
    X(WR_KEY_VALUE, "value", WR_LEVEL_RULE)                                                        \
    X(WR_KEY_RATE_LIMIT, "rate_limit", WR_LEVEL_RULE)                                              \
    X(WR_KEY_SHADOW_MODE, "shadow_mode", WR_LEVEL_RULE)                                            \
    X(WR_KEY_QUOTA_MODE, "quota_mode", WR_LEVEL_RULE)                                              \
    X(WR_KEY_DETAILED_METRIC, "detailed_metric", WR_LEVEL_RULE)                                    \
    X(WR_KEY_VALUE_TO_METRIC, "value_to_metric", WR_LEVEL_RULE)                                    \
    X(WR_KEY_SHARE_THRESHOLD, "share_threshold", WR_LEVEL_RULE)                                    \
    X(WR_KEY_METADATA, "metadata", WR_LEVEL_RULE)                                                  \
    X(WR_KEY_REQUESTS_PER_UNIT, "requests_per_unit", WR_LEVEL_LIMIT)                               \
    X(WR_KEY_UNIT, "unit", WR_LEVEL_LIMIT)                                                         \
    X(WR_KEY_UNLIMITED, "unlimited", WR_LEVEL_LIMIT)                                               \
    X(WR_KEY_NAME, "name", WR_LEVEL_LIMIT | WR_LEVEL_REPLACE)                                      \
    X(WR_KEY_REPLACES, "replaces", WR_LEVEL_LIMIT)                                                 \
    X(WR_KEY_LIMITS, "limits", WR_LEVEL_RULE)                                                      \
    X(WR_KEY_COUNTS, "count", WR_LEVEL_TOP | WR_LEVEL_LIMIT)                                       \
    X(WR_KEY_FAILURE_MODE, "failure_mode", WR_LEVEL_LIMIT)                                         \
    X(WR_KEY_GROUP_IP, "group_ip", WR_LEVEL_RULE)                                                  \
    X(WR_KEY_WINDOW, "window", WR_LEVEL_LIMIT)                                                     \
    X(WR_KEY_UNIT_MULTIPLIER, "unit_multiplier", WR_LEVEL_LIMIT)                                   \
    X(WR_KEY_ALGORITHM, "algorithm", WR_LEVEL_LIMIT)                                               \
    X(WR_KEY_ALIGN, "align", WR_LEVEL_LIMIT)                                                       \
    X(WR_KEY_TIME_ZONE, "time_zone", WR_LEVEL_LIMIT)                                               \
    X(WR_KEY_BURST, "burst", WR_LEVEL_LIMIT)                                                       \
    X(WR_KEY_BUCKETS, "buckets", WR_LEVEL_LIMIT)                                                   \
    X(WR_KEY_HEADROOM, "headroom", WR_LEVEL_LIMIT)                                                 \
    X(WR_KEY_WARM_UP, "warm_up", WR_LEVEL_LIMIT)                                                   \
    X(WR_KEY_DURATION, "duration", WR_LEVEL_WARM_UP)                                               \
    X(WR_KEY_START, "start", WR_LEVEL_WARM_UP)                                                     \
    X(WR_KEY_IPV4, "ipv4", WR_LEVEL_GROUP_IP)                                                      \
    X(WR_KEY_IPV6, "ipv6", WR_LEVEL_GROUP_IP)

enum wr_config_key {
#define WR_CONFIG_KEY_ENUM(id, name, levels) id,
    WR_CONFIG_KEY_TABLE(WR_CONFIG_KEY_ENUM)
#undef WR_CONFIG_KEY_ENUM
        WR_KEY_COUNT
};

/* The key of that name, by case; WR_KEY_COUNT when there is none. */
enum wr_config_key wr_config_key_of(struct wr_str name);

/* The key that `name` was probably meant to be (rules/near.h); WR_KEY_COUNT when none is near. */
enum wr_config_key wr_config_key_near(struct wr_str name);

const char *wr_config_key_name(enum wr_config_key key);

/* True for a key that files of the incumbent cannot have: where it has no effect it is a mistake.
 */
bool wr_config_key_is_own(enum wr_config_key key);

/* True when `key` has an effect on `level`. */
bool wr_config_key_belongs(enum wr_config_key key, enum wr_config_level level);

/* Where `key`, which stands on `level`, belongs, for messages: "it belongs into `rate_limit`". */
const char *wr_config_key_home(enum wr_config_key key, enum wr_config_level level);

/* What a value of `key` looks like, for messages to who put something of another kind there: "as in
 * 30s". NULL where any text will do. */
const char *wr_config_key_example(enum wr_config_key key);

/* The keys of `level`, for messages: "`key`, `value`, …". */
const char *wr_config_level_keys(enum wr_config_level level);

#endif
