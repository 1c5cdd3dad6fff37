// SPDX-License-Identifier: MIT
// What both comparisons print: figures with units, tables, and the surroundings they were measured in.
import { renameSync, writeFileSync } from 'node:fs';

const number = value => value === 0 || value >= 100 ? value.toFixed(0) : value.toPrecision(3);

export function seconds(value) {
    const [scale, unit] = value >= 1 ? [1, 's'] : value >= 1e-3 ? [1e3, 'ms'] : [1e6, 'us'];
    return `${number(value * scale)} ${unit}`;
}

export function secondsInterval({ ci95_low: low, ci95_high: high }) {
    if (low === null)
        return '-';
    const [end, unit] = seconds(high).split(' ');
    return `${number(low * { s: 1, ms: 1e3, us: 1e6 }[unit])}..${end} ${unit}`;
}

// null and what is compared with itself have none.
export function ratio(value) {
    if (!value || value.ratio === 1 && value.ci95_low === value.ci95_high)
        return '-';
    const interval = value.ci95_low === null ? '' : ` [${number(value.ci95_low)}, ${number(value.ci95_high)}]`;
    return number(value.ratio) + interval;
}

export const count = value => value.toLocaleString('en-US');

// Columns as wide as their widest cell; the first to the left, the others to the right.
export function table(heads, rows) {
    const widths = heads.map((head, i) => Math.max(head.length, ...rows.map(row => row[i].length)));
    const padded = (cell, i) => i ? cell.padStart(widths[i]) : cell.padEnd(widths[i]);
    const line = cells => cells.map(padded).join('  ');
    return [line(heads), '-'.repeat(line(heads).length), ...rows.map(line)].join('\n');
}

// A paragraph under a label, as in aggbench's own reports.
export function paragraph(label, text) {
    const lines = [''];
    for (const word of text.split(' ')) {
        if (lines.at(-1).length + word.length > 88)
            lines.push('');
        lines.push(`${lines.pop()} ${word}`);
    }
    return lines.map((line, i) => `${(i ? '' : label).padEnd(10)}${line}`).join('\n');
}

export function machineParagraphs(machine) {
    return [
        paragraph('machine', `${machine.cpu} (${machine.uarch ?? 'unknown kind'}), ${machine.cores} processors, ` +
            `${(machine.memory_bytes / 1e9).toFixed(1)} GB memory; ${machine.kernel}` +
            (machine.hypervisor ? `; a virtual machine (${machine.hypervisor}): its neighbours can slow any run` : '')),
        paragraph('build', `${machine.compiler} ${machine.flags}, commit ${machine.commit}; node ${process.version}`),
    ];
}

export const pinning = cpu => cpu === null ? 'not pinned' : `pinned to processor ${cpu}`;

// What a report in JSON says of the options.
export const settingsOf = ({ rounds, threads, cpu, pages, memoryBytes, seed }) =>
    ({ rounds, threads, cpu, pages, duckdb_memory_limit_bytes: memoryBytes, seed });

// More than 2 % of a run lost to waiting for a core: the limit of bench/.
export const isNoisy = run => run.noisy ?? run.runq_wait_s > 0.02 * run.wall_s;

export function noiseParagraph(runs, whose = 'timed') {
    const noisy = runs.filter(isNoisy).length;
    return paragraph('noise', `${noisy} of ${runs.length} ${whose} runs lost more than 2 % of their time to waiting ` +
        `for a core${noisy ? '; trust the ratios more than the times, and repeat on a quiet machine' : ''}`);
}

// The file appears when it is complete.
export function save(path, object) {
    const temporary = `${path}.${process.pid}.tmp`;
    writeFileSync(temporary, `${JSON.stringify(object, null, 2)}\n`);
    renameSync(temporary, path);
}

// One line that is overwritten, for people only.
export function progress(text) {
    if (process.stderr.isTTY)
        process.stderr.write(`\r\x1b[K${text}`);
}
