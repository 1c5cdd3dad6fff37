/* SPDX-License-Identifier: MIT */
/* The machine as every JSON output shows it. */
#ifndef AGB_MACHINE_JSON_H
#define AGB_MACHINE_JSON_H

#include "machine.h"

#include <jansson.h>

/* {"cpu", "uarch", "cores", "caches": {"l1d", "l2", "l3", "line"}, "memory_bytes", "kernel", "hypervisor", "pages",
 *  "governor", "compiler", "flags", "commit"}; null for text that is not there. */
json_t *agb_machine_json(const agb_machine *machine);

#endif
