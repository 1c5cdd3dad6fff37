/* SPDX-License-Identifier: MIT */
/* The experiment again in fresh processes: see processes.h. */
#include "processes.h"

#include "tool.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The memory file: a header, then for each row its head, its timed runs, and what they are paired with. Both programs
 * are the same file, so plain data will do. */
typedef struct share_head {
    uint64_t rows, run_bytes;
    agb_layout layout;
} share_head;

typedef struct row_head {
    agb_state state;
    char reason[1024];
    uint64_t runs;      /* timed ones */
    bool paired;
} row_head;

agb_status agb_share_parse(agb_share *out, const char *text, agb_error *err)
{
    char end;
    if (sscanf(text, "%d:%u:%zu%c", &out->file, &out->process, &out->source, &end) == 3 && out->process > 0)
        return AGB_OK;
    return agb_fail(err, AGB_ERR_ARGUMENT, "--process-of: %s: not an order: this option is for aggbench itself", text);
}

agb_layout agb_layout_here(const agb_table *table)
{
    agb_column column = {0};
    agb_table_column_at(table, 0, &column);
    return (agb_layout){.text = (uintptr_t)(void *)agb_layout_here, .stack = (uintptr_t)__builtin_frame_address(0),
                        .rows = (uintptr_t)column.values};
}

static size_t rows_of(const agb_field *field)
{
    return field->experiment->n_entries + (field->twin != NULL);
}

/* ---- In a process that was started ------------------------------------------------------------------------------- */

static bool put(FILE *to, const void *bytes, size_t size, size_t n)
{
    return n == 0 || fwrite(bytes, size, n, to) == n;
}

static bool put_row(FILE *to, const agb_result *row)
{
    row_head head = {.state = row->state, .runs = row->n_runs - row->n_warmup, .paired = row->paired_s != NULL};
    memcpy(head.reason, row->reason, sizeof head.reason);
    return put(to, &head, sizeof head, 1) && put(to, row->runs + row->n_warmup, sizeof *row->runs, head.runs) &&
           (!head.paired || put(to, row->paired_s, sizeof *row->paired_s, head.runs));
}

agb_status agb_share_write(const agb_share *share, const agb_field *field, agb_error *err)
{
    share_head head = {rows_of(field), sizeof(agb_run), agb_layout_here(field->contest->table)};
    int copy = dup(share->file);
    FILE *to = copy >= 0 ? fdopen(copy, "w") : NULL;
    bool good = to && put(to, &head, sizeof head, 1);
    for (size_t i = 0; good && i < head.rows; i++)
        good = put_row(to, &field->rows[i]);
    if (to)
        good = fclose(to) == 0 && good;
    return good ? AGB_OK : agb_fail(err, AGB_ERR_IO, "--process-of: its runs cannot be written");
}

/* ---- In the parent ----------------------------------------------------------------------------------------------- */

static bool get(FILE *from, void *bytes, size_t size, size_t n)
{
    return n == 0 || fread(bytes, size, n, from) == n;
}

/* Room for so many more timed runs, and for what they are paired with. */
static bool make_room(agb_result *row, size_t more)
{
    agb_run *runs = realloc(row->runs, (row->n_runs + more + 1) * sizeof *runs);
    row->runs = runs ? runs : row->runs;
    size_t timed = row->n_runs - row->n_warmup + more;
    double *paired = row->paired_s ? realloc(row->paired_s, (timed + 1) * sizeof *paired) : NULL;
    bool good = runs && (paired || !row->paired_s);
    row->paired_s = paired ? paired : row->paired_s;
    return good;
}

static void fail_row(agb_result *row, unsigned process, const row_head *head)
{
    row->state = head->state;
    snprintf(row->reason, sizeof row->reason, "in process %u: %.900s", process + 1, head->reason);
}

