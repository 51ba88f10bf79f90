/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/slots.h"

#include <criterion/criterion.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/replies.h"

#define PRIMARY_OF(port, host)                                                                     \
    "*14\r\n$2\r\nid\r\n$4\r\nabcd\r\n$4\r\nport\r\n:" port                                        \
    "\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n$8\r\nendpoint\r\n" host                                   \
    "$4\r\nrole\r\n$6\r\nmaster\r\n$18\r\nreplication-offset\r\n:0\r\n$6\r\nhealth\r\n$6\r\n"      \
    "online\r\n"
#define SHARD(first, last, node)                                                                   \
    "*4\r\n$5\r\nslots\r\n*2\r\n:" first "\r\n:" last "\r\n$5\r\nnodes\r\n*1\r\n" node
#define LOCAL "$9\r\n127.0.0.1\r\n"

/* Recorded from Redis 7.0.15: three primaries; the last has a replica, and announces a name. */
static const char shards[] = "*3\r\n" SHARD("5461", "10922", PRIMARY_OF("17902", LOCAL)) SHARD(
    "10923", "16383",
    PRIMARY_OF("17903",
               LOCAL)) "*4\r\n$5\r\nslots\r\n*2\r\n:0\r\n:"
                       "5460\r\n$5\r\nnodes\r\n*2\r\n*14\r\n$2\r\nid\r\n$40\r\n"
                       "0324ebab5f985983233aad3c47d64274cb698755\r\n$4\r\nport\r\n:17904\r\n$"
                       "2\r\nip\r\n$9\r\n127.0.0."
                       "1\r\n$8\r\nendpoint\r\n$9\r\n127.0.0.1\r\n$4\r\nrole\r\n$7\r\nreplica\r\n$"
                       "18\r\nreplication-"
                       "offset\r\n:28\r\n$6\r\nhealth\r\n$6\r\nonline\r\n*18\r\n$2\r\nid\r\n$40\r\n"
                       "12fd450b6a1139af54ed10ac1825d75f54cdb033\r\n$4\r\nport\r\n:17901\r\n$"
                       "8\r\ntls-port\r\n:27901\r"
                       "\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n$8\r\nendpoint\r\n$9\r\n127.0.0.1\r\n$"
                       "8\r\nhostname\r\n$10\r"
                       "\nh1.example\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$18\r\nreplication-"
                       "offset\r\n:28\r\n$6\r\nhealth"
                       "\r\n$6\r\nonline\r\n";

/* The same cluster by CLUSTER SLOTS. */
static const char slots_map[] =
    "*3\r\n*4\r\n:0\r\n:5460\r\n*4\r\n$9\r\n127.0.0.1\r\n:17901\r\n$40\r\n"
    "12fd450b6a1139af54ed10ac1825d75f54cdb033\r\n*2\r\n$8\r\nhostname\r\n$10\r\nh1.example\r\n*"
    "4\r\n"
    "$9\r\n127.0.0.1\r\n:17904\r\n$40\r\n0324ebab5f985983233aad3c47d64274cb698755\r\n*0\r\n*3\r\n:"
    "5461\r\n:10922\r\n*4\r\n$9\r\n127.0.0.1\r\n:17902\r\n$40\r\n"
    "b0f4eb721b968d3202f6fadfeed86e0c318e663e\r\n*0\r\n*3\r\n:10923\r\n:16383\r\n*4\r\n$9\r\n127.0."
    "0.1\r\n:17903\r\n$40\r\n4a5f2991d23ae17d80878656ca24d81864ac2e72\r\n*0\r\n";

/* The same where the preferred endpoint is unknown, and as Redis 6 has it. */
static const char slots_unknown[] =
    "*2\r\n*3\r\n:0\r\n:5460\r\n*4\r\n$-1\r\n:17901\r\n$"
    "40\r\n12fd450b6a1139af54ed10ac1825d75f54cdb033"
    "\r\n*4\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n$8\r\nhostname\r\n$10\r\nh1.example\r\n*3\r\n:"
    "5461\r\n"
    ":16383\r\n*3\r\n$0\r\n\r\n:17902\r\n$40\r\nb0f4eb721b968d3202f6fadfeed86e0c318e663e\r\n";

typedef bool (*read_fn)(const struct redisReply *reply, const struct wr_redis_slots_asked *asked,
                        struct wr_redis_slots *out_slots);

struct bed {
    struct wr_redis_replies *replies;
    struct wr_redis_slots *slots;
    bool is_map;
};

