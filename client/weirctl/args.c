/* SPDX-License-Identifier: Apache-2.0 */
#include "args.h"

#include "../error.h"
#include "../target.h"
#include "bench/body.h"

/* Commands that an option belongs to. */
enum {
    FOR_CHECK = 1U << WEIRCTL_CHECK,
    FOR_HEALTH = 1U << WEIRCTL_HEALTH,
    FOR_BENCH = 1U << WEIRCTL_BENCH,
    FOR_ASKING = FOR_CHECK | FOR_BENCH,
    FOR_ALL = FOR_ASKING | FOR_HEALTH,
};

/* Bounds of a load: what one process can hold, and what 64 bits carry. */
#define CONNECTIONS_MAX 10000
#define IN_FLIGHT_MAX 10000
#define RATE_MAX 10000000
#define REQUESTS_MAX 1000000000000

typedef bool (*set_fn)(struct weirctl_args *args, const char *value);

/* ---- Options ---- */

/* Only one of --hits, --peek and --refund can be meant. */
static bool set_charge(struct weirctl_args *args, enum weirctl_charge charge)
{
    if (args->charge != WEIRCTL_CHARGE_DEFAULT) {
        return false;
    }
    args->charge = charge;
    return true;
}

static bool set_hits(struct weirctl_args *args, const char *value)
{
    return weirctl_parse_number(value, UINT32_MAX, &args->hits) &&
           set_charge(args, WEIRCTL_CHARGE_HITS);
}

static bool set_peek(struct weirctl_args *args, const char *value)
{
    (void) value;
    return set_charge(args, WEIRCTL_CHARGE_PEEK);
}

static bool set_refund(struct weirctl_args *args, const char *value)
{
    return weirctl_parse_number(value, UINT64_MAX, &args->hits) &&
           set_charge(args, WEIRCTL_CHARGE_REFUND);
}

static bool set_limit(struct weirctl_args *args, const char *value)
{
    args->has_limit = true;
    return weirctl_parse_limit(value, &args->limit);
}

static bool set_target(struct weirctl_args *args, const char *value)
{
    args->target = value;
    return true;
}

static bool set_timeout(struct weirctl_args *args, const char *value)
{
    return weirctl_parse_duration(value, &args->timeout_ms);
}

static bool set_json(struct weirctl_args *args, const char *value)
{
    (void) value;
    args->json = true;
    return true;
}

static bool set_watch(struct weirctl_args *args, const char *value)
{
    (void) value;
    args->watch = true;
    return true;
}

static bool set_connections(struct weirctl_args *args, const char *value)
{
    return weirctl_parse_number(value, CONNECTIONS_MAX, &args->connections);
}

static bool set_in_flight(struct weirctl_args *args, const char *value)
{
    return weirctl_parse_number(value, IN_FLIGHT_MAX, &args->in_flight);
}

static bool set_rate(struct weirctl_args *args, const char *value)
{
    return weirctl_parse_number(value, RATE_MAX, &args->rate);
}

static bool set_requests(struct weirctl_args *args, const char *value)
{
    return weirctl_parse_number(value, REQUESTS_MAX, &args->requests);
}

static bool set_keys(struct weirctl_args *args, const char *value)
{
    return weirctl_parse_number(value, WEIRCTL_KEYS_MAX, &args->keys);
}

static bool set_duration(struct weirctl_args *args, const char *value)
{
    return weirctl_parse_duration(value, &args->duration_ms);
}

