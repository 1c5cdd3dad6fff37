/* SPDX-License-Identifier: MIT */
/* Labs for programs: the shape stands in lab.h and is only ever added to. */
#include "lab.h"

#include "json_text.h"
#include "machine_json.h"

static json_t *axis_json(const agb_lab_axis *axis)
{
    return json_pack("{s:s, s:s, s:b}", "label", axis->label, "unit", axis->unit, "log", axis->log);
}

static json_t *points_json(const agb_lab_series *series)
{
    json_t *points = json_array();
    for (size_t i = 0; i < series->n; i++) {
        const agb_lab_point *point = &series->points[i];
        json_array_append_new(points, json_pack("{s:o, s:o, s:o, s:o, s:b}", "x", agb_json_number(point->x), "y",
                                                agb_json_number(point->y), "low", agb_json_number(point->low), "high",
                                                agb_json_number(point->high), "noisy", point->noisy));
    }
    return points;
}

static json_t *chart_json(const agb_lab_chart *chart)
{
    json_t *series = json_array(), *marks = json_array();
    for (size_t i = 0; i < chart->n_series; i++)
        json_array_append_new(series, json_pack("{s:o, s:o}", "name", agb_json_text(chart->series[i].name), "points",
                                                points_json(&chart->series[i])));
    for (size_t i = 0; i < chart->n_marks; i++)
        json_array_append_new(marks, json_pack("{s:o, s:o}", "x", agb_json_number(chart->marks[i].x), "label",
                                               agb_json_text(chart->marks[i].label)));
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "title", agb_json_text(chart->title), "x", axis_json(&chart->x), "y",
                     axis_json(&chart->y), "marks", marks, "series", series);
}

static json_t *table_json(const agb_lab_table *table)
{
    json_t *columns = json_array(), *rows = json_array();
    for (size_t i = 0; i < table->n_columns; i++)
        json_array_append_new(columns, json_pack("{s:s, s:s}", "name", table->columns[i].name, "unit",
                                                 table->columns[i].unit));
    for (size_t i = 0; i < table->n_rows; i++) {
        json_t *row = json_array();
        for (size_t k = 0; k < table->n_columns; k++) {
            const agb_lab_cell *cell = &table->cells[i * table->n_columns + k];
            json_array_append_new(row, cell->is_text ? agb_json_text(cell->text) : agb_json_number(cell->number));
        }
        json_array_append_new(rows, row);
    }
    return json_pack("{s:o, s:o, s:o}", "title", agb_json_text(table->title), "columns", columns, "rows", rows);
}

static json_t *sentences_json(char *const *sentences, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, agb_json_text(sentences[i]));
    return list;
}

static json_t *record_json(const agb_lab_record *record, const agb_machine *machine)
{
    json_t *charts = json_array(), *tables = json_array();
    for (size_t i = 0; i < record->n_charts; i++)
        json_array_append_new(charts, chart_json(&record->charts[i]));
    for (size_t i = 0; i < record->n_tables; i++)
        json_array_append_new(tables, table_json(&record->tables[i]));
    const agb_lab *lab = record->lab;
    return json_pack("{s:i, s:s, s:s, s:s, s:s, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "aggbench", 1, "lab",
                     lab->name, "summary", lab->summary, "prediction", lab->prediction, "limits", lab->limits,
                     "machine", agb_machine_json(machine), "noisy", (json_int_t)record->noisy, "measured",
                     (json_int_t)record->measured, "failed", agb_json_text_or_null(record->failed), "charts", charts,
                     "tables", tables, "findings", sentences_json(record->findings, record->n_findings), "notes",
                     sentences_json(record->notes, record->n_notes));
}

void agb_lab_report_json(FILE *to, const agb_lab_record *const *records, size_t n, const agb_machine *machine,
                         bool as_list)
{
    json_t *labs = json_array(), *out;
    for (size_t i = 0; i < n; i++)
        json_array_append_new(labs, record_json(records[i], machine));
    if (as_list)
        out = json_pack("{s:i, s:o, s:O}", "aggbench", 1, "machine", agb_machine_json(machine), "labs", labs);
    else
        out = json_incref(json_array_get(labs, 0));
    json_decref(labs);
    agb_json_write(to, out);
}
