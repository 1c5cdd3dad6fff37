/* SPDX-License-Identifier: MIT */
/* aggbench help [COMMAND]: what --help prints, asked for as other programs are asked. */
#include "commands.h"

#include <string.h>

void agb_help_overview(FILE *to, const agb_command *const *commands)
{
    fprintf(to, "aggbench COMMAND [SOURCE] [OPTIONS]: a testbed for GROUP BY count strategies\n\n");
    for (const agb_command *const *command = commands; *command; command++) {
        char left[64];
        if ((*command)->hidden)
            continue;
        agb_help_usage(left, sizeof left, *command);
        agb_help_entry(to, left, 25, (*command)->summary);
    }
    fprintf(to, "\n`aggbench COMMAND --help` shows a command's options; --version names the build.\n"
                "Exit codes: 0 fine, 1 the run failed or an aggregator did, 2 the command line was wrong.\n\n"
                "Example: %s\n", agb_command_run.example);
}

const agb_command *agb_command_find(const agb_command *const *commands, const char *name, agb_error *err)
{
    enum { MOST = 32 };
    const char *names[MOST + 1] = {0};
    for (size_t i = 0, n = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
        if (!commands[i]->hidden && n < MOST)
            names[n++] = commands[i]->name;
    }
    const char *near = agb_nearest_name(names, name);
    agb_fail(err, AGB_ERR_NOT_FOUND, "%s: no such command%s%s: see aggbench --help", *name ? name : "(empty)",
             near ? ": did you mean " : "", near ? near : "");
    return NULL;
}

static int help(const agb_options *options, agb_error *err)
{
    if (!options->operand) {
        agb_help_overview(stdout, options->commands);
        return AGB_EXIT_FINE;
    }
    const agb_command *command = agb_command_find(options->commands, options->operand, err);
    if (!command)
        return AGB_EXIT_USAGE;
    agb_help_command(stdout, command);
    return AGB_EXIT_FINE;
}

const agb_command agb_command_help = {
    .name = "help", .operand = "COMMAND",
    .summary = "this list, or what a command does and its options",
    .about = "Prints the list of commands, or what one of them does and the options it takes: the same as\n"
             "`aggbench --help` and `aggbench COMMAND --help`.",
    .example = "aggbench help run",
    .options = agb_no_options, .run = help};
