/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/survey.h"

#include <inttypes.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "store/redis/fault.h"
#include "store/redis/loop.h"
#include "store/redis/target.h"

#define PERIOD_US INT64_C(5000000)    /* between two looks at the map, when all is well */
#define GAP_US INT64_C(100000)        /* the same, at least */
#define PAUSE_MAX_US INT64_C(1000000) /* the same, when something is amiss */
#define QUERY_US INT64_C(500000)      /* then another node is asked */
#define ASK_SHARDS "*2\r\n$7\r\nCLUSTER\r\n$6\r\nSHARDS\r\n"
#define ASK_SLOTS "*2\r\n$7\r\nCLUSTER\r\n$5\r\nSLOTS\r\n"

static int64_t now(const struct wr_redis_survey *survey)
{
    return wr_redis_loop_now(survey->options.loop);
}

/* ---- when to look at the map ---- */

static int64_t jitter(struct wr_redis_survey *survey, int64_t max_us)
{
    return (int64_t) (wr_redis_loop_random(survey->options.loop) % (uint64_t) max_us);
}

static void look_at(struct wr_redis_survey *survey, int64_t due_us)
{
    wr_redis_timer_set(wr_redis_loop_timers(survey->options.loop), &survey->timer, due_us);
}

/* Many requests may learn of one change: the map is asked for once. */
void wr_redis_survey_hurry(struct wr_redis_survey *survey)
{
    const int64_t due_us = survey->asked_us + GAP_US + jitter(survey, GAP_US);

    if (!survey->is_open || survey->is_due_soon) {
        return;
    }
    survey->is_due_soon = true;
    if (!survey->is_querying) {
        look_at(survey, due_us > now(survey) ? due_us : now(survey));
    }
}

static bool is_whole(const struct wr_redis_survey *survey)
{
    return survey->has_map && survey->n_covered == WR_REDIS_SLOTS &&
           wr_redis_nodes_all_ready(survey->options.nodes);
}

/* After a query, or when there was nobody to ask. */
static void look_later(struct wr_redis_survey *survey, bool has_worked)
{
    int64_t pause_us = GAP_US + jitter(survey, GAP_US);

    if (has_worked && is_whole(survey)) {
        wr_pauses_reset(&survey->pauses);
        pause_us = survey->is_due_soon
                       ? pause_us
                       : PERIOD_US - PERIOD_US / 5 + jitter(survey, 2 * PERIOD_US / 5);
    } else {
        pause_us +=
            survey->is_due_soon
                ? 0
                : wr_pauses_next(&survey->pauses, wr_redis_loop_random(survey->options.loop));
    }
    look_at(survey, now(survey) + pause_us);
}

/* ---- the map ---- */

static void open_seeds(struct wr_redis_survey *survey)
{
    for (size_t i = 0; i < survey->options.target->n_addresses; i++) {
        const struct wr_redis_address *const address = &survey->options.target->addresses[i];
        const struct wr_redis_primary seed = {
            .names = {wr_str_of(address->host)},
            .n_names = 1,
            .port = address->port,
        };

        (void) wr_redis_nodes_get(survey->options.nodes, &seed);
    }
}

static void log_map(const struct wr_redis_survey *survey)
{
    const bool is_complete = survey->n_covered == WR_REDIS_SLOTS;

    wr_log(is_complete ? WR_LOG_INFO : WR_LOG_WARN,
           "Redis cluster: %zu primaries have %zu of %d slots%s", survey->slots.n_primaries,
           survey->n_covered, WR_REDIS_SLOTS,
           is_complete ? "" : "; what belongs to the others fails: see CLUSTER INFO");
}

/* Nodes that the map does not name stay for a while, for what is on its way to them. */
static void use_map(struct wr_redis_survey *survey)
{
    const struct wr_redis_slots *const slots = &survey->slots;
    struct wr_redis_node *nodes[WR_REDIS_PRIMARIES + 1] = {NULL};
    const bool is_news = !survey->has_map || slots->n_covered != survey->n_covered;

    for (size_t i = 0; i < survey->options.nodes->n; i++) {
        survey->options.nodes->items[i]->is_on_map = false;
    }
    for (size_t i = 0; i < slots->n_primaries; i++) {
        nodes[i + 1] = wr_redis_nodes_get(survey->options.nodes, &slots->primaries[i]);
        if (nodes[i + 1] != NULL) {
            nodes[i + 1]->is_on_map = true;
        }
    }
    survey->has_map = true;
    survey->n_covered = slots->n_covered;
    if (is_news) {
        log_map(survey);
    }
    survey->options.on_map(survey->options.context, slots, nodes);
}

