/* SPDX-License-Identifier: MIT */
/* Which processor this is, and which family of bench/slots/ knows it. */
#ifndef AGB_PROCESSOR_H
#define AGB_PROCESSOR_H

#include "slots.h"

/* From ROOT/proc/cpuinfo and ROOT/sys; root is "" except in tests. Unknown parts stay 0. */
void agb_processor_read(const char *root, agb_cpu_id *out);
/* NULL when it is in no table: a width is never guessed. */
const agb_slots *agb_processor_family(const agb_cpu_id *cpu);
/* "Zen 4", or "GenuineIntel family 6 model 85 stepping 4". */
void agb_processor_name(const agb_cpu_id *cpu, char *name, size_t size);

/* A kernel list such as "0-15,32-47": how many stand in it, and do all of these? */
unsigned agb_processor_list_count(const char *list);
bool agb_processor_list_covers(const char *list, const int *cpus, unsigned count);

#endif
