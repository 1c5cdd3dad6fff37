// SPDX-License-Identifier: MIT
// Polars as a peer. Its threads are set by POLARS_MAX_THREADS before it starts (see peer.mjs); it has no memory limit.
export const span = 'DataFrame.groupBy("UserID").len(), to the whole new DataFrame';

export async function open({ require }) {
    const pl = require('nodejs-polars');
    let frame;
    return {
        version: require('nodejs-polars/package.json').version,

        load(column) {
            frame = pl.DataFrame([pl.Series('UserID', column)]);
        },

        // Of the ways to write this query the fastest: lazy frames and .agg(pl.len()) took 1.1 to 1.5 times as long.
        count: () => frame.groupBy('UserID').len(),

        *blocks(result) {
            const [keys, counts] = result.getColumns();
            yield [keys.toTypedArray(), counts.toTypedArray()];
        },
    };
}
