// SPDX-License-Identifier: MIT
// Medians, bootstrap intervals and paired ratios, as bench/statistics.c makes them for one process: here the figures
// come from several programs.
const RESAMPLES = 2000;

export function median(values) {
    const sorted = Float64Array.from(values).sort();
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

// A generator of 32-bit numbers (T. Ettinger's mulberry32): the same seed gives the same order and the same intervals.
export function randomOf(seed) {
    let state = seed >>> 0;
    return below => {
        state = (state + 0x6d2b79f5) >>> 0;
        let z = Math.imul(state ^ (state >>> 15), state | 1);
        z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
        return Math.floor((((z ^ (z >>> 14)) >>> 0) / 2 ** 32) * below);
    };
}

export function shuffled(items, random) {
    const out = [...items];
    for (let i = out.length - 1; i > 0; i--) {
        const j = random(i + 1);
        [out[i], out[j]] = [out[j], out[i]];
    }
    return out;
}

// The percentile interval of the median (B. Efron, "Bootstrap methods: another look at the jackknife", 1979). One value
// says nothing about its spread: null.
function interval(values) {
    if (values.length < 2)
        return { ci95_low: null, ci95_high: null };
    const random = randomOf(1);
    const medians = Float64Array.from({ length: RESAMPLES },
        () => median(values.map(() => values[random(values.length)]))).sort();
    return { ci95_low: medians[RESAMPLES * 0.025 - 1], ci95_high: medians[RESAMPLES * 0.975] };
}

export function summarize(values) {
    return { min: Math.min(...values), median: median(values), max: Math.max(...values), ...interval(values) };
}

// runs: objects with round and wall_s. The median of baseline / candidate over the rounds that both completed; above 1
// the candidate is faster. null: they have no round in common.
export function pairedRatio(baseline, candidate) {
    const byRound = new Map(baseline.map(run => [run.round, run.wall_s]));
    const ratios = candidate.filter(run => byRound.has(run.round)).map(run => byRound.get(run.round) / run.wall_s);
    return ratios.length ? { ratio: median(ratios), ...interval(ratios) } : null;
}
