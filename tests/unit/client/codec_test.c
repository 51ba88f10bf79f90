/* SPDX-License-Identifier: Apache-2.0 */
#include "client/codec.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct bytes {
    size_t len;
    uint8_t at[512];
};

static unsigned int digit(char c)
{
    return (unsigned int) (c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Bytes of a text in hexadecimal; blanks are only for the reader. */
static struct bytes hex(const char *text)
{
    struct bytes bytes = {0};

    for (const char *p = text; *p != '\0'; p++) {
        if (*p != ' ') {
            bytes.at[bytes.len++] = (uint8_t) (digit(p[0]) << 4U | digit(p[1]));
            p++;
        }
    }
    return bytes;
}

static void write_hex(const uint8_t *bytes, size_t len, char *out)
{
    for (size_t i = 0; i < len; i++) {
        snprintf(&out[2 * i], 3, "%02x", bytes[i]);
    }
}

/* ---- Requests ---- */

static void begin(struct weir_request *request, const char *key, const char *value)
{
    weir_request_init(request, weir_str("edge"));
    cr_assert_eq(weir_request_descriptor(request), WEIR_OK);
    cr_assert_eq(weir_request_entry(request, weir_str(key), weir_str(value)), WEIR_OK);
}

static void generic_key(struct weir_request *request)
{
    begin(request, "generic_key", "x");
}

static void peek(struct weir_request *request)
{
    begin(request, "k", "v");
    cr_assert_eq(weir_request_peek(request), WEIR_OK);
}

static void hits_300(struct weir_request *request)
{
    begin(request, "k", "v");
    cr_assert_eq(weir_request_take(request, 300), WEIR_OK);
}

static void refund_5(struct weir_request *request)
{
    begin(request, "k", "v");
    cr_assert_eq(weir_request_refund(request, 5), WEIR_OK);
}

static void override(struct weir_request *request)
{
    begin(request, "k", "v");
    cr_assert_eq(weir_request_limit(request, 10, WEIR_UNIT_MINUTE), WEIR_OK);
}

static void empty_value(struct weir_request *request)
{
    begin(request, "k", "");
}

static void no_entries(struct weir_request *request)
{
    weir_request_init(request, weir_str("edge"));
    cr_assert_eq(weir_request_descriptor(request), WEIR_OK);
}

static void request_hits_3(struct weir_request *request)
{
    begin(request, "k", "v");
    weir_request_hits(request, 3);
}

static void all_of_it(struct weir_request *request)
{
    begin(request, "k", "v");
    cr_assert_eq(weir_request_entry(request, weir_str("l"), weir_str("w")), WEIR_OK);
    cr_assert_eq(weir_request_refund(request, UINT64_MAX), WEIR_OK);
    cr_assert_eq(weir_request_limit(request, UINT32_MAX, WEIR_UNIT_YEAR), WEIR_OK);
    cr_assert_eq(weir_request_descriptor(request), WEIR_OK);
    cr_assert_eq(weir_request_entry(request, weir_str("m"), weir_str("x")), WEIR_OK);
    weir_request_hits(request, UINT32_MAX);
}

static const struct {
    const char *name;
    void (*build)(struct weir_request *request);
    const char *want;
} requests[] = {
    {"generic_key=x", generic_key, "0a0465646765 1212 0a10 0a0b67656e657269635f6b6579 120178"},
    {"a peek is an explicit zero", peek, "0a0465646765 120a 0a06 0a016b 120176 1a00"},
    {"hits 300", hits_300, "0a0465646765 120d 0a06 0a016b 120176 1a03 08ac02"},
    {"refund 5", refund_5, "0a0465646765 120e 0a06 0a016b 120176 1a02 0805 2001"},
    {"override 10/minute", override, "0a0465646765 120e 0a06 0a016b 120176 1204 080a 1002"},
    {"empty value", empty_value, "0a0465646765 1205 0a03 0a016b"},
    {"no entries", no_entries, "0a0465646765 1200"},
    {"request hits 3", request_hits_3, "0a0465646765 1208 0a06 0a016b 120176 1803"},
    {"all of it", all_of_it,
     "0a0465646765 1229 0a06 0a016b 120176 0a06 0a016c 120177 1208 08ffffffff0f 1006"
     "1a0b 08ffffffffffffffffff01 2001 1208 0a06 0a016d 120178 18ffffffff0f"},
};

Test(codec, writes_requests_byte_for_byte)
{
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        const struct bytes want = hex(requests[i].want);
        struct weir_request request;
        uint8_t bytes[512];
        char got[1025] = "";

        requests[i].build(&request);

        const size_t len = weir_codec_request_size(&request);

        cr_assert(weir_codec_put_request(&request, bytes, len), "%s", requests[i].name);
        write_hex(bytes, len, got);
        cr_assert(len == want.len && memcmp(bytes, want.at, len) == 0, "%s: got %s",
                  requests[i].name, got);
    }
}

Test(codec, fails_when_the_room_is_not_the_size)
{
    struct weir_request request;
    uint8_t bytes[512];

    generic_key(&request);

    const size_t len = weir_codec_request_size(&request);

    cr_assert_not(weir_codec_put_request(&request, bytes, len - 1));
    cr_assert_not(weir_codec_put_request(&request, bytes, len + 1));
    cr_assert(weir_codec_put_request(&request, bytes, len));
}

Test(codec, carries_a_value_of_a_megabyte_and_a_nul_in_it)
{
    const size_t value_len = 1U << 20U;
    char *value = calloc(1, value_len);
    struct weir_request request;

    weir_request_init(&request, weir_str("edge"));
    weir_request_descriptor(&request);
    weir_request_entry(&request, weir_str("k"), (struct weir_str){value, value_len});

    const size_t len = weir_codec_request_size(&request);
    uint8_t *bytes = malloc(len);

    cr_assert_gt(len, value_len);
    cr_assert(weir_codec_put_request(&request, bytes, len));
    cr_assert_eq(memcmp(&bytes[len - value_len], value, value_len), 0);
    free(bytes);
    free(value);
}

/* ---- Replies ---- */

static struct weir_result read_reply(const char *text)
{
    const struct bytes bytes = hex(text);
    struct weir_result result = {0};

    cr_assert(weir_codec_get_reply(bytes.at, bytes.len, &result), "%s", text);
    return result;
}

Test(codec, reads_an_admission)
{
    const struct weir_result result = read_reply("0801 120e 0801 1204 080a 1002 1809 2202 081e");
    const struct weir_status *status = &result.statuses[0];

    cr_assert_eq(result.overall_code, WEIR_CODE_OK);
    cr_assert_eq(result.status_count, 1);
    cr_assert_eq(status->code, WEIR_CODE_OK);
    cr_assert(status->has_limit && status->limit.requests == 10);
    cr_assert_eq(status->limit.unit, WEIR_UNIT_MINUTE);
    cr_assert_eq(status->remaining, 9);
    cr_assert(status->has_reset && status->reset_us == 30000000);
    cr_assert_eq(result.retry_after_ms, 0);
}

Test(codec, reads_a_refusal)
{
    const struct weir_result result = read_reply("0802 120c 0802 1204 080a 1002 2202 081e");

    cr_assert_eq(result.overall_code, WEIR_CODE_OVER_LIMIT);
    cr_assert_eq(result.statuses[0].code, WEIR_CODE_OVER_LIMIT);
    cr_assert_eq(result.statuses[0].remaining, 0);
    cr_assert_eq(result.retry_after_ms, 30000);
}

Test(codec, reads_that_no_rule_matched)
{
    const struct weir_result result = read_reply("0801 1202 0801");

    cr_assert_eq(result.overall_code, WEIR_CODE_OK);
    cr_assert_eq(result.status_count, 1);
    cr_assert_not(result.statuses[0].has_limit);
    cr_assert_not(result.statuses[0].has_reset);
    cr_assert_eq(result.statuses[0].limit.name_len, 0);
}

Test(codec, retries_after_the_longest_reset_of_those_over)
{
    /* OK and 90 s, over and 2 s, over and 7.0000001 s, over without a reset */
    const struct weir_result result = read_reply(
        "0802 1206 0801 2202 085a 1206 0802 2202 0802 1208 0802 2204 0807 1064 1202 0802");

    cr_assert_eq(result.status_count, 4);
    cr_assert_eq(result.statuses[2].reset_us, 7000001);
    cr_assert_eq(result.retry_after_ms, 7001);
}

Test(codec, keeps_eight_statuses_and_passes_over_the_rest)
{
    struct bytes bytes = hex("0801");

    for (size_t i = 0; i < 20; i++) {
        const uint8_t status[] = {0x12, 0x04, 0x08, 0x01, 0x18, (uint8_t) i};

        memcpy(&bytes.at[bytes.len], status, sizeof status);
        bytes.len += sizeof status;
    }

    struct weir_result result = {0};

    cr_assert(weir_codec_get_reply(bytes.at, bytes.len, &result));
    cr_assert_eq(result.status_count, WEIR_DESCRIPTORS_MAX);
    for (size_t i = 0; i < WEIR_DESCRIPTORS_MAX; i++) {
        cr_assert_eq(result.statuses[i].remaining, i);
    }
}

Test(codec, passes_over_headers_body_metadata_quota_and_what_is_unknown)
{
    const struct weir_result result =
        read_reply("1a06 0a0161 120162 2206 0a0161 120162 2a03 616263 3208 0a06 0a0161 12010a"
                   "3a02 0801 6a00 a00601 0801");

    cr_assert_eq(result.overall_code, WEIR_CODE_OK);
    cr_assert_eq(result.status_count, 0);
}

/* A reply whose only status has a limit with a name of `len` bytes. */
static struct bytes named(uint8_t len)
{
    struct bytes bytes = hex("0801");
    const uint8_t inner = (uint8_t) (len + 3); /* two bytes of length at most from here on */
    const uint8_t head[] = {
        0x12, (uint8_t) (0x80U | ((inner + 3U) & 0x7FU)), (uint8_t) ((inner + 3U) >> 7U),
        0x12, (uint8_t) (0x80U | (inner & 0x7FU)),        (uint8_t) (inner >> 7U),
        0x1a, (uint8_t) (0x80U | (len & 0x7FU)),          (uint8_t) (len >> 7U)};

    memcpy(&bytes.at[bytes.len], head, sizeof head);
    bytes.len += sizeof head;
    memset(&bytes.at[bytes.len], 'n', len);
    bytes.len += len;
    return bytes;
}

Test(codec, keeps_a_name_whole_or_not_at_all)
{
    static const uint8_t lengths[] = {0, 1, WEIR_NAME_MAX, WEIR_NAME_MAX + 1, 200};

    for (size_t i = 0; i < sizeof lengths; i++) {
        const struct bytes bytes = named(lengths[i]);
        struct weir_result result = {0};

        cr_assert(weir_codec_get_reply(bytes.at, bytes.len, &result), "length %d", lengths[i]);

        const struct weir_limit *limit = &result.statuses[0].limit;
        const size_t kept = lengths[i] <= WEIR_NAME_MAX ? lengths[i] : 0;

        cr_assert_eq(limit->name_len, lengths[i]);
        cr_assert_eq(strlen(limit->name), kept, "length %d: kept %zu", lengths[i],
                     strlen(limit->name));
    }
}

static const struct {
    const char *reply;
    int64_t reset_us;
} resets[] = {
    {"1204 2202 0800", 0},
    {"1204 2202 1001", 1},                                           /* 1 ns */
    {"1208 2206 10ffc7b7b503", 917366},                              /* 917365759 ns */
    {"120d 220b 08ffffffffffffffffff01", 0},                         /* -1 s */
    {"120d 220b 10ffffffffffffffffff01", 0},                         /* -1 ns */
    {"120c 220a 08ffffffffffffffff7f", INT64_C(315576000000000000)}, /* the largest */
};

Test(codec, bounds_and_rounds_resets)
{
    for (size_t i = 0; i < sizeof resets / sizeof resets[0]; i++) {
        const struct weir_result result = read_reply(resets[i].reply);

        cr_assert(result.statuses[0].has_reset, "row %zu", i);
        cr_assert_eq(result.statuses[0].reset_us, resets[i].reset_us, "row %zu: %" PRId64, i,
                     result.statuses[0].reset_us);
    }
}

Test(codec, hands_over_numbers_that_it_does_not_know)
{
    const struct weir_result result = read_reply("0807 1208 0809 1204 080a 1063");

    cr_assert_eq((int) result.overall_code, 7);
    cr_assert_eq((int) result.statuses[0].code, 9);
    cr_assert_eq((int) result.statuses[0].limit.unit, 99);
}

static const char *const malformed[] = {
    "08",                       /* a number that never comes */
    "08ffffffffffffffffffff01", /* a varint of eleven bytes */
    "1205 0801",                /* a length past the end */
    "1203 1a05 61",             /* the same one level down */
    "1a",                       /* a field to skip, without its length */
    "0f01",                     /* wire type 7 */
    "0001",                     /* field number 0 */
};

Test(codec, refuses_what_is_no_message)
{
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        const struct bytes bytes = hex(malformed[i]);
        struct weir_result result = {0};

        cr_assert_not(weir_codec_get_reply(bytes.at, bytes.len, &result), "%s", malformed[i]);
    }
}

