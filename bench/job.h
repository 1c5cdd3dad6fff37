/* SPDX-License-Identifier: MIT */
/* One count in a program of its own, so that a tool can be put around it: the parent writes rows and orders into a
 * memory file, the tool starts this program's hidden command `count-once DESCRIPTOR:JOB`, and that command counts
 * twice, once to fault memory in and once between the tool's brackets, and writes its answer back. */
#ifndef AGB_JOB_H
#define AGB_JOB_H

#include "aggbench.h"

enum { AGB_JOB_TEXT = 256, AGB_JOB_LONG_TEXT = 4096 };

typedef enum agb_bracket { AGB_BRACKET_CALLGRIND, AGB_BRACKET_PERF } agb_bracket;

/* Orders and answer; plain data that both programs read: they are the same file. */
typedef struct agb_job {
    char aggregator[AGB_JOB_TEXT], params[AGB_JOB_TEXT], hash[AGB_JOB_TEXT];
    char plugins[AGB_JOB_LONG_TEXT];    /* one on a line */
    agb_bracket bracket;
    int control, acknowledge;           /* AGB_BRACKET_PERF: descriptors of perf stat's --control */
    uint64_t batch_rows;
    agb_caches caches;                  /* that the strategy is told */

    bool done;                          /* and right below is the answer */
    agb_error error;
    agb_stats stats;
    agb_digest digest;
} agb_job;

/* What all jobs of a file count. */
typedef struct agb_job_query {
    const agb_table *table;
    const char *group_by, *where;       /* where: NULL = all rows */
    const agb_filter *filter;           /* the same, understood */
} agb_job_query;

/* The rows of a file as a table. */
typedef struct agb_job_rows {
    agb_table *table;
    agb_bytes **strings;                /* of its string columns; their bytes stand in the file */
    size_t columns;
} agb_job_rows;

typedef struct agb_jobs {
    int file;
    size_t n, bytes;
    agb_job *job;                       /* n, shared with the programs that run them */
    agb_job_rows rows;                  /* that they count */
} agb_jobs;

/* At most most_rows rows that have no NULL where the query looks: all, or blocks of 256 neighbours evenly spaced over
 * the whole table, so that runs stay and the groups are those of all of it. */
agb_status agb_jobs_create(agb_jobs *out, size_t n, const agb_job_query *query, uint64_t most_rows, agb_error *err);
void agb_jobs_release(agb_jobs *jobs);
/* Empties the job and writes into it who is to count. */
void agb_job_order(agb_job *job, const char *aggregator, const char *params, const char *hash,
                   const char *const *plugins, size_t n_plugins);

/* In the program that was started: does job number `number` of that file. */
agb_status agb_job_do(int file, size_t number, agb_error *err);

#endif
