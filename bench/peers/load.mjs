// SPDX-License-Identifier: MIT
// `make peers-load`: how fast a column comes out of a file, against DuckDB reading the same file.
//
// FAIR      Every file is in the page cache. Ours is the load_s of `aggbench load --dry-run`: from opening the file
//           to the whole column in memory, in a new process each time, so that its page faults are in it. DuckDB sums
//           the column (the lengths, of strings) in a process that goes on, and keeps nothing: it does less, and its
//           ratio is so much the better for it. All that is measured takes turns in shuffled rounds; a ratio is the
//           median of the ratios within rounds. With 1 thread, all are pinned to the same processor.
// POSSIBLE  How much faster several threads could be on this machine: as many loads at once, in processes that share
//           nothing but the machine, each by 1 thread on a processor of its own.
// FILES     Made at the beginning: UserIDs from aggbench's generator, written to Parquet by DuckDB (Snappy, as the
//           public hits are); URLs and TSV lines from the samples, repeated; our own files (.agb) from the Parquet
//           file.
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { command, machineOf } from './aggbench.mjs';
import { atEnd, endWith } from './ending.mjs';
import { allowedCpus, readOptions } from './options.mjs';
import { Peer } from './peer.mjs';
import * as report from './report.mjs';
import { pairedRatio, randomOf, shuffled, summarize } from './statistics.mjs';

const ROWS_PER_URL = 5, ROWS_PER_LINE = 25;    // the wide files have so many times fewer rows
const SAMPLE_ROWS = 24586;                      // of the file whose URLs are repeated

const quoted = text => `'${text.replaceAll('\'', '\'\'')}'`;

// ---- Files. A case: what is read, and by which query DuckDB reads the same ----

const sumOf = (column, from) => `SELECT sum(${column}), count(*) FROM ${from}`;

async function userCases(folder, options, duckdb) {
    const raw = join(folder, 'users.raw'), parquet = join(folder, 'users.parquet');
    const source = `synth:hits,rows=${options.rows}`;
    await command(options.aggbench, ['load', source, '--columns', 'UserID', '--output', raw, '--quiet']);
    await duckdb.call('load', { path: raw });
    await duckdb.call('query', { text: `COPY hits TO ${quoted(parquet)}` });
    const query = sumOf('UserID', `read_parquet(${quoted(parquet)})`);
    const cases = [{ name: 'Parquet, UserID', file: parquet, column: 'UserID', query }];
    for (const [codec, name] of [['auto', '.agb, UserID'], ['zstd', '.agb zstd, UserID']]) {
        const file = join(folder, `users-${codec}.agb`);
        const words = ['load', parquet, '--output', file, '--columns', 'UserID', '--codec', codec, '--quiet'];
        await command(options.aggbench, words);
        cases.push({ name, file, column: 'UserID', query });
    }
    return cases;
}

async function urlCases(folder, options, duckdb) {
    const sample = join(options.samples, 'hits/nano_hits.parquet');
    if (!existsSync(sample))
        throw new Error(`${sample} is not there: --samples names the folder`);
    const repeated = `FROM read_parquet(${quoted(sample)}, binary_as_string = true, file_row_number = true), ` +
        `range(${Math.ceil(options.rows / ROWS_PER_URL / SAMPLE_ROWS)}) ORDER BY range, file_row_number`;
    const distinct = 'URL || \'&n=\' || range || \'.\' || file_row_number';
    const cases = [];
    for (const [name, url] of [['Parquet, URL', 'URL'], ['Parquet, URL all distinct', distinct]]) {
        const file = join(folder, `${name.replaceAll(/\W+/g, '-')}.parquet`);
        await duckdb.call('query', { text: `COPY (SELECT ${url} AS URL ${repeated}) TO ${quoted(file)}` });
        cases.push({ name, file, column: 'URL', query: sumOf('strlen(URL)', `read_parquet(${quoted(file)})`) });
    }
    return cases;
}

