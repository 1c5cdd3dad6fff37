/* SPDX-License-Identifier: MIT */
/* What the engine's own files share with one another and with nobody else. */
#ifndef AGB_INTERNAL_H
#define AGB_INTERNAL_H

#include "aggbench.h"

/* memory.c: blocks of two owners. Aggregators' bytes are charged to the budget, results' are only counted. */
typedef enum agb_owner { AGB_OWNER_AGGREGATOR, AGB_OWNER_RESULT } agb_owner;

void *agb_memory_alloc(agb_memory *memory, agb_owner owner, size_t bytes, unsigned flags);
void agb_memory_release(agb_memory *memory, agb_owner owner, void *block, size_t bytes);
/* Why the last allocation was refused, as status and sentence; AGB_OK when none was since the last reset. advice: what
 * to do about the budget; "": the usual. */
agb_status agb_memory_refusal(agb_memory *memory, const char *who, const char *advice, agb_error *err);

/* pages.c: anonymous memory straight from the system. */
void *agb_pages_map(size_t bytes, agb_pages pages);                       /* zeroed; NULL when refused */
/* May move; NULL: unchanged. */
void *agb_pages_grow(void *base, size_t old_bytes, size_t new_bytes, agb_pages pages);
/* Puts a file's bytes, copy on write, over a part of what map gave. Place, offset and bytes are whole system pages. */
bool agb_pages_map_file(void *place, int fd, uint64_t offset, size_t bytes);
void agb_pages_cut(void *base, size_t old_bytes, size_t new_bytes);       /* gives the end back; NULL: does nothing */
void agb_pages_unmap(void *base, size_t bytes);
size_t agb_pages_round(size_t bytes);                                     /* up to what map really takes */
void agb_bytes_in_words(uint64_t bytes, char *text, size_t room);         /* "512 MiB" */

uint64_t agb_memory_budget(const agb_memory *memory);                     /* 0 = no limit */

/* spill_file.c: a nameless file for what does not fit the budget. Blocks may be written and read by several workers at
 * once; a ticket is never 0. The first failure is kept as a sentence. */
typedef struct agb_spill_file agb_spill_file;

agb_status agb_spill_file_create(agb_spill_file **out, const char *folder, agb_error *err);
void agb_spill_file_destroy(agb_spill_file *spill);
agb_status agb_spill_file_write(agb_spill_file *spill, const void *bytes, size_t n, uint64_t *ticket);
agb_status agb_spill_file_read(agb_spill_file *spill, uint64_t ticket, void *bytes, size_t n);
uint64_t agb_spill_file_bytes(const agb_spill_file *spill);                         /* written so far */
const agb_error *agb_spill_file_failure(const agb_spill_file *spill);               /* NULL when there was none */

/* sink.c: how the driver feeds a sink. */
agb_status agb_sink_open(agb_sink *sink, agb_key_kind kind, agb_memory *memory, bool owns_memory, unsigned workers,
                         agb_error *err);
agb_status agb_sink_lend(agb_sink *sink, unsigned worker, size_t groups, uint64_t **keys, uint64_t **counts);
agb_status agb_sink_take_bytes(agb_sink *sink, unsigned worker, const agb_bytes *keys, const uint64_t *counts,
                               size_t groups);
agb_status agb_sink_take(agb_sink *sink, unsigned worker, size_t groups);
uint64_t agb_sink_bytes(const agb_sink *sink);

/* keys.c: the string column that ends a string made of several columns; SIZE_MAX when none does. */
size_t agb_key_last_string(const agb_key_layout *layout);

/* selection.c: a filter's conditions with their columns found and their literals turned into the columns' types. */
typedef struct agb_selection agb_selection;

agb_status agb_selection_create(agb_selection **out, const agb_filter *filter, const agb_table *table, agb_error *err);
void agb_selection_destroy(agb_selection *selection);
/* Which of the `rows` rows from `first` on meet all conditions: their distances from first, ascending, in `selected`.
 * words: room for as many rows. Returns how many they are. */
size_t agb_selection_run(const agb_selection *selection, uint64_t first, size_t rows, uint32_t *selected,
                         uint64_t *words);

/* Of n rows, from[i] or, when from is NULL, i itself, those that are not NULL; selected may be `from`. */
size_t agb_drop_nulls(const uint8_t *nulls, const uint32_t *from, size_t n, uint32_t *selected);

/* top.c: the n largest groups so far; the root of the heap ranks last among them. */
typedef struct agb_top {
    agb_group *group;
    size_t n, room;
    const agb_key_layout *layout;    /* how keys are compared; NULL: as agb_key_compare_raw does those of `kind` */
    agb_key_kind kind;
} agb_top;

bool agb_top_wants(const agb_top *top, const agb_group *group);
void agb_top_offer(agb_top *top, agb_group group);
void agb_top_sort(agb_top *top);    /* into descending order: a heap no more */

/* registry.c */
agb_status agb_registry_keep_open(agb_registry *registry, void *library, agb_error *err);
agb_status agb_aggregator_check(const agb_aggregator *aggregator, const char *from, agb_error *err);
/* Only whether a descriptor that begins so can be read. */
agb_status agb_aggregator_check_version(uint32_t abi, uint32_t size, const char *from, agb_error *err);

/* plugin_head.c: what the file of a plug-in says without being loaded. */
typedef struct agb_plugin_head {
    bool is_known;       /* the file could be read so far as to say has_symbol */
    bool has_symbol;
    bool has_numbers;    /* the next two could be read: the beginning of the descriptor */
    uint32_t abi, size;
} agb_plugin_head;

agb_plugin_head agb_plugin_head_read(const char *path, const char *name);

/* table.c: what other parts need beyond aggbench.h and loader.h. */
const char **agb_table_names(const agb_table *table);    /* NULL-ended; free() it; NULL without memory */
/* AGB_ERR_NOT_FOUND, with the nearest name. clause: "group by" ... */
agb_status agb_table_no_column(const agb_table *table, const char *clause, const char *wanted, agb_error *err);
agb_status agb_table_add(agb_table *table, const char *name, agb_type type, agb_pages pages, agb_error *err);
/* Nothing will follow: drops rows behind the first `head` (0: none), counts the NULLs, keeps the loader's name and how
 * many rows the source has. */
void agb_table_loaded(agb_table *table, const char *format, uint64_t head, uint64_t source_rows);

/* load.c: at least one name, none empty, none twice. */
agb_status agb_column_names_check(const char *const *columns, size_t n_columns, agb_error *err);

/* source.c: the files that a SOURCE means, in natural order. */
typedef struct agb_files {
    size_t count;
    char **path;
    bool is_named;    /* one, by its own name: may be a pipe, and waits for it; all others are regular files */
} agb_files;

agb_status agb_files_find(agb_files *files, const char *source, agb_error *err);
void agb_files_release(agb_files *files);
const char *agb_file_advice(int error);    /* what to do about an errno; static text */

#endif
