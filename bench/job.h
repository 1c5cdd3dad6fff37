/* SPDX-License-Identifier: MIT */
/* One count in a program of its own, so that a tool can be put around it: the parent writes rows and orders into a
 * memory file, the tool starts this program's hidden command `count-once DESCRIPTOR:JOB`, and that command counts
 * twice, once to fault memory in and once between the tool's brackets, and writes its answer back. */
#ifndef AGB_JOB_H
#define AGB_JOB_H

#include "aggbench.h"

enum { AGB_JOB_TEXT = 256, AGB_JOB_PATHS = 4096 };

typedef enum agb_bracket { AGB_BRACKET_CALLGRIND, AGB_BRACKET_PERF } agb_bracket;

/* Orders and answer; plain data that both programs read: they are the same file. */
typedef struct agb_job {
    char aggregator[AGB_JOB_TEXT], params[AGB_JOB_TEXT], hash[AGB_JOB_TEXT];
    char plugins[AGB_JOB_PATHS];    /* one on a line */
    agb_bracket bracket;
    int control, acknowledge;       /* AGB_BRACKET_PERF: descriptors of perf stat's --control */
    uint64_t batch_rows;
    agb_caches caches;              /* that the strategy is told */

    bool done;                      /* and right below is the answer */
    agb_error error;
    agb_stats stats;
    agb_digest digest;
} agb_job;

typedef struct agb_jobs {
    int file;
    size_t n, bytes;
    agb_job *job;                   /* n, shared with the programs that run them */
    agb_table *table;               /* the rows that they count, in the column agb_job_column */
} agb_jobs;

extern const char agb_job_column[];

/* At most most_rows rows of the column that are not NULL: all, or blocks of 256 neighbours evenly spaced over the whole
 * column, so that runs stay and the groups are those of all of it. */
agb_status agb_jobs_create(agb_jobs *out, size_t n, const agb_table *table, const char *column, uint64_t most_rows,
                           agb_error *err);
void agb_jobs_release(agb_jobs *jobs);
/* Empties the job and writes into it who is to count. */
void agb_job_order(agb_job *job, const char *aggregator, const char *params, const char *hash,
                   const char *const *plugins, size_t n_plugins);

/* In the program that was started: does job number `number` of that file. */
agb_status agb_job_do(int file, size_t number, agb_error *err);

#endif
