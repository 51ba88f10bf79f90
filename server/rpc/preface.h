/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client speaks, told from the first bytes that it sends.
 *
 * Threads: pure function.
 */
#ifndef WR_RPC_PREFACE_H
#define WR_RPC_PREFACE_H

#include "base/str.h"

/* A client of HTTP/2 sends as many first (RFC 9113, 3.4). */
#define WR_PREFACE_SIZE 24

enum wr_preface {
    WR_PREFACE_SHORT, /* too little to tell */
    WR_PREFACE_HTTP2,
    WR_PREFACE_HTTP1,
    WR_PREFACE_TLS,
    WR_PREFACE_OTHER,
};

enum wr_preface wr_preface_of(struct wr_str bytes);

#endif
