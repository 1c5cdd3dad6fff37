/* SPDX-License-Identifier: MIT */
/* Everything that a report prints, and nothing that can run. Filled by experiment.c; read by report_*.c. */
#ifndef AGB_RESULTS_H
#define AGB_RESULTS_H

#include "aggbench.h"
#include "counters.h"
#include "ipc_line.h"
#include "machine.h"
#include "os_usage.h"
#include "simulate.h"
#include "statistics.h"
#include "sweep.h"

typedef enum agb_state {
    AGB_STATE_OK, AGB_STATE_WRONG, AGB_STATE_TIMEOUT, AGB_STATE_CRASHED, AGB_STATE_OUT_OF_MEMORY, AGB_STATE_FAILED,
    AGB_STATE_SKIPPED
} agb_state;

const char *agb_state_name(agb_state state);    /* "out-of-memory" ... */
/* The words of --pages and --memory. */
const char *agb_pages_name(agb_pages pages);
const char *agb_memory_mode_name(agb_memory_mode mode);

typedef struct agb_run {
    unsigned process;              /* 0: this one; others: see processes.h */
    unsigned round, position;      /* rounds count from 0 with the warm-up rounds; position inside the round's order */
    bool warmup, noisy;
    double wall_s, setup_s, teardown_s, verify_s;
    agb_os_usage usage;
    double phase_s[AGB_MOST_PHASES];
    agb_repetition_counts counts;
    double resident_s;             /* the cache-resident twin in the same turn; 0 = there was none */
} agb_run;

/* Where the program, its stack and the rows lay in one process: addresses. */
typedef struct agb_layout {
    uint64_t text, stack, rows;
} agb_layout;

enum { AGB_MOST_LAYOUTS = 128 };

/* Share of the time spent waiting beyond the cache: an estimate from times, see resident.h. Never a measured value. */
typedef struct agb_estimate {
    bool has;
    bool own_twin;                 /* the groups fit in the cache: 0 by construction, no twin was run */
    double waiting_pct, ci95_low_pct, ci95_high_pct;    /* the interval is NAN below AGB_LEAST_FOR_INTERVAL runs */
    double resident_s;             /* the twin's median; NAN when it is its own */
    char reason[200];              /* why there is none; "" when none was wanted */
} agb_estimate;

/* One contestant on one source. */
typedef struct agb_result {
    char *name;                    /* the aggregator's; of a plug-in that could not be loaded: its file's stem */
    char *params;                  /* "bits=12", as given; "" = defaults */
    unsigned threads;              /* where they are swept; 0: settings.threads */
    const agb_aggregator *aggregator;    /* NULL when it could not be loaded */
    int64_t param_values[AGB_MOST_PARAMS];
    size_t source;                 /* index in agb_results.sources */
    size_t heat;                   /* rounds of one heat are pairs */
    agb_state state;
    char reason[1024];             /* why it is not ok, one sentence; "" */
    agb_run *runs;                 /* all that were completed, warm-ups first */
    size_t n_runs, n_warmup;
    double *paired_s;              /* wall time of the baseline in the same timed rounds; NULL = no comparison */

    /* Of the timed runs; only when state is ok. */
    agb_stats stats;               /* of the last run */
    agb_digest digest;
    agb_summary wall;              /* its interval is NAN below AGB_LEAST_FOR_INTERVAL runs */
    double *process_s;             /* median of each process; NULL: there was one */
    size_t n_process;
    double first_s, verify_s;      /* the very first run; median cost of the check */
    double ns_per_row, floor_s, times_floor;
    bool in_cache;                 /* rows and groups are so few that memory's bandwidth is no floor */
    bool too_fast;                 /* less than 0.2 ns a row although the groups are many: doubt it */
    unsigned noisy;
    agb_metrics metrics, phase_metrics[AGB_MOST_PHASES], thread_metrics[AGB_MOST_COUNTED_THREADS];
    unsigned counted_threads;      /* of which thread_metrics holds the first */
    agb_estimate estimate;
    agb_simulation simulation;
    double phase_s[AGB_MOST_PHASES];    /* medians */
    uint64_t accounted_peak_bytes, peak_rss_bytes;
    agb_group *top;                /* with their strings in one malloc */
    size_t n_top;
} agb_result;

typedef struct agb_source_info {
    char *name, *format;
    uint64_t rows, bytes;          /* bytes: of the loaded column in memory */
    uint64_t of_rows;              /* that the source has: more than `rows` where settings.sample left some out;
                                      UINT64_MAX: not known, for nobody read behind the sample's head */
    double load_s, reference_s;
    uint64_t reference_peak_rss_bytes;    /* of the process that counted the reference answer */
    uint64_t groups, nulls;        /* of the reference answer */
    uint64_t resident_groups;      /* of the cache-resident twin, or of the rows themselves */
    bool own_twin;                 /* the groups fit in the cache as they are */
    char no_twin[200];             /* why there is no cache-resident twin; "" when there is one */
    uint64_t selected;             /* rows that met the filter */
    agb_key_layout *layout;        /* of the keys; NULL until the table is loaded */
    bool has_floor;
    agb_floor floor;               /* measured with this source's run */
} agb_source_info;