/* One row's runs from the file to the end of its list. */
static bool get_row(FILE *from, agb_result *row, unsigned process)
{
    enum { MOST_RUNS = 1 << 20 };
    row_head head;
    if (!get(from, &head, sizeof head, 1) || head.runs > MOST_RUNS || !make_room(row, head.runs))
        return false;
    head.reason[sizeof head.reason - 1] = '\0';
    size_t timed = row->n_runs - row->n_warmup;
    if (!get(from, row->runs + row->n_runs, sizeof *row->runs, head.runs))
        return false;
    for (size_t i = 0; i < head.runs; i++)
        row->runs[row->n_runs + i].process = process;
    if (head.paired) {
        double *pairs = calloc(head.runs + 1, sizeof *pairs);
        bool good = pairs && get(from, pairs, sizeof *pairs, head.runs);
        if (good && row->paired_s)
            memcpy(row->paired_s + timed, pairs, head.runs * sizeof *pairs);
        free(pairs);
        if (!good)
            return false;
    }
    if (row->state == AGB_STATE_OK && head.state != AGB_STATE_OK)
        fail_row(row, process, &head);
    row->n_runs += row->state == AGB_STATE_OK ? head.runs : 0;
    return true;
}

static bool get_rows(agb_field *field, int file, unsigned process)
{
    share_head head;
    int copy = dup(file);
    FILE *from = copy >= 0 ? fdopen(copy, "r") : NULL;
    if (from)
        rewind(from);
    bool good = from && get(from, &head, sizeof head, 1) && head.rows == rows_of(field) &&
                head.run_bytes == sizeof(agb_run);
    for (size_t i = 0; good && i < head.rows; i++)
        good = get_row(from, &field->rows[i], process);
    if (good && field->results->n_layouts < AGB_MOST_LAYOUTS)
        field->results->layouts[field->results->n_layouts++] = head.layout;
    if (from)
        fclose(from);
    return good;
}

/* The command's own words, with the order in front of its options. */
static char **words_of(const agb_experiment *experiment, char *order)
{
    char **argv = calloc((size_t)experiment->n_words + 5, sizeof *argv);
    size_t n = 0;
    if (!argv)
        return NULL;
    argv[n++] = (char *)experiment->program;
    argv[n++] = (char *)experiment->command;
    argv[n++] = (char *)"--process-of";
    argv[n++] = order;
    memcpy(argv + n, experiment->words, (size_t)experiment->n_words * sizeof *argv);
    return argv;
}

/* false: `how` says why. */
static bool run_process(agb_field *field, unsigned process, char *how, size_t size)
{
    const agb_experiment *experiment = field->experiment;
    const double patience_s = 1e6;    /* it has the limits of its own contestants */
    char order[64];
    int file = memfd_create("aggbench runs", MFD_CLOEXEC);
    snprintf(order, sizeof order, "%d:%u:%zu", file, process, field->source);
    char **argv = words_of(experiment, order);
    agb_tool tool = {.said = -1};
    agb_error error = {0};
    bool good = file >= 0 && argv &&
                agb_tool_start(&tool, argv, (const int[]){file, -1}, patience_s, &error) == AGB_OK;
    if (good) {
        while (!agb_tool_is_over(&tool))
            poll(NULL, 0, 10);
        good = agb_tool_succeeded(&tool, how, size);
        if (good && !get_rows(field, file, process)) {
            snprintf(how, size, "its runs cannot be read");
            good = false;
        }
    } else {
        snprintf(how, size, "%.200s", error.text[0] ? error.text : "no memory");
    }
    agb_tool_release(&tool);
    free(argv);
    if (file >= 0)
        close(file);
    return good;
}

agb_status agb_processes_run(agb_field *field, agb_error *err)
{
    unsigned wanted = field->results->settings.processes, done = 1;
    for (unsigned process = 1; process < wanted; process++) {
        char how[300] = "";
        agb_tell_progress(field->experiment, "again in fresh processes", "", process, wanted);
        if (run_process(field, process, how, sizeof how))
            done++;
        else
            agb_results_note(field->results, "process %u of %u: %s", process + 1, wanted, how);
    }
    field->results->processes = done;
    if (done < wanted && done == 1)
        return agb_fail(err, AGB_ERR_IO, "--processes: %u: none of the others could be had: %s", wanted,
                        field->results->notes[field->results->n_notes - 1]);
    return AGB_OK;
}
