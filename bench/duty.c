/* SPDX-License-Identifier: MIT */
/* Work by the clock: see duty.h. */
#include "duty.h"

#include "process.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const double shortest_period_s = 0.004, longest_period_s = 0.012;
enum { MOST_CLOCK_TRIALS = 4, INT64_ROUNDS = 4000 };

const char *agb_duty_name(agb_duty_work work)
{
    static const char *const names[AGB_DUTY_WORKS] = {
        [AGB_DUTY_INT64] = "int64", [AGB_DUTY_MATRIX] = "matrix", [AGB_DUTY_MIX] = "mix", [AGB_DUTY_SPIN] = "spin",
        [AGB_DUTY_CHASE] = "pointer chase"};
    return names[work];
}

/* ---- Units ------------------------------------------------------------------------------------------------------- */

static void do_int64(agb_duty_bench *bench)
{
    uint64_t a = bench->sum[0], b = bench->sum[1], c = bench->sum[2], d = bench->sum[3];
    for (int round = 0; round < INT64_ROUNDS; round++) {
        a = (a ^ a >> 29) * 6364136223846793005u + 1;
        b = (b ^ b >> 31) * 2862933555777941757u + 3;
        c = (c ^ c >> 27) * 3202034522624059733u + 5;
        d = (d ^ d >> 33) * 3935559000370003845u + 7;
    }
    bench->sum[0] = a;
    bench->sum[1] = b;
    bench->sum[2] = c;
    bench->sum[3] = d;
}

static void do_matrix(agb_duty_bench *bench)
{
    enum { SIDE = AGB_DUTY_MATRIX_SIDE };
    memset(bench->c, 0, sizeof bench->c);
    for (int i = 0; i < SIDE; i++)
        for (int k = 0; k < SIDE; k++)
            for (int j = 0; j < SIDE; j++)
                bench->c[i][j] += bench->a[i][k] * bench->b[k][j];
    __asm__ volatile("" : : "r"(bench->c) : "memory");
}

static void do_pass(agb_duty_bench *bench)
{
    uint64_t sum = 0, word;
    for (size_t at = 0; at < sizeof bench->pass; at += 16) {
        memcpy(&word, bench->pass + at, sizeof word);
        sum += word;
    }
    bench->sum[0] += sum;
}

/* A register is added, not a constant: some processors fold constants away before they are executed. */
static void do_spin(void)
{
    uint64_t sum = 0, one = 1;
    for (int step = 0; step < AGB_DUTY_SPIN_STEPS; step += 8) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            __asm__ volatile("" : "+r"(sum), "+r"(one));
            sum += one;
        }
    }
    __asm__ volatile("" : : "r"(sum));
}

static void do_unit(agb_duty_bench *bench, agb_duty_work work)
{
    switch (work) {
    case AGB_DUTY_INT64:
        do_int64(bench);
        break;
    case AGB_DUTY_MATRIX:
        do_matrix(bench);
        break;
    case AGB_DUTY_SPIN:
        do_spin();
        break;
    case AGB_DUTY_CHASE:
        agb_chain_follow(bench->chain, 1, AGB_DUTY_CHASE_STEPS);
        break;
    default:
        do_int64(bench);
        do_matrix(bench);
        do_pass(bench);
    }
    bench->units++;
}

/* ---- The clock --------------------------------------------------------------------------------------------------- */

void agb_duty_begin(agb_duty_bench *bench, unsigned worker)
{
    bench->units = 0;
    bench->busy_s = bench->ghz = 0;
    bench->random = bench->random * 2 + worker + 1;
    for (int i = 0; i < AGB_DUTY_MATRIX_SIDE; i++)
        for (int k = 0; k < AGB_DUTY_MATRIX_SIDE; k++) {
            bench->a[i][k] = 1.0 / (1 + i + k);
            bench->b[i][k] = i == k ? 1.5 : 0.25;
        }
}

/* One addition a cycle: how many a nanosecond is the clock, if nothing came between. The best of a few tries. */
static void try_clock(agb_duty_bench *bench)
{
    double from_s = agb_now_s();
    do_spin();
    double took_s = agb_now_s() - from_s;
    double ghz = took_s > 0 ? AGB_DUTY_SPIN_STEPS / took_s / 1e9 : 0;
    bench->ghz = ghz > bench->ghz ? ghz : bench->ghz;
}

static void sleep_until(double until_s)
{
    struct timespec until = {.tv_sec = (time_t)until_s,
                             .tv_nsec = (long)((until_s - floor(until_s)) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
        continue;
}

static double next_period_s(agb_duty_bench *bench)
{
    bench->random = bench->random * 6364136223846793005u + 1442695040888963407u;
    return shortest_period_s + (longest_period_s - shortest_period_s) * (double)(bench->random >> 40) / (1 << 24);
}

/* A period that worked too long, by the rest of its last unit, is paid back by the next ones. */
void agb_duty_do(agb_duty_bench *bench, agb_duty_work work, double part, double seconds)
{
    double start_s = agb_now_s(), end_s = start_s + seconds, now_s = start_s;
    for (unsigned period = 0; now_s < end_s; period++) {
        double period_end_s = fmin(now_s + next_period_s(bench), end_s);
        double from_s = now_s, owed_s = part * (period_end_s - start_s) - bench->busy_s;
        if (period < MOST_CLOCK_TRIALS)
            try_clock(bench);
        for (now_s = agb_now_s(); now_s - from_s < owed_s && now_s < end_s; now_s = agb_now_s())
            do_unit(bench, work);
        bench->busy_s += now_s - from_s;
        if (part < 1 && now_s < period_end_s) {
            sleep_until(period_end_s);
            now_s = agb_now_s();
        }
    }
}
