/* SPDX-License-Identifier: MIT */
/* Memory that hangs at another socket: the layout of the nodes; and where there are two, latency and bandwidth of each
 * node's processors to each node's memory, and where pages land that are touched first from here or from there. */
#include "chain.h"
#include "lab_team.h"
#include "lab_turns.h"
#include "nodes.h"
#include "process.h"
#include "kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITIONS = 5, HOPS = 200000 };

static const size_t usual_bytes = 256 << 20;
static const double value = 1;

typedef struct numa {
    agb_lab_run *run;
    agb_nodes nodes;
    size_t set_bytes;                /* gone through on each node */
    uint32_t *order;
    agb_room room;                   /* of the pair under way */
    agb_chain chain;
    agb_pool *pool;
    uint64_t wrong;
} numa;

/* ---- Layout ------------------------------------------------------------------------------------------------------ */

static agb_status add_layout(numa *lab, agb_error *err)
{
    static const agb_lab_column columns[] = {{"node", ""}, {"processors", ""}, {"of them allowed", ""},
                                             {"memory", "bytes"}, {"free", "bytes"}, {"distances", ""}};
    agb_lab_table *table = agb_lab_add_table(lab->run->record, "nodes, from /sys/devices/system/node", columns, 6);
    agb_status status = AGB_OK;
    for (size_t i = 0; i < lab->nodes.n && status == AGB_OK; i++) {
        const agb_node *node = &lab->nodes.node[i];
        char distances[80] = "";
        for (size_t k = 0; k < lab->nodes.n && node->distance[k]; k++)
            snprintf(distances + strlen(distances), sizeof distances - strlen(distances), "%s%d", k ? " " : "",
                     node->distance[k]);
        agb_lab_cell row[] = {agb_lab_number(node->number),
                              agb_lab_text("%s", node->cpu_list[0] ? node->cpu_list : "none"),
                              agb_lab_number(node->n_cpus), agb_lab_number((double)node->memory_bytes),
                              agb_lab_number((double)node->free_bytes), agb_lab_text("%s", distances)};
        status = agb_lab_add_row(table, row, err);
    }
    return status;
}

/* ---- One pair of processors and memory --------------------------------------------------------------------------- */

static agb_status measure_latency(void *context, size_t trial, double *ns, agb_error *err)
{
    numa *lab = context;
    double rate, start_s = agb_now_s();
    (void)trial;
    agb_chain_follow(&lab->chain, 1, HOPS);
    agb_status status = agb_lab_rate(HOPS, agb_now_s() - start_s, "numa", &rate, err);
    *ns = 1e9 / rate;
    return status;
}

static void read_slice(void *context, unsigned worker)
{
    numa *lab = context;
    size_t each = agb_kernel_slice(lab->set_bytes, agb_pool_workers(lab->pool));
    uint64_t wrong = agb_kernel_pass(AGB_KERNEL_READ, lab->room.at + worker * each, each, value);
    __atomic_fetch_or(&lab->wrong, wrong, __ATOMIC_RELAXED);
}

static agb_status measure_bandwidth(void *context, size_t trial, double *gbps, agb_error *err)
{
    numa *lab = context;
    unsigned workers = agb_pool_workers(lab->pool);
    double rate, wall_s = agb_team_wall_s(lab->pool, workers, read_slice, lab);
    (void)trial;
    double bytes = (double)agb_kernel_slice(lab->set_bytes, workers) * workers;
    agb_status status = agb_lab_rate(bytes, wall_s, "numa", &rate, err);
    *gbps = rate / 1e9;
    if (status == AGB_OK && lab->wrong)
        status = agb_fail(err, AGB_ERR_IO, "lab: numa: memory returned other values than were written: this machine's "
                                           "memory is faulty: run a memory test");
    return status;
}