static const struct option {
    const char *name;
    const char *value; /* what it takes; NULL: nothing */
    unsigned int commands;
    set_fn set;
    const char *rule; /* what is right, for the error */
    const char *help;
} options[] = {
    {"--hits", "N", FOR_ASKING, set_hits,
     "takes a number of 1 to 4294967295, and excludes --peek and --refund", "take N hits, not one"},
    {"--peek", NULL, FOR_ASKING, set_peek, "excludes --hits and --refund", "look, take nothing"},
    {"--refund", "N", FOR_ASKING, set_refund,
     "takes a number from 1, and excludes --hits and --peek", "give N hits back"},
    {"--limit", "N/UNIT", FOR_ASKING, set_limit,
     "takes a number, '/' and second, minute, hour, day, week, month or year, such as 10/minute",
     "override the rule's limit, as 10/minute"},
    {"--rate", "N", FOR_BENCH, set_rate, "takes a number of checks a second, 1 to 10000000",
     "open loop: N checks a second [closed loop]"},
    {"--connections", "N", FOR_BENCH, set_connections, "takes a number of 1 to 10000",
     "connections [1]"},
    {"--in-flight", "N", FOR_BENCH, set_in_flight, "takes a number of 1 to 10000",
     "checks in flight on each, at most [10]"},
    {"--duration", "DURATION", FOR_BENCH, set_duration,
     "takes a number with ms, s or m, such as 10s, up to a day", "how long [10s]"},
    {"--requests", "N", FOR_BENCH, set_requests, "takes a number from 1",
     "end after N checks instead"},
    {"--keys", "N", FOR_BENCH, set_keys, "takes a number of 1 to 100000000",
     "N values in turn: -0 ... follows each last one"},
    {"--watch", NULL, FOR_HEALTH, set_watch, "takes no value", "print each change until it ends"},
    {"--target", "TARGET", FOR_ALL, set_target, "takes host:port or unix:path",
     "host:port or unix:path [" WEIR_TARGET_DEFAULT "]"},
    {"--timeout", "DURATION", FOR_ALL, set_timeout,
     "takes a number with ms, s or m, such as 20ms, up to a day",
     "wait no longer, connecting included [1s]"},
    {"--json", NULL, FOR_ALL, set_json, "takes no value", "print one line of JSON"},
};

#define OPTION_COUNT (sizeof options / sizeof options[0])

void weirctl_args_print_help(FILE *stream)
{
    fputs("weirctl asks a rate-limit service.\n"
          "\n"
          "  weirctl check DOMAIN KEY=VALUE[,KEY=VALUE...]...  may this pass?\n"
          "  weirctl health [SERVICE]                          does it serve?\n"
          "  weirctl bench DOMAIN KEY=VALUE[,KEY=VALUE...]...  how fast does it answer?\n"
          "  weirctl --help | --version\n"
          "\n"
          "Each argument after DOMAIN is a descriptor, up to 8 of up to 8 entries. An entry\n"
          "is split at its first '='; write \\, for a comma and \\= for a '=' in a key.\n",
          stream);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *option = &options[i];

        if (i == 0 || option->commands != options[i - 1].commands) {
            fprintf(stream, "\nOptions of %s:\n",
                    option->commands == FOR_ASKING   ? "check and bench"
                    : option->commands == FOR_BENCH  ? "bench"
                    : option->commands == FOR_HEALTH ? "health"
                                                     : "all");
        }
        fprintf(stream, "  %-13s %-9s %s\n", option->name,
                option->value != NULL ? option->value : "", option->help);
    }
    fputs("\n"
          "Exit status: 0 OK or SERVING, 1 OVER_LIMIT or not serving, 2 no answer (of a\n"
          "bench: to one check or more), 64 a wrong command line.\n",
          stream);
}

/* ---- Arguments ---- */

/* What is left to read. */
struct input {
    int left;
    char **next;
};

static char *input_take(struct input *input)
{
    if (input->left == 0) {
        return NULL;
    }
    input->left--;
    return *input->next++;
}

/* Finds "--name" or "--name=value" and points `*out_value` behind the '=', else to NULL. */
static const struct option *option_find(const char *arg, const char **out_value)
{
    const size_t name_len = strcspn(arg, "=");

    *out_value = arg[name_len] == '=' ? &arg[name_len + 1] : NULL;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strlen(options[i].name) == name_len && memcmp(options[i].name, arg, name_len) == 0) {
            return &options[i];
        }
    }
    return NULL;
}

static enum weir_err parse_option(struct weirctl_args *args, const char *arg, struct input *input,
                                  struct weir_error *error)
{
    const char *value;
    const struct option *option = option_find(arg, &value);

    if (option == NULL || (option->commands & (1U << args->command)) == 0) {
        return weir_error_set(error, WEIR_ERR_INVALID, "%.*s is no option of this command",
                              (int) strcspn(arg, "="), arg);
    }
    if (option->value != NULL && value == NULL) {
        value = input_take(input);
    } else if (option->value == NULL && value != NULL) {
        return weir_error_set(error, WEIR_ERR_INVALID, "%s takes no value", option->name);
    }
    if ((option->value != NULL && value == NULL) || !option->set(args, value)) {
        return weir_error_set(error, WEIR_ERR_INVALID, "%s %s", option->name, option->rule);
    }
    return WEIR_OK;
}

