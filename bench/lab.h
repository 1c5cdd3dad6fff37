/* SPDX-License-Identifier: MIT */
/* Labs: small experiments on the machine itself. Each is one file in bench/labs/ that defines
 * `const agb_lab agb_lab_<file stem>` and fills a record: curves, tables and sentences. How a record becomes a table,
 * JSON, CSV or a picture is not the lab's business, so every lab looks the same in every output. What several labs do
 * alike (turns, workers with one start, disturbances) stands in lab_turns.h, lab_team.h, disturbance.h. */
#ifndef AGB_LAB_H
#define AGB_LAB_H

#include "machine.h"
#include "options.h"
#include "text.h"

/* One measured point. low and high bound it (95 % interval, or least and most: the lab's limits say which); NAN where
 * it was measured once. noisy: the thread lost the core, or the machine was disturbed, while it was measured. */
typedef struct agb_lab_point {
    double x, y, low, high;
    bool noisy;
} agb_lab_point;

typedef struct agb_lab_series {
    char name[64];               /* "random, huge pages" */
    agb_lab_point *points;       /* x ascending */
    size_t n, room;
} agb_lab_series;

/* A place on the x axis that explains a step: "L2 1 MiB". */
typedef struct agb_lab_mark {
    double x;
    char label[48];
} agb_lab_mark;

enum { AGB_LAB_MOST_SERIES = 16, AGB_LAB_MOST_MARKS = 16, AGB_LAB_MOST_COLUMNS = 16 };

typedef struct agb_lab_axis {
    char label[48], unit[24];    /* "working set", "bytes" */
    bool log;
} agb_lab_axis;

typedef struct agb_lab_chart {
    char title[120];
    agb_lab_axis x, y;
    agb_lab_series series[AGB_LAB_MOST_SERIES];
    size_t n_series;
    agb_lab_mark marks[AGB_LAB_MOST_MARKS];
    size_t n_marks;
} agb_lab_chart;

/* Cells are text or numbers; a number that could not be had is NAN and stands as "-" and null. */
typedef struct agb_lab_cell {
    bool is_text;
    double number;
    char text[80];
} agb_lab_cell;

typedef struct agb_lab_column {
    char name[48], unit[24];     /* unit "" for text and plain counts */
} agb_lab_column;

typedef struct agb_lab_table {
    char title[120];
    agb_lab_column columns[AGB_LAB_MOST_COLUMNS];
    size_t n_columns;
    agb_lab_cell *cells;         /* rows * n_columns, row after row */
    size_t n_rows, room;
} agb_lab_table;

typedef struct agb_lab agb_lab;

typedef struct agb_lab_record {
    const agb_lab *lab;
    agb_lab_chart *charts;
    size_t n_charts;
    agb_lab_table *tables;
    size_t n_tables;
    char **findings;             /* what it showed, with the figures; first the one that answers the prediction */
    size_t n_findings;
    char **notes;                /* what disturbed it, what could not be had and why, the cure */
    size_t n_notes;
    size_t noisy, measured;      /* points */
    char failed[1024];           /* why there is no result, or "": only in `lab all`, where the others go on */
    bool short_of_memory;        /* something could not be kept: the record is not whole */
} agb_lab_record;

/* One lab at work. */
typedef struct agb_lab_run {
    const agb_options *options;
    const agb_machine *machine;
    const char *root;            /* before paths of /proc and /sys: "" except in tests */
    double seconds;              /* that the whole lab may take; 0 = its own choice */
    agb_lab_record *record;
    void *progress;              /* an agb_progress_printer, or NULL: silent */
    bool until_told;             /* set by a lab that goes on until it is interrupted: that is then no failure */
} agb_lab_run;

struct agb_lab {
    const char *name, *summary;
    const char *prediction;      /* what to expect, printed before it runs */
    const char *limits;          /* what it cannot say */
    const char *const *options;  /* names of the options it heeds, NULL-ended; see options.c */
    agb_status (*run)(agb_lab_run *run, agb_error *err);    /* a machine that cannot show it is a finding, no failure */
    bool not_in_all;             /* `lab all` leaves it out */
    void (*csv)(FILE *to, const agb_lab_record *record);    /* a shape of its own when asked for alone; mostly NULL */
};

/* ---- For labs: filling the record. All fail only for want of memory. ------------------------------------------- */

