/* SPDX-License-Identifier: MIT */
/* What doctor found, for people and for programs: see doctor.h. */
#include "doctor.h"

#include "json_text.h"
#include "machine_json.h"
#include "report.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>

static const char *subject_word(const agb_evidence *evidence)
{
    static const char *const words[] = {"machine", "process", "command"};
    return words[evidence->subject];
}

/* ---- For people -------------------------------------------------------------------------------------------------- */

enum { LABEL = 12 };

__attribute__((format(printf, 3, 4))) static void print_line(FILE *to, const char *label, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    agb_text_wrap(to, text, LABEL, fprintf(to, "  %-*s", LABEL - 2, label));
}

static void print_end(FILE *to, const agb_evidence *evidence)
{
    const agb_command_end *end = &evidence->command;
    if (!end->ended)
        return;
    if (WIFSIGNALED(end->status))
        fprintf(to, "it ended by signal %d (%s)\n", WTERMSIG(end->status), strsignal(WTERMSIG(end->status)));
    else
        fprintf(to, "it ended with exit status %d\n", WEXITSTATUS(end->status));
}

static void print_subject(FILE *to, const agb_evidence *evidence)
{
    agb_tasks_sum sum = agb_tasks_sum_of(&evidence->tasks);
    agb_clean_text name = agb_text_clean(evidence->name);
    agb_text window = agb_text_seconds(evidence->window_s);
    if (evidence->subject == AGB_SUBJECT_MACHINE)
        fprintf(to, "doctor: this machine, %u processors, %zu threads, watched for %s\n", evidence->online, sum.threads,
                window.s);
    else
        fprintf(to, "doctor: %s %d (%s), %zu thread%s seen, watched for %s\n", subject_word(evidence), evidence->pid,
                name.s, sum.threads, sum.threads == 1 ? "" : "s", window.s);
    print_end(to, evidence);
    if (evidence->vanished && evidence->subject == AGB_SUBJECT_PROCESS)
        fputs("it ended meanwhile: what follows is of the time until then\n", to);
    if (evidence->interrupted)
        fputs("interrupted: what follows is of the time until then\n", to);
}

static void print_estimates(FILE *to, const agb_finding *finding)
{
    for (unsigned i = 0; i < finding->n_figures; i++)
        if (finding->figures[i].estimate && !isnan(finding->figures[i].value))
            print_line(to, "estimate", "%s: %s %s", finding->figures[i].name,
                       agb_text_number(finding->figures[i].value).s, finding->figures[i].unit);
}

/* Steps that nobody asked any more, in one line. Returns how many they are. */
static unsigned print_skipped(FILE *to, const agb_diagnosis *diagnosis, unsigned from)
{
    unsigned n = 0;
    for (; from + n < AGB_DOCTOR_STEPS && diagnosis->findings[from + n].verdict == AGB_SKIPPED; n++)
        fprintf(to, "%s%s", n ? ", " : "\n", agb_doctor_steps[from + n].name);
    if (n > 0)
        fprintf(to, ": %s\n", diagnosis->findings[from].means);
    return n;
}

static void print_step(FILE *to, unsigned number, const agb_step *step, const agb_finding *finding)
{
    static const char rules_out[] = "rules out";
    const char *means = finding->means;
    if (strncmp(means, rules_out, strlen(rules_out)) == 0)
        means += strlen(rules_out) + strspn(means + strlen(rules_out), ", ");
    fprintf(to, "\n%u %s: %s\n", number, step->name, agb_ruling_word(finding->verdict));
    print_line(to, "asked", "%s", step->question);
    if (finding->measured[0])
        print_line(to, "measured", "%s", finding->measured);
    print_estimates(to, finding);
    print_line(to, means != finding->means ? rules_out : "means", "%s", means);
    for (unsigned i = 0; i < finding->n_unseen; i++) {
        print_line(to, "not seen", "%s: %s", finding->unseen[i].what, finding->unseen[i].reason);
        print_line(to, "elsewhere", "%s", finding->unseen[i].command);
    }
    if (finding->next[0])
        print_line(to, "next", "%s", finding->next);
}

