// SPDX-License-Identifier: MIT
// How both comparisons end: whatever ends them (but for SIGKILL), no process and no file of theirs is left.
import { progress } from './report.mjs';

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

// Runs work, which must not wait for anything, at the end of this process. Returns a function that takes it back.
export function atEnd(work) {
    process.once('exit', work);
    return () => process.off('exit', work);
}

// main gives the exit code; codes as of aggbench: 0 fine, 1 something failed.
export async function endWith(main) {
    for (const [signal, number] of Object.entries(SIGNALS))
        process.once(signal, () => process.exit(128 + number));
    try {
        process.exit(await main());
    } catch (error) {
        progress('');
        process.stderr.write(`peers: ${error.message}\n`);
        process.exit(1);
    }
}
