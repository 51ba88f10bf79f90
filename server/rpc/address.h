/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A place to listen at, as people write it: HOST:PORT or unix:PATH.
 *
 * Threads: pure functions; parse may ask the resolver.
 */
#ifndef WR_RPC_ADDRESS_H
#define WR_RPC_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/str.h"

/* Holds every address written out: a path, or a host in brackets with a port. */
#define WR_ADDRESS_TEXT_SIZE 128

struct wr_address {
    struct sockaddr_storage storage;
    socklen_t len;
};

/*
 * HOST is a name, an IPv4 address, an IPv6 address with or without brackets, or empty; empty and ::
 * stand for all addresses of both kinds. A name stands for its first IPv4 address, or its first.
 * WR_ERR_INVALID with a static reason in `*out_reason`.
 */
WR_MUST_USE enum wr_err wr_address_parse(struct wr_str text, struct wr_address *out_address,
                                         const char **out_reason);

bool wr_address_is_unix(const struct wr_address *address);

/* True for ::, which listens for IPv4 too. */
bool wr_address_is_dual(const struct wr_address *address);

/* 0.0.0.0 with the port of a dual `address`: for machines without IPv6. */
struct wr_address wr_address_only_v4(const struct wr_address *address);

/* The path of a Unix address, NUL-terminated, borrowed from `address`. */
const char *wr_address_path(const struct wr_address *address);

/* As parse takes it: 127.0.0.1:80, [::]:80, unix:/run/weir.sock. */
void wr_address_format(const struct wr_address *address, char text[WR_ADDRESS_TEXT_SIZE]);

#endif
