/* SPDX-License-Identifier: MIT */
/* Workers with one start and one window: see lab_team.h. */
#include "lab_team.h"

#include "pins.h"
#include "process.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

agb_status agb_lab_crew_of(agb_lab_run *run, agb_lab_crew *out, agb_error *err)
{
    const agb_options *options = run->options;
    int allowed[AGB_MOST_PINS];
    unsigned n_allowed = agb_machine_allowed_cpus(allowed, AGB_MOST_PINS), useful = run->machine->cores;
    n_allowed = n_allowed > AGB_MOST_PINS ? AGB_MOST_PINS : n_allowed;
    *out = (agb_lab_crew){.threads = (unsigned)options->threads, .pins = options->pins};
    if (out->threads == 0)
        out->threads = options->pins.n ? options->pins.n : useful;
    if (out->threads > useful)
        agb_lab_note(run->record, "%u threads share %u processor%s (affinity and cgroup quota): they wait for each "
                     "other", out->threads, useful, useful == 1 ? "" : "s");
    if (out->pins.n > 0)
        return agb_pins_check(&out->pins, out->threads, err);
    if (out->threads <= n_allowed) {
        out->pins.n = out->threads;
        memcpy(out->pins.cpu, allowed, out->threads * sizeof *allowed);
    }
    return AGB_OK;
}

agb_status agb_lab_pin_self(agb_lab_run *run, agb_error *err)
{
    int allowed[AGB_MOST_PINS];
    unsigned n_allowed = agb_machine_allowed_cpus(allowed, AGB_MOST_PINS);
    agb_pool *pool = NULL;
    if (run->options->pins.n > 0) {
        agb_status status = agb_pins_check(&run->options->pins, run->options->pins.n, err);
        if (status != AGB_OK)
            return status;
        allowed[0] = run->options->pins.cpu[0];
    } else if (n_allowed > 0) {
        allowed[0] = allowed[(n_allowed > AGB_MOST_PINS ? AGB_MOST_PINS : n_allowed) - 1];
    } else {
        return AGB_OK;
    }
    agb_status status = agb_pool_create(&pool, 1, allowed, err);    /* pins the thread that makes it */
    agb_pool_destroy(pool);
    return status;
}

size_t agb_lab_worker_counts(unsigned most, unsigned *counts)
{
    enum { FEW = 8, ABOUT = 12 };
    size_t n = 0;
    for (unsigned step = 0; step < ABOUT; step++) {
        unsigned count = most <= FEW ? step + 1 : (unsigned)lround(pow(most, (double)step / (ABOUT - 1)));
        if (count <= most && (n == 0 || count > counts[n - 1]))
            counts[n++] = count;
    }
    return n;
}

typedef struct team {
    void (*body)(void *context, unsigned worker);
    void *context;
    unsigned workers;
    atomic_uint ready, done;
    double start_s, end_s;       /* written by one worker each: the last to be ready, the last to be done */
    atomic_bool started;
} team;

static void work(void *argument, unsigned worker, size_t task)
{
    team *team = argument;
    (void)task;
    if (worker >= team->workers)
        return;
    if (atomic_fetch_add(&team->ready, 1) + 1 == team->workers) {
        team->start_s = agb_now_s();
        atomic_store(&team->started, true);
    }
    while (!atomic_load(&team->started))
        sched_yield();    /* there may be more workers than cores */
    team->body(team->context, worker);
    if (atomic_fetch_add(&team->done, 1) + 1 == team->workers)
        team->end_s = agb_now_s();
}

double agb_team_wall_s(agb_pool *pool, unsigned active, void (*body)(void *context, unsigned worker), void *context)
{
    team team = {.body = body, .context = context, .workers = active};
    agb_pool_each(pool, work, &team);
    return team.end_s - team.start_s;
}

agb_status agb_lab_rate(double amount, double seconds, const char *what, double *rate, agb_error *err)
{
    *rate = amount / seconds;
    if (seconds > 0 && isfinite(*rate))
        return AGB_OK;
    *rate = NAN;
    return agb_fail(err, AGB_ERR_UNSUPPORTED, "lab: %s: it took no time that the clock can see (%g s): ask for more "
                    "work, or check /sys/devices/system/clocksource", what, seconds);
}
