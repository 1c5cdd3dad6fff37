/* SPDX-License-Identifier: MIT */
/* The rows of the option table: see option_table.h. */
#include "option_table.h"

#include <stddef.h>

#define FIELD(name) offsetof(agb_options, name)

static const char *const pages_choices[] = {"default", "4k", "huge", NULL};
static const char *const memory_choices[] = {"warm", "fresh", NULL};
static const char *const format_choices[] = {"table", "json", "csv", NULL};    /* in the order of agb_format */
static const char *const story_format_choices[] = {"markdown", "html", "json", NULL};    /* cmd_investigate.c */
static const char *const plain_format_choices[] = {"table", "json", NULL};

const agb_option agb_option_table[] = {
    {.name = "group-by", .command = "verify", .argument = "COL", .kind = IS_TEXT, .offset = FIELD(group_by),
     .about = "the column of --input that is counted (key, and what else a saved input has)"},
    {.name = "input", .argument = "SOURCE", .kind = IS_TEXT, .offset = FIELD(input),
     .about = "try these rows in every setup, instead of all kinds of check: a saved input, or any source"},
    {.name = "check", .argument = "KIND", .kind = IS_TEXT, .offset = FIELD(check),
     .about = "only this kind of check, by the name that its line in the output has, such as guarded (all)"},
    {.name = "save", .argument = "FILE.agb", .kind = IS_TEXT, .offset = FIELD(save),
     .about = "where the smallest input that fails goes (NAME-failing.agb; with --input: nowhere)"},
    {.name = "group-by", .argument = "COL[,COL]", .kind = IS_TEXT, .offset = FIELD(group_by),
     .about = "the columns whose values are counted, integers and strings in any mix; also COL-N, COL+N and a whole "
              "number, as in ClickBench (UserID)"},
    {.name = "where", .argument = "CONDITIONS", .kind = IS_TEXT, .offset = FIELD(where),
     .about = "count only rows that meet all of them: COL = 5 AND COL <> '' AND COL IN (-1, 6); operators = <> < <= > "
              ">= IN. Strings and dates stand in single quotes; a date is a number of days in a 32-bit column, of "
              "seconds in a 64-bit one. The filter runs inside the clock"},
    {.name = "query", .argument = "N", .kind = IS_COUNT, .offset = FIELD(query), .standard = UINT64_MAX, .least = 0,
     .most = 42,
     .about = "what query N of ClickBench asks, counted from 0: `aggbench list --queries` shows them"},
    {.name = "head", .command = "load", .argument = "N", .kind = IS_COUNT, .offset = FIELD(head), .least = 1,
     .most = INT64_MAX,
     .about = "only the first N rows of SOURCE: what stands behind them is neither read nor checked (all rows)"},
    {.name = "head", .argument = "N", .kind = IS_COUNT, .offset = FIELD(head), .least = 1, .most = INT64_MAX,
     .about = "only the first N rows of SOURCE: what stands behind them is neither read nor checked. A file in the "
              "order of time begins with few of its values: the report says how many groups they hold (all rows)"},
    {.name = "every", .argument = "K", .kind = IS_COUNT, .offset = FIELD(every), .least = 1, .most = INT64_MAX,
     .about = "only the first row and each K-th after it: a sample from all over SOURCE; with --head, of the first N. "
              "All of SOURCE is read for it (each row)"},
    {.name = "aggregator", .command = "pivot", .argument = "NAME[:p=v...]", .kind = IS_WORDS,
     .offset = FIELD(aggregators),
     .about = "contestant with its parameters; repeatable, or a comma list, or `all` (naive,prefetch,radix). The first "
              "one is the baseline of the comparisons"},
    {.name = "aggregator", .argument = "NAME[:p=v...]", .kind = IS_WORDS, .offset = FIELD(aggregators),
     .about = "contestant with its parameters; repeatable, or a comma list, or `all` (all). The first one is the "
              "baseline of the comparisons"},
    {.name = "plugin", .command = "list", .argument = "FILE.so", .kind = IS_WORDS, .offset = FIELD(plugins),
     .about = "show the aggregator of this shared object, too; repeatable"},
    {.name = "plugin", .command = "verify", .argument = "FILE.so", .kind = IS_WORDS, .offset = FIELD(plugins),
     .about = "check the aggregator of this shared object; of several the last one, unless NAME says which"},
    {.name = "plugin", .argument = "FILE.so", .kind = IS_WORDS, .offset = FIELD(plugins),
     .about = "load an aggregator from a shared object and let it take part; repeatable. It runs as code of yours, in "
              "processes of its own"},
    {.name = "sweep", .argument = "p=a..b", .kind = IS_WORDS, .offset = FIELD(sweeps),
     .about = "one contestant for each value of an aggregator's parameter, or one source for each value of a synth "
              "key (rows, groups, skew, run ...); also p=a..b/step, p=a..b*factor and p=a,b,c. threads=1,2: the same "
              "strategies on so many workers, and what the more bring over the fewest. Twice: every pair"},
    {.name = "rows", .argument = "N", .kind = IS_TEXT, .offset = FIELD(rows),
     .about = "rows of each cell, also as 10M or 1e7 (4M)"},
    {.name = "groups", .command = "matrix", .argument = "LIST", .kind = IS_TEXT, .offset = FIELD(grid_groups),
     .about = "numbers of groups, as 10,1000 or 10..1e6; more than the rows can have are left out (10..1e8)"},
    {.name = "distributions", .argument = "LIST", .kind = IS_TEXT, .offset = FIELD(distributions),
     .about = "of uniform, zipf0.8, zipf1.0, zipf1.2, hits (equal keys stand together), sorted, giant (one group has "
              "nine rows of ten), or `all` (uniform, zipf0.8, zipf1.2, hits, sorted)"},
    {.name = "threads", .command = "matrix", .argument = "LIST", .kind = IS_TEXT, .offset = FIELD(grid_threads),
     .about = "numbers of workers, as 1,4 (1, 2, 4 ... and all)"},
    {.name = "state", .argument = "FILE", .kind = IS_TEXT, .offset = FIELD(state),
     .about = "where finished cells are kept (aggbench-matrix.state)"},
    {.name = "dry-run", .command = "matrix", .kind = IS_FLAG, .offset = FIELD(dry_run),
     .about = "only say how long it will take, by a short pilot: nothing is written"},
    {.name = "threads", .command = "lab", .argument = "N", .kind = IS_COUNT, .offset = FIELD(threads), .least = 1,
     .most = 1024, .about = "most workers (as many as this process may have processors)"},
    {.name = "pages", .command = "lab", .argument = "default|4k|huge", .kind = IS_CHOICE, .offset = FIELD(pages),
     .choices = pages_choices, .about = "page size of the memory that is gone through (the lab's own choice)"},
    {.name = "pin", .command = "lab", .argument = "CPU[,CPU]", .kind = IS_PINS, .offset = FIELD(pins),
     .about = "processors the workers stay on, one each (the allowed ones, in their order)"},
    {.name = "threads", .command = "load", .argument = "N", .kind = IS_COUNT, .offset = FIELD(threads), .standard = 1,
     .least = 1, .most = 1024, .about = "workers that read, decode and pack"},
    {.name = "threads", .argument = "N", .kind = IS_COUNT, .offset = FIELD(threads), .standard = 1, .least = 1,
     .most = 1024, .about = "workers of the aggregators that can use several"},
    {.name = "seconds", .command = "doctor", .argument = "N", .kind = IS_COUNT, .offset = FIELD(seconds), .least = 1,
     .most = 3600, .about = "how long to watch (3; a program: until it ends)"},
    {.name = "seconds", .argument = "N", .kind = IS_COUNT, .offset = FIELD(seconds), .least = 1, .most = 3600,
     .about = "about how long it may take, all labs together (each lab's own choice)"},
    {.name = "hops", .argument = "N", .kind = IS_COUNT, .offset = FIELD(hops), .least = 1, .most = 1ull << 40,
     .about = "loads of one measurement (as many as fill its time)"},
    {.name = "working-set", .argument = "BYTES", .kind = IS_BYTES, .offset = FIELD(working_set), .least = 1 << 16,
     .most = 1ull << 40, .about = "memory that is gone through, the largest of a curve, as 64M or 1G"},
    {.name = "pin", .argument = "CPU[,CPU]", .kind = IS_PINS, .offset = FIELD(pins),
     .about = "processors the workers stay on, one each; without --threads there are as many workers (one worker: "
              "the last allowed processor; more: none)"},
    {.name = "repetitions", .argument = "N", .kind = IS_COUNT, .offset = FIELD(repetitions), .standard = 5, .least = 1,
     .most = 10000, .about = "timed runs of each contestant"},
    {.name = "precision", .argument = "P%|speedup:P%", .kind = IS_TEXT, .offset = FIELD(precision),
     .about = "repeat until the 95 % interval of every median, or of every speed-up, ends within P percent of it; "
              "--repetitions is then the most (100 unless given)"},
    {.name = "processes", .argument = "N", .kind = IS_COUNT, .offset = FIELD(processes), .standard = 1, .least = 1,
     .most = 100, .about = "run all of it in so many fresh processes, each with a memory layout of its own; from 3 on "
                           "differences under 5 % may be claimed"},
    {.name = "time-limit", .command = "matrix", .argument = "SECONDS", .kind = IS_COUNT, .offset = FIELD(time_limit_s),
     .least = 0, .most = 10000000, .about = "start no further cell that would end later than this; 0 = no limit"},
    {.name = "time-limit", .argument = "SECONDS", .kind = IS_COUNT, .offset = FIELD(time_limit_s), .least = 0,
     .most = 10000000, .about = "start no further round that would end later than this; 0 = no limit"},
    {.name = "process-of", .argument = "FILE:PROCESS:SOURCE", .kind = IS_TEXT, .offset = FIELD(process_of),
     .about = "for aggbench itself"},
    {.name = "warmup", .argument = "N", .kind = IS_COUNT, .offset = FIELD(warmup), .standard = 1, .least = 0,
     .most = 1000, .about = "runs of each contestant before them, kept out of the statistics"},
    {.name = "timeout", .argument = "SECONDS", .kind = IS_COUNT, .offset = FIELD(timeout_s), .standard = 300,
     .least = 1, .most = 86400, .about = "most that one run may take before it is ended"},
    {.name = "seed", .argument = "N", .kind = IS_COUNT, .offset = FIELD(seed), .standard = 1, .least = 0,
     .most = INT64_MAX, .about = "of the random order of contestants and of the intervals"},
    {.name = "twin", .kind = IS_FLAG, .offset = FIELD(twin),
     .about = "run the baseline a second time beside itself, to measure the noise of comparisons (run does so where "
              "there are some, pivot does not)"},
    {.name = "no-twin", .kind = IS_FLAG, .offset = FIELD(no_twin), .about = "do without that twin in any case"},
    {.name = "memory", .argument = "warm|fresh", .kind = IS_CHOICE, .offset = FIELD(memory), .choices = memory_choices,
     .about = "reuse memory that was touched before, or pay its page faults inside the clock (warm)"},
    {.name = "pages", .argument = "default|4k|huge", .kind = IS_CHOICE, .offset = FIELD(pages),
     .choices = pages_choices,
     .about = "page size of the aggregators' memory; columns are in huge pages unless this is 4k"},
    {.name = "memory-budget", .argument = "BYTES", .kind = IS_BYTES, .offset = FIELD(memory_budget), .least = 1,
     .most = INT64_MAX,
     .about = "most that an aggregator may hold at once, as 512M, 2G, 64k (powers of 1024; no limit)"},
    {.name = "spill-folder", .argument = "DIR", .kind = IS_TEXT, .offset = FIELD(spill_folder),
     .about = "where an aggregator that spills may put what the budget does not hold; on a disk, as its file has no "
              "name and ends with the run (/var/tmp)"},
    {.name = "batch-rows", .argument = "N", .kind = IS_COUNT, .offset = FIELD(batch_rows), .standard = 65536,
     .least = 1, .most = 1u << 30, .about = "rows handed to an aggregator in one call"},
    {.name = "hash", .argument = "NAME", .kind = IS_TEXT, .offset = FIELD(hash),
     .about = "the hash that all contestants share: `aggbench list` shows them (fold)"},
    {.name = "queries", .command = "list", .kind = IS_FLAG, .offset = FIELD(show_queries),
     .about = "only the queries of ClickBench that --query knows"},
    {.name = "counters", .command = "list", .kind = IS_FLAG, .offset = FIELD(show_counters),
     .about = "only whether this machine gives hardware counters, and why not"},
    {.name = "counters", .argument = "auto|pmu|estimate|simulate|replay:FILE|off", .kind = IS_COUNTERS,
     .about = "hardware counters: auto, where there are some; pmu, or fail where there are none; off, none. "
              "Substitutes, labelled as such: estimate, the time beyond a cache-resident twin; simulate, instructions "
              "and misses under valgrind; both as a comma list. replay: counts that --record wrote, perhaps elsewhere "
              "(auto)"},
    {.name = "events", .argument = "EV[,EV]", .kind = IS_TEXT, .offset = FIELD(events),
     .about = "count these too: names that libpfm4 knows, or raw codes such as r01c0; each takes a repetition of its "
              "own"},
    {.name = "record", .argument = "FILE", .kind = IS_TEXT, .offset = FIELD(record),
     .about = "write the counts there, for --counters replay:FILE on any machine; send it in for a processor that is "
              "not known well"},
    {.name = "ipc-line", .kind = IS_FLAG, .offset = FIELD(ipc_line),
     .about = "lay the instructions a cycle, or a nanosecond, of each strategy beside this machine's own line between "
              "computing and waiting, which `aggbench lab calibrate` saves"},
    {.name = "perf-check", .kind = IS_FLAG, .offset = FIELD(perf_check),
     .about = "count once more with perf stat around the program, and lay both beside each other"},
    {.name = "top", .command = "pivot", .argument = "N", .kind = IS_COUNT, .offset = FIELD(top), .standard = 10,
     .least = 0, .most = AGB_MOST_TOP,
     .about = "largest groups to put into JSON, equal counts in the order of their keys"},
    {.name = "top", .argument = "N", .kind = IS_COUNT, .offset = FIELD(top), .standard = 10, .least = 0,
     .most = AGB_MOST_TOP, .about = "largest groups to show, equal counts in the order of their keys"},
    {.name = "offset", .argument = "N", .kind = IS_COUNT, .offset = FIELD(offset), .standard = 0, .least = 0,
     .most = AGB_MOST_TOP, .about = "largest groups to leave out before them"},
    {.name = "groups", .argument = "FILE", .kind = IS_TEXT, .offset = FIELD(groups),
     .about = "write all groups as CSV lines `key,count` in the order of the keys, one field for each column; NULL is "
              "the bare word. - is standard output, before the report"},
    {.name = "input-format", .argument = "LOADER", .kind = IS_TEXT, .offset = FIELD(input_format),
     .about = "read SOURCE with this loader instead of asking each one whether it knows the file: `aggbench list` "
              "shows them"},
    {.name = "schema", .argument = "FILE", .kind = IS_TEXT, .offset = FIELD(schema),
     .about = "the columns of text that does not say them: a line `NAME TYPE` for each, with types int16 int32 int64 "
              "uint32 uint64 date time bytes. Without it a header's columns are bytes, but for names of hits, which "
              "have ClickBench's types; types are never guessed from values"},
    {.name = "columns", .argument = "COL[,COL...]", .kind = IS_TEXT, .offset = FIELD(columns),
     .about = "the columns to write (all that can be loaded)"},
    {.name = "dry-run", .kind = IS_FLAG, .offset = FIELD(dry_run),
     .about = "only load, and report how long that took: nothing is written"},
    {.name = "codec", .argument = "auto|zstd|none", .kind = IS_TEXT, .offset = FIELD(codec),
     .about = "compress all (zstd), nothing (none), or all but numbers: those stay as they stand in memory, so that "
              "the file is mapped instead of read, larger and several times as fast (auto)"},
    {.name = "format", .command = "list describe load doctor", .argument = "table|json", .kind = IS_CHOICE,
     .offset = FIELD(format), .choices = plain_format_choices, .about = "of what is printed (table)"},
    {.name = "format", .command = "investigate", .argument = "markdown|html|json", .kind = IS_CHOICE,
     .offset = FIELD(format), .choices = story_format_choices,
     .about = "of the report (what the output's name ends in; else markdown)"},
    {.name = "format", .argument = "table|json|csv", .kind = IS_CHOICE, .offset = FIELD(format),
     .choices = format_choices, .about = "of the report (table)"},
    {.name = "output", .command = "load", .argument = "FILE.agb", .kind = IS_TEXT, .offset = FIELD(output),
     .about = "the file to write; needed, but for --dry-run. Its ending says the format"},
    {.name = "output", .argument = "FILE", .kind = IS_TEXT, .offset = FIELD(output),
     .about = "write the report there instead of to standard output (-), also as -o FILE; the file appears only when "
              "it is complete, and links are followed"},
    {.name = "force", .kind = IS_FLAG, .offset = FIELD(force),
     .about = "compare although machine, source or settings differ; what differs is said with the figures"},
    {.name = "pid", .argument = "PID", .kind = IS_COUNT, .offset = FIELD(pid), .least = 1, .most = 1u << 22,
     .about = "look at this process and its threads"},
    {.name = "watch", .kind = IS_FLAG, .offset = FIELD(watch),
     .about = "look once a second until Ctrl-C, and report then"},
    {.name = "quiet", .kind = IS_FLAG, .offset = FIELD(quiet), .about = "no progress on standard error"},
    {.name = "help", .kind = IS_FLAG, .offset = FIELD(help), .about = "this text"},
};

const size_t agb_option_count = sizeof agb_option_table / sizeof agb_option_table[0];
_Static_assert(sizeof agb_option_table / sizeof agb_option_table[0] <= 128, "agb_options.given has one bit for each");
