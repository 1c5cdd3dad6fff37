/* SPDX-License-Identifier: MIT */
/* The parser of command lines: see options.h. */
#include "option_table.h"

#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const agb_no_options[] = {NULL};

/* Whether a word stands in a list that is parted by blanks. */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static const agb_option *find_option(const agb_command *command, const char *name, size_t length)
{
    for (size_t i = 0; i < agb_option_count; i++) {
        bool meant = !agb_option_table[i].command || has_word(agb_option_table[i].command, command->name);
        if (meant && strlen(agb_option_table[i].name) == length && memcmp(agb_option_table[i].name, name, length) == 0)
            return &agb_option_table[i];
    }
    return NULL;
}

static bool takes(const agb_command *command, const char *name)
{
    for (const char *const *option = command->options; *option; option++) {
        if (strcmp(*option, name) == 0)
            return true;
    }
    return strcmp(name, "help") == 0 || strcmp(name, "process-of") == 0;
}

bool agb_option_given(const agb_options *options, const char *name)
{
    const agb_option *option = find_option(options->command, name, strlen(name));
    size_t bit = option ? (size_t)(option - agb_option_table) : 0;
    return option && (options->given[bit / 64] >> bit % 64 & 1);
}

static void set_defaults(agb_options *out, const agb_command *command);

/* A number that the command stands for when none is given is said behind the text, and a choice where the text does not
 * say it: commands differ in them. A number that is out of range means that something else decides. */
bool agb_option_text_of(const agb_command *command, const char *name, agb_option_text *out)
{
    const agb_option *option = takes(command, name) ? find_option(command, name, strlen(name)) : NULL;
    if (!option)
        return false;
    *out = (agb_option_text){.name = option->name, .argument = option->argument};
    int at = snprintf(out->about, sizeof out->about, "%s", option->about);
    agb_options standard;
    set_defaults(&standard, command);
    const uint64_t *field = (const uint64_t *)(const void *)((const char *)&standard + option->offset);
    bool silent = option->kind == IS_CHOICE && option->about[strlen(option->about) - 1] != ')';
    if (silent && (size_t)at < sizeof out->about)
        snprintf(out->about + at, sizeof out->about - (size_t)at, " (%s)", option->choices[*(const int *)field]);
    if (option->kind == IS_COUNT && *field >= option->least && *field <= option->most && (size_t)at < sizeof out->about)
        snprintf(out->about + at, sizeof out->about - (size_t)at, " (%" PRIu64 ")", *field);
    return true;
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

static agb_status set_number(const agb_option *option, const char *text, uint64_t *field, agb_error *err)
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

static agb_status set_choice(const agb_option *option, const char *text, int *field, agb_error *err)
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

static agb_status add_word(const agb_option *option, const char *text, agb_words *words, agb_error *err)
{
    if (words->n == AGB_MOST_WORDS)
        return agb_fail(err, AGB_ERR_ARGUMENT, "--%s: given more than %d times: join them with commas", option->name,
                        AGB_MOST_WORDS);
    words->word[words->n++] = text;
    return AGB_OK;
}

static agb_status set_pins(const agb_option *option, const char *text, agb_pins *pins, agb_error *err)
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

static agb_status set_counters(agb_options *out, const agb_option *option, const char *text, agb_error *err)
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

static agb_status set_value(agb_options *out, const agb_option *option, const char *text, agb_error *err)
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
static agb_status take_option(agb_options *out, const agb_option *option, const char *equals, int n, char **words,
                              int *at, agb_error *err)
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
    size_t number = (size_t)(option - agb_option_table);
    uint64_t *given = &out->given[number / 64], bit = (uint64_t)1 << number % 64;
    bool once = option->kind == IS_TEXT || option->kind == IS_COUNTERS;
    if (once && (*given & bit))
        return agb_fail(err, AGB_ERR_ARGUMENT, "--%s: %s: is given a second time: give it once", option->name, text);
    *given |= bit;
    return set_value(out, option, text, err);
}

static agb_status parse_option(agb_options *out, int n, char **words, int *at, agb_error *err)
{
    const char *name = words[*at] + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const agb_option *option = find_option(out->command, name, length);
    if (!option || !takes(out->command, option->name))
        return unknown_option(out->command, name, length, err);
    return take_option(out, option, equals, n, words, at, err);
}

