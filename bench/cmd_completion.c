/* SPDX-License-Identifier: MIT */
/* aggbench completion bash|zsh: a script that completes commands, options and their values, from the tables that parse
 * them. `make install` calls it, so that it is never older than the program. */
#include "commands.h"
#include "lab.h"

#include <string.h>

typedef struct shell {
    const char *name;
    void (*print)(const agb_command *const *commands, const agb_registry *registry);
} shell;

/* ---- What an option takes ---------------------------------------------------------------------------------------- */

static bool takes_file(const char *argument)
{
    return strstr(argument, "FILE") == argument || strstr(argument, ".json") || strcmp(argument, "DIR") == 0;
}

/* "warm|fresh" as words; one that is still to be filled in, as replay:FILE, is cut after its colon. */
static void print_choices(const char *argument)
{
    for (const char *at = argument; *at; at += *at == '|') {
        size_t length = strcspn(at, "|"), colon = strcspn(at, ":");
        printf("%s%.*s", at == argument ? "" : " ", (int)(colon < length ? colon + 1 : length), at);
        at += length;
    }
}

static void print_aggregators(const agb_registry *registry)
{
    const agb_aggregator *aggregator;
    for (size_t i = 0; (aggregator = agb_registry_aggregator_at(registry, i)); i++)
        printf("%s%s", i ? " " : "", aggregator->name);
}

/* Whether the words that an option's value can be are known. */
static bool has_values(const agb_option_text *option)
{
    return strchr(option->argument, '|') || strcmp(option->name, "aggregator") == 0;
}

/* Parted by blanks; nothing where they are not known. */
static void print_values(const agb_option_text *option, const agb_registry *registry)
{
    if (strcmp(option->name, "aggregator") == 0) {
        printf("all ");
        print_aggregators(registry);
    } else if (has_values(option)) {
        print_choices(option->argument);
    }
}

static void print_commands(const agb_command *const *commands)
{
    for (const agb_command *const *command = commands; *command; command++)
        if (!(*command)->hidden)
            printf("%s ", (*command)->name);
}

/* The same for the word after the command. */
static void print_operands(const agb_command *command, const agb_command *const *commands,
                           const agb_registry *registry)
{
    if (strcmp(command->name, "verify") == 0)
        print_aggregators(registry);
    for (size_t i = 0; strcmp(command->name, "lab") == 0 && agb_labs[i]; i++)
        printf("%s%s", i ? " " : "", agb_labs[i]->name);
    if (command == &agb_command_help)
        print_commands(commands);
}

/* ---- bash -------------------------------------------------------------------------------------------------------- */

/* One branch for the values of each option, and one for everything else. */
static void print_bash_command(const agb_command *command, const agb_command *const *commands,
                               const agb_registry *registry)
{
    agb_option_text option;
    printf("    %s,", command->name);
    for (const char *const *name = command->options; *name; name++) {
        if (!agb_option_text_of(command, *name, &option) || !option.argument)
            continue;
        printf("--%s) words='", option.name);
        print_values(&option, registry);
        printf("' ;;\n    %s,", command->name);
    }
    printf("*)\n        words='");
    print_operands(command, commands, registry);
    printf("'\n        [ \"${word#-}\" = \"$word\" ] || words='--help");
    for (const char *const *name = command->options; *name; name++)
        if (agb_option_text_of(command, *name, &option))
            printf(" --%s", *name);
    printf("' ;;\n");
}