// DuckDB is told all types, so that it need not guess them; those of the columns that are not read do not matter.
async function lineCases(folder, options) {
    const sample = join(options.samples, 'hits/hits_8k.tsv'), file = join(folder, 'hits.tsv');
    if (!existsSync(sample))
        throw new Error(`${sample} is not there: --samples names the folder`);
    const schema = JSON.parse(await command(options.aggbench, ['describe', sample, '--format', 'json']));
    const typeOf = name => quoted(name === 'UserID' ? 'BIGINT' : 'VARCHAR');
    const types = schema.columns.map(({ name }) => `${quoted(name)}: ${typeOf(name)}`);
    const lines = readFileSync(sample), rows = lines.reduce((sum, byte) => sum + (byte === 10), 0);
    writeFileSync(file, '');
    for (let left = options.rows / ROWS_PER_LINE; left > 0; left -= rows)
        appendFileSync(file, lines);
    const from = `read_csv(${quoted(file)}, delim = '\t', quote = '', escape = '', header = false, ` +
        `auto_detect = false, columns = {${types.join(', ')}})`;
    return [{ name: `TSV, UserID of ${types.length}`, file, column: 'UserID', query: sumOf('UserID', from) }];
}

async function makeCases(folder, options, duckdb, unavailable) {
    const cases = [];
    for (const make of [userCases, urlCases, lineCases]) {
        report.progress(`making files: ${make.name}`);
        try {
            cases.push(...await make(folder, options, duckdb));
        } catch (error) {
            unavailable.push({ peer: make.name, reason: error.message });
        }
    }
    return cases.map(one => ({ ...one, bytes: statSync(one.file).size }));
}

// ---- Turns: { label, runs, run } ----

const loadWords = ({ file, column }, threads) =>
    ['load', file, '--columns', column, '--dry-run', '--threads', String(threads), '--format', 'json', '--quiet'];

function oursTurn(one, threads, options) {
    const words = loadWords(one, threads);
    const [program, args] = threads === 1 && options.cpu !== null
        ? ['taskset', ['-c', String(options.cpu), options.aggbench, ...words]] : [options.aggbench, words];
    const turn = { label: `aggbench, ${one.name}, threads: ${threads}`, runs: [] };
    turn.run = async round => {
        const { source } = JSON.parse(await command(program, args));
        turn.rows = source.rows;
        turn.runs.push({ round, wall_s: source.load_s });
    };
    return turn;
}

// Loads that share nothing. The wall time of one is the mean over their number.
function apartTurn(one, cpus, options) {
    const script = `for cpu in ${cpus.join(' ')}; do taskset -c $cpu "$@" & done; wait`;
    const turn = { label: `aggbench, ${one.name}, ${cpus.length} apart`, runs: [] };
    turn.run = async round => {
        const text = await command('sh', ['-c', script, 'sh', options.aggbench, ...loadWords(one, 1)]);
        const each = [...text.matchAll(/"load_s": ([^,\s]+)/g)].map(found => Number(found[1]));
        if (each.length < cpus.length)
            throw new Error(`${one.name}: ${cpus.length} loads at once: ${cpus.length - each.length} failed`);
        turn.runs.push({ round, wall_s: each.reduce((sum, wall) => sum + wall) / each.length ** 2 });
    };
    return turn;
}

function duckdbTurn(query, name, threads, peer) {
    const turn = { label: `duckdb, ${name}, threads: ${threads}`, runs: [] };
    turn.run = async round => {
        const { row, ...figures } = await peer.call('query', { text: query });
        turn.rows = Number(row[1]);
        turn.runs.push({ ...figures, round });
    };
    return turn;
}

// One row for each case and number of threads. Cases that DuckDB reads by the same query share its turn.
function makeRows(cases, peers, options) {
    const rows = [], allowed = allowedCpus();
    for (const [threads, peer] of peers) {
        const turns = new Map(), isApart = threads > 1 && threads <= allowed.length;
        for (const one of cases) {
            if (!turns.has(one.query))
                turns.set(one.query, duckdbTurn(one.query, one.name, threads, peer));
            rows.push({ ...one, threads, ours: oursTurn(one, threads, options), duckdb: turns.get(one.query),
                apart: isApart ? apartTurn(one, allowed.slice(0, threads), options) : null });
        }
    }
    return rows;
}

async function runRounds(rows, options) {
    const random = randomOf(options.seed);
    const turns = [...new Set(rows.flatMap(row => [row.ours, row.duckdb, row.apart]))].filter(turn => turn);
    for (let round = 0; round <= options.rounds; round++)
        for (const turn of shuffled(turns, random)) {
            report.progress(`round ${round} of ${options.rounds}: ${turn.label}`);
            await turn.run(round);
        }
    report.progress('');
    for (const turn of turns)
        turn.runs = turn.runs.filter(run => run.round > 0);    // the first one filled the page cache
}

// ---- What came out ----

