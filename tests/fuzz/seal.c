/* SPDX-License-Identifier: MIT */
/* Mutations that get behind checksums. A byte changed at random in an .agb file fails its hash, and one put in moves
 * the footer away from where the file's end says it is: nearly nothing would reach the code behind. So one part of the
 * file is mutated by itself, and what guards it is made to hold again: lengths and hashes, as a hostile writer would.
 *
 * Parquet's page checksums are optional; they are not renewed but left out of most seeds, so that pages are reached. */
#include "fuzz.h"

#include "agb/footer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

static uint64_t number_at(const uint8_t *at, size_t bytes)
{
    uint64_t number = 0;
    memcpy(&number, at, bytes);
    return number;
}

/* A file is [0, cut) blocks or pages, [cut, end) the footer, and a tail of some bytes. Mutates one of the first two, by
 * the seed's choice, and puts all three together again; *cut moves with it. Returns the new size without the tail. */
static size_t mutate_part(uint8_t *data, size_t *cut, size_t end, size_t tail_bytes, size_t most, unsigned seed)
{
    bool footer = seed / 8 % 2;
    size_t from = footer ? *cut : 0, to = footer ? end : *cut, behind = end - to;
    size_t room = most - (end - (to - from)) - tail_bytes;
    uint8_t *part = malloc(room + 1), *rest = malloc(behind + 1);
    if (!part || !rest)
        abort();
    memcpy(part, data + from, to - from);
    memcpy(rest, data + to, behind);
    size_t made = LLVMFuzzerMutate(part, to - from, room);
    memcpy(data + from, part, made);
    memcpy(data + from + made, rest, behind);
    if (!footer)
        *cut = made;
    free(part);
    free(rest);
    return from + made + behind;
}

/* ---- Parquet: the tail is the footer's length and the magic ---- */

size_t agb_fuzz_mutate_parquet(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    enum { TAIL_BYTES = 8, MAGIC_BYTES = 4 };
    if (size < MAGIC_BYTES + TAIL_BYTES || most < size)
        return 0;
    size_t end = size - TAIL_BYTES, footer_bytes = (size_t)number_at(data + end, 4), cut = end - footer_bytes;
    if (footer_bytes > end)
        return 0;
    end = mutate_part(data, &cut, end, TAIL_BYTES, most, seed);
    uint32_t bytes = (uint32_t)(end - cut);
    memcpy(data + end, &bytes, sizeof bytes);
    memcpy(data + end + sizeof bytes, "PAR1", MAGIC_BYTES);
    if (end >= MAGIC_BYTES)
        memcpy(data, "PAR1", MAGIC_BYTES);
    return end + TAIL_BYTES;
}

/* ---- .agb ---- */

static void seal_tail(uint8_t *data, size_t cut, size_t end)
{
    uint64_t numbers[3] = {cut, end - cut, XXH3_64bits(data + cut, end - cut)};
    memcpy(data + end, numbers, sizeof numbers);
    memcpy(data + end + sizeof numbers, AGB_NATIVE_END_MAGIC, AGB_NATIVE_MAGIC_BYTES);
}

/* Gives every block the hash of what stands there now, where the footer can be read. */
static void seal_blocks(uint8_t *data, size_t cut, size_t end)
{
    agb_native_file file;
    agb_input input = agb_fuzz_input("input", data, end + AGB_NATIVE_TAIL_BYTES, true);
    size_t made;
    if (agb_native_footer_read(&file, &input, NULL) == AGB_OK) {
        for (size_t i = 0; i < file.columns; i++)
            for (size_t j = 0; j < file.column[i].chunks; j++)
                for (size_t kind = 0; kind < AGB_NATIVE_KINDS; kind++) {
                    agb_native_block *block = &file.column[i].chunk[j].block[kind];
                    if (!agb_native_block_is_absent(block))
                        block->hash = XXH3_64bits(data + block->offset, block->stored_bytes);
                }
        unsigned char *footer = agb_native_footer_make(&file, cut, &made);
        if (footer && made == end - cut + AGB_NATIVE_TAIL_BYTES)
            memcpy(data + cut, footer, made);
        free(footer);
    }
    agb_native_file_release(&file);
    close(input.fd);
}

size_t agb_fuzz_mutate_agb(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    if (size < AGB_NATIVE_HEADER_BYTES + AGB_NATIVE_TAIL_BYTES || most < size)
        return 0;
    size_t end = size - AGB_NATIVE_TAIL_BYTES;
    uint64_t cut_claim = number_at(data + end, 8);
    if (cut_claim < AGB_NATIVE_HEADER_BYTES || cut_claim > end)
        return 0;
    size_t cut = (size_t)cut_claim;
    end = mutate_part(data, &cut, end, AGB_NATIVE_TAIL_BYTES, most, seed);
    if (cut >= AGB_NATIVE_HEADER_BYTES)
        agb_native_header_make(data);
    seal_tail(data, cut, end);
    seal_blocks(data, cut, end);
    return end + AGB_NATIVE_TAIL_BYTES;
}
