/* SPDX-License-Identifier: MIT */
/* NUMA nodes: see nodes.h. The three system calls are made by hand: libnuma would be one more thing to install, for
 * machines that mostly have one node. */
#include "nodes.h"

#include "machine.h"
#include "processor.h"
#include "sysfile.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_NUMBERS = 1024 };    /* of a node: MAX_NUMNODES of the kernel */

static void read_cpus(const char *root, agb_node *node)
{
    char path[96], text[1024];
    int allowed[4 * AGB_MOST_NODE_CPUS];
    unsigned n_allowed = agb_machine_allowed_cpus(allowed, 4 * AGB_MOST_NODE_CPUS);
    n_allowed = n_allowed < 4 * AGB_MOST_NODE_CPUS ? n_allowed : 4 * AGB_MOST_NODE_CPUS;
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node->number);
    agb_sysfile_read(root, path, text, sizeof text);
    snprintf(node->cpu_list, sizeof node->cpu_list, "%.79s", text);
    for (unsigned i = 0; i < n_allowed && node->n_cpus < AGB_MOST_NODE_CPUS; i++)
        if (agb_processor_list_covers(text, &allowed[i], 1))
            node->cpus[node->n_cpus++] = allowed[i];
}

/* "Node 0 MemTotal:  24683120 kB" */
static uint64_t read_memory(const char *root, const agb_node *node, const char *name)
{
    char path[96], field[64];
    uint64_t kibibytes = 0;
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d/meminfo", node->number);
    snprintf(field, sizeof field, "Node %d %s", node->number, name);
    agb_sysfile_field_number(root, path, field, &kibibytes);
    return kibibytes << 10;
}

static void read_distances(const char *root, agb_node *node)
{
    char path[96], text[256], *save = NULL;
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d/distance", node->number);
    agb_sysfile_read(root, path, text, sizeof text);
    size_t at = 0;
    for (char *word = strtok_r(text, " ", &save); word && at < AGB_MOST_NODES; word = strtok_r(NULL, " ", &save))
        node->distance[at++] = atoi(word);
}

void agb_nodes_read(const char *root, agb_nodes *out)
{
    char online[256];
    *out = (agb_nodes){0};
    agb_sysfile_read(root, "/sys/devices/system/node/online", online, sizeof online);
    for (int number = 0; number < MOST_NUMBERS && out->n < AGB_MOST_NODES; number++) {
        if (!agb_processor_list_covers(online, &number, 1))
            continue;
        agb_node *node = &out->node[out->n++];
        node->number = number;
        read_cpus(root, node);
        node->memory_bytes = read_memory(root, node, "MemTotal");
        node->free_bytes = read_memory(root, node, "MemFree");
        read_distances(root, node);
    }
}

void agb_nodes_bind(const agb_room *room, int node, char *why, size_t size)
{
    enum { BITS = 8 * sizeof(unsigned long), WORDS = MOST_NUMBERS / BITS };
    unsigned long mask[WORDS] = {0};
    why[0] = '\0';
    if (node < 0 || node >= WORDS * BITS)
        snprintf(why, size, "node %d: not a number that the kernel takes", node);
    else
        mask[node / BITS] |= 1ul << node % BITS;
    if (!why[0] && syscall(SYS_mbind, room->base, room->mapped, MPOL_BIND, mask, WORDS * BITS, 0) != 0)
        snprintf(why, size, "node %d gives no memory: %s", node, strerror(errno));
}

int agb_nodes_node_of(const void *address)
{
    int node = -1;
    if (syscall(SYS_get_mempolicy, &node, NULL, 0, address, MPOL_F_NODE | MPOL_F_ADDR) != 0)
        return -1;
    return node;
}
