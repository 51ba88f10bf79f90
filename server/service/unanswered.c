/* SPDX-License-Identifier: Apache-2.0 */
#include "service/unanswered.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/assert.h"

#define FATE_SIZE 160

/* A layer without an answer, and what its mode comes to. */
struct open_layer {
    const struct wr_layer *layer;
    enum wr_failure_mode mode;
};

/* The layer whose mode decides an unanswered subject: a certain refusal goes before an unknown, and
 * that before an OK. */
static struct open_layer deciding_layer(const struct wr_decision *decision,
                                        const struct wr_subject *subject)
{
    static const int weights[] = {
        [WR_FAILURE_ALLOW] = 1,
        [WR_FAILURE_ERROR] = 2,
        [WR_FAILURE_LOCAL] = 2, /* memory had no answer either */
        [WR_FAILURE_DENY] = 3,
    };
    struct open_layer deciding = {0};

    for (size_t i = 0; i < subject->n_layers; i++) {
        const struct wr_layer *const layer = &subject->layers[i];

        if (layer->take == NULL || wr_layer_is_decided(layer)) {
            continue;
        }

        const enum wr_failure_mode mode = wr_layer_fate(decision, subject, layer);

        if (deciding.layer == NULL || weights[mode] > weights[deciding.mode]) {
            deciding = (struct open_layer){.layer = layer, .mode = mode};
        }
    }
    return deciding;
}

/* What the verdicts of a subject's layers come to. */
struct verdicts {
    bool has_any;
    bool is_refused, is_refused_by_store; /* the latter not by memory in its place */
    bool is_degraded;                     /* one is memory's */
};

static struct verdicts sum_up(const struct wr_subject *subject)
{
    struct verdicts sum = {0};

    for (size_t i = 0; i < subject->n_layers; i++) {
        const struct wr_layer *const layer = &subject->layers[i];

        if (wr_layer_is_decided(layer)) {
            sum.has_any = true;
            sum.is_refused |= layer->take->verdict.over;
            sum.is_refused_by_store |= layer->take->verdict.over && !layer->take->is_degraded;
            sum.is_degraded |= layer->take->is_degraded;
        }
    }
    return sum;
}

bool wr_subject_is_unanswered(const struct wr_decision *decision, const struct wr_subject *subject)
{
    const struct open_layer open = deciding_layer(decision, subject);
    const struct verdicts sum = sum_up(subject);

    return open.layer != NULL && !sum.is_refused && (open.mode != WR_FAILURE_ALLOW || !sum.has_any);
}

struct wr_descriptor_status wr_unanswered_status(const struct wr_decision *decision,
                                                 const struct wr_subject *subject)
{
    static const enum wr_code codes[] = {
        [WR_FAILURE_ERROR] = WR_CODE_UNKNOWN,
        [WR_FAILURE_ALLOW] = WR_CODE_OK,
        [WR_FAILURE_DENY] = WR_CODE_OVER_LIMIT,
        [WR_FAILURE_LOCAL] = WR_CODE_UNKNOWN,
    };

    return (struct wr_descriptor_status){.code = codes[deciding_layer(decision, subject).mode]};
}

/* Whether a mode decided the subject in place of the store, and which; WR_FAILURE_ERROR when nobody
 * decided it. */
static bool find_mode(const struct wr_decision *decision, const struct wr_subject *subject,
                      enum wr_failure_mode *out_mode)
{
    const struct open_layer open = deciding_layer(decision, subject);
    const struct verdicts sum = sum_up(subject);

    if (sum.is_refused_by_store || (open.layer == NULL && !sum.is_degraded)) {
        return false;
    }
    if (open.layer != NULL && open.mode == WR_FAILURE_DENY) {
        *out_mode = WR_FAILURE_DENY;
    } else if (open.layer != NULL && open.mode != WR_FAILURE_ALLOW && !sum.is_refused) {
        *out_mode = WR_FAILURE_ERROR;
    } else {
        *out_mode = sum.is_degraded ? WR_FAILURE_LOCAL : WR_FAILURE_ALLOW;
    }
    return true;
}

void wr_unanswered_count(const struct wr_decision *decision, const struct wr_subject *subject)
{
    static const enum wr_metric metrics[] = {
        [WR_FAILURE_ERROR] = WR_METRIC_FAILURE_ERROR,
        [WR_FAILURE_ALLOW] = WR_METRIC_FAILURE_ALLOW,
        [WR_FAILURE_DENY] = WR_METRIC_FAILURE_DENY,
        [WR_FAILURE_LOCAL] = WR_METRIC_FAILURE_LOCAL,
    };
    enum wr_failure_mode mode;

    if (find_mode(decision, subject, &mode)) {
        wr_metrics_add(decision->frame.metrics, metrics[mode], 1);
    }
}