/* A node that knows of nobody who owns a slot has left the cluster, or never joined it. */
static bool read_map(struct wr_redis_survey *survey, const struct redisReply *reply)
{
    const struct wr_redis_slots_asked asked = {
        .host = wr_redis_link_place(survey->query.from).host,
        .has_tls = survey->options.has_tls,
    };
    const bool is_map = survey->asks_slots
                            ? wr_redis_slots_read_slots(reply, &asked, &survey->slots)
                            : wr_redis_slots_read_shards(reply, &asked, &survey->slots);

    if (is_map && survey->slots.n_covered > 0) {
        use_map(survey);
    }
    return is_map && survey->slots.n_covered > 0;
}

static void log_no_map(struct wr_redis_survey *survey, const char *why)
{
    uint64_t skipped = 0;

    if (wr_log_limit_pass(&survey->log, now(survey), &skipped)) {
        wr_log(WR_LOG_WARN,
               "Redis cluster: no map of the slots: %s; others are asked (%" PRIu64
               " lines before this were left out)",
               why, skipped);
    }
}

static const char *why_refused(const struct redisReply *reply, const struct wr_redis_fault *fault)
{
    if (strstr(reply->str, "cluster support disabled") != NULL) {
        return "the server is no node of a cluster: set --redis-type single";
    }
    return fault->reaction == WR_REDIS_REFUSED
               ? "the user may not ask for it: allow it +cluster|shards and +cluster|slots"
               : fault->advice;
}

/* True when the other command may do better: an old server does not know this one, or a user may
 * use the other alone. */
static bool try_other_command(struct wr_redis_survey *survey, const struct wr_redis_fault *fault)
{
    if (fault->reaction != WR_REDIS_FAIL && fault->reaction != WR_REDIS_REFUSED) {
        return false;
    }
    survey->asks_slots = !survey->asks_slots;
    return survey->asks_slots;
}

static void query_ended(struct wr_redis_request *request, enum wr_redis_end end,
                        const struct redisReply *reply)
{
    struct wr_redis_survey *const survey = request->context;
    struct wr_redis_fault fault;
    bool has_worked = false;

    survey->is_querying = false;
    if (end != WR_REDIS_REPLIED) {
        log_no_map(survey, "a node does not answer");
    } else if (!wr_redis_fault_in(reply, &fault)) {
        has_worked = read_map(survey, reply);
        if (!has_worked) {
            log_no_map(survey, "a node has left the cluster, or answers what is no map");
        }
    } else if (try_other_command(survey, &fault)) {
        look_at(survey, now(survey));
        return;
    } else {
        log_no_map(survey, why_refused(reply, &fault));
    }
    survey->has_failed = !has_worked;
    look_later(survey, has_worked);
}

static void query(struct wr_redis_survey *survey, struct wr_redis_node *node)
{
    survey->query = (struct wr_redis_request){
        .bytes = wr_str_of(survey->asks_slots ? ASK_SLOTS : ASK_SHARDS),
        .deadline_mono_us = now(survey) + QUERY_US,
        .on_end = query_ended,
        .context = survey,
    };
    wr_redis_timer_clear(&survey->timer);
    survey->is_querying = true;
    survey->is_due_soon = false;
    survey->asked_us = now(survey);
    wr_redis_request_start(&survey->query, survey->options.loop);
    wr_redis_link_send(node->link, &survey->query, NULL, NULL);
}

static void look(struct wr_redis_timer *timer, int64_t mono_us)
{
    struct wr_redis_survey *const survey = timer->context;

    (void) mono_us;
    wr_redis_nodes_tidy(survey->options.nodes);

    struct wr_redis_node *const node = wr_redis_nodes_next(survey->options.nodes);

    if (node != NULL) {
        query(survey, node);
        return;
    }
    open_seeds(survey);
    survey->is_due_soon = false;
    look_later(survey, false);
}

void wr_redis_survey_init(struct wr_redis_survey *survey,
                          const struct wr_redis_survey_options *options)
{
    memset(survey, 0, sizeof *survey);
    survey->options = *options;
    survey->timer = (struct wr_redis_timer){.on_due = look, .context = survey};
    survey->pauses = (struct wr_pauses){.min_us = GAP_US, .max_us = PAUSE_MAX_US};
}

void wr_redis_survey_open(struct wr_redis_survey *survey)
{
    survey->is_open = true;
    open_seeds(survey);
    look_later(survey, false);
}

void wr_redis_survey_close(struct wr_redis_survey *survey)
{
    survey->is_open = false;
    wr_redis_timer_clear(&survey->timer);
    if (survey->is_querying) {
        wr_redis_request_drop(&survey->query);
        survey->is_querying = false;
    }
}
