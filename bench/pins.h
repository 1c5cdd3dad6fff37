/* SPDX-License-Identifier: MIT */
/* Which processors workers stay on: only such as this process may run on, one for each worker. */
#ifndef AGB_PINS_H
#define AGB_PINS_H

#include "options.h"

/* One for each of the threads, and allowed? The sentence of a failure speaks of --pin. */
agb_status agb_pins_check(const agb_pins *pins, unsigned threads, agb_error *err);

#endif
