/* SPDX-License-Identifier: Apache-2.0 */
#include "histogram.h"

#define SUB_BITS 7 /* a power of two has 2^SUB_BITS buckets; the lowest two share theirs */
#define SUB_COUNT ((uint64_t) 1 << SUB_BITS)

static unsigned int top_bit(uint64_t value)
{
    unsigned int bit = 0;

    for (unsigned int step = 32; step > 0; step /= 2) {
        if (value >> step != 0) {
            value >>= step;
            bit += step;
        }
    }
    return bit;
}

static size_t index_of(uint64_t value)
{
    const unsigned int top = top_bit(value);
    const unsigned int shift = top > SUB_BITS ? top - SUB_BITS : 0;

    return (size_t) (((uint64_t) shift << SUB_BITS) + (value >> shift));
}

/* The largest value of a bucket. */
static uint64_t end_of(size_t index)
{
    const uint64_t row = (uint64_t) index >> SUB_BITS;
    const uint64_t shift = row > 1 ? row - 1 : 0;
    const uint64_t first = ((uint64_t) index - (shift << SUB_BITS)) << shift;

    return first + (((uint64_t) 1 << shift) - 1);
}

void weirctl_histogram_add(struct weirctl_histogram *histogram, uint64_t value)
{
    if (histogram->count == 0 || value < histogram->min) {
        histogram->min = value;
    }
    if (value > histogram->max) {
        histogram->max = value;
    }
    histogram->sum = value > UINT64_MAX - histogram->sum ? UINT64_MAX : histogram->sum + value;
    histogram->count++;
    histogram->counts[index_of(value)]++;
}

void weirctl_histogram_add_at_least(struct weirctl_histogram *histogram, uint64_t bound)
{
    weirctl_histogram_add(histogram, bound);
    histogram->bounds[index_of(bound)]++;
}

/* The rank of a percentile, rounded up, without passing 64 bits. */
static uint64_t rank_of(uint64_t count, uint32_t per_100k)
{
    const uint64_t whole = count / 100000 * per_100k;
    const uint64_t rest = (count % 100000 * per_100k + 99999) / 100000;

    return whole + rest > 0 ? whole + rest : 1;
}

/* The bucket that holds the value of a rank; the last one when there are not so many. */
static size_t bucket_of(const struct weirctl_histogram *histogram, uint64_t rank)
{
    uint64_t seen = 0;

    for (size_t i = 0; i < WEIRCTL_HISTOGRAM_BUCKETS; i++) {
        seen += histogram->counts[i];
        if (seen >= rank) {
            return i;
        }
    }
    return WEIRCTL_HISTOGRAM_BUCKETS - 1;
}

uint64_t weirctl_histogram_at(const struct weirctl_histogram *histogram, uint32_t per_100k)
{
    const uint64_t end = end_of(bucket_of(histogram, rank_of(histogram->count, per_100k)));

    return end < histogram->max ? end : histogram->max;
}

/* Whatever the others are, it is no higher when the values known up to its bucket reach its rank.
 */
bool weirctl_histogram_is_at_least(const struct weirctl_histogram *histogram, uint32_t per_100k)
{
    const uint64_t rank = rank_of(histogram->count, per_100k);
    const size_t bucket = bucket_of(histogram, rank);
    uint64_t known = 0;

    for (size_t i = 0; i <= bucket; i++) {
        known += histogram->counts[i] - histogram->bounds[i];
    }
    return histogram->count > 0 && known < rank;
}

uint64_t weirctl_histogram_mean(const struct weirctl_histogram *histogram)
{
    return histogram->count > 0 ? histogram->sum / histogram->count : 0;
}
