/* SPDX-License-Identifier: MIT */
/* aggbench COMMAND [OPERAND] [OPTIONS]: picks the command, prints the one sentence of a failure, gives the exit code.
 * Adding a command is adding cmd_<name>.c and a line to the list below. */
#include "commands.h"
#include "interrupt.h"
#include "machine.h"
#include "output.h"
#include "schema_file.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const agb_command *const commands[] = {
    &agb_command_run,
    &agb_command_pivot,
    &agb_command_list,
    &agb_command_describe,
    &agb_command_load,
    &agb_command_verify,
    &agb_command_compare,
    &agb_command_matrix,
    &agb_command_new,
    &agb_command_lab,
    &agb_command_doctor,
    &agb_command_investigate,
    &agb_command_report,
    &agb_command_help,
    &agb_command_count_once,
    &agb_command_completion,
    &agb_command_manual,
    NULL};

static void print_version(FILE *to)
{
    agb_machine machine;
    agb_machine_read(&machine);
    fprintf(to, "aggbench %s (commit %s, %s %s)\n", AGB_VERSION, machine.commit, machine.compiler, machine.flags);
}

static int run_command(int n, char **words, agb_error *err)
{
    const agb_command *command = agb_command_find(commands, words[0], err);
    if (!command)
        return AGB_EXIT_USAGE;
    if (n == 2 && strcmp(words[1], "--version") == 0) {
        print_version(stdout);
        return AGB_EXIT_FINE;
    }
    agb_options options;
    if (agb_options_parse(&options, command, n - 1, words + 1, err) != AGB_OK)
        return AGB_EXIT_USAGE;
    if (options.help) {
        agb_help_command(stdout, command);
        return AGB_EXIT_FINE;
    }
    options.commands = commands;
    agb_interrupt_announce(command->name,
                           command->interrupted ? command->interrupted : "nothing is reported: run it again");
    int code = command->run(&options, err);
    agb_schema_file_name(err, options.schema);
    return code;
}

/* What was printed must also have arrived. */
static int flush_stdout(int code, agb_error *err)
{
    int reason = agb_write_error(stdout);
    if (reason == 0)
        return code;
    if (err->status == AGB_OK)
        agb_cannot_write(NULL, reason, err);
    return AGB_EXIT_FAILED;
}

/* A standard descriptor that was closed at the start would be the number of the next file to be opened, which would
 * then take what is printed. Each gets the wrong end of /dev/null, so that its use fails as it should. */
static void fill_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Where the stack would not hold a report the program could only crash. */
static bool raise_stack(agb_error *err)
{
    enum { LEAST = 256 << 10, ENOUGH = 8 << 20 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= LEAST)
        return true;
    limit.rlim_cur = limit.rlim_max < ENOUGH ? limit.rlim_max : ENOUGH;
    if (limit.rlim_cur >= LEAST && setrlimit(RLIMIT_STACK, &limit) == 0)
        return true;
    agb_fail(err, AGB_ERR_MEMORY, "the stack is limited to %u KiB, at least %u are needed: raise `ulimit -s`",
             (unsigned)(limit.rlim_cur >> 10), LEAST >> 10);
    return false;
}

/* Columns of .agb files stand in the file. Whoever cuts it short takes them away, and only this signal tells: end with
 * a sentence instead of a crash. Any other bus error is raised again, and then ends the process. */
static void tell_of_cut_file(int number, siginfo_t *info, void *context)
{
    static const char sentence[] = "aggbench: a file that is in use was cut short by another program, or its disk "
                                   "failed: replace files instead of writing over them, and run again\n";
    (void)context;
    if (info->si_code != BUS_ADRERR) {
        raise(number);
        return;
    }
    (void)!write(STDERR_FILENO, sentence, sizeof sentence - 1);
    _exit(AGB_EXIT_FAILED);
}

int main(int argc, char **argv)
{
    fill_standard_descriptors();
    struct sigaction bus_error = {.sa_sigaction = tell_of_cut_file, .sa_flags = SA_SIGINFO | SA_RESETHAND};
    sigaction(SIGBUS, &bus_error, NULL);
    signal(SIGPIPE, SIG_IGN);    /* and then writing fails: in words */
    signal(SIGXFSZ, SIG_IGN);
    agb_error err = {0};
    int code = AGB_EXIT_FINE;
    if (argc < 2) {
        agb_help_overview(stderr, commands);
        return AGB_EXIT_USAGE;
    }
    if (!raise_stack(&err))
        code = AGB_EXIT_FAILED;
    else if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        agb_help_overview(stdout, commands);
    else if (strcmp(argv[1], "--version") == 0)
        print_version(stdout);
    else
        code = run_command(argc - 1, argv + 1, &err);
    code = flush_stdout(code, &err);
    if (code != AGB_EXIT_FINE && err.text[0])
        fprintf(stderr, "aggbench: %s\n", err.text);
    return code;
}
