/* SPDX-License-Identifier: MIT */
/* Counting of other threads: passes take turns, sums go over all targets, and a thread that has ended is no failure. */
#include "fake_root.h"

#include "doctor_counting.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/wait.h>
#include <time.h>

/* ---- Perf events that count their turns -------------------------------------------------------------------------- */

enum { MOST = 32, CYCLES = 3000000, INSTRUCTIONS = 6000000 };

typedef struct fake {
    agb_perf_target slot;
    int refuse_tid, error;
    unsigned opened, closed, running, most_running;
    unsigned handles;
    int tid[MOST];
    bool on[MOST], leader[MOST];
    uint64_t turns[MOST];
} fake;

static int fake_open(void *context, uint32_t type, uint64_t config, uint64_t config1, int leader)
{
    fake *self = context;
    (void)type, (void)config, (void)config1;
    if (self->slot.tid == self->refuse_tid)
        return -self->error;
    assert_true(self->handles < MOST);
    self->tid[self->handles] = self->slot.tid;
    self->leader[self->handles] = leader < 0;
    self->opened++;
    return (int)self->handles++;
}

static int fake_enable(void *context, int leader)
{
    fake *self = context;
    self->on[leader] = true;
    self->turns[leader]++;
    self->running++;
    self->most_running = self->running > self->most_running ? self->running : self->most_running;
    return 0;
}

static int fake_disable(void *context, int leader)
{
    fake *self = context;
    self->running -= self->on[leader];
    self->on[leader] = false;
    return 0;
}

static int fake_read(void *context, int leader, agb_perf_reading *out)
{
    fake *self = context;
    uint64_t turns = self->turns[leader];
    *out = (agb_perf_reading){.events = 2, .enabled_ns = turns * 1000000, .running_ns = turns * 1000000,
                              .value = {turns * CYCLES, turns * INSTRUCTIONS}};
    return 0;
}

static void fake_close(void *context, int handle)
{
    (void)handle;
    ((fake *)context)->closed++;
}

static void metrics(unsigned pass, const uint64_t *values, agb_metrics *out);

static const agb_pass passes[] = {
    {.name = "plain", .events = {{"CYC", 1, 0, NULL}, {"INS", 2, 0, NULL}}},
    {.name = "other", .events = {{"CYC", 1, 0, NULL}, {"WALKS", 3, 0, NULL}}},
    {.name = NULL}};
static const agb_slots family = {.name = "test", .uarch = "test", .passes = passes, .metrics = metrics};

static void metrics(unsigned pass, const uint64_t *values, agb_metrics *out)
{
    agb_metrics_set_plain(out, &passes[pass], values);
}

static agb_perf_place place_of(fake *self, agb_perf *perf)
{
    *perf = (agb_perf){self, fake_open, fake_enable, fake_disable, fake_read, fake_close};
    return (agb_perf_place){.root = "", .perf = perf};
}

static const agb_counter_support support = {.available = true, .family = &family, .passes = 2, .pass_of = {0, 1}};

static void passes_take_turns_and_sums_go_over_all_targets(void **state)
{
    (void)state;
    fake self = {.refuse_tid = -1};
    agb_perf perf;
    agb_perf_place place = place_of(&self, &perf);
    const agb_perf_target targets[] = {{.tid = 1, .cpu = -1}, {.tid = 2, .cpu = -1}};
    char reason[256];
    agb_metrics out;
    agb_counting *counting = agb_counting_start(&place, &self.slot, &support, targets, 2, reason, sizeof reason);
    assert_non_null(counting);
    for (int turn = 0; turn < 5; turn++)
        agb_counting_turn(counting);
    assert_int_equal(self.most_running, 2);    /* never two passes at once */
    agb_counting_end(counting, &out);
    assert_true(out.has[AGB_IPC]);
    assert_float_equal(out.value[AGB_IPC], 2, 1e-6);
    assert_float_equal(out.value[AGB_INSTRUCTIONS], 2.0 * 3 * INSTRUCTIONS, 1);    /* two threads, three turns */
    assert_float_equal(out.value[AGB_DTLB_WALKS], 2.0 * 2 * INSTRUCTIONS, 1);
    assert_int_equal(self.opened, 8);
    assert_int_equal(self.closed, self.opened);
}

