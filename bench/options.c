/* SPDX-License-Identifier: MIT */
/* The option table and its parser: see options.h. Adding an option is adding a field to agb_options and a row here, and
 * naming it in the commands that take it; its range check and its line of --help follow from the row. */
#include "options.h"

#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef enum option_kind {
    IS_FLAG, IS_COUNT, IS_BYTES, IS_CHOICE, IS_TEXT, IS_WORDS, IS_PINS, IS_COUNTERS
} option_kind;

typedef struct option {
    const char *name, *argument;
    const char *command;             /* the only commands that mean this row by the name; NULL = all the others */
    option_kind kind;
    size_t offset;                   /* of the field in agb_options */
    uint64_t standard, least, most;  /* IS_COUNT, IS_BYTES; standard also of IS_CHOICE */
    const char *const *choices;      /* IS_CHOICE: NULL-ended, in the order of the enum */
    const char *about;
} option;

#define FIELD(name) offsetof(agb_options, name)

static const char *const pages_choices[] = {"default", "4k", "huge", NULL};
static const char *const memory_choices[] = {"warm", "fresh", NULL};
static const char *const format_choices[] = {"table", "json", "csv", NULL};    /* in the order of agb_format */
static const char *const story_format_choices[] = {"markdown", "html", "json", NULL};    /* cmd_investigate.c */
static const char *const plain_format_choices[] = {"table", "json", NULL};

