/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The error codes of the server, one table with their texts. 0 is WR_OK.
 *
 * Threads: immutable.
 */
#ifndef WR_BASE_ERR_H
#define WR_BASE_ERR_H

#define WR_ERR_TABLE(X)                                                                            \
    X(WR_OK, "no error")                                                                           \
    X(WR_ERR_NO_MEMORY, "out of memory")                                                           \
    X(WR_ERR_INVALID, "invalid argument")                                                          \
    X(WR_ERR_MALFORMED, "malformed input")                                                         \
    X(WR_ERR_TOO_LARGE, "larger than the configured bound")                                        \
    X(WR_ERR_NOT_FOUND, "not found")                                                               \
    X(WR_ERR_EXISTS, "already in use")                                                             \
    X(WR_ERR_IO, "input or output failed")                                                         \
    X(WR_ERR_SYSTEM, "the operating system refused")

enum wr_err {
#define WR_ERR_ENUM(name, text) name,
    WR_ERR_TABLE(WR_ERR_ENUM)
#undef WR_ERR_ENUM
};

#define WR_MUST_USE __attribute__((warn_unused_result))

/* The text of `err`, static, for logs. */
const char *wr_err_text(enum wr_err err);

#endif
