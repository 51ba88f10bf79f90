/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/fault.h"

#include <stddef.h>
#include <string.h>

#include <hiredis/hiredis.h>

#define ADVICE_NOPERM                                                                              \
    "the user may not do this: allow it +evalsha +script|load +time +get +set +incrby "            \
    "+pexpiretime, and +eval +zadd +zremrangebyscore +zcard +pexpire if replicas are to be "       \
    "counted, on the keys of weir"

static const struct wr_redis_fault faults[] = {
    {WR_REDIS_TEACH, true, "NOSCRIPT",
     "the script was flushed and is loaded again; if it stays "
     "unknown, allow SCRIPT LOAD to the user of weir"},
    {WR_REDIS_MOVED, true, "MOVED", "this is a cluster: set --redis-type cluster"},
    {WR_REDIS_ASK, true, "ASK", "this is a cluster: set --redis-type cluster"},
    {WR_REDIS_AGAIN, true, "TRYAGAIN", "slots are being moved; nothing to do"},
    {WR_REDIS_AGAIN, true, "CLUSTERDOWN",
     "slots of the cluster have no owner: see CLUSTER INFO, and its nodes"},
    {WR_REDIS_FAIL, true, "CROSSSLOT", "keys of one request lie in different slots; please report"},
    {WR_REDIS_HOLD, true, "LOADING",
     "the server reads its data set; it is asked again until it "
     "has"},
    {WR_REDIS_HOLD, true, "MASTERDOWN",
     "a replica without its primary: see why it has lost it, or where the URL leads"},
    {WR_REDIS_HOLD, true, "BUSY",
     "a script of somebody else blocks the server: SCRIPT KILL, and see who runs it"},
    {WR_REDIS_RENEW, true, "READONLY",
     "the server is a replica: see where the URL leads, or use sentinels"},
    {WR_REDIS_LOGIN, true, "NOAUTH",
     "a password is needed: set --redis-auth (of a sentinel: --redis-sentinel-auth), or one in "
     "the URL"},
    {WR_REDIS_LOGIN, true, "WRONGPASS",
     "user or password is wrong, or the user is off: compare with ACL LIST"},
    {WR_REDIS_REFUSED, true, "NOPERM", ADVICE_NOPERM},
    /* in the middle of a script; what it wrote before stays */
    {WR_REDIS_REFUSED, false, "ERR The user executing the script", ADVICE_NOPERM},
    {WR_REDIS_REFUSED, false, "ERR ACL failure in", ADVICE_NOPERM},
    {WR_REDIS_REFUSED, true, "OOM",
     "maxmemory is reached: raise it, for counters that live cannot be thrown away"},
    {WR_REDIS_REFUSED, true, "MISCONF",
     "the server cannot save to its disk and so refuses writes: see its log"},
    {WR_REDIS_REFUSED, true, "NOREPLICAS",
     "fewer replicas are in step than min-replicas-to-write asks for"},
    {WR_REDIS_FAIL, false, "WRONGTYPE", "a key of weir holds something else: set another prefix"},
    {WR_REDIS_FAIL, true, "EXECABORT", "please report"},
    {WR_REDIS_LOGIN, true, "ERR AUTH",
     "it has no password for the default user: leave --redis-auth (of a sentinel: "
     "--redis-sentinel-auth) out, or name a user"},
    {WR_REDIS_LOGIN, true, "ERR DB index", "it has no database of that number: see the URL"},
    {WR_REDIS_LOGIN, true, "ERR SELECT", "a cluster has no databases: see the URL"},
    {WR_REDIS_LOGIN, true, "ERR max number of clients",
     "it has as many clients as it allows: raise its maxclients, and see who they are"},
    {WR_REDIS_FAIL, true, "ERR unknown command",
     "it lacks a command that weir needs: is it Redis or Valkey, of version 7 or later?"},
};

/* `code` are whole words. */
static bool begins_with(struct wr_str error, const char *code)
{
    const size_t len = strlen(code);

    return error.len >= len && memcmp(error.ptr, code, len) == 0 &&
           (error.len == len || error.ptr[len] == ' ');
}

struct wr_redis_fault wr_redis_fault_of(struct wr_str error)
{
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        if (begins_with(error, faults[i].code)) {
            return faults[i];
        }
    }
    return (struct wr_redis_fault){
        .reaction = WR_REDIS_FAIL,
        .code = "an error",
        .advice = "is it Redis or Valkey, of version 7 or later?",
    };
}

bool wr_redis_fault_in(const struct redisReply *reply, struct wr_redis_fault *out_fault)
{
    if (reply->type != REDIS_REPLY_ERROR) {
        return false;
    }
    *out_fault = wr_redis_fault_of((struct wr_str){.ptr = reply->str, .len = reply->len});
    return true;
}
