/* SPDX-License-Identifier: MIT */
/* Ctrl-C and its kin: a sentence before the end, or a question that long work asks now and then, so that it can end in
 * order. */
#ifndef AGB_INTERRUPT_H
#define AGB_INTERRUPT_H

#include <signal.h>

enum { AGB_INTERRUPTS = 3 };    /* SIGINT, SIGTERM, SIGHUP; one that the caller has ignored stays ignored */

typedef struct agb_interrupt {
    struct sigaction old[AGB_INTERRUPTS];
} agb_interrupt;

/* From here on such a signal ends the program as ever, but not without a sentence: "aggbench: COMMAND: interrupted by
 * SIGINT: CONSEQUENCE". */
void agb_interrupt_announce(const char *command, const char *consequence);
/* In a child process: one sentence, its parent's, is enough. */
void agb_interrupt_forget(void);
/* From here on such signals are only noted: whoever watches must ask often. */
void agb_interrupt_watch(agb_interrupt *out);
/* Number of the signal that came, or 0. */
int agb_interrupt_signal(void);
/* As it was before; what came stays noted. */
void agb_interrupt_release(const agb_interrupt *interrupt);

#endif
