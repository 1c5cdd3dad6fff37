/* SPDX-License-Identifier: MIT */
/* THE CONTRACT between a GROUP BY count strategy (an aggregator) and its host.
 *
 * An aggregator is one C file that defines one constant, `const agb_aggregator agb_aggregator_<file stem>`. Dropped
 * into aggregators/ it is built in; compiled with `cc -shared -fPIC -Iengine -Iaggregators` it is a plug-in. The same
 * source serves both, because every service is an inline call through the host table below: the object needs no symbol
 * of the program. This header compiles as C11 and as C++11, includes nothing of ours but status.h, and its structures
 * hold nothing but integers, pointers and one another: any language that can lay out a C structure can be a plug-in's.
 * `aggbench new NAME` writes a strategy to start from; aggregators/README.md explains with worked examples.
 *
 * RULES
 *  1. Order. create once; consume 0..n times; finish at most once; destroy exactly once if create set *self, also
 *     when create failed afterwards (so set *self first). After any failure only destroy follows: no cleanup ladders.
 *  2. Threads. All calls come from one thread, unless the AGB_PARALLEL trait is set: then consume runs on several
 *     workers at once, each with its own worker number 0..config->workers-1 (without the trait: 0 of 1). finish runs
 *     on the thread of worker 0 and may spread work with agb_parallel_for. alloc, release, phase, emit, spill and fetch
 *     may be called from any worker.
 *  3. Memory. Every byte comes from agb_alloc and goes back through agb_release with its size; destroy leaves nothing
 *     live. Where memory comes from (page size, reused or fresh, budget) is the run's choice, never the aggregator's.
 *     NULL means refused: return AGB_ERR_MEMORY, the host knows the reason and the amount.
 *  4. Results. Groups are pushed in blocks, in any order, each group exactly once, from finish (or earlier, when a
 *     group is known to be complete). Counts are 64 bits and exact.
 *  5. Input. A batch is borrowed for the call. It may have 0 rows. It never holds NULL keys: the engine counts those
 *     itself, as one group of their own.
 *  6. Forbidden: malloc, stdio, clocks, threads, mutable globals.
 *  7. Versions. Structures with a `size` grow at their end only, and `abi` stays. A plug-in of an older header runs
 *     unchanged: what its descriptor lacks is taken for 0. One of a newer header runs, too: fields unknown here are
 *     ignored, and before it uses a service or a config field that an older host may lack it asks AGB_HAS. Another abi
 *     is refused before any function of the descriptor is called. */
#ifndef AGB_AGGREGATOR_H
#define AGB_AGGREGATOR_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised only when an old plug-in could not run any more; appended fields are told apart by `size`. */
#define AGB_AGGREGATOR_ABI 1u

/* Whether a structure of the other side, `object`, reaches as far as its member `field`. */
#define AGB_HAS(object, field) \
    ((object)->size >= (size_t)((const char *)(&(object)->field + 1) - (const char *)(object)))

enum {
    AGB_MOST_PHASES = 8,    /* named phases of one aggregator */
    AGB_MOST_PARAMS = 8,    /* parameters of one aggregator */
    AGB_ALIGNMENT = 64      /* every block from agb_alloc starts on such a boundary, in bytes */
};

/* What a key is. The kind is fixed for a run and told to create in the config. */
typedef enum agb_key_kind {
    AGB_KEYS_WORD = 0,    /* one 64-bit word: an integer column of any width, sign- or zero-extended by the engine */
    AGB_KEYS_PAIR = 1,    /* two 64-bit words: several columns packed exactly */
    AGB_KEYS_BYTES = 2    /* a byte string, compared byte by byte */
} agb_key_kind;

/* Traits: or-ed flags. The three AGB_TAKES_ key flags are 1 << agb_key_kind. */
enum {
    AGB_TAKES_WORDS = 1u << 0,
    AGB_TAKES_PAIRS = 1u << 1,
    AGB_TAKES_BYTES = 1u << 2,
    AGB_TAKES_WEIGHTS = 1u << 3,    /* honours batch->weights */
    AGB_PARALLEL = 1u << 4,         /* consume may run on several workers at once */
    AGB_EXAMPLE = 1u << 5           /* to be copied, not to be compared: left out of "all aggregators" */
};

typedef struct agb_bytes {
    const unsigned char *data;    /* not NUL-terminated; may be NULL when length is 0 */
    size_t length;                /* bytes */
} agb_bytes;

/* One key, where it stands alone. Which member holds is the run's key kind. */
typedef union agb_key {
    uint64_t word;
    uint64_t pair[2];
    agb_bytes bytes;
} agb_key;

