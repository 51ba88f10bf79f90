/* SPDX-License-Identifier: Apache-2.0 */
/* STAND-IN of a working copy, not to be committed; the owner of script.h writes this file. */
#include "store/redis/script.h"
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>
#include "store/redis/command.h"
static struct wr_str text(void)
{
    static char buffer[65536];
    static size_t len;
    if (len == 0) {
        FILE *f = fopen("/work/main/server/store/redis/take.lua", "r");
        len = fread(buffer, 1, sizeof buffer, f);
        fclose(f);
    }
    return (struct wr_str){.ptr = buffer, .len = len};
}
bool wr_redis_script_format(const struct wr_redis_script_call *call, struct wr_arena *arena,
                            struct wr_str *out_command)
{
    const size_t n = call->n_takes;
    struct wr_str *words = wr_arena_calloc(arena, n + 4, sizeof *words);
    char *argv = wr_arena_calloc(arena, 1, 18 + 30 * n), number[24];
    double d = (double) call->not_after_us;
    argv[0] = (char) call->mode;
    memcpy(argv + 2, &d, 8);
    d = (double) call->now_us;
    memcpy(argv + 10, &d, 8);
    for (size_t i = 0; i < n; i++) {
        const struct wr_take *t = call->takes[i];
        char *at = argv + 18 + 30 * i;
        double f[3] = {(double) t->hits, (double) t->limit.requests, (double) t->limit.length_us};
        memcpy(at, f, 24);
        at[25] = (char) ((int) t->limit.count | (t->is_refund ? 4 : 0) | (t->is_enforced ? 8 : 0) |
                         (t->must_book ? 16 : 0));
        memcpy(at + 26, &t->group, 4);
        words[3 + i] = call->keys[i];
    }
    snprintf(number, sizeof number, "%zu", n);
    words[0] = wr_str_of("EVAL");
    words[1] = text();
    words[2] = wr_str_of(number);
    words[3 + n] = (struct wr_str){.ptr = argv, .len = 18 + 30 * n};
    char *out = wr_arena_alloc(arena, wr_redis_command_size(words, n + 4));
    *out_command = (struct wr_str){.ptr = out, .len = wr_redis_command_write(words, n + 4, out, NULL)};
    return true;
}
size_t wr_redis_script_not_after_at(struct wr_str command, size_t n_takes)
{
    return command.len - 2 - (18 + 30 * n_takes) + 2;
}
struct wr_str wr_redis_script_load(void)
{
    return wr_str_of("*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$8\r\nreturn 1\r\n");
}
struct wr_str wr_redis_script_sha1(void)
{
    return wr_str_of("");
}
enum wr_redis_script_reply wr_redis_script_read(const struct redisReply *reply,
                                                struct wr_take *const *takes, size_t n,
                                                struct wr_redis_script_notes *notes)
{
    if (reply->type == REDIS_REPLY_ERROR) {
        return WR_REDIS_SCRIPT_ERROR;
    }
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements < 1 + 2 * n) {
        return WR_REDIS_SCRIPT_GARBAGE;
    }
    *notes = (struct wr_redis_script_notes){.now_us = reply->element[0]->integer};
    for (size_t i = 0; i < n; i++) {
        long long v = reply->element[1 + 2 * i]->integer, r = reply->element[2 + 2 * i]->integer;
        takes[i]->answer = v == -3 ? WR_TAKE_LATE : v == -2 ? WR_TAKE_AWAY : WR_TAKE_DECIDED;
        notes->n_late += v == -3;
        takes[i]->verdict = (struct wr_verdict){.over = v == -1, .remaining = v < 0 ? 0 : (uint64_t) v,
                                                .reset_us = r};
    }
    return WR_REDIS_SCRIPT_ANSWERED;
}
