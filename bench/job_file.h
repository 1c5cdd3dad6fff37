/* SPDX-License-Identifier: MIT */
/* The file that a job's two programs share: a header, the jobs, then the columns, each at its place. Private to job.c
 * and job_file.c. */
#ifndef AGB_JOB_FILE_H
#define AGB_JOB_FILE_H

#include "job.h"

enum { AGB_JOB_MOST_COLUMNS = 32 };

/* Strings are stored as agb_bytes whose data counts from the beginning of the file. */
typedef struct agb_job_column {
    char name[AGB_JOB_TEXT];
    agb_type type;
    uint64_t at;    /* of its values, in bytes from the beginning of the file */
} agb_job_column;

typedef struct agb_job_header {
    uint64_t jobs, rows, columns;
    char group_by[AGB_JOB_LONG_TEXT], where[AGB_JOB_LONG_TEXT];    /* where "": all rows */
    agb_job_column column[AGB_JOB_MOST_COLUMNS];
} agb_job_header;

static inline agb_job *agb_job_at(agb_job_header *header, size_t number)
{
    return (agb_job *)(header + 1) + number;
}

/* Lays the file's columns out as a table, in either program. After a failure, too, release it. */
agb_status agb_job_rows_lend(agb_job_rows *out, agb_job_header *header, agb_error *err);
void agb_job_rows_release(agb_job_rows *rows);

#endif
