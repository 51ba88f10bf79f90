/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of descriptors that the store gave no answer for: the failure mode of their rule, or
 * of the server, decides. Private to outcome.c.
 *
 * Threads: owner thread of the call only.
 */
#ifndef WR_SERVICE_UNANSWERED_H
#define WR_SERVICE_UNANSWERED_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "service/failure.h"
#include "service/response.h"
#include "service/subject.h"

/* Whether the status of the subject is none of a limit: a layer has no answer, and no other one
 * refuses. A layer that its mode lets through has no say beside one that was judged. */
bool wr_subject_is_unanswered(const struct wr_decision *decision, const struct wr_subject *subject);

/* The status of such a subject. */
struct wr_descriptor_status wr_unanswered_status(const struct wr_decision *decision,
                                                 const struct wr_subject *subject);

/* Counts a limited subject by the failure mode that decided it, if one did. */
void wr_unanswered_count(const struct wr_decision *decision, const struct wr_subject *subject);

/* Which failure mode decided a descriptor in place of the store: deny, local or allow, the first of
 * these when there are several; empty when the store decided all that were decided. */
struct wr_str wr_unanswered_decider(const struct wr_decision *decision);

/* Says in the log why the store gave no answer, when there is a descriptor with a layer without one
 * that nothing refuses. Once a second at most: a full store would fill the log as well. */
void wr_unanswered_log(const struct wr_decision *decision);

/* Fails the call because of the first status that is unknown, of which there is one. WR_ERR_IO. */
enum wr_err wr_unanswered_fail(const struct wr_decision *decision,
                               const struct wr_descriptor_status *statuses,
                               struct wr_failure *out_failure);

#endif
