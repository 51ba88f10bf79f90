/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the log says about a control plane, and about what came of its responses.
 *
 * Threads: owner thread only. Time is an argument.
 */
#ifndef WR_XDS_REPORT_H
#define WR_XDS_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/log.h"
#include "rules/rules.h"
#include "xds/end.h"
#include "xds/session.h"

struct wr_xds_report {
    const char *target; /* borrowed; where the control plane is */
    bool has_tls;
    struct wr_log_limit limit; /* of notes; all zero at first */
};

/* The first response of a stream has come. */
void wr_xds_report_first(const struct wr_xds_report *report);

/* The notes on a response; at most those of one a second. */
void wr_xds_report_notes(struct wr_xds_report *report, const struct wr_diag *diag, int64_t mono_us);

/* A response was taken. `rules` are those that came into force; NULL: none. */
void wr_xds_report_change(const struct wr_xds_answer *answer, const struct wr_rules *rules);

/* A response could not be taken. */
void wr_xds_report_bad_response(const struct wr_xds_report *report, enum wr_err err);

/* The stream has ended by itself. */
void wr_xds_report_end(const struct wr_xds_report *report, const struct wr_xds_end *end,
                       bool has_rules);

void wr_xds_report_pause(const struct wr_xds_report *report, int64_t pause_us);

#endif