static struct bed read_text(read_fn read, const char *text, bool has_tls)
{
    const struct wr_redis_slots_asked asked = {.host = WR_STR("asked.example"), .has_tls = has_tls};
    const struct redisReply *reply = NULL;
    struct bed bed = {.slots = malloc(sizeof *bed.slots)};

    cr_assert_not_null(bed.slots);
    cr_assert_eq(wr_redis_replies_new(&bed.replies), WR_OK);
    cr_assert(wr_redis_replies_feed(bed.replies, text, strlen(text)));
    cr_assert(wr_redis_replies_next(bed.replies, &reply));
    cr_assert_not_null(reply, "not whole: %s", text);
    bed.is_map = read(reply, &asked, bed.slots);
    return bed;
}

static void clear(struct bed *bed)
{
    wr_redis_replies_destroy(bed->replies);
    free(bed->slots);
}

/* The owner of `slot` is connected to at host:port. */
static void expect_owner(const struct bed *bed, size_t slot, const char *host, uint16_t port)
{
    cr_assert_neq(bed->slots->owner[slot], 0, "slot %zu has no owner", slot);

    const struct wr_redis_primary *const primary =
        &bed->slots->primaries[bed->slots->owner[slot] - 1];

    cr_assert(wr_str_equal(primary->names[0], wr_str_of(host)), "slot %zu: %.*s", slot,
              (int) primary->names[0].len, primary->names[0].ptr);
    cr_assert_eq(primary->port, port, "slot %zu: port %u", slot, primary->port);
}

Test(redis_slots, each_slot_has_the_primary_of_its_shard)
{
    struct bed bed = read_text(wr_redis_slots_read_shards, shards, false);

    cr_assert(bed.is_map);
    cr_assert_eq(bed.slots->n_primaries, 3);
    cr_assert_eq(bed.slots->n_covered, WR_REDIS_SLOTS);
    expect_owner(&bed, 0, "127.0.0.1", 17901);
    expect_owner(&bed, 5460, "127.0.0.1", 17901);
    expect_owner(&bed, 5461, "127.0.0.1", 17902);
    expect_owner(&bed, 10922, "127.0.0.1", 17902);
    expect_owner(&bed, 10923, "127.0.0.1", 17903);
    expect_owner(&bed, 16383, "127.0.0.1", 17903);
    clear(&bed);
}

Test(redis_slots, both_commands_say_the_same)
{
    struct bed one = read_text(wr_redis_slots_read_shards, shards, false);
    struct bed other = read_text(wr_redis_slots_read_slots, slots_map, false);

    cr_assert(other.is_map);
    cr_assert_eq(other.slots->n_covered, WR_REDIS_SLOTS);
    for (size_t slot = 0; slot < WR_REDIS_SLOTS; slot++) {
        const uint16_t port = one.slots->primaries[one.slots->owner[slot] - 1].port;

        expect_owner(&other, slot, "127.0.0.1", port);
    }
    clear(&one);
    clear(&other);
}

Test(redis_slots, tls_has_its_own_port_and_goes_by_the_name_of_the_host)
{
    struct bed bed = read_text(wr_redis_slots_read_shards, shards, true);

    expect_owner(&bed, 0, "h1.example", 27901);
    expect_owner(&bed, 16383, "127.0.0.1", 17903);
    clear(&bed);
    bed = read_text(wr_redis_slots_read_slots, slots_map, true);
    expect_owner(&bed, 0, "h1.example", 17901);
    clear(&bed);
}

Test(redis_slots, a_node_goes_by_all_its_names)
{
    struct bed bed = read_text(wr_redis_slots_read_shards, shards, false);
    const struct wr_redis_primary *const primary = &bed.slots->primaries[bed.slots->owner[0] - 1];

    cr_assert_eq(primary->n_names, 2);
    cr_assert(wr_str_equal(primary->names[1], wr_str_of("h1.example")));
    clear(&bed);
}

Test(redis_slots, no_endpoint_is_the_one_that_was_asked)
{
    struct bed bed = read_text(wr_redis_slots_read_slots, slots_unknown, false);

    expect_owner(&bed, 0, "asked.example", 17901);
    expect_owner(&bed, 16383, "asked.example", 17902);
    clear(&bed);
    bed = read_text(wr_redis_slots_read_shards,
                    "*1\r\n" SHARD("0", "0", PRIMARY_OF("7", "$0\r\n\r\n")), false);
    expect_owner(&bed, 0, "asked.example", 7);
    clear(&bed);
}

