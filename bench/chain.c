/* SPDX-License-Identifier: MIT */
/* The pointer chase: see chain.h.
 *
 * One cycle, not merely a permutation: a walk that fell into a short cycle would measure the cache that holds it. The
 * order is drawn by Sattolo's method (S. Sattolo, "An algorithm to generate a random cyclic permutation", 1986) on an
 * array of numbers. The nodes hold real addresses, so that a hop is one load and nothing else. */
#include "chain.h"

#include <stdlib.h>

void agb_chain_draw(uint32_t *order, size_t n, uint64_t seed)
{
    uint64_t random = seed * 2 + 1;
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (size_t i = n - 1; i > 0; i--) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t other = (size_t)((unsigned __int128)random * i >> 64);    /* below i: never itself */
        uint32_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

static void **node_at(const agb_chain *chain, size_t i)
{
    return (void **)(chain->room.at + i * AGB_CHAIN_NODE);
}

/* A walk over all numbers is quicker than one over the nodes: 16 to a line. */
static void place_starts(agb_chain *chain, const uint32_t *order)
{
    size_t each = chain->nodes / AGB_CHAIN_MOST, at = 0;
    for (size_t i = 0; i < AGB_CHAIN_MOST; i++) {
        chain->start[i] = node_at(chain, at);
        for (size_t hop = 0; hop < each; hop++)
            at = order ? order[at] : at + 1;
    }
}

void agb_chain_link(agb_chain *out, const agb_room *room, size_t bytes, const uint32_t *order)
{
    *out = (agb_chain){.room = *room, .nodes = bytes / AGB_CHAIN_NODE};
    for (size_t i = 0; i < out->nodes; i++)
        *node_at(out, i) = node_at(out, order ? order[i] : (i + 1) % out->nodes);
    place_starts(out, order);
}

bool agb_chain_make(agb_chain *out, const agb_room *room, size_t bytes)
{
    uint32_t *order = malloc(bytes / AGB_CHAIN_NODE * sizeof *order);
    if (!order)
        return false;
    agb_chain_draw(order, bytes / AGB_CHAIN_NODE, 1);
    agb_chain_link(out, room, bytes, order);
    free(order);
    return true;
}

/* `chains` is a constant where this is inlined: the pointers stay in registers. */
static inline __attribute__((always_inline)) void follow(void **start, unsigned chains, uint64_t hops)
{
    void **at[AGB_CHAIN_MOST];
    for (unsigned i = 0; i < chains; i++)
        at[i] = start[i];
    for (uint64_t hop = 0; hop < hops; hop++)
#pragma GCC unroll 16
        for (unsigned i = 0; i < chains; i++)
            at[i] = *at[i];
    for (unsigned i = 0; i < chains; i++)
        start[i] = at[i];    /* consumed: no compiler may leave the walk out */
}

bool agb_chain_is_count(unsigned chains)
{
    return chains == 1 || chains == 2 || chains == 3 || chains == 4 || chains == 6 || chains == 8 || chains == 12 ||
           chains == 16;
}

void agb_chain_follow(agb_chain *chain, unsigned chains, uint64_t hops)
{
    switch (chains) {
    case 2:
        follow(chain->start, 2, hops);
        break;
    case 3:
        follow(chain->start, 3, hops);
        break;
    case 4:
        follow(chain->start, 4, hops);
        break;
    case 6:
        follow(chain->start, 6, hops);
        break;
    case 8:
        follow(chain->start, 8, hops);
        break;
    case 12:
        follow(chain->start, 12, hops);
        break;
    case 16:
        follow(chain->start, 16, hops);
        break;
    default:
        follow(chain->start, 1, hops);
    }
}