Test(codec, survives_every_cut_and_every_flipped_byte)
{
    const struct bytes whole =
        hex("0802 1213 0802 120b 080a 1002 1a05 616c696365 2202 081e 1202 0801");
    size_t good = 0;

    for (size_t cut = 0; cut <= whole.len; cut++) {
        struct weir_result result = {0};

        good += weir_codec_get_reply(whole.at, cut, &result) ? 1 : 0;
        cr_assert_leq(result.status_count, WEIR_DESCRIPTORS_MAX);
    }
    cr_assert_eq(good, 4, "cuts between fields: %zu", good);
    for (size_t at = 0; at < whole.len; at++) {
        for (unsigned int byte = 0; byte < 256; byte++) {
            struct bytes changed = whole;
            struct weir_result result = {0};

            changed.at[at] = (uint8_t) byte;
            if (weir_codec_get_reply(changed.at, changed.len, &result)) {
                cr_assert_leq(result.status_count, WEIR_DESCRIPTORS_MAX);
            }
        }
    }
}

/* ---- Health ---- */

Test(codec, writes_a_health_request)
{
    uint8_t bytes[16];

    cr_assert_eq(weir_codec_health_size(weir_str("")), 0);
    cr_assert(weir_codec_put_health(weir_str(""), bytes, 0));
    cr_assert_eq(weir_codec_health_size(weir_str("ab")), 4);
    cr_assert(weir_codec_put_health(weir_str("ab"), bytes, 4));
    cr_assert_eq(memcmp(bytes,
                        "\x0a\x02"
                        "ab",
                        4),
                 0);
}

