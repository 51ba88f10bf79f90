/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include "../shown.h"

#include <inttypes.h>

void weirctl_format_duration(int64_t us, char out[WEIRCTL_DURATION_MAX])
{
    const int64_t ms = us / 1000 + (us % 1000 != 0 ? 1 : 0);
    const int64_t s = ms / 1000 + (ms % 1000 != 0 ? 1 : 0);

    if (ms < 1000) {
        snprintf(out, WEIRCTL_DURATION_MAX, "%" PRId64 "ms", ms);
    } else if (s < 60) {
        snprintf(out, WEIRCTL_DURATION_MAX, "%" PRId64 "s", s);
    } else if (s < 3600) {
        snprintf(out, WEIRCTL_DURATION_MAX, "%" PRId64 "m%02" PRId64 "s", s / 60, s % 60);
    } else if (s < 86400) {
        snprintf(out, WEIRCTL_DURATION_MAX, "%" PRId64 "h%02" PRId64 "m", s / 3600, s / 60 % 60);
    } else {
        snprintf(out, WEIRCTL_DURATION_MAX, "%" PRId64 "d%02" PRId64 "h", s / 86400, s / 3600 % 24);
    }
}

/* One '?' for each character that is not to be shown. */
static void print_text(FILE *stream, struct weir_str text)
{
    while (text.len > 0) {
        bool is_shown;
        const size_t len = weir_shown_first(text, &is_shown);

        if (is_shown) {
            fwrite(text.ptr, 1, len, stream);
        } else {
            fputc('?', stream);
        }
        text.ptr += len;
        text.len -= len;
    }
}

static void print_descriptor(FILE *stream, const struct weirctl_descriptor *descriptor)
{
    for (size_t i = 0; i < descriptor->entry_count; i++) {
        fputs(i > 0 ? "," : "", stream);
        print_text(stream, descriptor->entries[i].key);
        fputc('=', stream);
        print_text(stream, descriptor->entries[i].value);
    }
}

static void print_status(FILE *stream, const struct weir_status *status)
{
    char limit[32] = "-";
    char remaining[16] = "-";
    char reset[WEIRCTL_DURATION_MAX] = "-";

    if (status->has_limit) {
        snprintf(limit, sizeof limit, "%" PRIu32 "/%s", status->limit.requests,
                 weir_unit_name(status->limit.unit));
        snprintf(remaining, sizeof remaining, "%" PRIu32, status->remaining);
    } else if (status->remaining == UINT32_MAX) {
        snprintf(limit, sizeof limit, "unlimited");
    }
    if (status->has_reset) {
        weirctl_format_duration(status->reset_us, reset);
    }
    fprintf(stream, "%-10s  %-17s  %-10s  %-7s  ", weir_code_name(status->code), limit, remaining,
            reset);
}

void weirctl_print_result(FILE *stream, const struct weirctl_args *args,
                          const struct weir_result *result)
{
    if (result->outcome == WEIR_NO_ANSWER) {
        return;
    }
    fputs(weir_code_name(result->overall_code), stream);
    if (result->retry_after_ms > 0) {
        char retry[WEIRCTL_DURATION_MAX];

        weirctl_format_duration((int64_t) result->retry_after_ms * 1000, retry);
        fprintf(stream, ", retry in %s", retry);
    }
    fprintf(stream, "\n\n#  %-10s  %-17s  %-10s  %-7s  %s\n", "CODE", "LIMIT", "REMAINING", "RESET",
            "DESCRIPTOR");
    for (size_t i = 0; i < result->status_count; i++) {
        const struct weir_status *status = &result->statuses[i];

        fprintf(stream, "%zu  ", i + 1);
        print_status(stream, status);
        if (i < args->descriptor_count) {
            print_descriptor(stream, &args->descriptors[i]);
        }
        if (status->has_limit && status->limit.name[0] != '\0') {
            fputs("  (", stream);
            print_text(stream, (struct weir_str){status->limit.name, status->limit.name_len});
            fputc(')', stream);
        }
        fputc('\n', stream);
    }
}

void weirctl_print_health(FILE *stream, const char *service, enum weir_health health)
{
    fputs(weir_health_name(health), stream);
    if (service[0] != '\0') {
        fputs("  ", stream);
        print_text(stream, weir_str(service));
    }
    fputc('\n', stream);
}
