// SPDX-License-Identifier: MIT
// Our own side: the aggbench command, told in words and heard in JSON.
import { spawn } from 'node:child_process';
import { atEnd } from './ending.mjs';

// Resolves to the text on standard output. A code other than 0 rejects with the command's own sentence, unless there is
// a report all the same: then one of its rows says what went wrong.
export function command(program, words) {
    return new Promise((resolve, reject) => {
        const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
        const over = atEnd(() => child.kill());
        let out = '', err = '';
        child.stdout.setEncoding('utf8').on('data', text => { out += text; });
        child.stderr.setEncoding('utf8').on('data', text => { err += text; });
        child.once('error', error => reject(new Error(`${program}: ${error.message}`)));
        child.once('close', code => {
            over();
            if (code === 0 || out)
                resolve(out);
            else
                reject(new Error(err.trim().split('\n').at(-1) || `${program} ended with status ${code}`));
        });
    });
}

export async function list(program) {
    return JSON.parse(await command(program, ['list', '--format', 'json']));
}

// The block about the machine that stands in every report of a run.
export async function machineOf(program) {
    const words = ['run', 'synth:same,rows=1', '--aggregator', 'naive', '--repetitions', '1', '--no-twin',
        '--counters', 'off', '--format', 'json', '--quiet'];
    return JSON.parse(await command(program, words)).machine;
}

// One timed run of each aggregator, after an untimed one that warms its memory. The span of a run is made as wide as
// that of a query engine, which also builds and drops its tables within the query.
export async function countOnce({ program, column, aggregators, plugins, threads, cpu, pages, seed, timeoutS }) {
    const words = ['run', column, '--aggregator', aggregators.join(','), ...plugins.flatMap(file => ['--plugin', file]),
        '--threads', String(threads), ...(cpu === null ? [] : ['--pin', String(cpu)]), '--pages', pages,
        '--repetitions', '1', '--warmup', '1', '--no-twin', '--counters', 'off', '--top', '0', '--seed', String(seed),
        '--timeout', String(timeoutS), '--format', 'json', '--quiet'];
    const report = JSON.parse(await command(program, words));
    for (const result of report.results)
        for (const run of result.runs)
            run.wall_s += run.setup_s + run.teardown_s;
    return report;
}
