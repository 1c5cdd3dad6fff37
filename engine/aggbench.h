/* SPDX-License-Identifier: MIT */
/* The public face of the engine: load columns into a table, count groups of it, read the result. Whole programs are in
 * engine/examples; installed, `cc NAME.c $(pkg-config --cflags --libs aggbench)` builds them.
 *
 *     agb_registry *registry; agb_table *table; agb_sink *sink; agb_stats stats; agb_error err;
 *     agb_registry_create(&registry, &err);
 *     agb_table_load(&table, registry, "hits.parquet", (const char *[]){"UserID"}, 1, NULL, &err);
 *     agb_sink_collect(&sink, &err);
 *     agb_plan plan = {.table = table, .column = "UserID",
 *                      .aggregator = agb_registry_find_aggregator(registry, "radix")};
 *     agb_count_groups(&plan, sink, &stats, &err);
 *
 * OWNERSHIP  Who creates destroys; every _create/_load/_collect/... has its _destroy, which takes NULL. find/at return
 *            borrowed pointers, valid until their parent is destroyed. `lend` borrows the caller's memory, `copy` does
 *            not. After a failure the out pointer is NULL. Destroy a registry after the last use of a plug-in of it, a
 *            memory after the collect sinks that keep their groups in it.
 * THREADS    No mutable globals: what is apart may be used by several threads at once, without locks.
 *            - Shared freely, once they are complete: registry, table, filter, key layout. A run only reads them.
 *            - One thread, and one run, at a time: sink, pool, memory, and the table or registry that is still being
 *              filled. Runs that are to go on at once need one of each of their own; runs one after another may share.
 *            - agb_count_groups may be called from any thread. With a pool, the thread that calls is worker 0, and the
 *              strategy, the stream and the observer are called on the pool's threads, too. Nothing outlives the call
 *              but the pool's waiting threads, which do not survive a fork().
 * ERRORS     See status.h. The library never prints, never exits, and asks nothing of the environment.
 * VERSIONS   A program built with this header runs with libraries of the same SONAME. */
#ifndef AGB_AGGBENCH_H
#define AGB_AGGBENCH_H

#include "aggregator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* While the first number is 0, a change of the second one may break programs: it is part of the library's SONAME. */
#define AGB_VERSION "0.1"
const char *agb_version(void);    /* of the library that runs, where AGB_VERSION is that of the header */

typedef struct agb_registry agb_registry;
typedef struct agb_table agb_table;
typedef struct agb_sink agb_sink;
typedef struct agb_memory agb_memory;
typedef struct agb_pool agb_pool;
typedef struct agb_loader agb_loader;    /* loader.h */

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

/* How a column stands in memory. Narrow integers of a file (INT_16, UINT_8 ...) are held in the physical width of
 * their format, 4 or 8 bytes, as Parquet does; signed and unsigned never mix. */
typedef enum agb_type {
    AGB_TYPE_INT32,     /* int32_t */
    AGB_TYPE_UINT32,    /* uint32_t */
    AGB_TYPE_INT64,     /* int64_t */
    AGB_TYPE_UINT64,    /* uint64_t */
    AGB_TYPE_BOOL,      /* uint8_t, 0 or 1 */
    AGB_TYPE_BYTES,     /* agb_bytes */
    AGB_TYPE_OTHER      /* known to the file, not loadable (float, nested, ...): can be described only */
} agb_type;

const char *agb_type_name(agb_type type);    /* "int32" ... */
size_t agb_type_bytes(agb_type type);        /* width of one value in memory; 0 for AGB_TYPE_OTHER */
bool agb_type_is_signed(agb_type type);

/* What a source says about one of its columns. Text is owned by the schema. */
typedef struct agb_column_info {
    char *name;
    agb_type type;
    bool optional;    /* may hold NULL */
    char *detail;     /* in the format's own words: physical type, annotation, codecs, encodings; never NULL */
} agb_column_info;

typedef struct agb_schema {
    size_t columns;
    agb_column_info *column;
    uint64_t rows;          /* UINT64_MAX when the format cannot tell without reading all of it */
    uint64_t files;
    const char *format;     /* the loader's name */
    char *detail;           /* e.g. "226 row groups, written by ..."; of several files, the first one's; never NULL */
} agb_schema;

/* Standard input, a pipe, or anything else that gives its bytes once: to describe it takes them away from a later load.
 * A folder or a glob is never one, for pipes in them are refused. */
bool agb_source_is_stream(const char *source);

