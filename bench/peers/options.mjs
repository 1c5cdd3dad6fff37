// SPDX-License-Identifier: MIT
// The command line of both comparisons: --name VALUE, each with its standard value and its meaning.
import { availableParallelism, totalmem } from 'node:os';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const shared = {
    aggbench: ['build/aggbench', 'the command to compare'],
    modules: ['build/peers', 'where bench/peers/install put the node packages'],
    rounds: ['5', 'timed rounds, 1..1000'],
    threads: [String(availableParallelism()), 'what "all threads" means, 1..1024'],
    pin: ['', 'processor for everything with 1 thread; empty: the first that is allowed; none'],
    'memory-limit': [String(Math.floor(totalmem() / 2 ** 21)), 'MiB that DuckDB may use (half of the memory)'],
    timeout: ['600', 'seconds that one run may take, 1..86400'],
    seed: ['1', 'of the order within rounds'],
    output: ['', 'also write the report as JSON there'],
};

function fail(text) {
    process.stderr.write(`peers: ${text}\n`);
    process.exit(2);
}

function wholeNumber(values, name, least, most) {
    const value = Number(values[name]);
    if (!/^\d+$/.test(values[name]) || value < least || value > most)
        fail(`--${name}: ${values[name] || '(empty)'}: allowed range is ${least}..${most}`);
    return value;
}

// "0-2,5" is 0, 1, 2 and 5.
export function allowedCpus() {
    const [, list] = readFileSync('/proc/self/status', 'utf8').match(/^Cpus_allowed_list:\s*(\S+)/m) ?? [null, '0'];
    return list.split(',').flatMap(part => {
        const [first, last = first] = part.split('-').map(Number);
        return Array.from({ length: last - first + 1 }, (_, i) => first + i);
    });
}

// own: more options in the same form. Prints the help and ends where that was asked for.
export function readOptions(about, own) {
    const known = { ...own, ...shared };
    let values;
    try {
        const options = Object.fromEntries(Object.entries(known).map(([name, [standard]]) =>
            [name, { type: 'string', default: standard }]));
        ({ values } = parseArgs({ options: { ...options, help: { type: 'boolean' } } }));
    } catch (error) {
        fail(`${error.message.split(/[.\n]/)[0]}: see --help`);
    }
    if (values.help) {
        const lines = Object.entries(known).map(([name, [standard, text]]) =>
            `  --${name}`.padEnd(20) + `${text}${standard ? ` (${standard})` : ''}`);
        process.stdout.write(`${about}\n\n${lines.join('\n')}\n`);
        process.exit(0);
    }
    return {
        ...values,
        ...'rows' in values && { rows: wholeNumber(values, 'rows', 1000, 1e10) },
        rounds: wholeNumber(values, 'rounds', 1, 1000),
        threads: wholeNumber(values, 'threads', 1, 1024),
        cpu: values.pin === 'none' ? null : values.pin ? wholeNumber(values, 'pin', 0, 65535) : allowedCpus()[0],
        memoryBytes: wholeNumber(values, 'memory-limit', 64, 2 ** 30) * 2 ** 20,
        timeoutS: wholeNumber(values, 'timeout', 1, 86400),
        seed: wholeNumber(values, 'seed', 0, 2 ** 31),
    };
}
