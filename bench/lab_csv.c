/* SPDX-License-Identifier: MIT */
/* Labs for spreadsheets and scripts: one line for each figure, the same columns whatever the lab, so that all of them
 * go into one file. What could not be had is an empty field. */
#include "lab.h"

#include "csv_field.h"

#include <math.h>

static void begin_line(FILE *to, const agb_lab_record *record, const char *part, const char *title, const char *series)
{
    fputs(record->lab->name, to);
    fprintf(to, ",%s", part);
    agb_csv_text(to, title);
    agb_csv_text(to, series);
}

static void print_chart(FILE *to, const agb_lab_record *record, const agb_lab_chart *chart)
{
    for (size_t i = 0; i < chart->n_series; i++) {
        for (size_t k = 0; k < chart->series[i].n; k++) {
            const agb_lab_point *point = &chart->series[i].points[k];
            begin_line(to, record, "chart", chart->title, chart->series[i].name);
            agb_csv_number(to, point->x);
            agb_csv_text(to, chart->x.unit);
            agb_csv_number(to, point->y);
            agb_csv_text(to, chart->y.unit);
            agb_csv_number(to, point->low);
            agb_csv_number(to, point->high);
            fprintf(to, ",%d,\n", point->noisy);
        }
    }
}

static void print_table(FILE *to, const agb_lab_record *record, const agb_lab_table *table)
{
    for (size_t i = 0; i < table->n_rows * table->n_columns; i++) {
        const agb_lab_column *column = &table->columns[i % table->n_columns];
        const agb_lab_cell *cell = &table->cells[i];
        begin_line(to, record, "table", table->title, column->name);
        fprintf(to, ",%zu,\"row\"", i / table->n_columns);
        agb_csv_number(to, cell->is_text ? NAN : cell->number);
        agb_csv_text(to, column->unit);
        fputs(",,,", to);
        if (cell->is_text)
            agb_csv_text(to, cell->text);
        else
            fputc(',', to);
        fputc('\n', to);
    }
}

void agb_lab_report_csv(FILE *to, const agb_lab_record *const *records, size_t n)
{
    if (n == 1 && records[0]->lab->csv) {
        records[0]->lab->csv(to, records[0]);
        return;
    }
    fputs("lab,part,title,series,x,x_unit,value,value_unit,low,high,noisy,text\n", to);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < records[i]->n_charts; k++)
            print_chart(to, records[i], &records[i]->charts[k]);
        for (size_t k = 0; k < records[i]->n_tables; k++)
            print_table(to, records[i], &records[i]->tables[k]);
    }
}
