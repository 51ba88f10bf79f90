/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of descriptors that the store gave no answer for: the failure mode of their rule, or
 * of the server, decides. Private to outcome.c.
 *
 * Threads: owner thread of the call only.
 */
#ifndef WR_SERVICE_UNANSWERED_H
#define WR_SERVICE_UNANSWERED_H

#include "base/err.h"
#include "base/str.h"
#include "service/failure.h"
#include "service/response.h"
#include "service/subject.h"

/* The status of a limited subject without an answer, which is counted. */
struct wr_descriptor_status wr_unanswered_status(const struct wr_decision *decision,
                                                 const struct wr_subject *subject);

/* Which failure mode decided a descriptor in place of the store: deny, local or allow, the first of
 * these when there are several; empty when the store decided all that were decided. */
struct wr_str wr_unanswered_decider(const struct wr_decision *decision,
                                    const struct wr_descriptor_status *statuses);

/* Says in the log why the store gave no answer, when there is such a descriptor. Once a second at
 * most: a full store would fill the log as well. */
void wr_unanswered_log(const struct wr_decision *decision);

/* Fails the call because of the first status that is unknown, of which there is one. WR_ERR_IO. */
enum wr_err wr_unanswered_fail(const struct wr_decision *decision,
                               const struct wr_descriptor_status *statuses,
                               struct wr_failure *out_failure);

#endif
