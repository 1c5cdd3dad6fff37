/* SPDX-License-Identifier: MIT */
/* Other people's programs as child processes: see tool.h. */
#include "tool.h"

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_STARTED = 127 };

static void become_tool(const agb_tool *tool, char *const argv[], const int *inherited, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)    /* it died before the line above */
        _exit(1);
    int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(tool->said, STDOUT_FILENO);
    dup2(tool->said, STDERR_FILENO);
    for (; *inherited >= 0; inherited++)
        fcntl(*inherited, F_SETFD, 0);
    execvp(argv[0], argv);
    dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
    _exit(NOT_STARTED);
}

agb_status agb_tool_start(agb_tool *tool, char *const argv[], const int *inherited, double timeout_s, agb_error *err)
{
    *tool = (agb_tool){.end_s = agb_now_s() + timeout_s};
    tool->said = memfd_create("aggbench tool", MFD_CLOEXEC);
    if (tool->said >= 0) {
        fflush(NULL);
        pid_t parent = getpid();
        tool->pid = fork();
        if (tool->pid == 0)
            become_tool(tool, argv, inherited, parent);
    }
    if (tool->pid > 0)
        return AGB_OK;
    tool->pid = 0;
    return agb_fail(err, AGB_ERR_MEMORY, "starting %s: %s", argv[0], strerror(errno));
}

static void end(agb_tool *tool)
{
    kill(tool->pid, SIGKILL);
    while (waitpid(tool->pid, &tool->status, 0) < 0 && errno == EINTR)
        continue;
    tool->pid = 0;
}

bool agb_tool_is_over(agb_tool *tool)
{
    if (tool->pid == 0)
        return true;
    if (waitpid(tool->pid, &tool->status, WNOHANG) == tool->pid) {
        tool->pid = 0;
        return true;
    }
    tool->late = agb_now_s() > tool->end_s;
    if (tool->late)
        end(tool);
    return tool->late;
}

void agb_tool_read(const agb_tool *tool, char *text, size_t size)
{
    ssize_t got = tool->said >= 0 ? pread(tool->said, text, size - 1, 0) : 0;
    text[got > 0 ? got : 0] = '\0';
}

/* Behind valgrind's "==123== " before each of its lines. */
static const char *behind_mark(const char *line)
{
    size_t digits = strncmp(line, "==", 2) == 0 ? strspn(line + 2, "0123456789") : 0;
    if (digits == 0 || strncmp(line + 2 + digits, "==", 2) != 0)
        return line;
    line += 2 + digits + 2;
    return line + strspn(line, " ");
}

/* The last line that says something, cut to fit. */
static void last_line(const agb_tool *tool, char *line, size_t size)
{
    char text[8192], *save = NULL;
    agb_tool_read(tool, text, sizeof text);
    line[0] = '\0';
    for (char *next = strtok_r(text, "\n", &save); next; next = strtok_r(NULL, "\n", &save)) {
        const char *words = behind_mark(next);
        if (words[strspn(words, " ")])
            snprintf(line, size, "%s", words);
    }
}

bool agb_tool_succeeded(const agb_tool *tool, char *how, size_t size)
{
    char line[160];
    how[0] = '\0';
    if (!tool->late && WIFEXITED(tool->status) && WEXITSTATUS(tool->status) == 0)
        return true;
    last_line(tool, line, sizeof line);
    if (tool->late)
        snprintf(how, size, "it took too long and was ended");
    else if (WIFSIGNALED(tool->status))
        snprintf(how, size, "it ended by signal %d%s%s", WTERMSIG(tool->status), line[0] ? ": " : "", line);
    else
        snprintf(how, size, "it ended with exit status %d%s%s", WEXITSTATUS(tool->status), line[0] ? ": " : "", line);
    return false;
}

void agb_tool_release(agb_tool *tool)
{
    if (tool->pid > 0)
        end(tool);
    if (tool->said > 0)
        close(tool->said);
    *tool = (agb_tool){.said = -1};
}

bool agb_tool_exists(const char *name)
{
    const char *path = getenv("PATH");
    char *copy = strdup(path ? path : ""), *rest = copy, *folder;
    bool found = false;
    while (copy && !found && (folder = strsep(&rest, ":"))) {
        char full[4096];
        snprintf(full, sizeof full, "%s/%s", *folder ? folder : ".", name);
        found = access(full, X_OK) == 0;
    }
    free(copy);
    return found;
}