static void thread_that_has_ended_is_left_out(void **state)
{
    (void)state;
    fake self = {.refuse_tid = 1 << 22, .error = ESRCH};    /* beyond what a kernel gives */
    agb_perf perf;
    agb_perf_place place = place_of(&self, &perf);
    const agb_perf_target targets[] = {{.tid = 1 << 22, .cpu = -1}, {.tid = 2, .cpu = -1}};
    char reason[256];
    agb_metrics out;
    agb_counting *counting = agb_counting_start(&place, &self.slot, &support, targets, 2, reason, sizeof reason);
    assert_non_null(counting);
    agb_counting_turn(counting);
    agb_counting_end(counting, &out);
    assert_float_equal(out.value[AGB_INSTRUCTIONS], INSTRUCTIONS, 1);
}

static void refusal_is_told_and_leaves_nothing_open(void **state)
{
    (void)state;
    fake self = {.refuse_tid = (int)getpid(), .error = EACCES};
    agb_perf perf;
    agb_perf_place place = place_of(&self, &perf);
    const agb_perf_target targets[] = {{.tid = 2, .cpu = -1}, {.tid = (int)getpid(), .cpu = -1}};
    char reason[256];
    assert_null(agb_counting_start(&place, &self.slot, &support, targets, 2, reason, sizeof reason));
    assert_non_null(strstr(reason, "permission denied"));
    assert_int_equal(self.closed, self.opened);
}

/* ---- The kernel's own ------------------------------------------------------------------------------------------- */

static void clock_metrics(unsigned pass, const uint64_t *values, agb_metrics *out)
{
    (void)pass;
    agb_metrics_set(out, AGB_CYCLES, (double)values[0]);
}

/* Nanoseconds on a processor, which every kernel counts, in place of cycles. */
static const agb_pass clock_passes[] = {{.name = "clock", .events = {{"CYC", PERF_COUNT_SW_TASK_CLOCK, 0, NULL}}},
                                        {.name = NULL}};
static const agb_slots clock_family = {.name = "clock", .uarch = "test", .passes = clock_passes,
                                       .metrics = clock_metrics, .pmu = "software"};

enum { SPUN_MS = 50 };

static void spin_for(int milliseconds)
{
    struct timespec now;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < milliseconds);
}

/* It starts a child of its own when it is told to, and does nothing itself. */
static pid_t start_family(int *told)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t parent = fork();
    if (parent == 0) {
        char go;
        (void)!read(ends[0], &go, 1);
        pid_t child = fork();
        if (child == 0) {
            spin_for(SPUN_MS);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        _exit(0);
    }
    close(ends[0]);
    *told = ends[1];
    return parent;
}

static void children_of_another_process_are_counted_by_the_kernel(void **state)
{
    (void)state;
    fake_root root = fake_root_create();
    fake_root_write(&root, "/sys/bus/event_source/devices/software/type", "1\n");
    agb_counter_support clock = {.available = true, .family = &clock_family, .passes = 1, .pass_of = {0}};
    agb_perf_target slot = {0};
    agb_perf perf = agb_perf_kernel_on(&slot);
    agb_perf_place place = {.root = root.path, .perf = &perf};
    int told;
    pid_t family_of_two = start_family(&told);
    const agb_perf_target target = {.tid = family_of_two, .cpu = -1, .inherited = true};
    char reason[256];
    agb_metrics out = {0};
    agb_counting *counting = agb_counting_start(&place, &slot, &clock, &target, 1, reason, sizeof reason);
    if (counting)
        agb_counting_turn(counting);
    (void)!write(told, "g", 1);
    waitpid(family_of_two, NULL, 0);
    close(told);
    fake_root_destroy(&root);
    if (!counting) {
        printf("skipped: this system does not let a process count another: %s\n", reason);
        skip();
    }
    agb_counting_end(counting, &out);
    assert_true(out.has[AGB_CYCLES]);
    assert_true(out.value[AGB_CYCLES] > 0.8e6 * SPUN_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_take_turns_and_sums_go_over_all_targets),
        cmocka_unit_test(thread_that_has_ended_is_left_out),
        cmocka_unit_test(refusal_is_told_and_leaves_nothing_open),
        cmocka_unit_test(children_of_another_process_are_counted_by_the_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
