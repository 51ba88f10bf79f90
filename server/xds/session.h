/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's side of the discovery protocol, state of the world, without a wire: what to ask on a
 * new stream, what comes of a response, what to answer and when.
 *
 * A version is a label that is sent back, never compared: a control plane that was restarted may
 * begin anew with any. A new stream asks for everything, with neither version nor nonce. Content
 * that has not changed is answered as it was before. From the third response in a row that is the
 * same as the last, or refused as the last was, the answer is held back for longer and longer,
 * since some control planes send again at once what was refused. Threads: owner thread only. Time
 * is an argument.
 */
#ifndef WR_XDS_SESSION_H
#define WR_XDS_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/pauses.h"
#include "base/str.h"
#include "rules/load.h"
#include "wire/discovery.h"
#include "xds/resources.h"

/* Bytes of the reason that is sent back with a refusal. */
#define WR_XDS_ERROR_SIZE 4096

struct wr_xds_session {
    struct wr_discovery_node node; /* borrowed texts */
    struct wr_xds_resources resources;
    struct wr_hash_key key;
    char *version; /* owned; of the last response that was accepted; NULL: none */
    size_t version_len;
    /* of the last response that was taken */
    bool has_last, was_refused;
    struct wr_hash last; /* of its content, in any order */
    char error[WR_XDS_ERROR_SIZE];
    /* of the stream */
    bool has_response;
    size_t n_vain; /* in a row: the same content, or refused again */
    struct wr_pauses repeats;
};

/* What comes of a response. */
struct wr_xds_answer {
    struct wr_str request;      /* to be sent, in the arena */
    int64_t delay_us;           /* not before that has passed */
    struct wr_str version;      /* of the response, borrowed from it */
    struct wr_str type_url;     /* of the response, borrowed from it */
    bool is_strange;            /* it is not of the type that was asked for */
    bool is_refused, is_repeat; /* it was sent before, and nothing was looked at */
    struct wr_xds_change change;
};

/* WR_ERR_SYSTEM. `load` is borrowed. */
WR_MUST_USE enum wr_err wr_xds_session_init(struct wr_xds_session *session,
                                            const struct wr_discovery_node *node,
                                            const struct wr_load_options *load,
                                            const struct wr_pauses *repeats);

void wr_xds_session_fini(struct wr_xds_session *session);

/* The first request of a new stream, in `arena`; false when memory is out. */
WR_MUST_USE bool wr_xds_session_begin(struct wr_xds_session *session, struct wr_arena *arena,
                                      struct wr_str *out_request);

/* The response that comes next was not brought about by the last answer, which was long ago: it is
 * answered at once, whatever was before. */
void wr_xds_session_calm(struct wr_xds_session *session);

/*
 * Takes a response; notes on it go to `diag`. `random` is any number. WR_ERR_MALFORMED: it is none,
 * and there is nothing to answer; WR_ERR_TOO_LARGE: it has too many resources; WR_ERR_NO_MEMORY,
 * WR_ERR_SYSTEM: it was not taken. The stream is of no use then.
 */
WR_MUST_USE enum wr_err wr_xds_session_take(struct wr_xds_session *session, struct wr_str response,
                                            uint64_t random, struct wr_arena *arena,
                                            struct wr_diag *diag, struct wr_xds_answer *out_answer);

#endif
