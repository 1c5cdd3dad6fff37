/* SPDX-License-Identifier: MIT */
/* Pins against the processors that are allowed: see pins.h. */
#include "pins.h"

#include "machine.h"

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
