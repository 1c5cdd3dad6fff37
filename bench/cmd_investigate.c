/* SPDX-License-Identifier: MIT */
/* aggbench investigate: the staged investigation of the aggregation itself, ending in a report of twelve fields. */
#include "commands.h"
#include "investigate.h"
#include "json_text.h"
#include "machine.h"
#include "outputs.h"
#include "progress.h"
#include "section.h"

#include <inttypes.h>
#include <string.h>

/* As large as makes the simple table many times the last cache, and the whole end in about two minutes. */
enum { ROWS = 20000000, LEAST_ROWS = 100000, BYTES_PER_ROW = 80 };

/* For the timed part of one measurement; there are ten. */
static const double most_s = 15;

/* In the order of the choices of --format. */
typedef enum form { FORM_MARKDOWN, FORM_HTML, FORM_JSON } form;

/* --format, or what the name of the output says. */
static form form_of(const agb_options *options)
{
    const char *ending = options->output ? strrchr(options->output, '.') : NULL;
    if (agb_option_given(options, "format") || !ending)
        return (form)options->format;
    return strcmp(ending, ".html") == 0 || strcmp(ending, ".htm") == 0 ? FORM_HTML
           : strcmp(ending, ".json") == 0                              ? FORM_JSON
                                                                       : FORM_MARKDOWN;
}

static agb_status write_story(FILE *to, form form, json_t *story, agb_error *err)
{
    if (form == FORM_HTML)
        return agb_report_page_of(to, "investigation", story, err);
    if (form == FORM_MARKDOWN)
        agb_story_markdown(to, story);
    else
        agb_json_write(to, json_incref(story));
    return AGB_OK;
}

static agb_status measure_all(agb_investigation *self, agb_error *err)
{
    static agb_status (*const stages[])(agb_investigation *, agb_error *) = {
        agb_stage_single_shot, agb_stage_baseline, agb_stage_sweep, agb_stage_profile, agb_stage_pages,
        agb_stage_movement, agb_stage_threads, agb_stage_final};
    agb_status status = AGB_OK;
    for (size_t i = 0; i < sizeof stages / sizeof stages[0] && status == AGB_OK; i++)
        status = stages[i](self, err);
    if (status == AGB_OK)
        agb_investigate_conclude(self);
    return status;
}

static agb_status report(const agb_investigation *self, agb_output *output, agb_error *err)
{
    json_t *story = agb_story_json(&self->story);
    if (!story)
        return agb_fail(err, AGB_ERR_MEMORY, "investigate: no memory for the report");
    agb_status status = agb_output_begin(output, err);
    if (status == AGB_OK)
        status = write_story(output->file, form_of(self->options), story, err);
    if (status == AGB_OK)
        status = agb_output_close(output, err);
    json_decref(story);
    return status;
}

static void standard_source(char *source, size_t size)
{
    agb_machine machine;
    agb_machine_read(&machine);
    uint64_t rows = ROWS;
    while (rows > LEAST_ROWS && machine.memory_available_bytes < rows * BYTES_PER_ROW)
        rows /= 2;
    snprintf(source, size, "synth:hits,rows=%" PRIu64, rows);
}

static int investigate(const agb_options *options, agb_error *err)
{
    char source[64];
    agb_output output = {0};
    agb_progress_printer printer = agb_progress_printer_of(stderr, options->quiet, true);
    agb_investigation self = {.options = options, .source = options->operand, .printer = &printer, .most_s = most_s,
                              .processors = agb_option_given(options, "threads") ? (unsigned)options->threads
                                                                                 : agb_machine_default_threads("")};
    if (!self.source) {
        standard_source(source, sizeof source);
        self.source = source;
    }
    agb_status status = agb_source_is_stream(self.source)
                            ? agb_fail(err, AGB_ERR_ARGUMENT, "investigate: %s: is read ten times: give a file, not a "
                                       "stream", self.source)
                            : agb_output_prepare_apart(&output, "output", options->output, &self.source, 1, err);
    if (status == AGB_OK)
        status = agb_story_create(&self.story, err);
    if (status == AGB_OK)
        status = measure_all(&self, err);
    agb_progress_end(&printer);
    if (status == AGB_OK)
        status = report(&self, &output, err);
    agb_story_release(&self.story);
    agb_output_release(&output);
    return agb_exit_of(status);
}

static const char *const investigate_options[] = {"group-by", "where", "input-format", "threads", "timeout", "seed",
                                                  "format", "output", "quiet", NULL};

const agb_command agb_command_investigate = {
    .name = "investigate", .operand = "SOURCE",
    .summary = "the whole staged investigation, ending in a report of twelve fields",
    .about = "Investigates the aggregation itself as a performance engineer would: a single shot and why it means\n"
             "nothing, the corrected baseline and sweep, the profile, hypotheses that could have failed, the fix,\n"
             "where the bottleneck went, threads and their place, before and after. Every claim is bounded by an\n"
             "interval and names its measurement, and every measurement the command that repeats it. Without\n"
             "SOURCE it generates 20 million hits-like rows, and ends in about two minutes.",
    .example = "aggbench investigate --output investigation.html",
    .options = investigate_options, .run = investigate};
