// SPDX-License-Identifier: MIT
// This end of a peer's process: contestant.mjs is the other one.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { atEnd } from './ending.mjs';

const program = fileURLToPath(new URL('contestant.mjs', import.meta.url));

export class Peer {
    // cpu: the processor it is pinned to, or null.
    constructor(name, { threads, cpu, modules, memoryBytes, timeoutS }) {
        this.name = name;
        this.threads = threads;
        this.timeoutMs = timeoutS * 1e3;
        const pinned = cpu === null ? {} :
            { execPath: 'taskset', execArgv: ['-c', String(cpu), process.execPath] };
        this.process = fork(program, [JSON.stringify({ name, modules, threads, memoryBytes })], {
            ...pinned, env: { ...process.env, POLARS_MAX_THREADS: String(threads) },
            stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
        });
        atEnd(() => this.end());
        this.process.once('error', error => this.lost(`could not be started: ${error.message}`));
        this.process.once('exit', (code, signal) =>
            this.lost(signal ? `its process was ended by ${signal}` : `its process ended with status ${code}`));
        this.process.on('message', ({ done, failed }) => this.settle?.(done, failed));
    }

    lost(reason) {
        this.reason ??= reason;
        this.settle?.(undefined, this.reason);
    }

    // Resolves to what the call gave; rejects with one sentence, also when the process is gone or late.
    call(name, words = {}) {
        if (this.reason)
            return Promise.reject(new Error(this.reason));
        return new Promise((resolve, reject) => {
            const late = setTimeout(() => {
                this.lost(`no answer within ${this.timeoutMs / 1e3} s`);
                this.end();
            }, this.timeoutMs);
            this.settle = (done, failed) => {
                clearTimeout(late);
                this.settle = undefined;
                if (failed === undefined)
                    resolve(done);
                else
                    reject(new Error(failed));
            };
            this.process.send({ call: name, ...words },
                error => error && this.lost(`cannot be told: ${error.message}`));
        });
    }

    end() {
        this.process.kill('SIGKILL');
    }
}
