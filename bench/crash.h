/* SPDX-License-Identifier: MIT */
/* The last word of a child process that may crash: which phase it was in, and where its fatal signal happened. It
 * stands in memory that the parent shares. */
#ifndef AGB_CRASH_H
#define AGB_CRASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct agb_last_word {
    int32_t phase;       /* of worker 0; -1 before the first */
    int32_t signal;      /* 0: none was caught */
    int32_t code;        /* si_code */
    uint64_t address;    /* si_addr: the memory that was touched, or the instruction for SIGILL and SIGFPE */
} agb_last_word;

/* In the child: a fatal signal leaves its address there and then ends the process as before. */
void agb_crash_watch(agb_last_word *where);
/* " at address 0x10 (next to a null pointer)", or "" where no address is known; cut to fit. */
void agb_crash_describe(const agb_last_word *where, char *text, size_t size);
/* The name of the phase, of these; "create" before the first. phases: NULL-ended. The child may have written anything
 * there. */
const char *agb_crash_phase(const agb_last_word *where, const char *const *phases);

#endif
