// SPDX-License-Identifier: MIT
// What takes part in a round as one piece: a peer's process, or all our strategies with one number of threads. A turn
// has a label, rows (one for each contestant) and run(round). Round 0 is for warming up and is not timed.
import { basename } from 'node:path';
import { countOnce } from './aggbench.mjs';
import { Peer } from './peer.mjs';

const newRow = (contestant, threads, more) =>
    ({ contestant, threads, state: 'ok', reason: null, runs: [], answers: [], ...more });

// Rejects when the peer cannot be had or cannot load the column.
export async function openPeer(name, threads, column, options) {
    const peer = new Peer(name, { ...options, threads, cpu: threads === 1 ? options.cpu : null });
    const row = newRow(name, threads, { engine: true });
    try {
        Object.assign(row, await peer.call('open'));
        row.load_s = (await peer.call('load', { path: column })).wall_s;
    } catch (error) {
        peer.end();
        throw error;
    }
    const run = async round => {
        if (row.state !== 'ok')
            return;
        try {
            const withChecksum = round === 0 || round === options.rounds;
            const { answer, ...figures } = await peer.call('count', { withChecksum });
            row.answers.push(answer);
            row.peak_rss_bytes = answer.peak_rss_bytes;
            if (round > 0)
                row.runs.push({ ...figures, round });
        } catch (error) {
            Object.assign(row, { state: 'failed', reason: error.message });
        }
    };
    return { label: `${name}, threads: ${threads}`, rows: [row], run };
}

function takeResult(row, result, round) {
    if (result.state !== 'ok') {
        Object.assign(row, { state: result.state, reason: result.reason });
        return;
    }
    row.answers.push({ groups: result.groups, rows: result.rows, checksum: result.checksum });
    row.runs.push({ ...result.runs[0], round });
    row.peak_bytes = result.peak_bytes;
    row.note = result.note;
}

// Aggregators and plug-ins that failed once are left out of the rounds that follow.
export function openOurs(aggregators, plugins, threads, column, options) {
    const rows = [...aggregators.map(name => newRow(name, threads)),
        ...plugins.map(file => newRow(basename(file, '.so'), threads, { plugin: file }))];
    const turn = { label: `aggbench, threads: ${threads}`, rows };
    turn.run = async round => {
        const able = rows.filter(row => row.state === 'ok');
        if (round === 0 || able.length === 0)
            return;
        const report = await countOnce({
            program: options.aggbench, column, threads, cpu: threads === 1 ? options.cpu : null, pages: options.pages,
            aggregators: able.map(row => row.contestant), plugins: able.flatMap(row => row.plugin ?? []),
            seed: options.seed + round, timeoutS: options.timeoutS,
        });
        turn.report ??= report;
        able.forEach((row, i) => takeResult(row, report.results[i], round));
    };
    return turn;
}