/* NULL when there is no memory. Charts and tables may move when the next is added. */
agb_lab_chart *agb_lab_add_chart(agb_lab_record *record, const char *title, agb_lab_axis x, agb_lab_axis y);
/* NULL also when the chart is full. */
agb_lab_series *agb_lab_add_series(agb_lab_chart *chart, const char *name);
agb_status agb_lab_add_point(agb_lab_record *record, agb_lab_series *series, agb_lab_point point, agb_error *err);
void agb_lab_add_mark(agb_lab_chart *chart, double x, const char *label);
agb_lab_table *agb_lab_add_table(agb_lab_record *record, const char *title, const agb_lab_column *columns, size_t n);
/* cells: n_columns of them. */
agb_status agb_lab_add_row(agb_lab_table *table, const agb_lab_cell *cells, agb_error *err);
agb_lab_cell agb_lab_number(double number);
__attribute__((format(printf, 1, 2))) agb_lab_cell agb_lab_text(const char *format, ...);
__attribute__((format(printf, 2, 3))) void agb_lab_find(agb_lab_record *record, const char *format, ...);
__attribute__((format(printf, 2, 3))) void agb_lab_note(agb_lab_record *record, const char *format, ...);
/* How many times `under` is `over`: "1.24 x [1.13, 1.34]"; from the least over the most to the most over the least, so
 * the truth is hardly ever outside. */
agb_text agb_lab_times(const agb_lab_point *over, const agb_lab_point *under);
/* false: their intervals have something in common, so a difference between them is not seen. */
bool agb_lab_differ(const agb_lab_point *a, const agb_lab_point *b);
/* " (from noisy points)" where one of the two is, else "": for the end of a finding that compares them. */
const char *agb_lab_doubt(const agb_lab_point *a, const agb_lab_point *b);
/* "random, huge pages", 3 of 24. Also where an interrupt is noticed: false when the lab must end now. */
bool agb_lab_progress(agb_lab_run *run, const char *what, size_t done, size_t all);
/* What a lab returns after that. */
agb_status agb_lab_stopped(const agb_lab_run *run, agb_error *err);

/* ---- For the command and the report ------------------------------------------------------------------------------ */

/* NULL-ended list made by the Makefile from bench/labs/. */
extern const agb_lab *const agb_labs[];
const agb_lab *agb_lab_named(const char *name);    /* or NULL */
/* Whether it takes this option of the command line. */
bool agb_lab_heeds(const agb_lab *lab, const char *option);

/* Runs a lab into run->record, which is zeroed; the thread may run afterwards where it might before. A signal that
 * agb_interrupt_watch noted is a failure. After any failure the record is only good for release. */
agb_status agb_lab_perform(agb_lab_run *run, const agb_lab *lab, agb_error *err);
void agb_lab_record_release(agb_lab_record *record);
/* Name, summary and prediction: what stands before the work. */
void agb_lab_report_head(FILE *to, const agb_lab *lab);
/* The rest: for each chart a picture and its figures, tables, findings, notes, limits. Braille where the locale is
 * UTF-8, else ASCII. */
void agb_lab_report_body(FILE *to, const agb_lab_record *record);
/* The picture alone, of `width` cells. */
void agb_lab_picture(FILE *to, const agb_lab_chart *chart, int width, bool utf8);
/* "16 KiB", "4", "1.5": a figure in the unit of its axis or column. */
agb_text agb_lab_figure(double value, const char *unit);

/* {"aggbench": 1, "lab": NAME, "summary", "prediction", "limits", "machine": as in results, without pmu,
 *  "noisy": n, "measured": n, "failed": null | text,
 *  "charts": [{"title", "x": {"label", "unit", "log": bool}, "y": {..}, "marks": [{"x", "label"}],
 *              "series": [{"name", "points": [{"x", "y", "low", "high", "noisy"}]}]}],
 *  "tables": [{"title", "columns": [{"name", "unit"}], "rows": [[text | number | null, ..], ..]}],
 *  "findings": [text], "notes": [text]}; `lab all` writes {"aggbench": 1, "machine", "labs": [such objects]}. */
void agb_lab_report_json(FILE *to, const agb_lab_record *const *records, size_t n, const agb_machine *machine,
                         bool as_list);
/* One line for each point and each cell: lab,part,title,series,x,x_unit,value,value_unit,low,high,noisy,text. Of a
 * table, series is the column and x the row. */
void agb_lab_report_csv(FILE *to, const agb_lab_record *const *records, size_t n);

#endif