static const option table[] = {
    {.name = "group-by", .argument = "COL[,COL]", .kind = IS_TEXT, .offset = FIELD(group_by),
     .about = "the columns whose values are counted, integers and strings in any mix; also COL-N, COL+N and a whole "
              "number, as in ClickBench (UserID)"},
    {.name = "where", .argument = "CONDITIONS", .kind = IS_TEXT, .offset = FIELD(where),
     .about = "count only rows that meet all of them: COL = 5 AND COL <> '' AND COL >= '2013-07-01'; operators = <> < "
              "<= > >=. Strings and dates stand in single quotes; a date is a number of days in a 32-bit column, of "
              "seconds in a 64-bit one. The filter runs inside the clock"},
    {.name = "query", .argument = "N", .kind = IS_COUNT, .offset = FIELD(query), .least = 0, .most = 42,
     .about = "what query N of ClickBench asks, counted from 0: `aggbench list --queries` shows them"},
    {.name = "aggregator", .argument = "NAME[:p=v...]", .kind = IS_WORDS, .offset = FIELD(aggregators),
     .about = "contestant with its parameters; repeatable, or a comma list, or `all` (all). The first one is the "
              "baseline of the comparisons"},
    {.name = "plugin", .argument = "FILE.so", .kind = IS_WORDS, .offset = FIELD(plugins),
     .about = "load an aggregator from a shared object and let it take part; repeatable. It runs as code of yours, in "
              "processes of its own"},
    {.name = "sweep", .argument = "p=a..b", .kind = IS_TEXT, .offset = FIELD(sweep),
     .about = "one contestant for each value of an aggregator's parameter, or one source for each value of a synth "
              "key; also p=a..b/step and p=a,b,c"},
    {.name = "threads", .command = "lab", .argument = "N", .kind = IS_COUNT, .offset = FIELD(threads), .least = 1,
     .most = 1024, .about = "most workers (as many as this process may have processors)"},
    {.name = "pages", .command = "lab", .argument = "default|4k|huge", .kind = IS_CHOICE, .offset = FIELD(pages),
     .choices = pages_choices, .about = "page size of the memory that is gone through (the lab's own choice)"},
    {.name = "pin", .command = "lab", .argument = "CPU[,CPU]", .kind = IS_PINS, .offset = FIELD(pins),
     .about = "processors the workers stay on, one each (the allowed ones, in their order)"},
    {.name = "threads", .command = "load", .argument = "N", .kind = IS_COUNT, .offset = FIELD(threads), .standard = 1,
     .least = 1, .most = 1024, .about = "workers that read, decode and pack (1)"},
    {.name = "threads", .argument = "N", .kind = IS_COUNT, .offset = FIELD(threads), .standard = 1, .least = 1,
     .most = 1024, .about = "workers of the aggregators that can use several (1)"},
    {.name = "seconds", .command = "doctor", .argument = "N", .kind = IS_COUNT, .offset = FIELD(seconds), .least = 1,
     .most = 3600, .about = "how long to watch (3; a program: until it ends)"},
    {.name = "seconds", .argument = "N", .kind = IS_COUNT, .offset = FIELD(seconds), .least = 1, .most = 3600,
     .about = "about how long it may take, all labs together (each lab's own choice)"},
    {.name = "hops", .argument = "N", .kind = IS_COUNT, .offset = FIELD(hops), .least = 1, .most = 1ull << 40,
     .about = "loads of one measurement (as many as fill its time)"},
    {.name = "working-set", .argument = "BYTES", .kind = IS_BYTES, .offset = FIELD(working_set), .least = 1 << 16,
     .most = 1ull << 40, .about = "memory that is gone through, the largest of a curve, as 64M or 1G"},
    {.name = "pin", .argument = "CPU[,CPU]", .kind = IS_PINS, .offset = FIELD(pins),
     .about = "processors the workers stay on, one each; with one thread the last allowed processor is the default"},
    {.name = "repetitions", .argument = "N", .kind = IS_COUNT, .offset = FIELD(repetitions), .standard = 5, .least = 1,
     .most = 10000, .about = "timed runs of each contestant (5)"},
    {.name = "warmup", .argument = "N", .kind = IS_COUNT, .offset = FIELD(warmup), .standard = 1, .least = 0,
     .most = 1000, .about = "runs of each contestant before them, kept out of the statistics (1)"},
    {.name = "timeout", .argument = "SECONDS", .kind = IS_COUNT, .offset = FIELD(timeout_s), .standard = 300,
     .least = 1, .most = 86400, .about = "most that one run may take before it is ended (300)"},
    {.name = "seed", .argument = "N", .kind = IS_COUNT, .offset = FIELD(seed), .standard = 1, .least = 0,
     .most = INT64_MAX, .about = "of the random order of contestants and of the intervals (1)"},
    {.name = "twin", .kind = IS_FLAG, .offset = FIELD(twin),
     .about = "run the baseline a second time beside itself, to measure the noise of comparisons"},
    {.name = "no-twin", .kind = IS_FLAG, .offset = FIELD(no_twin), .about = "do without that twin"},
    {.name = "memory", .argument = "warm|fresh", .kind = IS_CHOICE, .offset = FIELD(memory), .choices = memory_choices,
     .about = "reuse memory that was touched before, or pay its page faults inside the clock (warm)"},
    {.name = "pages", .argument = "default|4k|huge", .kind = IS_CHOICE, .offset = FIELD(pages),
     .choices = pages_choices, .about = "page size of the aggregators' memory; columns are in huge pages, unless 4k"},
    {.name = "memory-budget", .argument = "BYTES", .kind = IS_BYTES, .offset = FIELD(memory_budget), .least = 1,
     .most = INT64_MAX,
     .about = "most that an aggregator may hold at once, as 512M, 2G, 64k (powers of 1024; no limit)"},
    {.name = "spill-folder", .argument = "DIR", .kind = IS_TEXT, .offset = FIELD(spill_folder),
     .about = "where an aggregator that spills may put what the budget does not hold; on a disk, as its file has no "
              "name and ends with the run (/var/tmp)"},
    {.name = "batch-rows", .argument = "N", .kind = IS_COUNT, .offset = FIELD(batch_rows), .standard = 65536,
     .least = 1, .most = 1u << 30, .about = "rows handed to an aggregator in one call (65536)"},
    {.name = "hash", .argument = "NAME", .kind = IS_TEXT, .offset = FIELD(hash),
     .about = "the hash that all contestants share (fold)"},
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
    {.name = "top", .argument = "N", .kind = IS_COUNT, .offset = FIELD(top), .standard = 10, .least = 0,
     .most = AGB_MOST_TOP, .about = "largest groups to show, equal counts in the order of their keys (10)"},
    {.name = "offset", .argument = "N", .kind = IS_COUNT, .offset = FIELD(offset), .standard = 0, .least = 0,
     .most = AGB_MOST_TOP, .about = "largest groups to leave out before them (0)"},
    {.name = "groups", .argument = "FILE", .kind = IS_TEXT, .offset = FIELD(groups),
     .about = "write all groups as CSV lines `key,count` in the order of the keys, one field for each column; NULL is "
              "the bare word. - is standard output, before the report"},
    {.name = "input-format", .argument = "LOADER", .kind = IS_TEXT, .offset = FIELD(input_format),
     .about = "read SOURCE with this loader instead of asking each one whether it knows the file"},
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
     .about = "the file to write; needed. Its ending says the format"},
    {.name = "output", .argument = "FILE", .kind = IS_TEXT, .offset = FIELD(output),
     .about = "write the report there instead of to standard output (-); the file appears only when it is complete, "
              "and links are followed"},
    {.name = "pid", .argument = "PID", .kind = IS_COUNT, .offset = FIELD(pid), .least = 1, .most = 1u << 22,
     .about = "look at this process and its threads"},
    {.name = "watch", .kind = IS_FLAG, .offset = FIELD(watch),
     .about = "look once a second until Ctrl-C, and report then"},
    {.name = "quiet", .kind = IS_FLAG, .offset = FIELD(quiet), .about = "no progress on standard error"},
    {.name = "help", .kind = IS_FLAG, .offset = FIELD(help), .about = "this text"},
};

