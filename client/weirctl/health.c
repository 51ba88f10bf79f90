/* SPDX-License-Identifier: Apache-2.0 */
#include "../health.h"

#include "commands.h"
#include "output.h"

#define TIMEOUT_DEFAULT_MS 1000

static int print_health(const struct weirctl_args *args, enum weir_health health)
{
    if (!args->json) {
        weirctl_print_health(stdout, args->service, health);
    } else if (!weirctl_json_health(stdout, args->service, health)) {
        return WEIRCTL_EXIT_IO;
    }
    return health == WEIR_HEALTH_SERVING ? WEIRCTL_EXIT_OK : WEIRCTL_EXIT_NO;
}

/* A reader at the other end of a pipe wants each change when it happens. */
static void print_change(void *arg, enum weir_health health)
{
    const struct weirctl_args *const *args = arg;

    print_health(*args, health);
    fflush(stdout);
}

static int print_error(const struct weirctl_args *args, const struct weir_error *error)
{
    if (args->json && !weirctl_json_health_error(stdout, args->service, error)) {
        return WEIRCTL_EXIT_IO;
    }
    fprintf(stderr, "weirctl: no answer: %s\n", error->text);
    return WEIRCTL_EXIT_NO_ANSWER;
}

static int check_once(const struct weirctl_args *args, struct weir_stub *stub)
{
    const uint32_t deadline_ms = args->timeout_ms != 0 ? args->timeout_ms : TIMEOUT_DEFAULT_MS;
    enum weir_health health = WEIR_HEALTH_UNKNOWN;
    struct weir_error error;

    if (weir_health_check(stub, weir_str(args->service), deadline_ms, &health, &error) != WEIR_OK) {
        return print_error(args, &error);
    }
    return print_health(args, health);
}

static int watch(const struct weirctl_args *args, struct weir_stub *stub)
{
    struct weir_error error;

    if (weir_health_watch(stub, weir_str(args->service), print_change, &args, &error) == WEIR_OK) {
        return WEIRCTL_EXIT_OK;
    }
    return print_error(args, &error);
}

int weirctl_health(const struct weirctl_args *args)
{
    struct weir_stub *stub;
    struct weir_error error;

    if (weir_stub_new(args->target, &stub, &error) != WEIR_OK) {
        return print_error(args, &error);
    }

    const int status = args->watch ? watch(args, stub) : check_once(args, stub);

    weir_stub_destroy(stub);
    return status;
}