Test(redis_slots, a_node_that_lacks_the_name_it_should_have_goes_by_its_address)
{
    struct bed bed = read_text(wr_redis_slots_read_shards,
                               "*1\r\n" SHARD("0", "0", PRIMARY_OF("7", "$1\r\n?\r\n")), false);

    expect_owner(&bed, 0, "127.0.0.1", 7);
    clear(&bed);
}

#define NODE(port, role, health)                                                                   \
    "*8\r\n$4\r\nport\r\n:" port "\r\n$8\r\nendpoint\r\n$1\r\nh\r\n$4\r\nrole\r\n" role            \
    "$6\r\nhealth\r\n" health
#define MASTER "$6\r\nmaster\r\n"
#define REPLICA "$7\r\nreplica\r\n"
#define ONLINE "$6\r\nonline\r\n"
#define FAILED "$6\r\nfailed\r\n"

Test(redis_slots, primaries_that_failed)
{
    /* One has lost its slots to another of its shard, one has them still, one has none. */
    struct bed bed = read_text(
        wr_redis_slots_read_shards,
        "*4\r\n*4\r\n$5\r\nslots\r\n*2\r\n:0\r\n:9\r\n$5\r\nnodes\r\n*2\r\n" NODE(
            "1", MASTER, FAILED) NODE("2", MASTER, ONLINE)
            SHARD("10", "19",
                  NODE("3", MASTER, FAILED)) "*4\r\n$5\r\n"
                                             "slots\r\n*0\r\n$5\r\nnodes\r\n*1\r\n" NODE(
                                                 "4", MASTER, FAILED) "*4\r\n$5\r\nslots\r\n*0\r\n"
                                                                      "$5\r\nnodes\r\n*1\r\n" NODE(
                                                                          "5", MASTER, ONLINE),
        false);

    cr_assert(bed.is_map);
    expect_owner(&bed, 0, "h", 2);
    expect_owner(&bed, 19, "h", 3);
    cr_assert_eq(bed.slots->owner[20], 0);
    cr_assert_eq(bed.slots->n_covered, 20);
    /* The new one without slots is known, since slots may be on their way to it. */
    cr_assert_eq(bed.slots->n_primaries, 3);
    cr_assert_eq(bed.slots->primaries[2].port, 5);
    clear(&bed);
}

Test(redis_slots, a_shard_of_replicas_owns_nothing)
{
    struct bed bed = read_text(wr_redis_slots_read_shards,
                               "*1\r\n" SHARD("0", "9", NODE("1", REPLICA, ONLINE)), false);

    cr_assert(bed.is_map);
    cr_assert_eq(bed.slots->n_covered, 0);
    cr_assert_eq(bed.slots->n_primaries, 0);
    clear(&bed);
}

Test(redis_slots, several_ranges_of_one_primary)
{
    struct bed bed = read_text(wr_redis_slots_read_slots,
                               "*3\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\na\r\n:1\r\n*3\r\n:5\r\n:5\r\n*2"
                               "\r\n$1\r\nb\r\n:1\r\n*3\r\n:7\r\n:9\r\n*2\r\n$1\r\na\r\n:1\r\n",
                               false);

    cr_assert_eq(bed.slots->n_primaries, 2);
    cr_assert_eq(bed.slots->n_covered, 6);
    expect_owner(&bed, 9, "a", 1);
    cr_assert_eq(bed.slots->owner[6], 0);
    clear(&bed);
}

#define A_NODE "*2\r\n$1\r\na\r\n:1\r\n"

