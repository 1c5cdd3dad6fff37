/* SPDX-License-Identifier: MIT */
/* Child processes that answer over a pipe: see process.h. */
#include "process.h"

#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double agb_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

bool agb_pipe_read(int fd, void *bytes, size_t length)
{
    char *at = bytes;
    while (length > 0) {
        ssize_t got = read(fd, at, length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        length -= (size_t)got;
    }
    return true;
}

bool agb_pipe_write(int fd, const void *bytes, size_t length)
{
    const char *at = bytes;
    while (length > 0) {
        ssize_t put = write(fd, at, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        at += put;
        length -= (size_t)put;
    }
    return true;
}

/* A sanitizer's or a debugger's handlers would turn a crash into an ordinary exit: the child dies by its signal. */
static void become_child(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)    /* it died before the line above */
        _exit(1);
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        signal(fatal[i], SIG_DFL);
    agb_interrupt_forget();
    signal(SIGPIPE, SIG_IGN);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) {
        dup2(nothing, STDIN_FILENO);
        close(nothing);
    }
    dup2(STDERR_FILENO, STDOUT_FILENO);
}

static void close_all_but(const int kept[3])
{
    int last = STDERR_FILENO;
    for (size_t i = 0; i < 3; i++)
        last = kept[i] > last ? kept[i] : last;
    for (int fd = STDERR_FILENO + 1; fd < last; fd++)
        if (fd != kept[0] && fd != kept[1] && fd != kept[2])
            close(fd);
    closefrom(last + 1);
}

agb_status agb_process_start(agb_process *process, void (*body)(void *context, int in, int out), void *context,
                             int kept, agb_error *err)
{
    *process = (agb_process){.to = -1, .from = -1};
    int down[2] = {-1, -1}, up[2] = {-1, -1};
    pid_t parent = getpid();
    if (pipe2(down, O_CLOEXEC) == 0 && pipe2(up, O_CLOEXEC) == 0) {
        fflush(NULL);
        process->pid = fork();
        if (process->pid == 0) {
            become_child(parent);
            close_all_but((const int[]){down[0], up[1], kept});
            body(context, down[0], up[1]);
            _exit(0);
        }
    }
    int reason = errno;
    if (process->pid <= 0) {
        process->pid = 0;
        for (int i = 0; i < 2; i++) {
            close(down[i]);
            close(up[i]);
        }
        return agb_fail(err, AGB_ERR_MEMORY, "starting a child process: %s: see `ulimit -n` and `ulimit -u`",
                        strerror(reason));
    }
    close(down[0]);
    close(up[1]);
    process->to = down[1];
    process->from = up[0];
    return AGB_OK;
}

/* Before each answer, to tell it from what does not belong there. */
static const uint64_t mark = UINT64_C(0x8b1f5a3ce2947d06);

bool agb_process_answer(int out, const void *bytes, size_t length)
{
    return agb_pipe_write(out, &mark, sizeof mark) && agb_pipe_write(out, bytes, length);
}

bool agb_process_tell(const agb_process *process, const void *bytes, size_t length)
{
    return agb_pipe_write(process->to, bytes, length);
}

static agb_answer hear_until(const agb_process *process, void *bytes, size_t length, double end_s)
{
    char *at = bytes;
    while (length > 0) {
        double left_ms = (end_s - agb_now_s()) * 1e3;
        if (left_ms <= 0)
            return AGB_ANSWER_LATE;
        struct pollfd ready = {.fd = process->from, .events = POLLIN};
        if (poll(&ready, 1, left_ms > 1e6 ? 1000000 : (int)left_ms + 1) <= 0)
            continue;
        ssize_t got = read(process->from, at, length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return AGB_ANSWER_ENDED;
        at += got;
        length -= (size_t)got;
    }
    return AGB_ANSWER_WHOLE;
}

agb_answer agb_process_hear(const agb_process *process, void *bytes, size_t length, double timeout_s)
{
    double end_s = agb_now_s() + timeout_s;
    uint64_t first;
    agb_answer heard = hear_until(process, &first, sizeof first, end_s);
    if (heard == AGB_ANSWER_WHOLE && first != mark)
        return AGB_ANSWER_SPOILED;
    return heard == AGB_ANSWER_WHOLE ? hear_until(process, bytes, length, end_s) : heard;
}

/* A child whose pipe is closed is usually a child that is ending; one that only closed its pipe gets two seconds. */
static bool ends_by_itself(agb_process *process)
{
    for (double end = agb_now_s() + 2; agb_now_s() < end; poll(NULL, 0, 5)) {
        if (waitpid(process->pid, &process->status, WNOHANG) == process->pid)
            return true;
    }
    return false;
}

void agb_process_end(agb_process *process, bool at_once)
{
    if (process->pid <= 0)
        return;
    close(process->to);
    close(process->from);
    if (at_once || !ends_by_itself(process)) {
        kill(process->pid, SIGKILL);
        while (waitpid(process->pid, &process->status, 0) < 0 && errno == EINTR)
            continue;
    }
    process->pid = 0;
}

int agb_process_signal(const agb_process *process)
{
    return WIFSIGNALED(process->status) ? WTERMSIG(process->status) : 0;
}

void agb_process_describe_end(const agb_process *process, char *text, size_t size)
{
    int number = agb_process_signal(process);
    if (number == 0) {
        snprintf(text, size, "exit status %d", WEXITSTATUS(process->status));
        return;
    }
    const char *abbreviation = sigabbrev_np(number);
    const char *words = sigdescr_np(number);
    snprintf(text, size, "%s (SIG%s)", words ? words : "signal", abbreviation ? abbreviation : "?");
    if (text[0] >= 'A' && text[0] <= 'Z')
        text[0] = (char)(text[0] - 'A' + 'a');
}

/* ---- What children leave behind ---------------------------------------------------------------------------------- */

/* The children of this process, which has one thread; at most `most`. */
static size_t list_children(int *pids, size_t most)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "re");    /* not there in a kernel without CONFIG_PROC_CHILDREN */
    size_t n = 0;
    while (file && n < most && fscanf(file, "%d", &pids[n]) == 1)
        n++;
    if (file)
        fclose(file);
    return n;
}

void agb_strays_adopt(agb_older_children *out)
{
    enum { MOST = sizeof out->pid / sizeof out->pid[0] };
    out->n = list_children(out->pid, MOST);
    if (out->n < MOST)    /* else they cannot all be told from strays */
        prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static bool is_older(const agb_older_children *older, int pid)
{
    for (size_t i = 0; i < older->n; i++)
        if (older->pid[i] == pid)
            return true;
    return false;
}

/* Each that ends may leave children of its own to us; one that starts ever new ones is given up. */
void agb_strays_end(const agb_older_children *older)
{
    enum { MOST = 256, MOST_ROUNDS = 100 };
    int adopting = 0, pids[MOST];
    if (prctl(PR_GET_CHILD_SUBREAPER, &adopting) != 0 || !adopting)
        return;
    bool found = true;
    for (int round = 0; found && round < MOST_ROUNDS; round++) {
        size_t n = list_children(pids, MOST);
        found = false;
        for (size_t i = 0; i < n; i++) {
            if (is_older(older, pids[i]))
                continue;
            found = true;
            kill(pids[i], SIGKILL);
            while (waitpid(pids[i], NULL, 0) < 0 && errno == EINTR)
                continue;
        }
    }
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}
