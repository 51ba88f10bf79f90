/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/request.h"

#include <stddef.h>

#include "store/redis/link.h"
#include "store/redis/loop.h"

void wr_redis_request_park(struct wr_redis_request *request, struct wr_redis_request **list)
{
    request->next = *list;
    if (request->next != NULL) {
        request->next->link_from = &request->next;
    }
    request->link_from = list;
    *list = request;
}

void wr_redis_request_unpark(struct wr_redis_request *request)
{
    *request->link_from = request->next;
    if (request->next != NULL) {
        request->next->link_from = request->link_from;
    }
    request->link_from = NULL;
    request->next = NULL;
}

/* From the link, or the route's list, that has it. */
static void take_back(struct wr_redis_request *request, bool is_timeout)
{
    if (request->link != NULL) {
        wr_redis_link_forget(request->link, request, is_timeout);
    } else if (request->link_from != NULL) {
        wr_redis_request_unpark(request);
    }
}

static void deadline_came(struct wr_redis_timer *timer, int64_t mono_us)
{
    struct wr_redis_request *const request = timer->context;

    (void) mono_us;
    take_back(request, true);
    wr_redis_request_end(request, WR_REDIS_TIMED_OUT, NULL);
}

void wr_redis_request_start(struct wr_redis_request *request, struct wr_redis_loop *loop)
{
    request->loop = loop;
    request->timer.on_due = deadline_came;
    request->timer.context = request;
    wr_redis_timer_set(wr_redis_loop_timers(loop), &request->timer, request->deadline_mono_us);
}

void wr_redis_request_end(struct wr_redis_request *request, enum wr_redis_end end,
                          const struct redisReply *reply)
{
    wr_redis_timer_clear(&request->timer);
    request->on_end(request, end, reply);
}

void wr_redis_request_drop(struct wr_redis_request *request)
{
    wr_redis_timer_clear(&request->timer);
    take_back(request, false);
}
