/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_keys.h"

#include "rules/near.h"

static const struct wr_str names[] = {
#define WR_CONFIG_KEY_NAME(id, name, levels) WR_STR(name),
    WR_CONFIG_KEY_TABLE(WR_CONFIG_KEY_NAME)
#undef WR_CONFIG_KEY_NAME
};

static const unsigned levels_of[] = {
#define WR_CONFIG_KEY_LEVELS(id, name, levels) (levels),
    WR_CONFIG_KEY_TABLE(WR_CONFIG_KEY_LEVELS)
#undef WR_CONFIG_KEY_LEVELS
};

enum wr_config_key wr_config_key_of(struct wr_str name)
{
    return (enum wr_config_key) wr_str_place(names, WR_KEY_COUNT, name);
}

enum wr_config_key wr_config_key_near(struct wr_str name)
{
    return (enum wr_config_key) wr_near_place(names, WR_KEY_COUNT, name);
}

const char *wr_config_key_name(enum wr_config_key key)
{
    return names[key].ptr;
}

bool wr_config_key_belongs(enum wr_config_key key, enum wr_config_level level)
{
    return (levels_of[key] & (unsigned) level) != 0;
}

bool wr_config_key_is_own(enum wr_config_key key)
{
    return key >= WR_KEY_LIMITS;
}

const char *wr_config_key_home(enum wr_config_key key, enum wr_config_level level)
{
    if (key == WR_KEY_RATE_LIMIT && level == WR_LEVEL_LIMIT) {
        return "what it holds stands here, without it";
    }
    switch (levels_of[key]) {
    case WR_LEVEL_TOP:
        return "it belongs to the top of the file";
    case WR_LEVEL_TOP | WR_LEVEL_RULE:
        return "it belongs to the top of the file, or to a descriptor";
    case WR_LEVEL_RULE:
        return "it belongs to a descriptor, beside `key`";
    case WR_LEVEL_TOP | WR_LEVEL_LIMIT:
        return "it belongs into `rate_limit`, or to the top of the file";
    case WR_LEVEL_LIMIT | WR_LEVEL_REPLACE:
        return "it belongs into `rate_limit`, or an entry of `replaces`";
    case WR_LEVEL_WARM_UP:
        return "it belongs into `warm_up`";
    case WR_LEVEL_GROUP_IP:
        return "it belongs into `group_ip`";
    default:
        return "it belongs into `rate_limit`";
    }
}

const char *wr_config_key_example(enum wr_config_key key)
{
    static const char *const examples[WR_KEY_COUNT] = {
        [WR_KEY_REQUESTS_PER_UNIT] = "as in 100",
        [WR_KEY_UNIT] = "as in minute",
        [WR_KEY_COUNTS] = "as in admitted",
        [WR_KEY_FAILURE_MODE] = "as in deny",
        [WR_KEY_WINDOW] = "as in 30s",
        [WR_KEY_UNIT_MULTIPLIER] = "as in 5",
        [WR_KEY_ALGORITHM] = "as in token_bucket",
        [WR_KEY_ALIGN] = "as in first_hit",
        [WR_KEY_TIME_ZONE] = "as in Europe/Paris",
        [WR_KEY_BURST] = "as in 20",
        [WR_KEY_BUCKETS] = "as in 60",
        [WR_KEY_HEADROOM] = "as in 0.7",
        [WR_KEY_DURATION] = "as in 30s",
        [WR_KEY_START] = "as in 0.3",
        [WR_KEY_IPV4] = "as in 24",
        [WR_KEY_IPV6] = "as in 64",
    };

    return examples[key];
}

const char *wr_config_level_keys(enum wr_config_level level)
{
    switch (level) {
    case WR_LEVEL_TOP:
        return "the top of a file has `domain`, `descriptors`, `count`";
    case WR_LEVEL_RULE:
        return "a descriptor has `key`, `value`, `rate_limit`, `limits`, `descriptors`, "
               "`shadow_mode`, `quota_mode`, `share_threshold`, `group_ip`, `detailed_metric`, "
               "`value_to_metric`, `metadata`";
    case WR_LEVEL_LIMIT:
        return "a limit has `requests_per_unit`, `unit`, `unit_multiplier`, `window`, `unlimited`, "
               "`name`, `replaces`, `algorithm`, `align`, `time_zone`, `burst`, `buckets`, "
               "`headroom`, `warm_up`, `count`, `failure_mode`";
    case WR_LEVEL_REPLACE:
        return "an entry of `replaces` has `name`";
    case WR_LEVEL_WARM_UP:
        return "`warm_up` has `duration`, `start`";
    case WR_LEVEL_GROUP_IP:
        return "`group_ip` has `ipv4`, `ipv6`";
    case WR_LEVEL_IGNORED:
    default:
        return "what stands here has no effect";
    }
}
