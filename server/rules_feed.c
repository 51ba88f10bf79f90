/* SPDX-License-Identifier: Apache-2.0 */
#include "rules_feed.h"

#include <stdio.h>
#include <sysexits.h>

#include "base/log.h"
#include "rules/reload.h"
#include "xds/client.h"
#include "xds_choice.h"

#define CHUNK_SIZE 1024

static int fail(int code, const char *what)
{
    wr_log(WR_LOG_ERROR, "%s", what);
    return code;
}

static bool has_rules(struct wr_current_rules *current)
{
    struct wr_rules_view view = {0};
    const bool has_any = wr_rules_view_renew(&view, current) != NULL;

    wr_rules_view_fini(&view);
    return has_any;
}

/* At start a path that is not there is a mistake; later, and with the incumbent's variables, it is
 * waited for. */
static int open_files(struct wr_rules_feed *feed, const struct wr_rules_feed_frame *frame)
{
    const struct wr_reload_options options = {
        .load = &frame->source->load,
        .current = frame->current,
        .metrics = frame->metrics,
        .on_rules = frame->on_rules,
        .context = frame->context,
        .poll_us = frame->options->rules_poll_us,
    };

    if (wr_reload_new(&options, &feed->reload) != WR_OK) {
        return fail(EX_OSERR, "rules cannot be loaded: out of memory or descriptors");
    }

    const enum wr_err err = wr_reload_load(feed->reload);

    if (err == WR_OK || (err == WR_ERR_NOT_FOUND && frame->source->may_be_absent)) {
        if (!has_rules(frame->current)) {
            wr_log(WR_LOG_WARN, "no rules are in force: calls are answered UNAVAILABLE until a "
                                "rule file is good");
        }
        return EX_OK;
    }
    return err == WR_ERR_NOT_FOUND || err == WR_ERR_IO ? EX_NOINPUT : EX_OSERR;
}

static int open_xds(struct wr_rules_feed *feed, const struct wr_rules_feed_frame *frame)
{
    struct wr_xds_client_options options;

    if (!wr_xds_choose(frame->options, &feed->arena, stderr, &options)) {
        return EX_USAGE;
    }
    options.load = &frame->source->load;
    options.current = frame->current;
    options.metrics = frame->metrics;
    options.on_rules = frame->on_rules;
    options.context = frame->context;
    if (wr_xds_client_new(&options, &feed->xds) != WR_OK) {
        return fail(EX_OSERR, "the client of the control plane could not be set up: out of memory "
                              "or descriptors");
    }
    wr_log(WR_LOG_INFO,
           "rules come from the control plane %s: until then calls are answered UNAVAILABLE",
           frame->options->xds_server);
    return EX_OK;
}

int wr_rules_feed_open(struct wr_rules_feed *feed, const struct wr_rules_feed_frame *frame)
{
    wr_arena_init(&feed->arena, CHUNK_SIZE);
    return frame->options->rules_source == WR_RULES_FROM_XDS ? open_xds(feed, frame)
                                                             : open_files(feed, frame);
}

int wr_rules_feed_start(struct wr_rules_feed *feed)
{
    const enum wr_err err =
        feed->xds != NULL ? wr_xds_client_start(feed->xds) : wr_reload_start(feed->reload);

    return err == WR_OK
               ? EX_OK
               : fail(EX_OSERR, "the thread that keeps rules could not be started: out of threads");
}

void wr_rules_feed_look(struct wr_rules_feed *feed, bool is_told)
{
    if (is_told) {
        wr_log(WR_LOG_INFO, "%s",
               feed->xds != NULL
                   ? "SIGHUP: rules come from a control plane, there is nothing to look at"
                   : "SIGHUP: looking at the rule files; when nothing has changed, the rules in "
                     "force stay, and no line follows");
    }
    if (feed->reload != NULL) {
        wr_reload_look(feed->reload);
    }
}

void wr_rules_feed_stop(struct wr_rules_feed *feed)
{
    if (feed->xds != NULL) {
        wr_xds_client_stop(feed->xds);
    } else {
        wr_reload_stop(feed->reload);
    }
}

void wr_rules_feed_close(struct wr_rules_feed *feed)
{
    wr_xds_client_destroy(feed->xds);
    wr_reload_destroy(feed->reload);
    wr_arena_fini(&feed->arena);
}
