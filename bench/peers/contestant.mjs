// SPDX-License-Identifier: MIT
// One peer with one number of threads in a process of its own, as every strategy of ours has one: whatever happens to
// it costs its own rows. It keeps what it loaded and does one thing whenever it is told to (see peer.mjs for the other
// end).
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { Answer } from './checksum.mjs';

const STEP_BYTES = 64 << 20;

// A file of 64-bit integers, little-endian, as `aggbench load --output NAME.raw` writes it.
function readColumn(path) {
    const file = openSync(path);
    const column = new BigInt64Array(fstatSync(file).size / BigInt64Array.BYTES_PER_ELEMENT);
    const bytes = new Uint8Array(column.buffer);
    for (let at = 0, got; at < bytes.length; at += got)
        if ((got = readSync(file, bytes, at, Math.min(STEP_BYTES, bytes.length - at), at)) === 0)
            throw new Error(`${path}: cut short while it was read`);
    closeSync(file);
    return column;
}

// Seconds that this process's threads have waited for a core.
function waited() {
    let nanoseconds = 0;
    for (const thread of readdirSync('/proc/self/task')) {
        try {
            nanoseconds += Number(readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ')[1]);
        } catch {
            continue;    // it has ended, or this kernel does not count
        }
    }
    return nanoseconds / 1e9;
}

async function timed(work) {
    const waitBefore = waited(), cpuBefore = process.cpuUsage(), start = performance.now();
    const result = await work();
    const wall_s = (performance.now() - start) / 1e3;
    const cpu = process.cpuUsage(cpuBefore), runq_wait_s = waited() - waitBefore;
    return [result, { wall_s, user_s: cpu.user / 1e6, sys_s: cpu.system / 1e6, runq_wait_s }];
}

function peakBytes() {
    const line = readFileSync('/proc/self/status', 'utf8').match(/^VmHWM:\s+(\d+) kB$/m);
    return line ? Number(line[1]) * 1024 : null;
}

async function answerOf(engine, result, withChecksum) {
    const answer = new Answer();
    for await (const [keys, counts] of engine.blocks(result))
        answer.add(keys, counts, withChecksum);
    return { ...answer.plain, peak_rss_bytes: peakBytes() };
}

const { name, modules, threads, memoryBytes } = JSON.parse(process.argv[2]);
let engine;

const calls = {
    async open() {
        const { open, span } = await import(`./${name}.mjs`);
        engine = await open({ require: createRequire(join(resolve(modules), 'package.json')), threads, memoryBytes });
        return { version: engine.version, span };
    },
    async load({ path }) {
        const column = readColumn(path);
        const [, run] = await timed(() => engine.load(column));
        return run;
    },
    async count({ withChecksum }) {
        const [result, run] = await timed(() => engine.count());
        return { ...run, answer: await answerOf(engine, result, withChecksum) };
    },
    async query({ text }) {
        const [result, run] = await timed(() => engine.query(text));
        return { ...run, row: (await result.getRows())[0]?.map(String) };
    },
};

process.on('message', async ({ call, ...words }) => {
    try {
        process.send({ done: await calls[call](words) });
    } catch (error) {
        process.send({ failed: String(error.message).split('\n')[0] });
    }
});
