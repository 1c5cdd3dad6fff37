/* SPDX-License-Identifier: MIT */
/* Which processors workers stay on: only such as this process may run on, one for each worker. */
#ifndef AGB_PINS_H
#define AGB_PINS_H

#include "options.h"

/* One for each of the threads, and allowed? The sentence of a failure speaks of --pin. */
agb_status agb_pins_check(const agb_pins *pins, unsigned threads, agb_error *err);

/* Orders them: one thread of each core first, then those that share a core with one before. Returns how many are
 * first ones. root is "" except in tests. */
unsigned agb_pins_by_core(agb_pins *pins, const char *root);

#endif