static const struct {
    const char *reply;
    enum weir_health want;
} healths[] = {
    {"", WEIR_HEALTH_UNKNOWN},
    {"0801", WEIR_HEALTH_SERVING},
    {"0802", WEIR_HEALTH_NOT_SERVING},
    {"0803", WEIR_HEALTH_SERVICE_UNKNOWN},
    {"0804", WEIR_HEALTH_UNKNOWN},
    {"08ffffffff0f", WEIR_HEALTH_UNKNOWN},
    {"1201ff 0801", WEIR_HEALTH_SERVING},
};

Test(codec, reads_health)
{
    for (size_t i = 0; i < sizeof healths / sizeof healths[0]; i++) {
        const struct bytes bytes = hex(healths[i].reply);
        enum weir_health health;

        cr_assert(weir_codec_get_health(bytes.at, bytes.len, &health), "row %zu", i);
        cr_assert_eq(health, healths[i].want, "row %zu: %s", i, weir_health_name(health));
    }
}

Test(codec, refuses_health_that_is_no_message)
{
    const struct bytes bytes = hex("08");
    enum weir_health health;

    cr_assert_not(weir_codec_get_health(bytes.at, bytes.len, &health));
}

static const struct {
    const char *bytes;
    size_t len;
    enum weir_code want;
} verdicts[] = {
    {"", 0, WEIR_CODE_UNKNOWN},
    {"\x08\x01", 2, WEIR_CODE_OK},
    {"\x08\x02", 2, WEIR_CODE_OVER_LIMIT},
    {"\x08\x03", 2, WEIR_CODE_UNKNOWN},
    {"\x08\x00", 2, WEIR_CODE_UNKNOWN},
    {"\x12\x02\x08\x02\x08\x01", 6, WEIR_CODE_OK},         /* a status before it */
    {"\x08\x02\x12\x7f\x08\x01", 6, WEIR_CODE_OVER_LIMIT}, /* cut off behind it */
    {"\x12\x7f\x08\x01", 4, WEIR_CODE_UNKNOWN},            /* and before it */
    {"\x0a\x01\x01\x08\x01", 5, WEIR_CODE_OK},             /* another wire type is another field */
    {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, WEIR_CODE_UNKNOWN},
    {"\xff\xff", 2, WEIR_CODE_UNKNOWN},
};

Test(codec, finds_the_verdict_of_a_reply_without_the_rest)
{
    for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++) {
        /* Of its own, so that a byte read behind it is found. */
        uint8_t *bytes = malloc(verdicts[i].len > 0 ? verdicts[i].len : 1);

        memcpy(bytes, verdicts[i].bytes, verdicts[i].len);
        cr_assert_eq(weir_codec_get_verdict(bytes, verdicts[i].len), verdicts[i].want, "row %zu",
                     i);
        free(bytes);
    }
}
