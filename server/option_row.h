/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of options and what can be done with one row of it. For the files of options alone.
 *
 * Threads: immutable.
 */
#ifndef WR_OPTION_ROW_H
#define WR_OPTION_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "options.h"

enum wr_option_kind {
    WR_OPTION_TEXT,     /* const char * */
    WR_OPTION_HEADER,   /* const char *; a name of a header field, RFC 9110, or the default */
    WR_OPTION_SECRET,   /* const char *; may hold a password, and is never printed */
    WR_OPTION_LIST,     /* struct wr_option_list; a comma parts items in a variable */
    WR_OPTION_BOOL,     /* bool */
    WR_OPTION_NUMBER,   /* uint64_t, decimal, within min and max */
    WR_OPTION_OCTAL,    /* uint64_t, octal, within min and max */
    WR_OPTION_DURATION, /* int64_t microseconds, as 5s, 250ms, 1m30s */
    WR_OPTION_CHOICE,   /* enum, one of the names in choices */
    /* Variables of the incumbent without a field, see option_idle.h: */
    WR_OPTION_IGNORED,    /* has no effect here; taken as it is */
    WR_OPTION_SERVER_TLS, /* asks for TLS, without which the server would be open: refused */
};

/* Without what an option has no effect. */
enum wr_option_use {
    WR_OPTION_USED_ALWAYS,
    WR_OPTION_OF_XDS,                  /* --rules-source xds */
    WR_OPTION_OF_XDS_TLS,              /* --xds-tls, too */
    WR_OPTION_OF_REDIS,                /* --store redis; all below need that, too */
    WR_OPTION_OF_KEY_HASH,             /* --redis-key-hash */
    WR_OPTION_OF_PER_SECOND,           /* --redis-per-second */
    WR_OPTION_OF_SENTINELS,            /* --redis-type sentinel */
    WR_OPTION_OF_PER_SECOND_SENTINELS, /* --redis-per-second-type sentinel; --redis-per-second, too
                                        */
    WR_OPTION_OF_ANY_SENTINELS,        /* one of the two */
    WR_OPTION_USES,
};

struct wr_option_choice {
    const char *name;
    unsigned value;
};

struct wr_option_row {
    const char *flag;     /* without the dashes; NULL: none */
    const char *variable; /* with a * behind: all that begin so */
    enum wr_option_kind kind;
    enum wr_option_use use;
    size_t offset; /* in struct wr_options */
    const char *default_text;
    uint64_t min, max;
    const struct wr_option_choice *choices; /* ends with a NULL name */
    const char *allowed;                    /* in messages; NULL: made from kind, min and max */
    const char *idle_text; /* of one without a field: the value that asks for nothing; NULL: none */
    const char *help;
};

/* How many rows the table has. */
#define WR_OPTION_ROWS 158

extern const struct wr_option_row wr_option_rows[WR_OPTION_ROWS];

/* True for a variable of the incumbent that has no field. */
bool wr_option_is_idle(const struct wr_option_row *row);

/* True when both texts are the same, or the same for a WR_OPTION_BOOL. */
bool wr_option_means(const char *text, const char *other);

/* Reads `text` into the row's field, or adds it to the row's list. False when it is not allowed. */
bool wr_option_set(struct wr_options *options, const struct wr_option_row *row, const char *text);

/* The same for a variable that holds a list parted by commas. */
bool wr_option_set_list(struct wr_options *options, const struct wr_option_row *row,
                        const char *text);

/* True when both have the same value there. Not for lists. */
bool wr_option_is_same(const struct wr_options *a, const struct wr_options *b,
                       const struct wr_option_row *row);

/* Empties the row's list. */
void wr_option_clear_list(struct wr_options *options, const struct wr_option_row *row);

/* What the row takes, for a message. */
void wr_option_print_allowed(const struct wr_option_row *row, FILE *out);

/* The value in force. */
void wr_option_print_value(const struct wr_options *options, const struct wr_option_row *row,
                           FILE *out);

#endif
