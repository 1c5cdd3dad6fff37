/* SPDX-License-Identifier: MIT */
/* A child process that answers over a pipe: the wall between this program and code that may crash, hang or eat memory.
 *
 * The child is a fork, so it sees the parent's loaded table for nothing; the parent must have no threads at that
 * moment. It dies with its parent, leaves no core file, gets an empty standard input, what it prints goes to stderr,
 * and no other file of the parent's is open in it: code that writes to every descriptor spoils its own answer, not a
 * report or another child's. */
#ifndef AGB_PROCESS_H
#define AGB_PROCESS_H

#include "aggbench.h"

typedef struct agb_process {
    int pid;           /* 0 when there is none */
    int to, from;      /* the parent's ends of the two pipes */
    int status;        /* as waitpid gives it, once it has ended */
} agb_process;

typedef enum agb_answer {
    AGB_ANSWER_WHOLE,      /* all bytes came */
    AGB_ANSWER_LATE,       /* not in time */
    AGB_ANSWER_ENDED,      /* the child ended first */
    AGB_ANSWER_SPOILED     /* something else came before it: from code that writes to every descriptor */
} agb_answer;

/* What can be said of a spoiled one. */
#define AGB_SPOILED_ANSWER "it wrote to a file descriptor that is not its own"

/* Runs body(context, in, out) in a child, which ends when body returns. kept: a descriptor that stays open there, or
 * -1. */
agb_status agb_process_start(agb_process *process, void (*body)(void *context, int in, int out), void *context,
                             int kept, agb_error *err);
/* false when the child no longer reads. */
bool agb_process_tell(const agb_process *process, const void *bytes, size_t length);
/* Waits at most timeout_s for all `length` bytes of one answer. */
agb_answer agb_process_hear(const agb_process *process, void *bytes, size_t length, double timeout_s);
/* Closes the pipes and waits until the child is gone. at_once: by SIGKILL; else it has two seconds to end by itself.
 * Does nothing when it is over already. */
void agb_process_end(agb_process *process, bool at_once);
/* After the end: "segmentation fault (SIGSEGV)" or "exit status 3". */
void agb_process_describe_end(const agb_process *process, char *text, size_t size);
/* Ended by a signal that this program did not send: its number, else 0. */
int agb_process_signal(const agb_process *process);

/* Children that were there before: of a shell that became this program. */
typedef struct agb_older_children {
    int pid[64];
    size_t n;
} agb_older_children;

/* From here on, what a child leaves running when it ends becomes a child of this process. */
void agb_strays_adopt(agb_older_children *out);
/* Ends those children, and theirs, when all our own have ended. */
void agb_strays_end(const agb_older_children *older);

/* In the child: one answer, to be heard in one piece; false when the parent is gone. */
bool agb_process_answer(int out, const void *bytes, size_t length);
/* Whole reads and writes; false when the other end is gone. */
bool agb_pipe_read(int fd, void *bytes, size_t length);
bool agb_pipe_write(int fd, const void *bytes, size_t length);

/* Seconds of the monotonic clock. */
double agb_now_s(void);

#endif
