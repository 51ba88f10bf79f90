/* SPDX-License-Identifier: Apache-2.0 */
#include "xds/report.h"

#include <stdio.h>

#include "base/log_notes.h"

#define SHOWN_MAX 300

static int shown(struct wr_str text)
{
    return text.len > SHOWN_MAX ? SHOWN_MAX : (int) text.len;
}

void wr_xds_report_first(const struct wr_xds_report *report)
{
    wr_log(WR_LOG_INFO, "control plane %s: it answers", report->target);
}

void wr_xds_report_notes(struct wr_xds_report *report, const struct wr_diag *diag, int64_t mono_us)
{
    uint64_t skipped = 0;

    if (diag->n_errors + diag->n_warnings == 0 ||
        !wr_log_limit_pass(&report->limit, mono_us, &skipped)) {
        return;
    }
    wr_log_notes(diag, "mend those that are, and the next ones show");
    if (skipped > 0) {
        wr_log(WR_LOG_WARN, "the notes of %llu answers of the control plane were left out",
               (unsigned long long) skipped);
    }
}

void wr_xds_report_change(const struct wr_xds_answer *answer, const struct wr_rules *rules)
{
    const struct wr_xds_change *const change = &answer->change;
    const int len = shown(answer->version);

    if (rules != NULL) {
        wr_log(answer->is_refused ? WR_LOG_WARN : WR_LOG_INFO,
               "rules in force: domains: %zu, limits: %zu, from %zu resources of version `%.*s`%s",
               wr_rules_domain_count(rules), wr_rules_limit_count(rules), change->n_resources, len,
               answer->version.ptr,
               answer->is_refused ? "; refused ones stay at their last good version, if any" : "");
    } else if (answer->is_strange) {
        wr_log(WR_LOG_WARN,
               "rules stay as they are: an answer is refused which is of type `%.*s`, and `%s` was "
               "asked for",
               shown(answer->type_url), answer->type_url.ptr, WR_RULES_TYPE_URL);
    } else if (answer->is_refused) {
        wr_log(WR_LOG_WARN,
               "rules stay as they are: %zu of %zu resources of version `%.*s` are refused",
               change->n_refused, change->n_resources, len, answer->version.ptr);
    } else {
        wr_log(WR_LOG_INFO, "rules stay as they are: version `%.*s` changes nothing", len,
               answer->version.ptr);
    }
}

void wr_xds_report_bad_response(const struct wr_xds_report *report, enum wr_err err)
{
    char text[128];

    if (err == WR_ERR_TOO_LARGE) {
        (void) snprintf(text, sizeof text,
                        "more than %d resources, a bound that no option raises; serve fewer, with "
                        "more rules each",
                        WR_DISCOVERY_RESOURCES_MAX);
    } else {
        (void) snprintf(text, sizeof text, "%s", wr_err_text(err));
    }
    wr_log(WR_LOG_ERROR, "control plane %s: its answer could not be taken: %s", report->target,
           text);
}

/* What to do about an end, where that can be told from it. */
static const char *advice(const struct wr_xds_report *report, const struct wr_xds_end *end)
{
    if (wr_xds_end_is_too_large(end)) {
        return "; raise --xds-max-message-bytes (XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES)";
    }
    if (report->has_tls && wr_xds_end_has_bad_files(end)) {
        return "; TLS cannot begin with the files of --xds-tls-ca, --xds-tls-cert and "
               "--xds-tls-key: each must hold PEM, and the key must be of the certificate";
    }
    return "";
}

void wr_xds_report_end(const struct wr_xds_report *report, const struct wr_xds_end *end,
                       bool has_rules)
{
    wr_log(WR_LOG_WARN, "control plane %s: the stream has ended with status %d: %.*s%s; %s",
           report->target, end->status, shown(end->text), end->text.ptr, advice(report, end),
           has_rules ? "the rules in force stay" : "there are no rules");
}

void wr_xds_report_pause(const struct wr_xds_report *report, int64_t pause_us)
{
    wr_log(WR_LOG_DEBUG, "control plane %s: the next attempt is in %.1f s", report->target,
           (double) pause_us / 1e6);
}
