/* SPDX-License-Identifier: MIT */
/* The command line: one table of options gives parsing, range checks and --help; one struct carries the outcome. */
#ifndef AGB_OPTIONS_H
#define AGB_OPTIONS_H

#include "aggbench.h"

#include <stdio.h>

enum { AGB_EXIT_FINE = 0, AGB_EXIT_FAILED = 1, AGB_EXIT_USAGE = 2 };
enum { AGB_MOST_WORDS = 64, AGB_MOST_PINS = 256, AGB_MOST_TOP = 1000000 };

typedef enum agb_format { AGB_FORMAT_TABLE, AGB_FORMAT_JSON, AGB_FORMAT_CSV } agb_format;
typedef enum agb_counters_mode {
    AGB_COUNTERS_AUTO, AGB_COUNTERS_PMU, AGB_COUNTERS_OFF, AGB_COUNTERS_REPLAY
} agb_counters_mode;

/* Words of a repeatable option, borrowed from the command line. */
typedef struct agb_words {
    const char *word[AGB_MOST_WORDS];
    size_t n;
} agb_words;

typedef struct agb_pins {
    int cpu[AGB_MOST_PINS];
    unsigned n;
} agb_pins;

struct agb_command;

typedef struct agb_options {
    const struct agb_command *command;
    const struct agb_command *const *commands;    /* all that there are, NULL-ended; set by main */
    const char *operand;            /* SOURCE, or the NAME of verify; NULL when not given */
    agb_words operands;             /* all of them, the first one too */
    char **words;                   /* all words of the command line, as they came */
    int n_words;

    const char *group_by, *where;
    uint64_t query, offset;
    uint64_t head, every;           /* of the source's rows; 0 = all, each */
    agb_words aggregators, plugins;
    agb_words sweeps;
    const char *input_format, *schema;
    const char *columns, *codec;    /* load; codec: a word of the written format, or NULL */
    bool dry_run;                   /* load */

    const char *precision, *process_of;    /* "2%"; an order to one of several processes */
    uint64_t processes, time_limit_s;
    uint64_t threads, repetitions, warmup, batch_rows, top, seed;
    agb_pins pins;
    int pages;                      /* agb_pages */
    int memory;                     /* agb_memory_mode */
    uint64_t memory_budget;         /* bytes, 0 = no limit */
    const char *spill_folder;       /* NULL = /var/tmp */
    const char *hash;
    uint64_t timeout_s;
    bool no_twin, twin;

    uint64_t seconds, hops, working_set;    /* lab, doctor; 0 = its own choice */

    int counters;                   /* agb_counters_mode */
    bool estimate, simulate;        /* beside it, named by the same option */
    const char *events, *record;
    bool perf_check, ipc_line;
    const char *replay;             /* file of recorded counts, with AGB_COUNTERS_REPLAY */
    bool show_counters, show_queries;    /* list --counters, --queries */
    int format;                     /* agb_format */
    const char *output, *groups;
    bool quiet, help;
    bool force;                     /* compare */
    const char *input, *check, *save;    /* verify */
    const char *rows, *grid_groups, *grid_threads, *distributions, *state;    /* matrix */

    uint64_t pid;                   /* doctor, lab runq; 0 = not given */
    bool watch;                     /* lab runq */
    char **program;                 /* doctor: the words behind --, ended by NULL; NULL when there are none */

    uint64_t given[2];              /* bit i: option i of the table stood on the command line */
} agb_options;

typedef struct agb_command {
    const char *name, *summary;
    const char *operand;            /* a word for each: "OLD.json NEW.json"; "FILE.json..." takes many; NULL: none */
    const char *about;              /* paragraphs of --help */
    const char *example;
    const char *interrupted;        /* what an interrupt leaves; NULL: nothing */
    const char *const *options;     /* names, NULL-ended, in the order of --help */
    bool needs_operand;             /* all of them */
    bool hidden;                    /* help does not show it */
    bool takes_program;             /* what stands behind -- is a program with its arguments */
    void (*defaults)(agb_options *options);    /* where they differ from the table's; may be NULL */
    int (*run)(const agb_options *options, agb_error *err);    /* an AGB_EXIT_; err when not fine and not shown yet */
} agb_command;

/* Of a command that takes none but --help, which every command takes and none lists. */
extern const char *const agb_no_options[];

/* Words after the command's name. Fails with AGB_ERR_ARGUMENT or AGB_ERR_NOT_FOUND. */
agb_status agb_options_parse(agb_options *out, const agb_command *command, int n, char **words, agb_error *err);
bool agb_option_given(const agb_options *options, const char *name);

/* How many operands it takes at most. */
size_t agb_command_operands(const agb_command *command);
/* "run SOURCE": the command's name and operands, those it can do without in brackets. */
void agb_help_usage(char *text, size_t size, const agb_command *command);
/* What --help, the manual and the completions say of an option; static text but for `about`. */
typedef struct agb_option_text {
    char about[800];
    const char *name;
    const char *argument;    /* NULL: a flag */
} agb_option_text;

/* false: the command has no option of that name. */
bool agb_option_text_of(const agb_command *command, const char *name, agb_option_text *out);

void agb_help_command(FILE *to, const agb_command *command);
/* "NAME ..." of each entry in two columns, descriptions wrapped at 100 cells. */
void agb_help_entry(FILE *to, const char *left, int width, const char *right);

/* "512M", "2G", "64k", "1048576": bytes, powers of 1024. false when it is none. */
bool agb_parse_bytes(const char *text, uint64_t *bytes);

#endif
