/* SPDX-License-Identifier: MIT */
/* A lab's record, and one lab's run from its begin to its end: see lab.h. */
#include "lab.h"

#include "interrupt.h"
#include "os_usage.h"
#include "progress.h"

#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
}

/* Room for one more entry in an array that doubles; NULL when there is no memory, and the array is as it was. */
static void *grow(void **array, size_t n, size_t *room, size_t bytes_each)
{
    if (n == *room) {
        size_t wanted = *room ? 2 * *room : 8;
        void *grown = realloc(*array, wanted * bytes_each);
        if (!grown)
            return NULL;
        *array = grown;
        *room = wanted;
    }
    return (char *)*array + n * bytes_each;
}

/* ---- Filling ----------------------------------------------------------------------------------------------------- */

/* Charts and tables are few: their arrays grow by one. */
static void *grow_by_one(void **array, size_t *n, size_t bytes_each)
{
    void *grown = realloc(*array, (*n + 1) * bytes_each);
    if (!grown)
        return NULL;
    *array = grown;
    void *entry = (char *)grown + *n * bytes_each;
    memset(entry, 0, bytes_each);
    *n += 1;
    return entry;
}

agb_lab_chart *agb_lab_add_chart(agb_lab_record *record, const char *title, agb_lab_axis x, agb_lab_axis y)
{
    agb_lab_chart *chart = grow_by_one((void **)&record->charts, &record->n_charts, sizeof *chart);
    if (!chart)
        return NULL;
    copy_text(chart->title, sizeof chart->title, title);
    chart->x = x;
    chart->y = y;
    return chart;
}

agb_lab_series *agb_lab_add_series(agb_lab_chart *chart, const char *name)
{
    if (!chart || chart->n_series == AGB_LAB_MOST_SERIES)
        return NULL;
    agb_lab_series *series = &chart->series[chart->n_series++];
    *series = (agb_lab_series){0};
    copy_text(series->name, sizeof series->name, name);
    return series;
}

static agb_status no_memory(agb_error *err)
{
    return agb_fail(err, AGB_ERR_MEMORY, "lab: no memory for its own record: free some, and run again");
}

agb_status agb_lab_add_point(agb_lab_record *record, agb_lab_series *series, agb_lab_point point, agb_error *err)
{
    agb_lab_point *place = series ? grow((void **)&series->points, series->n, &series->room, sizeof point) : NULL;
    if (!place)
        return no_memory(err);
    *place = point;
    series->n++;
    record->measured++;
    record->noisy += point.noisy;
    return AGB_OK;
}

void agb_lab_add_mark(agb_lab_chart *chart, double x, const char *label)
{
    if (!chart || chart->n_marks == AGB_LAB_MOST_MARKS)
        return;
    agb_lab_mark *mark = &chart->marks[chart->n_marks++];
    mark->x = x;
    copy_text(mark->label, sizeof mark->label, label);
}

agb_lab_table *agb_lab_add_table(agb_lab_record *record, const char *title, const agb_lab_column *columns, size_t n)
{
    agb_lab_table *table = grow_by_one((void **)&record->tables, &record->n_tables, sizeof *table);
    if (!table)
        return NULL;
    copy_text(table->title, sizeof table->title, title);
    table->n_columns = n < AGB_LAB_MOST_COLUMNS ? n : AGB_LAB_MOST_COLUMNS;
    memcpy(table->columns, columns, table->n_columns * sizeof *columns);
    return table;
}

agb_status agb_lab_add_row(agb_lab_table *table, const agb_lab_cell *cells, agb_error *err)
{
    size_t bytes = table ? table->n_columns * sizeof *cells : 0;
    void *place = table ? grow((void **)&table->cells, table->n_rows, &table->room, bytes) : NULL;
    if (!place)
        return no_memory(err);
    memcpy(place, cells, bytes);
    table->n_rows++;
    return AGB_OK;
}

agb_lab_cell agb_lab_number(double number)
{
    return (agb_lab_cell){.number = number};
}

agb_lab_cell agb_lab_text(const char *format, ...)
{
    agb_lab_cell cell = {.is_text = true, .number = NAN};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(cell.text, sizeof cell.text, format, arguments);
    va_end(arguments);
    return cell;
}

