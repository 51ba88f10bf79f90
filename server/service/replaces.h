/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that take others of the same call away by their names. Private to decision.c.
 *
 * Threads: owner thread of the call only.
 */
#ifndef WR_SERVICE_REPLACES_H
#define WR_SERVICE_REPLACES_H

#include <stdbool.h>

#include "service/subject.h"

/* Marks the layers that are replaced; a descriptor of which all are has no limit any more. Names
 * are collected from every matched rule, unlimited and replaced ones too; so two rules that replace
 * each other both go. False when memory is out. */
bool wr_replaces_apply(struct wr_decision *decision);

#endif
