/* SPDX-License-Identifier: MIT */
/* aggbench doctor: which kind of busy is this machine, this process, or this program? Gathers evidence over one window,
 * then lets the steps of doctor.h speak. */
#include "commands.h"
#include "doctor.h"
#include "doctor_counting.h"
#include "interrupt.h"
#include "output.h"
#include "process.h"
#include "processor.h"
#include "program.h"
#include "progress.h"
#include "sysfile.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { LOOKS = 20, MOST_THREADS = 64, MOST_CPUS = 1024 };

static const double usual_window_s = 3, first_wait_s = 0.005, longest_wait_s = 0.2;
static const double most_scanning = 0.05;    /* of the time, spent on looking */

typedef struct visit {
    const agb_options *options;
    agb_evidence evidence;
    agb_perf_place place;
    agb_perf perf;
    agb_perf_target slot;            /* perf's context */
    agb_counting *counting;
    agb_load_sampler *sampler;
    agb_program program;
    agb_output output;
} visit;

/* ---- Instruments ------------------------------------------------------------------------------------------------- */

static size_t every_processor(agb_perf_target *targets, int tid, bool inherited)
{
    char online[1024];
    size_t n = 0;
    agb_sysfile_read("", "/sys/devices/system/cpu/online", online, sizeof online);
    for (int cpu = 0; cpu < MOST_CPUS; cpu++)
        if (agb_processor_list_covers(online, &cpu, 1))
            targets[n++] = (agb_perf_target){.tid = tid, .cpu = cpu, .inherited = inherited};
    return n;
}

static size_t every_thread(const agb_evidence *evidence, agb_perf_target *targets, bool inherited)
{
    size_t n = 0;
    for (size_t i = 0; i < evidence->tasks.n && n < MOST_THREADS; i++)
        targets[n++] = (agb_perf_target){.tid = evidence->tasks.task[i].tid, .cpu = -1, .inherited = inherited};
    return n;
}

/* One descriptor for each event and target can be more than a process usually gets. */
static void allow_many_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void start_instruments(visit *visit)
{
    agb_evidence *evidence = &visit->evidence;
    agb_perf_target targets[MOST_CPUS];
    size_t n;
    allow_many_files();
    visit->perf = agb_perf_kernel_on(&visit->slot);
    visit->place = (agb_perf_place){.root = "", .perf = &visit->perf};
    agb_processor_read("", &visit->place.cpu);
    if (evidence->subject == AGB_SUBJECT_MACHINE)
        n = every_processor(targets, -1, false);
    else
        n = every_thread(evidence, targets, true);
    if (evidence->support.available)
        visit->counting = agb_counting_start(&visit->place, &visit->slot, &evidence->support, targets, n,
                                             evidence->not_counted, sizeof evidence->not_counted);
    if (evidence->subject == AGB_SUBJECT_PROCESS)
        n = every_thread(evidence, targets, false);
    else if (evidence->subject == AGB_SUBJECT_COMMAND)
        n = every_processor(targets, evidence->pid, true);
    visit->sampler = agb_load_sampler_start("", targets, n, &evidence->loads);
    if (visit->counting)
        agb_counting_turn(visit->counting);
}

static void read_instruments(visit *visit)
{
    if (visit->counting)
        agb_counting_turn(visit->counting);
    if (visit->sampler)
        agb_load_sampler_drain(visit->sampler, &visit->evidence.loads);
}

static void end_instruments(visit *visit)
{
    if (visit->counting) {
        agb_counting_end(visit->counting, &visit->evidence.metrics);
        visit->evidence.counted = true;
    }
    agb_load_sampler_end(visit->sampler, &visit->evidence.loads);
    visit->counting = NULL;
    visit->sampler = NULL;
}

/* ---- A window over what runs already ----------------------------------------------------------------------------- */

static agb_status watch_running(visit *visit, agb_error *err)
{
    agb_evidence *evidence = &visit->evidence;
    double window_s = visit->options->seconds ? (double)visit->options->seconds : usual_window_s;
    agb_progress_printer printer = agb_progress_printer_of(stderr, visit->options->quiet, false);
    double start_s = agb_now_s();
    agb_status status = AGB_OK;
    for (unsigned look = 1; look <= LOOKS && status == AGB_OK && !evidence->vanished; look++) {
        double left_s = start_s + window_s * look / LOOKS - agb_now_s();
        agb_progress_print(&printer, &(agb_progress){"watching", evidence->name, look - 1, LOOKS});
        if (left_s > 0)
            poll(NULL, 0, (int)(left_s * 1e3) + 1);
        evidence->interrupted = agb_interrupt_signal() != 0;
        read_instruments(visit);
        status = agb_evidence_look(evidence, err);
        if (evidence->interrupted)
            break;
    }
    agb_progress_end(&printer);
    return status;
}