static agb_status measure_pair(numa *lab, const agb_node *from, agb_lab_point *latency, agb_lab_point *bandwidth,
                               agb_error *err)
{
    agb_lab_turns turns = {.what = "latency", .trials = 1, .repetitions = REPETITIONS, .threads = 1,
                           .measure = measure_latency, .context = lab};
    agb_status status = agb_pool_create(&lab->pool, from->n_cpus, from->cpus, err);    /* also pins this thread */
    if (status == AGB_OK) {
        agb_chain_link(&lab->chain, &lab->room, lab->set_bytes, lab->order);
        status = agb_lab_take_turns(lab->run, &turns, latency, err);
    }
    if (status == AGB_OK) {
        turns.what = "bandwidth";
        turns.threads = from->n_cpus;
        turns.measure = measure_bandwidth;
        lab->wrong = 0;
        agb_kernel_pass(AGB_KERNEL_WRITE, lab->room.at, agb_kernel_slice(lab->set_bytes, 1), value);
        status = agb_lab_take_turns(lab->run, &turns, bandwidth, err);
    }
    agb_pool_destroy(lab->pool);
    lab->pool = NULL;
    return status;
}

/* ---- All pairs --------------------------------------------------------------------------------------------------- */

/* Memory that is touched first by a thread on this node, and not bound: where does the kernel put it? */
static agb_status find_first_touch(numa *lab, const agb_node *from, agb_error *err)
{
    agb_room room;
    agb_pool *pool = NULL;
    agb_status status = agb_room_map(&room, 4 << 20, AGB_PAGES_DEFAULT, "lab: numa", err);
    if (status == AGB_OK)
        status = agb_pool_create(&pool, 1, from->cpus, err);
    if (status == AGB_OK) {
        memset(room.at, 1, room.bytes);
        int node = agb_nodes_node_of(room.at);
        agb_lab_find(lab->run->record, "first touch: memory that a thread on node %d touches first lies on node %d: %s",
                     from->number, node, node == from->number ? "with who touched it" : "not with who touched it");
    }
    agb_pool_destroy(pool);
    agb_room_unmap(&room);
    return status;
}

static agb_status add_pair(numa *lab, agb_lab_table *table, agb_lab_chart *chart, const agb_node *from, size_t to,
                           agb_error *err)
{
    const agb_node *memory = &lab->nodes.node[to];
    agb_lab_point latency = {.x = memory->number, .y = NAN, .low = NAN, .high = NAN}, bandwidth = latency;
    char why[160] = "";
    agb_status status = agb_room_map(&lab->room, lab->set_bytes, AGB_PAGES_HUGE, "lab: numa", err);
    if (status == AGB_OK)
        agb_nodes_bind(&lab->room, memory->number, why, sizeof why);
    if (status == AGB_OK && !why[0] && memory->free_bytes < 2 * lab->set_bytes)
        snprintf(why, sizeof why, "node %d has less than %.20s free", memory->number,
                 agb_text_binary(2 * lab->set_bytes).s);
    if (status == AGB_OK && !why[0])
        status = measure_pair(lab, from, &latency, &bandwidth, err);
    if (why[0])
        agb_lab_note(lab->run->record, "from node %d: %s", from->number, why);
    agb_room_unmap(&lab->room);
    agb_lab_cell row[] = {agb_lab_number(from->number), agb_lab_number(memory->number),
                          agb_lab_text("%s", from == memory ? "local" : "remote"), agb_lab_number(latency.y),
                          agb_lab_number(bandwidth.y)};
    if (status == AGB_OK)
        status = agb_lab_add_row(table, row, err);
    return status == AGB_OK ? agb_lab_add_point(lab->run->record, &chart->series[chart->n_series - 1], latency, err)
                            : status;
}

