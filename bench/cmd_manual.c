/* SPDX-License-Identifier: MIT */
/* aggbench manual: the manual page in roff, from the texts that --help prints. `make install` calls it, so that the
 * page is never older than the program. */
#include "commands.h"

#include <string.h>

/* One character as roff takes it literally. */
static void print_character(char c)
{
    static const char special[] = "\\-`'^~";
    static const char *const names[] = {"\\e", "\\-", "\\(ga", "\\(aq", "\\(ha", "\\(ti"};
    const char *at = strchr(special, c);
    if (at)
        fputs(names[at - special], stdout);
    else
        putchar(c);
}

/* In short lines, as roff likes them, of which none begins like a request. */
static void print_all(const char *text)
{
    enum { ENOUGH = 60 };
    for (size_t column = 0; *text; text++) {
        if (*text == '\n' || (*text == ' ' && column > ENOUGH)) {
            putchar('\n');
            column = 0;
            continue;
        }
        if (column++ == 0 && *text == '.')
            fputs("\\&", stdout);
        print_character(*text);
    }
}

static void print_example(const char *example)
{
    printf(".PP\n.EX\n    ");
    print_all(example);
    printf("\n.EE\n");
}

static void print_command(const agb_command *command)
{
    printf(".SS \"");
    print_all(command->name);
    if (command->operand)
        printf(" %s", command->operand);
    printf("\"\n");
    print_all(command->about);
    printf("\n");
    for (const char *const *name = command->options; *name; name++) {
        agb_option_text option;
        if (!agb_option_text_of(command, *name, &option))
            continue;
        printf(".TP\n.B \\-\\-");
        print_all(option.name);
        if (option.argument) {
            printf(" ");
            print_all(option.argument);
        }
        printf("\n");
        print_all(option.about);
        printf(".\n");
    }
    print_example(command->example);
}

static int manual(const agb_options *options, agb_error *err)
{
    (void)err;
    printf(".\\\" Printed by `aggbench manual`.\n"
           ".TH AGGBENCH 1 \"%s\" \"aggbench %s\" \"User commands\"\n"
           ".SH NAME\naggbench \\- a testbed for GROUP BY count strategies\n"
           ".SH SYNOPSIS\n.B aggbench\n.I COMMAND\n[\\fISOURCE\\fR] [\\fIOPTIONS\\fR]\n"
           ".SH DESCRIPTION\n"
           "Counts the groups of a column through strategies that can be swapped,\n"
           "verifies every answer, and reports wall time beside the pipeline slots\n"
           "that retired work or waited for memory.\n"
           ".PP\nA\n.I SOURCE\nis a file, a folder or a quoted glob of files,\n\\- for text from standard input,\n"
           "or rows that are made on the spot: synth:KIND[,key=value...].\n"
           ".SH COMMANDS\n", AGB_DATE, agb_version());
    for (const agb_command *const *command = options->commands; *command; command++)
        if (!(*command)->hidden)
            print_command(*command);
    printf(".SH \"EXIT STATUS\"\n.TP\n0\nall went well\n.TP\n1\nthe run, or one of its strategies, failed\n"
           ".TP\n2\nthe command line was wrong\n"
           ".SH \"SEE ALSO\"\n.BR perf (1),\n.BR perf_event_open (2).\n"
           "How to write a strategy, and how to count groups in a program of one's own,\n"
           "is told by the files in share/doc/aggbench and by the header aggbench.h.\n");
    return AGB_EXIT_FINE;
}

const agb_command agb_command_manual = {
    .name = "manual", .hidden = true,
    .summary = "the manual page in roff",
    .about = "Prints the manual page, made of the texts of --help.",
    .example = "aggbench manual | man -l -",
    .options = agb_no_options, .run = manual};
