/* SPDX-License-Identifier: MIT */
/* NUMA nodes as the kernel shows them in /sys/devices/system/node, and memory on a node of one's choice. */
#ifndef AGB_NODES_H
#define AGB_NODES_H

#include "room.h"

enum { AGB_MOST_NODES = 16, AGB_MOST_NODE_CPUS = 256 };

typedef struct agb_node {
    int number;
    char cpu_list[80];                   /* "0-15,32-47", cut to fit; "" for memory without processors */
    int cpus[AGB_MOST_NODE_CPUS];        /* of them, those that this process may run on */
    unsigned n_cpus;
    uint64_t memory_bytes, free_bytes;
    int distance[AGB_MOST_NODES];        /* to the node at each place; 10 is its own, 0 unknown */
} agb_node;

typedef struct agb_nodes {
    agb_node node[AGB_MOST_NODES];
    size_t n;                            /* 0: the system shows none */
} agb_nodes;

/* root: before /sys; "" except in tests. */
void agb_nodes_read(const char *root, agb_nodes *out);
/* Memory of the room comes from this node and no other; before it is touched. "" or why not. */
void agb_nodes_bind(const agb_room *room, int node, char *why, size_t size);
/* Node that the page at that address lies on; -1 where the kernel does not tell. */
int agb_nodes_node_of(const void *address);

#endif
