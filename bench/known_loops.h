/* SPDX-License-Identifier: MIT */
/* Loops whose place in the pipeline, and whose number of instructions, are known before they run: one only computes,
 * one only waits for memory, and mixtures of both. */
#ifndef AGB_KNOWN_LOOPS_H
#define AGB_KNOWN_LOOPS_H

#include "chain.h"

/* Instructions of one turn or hop, as gcc and clang build them for x86-64 and arm64: eight additions, count, branch;
 * load, count, branch. */
enum { AGB_COMPUTE_INSTRUCTIONS = 10, AGB_HOP_INSTRUCTIONS = 3 };

/* Eight sums that do not wait for each other. */
void agb_loop_compute(uint64_t turns);
/* After each hop along the first chain, `turns` of the loop above. With 0 it only waits. */
void agb_loop_mixed(agb_chain *chain, uint64_t hops, uint64_t turns);
/* Instructions of the latter. */
double agb_loop_mixed_instructions(uint64_t hops, uint64_t turns);

#endif
