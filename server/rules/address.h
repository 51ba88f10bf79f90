/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses that count together: the first bits of an address, in one spelling. An IPv4 address
 * within IPv6 (::ffff:192.0.2.1) is that IPv4 address. The zone of an IPv6 address, as in
 * fe80::1%eth0 (RFC 4007), is kept letter by letter: the same address on another link is another.
 *
 * Threads: pure functions.
 */
#ifndef WR_RULES_ADDRESS_H
#define WR_RULES_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

#define WR_ADDRESS_ZONE_MAX 31
#define WR_ADDRESS_TEXT_SIZE (46 + 1 + WR_ADDRESS_ZONE_MAX)

/*
 * Writes the address in `text` with all but its first bits cleared, NUL-terminated, and returns its
 * length; 0 when `text` is no address. Being an address itself, which is its own group, it is never
 * the text of something else.
 */
size_t wr_address_group(struct wr_str text, unsigned ipv4_bits, unsigned ipv6_bits,
                        char out_text[WR_ADDRESS_TEXT_SIZE]);

/* True for an address with the length of a prefix, as 10.0.0.0/8. */
bool wr_address_is_prefix(struct wr_str text);

#endif
