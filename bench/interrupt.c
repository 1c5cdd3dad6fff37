/* SPDX-License-Identifier: MIT */
/* Signals noted in a flag: see interrupt.h. A handler can reach nothing but a static variable. */
#include "interrupt.h"

#include <stddef.h>

static const int numbers[AGB_INTERRUPTS] = {SIGINT, SIGTERM, SIGHUP};

static volatile sig_atomic_t came;

static void note(int number)
{
    came = number;
}

void agb_interrupt_watch(agb_interrupt *out)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    came = 0;
    for (size_t i = 0; i < AGB_INTERRUPTS; i++)
        sigaction(numbers[i], NULL, &out->old[i]);
    for (size_t i = 0; i < AGB_INTERRUPTS; i++)
        if (out->old[i].sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

int agb_interrupt_signal(void)
{
    return came;
}

void agb_interrupt_release(const agb_interrupt *interrupt)
{
    for (size_t i = 0; i < AGB_INTERRUPTS; i++)
        sigaction(numbers[i], &interrupt->old[i], NULL);
}