/* A borrowed run of rows. Exactly the array that belongs to the run's key kind is set. */
typedef struct agb_batch {
    size_t rows;
    const uint64_t *keys;        /* AGB_KEYS_WORD: rows words; AGB_KEYS_PAIR: 2 * rows words, pair after pair */
    const agb_bytes *bytes;      /* AGB_KEYS_BYTES: rows strings; their bytes are borrowed for the call, too */
    const uint64_t *weights;     /* what each row adds to its group, never 0; NULL: 1. All batches of a run have
                                    weights, or none has: config->weighted */
} agb_batch;

/* One parameter of an aggregator, set by `--aggregator NAME:param=value`. The engine parses and range-checks it. */
typedef struct agb_param {
    const char *name;
    int64_t standard, least, most;
    const char *about;    /* one line with its unit */
} agb_param;

/* The hash that all contestants share, as data: hash(x) = (x ^ ((x >> 32) & fold)) * multiplier, modulo 2^64.
 * The default (fold = ~0, odd multiplier) is invertible and spreads into the top bits; multiplier 0 gives every key
 * the same hash, which tests use to prove that no aggregator takes hash equality for key equality. */
typedef struct agb_hash {
    uint64_t fold, multiplier;
} agb_hash;

/* Sizes in bytes of the caches one core can use, and of a line; 0 where the machine does not say. */
typedef struct agb_caches {
    size_t line, l1d, l2, l3;
} agb_caches;

/* What create is told about the run. Valid until destroy returns. */
typedef struct agb_config {
    size_t size;                          /* sizeof(agb_config) of the host: later fields exist if size reaches them */
    agb_key_kind kind;
    unsigned workers;                     /* worker numbers are 0..workers-1; at least 1 */
    uint64_t rows;                        /* rows that will come, an upper bound; 0 = unknown */
    int64_t params[AGB_MOST_PARAMS];      /* values, in the order of the aggregator's own table */
    agb_hash hash;
    agb_caches caches;
    bool weighted;                        /* batches carry weights; only with the trait AGB_TAKES_WEIGHTS */
    uint64_t memory_budget;               /* bytes that may be held at once; 0 = no limit */
} agb_config;

typedef struct agb_host agb_host;
typedef void (*agb_task_fn)(void *argument, unsigned worker, size_t task);

enum { AGB_ZEROED = 1u << 0 };    /* flag of alloc */

/* The services. Call them through the inline functions below. `size` grows when services are appended. */
struct agb_host {
    uint32_t abi, size;
    void *(*alloc)(agb_host *host, size_t bytes, unsigned flags);
    void (*release)(agb_host *host, void *block, size_t bytes);
    void (*phase)(agb_host *host, unsigned worker, unsigned phase);
    agb_status (*emit_begin)(agb_host *host, unsigned worker, size_t groups, uint64_t **keys, uint64_t **counts);
    agb_status (*emit_end)(agb_host *host, unsigned worker, size_t groups);
    agb_status (*parallel_for)(agb_host *host, size_t tasks, agb_task_fn task, void *argument);
    void (*note)(agb_host *host, const char *text);
    agb_status (*emit_bytes)(agb_host *host, unsigned worker, const agb_bytes *keys, const uint64_t *counts,
                             size_t groups);
    void (*hash_bytes)(agb_host *host, const agb_bytes *keys, size_t n, uint64_t *hashes);
    agb_status (*spill)(agb_host *host, const void *bytes, size_t n, uint64_t *ticket);
    agb_status (*fetch)(agb_host *host, uint64_t ticket, void *bytes, size_t n);
};

/* 64-byte aligned memory, charged to the run's budget; content undefined unless AGB_ZEROED. NULL when refused. */
static inline void *agb_alloc(agb_host *host, size_t bytes, unsigned flags)
{
    return host->alloc(host, bytes, flags);
}

/* Gives a block back, with the size it was asked for. block may be NULL. */
static inline void agb_release(agb_host *host, void *block, size_t bytes)
{
    if (block)
        host->release(host, block, bytes);
}

/* From here on this worker is in phase number `phase` of the aggregator's list. Per batch or coarser, never per row;
 * entering the phase one is already in costs next to nothing. The first phase of the list is entered by the engine. */
static inline void agb_phase(agb_host *host, unsigned worker, unsigned phase)
{
    host->phase(host, worker, phase);
}

/* Lends the sink's own memory for up to `groups` groups, so that a result is written once: *keys takes one word per
 * group (AGB_KEYS_PAIR: two), *counts one. It is valid until this worker's emit_end, which says how many were written
 * (0..groups). One loan per worker at a time. */
static inline agb_status agb_emit_begin(agb_host *host, unsigned worker, size_t groups, uint64_t **keys,
                                        uint64_t **counts)
{
    return host->emit_begin(host, worker, groups, keys, counts);
}

static inline agb_status agb_emit_end(agb_host *host, unsigned worker, size_t groups)
{
    return host->emit_end(host, worker, groups);
}

