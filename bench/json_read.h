/* SPDX-License-Identifier: MIT */
/* Values of a JSON file of unknown origin. What has the wrong type or lies outside its range makes the sentence of the
 * failure, with its place; the first one stays, and from then on everything reads as absent. So a reader asks for what
 * it wants, in order, and looks once at the end whether all was well. */
#ifndef AGB_JSON_READ_H
#define AGB_JSON_READ_H

#include "status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct agb_json_file {
    const char *name;    /* borrowed */
    json_t *root;
    agb_error *err;
    bool failed;
} agb_json_file;

/* One value and where it stands. value is NULL when it is absent, or null. */
typedef struct agb_json {
    agb_json_file *file;
    json_t *value;
    char place[160];     /* "results[3].wall_s"; "" at the top */
} agb_json;

/* Opens a file to read. NULL, and the error number, also for a folder, which opens but cannot be read. */
FILE *agb_read_file(const char *name, int *reason);

/* err must live as long as the file. After a failure, too, close it. */
agb_status agb_read_open(agb_json_file *out, const char *name, agb_error *err);
void agb_read_close(agb_json_file *file);
agb_json agb_read_root(agb_json_file *file);

/* Members of an object. Absent ones are empty: NULL, NAN, "", false. */
agb_json agb_read_object(const agb_json *object, const char *key);
agb_json agb_read_list(const agb_json *object, const char *key);
double agb_read_number(const agb_json *object, const char *key);        /* of at most 1e18 either way */
double agb_read_amount(const agb_json *object, const char *key);        /* 0..1e18: times, bytes, counts */
const char *agb_read_words(const agb_json *object, const char *key);    /* borrowed from the file */
bool agb_read_truth(const agb_json *object, const char *key);
/* Fails when one of the keys, parted by blanks, is absent or null. */
void agb_read_need(const agb_json *object, const char *keys);

size_t agb_read_length(const agb_json *list);
agb_json agb_read_entry(const agb_json *list, size_t i);                /* an object */
agb_json agb_read_list_entry(const agb_json *list, size_t i);           /* a list */
const char *agb_read_words_entry(const agb_json *list, size_t i);       /* a string */
double agb_read_amount_entry(const agb_json *list, size_t i);           /* a number of 0..1e18 */

/* For what a type alone does not tell. */
__attribute__((format(printf, 2, 3))) void agb_read_fail(const agb_json *at, const char *format, ...);

#endif