/* What a SOURCE holds, without loading it. schema is filled by the call and emptied by agb_schema_release. */
agb_status agb_source_describe(agb_schema *schema, const agb_registry *registry, const char *source, agb_error *err);
/* As a load with these options would find it: by their loader and schema. options may be NULL. */
typedef struct agb_load_options agb_load_options;
agb_status agb_source_describe_as(agb_schema *schema, const agb_registry *registry, const char *source,
                                  const agb_load_options *options, agb_error *err);
void agb_schema_release(agb_schema *schema);

/* ---- Tables: named columns of equal length ----------------------------------------------------------------------- */

typedef enum agb_pages {
    AGB_PAGES_DEFAULT = 0,    /* whatever the system's transparent huge page policy gives */
    AGB_PAGES_4K,             /* madvise(MADV_NOHUGEPAGE) */
    AGB_PAGES_HUGE,           /* 2 MiB aligned and madvise(MADV_HUGEPAGE) */
    AGB_PAGES_EXPLICIT        /* from the system's pool of 2 MiB pages (/proc/sys/vm/nr_hugepages): refused when it does
                                 not have enough */
} agb_pages;

struct agb_load_options {
    agb_pages pages;      /* of the columns' memory */
    agb_pool *pool;       /* borrowed; decodes and parses on its workers; NULL = on the calling thread */
    const char *loader;   /* force this loader instead of asking every loader whether it knows the bytes; or NULL */
    void (*progress)(void *context, uint64_t done, uint64_t total);    /* rows; total 0 = unknown; or NULL */
    void *context;
    /* Lets columns of .agb files stand in the file instead of memory, which is several times as fast. The price: when
     * another process cuts the file short (writes over it, instead of putting a new one in its place) while the table
     * lives, looking at the lost part raises SIGBUS. false: copied; the file may then do as it likes. */
    bool may_map;
    /* For formats that say nothing of types (text): one line `NAME TYPE` for each column, in their order; types are
     * int16 int32 int64 uint32 uint64 date time bytes. The first row is then data, unless it is these names. NULL: the
     * first row tells, see loaders/text/reader.h. */
    const char *schema;
    /* Only the first so many rows of the source, 0: all. What stands behind them is read no further than the format
     * makes necessary, and not checked; files behind them are not opened. */
    uint64_t head;
};

/* Loads the named columns of a SOURCE: a file, a folder, a glob, `-` (standard input), or `LOADER:spec` for a loader
 * that generates rows ("synth:hits,rows=1000"). Several files must agree in the columns' types; their rows follow
 * one another in the order of the names, numbers in names compared as numbers. A wrong column name is answered with
 * the nearest right one. options may be NULL. */
agb_status agb_table_load(agb_table **out, const agb_registry *registry, const char *source,
                          const char *const *columns, size_t n_columns, const agb_load_options *options,
                          agb_error *err);

