/* SPDX-License-Identifier: MIT */
/* A program of the user's that is watched: see program.h. */
#include "program.h"

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What this process ignores must not be ignored by a stranger. */
static void become_program(char *const argv[], bool quiet_stdout, int gate, int answer, pid_t parent)
{
    char go;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (quiet_stdout)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    if (!agb_pipe_read(gate, &go, 1))
        _exit(1);
    execvp(argv[0], argv);
    int reason = errno;
    agb_pipe_write(answer, &reason, sizeof reason);
    _exit(127);
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

agb_status agb_program_hold(agb_program *out, char *const argv[], bool quiet_stdout, agb_error *err)
{
    int gate[2] = {-1, -1}, answer[2] = {-1, -1};
    pid_t parent = getpid();
    *out = (agb_program){.gate = -1, .answer = -1, .watch = -1};
    if (pipe2(gate, O_CLOEXEC) == 0 && pipe2(answer, O_CLOEXEC) == 0) {
        fflush(NULL);
        out->pid = fork();
        if (out->pid == 0) {
            close(gate[1]);
            become_program(argv, quiet_stdout, gate[0], answer[1], parent);
        }
    }
    int reason = errno;
    close_end(&gate[0]);
    close_end(&answer[1]);
    out->gate = gate[1];
    out->answer = answer[0];
    if (out->pid > 0) {
        out->watch = (int)syscall(SYS_pidfd_open, out->pid, 0);
        return AGB_OK;
    }
    out->pid = 0;
    agb_program_release(out);
    return agb_fail(err, AGB_ERR_MEMORY, "starting %s: %s", argv[0], strerror(reason));
}

agb_status agb_program_go(agb_program *program, const char *name, agb_error *err)
{
    int reason = 0;
    program->start_s = agb_now_s();
    agb_pipe_write(program->gate, "g", 1);
    close_end(&program->gate);
    bool failed = agb_pipe_read(program->answer, &reason, sizeof reason);    /* executing closes the pipe */
    close_end(&program->answer);
    if (!failed)
        return AGB_OK;
    agb_program_reap(program);
    return agb_fail(err, reason == ENOENT ? AGB_ERR_NOT_FOUND : AGB_ERR_IO, "doctor: %s: %s: %s", name,
                    strerror(reason), reason == ENOENT ? "there is no such program in PATH: check its name"
                                     : "it cannot be executed: check its path and rights");
}

bool agb_program_ended_within(const agb_program *program, double seconds)
{
    static const double without_pidfd_s = 0.005;
    struct pollfd over = {.fd = program->watch, .events = POLLIN};
    double end_s = agb_now_s() + seconds;
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)program->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == program->pid)
            return true;
        double left_s = end_s - agb_now_s();
        if (left_s <= 0)
            return false;
        if (program->watch < 0 && left_s > without_pidfd_s)
            left_s = without_pidfd_s;
        if (poll(&over, program->watch >= 0, (int)(left_s * 1e3) + 1) < 0 && errno == EINTR)
            return false;    /* the caller asks for signals */
    }
}

void agb_program_reap(agb_program *program)
{
    while (wait4(program->pid, &program->status, 0, &program->usage) < 0 && errno == EINTR)
        continue;
    program->wall_s = agb_now_s() - program->start_s;
    program->pid = 0;
    close_end(&program->watch);
}

void agb_program_end(agb_program *program, int number)
{
    static const double by_itself_s = 0.2, when_told_s = 2;
    if (agb_program_ended_within(program, by_itself_s))
        return;
    kill(program->pid, number);
    kill(program->pid, SIGCONT);
    if (!agb_program_ended_within(program, when_told_s))
        kill(program->pid, SIGKILL);
}

void agb_program_release(agb_program *program)
{
    close_end(&program->gate);      /* held: it reads the end, and ends */
    close_end(&program->answer);
    if (program->pid > 0)
        agb_program_reap(program);
    close_end(&program->watch);
}
