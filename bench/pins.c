/* SPDX-License-Identifier: MIT */
/* Pins against the processors that are allowed: see pins.h. */
#include "pins.h"

#include "machine.h"
#include "processor.h"
#include "sysfile.h"

#include <stdio.h>
#include <string.h>

agb_status agb_pins_check(const agb_pins *pins, unsigned threads, agb_error *err)
{
    int allowed[AGB_MOST_PINS];
    unsigned n_allowed = agb_machine_allowed_cpus(allowed, AGB_MOST_PINS);
    n_allowed = n_allowed > AGB_MOST_PINS ? AGB_MOST_PINS : n_allowed;
    if (pins->n != threads)
        return agb_fail(err, AGB_ERR_ARGUMENT, "--pin: %u processor%s for %u thread%s: give one for each", pins->n,
                        pins->n == 1 ? "" : "s", threads, threads == 1 ? "" : "s");
    for (unsigned i = 0; i < pins->n; i++) {
        unsigned at = 0;
        while (at < n_allowed && allowed[at] != pins->cpu[i])
            at++;
        if (at < n_allowed)
            continue;
        char list[256] = "";
        for (unsigned j = 0, length = 0; j < n_allowed && length < sizeof list - 24; j++)
            length += (unsigned)snprintf(list + length, sizeof list - length, "%s%d", j ? "," : "", allowed[j]);
        return agb_fail(err, AGB_ERR_ARGUMENT, "--pin: %d: this process may not run there: allowed are %s",
                        pins->cpu[i], list);
    }
    return AGB_OK;
}

unsigned agb_pins_by_core(agb_pins *pins, const char *root)
{
    agb_pins ordered = {.n = 0}, later = {.n = 0};
    for (unsigned i = 0; i < pins->n; i++) {
        char path[96], siblings[256];
        bool second = false;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", pins->cpu[i]);
        agb_sysfile_read(root, path, siblings, sizeof siblings);
        for (unsigned k = 0; k < ordered.n; k++)
            second |= agb_processor_list_covers(siblings, &ordered.cpu[k], 1);
        agb_pins *to = second ? &later : &ordered;
        to->cpu[to->n++] = pins->cpu[i];
    }
    unsigned first = ordered.n;
    memcpy(ordered.cpu + first, later.cpu, later.n * sizeof *later.cpu);
    ordered.n = pins->n;
    *pins = ordered;
    return first;
}
