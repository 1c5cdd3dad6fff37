/* SPDX-License-Identifier: MIT */
/* Where a fatal signal happened: see crash.h. The only mutable variable of the program: a signal handler has no other
 * way to know where to write. It is set once, in a child process, before anything can crash. */
#include "crash.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static agb_last_word *last_word;

static void note_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    last_word->signal = number;
    last_word->code = info->si_code;
    last_word->address = (uint64_t)(uintptr_t)info->si_addr;
    raise(number);    /* the handler was reset: this ends the process as if it had never been there */
}

/* A stack of its own, so that a stack that has run over can still be told. */
void agb_crash_watch(agb_last_word *where)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    enum { STACK_BYTES = 64 << 10 };
    stack_t stack = {.ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES};    /* lives as long as the process */
    struct sigaction action = {.sa_sigaction = note_signal, .sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER};
    if (stack.ss_sp && sigaltstack(&stack, NULL) == 0)
        action.sa_flags |= SA_ONSTACK;
    last_word = where;
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        sigaction(fatal[i], &action, NULL);
}

void agb_crash_describe(const agb_last_word *where, char *text, size_t size)
{
    enum { NEAR_NULL = 4096 };
    text[0] = '\0';
    if (where->signal == 0 || where->code <= 0)    /* raised by a program, not by an access */
        return;
    /* A general protection fault, as by an address that is none, gives no address. */
    if (where->signal == SIGSEGV && where->code == SI_KERNEL)
        snprintf(text, size, " at an address that cannot exist");
    else if (where->signal == SIGFPE || where->signal == SIGILL)
        snprintf(text, size, " at instruction 0x%" PRIx64, where->address);
    else
        snprintf(text, size, " at address 0x%" PRIx64 "%s", where->address,
                 where->address == 0          ? " (a null pointer)"
                 : where->address < NEAR_NULL ? " (next to a null pointer)"
                                              : "");
}

const char *agb_crash_phase(const agb_last_word *where, const char *const *phases)
{
    int32_t phase = where->phase;
    for (int32_t i = 0; phases[i]; i++)
        if (i == phase)
            return phases[i];
    return "create";
}