static void add_sentence(agb_lab_record *record, char ***list, size_t *n, const char *format, va_list arguments)
{
    char *sentence;
    if (vasprintf(&sentence, format, arguments) < 0) {
        record->short_of_memory = true;
        return;
    }
    char **place = grow_by_one((void **)list, n, sizeof sentence);
    if (place)
        *place = sentence;
    else
        free(sentence);
    record->short_of_memory |= !place;
}

void agb_lab_find(agb_lab_record *record, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_sentence(record, &record->findings, &record->n_findings, format, arguments);
    va_end(arguments);
}

void agb_lab_note(agb_lab_record *record, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_sentence(record, &record->notes, &record->n_notes, format, arguments);
    va_end(arguments);
}

agb_text agb_lab_times(const agb_lab_point *over, const agb_lab_point *under)
{
    return agb_text_ratio(over->y / under->y, over->low / under->high, over->high / under->low);
}

bool agb_lab_differ(const agb_lab_point *a, const agb_lab_point *b)
{
    return !(a->low <= b->high && b->low <= a->high);
}

const char *agb_lab_doubt(const agb_lab_point *a, const agb_lab_point *b)
{
    return a->noisy || b->noisy ? " (from noisy points)" : "";
}

void agb_lab_record_release(agb_lab_record *record)
{
    for (size_t i = 0; i < record->n_charts; i++)
        for (size_t k = 0; k < record->charts[i].n_series; k++)
            free(record->charts[i].series[k].points);
    for (size_t i = 0; i < record->n_tables; i++)
        free(record->tables[i].cells);
    for (size_t i = 0; i < record->n_findings; i++)
        free(record->findings[i]);
    for (size_t i = 0; i < record->n_notes; i++)
        free(record->notes[i]);
    free(record->charts);
    free(record->tables);
    free(record->findings);
    free(record->notes);
    *record = (agb_lab_record){0};
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

const agb_lab *agb_lab_named(const char *name)
{
    for (const agb_lab *const *lab = agb_labs; *lab; lab++)
        if (strcmp((*lab)->name, name) == 0)
            return *lab;
    return NULL;
}

bool agb_lab_heeds(const agb_lab *lab, const char *option)
{
    for (const char *const *heeded = lab->options; heeded && *heeded; heeded++)
        if (strcmp(*heeded, option) == 0)
            return true;
    return false;
}

bool agb_lab_progress(agb_lab_run *run, const char *what, size_t done, size_t all)
{
    agb_progress progress = {.what = run->record->lab->name, .subject = what, .done = done, .total = all};
    if (run->progress)
        agb_progress_print(run->progress, &progress);
    return agb_interrupt_signal() == 0;
}

agb_status agb_lab_stopped(const agb_lab_run *run, agb_error *err)
{
    int number = agb_interrupt_signal();
    return agb_fail(err, AGB_ERR_IO, "lab: %s: interrupted by %s%s: nothing is reported of it: run it again",
                    run->record->lab->name, number ? "SIG" : "its caller", number ? sigabbrev_np(number) : "");
}

agb_status agb_lab_perform(agb_lab_run *run, const agb_lab *lab, agb_error *err)
{
    cpu_set_t before;
    bool known = sched_getaffinity(0, sizeof before, &before) == 0;
    *run->record = (agb_lab_record){.lab = lab};
    double throttled_s = agb_machine_throttled_s(run->root);
    agb_status status = lab->run(run, err);
    double since_s = agb_machine_throttled_s(run->root) - throttled_s;
    if (throttled_s >= 0 && since_s > 0)
        agb_lab_note(run->record, "the cgroup's CPU quota held this program back for %s meanwhile: use fewer threads, "
                     "or raise the quota", agb_text_seconds(since_s).s);
    if (agb_runq_wait_s(run->root) < 0)
        agb_lab_note(run->record, "whether others took processor time cannot be seen here (no schedstat in /proc): "
                     "points may be noisy without a mark");
    if (known)
        sched_setaffinity(0, sizeof before, &before);
    if (status == AGB_OK && agb_interrupt_signal() && !run->until_told)
        return agb_lab_stopped(run, err);
    return status == AGB_OK && run->record->short_of_memory ? no_memory(err) : status;
}
