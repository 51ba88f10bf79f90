/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/fake_backend.h"

#include "base/assert.h"

static void answer(struct wr_fake_backend *fake, struct wr_batch *batch)
{
    for (size_t i = 0; i < batch->n_takes; i++) {
        batch->takes[i].answer = fake->answers[i];
        batch->takes[i].verdict = fake->verdicts[i];
        if (batch->takes[i].verdict.enforced == 0) {
            batch->takes[i].verdict.enforced = batch->takes[i].limit.requests;
        }
    }
    batch->done(batch, batch->context);
}

static void take(struct wr_backend *backend, struct wr_batch *batch)
{
    struct wr_fake_backend *const fake = (struct wr_fake_backend *) backend;

    WR_ASSERT(batch->n_takes <= WR_FAKE_TAKES);
    fake->n_batches++;
    fake->n_seen = batch->n_takes;
    for (size_t i = 0; i < batch->n_takes; i++) {
        fake->seen[i] = batch->takes[i];
    }
    if (fake->holds) {
        fake->held = batch;
        return;
    }
    answer(fake, batch);
}

static void destroy(struct wr_backend *backend)
{
    (void) backend;
}

void wr_fake_backend_init(struct wr_fake_backend *fake)
{
    static const struct wr_backend_ops ops = {.take = take, .destroy = destroy};

    *fake = (struct wr_fake_backend){.backend = {.ops = &ops}};
    for (size_t i = 0; i < WR_FAKE_TAKES; i++) {
        fake->answers[i] = WR_TAKE_DECIDED;
        fake->verdicts[i] = (struct wr_verdict){.remaining = 1, .reset_us = 1000000};
    }
}

void wr_fake_backend_release(struct wr_fake_backend *fake)
{
    struct wr_batch *const batch = fake->held;

    WR_ASSERT(batch != NULL);
    fake->held = NULL;
    answer(fake, batch);
}