typedef struct agb_save_options {
    const char *codec;    /* "auto", "zstd", "none": a word of the format's own; NULL = its default */
    agb_pool *pool;       /* borrowed; packs on its workers; NULL = on the calling thread */
    /* Rows times columns written so far; false = give up, and leave nothing behind. May be NULL. */
    bool (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
} agb_save_options;

/* Writes columns of a table to a file. The name's ending says in which format: one whose loader can write (".agb").
 * The file appears only when it is complete; a failure leaves what was there before. options may be NULL. */
agb_status agb_table_save(const agb_table *table, const agb_registry *registry, const char *path,
                          const char *const *columns, size_t n_columns, const agb_save_options *options,
                          agb_error *err);

/* Without columns: for agb_table_lend. */
agb_status agb_table_create(agb_table **out, agb_error *err);
/* A column of `rows` values, without NULLs. All columns of a table have the same number of rows. `lend`: values must
 * outlive the table. */
agb_status agb_table_lend(agb_table *table, const char *name, agb_type type, const void *values, uint64_t rows,
                          agb_error *err);
/* Which rows: of the first `head` (0: of all) the first one and every `every`-th after it (0, 1: each). */
typedef struct agb_row_sample {
    uint64_t head, every;
} agb_row_sample;

/* Those rows of all columns, copied, as a table of its own. A head of a file that is in the order of time holds few of
 * its values; a stride goes through all of it, but leaves one row in `every` of a run of equal ones. */
agb_status agb_table_sample(agb_table **out, const agb_table *table, const agb_row_sample *sample, agb_pages pages,
                            agb_error *err);
void agb_table_destroy(agb_table *table);

uint64_t agb_table_rows(const agb_table *table);
/* That the source has: more where agb_load_options.head left some out. UINT64_MAX: nobody looked how many. */
uint64_t agb_table_source_rows(const agb_table *table);
uint64_t agb_table_bytes(const agb_table *table);    /* memory that its columns hold */
const char *agb_table_format(const agb_table *table);    /* name of the loader that filled it, or "memory" */

/* A column as it stands in memory; borrowed. */
typedef struct agb_column {
    const char *name;
    agb_type type;
    const void *values;      /* rows values of the type's width; the value of a NULL row is 0 */
    const uint8_t *nulls;    /* rows bytes, 1 = NULL; or NULL when no row is NULL */
    uint64_t null_count;
} agb_column;

/* Column number i; false past the end. */
bool agb_table_column_at(const agb_table *table, size_t i, agb_column *out);
/* false when there is no column of that name. */
bool agb_table_find_column(const agb_table *table, const char *name, agb_column *out);

/* ---- Workers ----------------------------------------------------------------------------------------------------- */

/* `workers` threads including the caller's own, which is worker 0. cpus: one processor number per worker to pin it to,
 * or NULL. Pinning to a processor that is not allowed is an error. */
agb_status agb_pool_create(agb_pool **out, unsigned workers, const int *cpus, agb_error *err);
void agb_pool_destroy(agb_pool *pool);
unsigned agb_pool_workers(const agb_pool *pool);    /* 1 for NULL */
/* Runs task(argument, worker, 0..tasks-1), claimed one by one in this order; NULL pool: all on the calling thread as
 * worker 0. Returns AGB_ERR_CONTRACT when called from within a task. */
agb_status agb_pool_run(agb_pool *pool, size_t tasks, agb_task_fn task, void *argument);
/* Runs task(argument, worker, worker) exactly once on every worker: for what must happen on each thread. */
agb_status agb_pool_each(agb_pool *pool, agb_task_fn task, void *argument);
/* For tasks of agb_pool_run of which a part must be done in their order: between the two calls a task is alone, and all
 * before it have been there. Every task of the job makes both calls, in any event, or none does. */
void agb_pool_await_turn(agb_pool *pool, size_t task);
void agb_pool_pass_turn(agb_pool *pool);

/* ---- Memory of the aggregators ----------------------------------------------------------------------------------- */

typedef enum agb_memory_mode {
    AGB_MEMORY_WARM = 0,    /* released blocks are kept and handed out again, already faulted in, as a server would */
    AGB_MEMORY_FRESH        /* every block comes from the system and pays its page faults inside the clock */
} agb_memory_mode;

typedef struct agb_memory_options {
    agb_pages pages;
    agb_memory_mode mode;
    uint64_t budget;     /* bytes that aggregators may hold at once; 0 = no limit */
    uint64_t fail_at;    /* tests: the fail_at-th allocation from now on is refused, once; 0 = never */
    bool guarded;        /* tests: each block ends at an unmapped page and has checked margins */
} agb_memory_options;

/* Bytes of the machine, or of the control group that holds this process to less; and how many of them could be had now.
 * UINT64_MAX where the system does not tell. Requests above them are refused: the system itself would grant them, and
 * kill the process when it uses what it was given. */
uint64_t agb_system_memory(void);
uint64_t agb_system_memory_available(void);

/* options NULL: warm, of default pages, without a budget. */
agb_status agb_memory_create(agb_memory **out, const agb_memory_options *options, agb_error *err);
void agb_memory_destroy(agb_memory *memory);

typedef struct agb_memory_usage {
    uint64_t live, peak;        /* bytes asked for by aggregators: now, and most since the last reset */
    uint64_t results;           /* bytes lent to sinks, now; not charged to the budget */
    uint64_t mapped, mapped_peak;    /* bytes held from the system for both, blocks kept for reuse included */
    uint64_t allocations;       /* calls since the last reset */
    uint64_t misuses;           /* blocks released with a wrong size, or (guarded only) written beside */
} agb_memory_usage;

agb_memory_usage agb_memory_usage_of(const agb_memory *memory);
void agb_memory_reset(agb_memory *memory);                            /* peak := live; allocations := 0 */
void agb_memory_fail_at(agb_memory *memory, uint64_t allocation);     /* see fail_at above */
/* Warm memory only: touches, one byte for each page, what blocks were handed out but their owners left untouched.
 * Between two counts, never during one: then the second pays page faults only for what it needs beyond the first. */
void agb_memory_fault_in(agb_memory *memory);

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

/* What a plan groups by, as text: names of columns parted by commas. A column whose own name is the whole text, commas
 * included, comes first. Besides names: NAME+N and NAME-N, 64-bit integers that are computed row by row, and a whole
 * number, which is the same for every row. */
typedef struct agb_key_term {
    char *name;       /* as a report shows it: "ClientIP - 1" */
    char *column;     /* whose values it takes; NULL: none, `add` is the value */
    int64_t add;
} agb_key_term;

typedef struct agb_key_terms {
    size_t n;
    agb_key_term *term;
} agb_key_terms;

/* known: the names of the source's columns, NULL-ended; or NULL when they are not known yet. A name that is unknown is
 * not an error here: who loads it will tell. After a failure, too, release it. */
agb_status agb_key_terms_parse(agb_key_terms *out, const char *text, const char *const *known, agb_error *err);
void agb_key_terms_release(agb_key_terms *terms);

/* One part of a key. Positions are the layout's own business. */
typedef struct agb_key_column {
    agb_key_term term;
    agb_type type;          /* of its values in the key: int64 or uint64 where they are computed */
    bool optional;          /* the key has a flag for its NULLs */
    unsigned at, null_at;   /* words: first bit, the flag's bit; strings: first byte after the flags, the flag's bit */
} agb_key_column;

/* How columns become one key:
 *  - one integer or bool column: its value as a 64-bit word. NULL rows are counted apart, by the engine;
 *  - several of them: their values side by side, each in the width of its type and with one more bit where it has
 *    NULLs, in one word when 64 bits hold all of them, in a pair of words up to 128 bits;
 *  - one column of strings: the strings as they stand. NULL rows are counted apart;
 *  - anything else: a string made of flags for NULLs, then the integers, little-endian in the width of their type,
 *    then the strings in their order, each but the last one behind its length in 8 bytes. No two rows that differ give
 *    the same string. */
typedef struct agb_key_layout {
    agb_key_kind kind;
    size_t columns, flag_bytes, fixed_bytes;    /* the last two of strings made of several columns */
    agb_key_column *column;
} agb_key_layout;

/* columns: as a plan's `column`. AGB_ERR_NOT_FOUND for a column that the table has not. Borrows nothing. */
agb_status agb_key_layout_create(agb_key_layout **out, const agb_table *table, const char *columns, agb_error *err);
void agb_key_layout_destroy(agb_key_layout *layout);

/* One column's part of a key. */
typedef struct agb_value {
    agb_type type;
    bool null;
    uint64_t word;      /* integers and bool: sign- or zero-extended */
    agb_bytes bytes;    /* AGB_TYPE_BYTES: points into the key */
} agb_value;

/* The part of the layout's column number `column`, 0..columns-1, of a key that this layout has made. */
agb_value agb_key_value(const agb_key_layout *layout, const agb_key *key, size_t column);
/* Column by column: NULL first, integers by value, strings by their unsigned bytes, a prefix before the longer one.
 * < 0, 0, > 0. layout NULL: as agb_key_compare_raw for words. */
int agb_key_compare(const agb_key_layout *layout, const agb_key *a, const agb_key *b);
/* The order in which `sort` finds them: words unsigned, pairs as one number with the second word in front, strings by
 * their bytes. */
int agb_key_compare_raw(agb_key_kind kind, const agb_key *a, const agb_key *b);
int agb_bytes_compare(agb_bytes a, agb_bytes b);

/* Why an aggregator cannot be given keys of this kind; NULL when it can. */
const char *agb_key_kind_refusal(const agb_aggregator *aggregator, agb_key_kind kind);

/* ---- Filters ----------------------------------------------------------------------------------------------------- */

/* Conditions of the form COLUMN OPERATOR LITERAL, joined by AND. Operators: = <> != < <= > >=, and IN, behind which
 * stand literals in parentheses, parted by commas: a row meets it if it is equal to one of them. A literal is a whole
 * number, or stands in single quotes (a quote in it is doubled): a string, or for an integer column a date,
 * 'YYYY-MM-DD' or 'YYYY-MM-DD hh:mm:ss'. A date is the number of days since 1970-01-01 where the column has 32 bits,
 * and of seconds where it has 64. A name may stand in double quotes. A row whose value is NULL meets no condition. */
typedef struct agb_filter agb_filter;

/* AGB_ERR_ARGUMENT, with the place, where the text is none. Columns are looked for when a run begins. */
agb_status agb_filter_parse(agb_filter **out, const char *text, agb_error *err);
void agb_filter_destroy(agb_filter *filter);
/* The column of condition i; NULL past the end. */
const char *agb_filter_column_at(const agb_filter *filter, size_t i);
/* Whether condition i can be asked of a column of this type. */
agb_status agb_filter_check(const agb_filter *filter, size_t i, agb_type type, agb_error *err);
/* Condition i compares with a date. */
bool agb_filter_is_date(const agb_filter *filter, size_t i);

/* ---- Sinks: where groups go -------------------------------------------------------------------------------------- */

typedef struct agb_digest {
    uint64_t groups;       /* emitted groups; a NULL that is counted apart is not among them */
    uint64_t rows;         /* sum of their counts */
    uint64_t max_count;
    uint64_t checksum;     /* order-free: sum modulo 2^64 over the groups of XXH3_64bits(key bytes) * count; words are
                              hashed as 8-byte, pairs as 16-byte little-endian values, strings as they stand: of several
                              columns as agb_key_layout puts them together */
} agb_digest;

typedef struct agb_group {
    agb_key key;
    uint64_t count;
} agb_group;

agb_status agb_sink_collect(agb_sink **out, agb_error *err);          /* keeps all groups */
agb_status agb_sink_checksum(agb_sink **out, agb_error *err);         /* keeps only the digest */
/* Digest and the top n. layout: how keys of equal count are compared; borrowed; NULL: as agb_key_compare_raw. */
agb_status agb_sink_top(agb_sink **out, size_t n, const agb_key_layout *layout, agb_error *err);
void agb_sink_destroy(agb_sink *sink);

/* The digest of the last finished run into this sink. For a collect sink it is computed here, from the groups. */
agb_digest agb_sink_digest(const agb_sink *sink);

/* A stretch of a collect sink's groups: key i has counts[i]. Exactly the array that belongs to the key kind is set. */
typedef struct agb_block {
    agb_key_kind kind;
    size_t groups;
    const uint64_t *keys;      /* words, or pairs one after another */
    const agb_bytes *bytes;
    const uint64_t *counts;
} agb_block;

/* A collect sink's groups, block by block: start at block 0; false past the last one. Borrowed until the sink is used
 * again or destroyed. */
bool agb_sink_block(const agb_sink *sink, size_t block, agb_block *out);
agb_group agb_block_group(const agb_block *block, size_t i);

/* The n largest groups (fewer when there are fewer): by count from large to small, then by key from small to large as
 * agb_key_compare says (layout NULL: agb_key_compare_raw), so that two runs print the same. groups takes up to n;
 * strings are borrowed from the sink. Returns how many were written. Works on collect and top sinks; a top sink gives
 * at most what it was created with. */
size_t agb_sink_top_groups(const agb_sink *sink, agb_group *groups, size_t n, const agb_key_layout *layout);

/* ---- Registry ---------------------------------------------------------------------------------------------------- */

/* Starts with every built-in aggregator and loader. Read-only once the first run started. */
agb_status agb_registry_create(agb_registry **out, agb_error *err);
/* Without aggregators: only what is added. */
agb_status agb_registry_create_empty(agb_registry **out, agb_error *err);
void agb_registry_destroy(agb_registry *registry);
/* Checks abi, size, name, required functions, phases, parameters; refuses a name that is taken. Borrows. */
agb_status agb_registry_add_aggregator(agb_registry *registry, const agb_aggregator *aggregator, agb_error *err);
/* Opens PATH/NAME.so and adds its `agb_aggregator_NAME`. Kept open until the registry is destroyed. *added may be
 * NULL. */
agb_status agb_registry_open_plugin(agb_registry *registry, const char *path, const agb_aggregator **added,
                                    agb_error *err);
const agb_aggregator *agb_registry_find_aggregator(const agb_registry *registry, const char *name);    /* or NULL */
const agb_aggregator *agb_registry_aggregator_at(const agb_registry *registry, size_t i);    /* NULL past the end */
const agb_loader *agb_registry_find_loader(const agb_registry *registry, const char *name);
const agb_loader *agb_registry_loader_at(const agb_registry *registry, size_t i);
/* The nearest known name to a misspelt one, or NULL when none is near. Case is ignored. `names` is NULL-ended. */
const char *agb_nearest_name(const char *const *names, const char *misspelt);

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

/* How a caller sees inside a run. Every call comes on the worker's own thread. `enter` and `leave` bracket exactly
 * what the wall clock brackets. Any function may be NULL. */
typedef struct agb_observer {
    void *context;
    void (*enter)(void *context, unsigned worker);
    void (*phase)(void *context, unsigned worker, unsigned phase);    /* only when it changes */
    void (*leave)(void *context, unsigned worker);
} agb_observer;

/* Rows that the caller has from a source of its own, batch by batch, instead of those of a table. */
typedef struct agb_stream {
    agb_key_kind kind;    /* of all its keys */
    bool weighted;        /* every batch has weights; false: none has */
    uint64_t rows;        /* at most so many will come, which lets strategies choose sizes; 0 = unknown */
    void *context;
    /* Fills *batch, which comes empty; is called until it leaves no rows in it. What the batch points to is borrowed
     * until this worker's next call or the end of the run. With a parallel aggregator and a pool, every worker calls,
     * on its own thread, until it gets no rows; otherwise only worker 0 does. It never hands out NULL keys: rows
     * without a key are the caller's to count. Another status than AGB_OK ends the run, which then fails with it. */
    agb_status (*next)(void *context, unsigned worker, agb_batch *batch);
} agb_stream;

/* Zero is the default of every field; use designated initialisers. */
typedef struct agb_plan {
    const agb_table *table;
    const char *column;                   /* what to group by: "COL", "COL,COL,...": see agb_key_terms */
    const agb_filter *filter;             /* borrowed; NULL = all rows. It is evaluated inside the clock */
    const uint64_t *weights;              /* rows values, what each row counts; NULL = 1. For merging partial counts */
    const agb_aggregator *aggregator;
    const char *params;                   /* "bits=12:load=50"; NULL or "" = defaults */
    size_t batch_rows;                    /* 0 = 65536 */
    const char *hash;                     /* "fold" (default), "fibonacci" and others: see agb_hash_named */
    agb_pool *pool;                       /* borrowed; NULL = one worker */
    agb_memory *memory;                   /* borrowed; NULL = a warm, unlimited one of the run's own. A collect sink
                                             keeps its groups in it: it must outlive them */
    const agb_observer *observer;         /* borrowed; may be NULL */
    const agb_caches *caches;             /* that the aggregator is told; NULL = those of the processor it runs on */
    const char *spill_folder;             /* where a strategy that spills may put its nameless file; NULL = /var/tmp */
    const agb_stream *stream;             /* borrowed; where rows come from instead of table, column, filter, weights:
                                             those are then NULL, and batch_rows means nothing */
} agb_plan;

typedef struct agb_stats {
    uint64_t rows, nulls;                        /* rows read; those that passed the filter and whose key is NULL as a
                                                    whole: only a key of one column can be */
    agb_key_kind kind;                           /* of the keys that the aggregator was given */
    unsigned workers;                            /* that took part: 1 unless the aggregator is parallel */
    uint64_t setup_ns, wall_ns, teardown_ns;     /* create; first consume to the end of finish; destroy */
    size_t phases;
    uint64_t phase_ns[AGB_MOST_PHASES];          /* worker 0's time in each phase; they add up to wall_ns */
    uint64_t peak_bytes;                         /* most that the aggregator held at once */
    uint64_t result_bytes;                       /* memory of the sink that took the groups */
    uint64_t spilled_bytes;                      /* written to the spill file */
    char note[256];                              /* what the aggregator had to say, or "" */
} agb_stats;

/* Parses and range-checks "name=value:name=value" against an aggregator's table. values: AGB_MOST_PARAMS entries. */
agb_status agb_params_parse(const agb_aggregator *aggregator, const char *text, int64_t *values, agb_error *err);

/* The shared hash of that name; false when there is none. Names: agb_hash_names(), NULL-ended. */
bool agb_hash_named(const char *name, agb_hash *out);
const char *const *agb_hash_names(void);

/* Sizes of this machine's caches as the kernel reports them for processor `cpu`. */
agb_caches agb_caches_of(int cpu);

/* SELECT columns, count(*) FROM table WHERE filter GROUP BY columns. The sink is emptied first. stats may be NULL.
 * After a failure the sink holds no result: what it gives is undefined until the next run into it. */
agb_status agb_count_groups(const agb_plan *plan, agb_sink *sink, agb_stats *stats, agb_error *err);

#ifdef __cplusplus
}
#endif
#endif
