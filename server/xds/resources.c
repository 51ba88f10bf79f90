/* SPDX-License-Identifier: Apache-2.0 */
#include "xds/resources.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "rules/doubts.h"
#include "rules/draft.h"
#include "rules/versions.h"
#include "wire/rules_message.h"

/* Drafts of many rules take many times the memory of their messages. Beyond what malloc ever keeps
 * for itself (32 MiB) a chunk goes back to the system as a whole, and leaves no holes among what
 * stays. Memory that is not written to is none. */
#define CHUNK_SIZE (64 << 10)
#define LARGE_CHUNK_SIZE (40 << 20)
#define LARGE_MESSAGES (1 << 20)

struct wr_xds_resource {
    struct wr_str name, message; /* in `memory` */
    char *memory;                /* owned */
};

/* A message that came, and what becomes of it. */
struct item {
    struct wr_str name, message;   /* borrowed from what came */
    size_t index;                  /* in which order */
    struct wr_xds_resource *known; /* in force under that name; NULL: none */
    struct wr_draft draft;         /* of the choice */
    enum wr_version_choice choice;
    bool is_refused;
};

/* Messages being taken. */
struct take {
    struct wr_xds_resources *resources;
    struct item *items; /* owned; by name */
    size_t n;
    struct wr_draft **drafts; /* owned; room for all */
    struct wr_arena arena;    /* of the drafts */
    struct wr_diag *diag;
    struct wr_diag muted; /* for what was told before */
    bool lacks_memory;
};

void wr_xds_resources_init(struct wr_xds_resources *resources, const struct wr_load_options *load)
{
    *resources = (struct wr_xds_resources){.load = load};
}

static void free_all(struct wr_xds_resource *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(all[i].memory);
    }
    free(all);
}

void wr_xds_resources_fini(struct wr_xds_resources *resources)
{
    free_all(resources->in_force, resources->n);
    wr_xds_resources_init(resources, resources->load);
}

static int compare_items(const void *a, const void *b)
{
    const struct item *const x = a, *const y = b;
    const int names = wr_str_compare(x->name, y->name);

    return names != 0 ? names : (x->index > y->index) - (x->index < y->index);
}

/* Sorts the items, so that an order that means nothing changes nothing, and gives the first of each
 * name what is in force under it. One without a name has nothing to fall back on. */
static void pair_up(const struct take *take)
{
    const struct wr_xds_resources *const resources = take->resources;
    size_t k = 0;

    qsort(take->items, take->n, sizeof *take->items, compare_items);
    for (size_t i = 0; i < take->n; i++) {
        struct item *const item = &take->items[i];

        while (k < resources->n && wr_str_compare(resources->in_force[k].name, item->name) < 0) {
            k++;
        }
        if (item->name.len > 0 && k < resources->n &&
            wr_str_equal(resources->in_force[k].name, item->name)) {
            item->known = &resources->in_force[k++];
        }
    }
}

static bool is_unchanged(const struct item *item)
{
    return item->known != NULL && wr_str_equal(item->known->message, item->message);
}

static bool is_all_unchanged(const struct take *take)
{
    bool is_same = take->resources->is_in_force && take->n == take->resources->n;

    for (size_t i = 0; i < take->n && is_same; i++) {
        is_same = is_unchanged(&take->items[i]);
    }
    return is_same;
}

/* Makes the draft of `message`; true when it is good in itself. */
static bool read_draft(struct take *take, struct item *item, struct wr_str message,
                       struct wr_diag *diag)
{
    const struct wr_load_options *const load = take->resources->load;

    wr_rules_message_read(message, &load->bounds, &take->arena, diag, &item->draft);
    wr_draft_check(&item->draft, load->min_window_us, diag);
    take->lacks_memory = take->lacks_memory || item->draft.lacks_memory;
    return !item->draft.is_refused;
}

/* Goes on with what is in force, if anything is. */
static void stay(struct take *take, struct item *item)
{
    item->choice = WR_CHOICE_NONE;
    if (item->known != NULL && read_draft(take, item, item->known->message, &take->muted)) {
        item->choice = WR_CHOICE_IN_FORCE;
    }
}

