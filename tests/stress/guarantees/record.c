/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/stress/guarantees/record.h"

void wr_record_add(struct wr_record *record, int64_t at_us, uint64_t hits,
                   struct wr_allowance allowance)
{
    if (record->n < WR_RECORD_MAX) {
        record->takes[record->n++] =
            (struct wr_recorded){.at_us = at_us, .hits = hits, .allowance = allowance};
    }
}

void wr_worst_add(struct wr_worst *worst, const struct wr_worst *other)
{
    worst->of_limit = other->of_limit > worst->of_limit ? other->of_limit : worst->of_limit;
    worst->of_bound = other->of_bound > worst->of_bound ? other->of_bound : worst->of_bound;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The takes inside that may be the largest for some time to come: each is larger than all behind
 * it. Too large to be cleared each time. */
struct peaks {
    uint32_t first, n;
    uint64_t values[WR_RECORD_MAX];
    uint32_t places[WR_RECORD_MAX];
};

static void add_peak(struct peaks *peaks, uint64_t value, uint32_t place)
{
    while (peaks->n > peaks->first && peaks->values[peaks->n - 1] <= value) {
        peaks->n--;
    }
    peaks->values[peaks->n] = value;
    peaks->places[peaks->n++] = place;
}

static uint64_t highest_from(struct peaks *peaks, uint32_t place)
{
    while (peaks->places[peaks->first] < place) {
        peaks->first++;
    }
    return peaks->values[peaks->first];
}

static bool note(uint64_t found, const struct wr_recorded *last, struct wr_allowance allowance,
                 wr_bound_fn bound, struct wr_worst *worst, struct wr_excess *out_excess)
{
    const uint64_t most = bound(&allowance);
    const struct wr_worst this = {
        .of_limit = (double) found / (double) larger(allowance.requests, 1),
        .of_bound = (double) found / (double) larger(most, 1),
    };

    if (found > most) {
        *out_excess = (struct wr_excess){
            .found = found, .bound = most, .allowance = allowance, .until_us = last->at_us};
        return false;
    }
    wr_worst_add(worst, &this);
    return true;
}

bool wr_record_judge(const struct wr_record *record, int64_t length_us, wr_bound_fn bound,
                     struct wr_worst *worst, struct wr_excess *out_excess)
{
    struct peaks requests, burst;
    uint64_t inside = 0;
    uint32_t first = 0;

    requests.first = requests.n = 0;
    burst.first = burst.n = 0;

    for (uint32_t i = 0; i < record->n; i++) {
        const struct wr_recorded *const take = &record->takes[i];

        inside += take->hits;
        add_peak(&requests, take->allowance.requests, i);
        add_peak(&burst, take->allowance.burst, i);
        while (record->takes[first].at_us <= take->at_us - length_us) {
            inside -= record->takes[first++].hits;
        }

        const struct wr_allowance allowance = {.requests = highest_from(&requests, first),
                                               .burst = highest_from(&burst, first)};

        if (!note(inside, take, allowance, bound, worst, out_excess)) {
            return false;
        }
    }
    return true;
}

bool wr_record_judge_spans(const struct wr_record *record, wr_span_fn span_of, void *context,
                           wr_bound_fn bound, struct wr_worst *worst, struct wr_excess *out_excess)
{
    struct wr_allowance allowance = {0};
    int64_t span = INT64_MIN;
    uint64_t inside = 0;

    for (uint32_t i = 0; i < record->n; i++) {
        const struct wr_recorded *const take = &record->takes[i];
        const int64_t next = span_of(context, take->at_us);

        if (next != span) {
            allowance = (struct wr_allowance){0};
            inside = 0;
            span = next;
        }
        inside += take->hits;
        allowance.requests = larger(allowance.requests, take->allowance.requests);
        allowance.burst = larger(allowance.burst, take->allowance.burst);
        if (!note(inside, take, allowance, bound, worst, out_excess)) {
            return false;
        }
    }
    return true;
}
