/* SPDX-License-Identifier: MIT */
/* Contestants of a test's own, right but for how they finish, and a report as text. */
#ifndef AGB_CONTESTANTS_H
#define AGB_CONTESTANTS_H

#include "plugins/counting.h"
#include "report.h"
#include "test.h"

#define CONTESTANT(label, how)                                                                                         \
    {                                                                                                                  \
        .abi = AGB_AGGREGATOR_ABI, .size = sizeof(agb_aggregator), .name = label, .summary = "for tests",              \
        .phases = counting_phases, .traits = AGB_TAKES_WORDS, .create = counting_create, .consume = counting_consume,  \
        .finish = how, .destroy = counting_destroy                                                                     \
    }

/* free() it. */
static inline char *report(void (*write)(FILE *to, const agb_results *results), const agb_results *results)
{
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    write(to, results);
    fclose(to);
    return text;
}

#endif
