/* SPDX-License-Identifier: MIT */
/* An investigation as a record: see story.h. */
#include "story.h"

#include "json_text.h"
#include "text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[AGB_FIELDS] = {
    [AGB_FIELD_WORKLOAD] = "workload and success metric",
    [AGB_FIELD_ENVIRONMENT] = "environment",
    [AGB_FIELD_BASELINE] = "baseline distribution",
    [AGB_FIELD_OBSERVATIONS] = "initial observations",
    [AGB_FIELD_HYPOTHESES] = "hypotheses considered",
    [AGB_FIELD_MEASUREMENTS] = "measurements and overhead",
    [AGB_FIELD_CHANGES] = "changes made",
    [AGB_FIELD_EVIDENCE] = "before/after evidence",
    [AGB_FIELD_MOVEMENT] = "bottleneck movement",
    [AGB_FIELD_LIMITATIONS] = "limitations",
    [AGB_FIELD_SAFETY] = "rollback or safety considerations",
    [AGB_FIELD_NEXT] = "next experiment",
};

agb_status agb_story_create(agb_story *out, agb_error *err)
{
    *out = (agb_story){0};
    for (int field = 0; field < AGB_FIELDS; field++)
        if (!(out->fields[field] = json_array()))
            return agb_fail(err, AGB_ERR_MEMORY, "investigate: no memory for the report");
    return AGB_OK;
}

void agb_story_release(agb_story *story)
{
    for (size_t i = 0; i < story->n; i++) {
        agb_measurement *measurement = &story->measurement[i];
        free(measurement->title);
        free(measurement->command);
        agb_results_release(&measurement->results);
        json_decref(measurement->json);
    }
    for (int field = 0; field < AGB_FIELDS; field++)
        json_decref(story->fields[field]);
    *story = (agb_story){0};
}

static void add(agb_story *story, agb_field field, const char *measurements, const char *format, va_list arguments)
{
    char text[1500];
    vsnprintf(text, sizeof text, format, arguments);
    json_t *ids = json_array();
    for (const char *at = measurements; *at;) {
        size_t length = strcspn(at, " ");
        json_array_append_new(ids, json_stringn(at, length));
        at += length + (at[length] == ' ');
    }
    json_array_append_new(story->fields[field],
                          json_pack("{s:o, s:o}", "text", agb_json_text(text), "measurements", ids));
}

void agb_story_claim(agb_story *story, agb_field field, const char *measurements, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(story, field, measurements, format, arguments);
    va_end(arguments);
}

void agb_story_remark(agb_story *story, agb_field field, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(story, field, "", format, arguments);
    va_end(arguments);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

json_t *agb_story_json(const agb_story *story)
{
    json_t *fields = json_array(), *measurements = json_array(), *machine = NULL;
    for (int field = 0; field < AGB_FIELDS; field++)
        json_array_append_new(fields, json_pack("{s:s, s:O}", "field", names[field], "statements",
                                                story->fields[field]));
    for (size_t i = 0; i < story->n; i++) {
        const agb_measurement *measurement = &story->measurement[i];
        char id[24];
        snprintf(id, sizeof id, "M%zu", i + 1);
        json_array_append_new(measurements, json_pack("{s:s, s:o, s:o, s:f, s:O}", "id", id, "title",
                                                      agb_json_text(measurement->title), "command",
                                                      agb_json_text(measurement->command), "seconds",
                                                      measurement->seconds, "result", measurement->json));
        machine = json_object_get(measurement->json, "machine");
    }
    return json_pack("{s:i, s:o, s:o?, s:o}", "aggbench", 1, "investigation", fields, "machine", json_incref(machine),
                     "measurements", measurements);
}

/* ---- Markdown ---------------------------------------------------------------------------------------------------- */

/* What would be markup stands with a backslash. */
static void put_markdown(FILE *to, const char *text)
{
    char clean[4096];
    size_t at = 0;
    for (agb_bytes rest = {(const unsigned char *)text, strlen(text)}; rest.length > 0 && at + 8 < sizeof clean;)
        agb_text_character(clean, &at, &rest);
    for (size_t i = 0; i < at; i++)
        fprintf(to, strchr("\\`*_<>[]|#", clean[i]) ? "\\%c" : "%c", clean[i]);
}

static void put_statement(FILE *to, const json_t *statement)
{
    size_t i;
    json_t *id;
    fputs("- ", to);
    put_markdown(to, json_string_value(json_object_get(statement, "text")));
    json_array_foreach(json_object_get(statement, "measurements"), i, id)
        fprintf(to, "%s[%s]", i ? "" : " ", json_string_value(id));
    fputc('\n', to);
}

/* Between as many backticks as the command does not have itself. */
static void put_code(FILE *to, const char *command)
{
    const char *fence = strstr(command, "``") ? "```" : strchr(command, '`') ? "``" : "`";
    fprintf(to, "%s%s%s%s%s", fence, fence[1] ? " " : "", agb_text_clean(command).s, fence[1] ? " " : "", fence);
}

void agb_story_markdown(FILE *to, const json_t *story)
{
    size_t i, j;
    json_t *field, *statement, *measurement;
    fputs("# An investigation of GROUP BY counts\n", to);
    json_array_foreach(json_object_get(story, "investigation"), i, field) {
        const char *name = json_string_value(json_object_get(field, "field"));
        fprintf(to, "\n## %c%s\n\n", name[0] & ~0x20, name + 1);
        json_array_foreach(json_object_get(field, "statements"), j, statement)
            put_statement(to, statement);
    }
    fputs("\n---\n\nThe measurements, and the commands that repeat them:\n\n", to);
    json_array_foreach(json_object_get(story, "measurements"), i, measurement) {
        fprintf(to, "- [%s] ", json_string_value(json_object_get(measurement, "id")));
        put_markdown(to, json_string_value(json_object_get(measurement, "title")));
        fputs(": ", to);
        put_code(to, json_string_value(json_object_get(measurement, "command")));
        fputc('\n', to);
    }
}