/* Warns of what is hardly meant in a draft; true when that refuses it. */
static bool draws_refusal(struct take *take, struct item *item)
{
    const struct wr_load_options *const load = take->resources->load;

    if (!wr_draft_doubt(&item->draft, load->merges_domains, take->diag)) {
        take->lacks_memory = true;
    }
    return load->is_strict && item->draft.has_warning;
}

/* The first choices, before any is held against others. */
static void choose(struct take *take)
{
    for (size_t i = 0; i < take->n && !take->lacks_memory; i++) {
        struct item *const item = &take->items[i];

        if (is_unchanged(item)) {
            stay(take, item);
        } else if (read_draft(take, item, item->message, take->diag) &&
                   !draws_refusal(take, item)) {
            item->choice = WR_CHOICE_CANDIDATE;
        } else {
            item->is_refused = true;
            stay(take, item);
        }
    }
}

static size_t gather(const struct take *take, enum wr_version_choice choice, size_t n)
{
    for (size_t i = 0; i < take->n; i++) {
        if (take->items[i].choice == choice) {
            take->drafts[n++] = &take->items[i].draft;
        }
    }
    return n;
}

/* Whoever was refused stays at what it had; true when there was one. */
static bool give_way(struct take *take)
{
    bool has_changed = false;

    for (size_t i = 0; i < take->n; i++) {
        struct item *const item = &take->items[i];

        take->lacks_memory = take->lacks_memory || item->draft.lacks_memory;
        if (item->choice == WR_CHOICE_CANDIDATE && item->draft.is_refused) {
            item->is_refused = true;
            stay(take, item);
            has_changed = true;
        } else if (item->choice == WR_CHOICE_IN_FORCE) {
            item->draft.is_refused = false;
        }
    }
    return has_changed;
}

/* Holds the choices against each other until they agree, those in force first, which do: each round
 * but the last one gives way. */
static void agree(struct take *take)
{
    const bool merges_domains = take->resources->load->merges_domains;

    do {
        const size_t n_in_force = gather(take, WR_CHOICE_IN_FORCE, 0);
        const size_t n = gather(take, WR_CHOICE_CANDIDATE, n_in_force);

        wr_drafts_compare(take->drafts, n, merges_domains, take->diag);
    } while (give_way(take) && !take->lacks_memory);
}

static bool copy_resource(const struct item *item, struct wr_xds_resource *out)
{
    char *const memory = malloc(item->name.len + item->message.len + 1);

    if (memory == NULL) {
        return false;
    }
    memcpy(memory, item->name.ptr, item->name.len);
    if (item->message.len > 0) {
        memcpy(memory + item->name.len, item->message.ptr, item->message.len);
    }
    *out = (struct wr_xds_resource){
        .name = {.ptr = memory, .len = item->name.len},
        .message = {.ptr = memory + item->name.len, .len = item->message.len},
        .memory = memory,
    };
    return true;
}

/* Keeps what was chosen, and lets the rest go. False when memory is out: nothing has changed. */
static bool keep(const struct take *take, size_t n_chosen)
{
    struct wr_xds_resources *const resources = take->resources;
    struct wr_xds_resource *const all = calloc(n_chosen + 1, sizeof *all);
    size_t n = 0;
    bool has_memory = all != NULL;

    for (size_t i = 0; i < take->n && has_memory; i++) {
        if (take->items[i].choice == WR_CHOICE_CANDIDATE) {
            has_memory = copy_resource(&take->items[i], &all[n++]);
        } else if (take->items[i].choice == WR_CHOICE_IN_FORCE) {
            n++; /* moved below, once nothing can fail */
        }
    }
    if (!has_memory) {
        free_all(all, all == NULL ? 0 : n);
        return false;
    }
    n = 0;
    for (size_t i = 0; i < take->n; i++) {
        if (take->items[i].choice == WR_CHOICE_IN_FORCE) {
            all[n] = *take->items[i].known;
            take->items[i].known->memory = NULL;
        }
        n += take->items[i].choice != WR_CHOICE_NONE;
    }
    free_all(resources->in_force, resources->n);
    resources->in_force = all;
    resources->n = n;
    resources->is_in_force = true;
    return true;
}

