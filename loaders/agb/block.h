/* SPDX-License-Identifier: MIT */
/* One block: values to stored bytes and back. Sentences have only the reason; the caller knows column and rows. */
#ifndef AGB_NATIVE_BLOCK_H
#define AGB_NATIVE_BLOCK_H

#include "agb/format.h"

/* Memory that is used again and again. */
typedef struct agb_native_room {
    unsigned char *bytes;
    size_t capacity;
} agb_native_room;

/* At least that many bytes, with whatever is in them; NULL when the system refuses. */
unsigned char *agb_native_room_of(agb_native_room *room, size_t bytes);
void agb_native_room_release(agb_native_room *room);

/* What one worker needs to unpack blocks, or to pack one. Zero is a valid empty one. */
typedef struct agb_native_unpacker {
    struct ZSTD_DCtx_s *zstd;
    agb_native_room stored, unpacked;
} agb_native_unpacker;

typedef struct agb_native_packer {
    struct ZSTD_CCtx_s *zstd;
    agb_native_room runs, packed;
} agb_native_packer;

void agb_native_unpacker_release(agb_native_unpacker *unpacker);
void agb_native_packer_release(agb_native_packer *packer);

/* Whether a block can hold n values of that width at all; to be asked before memory is made for them. */
agb_status agb_native_block_check(const agb_native_block *block, uint64_t n, size_t width, agb_error *err);

/* Memory for a block that was checked; where the system refuses it, reading the block will say so. The workers of a
 * load should have theirs before they run: while one maps memory the page faults of the others wait, and on a virtual
 * machine who waits is often woken on its waker's processor. */
void agb_native_unpacker_prepare(agb_native_unpacker *unpacker, const agb_native_block *block);

/* Reads, checks and unpacks a block that was checked into n values. */
agb_status agb_native_block_read(agb_native_unpacker *unpacker, int fd, const agb_native_block *block, void *out,
                                 uint64_t n, size_t width, agb_error *err);

/* Only the checksum of the stored bytes: for a block whose bytes are used where they are. */
agb_status agb_native_block_verify(agb_native_unpacker *unpacker, int fd, const agb_native_block *block,
                                   agb_error *err);

/* Fills the block but for its offset and gives its stored bytes, which stand in the packer or are the values
 * themselves. They are the values where neither a codec nor runs may be used, and where neither saves anything worth
 * the time of undoing it. NULL when the system refuses memory. */
const void *agb_native_block_pack(agb_native_packer *packer, agb_native_codec codec, bool may_be_runs,
                                  const void *values, uint64_t n, size_t width, agb_native_block *block);

#endif
