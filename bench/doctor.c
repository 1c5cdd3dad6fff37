/* SPDX-License-Identifier: MIT */
/* The path, and how it is walked: see doctor.h. Reading the table from top to bottom is reading the checklist. */
#include "doctor.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

const agb_step agb_doctor_steps[] = {
    {.name = "on CPU", .question = "does it run at all, or does it wait for something else than a processor?",
     .examine = agb_examine_on_cpu},
    {.name = "pinned", .question = "do affinity, cpuset or a quota keep it from processors that are free?",
     .examine = agb_examine_pinned},
    {.name = "IPC", .question = "does it compute or wait while it runs, against this machine's own line?",
     .examine = agb_examine_ipc},
    {.name = "slots", .question = "what becomes of the pipeline's slots?", .examine = agb_examine_slots},
    {.name = "memory level", .question = "which level of the memory hierarchy serves its loads?",
     .examine = agb_examine_memory},
    {.name = "sharing", .question = "do cores take lines away from each other?", .examine = agb_examine_sharing},
    {.name = "NUMA", .question = "is its memory on the node that it runs on?", .examine = agb_examine_numa},
    {.name = "TLB", .question = "do address translations cost it time, and would huge pages help?",
     .examine = agb_examine_tlb},
    {.name = "noise", .question = "what disturbs it, and these figures?", .examine = agb_examine_noise, .always = true},
    {.name = NULL},
};

_Static_assert(sizeof agb_doctor_steps / sizeof agb_doctor_steps[0] == AGB_DOCTOR_STEPS + 1, "findings have a place "
               "each");

const char *agb_ruling_word(agb_ruling verdict)
{
    static const char *const words[] = {
        [AGB_RULED_OUT] = "ruled out", [AGB_SUSPECT] = "suspect", [AGB_FOUND] = "found",
        [AGB_UNSEEN] = "not seen", [AGB_SKIPPED] = "skipped"};
    return words[verdict];
}

/* ---- What steps write -------------------------------------------------------------------------------------------- */

static void add_figure(agb_finding *finding, const char *name, const char *unit, double value, bool estimate)
{
    if (finding->n_figures == AGB_MOST_FIGURES)
        return;
    agb_figure *figure = &finding->figures[finding->n_figures++];
    *figure = (agb_figure){.value = value, .estimate = estimate};
    snprintf(figure->name, sizeof figure->name, "%s", name);
    snprintf(figure->unit, sizeof figure->unit, "%s", unit);
}

void agb_finding_figure(agb_finding *finding, const char *name, const char *unit, double value)
{
    add_figure(finding, name, unit, value, false);
}

void agb_finding_estimate(agb_finding *finding, const char *name, const char *unit, double value)
{
    add_figure(finding, name, unit, value, true);
}

static void join(char *text, size_t size, const char *format, va_list arguments)
{
    size_t used = strlen(text);
    if (used > 0)
        used += (size_t)snprintf(text + used, size - used, "; ");
    if (used < size)
        vsnprintf(text + used, size - used, format, arguments);
}

void agb_finding_measured(agb_finding *finding, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    join(finding->measured, sizeof finding->measured, format, arguments);
    va_end(arguments);
}

void agb_finding_next(agb_finding *finding, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    join(finding->next, sizeof finding->next, format, arguments);
    va_end(arguments);
}

void agb_finding_conclude(agb_finding *finding, agb_ruling verdict, const char *format, ...)
{
    va_list arguments;
    finding->verdict = verdict;
    va_start(arguments, format);
    vsnprintf(finding->means, sizeof finding->means, format, arguments);
    va_end(arguments);
}

void agb_finding_unseen(agb_finding *finding, const char *what, const char *reason, const char *command, ...)
{
    if (finding->n_unseen == AGB_MOST_UNSEEN)
        return;
    agb_unseen *unseen = &finding->unseen[finding->n_unseen++];
    va_list arguments;
    snprintf(unseen->what, sizeof unseen->what, "%s", what);
    snprintf(unseen->reason, sizeof unseen->reason, "%s", reason);
    va_start(arguments, command);
    vsnprintf(unseen->command, sizeof unseen->command, command, arguments);
    va_end(arguments);
}

/* ---- Walking ----------------------------------------------------------------------------------------------------- */

/* "IPC, slots" of those with the verdict. */
static unsigned list_steps(const agb_diagnosis *diagnosis, agb_ruling verdict, char *text, size_t size)
{
    unsigned n = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < AGB_DOCTOR_STEPS; i++) {
        if (diagnosis->findings[i].verdict != verdict)
            continue;
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", n++ ? ", " : "", agb_doctor_steps[i].name);
    }
    return n;
}

static void conclude(agb_diagnosis *out)
{
    static const struct {
        agb_ruling verdict;
        const char *words;
    } parts[] = {{AGB_SUSPECT, "suspect"}, {AGB_RULED_OUT, "ruled out"}, {AGB_UNSEEN, "not seen here"}};
    char steps[160];
    if (out->answered >= 0)
        snprintf(out->conclusion, sizeof out->conclusion, "%s", out->findings[out->answered].means);
    else
        snprintf(out->conclusion, sizeof out->conclusion, "no step explains it alone");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        size_t used = strlen(out->conclusion);
        if (list_steps(out, parts[i].verdict, steps, sizeof steps) > 0)
            snprintf(out->conclusion + used, sizeof out->conclusion - used, "; %s: %s", parts[i].words, steps);
    }
}

void agb_doctor_walk(const agb_evidence *evidence, agb_diagnosis *out)
{
    memset(out, 0, sizeof *out);
    out->answered = -1;
    for (int i = 0; agb_doctor_steps[i].name; i++) {
        const agb_step *step = &agb_doctor_steps[i];
        agb_finding *finding = &out->findings[i];
        if (out->answered >= 0 && !step->always) {
            agb_finding_conclude(finding, AGB_SKIPPED, "not asked: \"%s\" has answered",
                                 agb_doctor_steps[out->answered].name);
            continue;
        }
        step->examine(evidence, finding);
        if (finding->verdict == AGB_FOUND && out->answered < 0)
            out->answered = i;
    }
    conclude(out);
}