/* Where there are no words, the shell completes names of files: `-o default`. An = is a word of its own to bash. */
static void print_bash(const agb_command *const *commands, const agb_registry *registry)
{
    printf("# Completion of aggbench for bash; printed by `aggbench completion bash`.\n"
           "_aggbench()\n{\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
           "    if [ \"$word\" = = ]; then\n        word=\n"
           "    elif [ \"$before\" = = ]; then\n        before=${COMP_WORDS[COMP_CWORD-2]}\n    fi\n"
           "    case ${COMP_WORDS[1]},$before in\n");
    for (const agb_command *const *command = commands; *command; command++)
        if (!(*command)->hidden)
            print_bash_command(*command, commands, registry);
    printf("    esac\n    [ \"$COMP_CWORD\" -gt 1 ] || words='");
    print_commands(commands);
    printf("--help --version'\n    COMPREPLY=()\n"
           "    [ -z \"$words\" ] || mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
           "}\ncomplete -o default -F _aggbench aggbench\n");
}

/* ---- zsh --------------------------------------------------------------------------------------------------------- */

/* Inside single quotes, where _arguments gives brackets and colons a meaning. */
static void print_zsh_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (strchr("[]:\\", *text))
            printf("\\%c", *text);
        else
            fputc(*text, stdout);
    }
}

static void print_zsh_option(const agb_option_text *option, const agb_registry *registry)
{
    printf(" \\\n            '*--%s%s[", option->name, option->argument ? "=" : "");
    print_zsh_text(option->about);
    printf("]");
    if (option->argument) {
        printf(":");
        print_zsh_text(option->argument);
        printf(":");
        if (has_values(option)) {
            printf("(");
            print_values(option, registry);
            printf(")");
        } else if (takes_file(option->argument)) {
            printf("_files");
        } else {
            printf(" ");
        }
    }
    printf("'");
}

static void print_zsh_command(const agb_command *command, const agb_command *const *commands,
                              const agb_registry *registry)
{
    agb_option_text option;
    printf("    %s)\n        _arguments '--help[this text]'", command->name);
    for (const char *const *name = command->options; *name; name++)
        if (agb_option_text_of(command, *name, &option))
            print_zsh_option(&option, registry);
    if (command->operand) {
        bool is_file = strcmp(command->operand, "SOURCE") == 0 || takes_file(command->operand);
        printf(" \\\n            '%s:", agb_command_operands(command) > 1 ? "*" : "");
        print_zsh_text(command->operand);
        printf(is_file ? ":_files" : ":(");
        print_operands(command, commands, registry);
        printf(is_file ? "'" : ")'");
    }
    printf(" ;;\n");
}

static void print_zsh(const agb_command *const *commands, const agb_registry *registry)
{
    printf("#compdef aggbench\n# Completion of aggbench for zsh; printed by `aggbench completion zsh`.\n"
           "_aggbench()\n{\n    local -a commands=(");
    for (const agb_command *const *command = commands; *command; command++) {
        if ((*command)->hidden)
            continue;
        printf("\n        '%s:", (*command)->name);
        print_zsh_text((*command)->summary);
        printf("'");
    }
    printf("\n    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n"
           "    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n");
    for (const agb_command *const *command = commands; *command; command++)
        if (!(*command)->hidden)
            print_zsh_command(*command, commands, registry);
    printf("    esac\n}\n_aggbench \"$@\"\n");
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static int completion(const agb_options *options, agb_error *err)
{
    static const shell shells[] = {{"bash", print_bash}, {"zsh", print_zsh}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(options->operand, shells[i].name) != 0)
            continue;
        agb_registry *registry;
        agb_status status = agb_registry_create(&registry, err);
        if (status == AGB_OK)
            shells[i].print(options->commands, registry);
        agb_registry_destroy(registry);
        return agb_exit_of(status);
    }
    agb_fail(err, AGB_ERR_ARGUMENT, "completion: %s: no such shell: give bash or zsh", options->operand);
    return AGB_EXIT_USAGE;
}

const agb_command agb_command_completion = {
    .name = "completion", .operand = "SHELL", .needs_operand = true, .hidden = true,
    .summary = "a script for bash or zsh that completes its commands and options",
    .about = "Prints a script that completes commands, options and their values, for bash or zsh.",
    .example = "aggbench completion bash > ~/.local/share/bash-completion/completions/aggbench",
    .options = agb_no_options, .run = completion};