static agb_status measure_nodes(numa *lab, agb_error *err)
{
    static const agb_lab_column columns[] = {{"processors of node", ""}, {"memory of node", ""}, {"", ""},
                                             {"a load", "ns"}, {"reading", "GB/s"}};
    agb_lab_chart *chart = agb_lab_add_chart(lab->run->record, "a load that waits for the one before",
                                             (agb_lab_axis){"memory of node", "", false},
                                             (agb_lab_axis){"time of a load", "ns", false});
    agb_lab_table *table = agb_lab_add_table(lab->run->record, "from each node to each node", columns, 5);
    agb_status status = AGB_OK;
    for (size_t i = 0; i < lab->nodes.n && status == AGB_OK; i++) {
        const agb_node *from = &lab->nodes.node[i];
        char name[64];
        snprintf(name, sizeof name, "from node %d", from->number);
        if (from->n_cpus == 0)
            continue;
        if (!agb_lab_add_series(chart, name))
            return agb_fail(err, AGB_ERR_MEMORY, "lab: numa: no memory for its chart: free some, and run again");
        for (size_t to = 0; to < lab->nodes.n && status == AGB_OK; to++)
            status = add_pair(lab, table, chart, from, to, err);
        if (status == AGB_OK)
            status = find_first_touch(lab, from, err);
    }
    return status;
}

/* Means of local and of remote pairs that could be measured. */
static void compare(numa *lab)
{
    const agb_lab_table *table = &lab->run->record->tables[1];
    double ns[2] = {0}, gbps[2] = {0}, n[2] = {0};
    for (size_t i = 0; i < table->n_rows; i++) {
        const agb_lab_cell *row = &table->cells[i * table->n_columns];
        int remote = row[0].number != row[1].number;
        if (isfinite(row[3].number))
            ns[remote] += row[3].number, gbps[remote] += row[4].number, n[remote]++;
    }
    if (n[0] > 0 && n[1] > 0)
        agb_lab_find(lab->run->record, "a load from another node takes %s times as long as from the own one, and "
                     "reading reaches %s of its bandwidth", agb_text_number(ns[1] / n[1] / (ns[0] / n[0])).s,
                     agb_text_number(gbps[1] / n[1] / (gbps[0] / n[0])).s);
}

/* ---- The lab ----------------------------------------------------------------------------------------------------- */

static agb_status run(agb_lab_run *run, agb_error *err)
{
    numa lab = {.run = run, .set_bytes = run->options->working_set ? run->options->working_set : usual_bytes};
    agb_nodes_read(run->root, &lab.nodes);
    agb_status status = add_layout(&lab, err);
    if (status == AGB_OK && lab.nodes.n < 2) {
        agb_lab_find(run->record, "%s: local and remote memory cannot be shown here",
                     lab.nodes.n == 1 ? "this machine has one node" : "this system shows no nodes");
        agb_lab_note(run->record, "on two nodes or more it would pin a thread to each node, bind %s to each node by "
                     "mbind, and lay beside each other a pointer chase, reading by all processors of the node, and "
                     "where first touch puts a page. On a virtual machine ask for a size that shows its nodes (numactl "
                     "--hardware tells), then run `aggbench lab numa`", agb_text_binary(lab.set_bytes).s);
        return status;
    }
    lab.order = malloc(lab.set_bytes / AGB_CHAIN_NODE * sizeof *lab.order);
    if (status == AGB_OK && !lab.order)
        status = agb_fail(err, AGB_ERR_MEMORY, "lab: numa: no memory for the order of the nodes: free some, and run "
                                               "again");
    if (status == AGB_OK) {
        agb_chain_draw(lab.order, lab.set_bytes / AGB_CHAIN_NODE, 1);
        status = measure_nodes(&lab, err);
    }
    if (status == AGB_OK)
        compare(&lab);
    free(lab.order);
    return status;
}

static const char *const options[] = {"working-set", NULL};

const agb_lab agb_lab_numa = {
    .name = "numa",
    .summary = "memory of the own and of another node: latency, bandwidth, first touch",
    .prediction = "a load from another node takes 1.5 to 2.5 times as long, and reads less than the own one's "
                  "bandwidth; untouched memory lands on the node of the thread that touches it first. With one node "
                  "there is nothing to see",
    .limits = "medians of 5 of each pair, pairs one after the other. A virtual machine may show one node although its "
              "memory comes from two. Memory without processors (CXL) is a node, too",
    .options = options, .run = run};