function figuresOf(rows) {
    return rows.map(row => {
        const single = rows.find(other => other.name === row.name && other.threads === 1);
        return {
            case: row.name, column: row.column, query: row.query, bytes: row.bytes, threads: row.threads,
            rows: row.ours.rows, duckdb_rows: row.duckdb.rows, load_s: summarize(row.ours.runs.map(run => run.wall_s)),
            duckdb_s: summarize(row.duckdb.runs.map(run => run.wall_s)),
            over_duckdb: pairedRatio(row.duckdb.runs, row.ours.runs),
            over_one_thread: pairedRatio(single.ours.runs, row.ours.runs),
            possible_over_one_thread: row.apart && pairedRatio(single.ours.runs, row.apart.runs),
            duckdb_over_one_thread: pairedRatio(single.duckdb.runs, row.duckdb.runs),
            runs: row.ours.runs, duckdb_runs: row.duckdb.runs, apart_runs: row.apart?.runs ?? [],
        };
    });
}

function textOf({ options, figures, version, machine, unavailable }) {
    const heads = ['file, column', 'threads', 'rows', 'MB', 'aggbench', 'duckdb', 'over duckdb', 'over 1 thread',
        'possible'];
    return [
        report.table(heads, figures.map(row => [row.case, String(row.threads), report.count(row.rows),
            (row.bytes / 1e6).toFixed(1), report.seconds(row.load_s.median), report.seconds(row.duckdb_s.median),
            report.ratio(row.over_duckdb), row.threads === 1 ? '-' : report.ratio(row.over_one_thread),
            row.possible_over_one_thread?.ratio.toPrecision(3) ?? '-'])),
        '',
        ...unavailable.map(({ peer, reason }) => report.paragraph('not there', `${peer}: ${reason}`)),
        report.paragraph('over', 'how many times faster; .agb is held against DuckDB reading the Parquet file of the ' +
            `same column: medians of the ratios within ${options.rounds} shuffled rounds [95 % bootstrap interval]`),
        report.paragraph('possible', 'as many times the work of 1 thread by processes that share nothing, each on a ' +
            'processor of its own: what this machine leaves to be gained over 1 thread'),
        report.paragraph('aggbench', 'clock: load_s of `aggbench load --dry-run`: from opening the file to the whole ' +
            'column in memory, page faults included'),
        report.paragraph('duckdb', `${version}; clock: SELECT sum(column), of strings sum(strlen(column)), to its ` +
            'one row; all settings standard but for threads and memory'),
        report.paragraph('settings', `files in the page cache; 1 thread: ${report.pinning(options.cpu)}, more: ` +
            `not pinned; DuckDB's memory at most ${options['memory-limit']} MiB; ` +
            'URLs and TSV lines: samples, repeated'),
        report.noiseParagraph(figures.flatMap(row => row.duckdb_runs), 'DuckDB'),
        ...report.machineParagraphs(machine),
    ].join('\n');
}

async function measure(folder, options, unavailable) {
    const peers = new Map();
    for (const threads of options.threads > 1 ? [1, options.threads] : [1])
        peers.set(threads, new Peer('duckdb', { ...options, threads, cpu: threads === 1 ? options.cpu : null }));
    const [{ version }] = await Promise.all([...peers.values()].map(peer => peer.call('open')));
    const cases = await makeCases(folder, options, peers.get(options.threads), unavailable);
    const rows = makeRows(cases, peers, options);
    await runRounds(rows, options);
    checkRows(rows);
    return { figures: figuresOf(rows), version };
}

// Of both sides; sums cannot be compared, as ours makes none.
function checkRows(rows) {
    for (const { name, ours, duckdb } of rows)
        if (ours.rows !== duckdb.rows)
            throw new Error(`${name}: aggbench loaded ${ours.rows} rows, DuckDB counted ${duckdb.rows}`);
}

async function main() {
    const options = readOptions('load.mjs: aggbench and DuckDB reading the same files', {
        rows: ['10000000', 'of the file of UserIDs; a fifth of it URLs, a 25th lines of 105 columns'],
        samples: ['../shared/samples', 'folder of the sample files'],
    });
    const folder = join(options.modules, `load-${process.pid}`), unavailable = [];
    atEnd(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(folder, { recursive: true });
    const found = await measure(folder, options, unavailable);
    const machine = await machineOf(options.aggbench);
    process.stdout.write(`${textOf({ ...found, options, machine, unavailable })}\n`);
    if (options.output)
        report.save(options.output, { aggbench_peers_load: 1, machine, node: process.version, duckdb: found.version,
            settings: report.settingsOf(options), unavailable, results: found.figures });
    return 0;
}

endWith(main);
