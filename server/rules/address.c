/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/number.h"

#define IPV4_SIZE 4
#define IPV6_SIZE 16
#define MAPPED_SIZE (IPV6_SIZE - IPV4_SIZE)

/* Clears all but the first `n_bits`. */
static void cut(unsigned char *bytes, size_t size, unsigned n_bits)
{
    for (size_t i = 0; i < size; i++) {
        const size_t begin = 8 * i;

        if (n_bits <= begin) {
            bytes[i] = 0;
        } else if (n_bits < begin + 8) {
            bytes[i] &= (unsigned char) (0xff << (begin + 8 - n_bits));
        }
    }
}

static size_t write_group(int family, unsigned char *bytes, unsigned n_bits,
                          char out_text[WR_ADDRESS_TEXT_SIZE])
{
    cut(bytes, family == AF_INET ? IPV4_SIZE : IPV6_SIZE, n_bits);
    return inet_ntop(family, bytes, out_text, WR_ADDRESS_TEXT_SIZE) == NULL ? 0 : strlen(out_text);
}

static size_t write_zoned(unsigned char *bytes, unsigned n_bits, const char *zone,
                          char out_text[WR_ADDRESS_TEXT_SIZE])
{
    const size_t zone_len = strlen(zone);

    if (zone_len == 0 || zone_len > WR_ADDRESS_ZONE_MAX) {
        return 0;
    }

    const size_t len = write_group(AF_INET6, bytes, n_bits, out_text);

    out_text[len] = '%';
    memcpy(out_text + len + 1, zone, zone_len + 1);
    return len + 1 + zone_len;
}

size_t wr_address_group(struct wr_str text, unsigned ipv4_bits, unsigned ipv6_bits,
                        char out_text[WR_ADDRESS_TEXT_SIZE])
{
    static const unsigned char mapped[MAPPED_SIZE] = {[10] = 0xff, [11] = 0xff};
    char copy[WR_ADDRESS_TEXT_SIZE];
    unsigned char bytes[IPV6_SIZE];

    if (text.len == 0 || text.len >= sizeof copy || wr_str_find(text, '\0') < text.len) {
        return 0;
    }
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';

    char *const zone = strchr(copy, '%');

    if (zone != NULL) {
        *zone = '\0';
    }
    if (zone == NULL && inet_pton(AF_INET, copy, bytes) == 1) {
        return write_group(AF_INET, bytes, ipv4_bits, out_text);
    }
    if (inet_pton(AF_INET6, copy, bytes) != 1) {
        return 0;
    }

    const bool is_ipv4 = memcmp(bytes, mapped, sizeof mapped) == 0;

    if (zone != NULL) {
        return is_ipv4 ? 0 : write_zoned(bytes, ipv6_bits, zone + 1, out_text);
    }
    return is_ipv4 ? write_group(AF_INET, bytes + MAPPED_SIZE, ipv4_bits, out_text)
                   : write_group(AF_INET6, bytes, ipv6_bits, out_text);
}

bool wr_address_is_prefix(struct wr_str text)
{
    const size_t slash = wr_str_find(text, '/');
    char whole[WR_ADDRESS_TEXT_SIZE];
    uint64_t n_bits;

    if (slash == text.len) {
        return false;
    }

    const struct wr_str address = wr_str_part(text, 0, slash);
    const bool is_ipv6 = wr_str_find(address, ':') < address.len;

    return wr_address_group(address, 32, 128, whole) > 0 &&
           wr_number_parse(wr_str_skip(text, slash + 1), is_ipv6 ? 128 : 32, &n_bits);
}