/* True when what was chosen is not what is in force. */
static bool is_another(const struct take *take, size_t n_chosen)
{
    bool has_candidate = false;

    for (size_t i = 0; i < take->n; i++) {
        has_candidate = has_candidate || take->items[i].choice == WR_CHOICE_CANDIDATE;
    }
    return has_candidate || n_chosen != take->resources->n || !take->resources->is_in_force;
}

/* In the order of names, whatever the choice. */
static size_t gather_chosen(const struct take *take)
{
    size_t n = 0;

    for (size_t i = 0; i < take->n; i++) {
        if (take->items[i].choice != WR_CHOICE_NONE) {
            take->drafts[n++] = &take->items[i].draft;
        }
    }
    return n;
}

/* Warns of what is hardly meant in what comes into force, where several resources make it so. It
 * refuses nothing: the same ones have the same rules whichever came first. False when memory is
 * out. */
static bool doubt(const struct take *take)
{
    if (!take->resources->load->merges_domains) {
        return true;
    }
    for (size_t i = 0; i < take->n; i++) {
        take->items[i].draft.is_fresh = take->items[i].choice == WR_CHOICE_CANDIDATE;
    }
    return wr_drafts_doubt(take->drafts, gather_chosen(take), take->diag);
}

/* True when a bad one does not say which it is: any that is missing may be the one. */
static bool has_stranger(const struct take *take)
{
    bool has_one = false;

    for (size_t i = 0; i < take->n && !has_one; i++) {
        has_one = take->items[i].is_refused && take->items[i].name.len == 0;
    }
    return has_one;
}

static enum wr_err run(struct take *take, struct wr_xds_change *change)
{
    pair_up(take);
    if (is_all_unchanged(take)) {
        return WR_OK;
    }
    choose(take);
    if (!take->lacks_memory) {
        agree(take);
    }
    if (take->resources->load->is_strict) {
        wr_diag_make_errors(take->diag); /* what comes behind refuses nothing */
    }
    if (take->lacks_memory) {
        return WR_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < take->n; i++) {
        change->n_refused += take->items[i].is_refused;
    }

    const size_t n = gather_chosen(take);

    if ((n == 0 && take->n > 0) || has_stranger(take) || !is_another(take, n)) {
        return WR_OK;
    }
    if (!doubt(take)) {
        return WR_ERR_NO_MEMORY;
    }

    const enum wr_err err = wr_rules_new(take->drafts, n, &change->rules);

    if (err == WR_OK && !keep(take, n)) {
        wr_rules_release(change->rules);
        change->rules = NULL;
        return WR_ERR_NO_MEMORY;
    }
    return err;
}

enum wr_err wr_xds_resources_take(struct wr_xds_resources *resources, const struct wr_str *messages,
                                  size_t n, struct wr_diag *diag, struct wr_xds_change *out_change)
{
    struct wr_xds_change change = {.n_resources = n};
    struct take take = {
        .resources = resources,
        .items = calloc(n + 1, sizeof *take.items),
        .n = n,
        .drafts = calloc(n + 1, sizeof(struct wr_draft *)),
        .diag = diag,
    };
    enum wr_err err = WR_ERR_NO_MEMORY;
    size_t n_bytes = 0;

    for (size_t i = 0; i < n; i++) {
        n_bytes += messages[i].len;
    }
    wr_arena_init(&take.arena, n_bytes < LARGE_MESSAGES ? CHUNK_SIZE : LARGE_CHUNK_SIZE);
    wr_diag_init(&take.muted, 0);
    if (take.items != NULL && take.drafts != NULL) {
        for (size_t i = 0; i < n; i++) {
            take.items[i].name = wr_rules_message_name(messages[i]);
            take.items[i].message = messages[i];
            take.items[i].index = i;
        }
        err = run(&take, &change);
    }
    wr_diag_fini(&take.muted);
    wr_arena_fini(&take.arena);
    free(take.drafts);
    free(take.items);
    if (err == WR_OK) {
        *out_change = change;
    }
    return err;
}