static enum weir_err add_descriptor(struct weirctl_args *args, char *text, struct weir_error *error)
{
    if (args->descriptor_count == WEIR_DESCRIPTORS_MAX) {
        return weir_error_set(error, WEIR_ERR_FULL, "a check has at most %d descriptors",
                              WEIR_DESCRIPTORS_MAX);
    }

    const enum weir_err err =
        weirctl_parse_descriptor(text, &args->descriptors[args->descriptor_count], error);

    if (err == WEIR_OK) {
        args->descriptor_count++;
    }
    return err;
}

static enum weir_err add_positional(struct weirctl_args *args, char *text, struct weir_error *error)
{
    if (args->command != WEIRCTL_HEALTH) {
        if (args->domain == NULL) {
            args->domain = text;
            return WEIR_OK;
        }
        return add_descriptor(args, text, error);
    }
    if (args->service != NULL) {
        return weir_error_set(error, WEIR_ERR_INVALID, "health takes one SERVICE, not '%s' too",
                              text);
    }
    args->service = text;
    return WEIR_OK;
}

static enum weir_err check_whole(struct weirctl_args *args, struct weir_error *error)
{
    const bool is_asking = args->command != WEIRCTL_HEALTH;

    if (is_asking && args->descriptor_count == 0) {
        return weir_error_set(error, WEIR_ERR_INVALID,
                              "%s takes a DOMAIN and a descriptor, such as: weirctl check edge "
                              "user=alice",
                              args->command == WEIRCTL_CHECK ? "check" : "bench");
    }
    if (is_asking && args->domain[0] == '\0') {
        return weir_error_set(error, WEIR_ERR_INVALID, "the DOMAIN is empty");
    }
    if (args->watch && args->timeout_ms != 0) {
        return weir_error_set(error, WEIR_ERR_INVALID, "--watch has no --timeout: it goes on");
    }
    if (args->service == NULL) {
        args->service = "";
    }
    return weir_target_check(args->target, error);
}

static bool is_any(const char *arg, const char *one, const char *other)
{
    return strcmp(arg, one) == 0 || strcmp(arg, other) == 0;
}

static enum weir_err parse_command(struct weirctl_args *args, const char *word,
                                   struct weir_error *error)
{
    if (word == NULL) {
        return weir_error_set(error, WEIR_ERR_INVALID,
                              "a command is missing: check, health or bench");
    }
    if (strcmp(word, "check") == 0) {
        args->command = WEIRCTL_CHECK;
    } else if (strcmp(word, "health") == 0) {
        args->command = WEIRCTL_HEALTH;
    } else if (strcmp(word, "bench") == 0) {
        args->command = WEIRCTL_BENCH;
    } else if (is_any(word, "--help", "-h")) {
        args->command = WEIRCTL_HELP;
    } else if (is_any(word, "--version", "-V")) {
        args->command = WEIRCTL_VERSION;
    } else {
        return weir_error_set(error, WEIR_ERR_INVALID, "'%s' is no command: check, health or bench",
                              word);
    }
    return WEIR_OK;
}

enum weir_err weirctl_args_parse(int argc, char **argv, struct weirctl_args *out,
                                 struct weir_error *error)
{
    struct input input = {argc > 0 ? argc - 1 : 0, argv + 1};
    bool options_ended = false;

    memset(out, 0, sizeof *out);
    out->target = WEIR_TARGET_DEFAULT;

    enum weir_err err = parse_command(out, input_take(&input), error);

    if (err != WEIR_OK || out->command == WEIRCTL_HELP || out->command == WEIRCTL_VERSION) {
        return err;
    }
    for (char *arg = input_take(&input); arg != NULL && err == WEIR_OK; arg = input_take(&input)) {
        if (options_ended || arg[0] != '-') {
            err = add_positional(out, arg, error);
        } else if (strcmp(arg, "--") == 0) {
            options_ended = true;
        } else if (is_any(arg, "--help", "-h")) {
            out->command = WEIRCTL_HELP;
            return WEIR_OK;
        } else {
            err = parse_option(out, arg, &input, error);
        }
    }
    return err == WEIR_OK ? check_whole(out, error) : err;
}
