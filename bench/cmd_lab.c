/* SPDX-License-Identifier: MIT */
/* aggbench lab: small experiments on the machine itself, one after the other. */
#include "commands.h"
#include "interrupt.h"
#include "lab.h"
#include "output.h"
#include "pins.h"
#include "progress.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_CELLS = 14 };

/* Options of the command itself; all others are a lab's, which must heed them. */
static const char *const common_options[] = {"format", "output", "quiet", "help", NULL};

typedef struct work {
    const agb_options *options;
    const agb_lab **labs;
    size_t n;
    bool all;
    agb_lab_record *records;
    agb_machine machine;
    agb_output output;
    bool at_once;         /* a table on standard output: each lab is printed when it is done */
} work;

/* ---- Which ------------------------------------------------------------------------------------------------------- */

static void print_list(FILE *to)
{
    fprintf(to, "Labs: aggbench lab NAME, or `all`\n");
    for (const agb_lab *const *lab = agb_labs; *lab; lab++) {
        char heeds[400] = "heeds";
        for (const char *const *option = (*lab)->options; option && *option; option++)
            snprintf(heeds + strlen(heeds), sizeof heeds - strlen(heeds), " --%s", *option);
        agb_help_entry(to, (*lab)->name, NAME_CELLS, (*lab)->summary);
        agb_help_entry(to, "", NAME_CELLS, heeds);
    }
}

static size_t count_labs(void)
{
    size_t n = 0;
    while (agb_labs[n])
        n++;
    return n;
}

static agb_status no_such_lab(const char *name, agb_error *err)
{
    const char **names = calloc(count_labs() + 2, sizeof *names);
    for (size_t i = 0; names && agb_labs[i]; i++)
        names[i] = agb_labs[i]->name;
    if (names)
        names[count_labs()] = "all";
    const char *near = names ? agb_nearest_name(names, name) : NULL;
    agb_fail(err, AGB_ERR_NOT_FOUND, "lab: %s: no such lab%s%s: `aggbench lab` lists them", name,
             near ? ": did you mean " : "", near ? near : "");
    free(names);
    return AGB_ERR_NOT_FOUND;
}

static agb_status choose(work *work, agb_error *err)
{
    const char *name = work->options->operand;
    work->all = strcmp(name, "all") == 0;
    work->labs = calloc(count_labs() + 1, sizeof *work->labs);
    work->records = calloc(count_labs() + 1, sizeof *work->records);
    if (!work->labs || !work->records)
        return agb_fail(err, AGB_ERR_MEMORY, "lab: no memory for the list of labs: free some, and run again");
    if (!work->all && !agb_lab_named(name))
        return no_such_lab(name, err);
    for (size_t i = 0; agb_labs[i]; i++)
        if (work->all ? !agb_labs[i]->not_in_all : agb_labs[i] == agb_lab_named(name))
            work->labs[work->n++] = agb_labs[i];
    return AGB_OK;
}

static bool is_common(const char *name)
{
    for (const char *const *option = common_options; *option; option++)
        if (strcmp(*option, name) == 0)
            return true;
    return false;
}

/* An option that no chosen lab heeds would be ignored without a word. */
static agb_status check_options(const work *work, agb_error *err)
{
    for (const char *const *name = work->options->command->options; *name; name++) {
        bool heeded = is_common(*name) || !agb_option_given(work->options, *name);
        for (size_t i = 0; i < work->n && !heeded; i++)
            heeded = agb_lab_heeds(work->labs[i], *name);
        if (!heeded)
            return agb_fail(err, AGB_ERR_ARGUMENT, "lab: --%s: %s does not heed it: `aggbench lab` lists what each "
                            "lab heeds", *name, work->all ? "no lab of `all`" : work->labs[0]->name);
    }
    const agb_pins *pins = &work->options->pins;
    unsigned threads = work->options->threads ? (unsigned)work->options->threads : pins->n;
    return pins->n ? agb_pins_check(pins, threads, err) : AGB_OK;
}

/* ---- The work ---------------------------------------------------------------------------------------------------- */

/* What is to be expected is said before anything is known. */
static void announce(const work *work, const agb_lab *lab)
{
    FILE *to = work->at_once ? stdout : stderr;
    if (!work->at_once && work->options->quiet)
        return;
    agb_lab_report_head(to, lab);
    fflush(to);
}

