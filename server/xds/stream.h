/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One stream of StreamAggregatedResources on gRPC C core, with a channel of its own: a broken one
 * is thrown away whole, so that nothing of it decides when the next attempt is made.
 *
 * Threads: owner thread only, but for cancel.
 */
#ifndef WR_XDS_STREAM_H
#define WR_XDS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/str.h"
#include "xds/credentials.h"
#include "xds/end.h"

struct wr_xds_stream;

/* A header field; the name in lower case. */
struct wr_xds_header {
    struct wr_str name, value;
};

struct wr_xds_stream_options {
    const char *target; /* HOST:PORT, or what C core takes besides */
    struct wr_xds_tls tls;
    const struct wr_xds_header *headers;
    size_t n_headers;
    size_t max_message_bytes;
};

enum wr_xds_event {
    WR_XDS_NOTHING, /* the time has come */
    WR_XDS_RESPONSE,
    WR_XDS_END,
};

/* True when C core sends such a field. */
bool wr_xds_header_is_legal(const struct wr_xds_header *header);

/* Begins a stream with its first request; whether anybody is there shows later. `options` must
 * outlive it. NULL, with a note, when certificates cannot be read or memory is out. */
struct wr_xds_stream *wr_xds_stream_open(const struct wr_xds_stream_options *options,
                                         struct wr_str request, struct wr_diag *diag);

/* Waits for what comes next, until the monotonic time `until_us`. A response is valid until the
 * next wait, which lets the control plane send another. Behind an end nothing comes. */
enum wr_xds_event wr_xds_stream_wait(struct wr_xds_stream *stream, int64_t until_us,
                                     struct wr_str *out_response);

/* Sends a request, which is copied; it takes the place of one that has not gone out yet. */
void wr_xds_stream_send(struct wr_xds_stream *stream, struct wr_str request);

/* Has it end soon. Any thread, while it is not closed. */
void wr_xds_stream_cancel(struct wr_xds_stream *stream);

/* Behind an end; its text is valid until closed. */
struct wr_xds_end wr_xds_stream_end(const struct wr_xds_stream *stream);

/* Ends it, and frees it. NULL is fine. */
void wr_xds_stream_close(struct wr_xds_stream *stream);

#endif
