/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client speaks, told from the first bytes that it sends.
 *
 * Threads: pure function.
 */
#ifndef WR_RPC_PREFACE_H
#define WR_RPC_PREFACE_H

#include <stddef.h>

#include "base/str.h"

/* What a client of HTTP/2 sends first: 24 bytes, and right behind them the frame SETTINGS, of which
 * this has the head (RFC 9113, 3.4 and 4.1). */
#define WR_PREFACE_SIZE (24 + 9)

enum wr_preface {
    WR_PREFACE_SHORT, /* too little to tell */
    WR_PREFACE_HTTP2,
    WR_PREFACE_HTTP1,
    WR_PREFACE_TLS,
    WR_PREFACE_NO_SETTINGS, /* HTTP/2's 24 bytes, and then another frame, or none of a client's */
    WR_PREFACE_OTHER,
};

/* Of what goes beyond WR_PREFACE_SIZE nothing is looked at. */
enum wr_preface wr_preface_of(struct wr_str bytes);

/* How long all of it is, the payload of SETTINGS included, for `bytes` that are WR_PREFACE_HTTP2.
 */
size_t wr_preface_len(struct wr_str bytes);

#endif
