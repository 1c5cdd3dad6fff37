// SPDX-License-Identifier: MIT
// The order-free checksum of aggbench's reports, so that any program's answer can be held against them: the sum modulo
// 2^64, over all groups, of XXH3_64bits(key as 8 little-endian bytes) * count.
const WORD = (1n << 64n) - 1n;
const FLIP = 0x1cad21f72c81017cn ^ 0xdb979083e96dd4den;    // two words of XXH3's default secret
const PRIME = 0x9fb21c651e98df25n;

// XXH3_64bits of exactly 8 bytes with seed 0 (Y. Collet, "XXH3", xxHash 0.8): its branch for 4 to 8 bytes.
function xxh3(key) {
    let h = (key >> 32n | key << 32n) & WORD ^ FLIP;
    h ^= (h << 49n | h >> 15n) & WORD ^ (h << 24n | h >> 40n) & WORD;
    h = BigInt.asUintN(64, h * PRIME);
    h = BigInt.asUintN(64, (h ^ (h >> 35n) + 8n) * PRIME);
    return h ^ h >> 28n;
}

// An answer that grows by blocks of keys (BigInt64Array) and counts (any array of numbers or bigints).
export class Answer {
    groups = 0;
    rows = 0n;
    sum = 0n;

    add(keys, counts, withChecksum) {
        this.groups += keys.length;
        for (let i = 0; i < keys.length; i++) {
            const count = BigInt(counts[i]);
            this.rows += count;
            if (withChecksum)
                this.sum = BigInt.asUintN(64, this.sum + xxh3(BigInt.asUintN(64, keys[i])) * count);
        }
        this.checksum = withChecksum ? this.sum.toString(16).padStart(16, '0') : null;
    }

    get plain() {
        return { groups: this.groups, rows: Number(this.rows), checksum: this.checksum };
    }
}
