/* SPDX-License-Identifier: MIT */
/* What a sample of loads says: see load_samples.h. The words that the kernel writes are its own translation of what
 * each processor reports, so one reading serves all of them. */
#include "load_samples.h"

#include <linux/perf_event.h>
#include <string.h>

const char *agb_load_level_name(agb_load_level level)
{
    static const char *const names[AGB_LOAD_LEVELS] = {
        [AGB_LOAD_L1] = "L1",     [AGB_LOAD_BUFFER] = "fill buffer",  [AGB_LOAD_L2] = "L2",
        [AGB_LOAD_L3] = "L3",     [AGB_LOAD_DRAM] = "DRAM",           [AGB_LOAD_REMOTE] = "another node",
        [AGB_LOAD_OTHER] = "other or unknown"};
    return (unsigned)level < AGB_LOAD_LEVELS ? names[level] : "unknown";
}

/* By the newer field: one number for the level, one bit for another node. */
static agb_load_level level_by_number(union perf_mem_data_src source)
{
    switch (source.mem_lvl_num) {
    case PERF_MEM_LVLNUM_L1:
        return AGB_LOAD_L1;
    case PERF_MEM_LVLNUM_L2:
        return source.mem_remote ? AGB_LOAD_REMOTE : AGB_LOAD_L2;
    case PERF_MEM_LVLNUM_L3:
    case PERF_MEM_LVLNUM_ANY_CACHE:    /* of another core; beyond the node from two hops on */
        return source.mem_remote && source.mem_hops != PERF_MEM_HOPS_0 ? AGB_LOAD_REMOTE : AGB_LOAD_L3;
    case PERF_MEM_LVLNUM_LFB:
        return AGB_LOAD_BUFFER;
    case PERF_MEM_LVLNUM_RAM:
        return source.mem_remote ? AGB_LOAD_REMOTE : AGB_LOAD_DRAM;
    default:
        return AGB_LOAD_OTHER;
    }
}

/* By the older one: a bit for each level. */
static agb_load_level level_by_bits(unsigned bits)
{
    static const struct {
        unsigned bits;
        agb_load_level level;
    } levels[] = {
        {PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2 | PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2,
         AGB_LOAD_REMOTE},
        {PERF_MEM_LVL_LOC_RAM, AGB_LOAD_DRAM},
        {PERF_MEM_LVL_L3, AGB_LOAD_L3},
        {PERF_MEM_LVL_L2, AGB_LOAD_L2},
        {PERF_MEM_LVL_LFB, AGB_LOAD_BUFFER},
        {PERF_MEM_LVL_L1, AGB_LOAD_L1},
    };
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        if ((bits & levels[i].bits) && (bits & PERF_MEM_LVL_HIT))
            return levels[i].level;
    return AGB_LOAD_OTHER;
}

void agb_load_samples_add(agb_load_samples *samples, uint64_t data_source, uint64_t cycles)
{
    union perf_mem_data_src source = {.val = data_source};
    if (!(source.mem_op & PERF_MEM_OP_LOAD))
        return;
    bool numbered = source.mem_lvl_num != 0 && source.mem_lvl_num != PERF_MEM_LVLNUM_NA;
    agb_load_level level = numbered ? level_by_number(source) : level_by_bits((unsigned)source.mem_lvl);
    samples->loads++;
    samples->by_level[level]++;
    samples->cycles[level] += cycles;
    samples->weighed += cycles > 0;
    samples->hit_modified += (source.mem_snoop & PERF_MEM_SNOOP_HITM) != 0;
    bool tlb_known = (source.mem_dtlb & (PERF_MEM_TLB_HIT | PERF_MEM_TLB_MISS)) != 0;
    bool missed_all = (source.mem_dtlb & PERF_MEM_TLB_MISS) && (source.mem_dtlb & PERF_MEM_TLB_L2);
    samples->tlb_known += tlb_known;
    samples->tlb_walks += tlb_known && (missed_all || (source.mem_dtlb & PERF_MEM_TLB_WK));
}

/* A piece of the ring, which may run over its end. */
static void copy_out(void *to, const char *ring, size_t bytes, uint64_t at, size_t length)
{
    size_t from = at & (bytes - 1), first = length < bytes - from ? length : bytes - from;
    memcpy(to, ring + from, first);
    memcpy((char *)to + first, ring, length - first);
}

/* Samples are { header, weight, data source }, as agb_load_sampler_start asks for them. */
uint64_t agb_load_samples_read(agb_load_samples *samples, const void *ring, size_t bytes, uint64_t tail, uint64_t head)
{
    while (head - tail >= sizeof(struct perf_event_header)) {
        struct perf_event_header header;
        uint64_t words[2] = {0, 0};
        copy_out(&header, ring, bytes, tail, sizeof header);
        if (header.size < sizeof header || header.size > head - tail)
            return head;    /* not a record: what follows cannot be found */
        if (header.size >= sizeof header + sizeof words)
            copy_out(words, ring, bytes, tail + sizeof header, sizeof words);
        if (header.type == PERF_RECORD_SAMPLE)
            agb_load_samples_add(samples, words[1], words[0]);
        else if (header.type == PERF_RECORD_LOST)    /* { header, id, lost } */
            samples->lost += words[1];
        tail += header.size;
    }
    return tail;
}
