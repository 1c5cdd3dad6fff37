// SPDX-License-Identifier: MIT
// `make peers`: SELECT UserID, count(*) GROUP BY UserID over one column in memory, by our strategies, by the hash maps
// of C++ libraries, by DuckDB and by Polars, with 1 thread and with all.
//
// FAIR      Everybody gets the same column (a raw file) and loads it outside the clock, materialises all groups, and
//           runs on warm memory. In each round, every peer's process counts once, and aggbench runs each strategy
//           once, all in shuffled order. A ratio is the median of the ratios within rounds. With 1 thread, all are
//           pinned to the same processor.
// WARM      Peers keep their process, and so their memory, from round to round, after one round that is not timed.
//           Ours give their memory back after each round, to leave room; so each timed run follows an untimed one.
// CHECKED   aggbench holds groups, rows and checksum of its strategies against a reference count; here the peers' are
//           held against theirs, the checksum in the first and in the last round (it takes longer than the query).
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { command, list } from './aggbench.mjs';
import { atEnd, endWith } from './ending.mjs';
import { readOptions } from './options.mjs';
import * as report from './report.mjs';
import { pairedRatio, randomOf, shuffled, summarize } from './statistics.mjs';
import { openOurs, openPeer } from './turns.mjs';

const ENGINES = 'duckdb,polars';
const BASELINE = 'naive';
const OURS = 'naive,prefetch,swiss,radix,best,adaptive,local_merge,shared_table';

// ---- Who takes part. unavailable: { peer, reason } of those who do not ----

function reasonsOfInstall(modules) {
    const path = join(modules, 'missing');
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
    return new Map(lines.flatMap(line => {
        const [peers, reason] = line.split('\t');
        return peers.split(' ').map(peer => [peer, reason]);
    }));
}

function findPlugins(folder, reasons, unavailable) {
    const sources = readdirSync(fileURLToPath(new URL('.', import.meta.url))).filter(name => name.endsWith('.cc'));
    const files = sources.map(name => join(folder, `${basename(name, '.cc')}.so`));
    for (const file of files.filter(file => !existsSync(file))) {
        const peer = basename(file, '.so');
        unavailable.push({ peer, reason: reasons.get(peer) ?? `${file} is not there: make peers builds it` });
    }
    return files.filter(existsSync);
}

async function findAggregators(options, unavailable) {
    const built = new Map((await list(options.aggbench)).aggregators.map(one => [one.name, one.traits]));
    const traits = name => built.get(name.split(':')[0]);
    const wanted = options.aggregators.split(',');
    for (const peer of wanted.filter(name => traits(name) === undefined))
        unavailable.push({ peer, reason: 'not a strategy of this build' });
    const single = wanted.filter(name => traits(name) !== undefined);
    return { single, parallel: single.filter(name => traits(name).includes('parallel')) };
}

// Asked before anything is loaded.
function findEngines(list) {
    const known = ENGINES.split(','), wanted = list.split(',').filter(Boolean);
    const strange = wanted.find(engine => !known.includes(engine));
    if (strange)
        throw new Error(`--engines: ${strange}: no such engine: there are ${known.join(' and ')}`);
    return wanted;
}

async function openTurns(column, engines, options, unavailable) {
    const reasons = reasonsOfInstall(options.modules);
    const { single, parallel } = await findAggregators(options, unavailable);
    const turns = [openOurs(single, findPlugins(options.plugins, reasons, unavailable), 1, column, options)];
    if (options.threads > 1)
        turns.push(openOurs(parallel, [], options.threads, column, options));
    for (const engine of engines) {
        for (const threads of options.threads > 1 ? [1, options.threads] : [1]) {
            try {
                if (reasons.has(engine))
                    throw new Error(reasons.get(engine));
                turns.push(await openPeer(engine, threads, column, options));
            } catch (error) {
                unavailable.push({ peer: `${engine}, threads: ${threads}`, reason: error.message });
            }
        }
    }
    return turns;
}

async function runRounds(turns, options) {
    const random = randomOf(options.seed);
    for (let round = 0; round <= options.rounds; round++)
        for (const turn of shuffled(turns, random)) {
            report.progress(`round ${round} of ${options.rounds}: ${turn.label}`);
            await turn.run(round);
        }
    report.progress('');
}

// ---- What came out ----

// All answers must be one answer; it is returned. Ours have been held against a reference count by aggbench.
function compareAnswers(rows) {
    const answer = rows.find(row => !row.engine && row.answers.length)?.answers[0];
    if (!answer)
        throw new Error('none of our strategies gave an answer: there is nothing to compare with');
    for (const row of rows.filter(row => row.state === 'ok')) {
        const wrong = row.answers.find(other => other.groups !== answer.groups || other.rows !== answer.rows ||
            other.checksum !== null && other.checksum !== answer.checksum);
        if (wrong)
            Object.assign(row, { state: 'wrong', reason: `${wrong.groups} groups, ${wrong.rows} rows, checksum ` +
                `${wrong.checksum} instead of ${answer.groups}, ${answer.rows}, ${answer.checksum}` });
    }
    return answer;
}