/* One lab. In `all` the others go on after a failure, unless it was an interrupt. */
static agb_status run_one(work *work, size_t i, agb_error *err)
{
    agb_progress_printer printer = agb_progress_printer_of(stderr, work->options->quiet, work->options->watch);
    agb_lab_run run = {.options = work->options, .machine = &work->machine, .root = "",
                       .seconds = (double)work->options->seconds / (double)work->n, .record = &work->records[i],
                       .progress = printer.style == AGB_PROGRESS_NONE ? NULL : &printer};
    announce(work, work->labs[i]);
    agb_status status = agb_lab_perform(&run, work->labs[i], err);
    agb_progress_end(&printer);
    if (status != AGB_OK && work->all && !agb_interrupt_signal()) {
        agb_lab_record_release(run.record);
        *run.record = (agb_lab_record){.lab = work->labs[i]};
        snprintf(run.record->failed, sizeof run.record->failed, "%s", err->text);
        status = AGB_OK;
    }
    if (status == AGB_OK && work->at_once) {
        agb_lab_report_body(stdout, run.record);
        fputc('\n', stdout);
        fflush(stdout);
    }
    return status;
}

static agb_status write_report(work *work, agb_error *err)
{
    const agb_lab_record **records = calloc(work->n, sizeof *records);
    if (!records)
        return agb_fail(err, AGB_ERR_MEMORY, "lab: no memory for the report: free some, and run again");
    for (size_t i = 0; i < work->n; i++)
        records[i] = &work->records[i];
    agb_status status = agb_output_begin(&work->output, err);
    FILE *to = work->output.file;
    if (status == AGB_OK && work->options->format == AGB_FORMAT_JSON) {
        agb_lab_report_json(to, records, work->n, &work->machine, work->all);
    } else if (status == AGB_OK && work->options->format == AGB_FORMAT_CSV) {
        agb_lab_report_csv(to, records, work->n);
    } else if (status == AGB_OK) {
        for (size_t i = 0; i < work->n && !work->at_once; i++) {
            agb_lab_report_head(to, work->labs[i]);
            agb_lab_report_body(to, records[i]);
            fputc('\n', to);
        }
        agb_report_machine(to, &work->machine);
    }
    free(records);
    return status == AGB_OK ? agb_output_close(&work->output, err) : status;
}

static agb_status do_work(work *work, agb_error *err)
{
    agb_interrupt interrupt;
    agb_status status = AGB_OK;
    agb_interrupt_watch(&interrupt);
    for (size_t i = 0; i < work->n && status == AGB_OK; i++)
        status = run_one(work, i, err);
    agb_interrupt_release(&interrupt);
    if (status == AGB_OK)
        status = write_report(work, err);
    for (size_t i = 0; i < work->n && status == AGB_OK; i++)
        if (work->records[i].failed[0])
            status = agb_fail(err, AGB_ERR_IO, "%s", work->records[i].failed);
    return status;
}

static int lab(const agb_options *options, agb_error *err)
{
    work work = {.options = options, .at_once = options->format == AGB_FORMAT_TABLE && !options->output};
    if (!options->operand) {
        print_list(stdout);
        return AGB_EXIT_FINE;
    }
    agb_status status = choose(&work, err);
    if (status == AGB_OK)
        status = check_options(&work, err);
    if (status == AGB_OK)
        status = agb_output_prepare(&work.output, options->output, err);
    int code = agb_exit_of(status);
    if (status == AGB_OK) {
        agb_machine_read(&work.machine);
        code = do_work(&work, err) == AGB_OK ? AGB_EXIT_FINE : AGB_EXIT_FAILED;
    }
    for (size_t i = 0; i < work.n; i++)
        agb_lab_record_release(&work.records[i]);
    agb_output_release(&work.output);
    free(work.records);
    free(work.labs);
    return code;
}

static const char *const lab_options[] = {"seconds", "threads", "pin", "pages", "hops", "working-set", "pid", "watch",
                                          "format", "output", "quiet", NULL};

static void defaults(agb_options *options)
{
    options->threads = 0;    /* as many as there are processors: the lab's choice */
}

const agb_command agb_command_lab = {
    .name = "lab", .operand = "NAME",
    .summary = "small experiments: what to expect, a picture, what it showed",
    .about = "Runs one lab, or all of them (`all`, some minutes). Each says what to expect before it runs, then\n"
             "shows a picture, the same in figures with intervals, what it found and what it cannot say. Points\n"
             "that were disturbed are marked noisy. Without NAME: the list of labs and the options each heeds.",
    .example = "aggbench lab chase",
    .options = lab_options, .defaults = defaults, .run = lab};