struct wr_str wr_unanswered_decider(const struct wr_decision *decision)
{
    static const int strictness[] = {
        [WR_FAILURE_ERROR] = 0, /* decides nothing */
        [WR_FAILURE_ALLOW] = 1,
        [WR_FAILURE_LOCAL] = 2,
        [WR_FAILURE_DENY] = 3,
    };
    enum wr_failure_mode strictest = WR_FAILURE_ERROR;

    for (size_t i = 0; i < decision->request->n_descriptors; i++) {
        enum wr_failure_mode mode;

        if (find_mode(decision, &decision->subjects[i], &mode) &&
            strictness[mode] > strictness[strictest]) {
            strictest = mode;
        }
    }
    return strictest == WR_FAILURE_ERROR ? (struct wr_str){0}
                                         : wr_str_of(wr_failure_mode_name(strictest));
}

/* Why the store gave no answer, for the caller and for the log. */
static struct wr_str reason_of(enum wr_take_answer answer)
{
    static const struct wr_str reasons[] = {
        [WR_TAKE_DECIDED] = WR_STR("the counter store answered"),
        [WR_TAKE_FULL] = WR_STR("the counter store is full: a new counter found --max-counters "
                                "live ones"),
        [WR_TAKE_NO_MEMORY] = WR_STR("the counter store found no memory for a new counter"),
        [WR_TAKE_TIMEOUT] = WR_STR("the counter store did not answer in time (--redis-timeout, or "
                                   "what the call's deadline left)"),
        [WR_TAKE_AWAY] = WR_STR("the counter store cannot be reached, or refuses to work"),
        [WR_TAKE_FAILED] = WR_STR("the counter store refused the script"),
        [WR_TAKE_LATE] = WR_STR("the counter store came to it too late, and counted nothing"),
    };

    return reasons[answer];
}

/* What becomes of the call. Memory decides what it can: without an answer from there either, it is
 * full, or does not know its share. */
static void write_fate(const struct open_layer *open, char *text, size_t size)
{
    const enum wr_take_answer answer = open->layer->take->answer;

    if (open->mode != WR_FAILURE_LOCAL) {
        (void) snprintf(text, size, "failure mode %s decides", wr_failure_mode_name(open->mode));
    } else if (answer == WR_TAKE_FULL || answer == WR_TAKE_NO_MEMORY) {
        (void) snprintf(text, size,
                        "failure mode local has no room in memory either, and decides as error");
    } else {
        (void) snprintf(text, size,
                        "failure mode local decides as error until Redis has told how many "
                        "replicas share the limits; --replicas (WEIR_REPLICAS) tells it at once");
    }
}

void wr_unanswered_log(const struct wr_decision *decision)
{
    const struct wr_subject *subject = NULL;
    uint64_t skipped = 0;

    for (size_t i = 0; i < decision->request->n_descriptors && subject == NULL; i++) {
        const struct wr_subject *const other = &decision->subjects[i];

        if (deciding_layer(decision, other).layer != NULL && !sum_up(other).is_refused) {
            subject = other;
        }
    }
    if (subject != NULL &&
        wr_log_limit_pass(decision->frame.store_line, decision->frame.now.mono_us, &skipped)) {
        const struct open_layer open = deciding_layer(decision, subject);
        const struct wr_str reason = reason_of(open.layer->take->answer);
        char fate[FATE_SIZE];

        write_fate(&open, fate, sizeof fate);
        wr_log(WR_LOG_WARN, "%.*s; %s (%" PRIu64 " more such calls since the last line)",
               (int) reason.len, reason.ptr, fate, skipped);
    }
}

enum wr_err wr_unanswered_fail(const struct wr_decision *decision,
                               const struct wr_descriptor_status *statuses,
                               struct wr_failure *out_failure)
{
    size_t i = 0;

    while (statuses[i].code != WR_CODE_UNKNOWN) {
        i++;
    }

    const struct open_layer open = deciding_layer(decision, &decision->subjects[i]);

    WR_ASSERT(open.layer != NULL);
    *out_failure = (struct wr_failure){
        .status = WR_STATUS_UNAVAILABLE,
        .message = reason_of(open.layer->take->answer),
        .retry_us = WR_RETRY_US,
    };
    return WR_ERR_IO;
}
