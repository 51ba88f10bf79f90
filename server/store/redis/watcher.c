/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/watcher.h"

#include <stdlib.h>

#include <hiredis/hiredis.h>

#include "base/log.h"
#include "store/redis/command.h"
#include "store/redis/fault.h"
#include "store/redis/loop.h"

#define QUERY_US INT64_C(500000)      /* that a sentinel may take to answer */
#define SAME_WHY_US INT64_C(30000000) /* a complaint that stays is made again after that */
#define NAMES_SIZE 256
#define ASK_NAMES "*2\r\n$8\r\nSENTINEL\r\n$7\r\nMASTERS\r\n"
#define CHANNELS "+switch-master +promoted-slave"

/* As last made. */
struct complaint {
    const char *why; /* static; NULL: none since all was well */
    int64_t told_us;
};

struct wr_redis_watcher {
    struct wr_redis_watcher_options options;
    struct wr_redis_link *asks, *hears;   /* owned */
    struct wr_str ask_epoch, ask_address; /* owned; commands */
    struct wr_redis_request epoch, address, names;
    struct wr_redis_witness heard; /* of the question that is on its way */
    unsigned n_out;                /* of epoch and address, those without an answer */
    bool is_naming;                /* so is names */
    bool is_again;                 /* to be asked again after that */
    bool was_tried;
    struct complaint about_answers, about_messages;
};

static int64_t now(const struct wr_redis_watcher *watcher)
{
    return wr_redis_loop_now(watcher->options.link.loop);
}

/* `why` is static. */
static void complain(struct wr_redis_watcher *watcher, struct complaint *last, const char *why,
                     const char *more)
{
    const struct wr_redis_place place = wr_redis_link_place(watcher->asks);

    if (last->why == why && now(watcher) - last->told_us < SAME_WHY_US) {
        return;
    }
    *last = (struct complaint){.why = why, .told_us = now(watcher)};
    wr_log(WR_LOG_WARN, "Redis sentinel at %.*s:%u: %s%s", (int) place.host.len, place.host.ptr,
           place.port, why, more);
}

/* ---- questions ---- */

static void send_query(struct wr_redis_watcher *watcher, struct wr_redis_request *query,
                       struct wr_str bytes, wr_redis_end_fn on_end)
{
    *query = (struct wr_redis_request){
        .bytes = bytes,
        .deadline_mono_us = now(watcher) + QUERY_US,
        .on_end = on_end,
        .context = watcher,
    };
    wr_redis_request_start(query, watcher->options.link.loop);
    wr_redis_link_send(watcher->asks, query, NULL, NULL);
}

static void names_ended(struct wr_redis_request *request, enum wr_redis_end end,
                        const struct redisReply *reply)
{
    struct wr_redis_watcher *const watcher = request->context;
    char names[NAMES_SIZE] = "";

    watcher->is_naming = false;
    if (end == WR_REDIS_REPLIED) {
        wr_redis_witness_read_names(reply, names, sizeof names);
    }
    if (names[0] != '\0') {
        complain(watcher, &watcher->about_answers,
                 "knows no primary of the name that --redis-url begins with, but ", names);
    } else {
        complain(watcher, &watcher->about_answers,
                 "knows no primary of the name that --redis-url begins with", "");
    }
}

static void name_unknown(struct wr_redis_watcher *watcher)
{
    if (!watcher->is_naming) {
        watcher->is_naming = true;
        send_query(watcher, &watcher->names, wr_str_of(ASK_NAMES), names_ended);
    }
}

static const char *advice_on(const struct redisReply *reply)
{
    struct wr_redis_fault fault;

    if (!wr_redis_fault_in(reply, &fault)) {
        return "answers what is no address: is it a sentinel, of version 7 or later?";
    }
    if (fault.reaction == WR_REDIS_REFUSED) {
        return "the user may not ask where the primary is: allow it "
               "+sentinel|get-master-addr-by-name and +sentinel|master";
    }
    return fault.reaction == WR_REDIS_FAIL
               ? "does not know the command SENTINEL: is it a sentinel, or a Redis server?"
               : fault.advice;
}

/* One of the two is; the answer counts when both are. */
static void query_ended(struct wr_redis_watcher *watcher)
{
    struct wr_redis_witness *const said = watcher->options.said;

    if (--watcher->n_out > 0) {
        return;
    }
    watcher->was_tried = true;
    if (wr_redis_witness_is_same(said, &watcher->heard)) {
        watcher->heard.refuted_until_us = said->refuted_until_us;
    }
    *said = watcher->heard;
    if (watcher->is_again) {
        wr_redis_watcher_ask(watcher);
    }
    watcher->options.on_said(watcher->options.context);
}

static void epoch_ended(struct wr_redis_request *request, enum wr_redis_end end,
                        const struct redisReply *reply)
{
    struct wr_redis_watcher *const watcher = request->context;

    if (end == WR_REDIS_REPLIED) {
        watcher->heard.epoch = wr_redis_witness_read_epoch(reply);
    }
    query_ended(watcher);
}

static void address_ended(struct wr_redis_request *request, enum wr_redis_end end,
                          const struct redisReply *reply)
{
    struct wr_redis_watcher *const watcher = request->context;

    if (end != WR_REDIS_REPLIED) {
        query_ended(watcher);
        return;
    }
    if (wr_redis_witness_read_address(reply, &watcher->heard)) {
        watcher->about_answers.why = NULL;
    } else if (reply->type == REDIS_REPLY_NIL) {
        name_unknown(watcher);
    } else {
        complain(watcher, &watcher->about_answers, advice_on(reply), "");
    }
    query_ended(watcher);
}

