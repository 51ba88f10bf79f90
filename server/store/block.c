/* SPDX-License-Identifier: Apache-2.0 */
#include "store/block.h"

#include <stdlib.h>
#include <string.h>

struct wr_block *wr_block_grow(struct wr_block *before, uint64_t n_places)
{
    const size_t had = before == NULL ? 0 : before->n_places * WR_BLOCK_PLACE_BYTES;
    const size_t bytes = n_places * WR_BLOCK_PLACE_BYTES;
    struct wr_block *const block = realloc(before, bytes);

    if (block == NULL) {
        return NULL;
    }
    memset((char *) block + had, 0, bytes - had);
    block->n_places = n_places;
    return block;
}

void wr_block_destroy(struct wr_block *block)
{
    free(block);
}