void agb_doctor_report_table(FILE *to, const agb_evidence *evidence, const agb_diagnosis *diagnosis)
{
    print_subject(to, evidence);
    for (unsigned i = 0; i < AGB_DOCTOR_STEPS; i++) {
        i += print_skipped(to, diagnosis, i);
        if (i < AGB_DOCTOR_STEPS)
            print_step(to, i + 1, &agb_doctor_steps[i], &diagnosis->findings[i]);
    }
    fputc('\n', to);
    agb_report_line(to, "conclusion", "%s", diagnosis->conclusion);
    agb_report_machine(to, &evidence->machine);
}

/* ---- For programs ------------------------------------------------------------------------------------------------ */

static json_t *subject_json(const agb_evidence *evidence)
{
    const agb_command_end *end = &evidence->command;
    bool process = evidence->subject != AGB_SUBJECT_MACHINE;
    json_t *exit_status = end->ended && WIFEXITED(end->status) ? json_integer(WEXITSTATUS(end->status)) : json_null();
    json_t *signal = end->ended && WIFSIGNALED(end->status) ? json_integer(WTERMSIG(end->status)) : json_null();
    return json_pack("{s:s, s:o, s:o, s:I, s:o, s:b, s:b, s:o, s:o}", "kind", subject_word(evidence), "pid",
                     process ? json_integer(evidence->pid) : json_null(), "name",
                     agb_json_text_or_null(evidence->name), "threads",
                     (json_int_t)agb_tasks_sum_of(&evidence->tasks).threads, "window_s",
                     agb_json_number(evidence->window_s), "vanished", evidence->vanished, "interrupted",
                     evidence->interrupted, "exit_status", exit_status, "signal", signal);
}

static json_t *step_json(const agb_step *step, const agb_finding *finding)
{
    json_t *figures = json_array(), *unseen = json_array();
    for (unsigned i = 0; i < finding->n_figures; i++) {
        const agb_figure *figure = &finding->figures[i];
        json_array_append_new(figures, json_pack("{s:s, s:o, s:s, s:b}", "name", figure->name, "value",
                                                 agb_json_number(figure->value), "unit", figure->unit, "estimate",
                                                 figure->estimate));
    }
    for (unsigned i = 0; i < finding->n_unseen; i++)
        json_array_append_new(unseen, json_pack("{s:s, s:o, s:o}", "what", finding->unseen[i].what, "reason",
                                                agb_json_text(finding->unseen[i].reason), "command",
                                                agb_json_text(finding->unseen[i].command)));
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "step", step->name, "question", step->question,
                     "verdict", agb_ruling_word(finding->verdict), "measured",
                     agb_json_text_or_null(finding->measured), "means", agb_json_text_or_null(finding->means), "next",
                     agb_json_text_or_null(finding->next), "figures", figures, "unseen", unseen);
}

void agb_doctor_report_json(FILE *to, const agb_evidence *evidence, const agb_diagnosis *diagnosis)
{
    json_t *steps = json_array();
    for (unsigned i = 0; i < AGB_DOCTOR_STEPS; i++)
        json_array_append_new(steps, step_json(&agb_doctor_steps[i], &diagnosis->findings[i]));
    json_t *answered = diagnosis->answered < 0 ? json_null() : json_string(agb_doctor_steps[diagnosis->answered].name);
    json_t *out = json_pack("{s:i, s:{s:o, s:o, s:o, s:o, s:o}}", "aggbench", 1, "doctor", "subject",
                            subject_json(evidence), "machine", agb_machine_json(&evidence->machine), "steps", steps,
                            "answered_by", answered, "conclusion", agb_json_text(diagnosis->conclusion));
    agb_json_write(to, out);
}