Test(redis_slots, what_is_no_map)
{
    static const struct {
        read_fn read;
        const char *text;
    } rows[] = {
        {wr_redis_slots_read_shards, "+OK\r\n"},
        {wr_redis_slots_read_shards, ":5\r\n"},
        {wr_redis_slots_read_shards, "$-1\r\n"},
        {wr_redis_slots_read_shards, "*1\r\n:5\r\n"},
        {wr_redis_slots_read_shards, "*1\r\n*0\r\n"},
        {wr_redis_slots_read_shards, "*1\r\n*2\r\n$5\r\nslots\r\n*0\r\n"},
        {wr_redis_slots_read_shards, "*1\r\n*4\r\n$5\r\nslots\r\n:1\r\n$5\r\nnodes\r\n*0\r\n"},
        {wr_redis_slots_read_shards,
         "*1\r\n*4\r\n$5\r\nslots\r\n*1\r\n:1\r\n$5\r\nnodes\r\n*0\r\n"},
        {wr_redis_slots_read_shards,
         "*1\r\n*4\r\n$5\r\nslots\r\n*0\r\n$5\r\nnodes\r\n*1\r\n:1\r\n"},
        {wr_redis_slots_read_shards, "*1\r\n" SHARD("0", "16384", NODE("1", MASTER, ONLINE))},
        {wr_redis_slots_read_shards, "*1\r\n" SHARD("9", "8", NODE("1", MASTER, ONLINE))},
        {wr_redis_slots_read_shards, "*1\r\n" SHARD("-1", "8", NODE("1", MASTER, ONLINE))},
        {wr_redis_slots_read_shards, "*1\r\n" SHARD("0", "8", NODE("65536", MASTER, ONLINE))},
        {wr_redis_slots_read_shards, "*1\r\n" SHARD("0", "8", NODE("-1", MASTER, ONLINE))},
        {wr_redis_slots_read_shards, "*2\r\n" SHARD("0", "8", NODE("1", MASTER, ONLINE))
                                         SHARD("8", "9", NODE("2", MASTER, ONLINE))},
        {wr_redis_slots_read_slots, "+OK\r\n"},
        {wr_redis_slots_read_slots, "*1\r\n:0\r\n"},
        {wr_redis_slots_read_slots, "*1\r\n*2\r\n:0\r\n:1\r\n"},
        {wr_redis_slots_read_slots, "*1\r\n*3\r\n:0\r\n:1\r\n:2\r\n"},
        {wr_redis_slots_read_slots, "*1\r\n*3\r\n:0\r\n:1\r\n*1\r\n$1\r\na\r\n"},
        {wr_redis_slots_read_slots, "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\na\r\n$1\r\n7\r\n"},
        {wr_redis_slots_read_slots, "*1\r\n*3\r\n$1\r\n0\r\n:1\r\n" A_NODE},
        {wr_redis_slots_read_slots, "*1\r\n*3\r\n:0\r\n:99999\r\n" A_NODE},
        {wr_redis_slots_read_slots, "*2\r\n*3\r\n:0\r\n:9\r\n" A_NODE "*3\r\n:0\r\n:9\r\n" A_NODE},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bed bed = read_text(rows[i].read, rows[i].text, false);

        cr_assert_not(bed.is_map, "row %zu", i);
        clear(&bed);
    }
}

/* Nobody connects to such hosts, so nobody owns the slots. */
Test(redis_slots, names_that_are_none)
{
    static const char *const rows[] = {
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\n?\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\na\r\n:0\r\n",
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bed bed = read_text(wr_redis_slots_read_slots, rows[i], false);

        cr_assert(bed.is_map, "row %zu", i);
        cr_assert_eq(bed.slots->n_covered, 0, "row %zu", i);
        clear(&bed);
    }
}

Test(redis_slots, redirections)
{
    static const struct {
        const char *text;
        bool is_one;
        uint16_t slot;
        const char *host;
        uint16_t port;
    } rows[] = {
        {"MOVED 15495 127.0.0.1:17903", true, 15495, "127.0.0.1", 17903},
        {"MOVED 3300 h1.example:17901", true, 3300, "h1.example", 17901},
        {"MOVED 3300 :17901", true, 3300, "", 17901},
        {"ASK 0 ::1:6379", true, 0, "::1", 6379},
        {"ASK 16383 10.0.0.1:1 and more", true, 16383, "10.0.0.1", 1},
        {"MOVED 15495 ?:17903", false, 0, NULL, 0},
        {"MOVED 16384 a:1", false, 0, NULL, 0},
        {"MOVED 1 a", false, 0, NULL, 0},
        {"MOVED 1 a:", false, 0, NULL, 0},
        {"MOVED 1 a:0", false, 0, NULL, 0},
        {"MOVED 1 a:65536", false, 0, NULL, 0},
        {"MOVED 1 a:1x", false, 0, NULL, 0},
        {"MOVED 1a:1", false, 0, NULL, 0},
        {"MOVED  a:1", false, 0, NULL, 0},
        {"MOVED 1", false, 0, NULL, 0},
        {"MOVED ", false, 0, NULL, 0},
        {"MOVED", false, 0, NULL, 0},
        {"ERR 1 a:1", false, 0, NULL, 0},
        {"", false, 0, NULL, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_redis_redirect redirect = {0};

        cr_assert_eq(wr_redis_redirect_read(wr_str_of(rows[i].text), &redirect), rows[i].is_one,
                     "%s", rows[i].text);
        if (rows[i].is_one) {
            cr_assert_eq(redirect.slot, rows[i].slot, "%s", rows[i].text);
            cr_assert(wr_str_equal(redirect.host, wr_str_of(rows[i].host)), "%s", rows[i].text);
            cr_assert_eq(redirect.port, rows[i].port, "%s", rows[i].text);
        }
    }
}
