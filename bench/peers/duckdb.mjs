// SPDX-License-Identifier: MIT
// DuckDB as a peer: an in-memory database with its standard settings, but for the number of threads, the memory limit
// and a switched-off spill folder.
const BATCH_ROWS = 2048;    // of DuckDB's vectors

export const span = 'the query, from its text to the whole result in DuckDB\'s own memory';

export async function open({ require, threads, memoryBytes }) {
    const api = require('@duckdb/node-api');
    const instance = await api.DuckDBInstance.create(':memory:', {
        threads: String(threads), memory_limit: `${Math.floor(memoryBytes / 2 ** 20)}MiB`, temp_directory: '',
    });
    const connection = await instance.connect();
    return {
        version: api.version().replace(/^v/, ''),

        async load(column) {
            await connection.run('CREATE TABLE hits (UserID BIGINT NOT NULL)');
            const appender = await connection.createAppender('hits');
            const chunk = api.DuckDBDataChunk.create([api.BIGINT], BATCH_ROWS);
            for (let at = 0; at < column.length; at += BATCH_ROWS) {
                const part = column.subarray(at, at + BATCH_ROWS);
                chunk.rowCount = part.length;
                const vector = chunk.getColumnVector(0);
                vector.items.set(part);
                vector.flush();
                appender.appendDataChunk(chunk);
            }
            appender.closeSync();
        },

        count: () => connection.run('SELECT UserID, count(*) FROM hits GROUP BY UserID'),

        query: text => connection.run(text),

        async *blocks(result) {
            for (let chunk; (chunk = await result.fetchChunk()) && chunk.rowCount > 0;)
                yield [chunk.getColumnVector(0).items, chunk.getColumnVector(1).items];
        },
    };
}