/* The epoch first: should they change in between, a new address is thought to be older than it is,
 * never the other way round. */
void wr_redis_watcher_ask(struct wr_redis_watcher *watcher)
{
    watcher->is_again = watcher->n_out > 0;
    if (watcher->is_again || !wr_redis_link_is_ready(watcher->asks)) {
        return;
    }
    watcher->heard = (struct wr_redis_witness){.epoch = -1};
    watcher->n_out = 2;
    send_query(watcher, &watcher->epoch, watcher->ask_epoch, epoch_ended);
    send_query(watcher, &watcher->address, watcher->ask_address, address_ended);
}

bool wr_redis_watcher_is_pending(const struct wr_redis_watcher *watcher)
{
    return watcher->n_out > 0 || !watcher->was_tried;
}

/* ---- the first link ---- */

static void asks_up(void *context, struct wr_redis_link *link)
{
    const struct wr_redis_watcher *const watcher = context;

    (void) link;
    wr_redis_link_open(watcher->hears);
}

static void asks_ready(void *context, struct wr_redis_link *link, bool is_ready)
{
    (void) link;
    if (is_ready) {
        wr_redis_watcher_ask(context);
    }
}

/* What it said may not hold any more. */
static void asks_down(void *context, struct wr_redis_link *link, const char *why)
{
    struct wr_redis_watcher *const watcher = context;

    (void) link;
    (void) why;
    wr_redis_link_close(watcher->hears);
    watcher->was_tried = true;
    *watcher->options.said = (struct wr_redis_witness){.epoch = -1};
    watcher->options.on_said(watcher->options.context);
}

/* ---- the second ---- */

/* What was published before it listened is asked for. */
static void hears_up(void *context, struct wr_redis_link *link)
{
    (void) link;
    wr_redis_watcher_ask(context);
}

static void hears_pushed(void *context, struct wr_redis_link *link, const struct redisReply *reply)
{
    struct wr_redis_watcher *const watcher = context;

    (void) link;
    if (reply->type == REDIS_REPLY_ERROR) {
        complain(watcher, &watcher->about_messages,
                 "the user may not SUBSCRIBE, so fail-overs are seen late: allow it "
                 "+subscribe &+switch-master &+promoted-slave",
                 "");
    } else if (wr_redis_witness_is_news(reply, watcher->options.name)) {
        watcher->options.on_news(watcher->options.context);
    }
}

/* ---- begin and end ---- */

/* Empty: no memory. */
static struct wr_str make_question(const struct wr_redis_watcher *watcher, const char *word)
{
    const struct wr_str words[] = {wr_str_of("SENTINEL"), wr_str_of(word), watcher->options.name};
    char *const bytes = malloc(wr_redis_command_size(words, 3));

    return (struct wr_str){
        .ptr = bytes,
        .len = bytes != NULL ? wr_redis_command_write(words, 3, bytes, NULL) : 0,
    };
}

static enum wr_err make_links(struct wr_redis_watcher *watcher)
{
    struct wr_redis_link_options options = watcher->options.link;

    options.is_discreet = true;
    options.context = watcher;
    options.what = (struct wr_str) WR_STR("Redis sentinel");
    options.on_up = asks_up;
    options.on_ready = asks_ready;
    options.on_down = asks_down;

    enum wr_err err = wr_redis_link_new(&options, &watcher->asks);

    if (err != WR_OK) {
        return err;
    }
    options.what = (struct wr_str) WR_STR("Redis sentinel's messages");
    options.on_up = hears_up;
    options.on_ready = NULL;
    options.on_down = NULL;
    options.on_push = hears_pushed;
    err = wr_redis_link_new(&options, &watcher->hears);
    return err == WR_OK ? wr_redis_link_subscribe(watcher->hears, wr_str_of(CHANNELS)) : err;
}

enum wr_err wr_redis_watcher_new(const struct wr_redis_watcher_options *options,
                                 struct wr_redis_watcher **out_watcher)
{
    struct wr_redis_watcher *const watcher = calloc(1, sizeof *watcher);

    if (watcher == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    watcher->options = *options;
    watcher->ask_epoch = make_question(watcher, "MASTER");
    watcher->ask_address = make_question(watcher, "GET-MASTER-ADDR-BY-NAME");
    if (watcher->ask_epoch.ptr == NULL || watcher->ask_address.ptr == NULL ||
        make_links(watcher) != WR_OK) {
        wr_redis_watcher_destroy(watcher);
        return WR_ERR_NO_MEMORY;
    }
    *out_watcher = watcher;
    return WR_OK;
}

static void free_text(struct wr_str text)
{
    free((char *) (uintptr_t) text.ptr);
}

void wr_redis_watcher_destroy(struct wr_redis_watcher *watcher)
{
    if (watcher == NULL) {
        return;
    }
    wr_redis_link_destroy(watcher->hears);
    wr_redis_link_destroy(watcher->asks);
    free_text(watcher->ask_epoch);
    free_text(watcher->ask_address);
    free(watcher);
}

void wr_redis_watcher_open(struct wr_redis_watcher *watcher)
{
    wr_redis_link_open(watcher->asks);
}

void wr_redis_watcher_close(struct wr_redis_watcher *watcher)
{
    wr_redis_request_drop(&watcher->epoch);
    wr_redis_request_drop(&watcher->address);
    wr_redis_request_drop(&watcher->names);
    wr_redis_link_close(watcher->hears);
    wr_redis_link_close(watcher->asks);
}
