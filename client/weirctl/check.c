/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include "ask.h"
#include "output.h"

#define TIMEOUT_DEFAULT_MS 1000

static int print(const struct weirctl_args *args, const struct weir_result *result)
{
    if (args->json) {
        if (!weirctl_json_result(stdout, result)) {
            return WEIRCTL_EXIT_IO;
        }
    } else {
        weirctl_print_result(stdout, args, result);
    }
    if (result->outcome == WEIR_NO_ANSWER) {
        fprintf(stderr, "weirctl: no answer: %s\n", result->error.text);
        return WEIRCTL_EXIT_NO_ANSWER;
    }
    return result->outcome == WEIR_ADMITTED ? WEIRCTL_EXIT_OK : WEIRCTL_EXIT_NO;
}

int weirctl_check(const struct weirctl_args *args)
{
    const struct weir_options options = {
        .target = args->target,
        .deadline_ms = args->timeout_ms != 0 ? args->timeout_ms : TIMEOUT_DEFAULT_MS,
    };
    struct weir_client *client;
    struct weir_request request;
    struct weir_result result = {.outcome = WEIR_NO_ANSWER};

    weirctl_ask_build(args, &request);
    if (weir_client_new(&options, &client, &result.error) != WEIR_OK) {
        return print(args, &result);
    }
    if (weir_check(client, &request, &result) != WEIR_OK) {
        result.outcome = WEIR_NO_ANSWER;
    }
    weir_client_destroy(client);
    return print(args, &result);
}