// A row without wall_s has failed, or has no timed run.
function addFigures(rows, answer) {
    const good = rows.filter(row => row.state === 'ok' && row.runs.length > 0);
    const over = (row, contestant, threads) => {
        const baseline = good.find(other => other.contestant === contestant && other.threads === threads);
        return baseline ? pairedRatio(baseline.runs, row.runs) : null;
    };
    for (const row of good) {
        row.wall_s = summarize(row.runs.map(run => run.wall_s));
        row.ns_per_row = row.wall_s.median / answer.rows * 1e9;
        row.over_naive = over(row, BASELINE, 1);
        row.over_duckdb = over(row, 'duckdb', row.threads);
        row.over_polars = over(row, 'polars', row.threads);
    }
    for (const row of rows)
        delete row.answers;
    return good.sort((a, b) => a.threads - b.threads || b.wall_s.median - a.wall_s.median);
}

function tableOf(good) {
    const heads = ['contestant', 'threads', 'median', '95 % interval', 'ns/row', `over ${BASELINE}`, 'over duckdb',
        'over polars'];
    return report.table(heads, good.map(row => [row.contestant, String(row.threads), report.seconds(row.wall_s.median),
        report.secondsInterval(row.wall_s), row.ns_per_row.toPrecision(3), report.ratio(row.over_naive),
        report.ratio(row.over_duckdb), report.ratio(row.over_polars)]));
}

function clocksOf(rows) {
    const engines = new Map(rows.filter(row => row.engine).map(row => [row.contestant, row]));
    return [...engines.values()].map(row => report.paragraph(row.contestant, `${row.version}; clock: ${row.span}`));
}

function textOf({ options, answer, rows, good, unavailable, ours }) {
    const memory = `DuckDB at most ${options['memory-limit']} MiB, without spilling; the others without a limit`;
    return [
        `${options.source}: ${report.count(answer.rows)} rows, ${report.count(answer.groups)} groups of UserID`, '',
        tableOf(good), '',
        ...rows.filter(row => row.state !== 'ok').map(row =>
            report.paragraph(row.state, `${row.contestant}, threads: ${row.threads}: ${row.reason}`)),
        ...unavailable.map(({ peer, reason }) => report.paragraph('not there', `${peer}: ${reason}`)),
        report.paragraph('over', `how many times faster than ${BASELINE} with 1 thread, and than DuckDB and Polars ` +
            `with as many threads: medians of the ratios within ${options.rounds} shuffled rounds ` +
            '[95 % bootstrap interval]'),
        report.paragraph('answers', `checksum ${answer.checksum}, the same from everybody in the table`),
        ...clocksOf(rows),
        report.paragraph('aggbench', 'clock: from the creation of a strategy to its end, all groups written to two ' +
            'arrays in between. C++ maps: plug-ins, each with its library\'s own hash, memory from aggbench'),
        report.paragraph('settings', `loading is outside all clocks; 1 thread: ${report.pinning(options.cpu)}, more: ` +
            `not pinned; memory warm, ${memory}; pages of ours: ${options.pages} (system: ${ours.machine.pages})`),
        report.noiseParagraph(rows.flatMap(row => row.runs)),
        ...report.machineParagraphs(ours.machine),
    ].join('\n');
}

async function main() {
    const options = readOptions('compare.mjs: aggbench, C++ hash maps, DuckDB and Polars on the same column', {
        source: ['synth:hits,rows=20000000', 'SOURCE of aggbench with a column UserID of int64'],
        aggregators: [OURS, 'our strategies; those that this build has not are named and left out'],
        engines: [ENGINES, 'peers that are engines, as a comma list; empty: none'],
        plugins: ['build/gcc/peers', 'folder of the plug-ins made from bench/peers/*.cc'],
        pages: ['default', 'of our strategies and of the hash maps: default, 4k or huge'],
    });
    const engines = findEngines(options.engines);
    const column = join(options.modules, `column-${process.pid}.raw`), unavailable = [];
    atEnd(() => rmSync(column, { force: true }));
    await command(options.aggbench, ['load', options.source, '--columns', 'UserID', '--output', column, '--quiet']);
    const turns = await openTurns(column, engines, options, unavailable);
    await runRounds(turns, options);
    const rows = turns.flatMap(turn => turn.rows), answer = compareAnswers(rows), good = addFigures(rows, answer);
    const ours = turns[0].report;
    process.stdout.write(`${textOf({ options, answer, rows, good, unavailable, ours })}\n`);
    if (options.output)
        report.save(options.output, { aggbench_peers: 1, source: options.source, answer,
            machine: ours.machine, floor: ours.floor, node: process.version, settings: report.settingsOf(options),
            unavailable, results: rows });
    return rows.every(row => row.state === 'ok') ? 0 : 1;
}

endWith(main);
