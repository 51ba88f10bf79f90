/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/fault.h"

#include <criterion/criterion.h>
#include <string.h>

/* What servers of version 7 say, word for word. */
Test(redis_fault, each_error_has_its_reaction)
{
    static const struct {
        const char *error;
        enum wr_redis_reaction reaction;
        bool is_uncharged;
    } rows[] = {
        {"NOSCRIPT No matching script. Please use EVAL.", WR_REDIS_TEACH, true},
        {"MOVED 3999 127.0.0.1:6381", WR_REDIS_MOVED, true},
        {"ASK 3999 127.0.0.1:6381", WR_REDIS_ASK, true},
        {"TRYAGAIN Multiple keys request during rehashing of slot", WR_REDIS_AGAIN, true},
        {"CLUSTERDOWN The cluster is down", WR_REDIS_AGAIN, true},
        {"CLUSTERDOWN Hash slot not served", WR_REDIS_AGAIN, true},
        {"LOADING Redis is loading the dataset in memory", WR_REDIS_HOLD, true},
        {"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
         WR_REDIS_HOLD, true},
        {"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
         WR_REDIS_HOLD, true},
        {"READONLY You can't write against a read only replica.", WR_REDIS_RENEW, true},
        {"NOAUTH Authentication required.", WR_REDIS_LOGIN, true},
        {"WRONGPASS invalid username-password pair or user is disabled.", WR_REDIS_LOGIN, true},
        {"NOPERM User weir has no permissions to run the 'evalsha' command", WR_REDIS_REFUSED,
         true},
        {"ERR The user executing the script can't run this command or subcommand script: 0a, on "
         "@user_script:1.",
         WR_REDIS_REFUSED, false},
        {"ERR ACL failure in script: User weir has no permissions to run the 'incrby' command",
         WR_REDIS_REFUSED, false},
        {"OOM command not allowed when used memory > 'maxmemory'.", WR_REDIS_REFUSED, true},
        {"MISCONF Redis is configured to save RDB snapshots", WR_REDIS_REFUSED, true},
        {"NOREPLICAS Not enough good replicas to write.", WR_REDIS_REFUSED, true},
        {"ERR max number of clients reached", WR_REDIS_LOGIN, true},
        {"ERR DB index is out of range", WR_REDIS_LOGIN, true},
        {"ERR AUTH <password> called without any password configured", WR_REDIS_LOGIN, true},
        {"ERR something else", WR_REDIS_FAIL, false},
        {"WRONGTYPE Operation against a key holding the wrong kind of value", WR_REDIS_FAIL, false},
        {"OOMPH", WR_REDIS_FAIL, false},
        {"", WR_REDIS_FAIL, false},
        {"OOM", WR_REDIS_REFUSED, true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_redis_fault fault = wr_redis_fault_of(wr_str_of(rows[i].error));

        cr_assert_eq(fault.reaction, rows[i].reaction, "%s", rows[i].error);
        cr_assert_eq(fault.is_uncharged, rows[i].is_uncharged, "%s", rows[i].error);
        cr_assert(strlen(fault.advice) > 0 && strlen(fault.code) > 0);
    }
}