enum { OPTIONS = sizeof table / sizeof table[0] };
_Static_assert(OPTIONS <= 64, "agb_options.given has one bit for each");

/* Whether a word stands in a list that is parted by blanks. */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static const option *find_option(const agb_command *command, const char *name, size_t length)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        bool meant = !table[i].command || has_word(table[i].command, command->name);
        if (meant && strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0)
            return &table[i];
    }
    return NULL;
}

static bool takes(const agb_command *command, const char *name)
{
    for (const char *const *option = command->options; *option; option++) {
        if (strcmp(*option, name) == 0)
            return true;
    }
    return strcmp(name, "help") == 0;
}

bool agb_option_given(const agb_options *options, const char *name)
{
    const option *option = find_option(options->command, name, strlen(name));
    return option && (options->given >> (option - table) & 1);
}

bool agb_option_text_of(const agb_command *command, const char *name, agb_option_text *out)
{
    const option *option = takes(command, name) ? find_option(command, name, strlen(name)) : NULL;
    if (option)
        *out = (agb_option_text){option->name, option->about, option->argument};
    return option != NULL;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static bool parse_count(const char *text, uint64_t *out)
{
    if (*text < '0' || *text > '9')
        return false;
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

bool agb_parse_bytes(const char *text, uint64_t *bytes)
{
    if (*text < '0' || *text > '9')
        return false;
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    static const char letters[] = "kmgt";
    unsigned shift = 0;
    if (*end != '\0') {
        const char *letter = strchr(letters, *end | 0x20);
        if (!letter)
            return false;
        shift = 10 * (unsigned)(letter - letters + 1);
        end++;
        if ((*end | 0x20) == 'i')
            end++;
        if ((*end | 0x20) == 'b')
            end++;
    }
    if (errno != 0 || *end != '\0' || number > UINT64_MAX >> shift)
        return false;
    *bytes = number << shift;
    return true;
}

static agb_status set_number(const option *option, const char *text, uint64_t *field, agb_error *err)
{
    bool bytes = option->kind == IS_BYTES;
    uint64_t value;
    if (!(bytes ? agb_parse_bytes(text, &value) : parse_count(text, &value)) || value < option->least ||
        value > option->most)
        return agb_fail(err, AGB_ERR_ARGUMENT, "--%s: %s: not %s in the allowed range %" PRIu64 "..%" PRIu64,
                        option->name, *text ? text : "(empty)",
                        bytes ? "a number of bytes such as 512M or 2G" : "a whole number", option->least, option->most);
    *field = value;
    return AGB_OK;
}

static agb_status set_choice(const option *option, const char *text, int *field, agb_error *err)
{
    for (int i = 0; option->choices[i]; i++) {
        if (strcmp(option->choices[i], text) == 0) {
            *field = i;
            return AGB_OK;
        }
    }
    return agb_fail(err, AGB_ERR_ARGUMENT, "--%s: %s: not one of %s", option->name, *text ? text : "(empty)",
                    option->argument);
}

static agb_status add_word(const option *option, const char *text, agb_words *words, agb_error *err)
{
    if (words->n == AGB_MOST_WORDS)
        return agb_fail(err, AGB_ERR_ARGUMENT, "--%s: given more than %d times: join them with commas", option->name,
                        AGB_MOST_WORDS);
    words->word[words->n++] = text;
    return AGB_OK;
}

static agb_status set_pins(const option *option, const char *text, agb_pins *pins, agb_error *err)
{
    pins->n = 0;
    for (const char *at = text;; at++) {
        char *end;
        long cpu = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : -1;
        if (cpu < 0 || cpu > 1 << 20 || (*end != '\0' && *end != ',') || pins->n == AGB_MOST_PINS)
            return agb_fail(err, AGB_ERR_ARGUMENT, "--%s: %s: not a list of at most %d processor numbers such as 0,1",
                            option->name, *text ? text : "(empty)", AGB_MOST_PINS);
        for (unsigned i = 0; i < pins->n; i++)
            if (pins->cpu[i] == cpu)
                return agb_fail(err, AGB_ERR_ARGUMENT, "--%s: %s: names processor %ld twice: give each worker its own",
                                option->name, text, cpu);
        pins->cpu[pins->n++] = (int)cpu;
        if (*end == '\0')
            return AGB_OK;
        at = end;
    }
}

/* One word of a list such as estimate,simulate. *modes: how many words so far were one of auto, pmu and off. */
static bool set_counters_word(agb_options *out, const char *word, size_t length, unsigned *modes)
{
    static const char *const names[] = {"auto", "pmu", "off"};
    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++) {
        if (strlen(names[i]) == length && strncmp(word, names[i], length) == 0) {
            out->counters = i;
            ++*modes;
            return true;
        }
    }
    bool estimate = length == 8 && strncmp(word, "estimate", length) == 0;
    bool simulate = length == 8 && strncmp(word, "simulate", length) == 0;
    out->estimate = out->estimate || estimate;
    out->simulate = out->simulate || simulate;
    return estimate || simulate;
}

static agb_status set_counters(agb_options *out, const option *option, const char *text, agb_error *err)
{
    static const char replay[] = "replay:";
    out->counters = AGB_COUNTERS_AUTO;
    out->estimate = out->simulate = false;
    out->replay = NULL;
    if (strncmp(text, replay, strlen(replay)) == 0) {
        out->counters = AGB_COUNTERS_REPLAY;
        out->replay = text + strlen(replay);
        if (*out->replay)
            return AGB_OK;
        return agb_fail(err, AGB_ERR_ARGUMENT, "--counters: replay: the file's name is missing: give replay:FILE");
    }
    unsigned modes = 0;
    for (const char *word = text;; word++) {
        size_t length = strcspn(word, ",");
        if (strncmp(word, replay, strlen(replay)) == 0)
            return agb_fail(err, AGB_ERR_ARGUMENT, "--counters: %s: replay goes with nothing else", text);
        if (!set_counters_word(out, word, length, &modes))
            return agb_fail(err, AGB_ERR_ARGUMENT, "--counters: %s: not one of %s", *text ? text : "(empty)",
                            option->argument);
        word += length;
        if (*word == '\0')
            break;
    }
    if (out->counters == AGB_COUNTERS_OFF && (out->estimate || out->simulate))
        return agb_fail(err, AGB_ERR_ARGUMENT, "--counters: %s: off goes with nothing else", text);
    if (modes > 1)
        return agb_fail(err, AGB_ERR_ARGUMENT, "--counters: %s: auto, pmu and off exclude each other: give one of them",
                        text);
    return AGB_OK;
}

static agb_status set_value(agb_options *out, const option *option, const char *text, agb_error *err)
{
    char *field = (char *)out + option->offset;
    switch (option->kind) {
    case IS_FLAG:
        *(bool *)field = true;
        return AGB_OK;
    case IS_COUNT:
    case IS_BYTES:
        return set_number(option, text, (uint64_t *)field, err);
    case IS_CHOICE:
        return set_choice(option, text, (int *)field, err);
    case IS_WORDS:
    case IS_TEXT:
        if (*text == '\0')
            return agb_fail(err, AGB_ERR_ARGUMENT, "--%s: its value is empty: give %s", option->name, option->argument);
        if (option->kind == IS_WORDS)
            return add_word(option, text, (agb_words *)field, err);
        *(const char **)field = text;
        return AGB_OK;
    case IS_COUNTERS:
        return set_counters(out, option, text, err);
    case IS_PINS:
        return set_pins(option, text, (agb_pins *)field, err);
    }
    return AGB_OK;
}

/* ---- The command line -------------------------------------------------------------------------------------------- */

static agb_status unknown_option(const agb_command *command, const char *word, size_t length, agb_error *err)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", length > 60 ? 60 : (int)length, word);
    const char *near = agb_nearest_name(command->options, name);
    if (near)
        return agb_fail(err, AGB_ERR_NOT_FOUND, "%s: --%s: no such option: did you mean --%s", command->name, name,
                        near);
    return agb_fail(err, AGB_ERR_NOT_FOUND, "%s: --%s: no such option: see aggbench %s --help", command->name, name,
                    command->name);
}