/* Copies a block of word-keyed groups to the sink. */
static inline agb_status agb_emit(agb_host *host, unsigned worker, const uint64_t *keys, const uint64_t *counts,
                                  size_t groups)
{
    uint64_t *to_keys, *to_counts;
    agb_status status = agb_emit_begin(host, worker, groups, &to_keys, &to_counts);
    if (status != AGB_OK)
        return status;
    for (size_t i = 0; i < groups; i++) {
        to_keys[i] = keys[i];
        to_counts[i] = counts[i];
    }
    return agb_emit_end(host, worker, groups);
}

/* Copies a block of string-keyed groups, their bytes too, to the sink. */
static inline agb_status agb_emit_bytes(agb_host *host, unsigned worker, const agb_bytes *keys, const uint64_t *counts,
                                        size_t groups)
{
    return host->emit_bytes(host, worker, keys, counts, groups);
}

/* Runs task(argument, worker, 0..tasks-1) over the workers and returns when all have ended. Tasks are claimed one by
 * one, so uneven tasks balance themselves. Not to be called from within a task. A task reports failure through its
 * argument. Returns AGB_ERR_CONTRACT, and runs nothing, when nested. */
static inline agb_status agb_parallel_for(agb_host *host, size_t tasks, agb_task_fn task, void *argument)
{
    return host->parallel_for(host, tasks, task, argument);
}

/* One sentence for the report about what the aggregator saw or chose; copied; the last one wins. Main thread only. Of a
 * create that the budget then refuses memory: what to do about it, as "raise it to 2M at least". */
static inline void agb_note(agb_host *host, const char *text)
{
    host->note(host, text);
}

/* The shared hash of a 64-bit key. Take the TOP bits of it: those are the well mixed ones. */
static inline uint64_t agb_hash_word(agb_hash hash, uint64_t key)
{
    return (key ^ ((key >> 32) & hash.fold)) * hash.multiplier;
}

/* The shared hash of a two-word key. Multiplying the first word moves it into the upper half and shifting brings it
 * back over all bits, so that two small numbers do not meet; what is added up is then hashed as a word. */
static inline uint64_t agb_hash_pair(agb_hash hash, const uint64_t *pair)
{
    uint64_t first = pair[0] * UINT64_C(0xd6e8feb86659fd93);
    return agb_hash_word(hash, (first ^ first >> 32) + pair[1]);
}

/* The shared hash of n strings: XXH3, hashed once more as a word. A block at a time, so that the call costs little. */
static inline void agb_hash_bytes(agb_host *host, const agb_bytes *keys, size_t n, uint64_t *hashes)
{
    host->hash_bytes(host, keys, n, hashes);
}

/* Writes a block to the run's own file, which has no name and ends with the run; *ticket (never 0) leads back to it.
 * Not charged to the budget. From any worker. A full disk and the like: a failure to be returned, its sentence is
 * kept. */
static inline agb_status agb_spill(agb_host *host, const void *bytes, size_t n, uint64_t *ticket)
{
    return AGB_HAS(host, spill) ? host->spill(host, bytes, n, ticket) : AGB_ERR_UNSUPPORTED;
}

/* Reads a block back, as often as needed; n as it was written. Its checksum is verified. */
static inline agb_status agb_fetch(agb_host *host, uint64_t ticket, void *bytes, size_t n)
{
    return AGB_HAS(host, fetch) ? host->fetch(host, ticket, bytes, n) : AGB_ERR_UNSUPPORTED;
}

/* The most that one worker holds at once, beside the column and the result, for word keys of ordinary spread: an upper
 * bound, so growth by doubling is in it. What grows is at most twice as much for pairs, and for strings three times as
 * much and twice their bytes. All zero: not stated. */
typedef struct agb_need {
    double bytes_per_row, bytes_per_group;
    double fixed_bytes;            /* what does not grow with the data, on a machine with 1 MiB of L2 */
} agb_need;

/* Append only. Constant; no code runs when it is registered. */
typedef struct agb_aggregator {
    uint32_t abi, size;            /* AGB_AGGREGATOR_ABI, sizeof(agb_aggregator) */
    const char *name;              /* equal to the file's stem; the label in every report */
    const char *summary;           /* one line */
    const char *prediction;        /* where the pipeline slots should go; printed beside the measurement; may be NULL */
    const char *const *phases;     /* NULL-ended, 1..AGB_MOST_PHASES names */
    const agb_param *params;       /* ended by an entry with name NULL; may be NULL */
    unsigned traits;               /* at least one AGB_TAKES_ key flag */
    agb_status (*create)(agb_host *host, const agb_config *config, void **self);
    agb_status (*consume)(void *self, unsigned worker, const agb_batch *batch);
    agb_status (*finish)(void *self);
    void (*destroy)(void *self);
    agb_need need;                 /* appended: 0 from an older plug-in, see rule 7 */
} agb_aggregator;

#ifdef __cplusplus
}
#endif
#endif