/* ---- A program from its start to its end ------------------------------------------------------------------------- */

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void keep_end(visit *visit)
{
    const agb_program *program = &visit->program;
    const struct rusage *usage = &program->usage;
    visit->evidence.command = (agb_command_end){
        .ended = true, .status = program->status, .wall_s = program->wall_s,
        .user_s = seconds_of(usage->ru_utime), .sys_s = seconds_of(usage->ru_stime),
        .peak_bytes = (uint64_t)usage->ru_maxrss * 1024, .major_faults = (uint64_t)usage->ru_majflt,
        .voluntary = (uint64_t)usage->ru_nvcsw, .involuntary = (uint64_t)usage->ru_nivcsw};
}

/* Looks often while it is young, since it may be short, and never spends more than a part of the time on looking. */
static double next_wait_s(double wait_s, double scan_s)
{
    double least_s = scan_s / most_scanning;
    wait_s = 2 * wait_s < longest_wait_s ? 2 * wait_s : longest_wait_s;
    return wait_s > least_s ? wait_s : least_s;
}

static agb_status watch_program(visit *visit, agb_error *err)
{
    agb_evidence *evidence = &visit->evidence;
    double limit_s = visit->options->seconds ? (double)visit->options->seconds : 0, wait_s = first_wait_s;
    agb_status status = agb_program_go(&visit->program, visit->options->program[0], err);
    bool over = false;
    while (status == AGB_OK && !over && !evidence->interrupted) {
        over = agb_program_ended_within(&visit->program, wait_s);
        evidence->interrupted = agb_interrupt_signal() != 0;
        bool within = limit_s == 0 || agb_now_s() - visit->program.start_s < limit_s;
        if (within || evidence->tasks.looks < 2) {
            read_instruments(visit);
            status = agb_evidence_look(evidence, err);
        }
        wait_s = next_wait_s(wait_s, evidence->tasks.scan_s);
    }
    if (visit->program.pid > 0 && evidence->interrupted)
        agb_program_end(&visit->program, agb_interrupt_signal());
    if (visit->program.pid > 0) {
        agb_program_reap(&visit->program);
        keep_end(visit);
    }
    return status;
}

/* ---- The visit --------------------------------------------------------------------------------------------------- */

static void learn_machine(agb_evidence *evidence)
{
    agb_error error = {0};
    agb_machine_read(&evidence->machine);
    agb_counters_probe(&evidence->support);
    if (evidence->support.available)
        agb_counters_calibrate(&evidence->support);
    evidence->has_line = agb_ipc_line_load(&evidence->line, &evidence->machine, &error) == AGB_OK;
    snprintf(evidence->no_line, sizeof evidence->no_line, "%.250s", error.text);
}

/* An affinity of the machine as a whole is that of this process: what a program started from here would get. */
static agb_status gather(visit *visit, agb_error *err)
{
    agb_evidence *evidence = &visit->evidence;
    agb_status status = AGB_OK;
    learn_machine(evidence);
    if (evidence->subject == AGB_SUBJECT_MACHINE)
        agb_sysfile_field("", "/proc/self/status", "Cpus_allowed_list", evidence->allowed, sizeof evidence->allowed);
    if (evidence->subject == AGB_SUBJECT_COMMAND) {
        status = agb_program_hold(&visit->program, visit->options->program, !visit->options->output, err);
        evidence->pid = visit->program.pid;
        snprintf(evidence->name, sizeof evidence->name, "%s", basename(visit->options->program[0]));
    }
    if (status == AGB_OK)
        status = agb_evidence_look(evidence, err);
    if (status != AGB_OK)
        return status;
    start_instruments(visit);
    status = evidence->subject == AGB_SUBJECT_COMMAND ? watch_program(visit, err) : watch_running(visit, err);
    end_instruments(visit);
    agb_evidence_close(evidence);
    return status;
}

static agb_status write_report(visit *visit, agb_error *err)
{
    agb_diagnosis *diagnosis = calloc(1, sizeof *diagnosis);
    if (!diagnosis)
        return agb_fail(err, AGB_ERR_MEMORY, "doctor: no memory for the report");
    agb_doctor_walk(&visit->evidence, diagnosis);
    agb_status status = agb_output_begin(&visit->output, err);
    if (status == AGB_OK) {
        if (visit->options->format == AGB_FORMAT_JSON)
            agb_doctor_report_json(visit->output.file, &visit->evidence, diagnosis);
        else
            agb_doctor_report_table(visit->output.file, &visit->evidence, diagnosis);
        status = agb_output_close(&visit->output, err);
    }
    free(diagnosis);
    return status;
}

