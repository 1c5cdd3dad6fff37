/* SPDX-License-Identifier: MIT */
/* How the investigation measures, and how it speaks of figures: see investigate.h. */
#include "investigate.h"

#include "commands.h"
#include "process.h"
#include "report.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static void tell(void *context, const agb_progress *progress)
{
    agb_investigation *self = context;
    agb_progress staged = *progress;
    staged.subject = self->stage;
    agb_progress_print(self->printer, &staged);
}

/* Appends a word as a shell takes it. */
static size_t quote(char *out, size_t size, size_t at, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-=,.:/+%@";
    bool bare = *word && word[strspn(word, plain)] == '\0';
    at += (size_t)snprintf(out + at, size - at, bare ? " %s" : " '", word);
    for (const char *c = word; !bare && *c && at + 8 < size; c++)
        at += (size_t)snprintf(out + at, size - at, *c == '\'' ? "'\\''" : "%c", *c);
    if (!bare)
        at += (size_t)snprintf(out + at, size - at, "'");
    return at < size ? at : size - 1;
}

enum { MOST_WORDS = 48 };

/* What an experiment keeps free for its simulations, of the time that it may take. */
static const double simulating_s = 25;

/* The words of this investigation's own command line that every measurement takes over. */
static void add_common(const agb_investigation *self, char **words, int *n, char numbers[2][24])
{
    const agb_options *options = self->options;
    static char group_by[] = "--group-by", where[] = "--where", timeout[] = "--timeout", seed[] = "--seed",
                loader[] = "--input-format";
    const struct { char *name; const char *value; } all[] = {
        {group_by, agb_option_given(options, "group-by") ? options->group_by : NULL}, {where, options->where},
        {loader, options->input_format}, {timeout, agb_option_given(options, "timeout") ? numbers[0] : NULL},
        {seed, agb_option_given(options, "seed") ? numbers[1] : NULL}};
    snprintf(numbers[0], 24, "%llu", (unsigned long long)options->timeout_s);
    snprintf(numbers[1], 24, "%llu", (unsigned long long)options->seed);
    for (size_t i = 0; i < sizeof all / sizeof all[0] && *n + 2 < MOST_WORDS; i++) {
        if (!all[i].value)
            continue;
        words[(*n)++] = all[i].name;
        words[(*n)++] = (char *)all[i].value;
    }
}

static agb_status run(agb_investigation *self, const agb_options *options, agb_measurement *out, agb_error *err)
{
    agb_lineup lineup = {0};
    agb_status status = agb_lineup_create(&lineup, options, options->operand, "naive", err);
    if (status == AGB_OK) {
        agb_older_children older;
        lineup.experiment.progress = self->printer->style == AGB_PROGRESS_NONE ? NULL : tell;
        lineup.experiment.context = self;
        lineup.experiment.least_repetitions = AGB_LEAST_FOR_INTERVAL;
        lineup.experiment.most_s = self->most_s + (options->simulate ? simulating_s : 0);
        agb_strays_adopt(&older);
        status = agb_lineup_run(&lineup, &out->results, err);
        agb_strays_end(&older);
    }
    if (status == AGB_OK && !(out->json = agb_results_json(&out->results)))
        status = agb_fail(err, AGB_ERR_MEMORY, "investigate: no memory for its results");
    agb_lineup_release(&lineup);
    for (size_t i = 0; status == AGB_OK && i < out->results.n_results; i++) {
        const agb_result *result = &out->results.results[i];
        if (result->state != AGB_STATE_OK)
            status = agb_fail(err, AGB_ERR_UNSUPPORTED, "investigate: %s: %s: nothing can be concluded without it",
                              result->name, result->reason[0] ? result->reason : agb_state_name(result->state));
    }
    return status;
}

agb_status agb_investigate_measure(agb_investigation *self, const char *title, const char *words, agb_error *err)
{
    agb_story *story = &self->story;
    agb_measurement *measurement = &story->measurement[story->n];
    char *copy = strdup(words), *rest = copy, *word, *list[MOST_WORDS], numbers[2][24], command[4096] = "aggbench run";
    size_t at = strlen(command);
    int n = 0;
    if (!copy || story->n == AGB_MOST_MEASUREMENTS) {
        free(copy);
        return agb_fail(err, AGB_ERR_MEMORY, "investigate: no room for another measurement");
    }
    while ((word = strsep(&rest, "\n")) && n < MOST_WORDS - 16)
        list[n++] = word;
    if (strncmp(list[0], "synth:", 6) != 0 || strcmp(list[0], self->source) == 0)
        add_common(self, list, &n, numbers);
    for (int i = 0; i < n; i++)
        at = quote(command, sizeof command, at, list[i]);
    *measurement = (agb_measurement){.title = strdup(title), .command = strdup(command)};
    story->n++;
    snprintf(self->stage, sizeof self->stage, "(M%zu: %s)", story->n, title);
    agb_options options;
    double start = agb_now_s();
    agb_status status = agb_options_parse(&options, &agb_command_run, n, list, err);
    if (status == AGB_OK)
        status = run(self, &options, measurement, err);
    measurement->seconds = agb_now_s() - start;
    free(copy);
    return status;
}

const agb_results *agb_investigate_results(const agb_investigation *self, size_t id)
{
    return &self->story.measurement[id - 1].results;
}

/* ---- Speaking ---------------------------------------------------------------------------------------------------- */

agb_text agb_told_interval(double low, double high, agb_text (*text)(double))
{
    agb_text out;
    if (isnan(low) || isnan(high))
        snprintf(out.s, sizeof out.s, " (too few runs for an interval)");
    else
        snprintf(out.s, sizeof out.s, " [%.20s, %.20s]", text(low).s, text(high).s);
    return out;
}

agb_text agb_told_time(const agb_summary *wall)
{
    agb_text out;
    snprintf(out.s, sizeof out.s, "%.20s%.56s", agb_text_seconds(wall->median).s,
             agb_told_interval(wall->ci95_low, wall->ci95_high, agb_text_seconds).s);
    return out;
}

agb_text agb_told_ratio(const agb_ratio *speedup, agb_verdict verdict)
{
    agb_text out, interval = agb_told_interval(speedup->ci95_low, speedup->ci95_high, agb_text_number);
    if (agb_is_told(speedup) && verdict == AGB_VERDICT_SAME)
        snprintf(out.s, sizeof out.s, "no difference seen%.50s", interval.s);
    else
        snprintf(out.s, sizeof out.s, "%.20s times as fast%.42s", agb_text_number(speedup->ratio).s, interval.s);
    return out;
}

bool agb_is_told(const agb_ratio *speedup)
{
    return !isnan(speedup->ci95_low) && !isnan(speedup->ci95_high);
}
