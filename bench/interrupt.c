/* SPDX-License-Identifier: MIT */
/* Signals that are announced, or noted in a flag: see interrupt.h. A handler can reach nothing but static variables. */
#include "interrupt.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int numbers[AGB_INTERRUPTS] = {SIGINT, SIGTERM, SIGHUP};

static volatile sig_atomic_t came;
static char sentences[AGB_INTERRUPTS][256];

/* Where nobody has said otherwise, as nohup does. */
static void set(int number, const struct sigaction *action)
{
    struct sigaction old;
    sigaction(number, NULL, &old);
    if (old.sa_handler != SIG_IGN)
        sigaction(number, action, NULL);
}

/* The handler was reset: what is raised ends the process. */
static void announce(int number)
{
    for (size_t i = 0; i < AGB_INTERRUPTS; i++)
        if (numbers[i] == number)
            (void)!write(STDERR_FILENO, sentences[i], strlen(sentences[i]));
    raise(number);
}

void agb_interrupt_announce(const char *command, const char *consequence)
{
    const struct sigaction action = {.sa_handler = announce, .sa_flags = SA_RESETHAND};
    const char *wipe = isatty(STDERR_FILENO) ? "\r\033[K" : "";    /* a line of progress, and the echo of ^C */
    for (size_t i = 0; i < AGB_INTERRUPTS; i++) {
        snprintf(sentences[i], sizeof sentences[i], "%saggbench: %s: interrupted by SIG%s: %s\n", wipe, command,
                 sigabbrev_np(numbers[i]), consequence);
        set(numbers[i], &action);
    }
}

void agb_interrupt_forget(void)
{
    for (size_t i = 0; i < AGB_INTERRUPTS; i++)
        set(numbers[i], &(struct sigaction){.sa_handler = SIG_DFL});
}

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
        set(numbers[i], &action);
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