/* The option that stands at words[*at], and its value there or in the next word; moves *at to its last word. */
static agb_status take_option(agb_options *out, const option *option, const char *equals, int n, char **words, int *at,
                              agb_error *err)
{
    if (option->kind == IS_FLAG && equals)
        return agb_fail(err, AGB_ERR_ARGUMENT, "--%s: takes no value: leave %s out", option->name, equals);
    const char *text = equals ? equals + 1 : NULL;
    if (option->kind != IS_FLAG && !text) {
        if (*at + 1 == n)
            return agb_fail(err, AGB_ERR_ARGUMENT, "--%s: its value is missing: give %s", option->name,
                            option->argument);
        text = words[++*at];
    }
    uint64_t bit = 1ull << (option - table);
    bool once = option->kind == IS_TEXT || option->kind == IS_COUNTERS;
    if (once && (out->given & bit))
        return agb_fail(err, AGB_ERR_ARGUMENT, "--%s: %s: is given a second time: give it once", option->name, text);
    out->given |= bit;
    return set_value(out, option, text, err);
}

static agb_status parse_option(agb_options *out, int n, char **words, int *at, agb_error *err)
{
    const char *name = words[*at] + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const option *option = find_option(out->command, name, length);
    if (!option || !takes(out->command, option->name))
        return unknown_option(out->command, name, length, err);
    return take_option(out, option, equals, n, words, at, err);
}

