/* SPDX-License-Identifier: Apache-2.0 */
#include "rules_source.h"

#include <string.h>

#include "option_agreement.h"

/* The way to Redis and back takes longer than windows below. */
#define REDIS_MIN_WINDOW_US 10000

struct wr_load_options wr_load_options_of(const struct wr_options *options)
{
    return (struct wr_load_options){
        .merges_domains = options->merges_domains,
        .is_strict = options->is_strict,
        .doubtful =
            {
                .stops_when_over = options->stops_when_over,
                .keeps_groups_apart = wr_options_keep_groups_apart(options),
            },
        .min_window_us = options->store == WR_STORE_REDIS ? REDIS_MIN_WINDOW_US : 0,
        .bounds =
            {
                .max_file_bytes = options->max_rules_file_bytes,
                .max_depth = options->max_rules_depth,
                .max_nodes = options->max_rules_nodes,
            },
    };
}

static bool join(char *path, size_t size, const char *part)
{
    const size_t len = strlen(path);

    if (*part == '\0') {
        return true;
    }

    const int added = snprintf(path + len, size - len, "/%s", part);

    return added >= 0 && (size_t) added < size - len;
}

static bool use_runtime(struct wr_rules_source *source, const struct wr_options *options, FILE *err)
{
    /* The incumbent takes every key that begins with APPDIRECTORY and a dot, where a key is a path
     * with dots for slashes; without a watched root it looks into that directory alone. */
    const bool is_by_name =
        options->is_runtime_root_watched && *options->runtime_appdirectory != '\0';
    const size_t size = sizeof source->runtime_path;
    const int len = snprintf(source->runtime_path, size, "%s", options->runtime_root);

    if (len < 0 || (size_t) len >= size ||
        !join(source->runtime_path, size, options->runtime_subdirectory) ||
        (!is_by_name && !join(source->runtime_path, size, options->runtime_appdirectory))) {
        fprintf(err, "weir: RUNTIME_ROOT: the path is longer than %zu bytes\n", size);
        return false;
    }
    source->runtime_item = source->runtime_path;
    source->load.paths = &source->runtime_item;
    source->load.n_paths = 1;
    source->load.any_name = true;
    source->load.is_recursive = true;
    source->load.name = is_by_name ? options->runtime_appdirectory : NULL;
    source->may_be_absent = true;
    return true;
}

bool wr_rules_source_init(struct wr_rules_source *source, const struct wr_options *options,
                          FILE *err)
{
    *source = (struct wr_rules_source){.load = wr_load_options_of(options)};
    if (options->rules_source == WR_RULES_FROM_XDS) {
        return true;
    }
    if (options->rules.n > 0) {
        source->load.paths = options->rules.items;
        source->load.n_paths = options->rules.n;
        return true;
    }
    if (*options->runtime_root != '\0') {
        return use_runtime(source, options, err);
    }
    fprintf(err,
            "weir: no rules: give --rules DIR|FILE or --rules-source xds, or set RUNTIME_ROOT or "
            "CONFIG_TYPE as for envoyproxy/ratelimit\n");
    return false;
}
