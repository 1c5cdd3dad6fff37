/* SPDX-License-Identifier: MIT */
/* What the engine's own files share with one another and with nobody else. */
#ifndef AGB_INTERNAL_H
#define AGB_INTERNAL_H

#include "aggbench.h"

/* memory.c: blocks of two owners. Aggregators' bytes are charged to the budget, results' are only counted. */
typedef enum agb_owner { AGB_OWNER_AGGREGATOR, AGB_OWNER_RESULT } agb_owner;

void *agb_memory_alloc(agb_memory *memory, agb_owner owner, size_t bytes, unsigned flags);
void agb_memory_release(agb_memory *memory, agb_owner owner, void *block, size_t bytes);
/* Why the last allocation was refused, as status and sentence; AGB_OK when none was since the last reset. */
agb_status agb_memory_refusal(agb_memory *memory, const char *who, agb_error *err);

/* pages.c: anonymous memory straight from the system. */
void *agb_pages_map(size_t bytes, agb_pages pages);                       /* zeroed; NULL when refused */
void *agb_pages_grow(void *base, size_t old_bytes, size_t new_bytes, agb_pages pages);    /* may move; NULL: unchanged */
/* Puts a file's bytes, copy on write, over a part of what map gave. Place, offset and bytes are whole system pages. */
bool agb_pages_map_file(void *place, int fd, uint64_t offset, size_t bytes);
void agb_pages_unmap(void *base, size_t bytes);
size_t agb_pages_round(size_t bytes);                                     /* up to what map really takes */
void agb_bytes_in_words(uint64_t bytes, char *text, size_t room);         /* "512 MiB" */

/* sink.c: how the driver feeds a sink. */
agb_status agb_sink_open(agb_sink *sink, agb_memory *memory, bool owns_memory, unsigned workers, agb_error *err);
agb_status agb_sink_lend(agb_sink *sink, unsigned worker, size_t groups, uint64_t **keys, uint64_t **counts);
agb_status agb_sink_take(agb_sink *sink, unsigned worker, size_t groups);
uint64_t agb_sink_bytes(const agb_sink *sink);

/* registry.c */
agb_status agb_registry_keep_open(agb_registry *registry, void *library, agb_error *err);
agb_status agb_aggregator_check(const agb_aggregator *aggregator, const char *from, agb_error *err);

/* table.c: what the loading code needs beyond loader.h. */
agb_status agb_table_add(agb_table *table, const char *name, agb_type type, agb_pages pages, agb_error *err);
void agb_table_loaded(agb_table *table, const char *format);    /* counts the NULLs, keeps the loader's name */

/* load.c: at least one name, none empty, none twice. */
agb_status agb_column_names_check(const char *const *columns, size_t n_columns, agb_error *err);

/* source.c: the files that a SOURCE means, in natural order. */
typedef struct agb_files {
    size_t count;
    char **path;
} agb_files;

agb_status agb_files_find(agb_files *files, const char *source, agb_error *err);
void agb_files_release(agb_files *files);

#endif