static agb_status add_operand(agb_options *out, const char *word, agb_error *err)
{
    const agb_command *command = out->command;
    if (*word == '\0')
        return agb_fail(err, AGB_ERR_ARGUMENT, "%s: %s: is an empty word: give a name", command->name,
                        command->operand);
    if (out->operands.n == AGB_MOST_WORDS)
        return agb_fail(err, AGB_ERR_ARGUMENT, "%s: %s: is one too many: at most %d are taken", command->name, word,
                        AGB_MOST_WORDS);
    out->operands.word[out->operands.n++] = word;
    out->operand = out->operands.word[0];
    return AGB_OK;
}

static void set_defaults(agb_options *out, const agb_command *command)
{
    memset(out, 0, sizeof *out);
    out->command = command;
    out->group_by = "UserID";
    for (size_t i = 0; i < OPTIONS; i++) {
        if (table[i].kind == IS_COUNT)
            *(uint64_t *)((char *)out + table[i].offset) = table[i].standard;
    }
    if (command->defaults)
        command->defaults(out);
}

agb_status agb_options_parse(agb_options *out, const agb_command *command, int n, char **words, agb_error *err)
{
    set_defaults(out, command);
    bool only_operands = false;
    for (int i = 0; i < n; i++) {
        const char *word = words[i];
        if (!only_operands && strcmp(word, "--") == 0 && command->takes_program) {
            out->program = words + i + 1;
            break;
        } else if (!only_operands && strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (!only_operands && strcmp(word, "-h") == 0) {
            out->help = true;
        } else if (!only_operands && strcmp(word, "-o") == 0 && takes(command, "output")) {
            agb_status status = take_option(out, find_option(command, "output", 6), NULL, n, words, &i, err);
            if (status != AGB_OK)
                return status;
        } else if (!only_operands && strncmp(word, "--", 2) == 0) {
            agb_status status = parse_option(out, n, words, &i, err);
            if (status != AGB_OK)
                return status;
        } else if (!only_operands && word[0] == '-' && word[1] != '\0') {
            return agb_fail(err, AGB_ERR_NOT_FOUND, "%s: %s: options begin with two dashes: see aggbench %s --help",
                            command->name, word, command->name);
        } else if (command->operand && (!out->operand || command->takes_many)) {
            agb_status status = add_operand(out, word, err);
            if (status != AGB_OK)
                return status;
        } else {
            return agb_fail(err, AGB_ERR_ARGUMENT, "%s: %s: %s", command->name, word,
                            command->operand ? "one operand too many: several files go as a folder or a quoted glob"
                                             : "takes no operand");
        }
    }
    if (!out->operand && command->needs_operand && !out->help)
        return agb_fail(err, AGB_ERR_ARGUMENT, "%s: %s is missing: for example: %s", command->name, command->operand,
                        command->example);
    return AGB_OK;
}

/* ---- Help -------------------------------------------------------------------------------------------------------- */

void agb_help_entry(FILE *to, const char *left, int width, const char *right)
{
    int at = fprintf(to, "  %-*s ", width, left);
    int edge = width + 3;
    if (at > edge)
        at = fprintf(to, "\n%*s", edge, "") - 1;
    agb_text_wrap(to, right, edge, at);
}

void agb_help_command(FILE *to, const agb_command *command)
{
    fprintf(to, "aggbench %s%s%s [OPTIONS]\n\n%s\n\n", command->name, command->operand ? " " : "",
            command->operand ? command->operand : "", command->about);
    for (const char *const *name = command->options; *name; name++) {
        const option *option = find_option(command, *name, strlen(*name));
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", option->name, option->argument ? " " : "",
                 option->argument ? option->argument : "");
        agb_help_entry(to, left, 28, option->about);
    }
    fprintf(to, "\nExample: %s\n", command->example);
}
