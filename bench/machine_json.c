/* SPDX-License-Identifier: MIT */
/* The machine's block of every JSON output: see machine_json.h. */
#include "machine_json.h"

#include "json_text.h"

static json_t *count(uint64_t value)
{
    return json_integer((json_int_t)value);
}

json_t *agb_machine_json(const agb_machine *machine)
{
    const agb_caches *caches = &machine->caches;
    return json_pack("{s:o, s:o, s:o, s:{s:o, s:o, s:o, s:o}, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o}", "cpu",
                     agb_json_text(machine->cpu), "uarch", agb_json_text(machine->uarch), "cores",
                     count(machine->cores), "caches", "l1d", count(caches->l1d), "l2", count(caches->l2), "l3",
                     count(caches->l3), "line", count(caches->line), "memory_bytes", count(machine->memory_bytes),
                     "kernel", agb_json_text(machine->kernel), "hypervisor",
                     agb_json_text_or_null(machine->hypervisor), "reports_free_pages", machine->reports_free_pages,
                     "pages", agb_json_text_or_null(machine->pages),
                     "governor", agb_json_text_or_null(machine->governor), "compiler",
                     agb_json_text(machine->compiler), "flags", agb_json_text(machine->flags), "commit",
                     agb_json_text_or_null(machine->commit));
}