size_t agb_command_operands(const agb_command *command)
{
    if (!command->operand)
        return 0;
    const char *end = command->operand + strlen(command->operand);
    if (end - command->operand > 3 && strcmp(end - 3, "...") == 0)
        return AGB_MOST_WORDS;
    size_t n = 1;
    for (const char *blank = strchr(command->operand, ' '); blank; blank = strchr(blank + 1, ' '))
        n++;
    return n;
}

/* The word for the first operand that is not there; its length in *length. */
static const char *missing_operand(const agb_command *command, size_t n, int *length)
{
    const char *word = command->operand;
    for (size_t i = 0; i < n; i++)
        word = strchr(word, ' ') + 1;
    *length = (int)strcspn(word, " ");
    return word;
}

static agb_status add_operand(agb_options *out, const char *word, agb_error *err)
{
    const agb_command *command = out->command;
    size_t most = agb_command_operands(command);
    if (most == 0)
        return agb_fail(err, AGB_ERR_ARGUMENT, "%s: %s: takes no operand", command->name, word);
    if (*word == '\0')
        return agb_fail(err, AGB_ERR_ARGUMENT, "%s: %s: is an empty word: give a name", command->name,
                        command->operand);
    if (out->operands.n == most && strcmp(command->operand, "SOURCE") == 0)
        return agb_fail(err, AGB_ERR_ARGUMENT, "%s: %s: one operand too many: several files go as a folder or a quoted "
                        "glob", command->name, word);
    if (out->operands.n == most)
        return agb_fail(err, AGB_ERR_ARGUMENT, "%s: %s: one operand too many: give no more than %zu", command->name,
                        word, most);
    out->operands.word[out->operands.n++] = word;
    out->operand = out->operands.word[0];
    return AGB_OK;
}

static void set_defaults(agb_options *out, const agb_command *command)
{
    memset(out, 0, sizeof *out);
    out->command = command;
    out->group_by = "UserID";
    for (size_t i = 0; i < agb_option_count; i++) {
        if (agb_option_table[i].kind == IS_COUNT)
            *(uint64_t *)((char *)out + agb_option_table[i].offset) = agb_option_table[i].standard;
    }
    if (command->defaults)
        command->defaults(out);
}

agb_status agb_options_parse(agb_options *out, const agb_command *command, int n, char **words, agb_error *err)
{
    set_defaults(out, command);
    out->words = words;
    out->n_words = n;
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
        } else {
            agb_status status = add_operand(out, word, err);
            if (status != AGB_OK)
                return status;
        }
    }
    size_t most = agb_command_operands(command), least = most == AGB_MOST_WORDS ? 1 : most;
    if (command->needs_operand && !out->help && out->operands.n < least) {
        int length;
        const char *missing = missing_operand(command, out->operands.n, &length);
        return agb_fail(err, AGB_ERR_ARGUMENT, "%s: %.*s is missing: for example: %s", command->name, length, missing,
                        command->example);
    }
    return AGB_OK;
}

/* ---- Help -------------------------------------------------------------------------------------------------------- */

void agb_help_entry(FILE *to, const char *left, int width, const char *right)
{
    int edge = width + 3;
    if (fprintf(to, "  %s", left) < edge)
        fprintf(to, "%*s", width + 1 - (int)strlen(left), "");
    else
        fprintf(to, "\n%*s", edge, "");
    agb_text_wrap(to, right, edge, edge);
}

void agb_help_usage(char *text, size_t size, const agb_command *command)
{
    const char *open = command->needs_operand ? "" : "[", *close = command->needs_operand ? "" : "]";
    if (command->operand)
        snprintf(text, size, "%s %s%s%s", command->name, open, command->operand, close);
    else
        snprintf(text, size, "%s", command->name);
}

void agb_help_command(FILE *to, const agb_command *command)
{
    char usage[128], left[64];
    agb_help_usage(usage, sizeof usage, command);
    fprintf(to, "aggbench %s%s\n\n%s\n\n", usage, *command->options ? " [OPTIONS]" : "", command->about);
    for (const char *const *name = command->options; *name; name++) {
        agb_option_text option;
        if (!agb_option_text_of(command, *name, &option))
            continue;
        snprintf(left, sizeof left, "--%s%s%s", option.name, option.argument ? " " : "",
                 option.argument ? option.argument : "");
        agb_help_entry(to, left, 28, option.about);
    }
    fprintf(to, "%sExample: %s\n", *command->options ? "\n" : "", command->example);
}
