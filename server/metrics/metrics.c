/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/metrics.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"

struct wr_metrics {
    struct wr_mutex mutex;
    /* guarded by mutex */
    struct wr_metrics_block *blocks; /* owned */
    uint32_t n_blocks;
    const _Atomic uint64_t *bound[WR_METRICS_COUNT]; /* borrowed; NULL: nothing */
};

struct wr_metrics *wr_metrics_new(void)
{
    struct wr_metrics *const metrics = calloc(1, sizeof *metrics);

    if (metrics != NULL) {
        wr_mutex_init(&metrics->mutex, WR_LOCK_METRICS);
    }
    return metrics;
}

void wr_metrics_destroy(struct wr_metrics *metrics)
{
    if (metrics == NULL) {
        return;
    }
    for (struct wr_metrics_block *block = metrics->blocks; block != NULL;) {
        struct wr_metrics_block *const next = block->next;

        free(block);
        block = next;
    }
    wr_mutex_fini(&metrics->mutex);
    free(metrics);
}

struct wr_metrics_block *wr_metrics_block_new(struct wr_metrics *metrics)
{
    struct wr_metrics_block *const block =
        aligned_alloc(alignof(struct wr_metrics_block), sizeof *block);

    if (block == NULL) {
        return NULL;
    }
    memset(block, 0, sizeof *block);
    wr_mutex_lock(&metrics->mutex);
    block->number = metrics->n_blocks++;
    block->next = metrics->blocks;
    metrics->blocks = block;
    wr_mutex_unlock(&metrics->mutex);
    return block;
}

void wr_metrics_bind(struct wr_metrics *metrics, enum wr_metric metric,
                     const _Atomic uint64_t *count)
{
    wr_mutex_lock(&metrics->mutex);
    metrics->bound[metric] = count;
    wr_mutex_unlock(&metrics->mutex);
}

uint64_t wr_metrics_sum(struct wr_metrics *metrics, enum wr_metric metric)
{
    uint64_t sum = 0;

    wr_mutex_lock(&metrics->mutex);
    for (struct wr_metrics_block *block = metrics->blocks; block != NULL; block = block->next) {
        sum += atomic_load_explicit(&block->counts[metric], memory_order_relaxed);
    }
    if (metrics->bound[metric] != NULL) {
        sum += atomic_load_explicit(metrics->bound[metric], memory_order_relaxed);
    }
    wr_mutex_unlock(&metrics->mutex);
    return sum;
}

const char *wr_metric_name(enum wr_metric metric)
{
    static const char *const names[] = {
#define WR_METRICS_NAME(id, name, help) [id] = (name),
        WR_METRICS_TABLE(WR_METRICS_NAME)
#undef WR_METRICS_NAME
    };

    return names[metric];
}

const char *wr_metric_help(enum wr_metric metric)
{
    static const char *const texts[] = {
#define WR_METRICS_HELP(id, name, help) [id] = (help),
        WR_METRICS_TABLE(WR_METRICS_HELP)
#undef WR_METRICS_HELP
    };

    return texts[metric];
}
