/* SPDX-License-Identifier: MIT */
/* THE .agb FORMAT, version 1: columns of integers, booleans and byte strings, made to be loaded fast and to be noticed
 * when damaged. All numbers are little-endian; all offsets and sizes have 64 bits and count bytes.
 *
 *        0 +--------------------------------------------------------------+
 *          | "AGBCOL\r\n"   u32 version = 1   u32 0                       |  header, 16
 *          +--------------------------------------------------------------+
 *          | column 0: VALUES of chunk 0, 1, 2 ... | NULLS ... | BYTES ...|
 *          | column 1: VALUES of chunk 0, 1, 2 ... | NULLS ... | BYTES ...|  blocks
 *          | ...                                                          |
 *   footer +--------------------------------------------------------------+
 *          | u64 rows   u64 columns                                       |
 *          | for each column:                                             |
 *          |   u32 type   u32 name bytes   u64 chunks                     |
 *          |   its name, filled up with zeros to a multiple of 8          |
 *          |   for each chunk:   u64 rows   then VALUES, NULLS, BYTES:    |
 *          |     u64 offset  u64 stored  u64 unpacked  u64 hash           |
 *          |     u32 codec   u32 coding                                   |
 *          +--------------------------------------------------------------+
 *          | u64 footer   u64 footer bytes   u64 hash   "AGBEND\r\n"      |  tail, 32
 *          +--------------------------------------------------------------+
 *
 * A column is cut into chunks of rows, a chunk into up to three blocks:
 *     VALUES  one value of the type's width for each row, 0 where it is NULL; of a string: its length, 4 bytes
 *     NULLS   one byte for each row, 1 = NULL; no such block (all fields 0): the chunk has no NULL
 *     BYTES   of strings: their bytes, one after another; no such block: they are all empty
 * type     1 int32, 2 uint32, 3 int64, 4 uint64, 5 bool (one byte, 0 or 1), 6 bytes
 * stored   bytes in the file; `hash` is their XXH3 (64 bits, seed 0). The tail's hash is the footer's.
 * codec    0 none: unpacked = stored; 1 one zstd frame that becomes `unpacked` bytes
 * coding   of the unpacked bytes: 0 plain; 1 (not for BYTES) runs of equal values: first the value of each run, then
 *          one byte for each run, how often the value stands there, 1..255
 *
 * RULES  Blocks stand in the order of the picture and do not overlap; there may be gaps, which belong to nothing. The
 *        writer uses them for one thing: uncompressed VALUES of a column begin at a multiple of 4096 and follow one
 *        another, so that a reader can map them.
 *        The tail ends the file and its three numbers add up to the file's size, so a file that was cut, or that has
 *        something behind it, is noticed; so is one that went through a conversion of line ends, by the \r\n.
 * VERSIONS  A reader refuses a version above its own and reads all below. A number is raised for whatever an older
 *        reader would take for something else. New types, codecs and codings need no new version: an older reader
 *        refuses the column that uses them by name, and reads the others. */
#ifndef AGB_NATIVE_FORMAT_H
#define AGB_NATIVE_FORMAT_H

#include "aggbench.h"

#define AGB_NATIVE_MAGIC "AGBCOL\r\n"
#define AGB_NATIVE_END_MAGIC "AGBEND\r\n"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers and values are copied as they stand in the file");

enum {
    AGB_NATIVE_VERSION = 1,
    AGB_NATIVE_MAGIC_BYTES = 8,
    AGB_NATIVE_HEADER_BYTES = 16,
    AGB_NATIVE_TAIL_BYTES = 32,
    AGB_NATIVE_PAGE_BYTES = 4096,
    AGB_NATIVE_LENGTH_BYTES = 4,            /* of a string's length */
    AGB_NATIVE_COLUMN_BYTES = 16,           /* of the footer for a column, without its name and chunks */
    AGB_NATIVE_CHUNK_BYTES = 8 + 3 * 40,    /* of the footer for a chunk */

    /* Limits of what a reader believes. Together with CHUNK_BYTES the second says: at most 8192 rows for a byte. */
    AGB_NATIVE_MOST_COLUMNS = 10000,
    AGB_NATIVE_MOST_CHUNK_ROWS = 1 << 20,
    AGB_NATIVE_MOST_BLOCK_BYTES = 1 << 30,
    AGB_NATIVE_MOST_GROWTH = 32768,         /* a zstd block is 128 KiB from 4 bytes; frames below 64 KiB are let pass */

    /* What the writer cuts: 1 MiB of 64-bit values, which stays in the second-level cache while it is decoded. */
    AGB_NATIVE_CHUNK_ROWS = 1 << 17,
    AGB_NATIVE_CHUNK_STRING_BYTES = 2 << 20
};

typedef enum agb_native_kind {
    AGB_NATIVE_VALUES, AGB_NATIVE_NULLS, AGB_NATIVE_BYTES, AGB_NATIVE_KINDS
} agb_native_kind;

typedef enum agb_native_codec { AGB_NATIVE_NONE, AGB_NATIVE_ZSTD, AGB_NATIVE_CODECS } agb_native_codec;
typedef enum agb_native_coding { AGB_NATIVE_PLAIN, AGB_NATIVE_RUNS, AGB_NATIVE_CODINGS } agb_native_coding;

typedef struct agb_native_block {
    uint64_t offset, stored_bytes, unpacked_bytes, hash;
    uint32_t codec, coding;
} agb_native_block;

typedef struct agb_native_chunk {
    uint64_t row, rows;    /* its first row in the column */
    agb_native_block block[AGB_NATIVE_KINDS];
} agb_native_chunk;

typedef struct agb_native_column {
    char *name;
    agb_type type;         /* AGB_TYPE_OTHER: a number that is not known */
    uint32_t type_number;
    size_t chunks;
    agb_native_chunk *chunk;
} agb_native_column;

/* A footer in memory. */
typedef struct agb_native_file {
    uint64_t rows;
    size_t columns;
    agb_native_column *column;
} agb_native_file;

/* Width of one value in a VALUES block. */
static inline size_t agb_native_width(agb_type type)
{
    return type == AGB_TYPE_BYTES ? AGB_NATIVE_LENGTH_BYTES : agb_type_bytes(type);
}

static inline bool agb_native_block_is_absent(const agb_native_block *block)
{
    return block->stored_bytes == 0;
}

#endif
