/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/publisher.h"

#include <stddef.h>

void wr_publisher_publish(struct wr_publisher *publisher, struct wr_rules **rules)
{
    wr_option_doubts_log(*rules, &publisher->doubtful);
    wr_rules_release(publisher->replaced);
    publisher->replaced = publisher->latest;
    publisher->latest = wr_rules_acquire(*rules);
    wr_current_rules_publish(publisher->current, rules);
    wr_metrics_add(publisher->metrics, WR_METRIC_CONFIG_LOADS, 1);
    if (publisher->on_rules != NULL) {
        publisher->on_rules(publisher->context);
    }
}

void wr_publisher_let_go(struct wr_publisher *publisher)
{
    wr_rules_release(publisher->replaced);
    publisher->replaced = NULL;
}

void wr_publisher_fini(struct wr_publisher *publisher)
{
    wr_publisher_let_go(publisher);
    wr_rules_release(publisher->latest);
    publisher->latest = NULL;
}