/* The report is out; what was wrong with the visit itself still decides the exit code. */
static agb_status judge_visit(const visit *visit, agb_error *err)
{
    const agb_evidence *evidence = &visit->evidence;
    int status = evidence->command.status;
    if (evidence->interrupted)
        return agb_fail(err, AGB_ERR_IO, "doctor: interrupted by SIG%s: the report is of the time until then",
                        sigabbrev_np(agb_interrupt_signal()));
    if (evidence->command.ended && WIFSIGNALED(status))
        return agb_fail(err, AGB_ERR_IO, "doctor: %s: ended by SIG%s", visit->options->program[0],
                        sigabbrev_np(WTERMSIG(status)));
    if (evidence->command.ended && WEXITSTATUS(status) != 0)
        return agb_fail(err, AGB_ERR_IO, "doctor: %s: ended with exit status %d", visit->options->program[0],
                        WEXITSTATUS(status));
    return AGB_OK;
}

static agb_status check_subject(const agb_options *options, agb_error *err)
{
    if (options->program && options->pid)
        return agb_fail(err, AGB_ERR_ARGUMENT, "doctor: --pid %llu and a program: give one of them",
                        (unsigned long long)options->pid);
    if (options->program && !options->program[0])
        return agb_fail(err, AGB_ERR_ARGUMENT, "doctor: no program behind --: for example: aggbench doctor -- make");
    return AGB_OK;
}

static int doctor(const agb_options *options, agb_error *err)
{
    visit *visit = calloc(1, sizeof *visit);
    agb_interrupt interrupt;
    agb_older_children older;
    if (!visit) {
        agb_fail(err, AGB_ERR_MEMORY, "doctor: no memory");
        return AGB_EXIT_FAILED;
    }
    visit->options = options;
    visit->program = (agb_program){.gate = -1, .answer = -1, .watch = -1};
    visit->evidence = (agb_evidence){.root = "", .pid = (int)options->pid, .subject = options->program ?
                                     AGB_SUBJECT_COMMAND : options->pid ? AGB_SUBJECT_PROCESS : AGB_SUBJECT_MACHINE};
    agb_status status = check_subject(options, err);
    int code = status == AGB_OK ? AGB_EXIT_FINE : AGB_EXIT_USAGE;
    if (status == AGB_OK)
        status = agb_output_prepare(&visit->output, options->output, err);
    if (status == AGB_OK) {
        agb_strays_adopt(&older);
        agb_interrupt_watch(&interrupt);
        status = gather(visit, err);
        agb_interrupt_release(&interrupt);
        if (status == AGB_OK)
            status = write_report(visit, err);
        if (status == AGB_OK)
            status = judge_visit(visit, err);
        agb_program_release(&visit->program);
        if (visit->evidence.interrupted)
            agb_strays_end(&older);
    }
    if (code == AGB_EXIT_FINE && status != AGB_OK)
        code = AGB_EXIT_FAILED;
    agb_output_release(&visit->output);
    agb_evidence_release(&visit->evidence);
    free(visit);
    return code;
}

static const char *const doctor_options[] = {"pid", "seconds", "format", "output", "quiet", NULL};

const agb_command agb_command_doctor = {
    .name = "doctor",
    .summary = "which kind of busy is this machine, process or program? step by step",
    .about = "Walks the troubleshooting path: is it on a processor at all, is it pinned, does it compute or wait,\n"
             "for which memory, with whom does it share lines, which node, which pages, what disturbs it. It stops\n"
             "where a step answers. Each step says what was measured, what that rules out, what to do next, and\n"
             "for what cannot be seen here the reason and the command to run elsewhere.\n\n"
             "    aggbench doctor                  the machine\n"
             "    aggbench doctor --pid PID        a process that runs already\n"
             "    aggbench doctor -- PROGRAM ...   a program, from its start to its end\n\n"
             "The program has the terminal. What it writes to standard output goes to standard error, because the\n"
             "report is on standard output, unless --output names a file for the report. Ctrl-C ends both; the\n"
             "report is then of the time until then. Exit codes: 0 examined (and the program ended with 0),\n"
             "1 it could not be examined, the program failed, or interrupted; 2 the command line was wrong.",
    .example = "aggbench doctor --pid 1234",
    .options = doctor_options, .takes_program = true, .run = doctor};