typedef enum agb_verdict { AGB_VERDICT_SAME, AGB_VERDICT_FASTER, AGB_VERDICT_SLOWER } agb_verdict;

const char *agb_verdict_name(agb_verdict verdict);    /* "no difference seen", "faster", "slower" */

/* A result against the first one of its source. */
typedef struct agb_comparison {
    size_t result, baseline;
    agb_ratio speedup;
    agb_verdict verdict;           /* SAME: the interval holds 1, or the speed-up is within the twin's */
} agb_comparison;

/* The baseline against itself in a second process. */
typedef struct agb_noise {
    size_t baseline;
    agb_ratio ratio;
} agb_noise;

typedef struct agb_settings {
    const char *group_by, *where;  /* where: NULL = all rows */
    const agb_filter *filter;      /* `where`, understood; or NULL */
    agb_row_sample sample;             /* of each source's rows */
    unsigned threads;
    unsigned repetitions, warmup;  /* as done, in each process */
    double precision;              /* wanted, as a share; 0: none. Of each median, or: */
    bool precise_speedups;
    unsigned processes;            /* wanted, at least 1 */
    agb_pages pages;
    agb_memory_mode memory;
    uint64_t memory_budget, seed;
    size_t batch_rows;
    const char *hash;
    size_t top, offset;            /* groups to show, and largest ones left out before them */
    unsigned query;                /* number in queries.c + 1; 0 = none */
    const agb_sweep *sweeps;       /* borrowed */
    size_t n_sweeps;
    const int *cpus;               /* NULL = not pinned */
    unsigned n_cpus;
} agb_settings;

typedef struct agb_replay agb_replay;            /* replay.h */
typedef struct agb_perf_check agb_perf_check;    /* perf_check.h */

typedef struct agb_results {
    agb_machine machine;
    agb_counter_support support;
    bool counters_off;             /* by option */
    const agb_replay *replay;      /* whose counts stand in place of measured ones; NULL = none. Borrowed */
    agb_perf_check *perf_check;    /* NULL: not asked for */
    bool estimated, simulated;     /* by option, or because there is nothing to count */
    const agb_ipc_line *ipc_line;  /* to be laid beside what is counted; NULL = not asked for. Borrowed */
    bool published;                /* this is the published experiment: JSON lays its figures beside ours */
    agb_settings settings;
    unsigned processes;            /* that gave runs */
    agb_layout layouts[AGB_MOST_LAYOUTS];    /* of each process on each source, as far as they fit */
    size_t n_layouts;
    agb_source_info *sources;
    size_t n_sources;
    agb_result *results;
    size_t n_results;
    agb_comparison *comparisons;
    size_t n_comparisons;
    agb_noise *noises;             /* one for each source that has a twin */
    size_t n_noises;
    char **notes;                  /* sentences that must be said with the figures */
    size_t n_notes;
    uint64_t largest_rss_bytes;    /* that any process of the command held, the loading one included */
} agb_results;

void agb_result_release(agb_result *result);
void agb_results_release(agb_results *results);
/* Adds a sentence; one that is there already is not repeated. */
__attribute__((format(printf, 2, 3))) void agb_results_note(agb_results *results, const char *format, ...);

/* Those that could not take part are no failure, unless none could. */
bool agb_results_all_ok(const agb_results *results);
/* Whether any result of this source is right. */
bool agb_results_any_ok(const agb_results *results, size_t source);
/* "bits=12:threads=2": params, and the threads where they are swept; cut to fit. */
void agb_result_params(const agb_result *result, char *params, size_t size);
/* "radix bits=12", cut to fit. */
void agb_result_label(const agb_result *result, char *label, size_t size);
/* "pmu", "replay", or "none", and why some or all counters are missing or doubtful; "" = nothing is. */
const char *agb_results_counters_source(const agb_results *results, const agb_metrics *metrics);
const char *agb_results_counters_reason(const agb_results *results, const agb_metrics *metrics);
/* NULL when there is none. */
const agb_comparison *agb_results_comparison_of(const agb_results *results, size_t result);
const agb_noise *agb_results_noise_of(const agb_results *results, size_t source);
/* How far the medians of several processes lie apart, as a share of the result's; NAN when there was one. */
double agb_process_spread(const agb_result *result);
/* Noisy repetitions and all timed repetitions of the results. */
void agb_results_count_noisy(const agb_results *results, size_t *noisy, size_t *all);

#endif
