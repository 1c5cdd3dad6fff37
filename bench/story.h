/* SPDX-License-Identifier: MIT */
/* An investigation as a record: measurements with the commands that repeat them, and sentences in twelve fields. A
 * claim names the measurements that bear it out; what claims nothing is a remark. How the record becomes Markdown, a
 * page or JSON is not the investigation's business. */
#ifndef AGB_STORY_H
#define AGB_STORY_H

#include "results.h"

#include <jansson.h>

typedef enum agb_field {
    AGB_FIELD_WORKLOAD, AGB_FIELD_ENVIRONMENT, AGB_FIELD_BASELINE, AGB_FIELD_OBSERVATIONS, AGB_FIELD_HYPOTHESES,
    AGB_FIELD_MEASUREMENTS, AGB_FIELD_CHANGES, AGB_FIELD_EVIDENCE, AGB_FIELD_MOVEMENT, AGB_FIELD_LIMITATIONS,
    AGB_FIELD_SAFETY, AGB_FIELD_NEXT, AGB_FIELDS
} agb_field;

enum { AGB_MOST_MEASUREMENTS = 16 };

/* Of a measurement in the list: "M1" is 1. */
typedef struct agb_measurement {
    char *title, *command;     /* command: for a shell */
    double seconds;            /* that it took, with loading and checking */
    agb_results results;
    json_t *json;              /* the same as `run --format json` writes it */
} agb_measurement;

typedef struct agb_story {
    agb_measurement measurement[AGB_MOST_MEASUREMENTS];
    size_t n;
    json_t *fields[AGB_FIELDS];    /* lists of {"text", "measurements": ["M1", ..]} */
} agb_story;

agb_status agb_story_create(agb_story *out, agb_error *err);
void agb_story_release(agb_story *story);

/* measurements: "M1 M3". */
__attribute__((format(printf, 4, 5)))
void agb_story_claim(agb_story *story, agb_field field, const char *measurements, const char *format, ...);
__attribute__((format(printf, 3, 4))) void agb_story_remark(agb_story *story, agb_field field, const char *format, ...);

/* {"aggbench": 1, "investigation": [{"field", "statements": [{"text", "measurements": [..]}]}], "machine": {..},
 *  "measurements": [{"id", "title", "command", "seconds", "result": as `run --format json`}]}. NULL without memory. */
json_t *agb_story_json(const agb_story *story);
/* Reads what agb_story_json made. */
void agb_story_markdown(FILE *to, const json_t *story);

#endif
