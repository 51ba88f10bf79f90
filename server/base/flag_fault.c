/* SPDX-License-Identifier: Apache-2.0 */
#include "base/flag_fault.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_MAX 60

/* The dashes and the name in `word`, cut at the value. */
static int shown(const char *word)
{
    const size_t len = strcspn(word, "=");

    return (int) (len < SHOWN_MAX ? len : SHOWN_MAX);
}

/* The flags that `name` is short for: how many, and the first two. */
static size_t find_whole(struct wr_str name, const struct option *flags, const char *out_first[2])
{
    size_t n = 0;

    for (; flags->name != NULL && name.len > 0; flags++) {
        if (wr_str_has_prefix(wr_str_of(flags->name), name)) {
            if (n < 2) {
                out_first[n] = flags->name;
            }
            n++;
        }
    }
    return n;
}

static void tell_letter(int letter, struct wr_flag_fault *fault)
{
    const bool is_plain = letter > ' ' && letter < 0x7f;

    (void) snprintf(fault->text, sizeof fault->text, "there is no option -%c",
                    is_plain ? letter : '?');
}

static void tell_name(const char *word, const struct option *flags, struct wr_flag_fault *fault)
{
    const size_t n_dashes = strspn(word, "-");
    const struct wr_str name = {.ptr = word + n_dashes, .len = strcspn(word + n_dashes, "=")};
    const char *first[2] = {"", ""};
    const size_t n = find_whole(name, flags, first);

    if (n > 1) {
        (void) snprintf(fault->text, sizeof fault->text, "%.*s is short for --%s, --%s%s",
                        shown(word), word, first[0], first[1], n > 2 ? " and others" : "");
        return;
    }
    (void) snprintf(fault->text, sizeof fault->text, "there is no option %.*s", shown(word), word);
    fault->unknown = name;
}

void wr_flag_fault_of(int got, const char *word, const struct option *flags,
                      struct wr_flag_fault *out_fault)
{
    *out_fault = (struct wr_flag_fault){.unknown = {.ptr = ""}};
    if (got == ':') {
        (void) snprintf(out_fault->text, sizeof out_fault->text, "%.*s needs a value", shown(word),
                        word);
    } else if (optopt >= WR_FLAG_FIRST) {
        (void) snprintf(out_fault->text, sizeof out_fault->text, "%.*s takes no value", shown(word),
                        word);
    } else if (optopt != 0) {
        tell_letter(optopt, out_fault);
    } else {
        tell_name(word, flags, out_fault);
    }
}
