/* SPDX-License-Identifier: MIT */
/* Nodes of one cache line that point to each other in one big cycle: each load waits for the one before, so that time
 * over hops is the latency of the memory that holds the working set. */
#ifndef AGB_CHAIN_H
#define AGB_CHAIN_H

#include "room.h"

enum { AGB_CHAIN_NODE = 64, AGB_CHAIN_MOST = 16 };

typedef struct agb_chain {
    agb_room room;                     /* borrowed memory of the nodes */
    size_t nodes;
    void *start[AGB_CHAIN_MOST];       /* equally far from each other along the cycle; moved by agb_chain_follow */
} agb_chain;

/* order[i]: the node that follows node i in a random cycle through all n; the same seed gives the same one. */
void agb_chain_draw(uint32_t *order, size_t n, uint64_t seed);
/* Links the first `bytes` of the room into one cycle: of that order, or in sequence for NULL. */
void agb_chain_link(agb_chain *out, const agb_room *room, size_t bytes, const uint32_t *order);
/* Draws and links one random cycle through the first `bytes` of the room. false: no memory for its order. */
bool agb_chain_make(agb_chain *out, const agb_room *room, size_t bytes);
/* Follows the first `chains` (1, 2, 3, 4, 6, 8, 12 or 16) of them, each by `hops`, going on where they stood. */
void agb_chain_follow(agb_chain *chain, unsigned chains, uint64_t hops);
/* Whether this many chains can be followed at once. */
bool agb_chain_is_count(unsigned chains);

#endif
