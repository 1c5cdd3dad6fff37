/* SPDX-License-Identifier: MIT */
/* Reading a schema line by line: see schema.h. The type is the last word, so that a name may have blanks in it. */
#include "schema.h"

#include <string.h>

static const struct {
    const char *word;
    agb_text_kind kind;
} types[] = {
    {"int16", AGB_TEXT_INT16}, {"int32", AGB_TEXT_INT32}, {"int64", AGB_TEXT_INT64}, {"uint32", AGB_TEXT_UINT32},
    {"uint64", AGB_TEXT_UINT64}, {"date", AGB_TEXT_DATE}, {"time", AGB_TEXT_TIME}, {"bytes", AGB_TEXT_STRING},
};

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static bool find_type(const char *word, size_t length, agb_text_kind *kind)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i].word) == length && memcmp(types[i].word, word, length) == 0) {
            *kind = types[i].kind;
            return true;
        }
    return false;
}

/* What a sentence shows of a word: enough to find it. */
static int shown(size_t length)
{
    enum { MOST = 60 };
    return length < MOST ? (int)length : MOST;
}

static bool parse_line(const char *begin, const char *end, size_t number, agb_text_schema_line *line, agb_error *err)
{
    const char *type = end;
    while (type > begin && !is_blank(type[-1]))
        type--;
    const char *name_end = type;
    while (name_end > begin && is_blank(name_end[-1]))
        name_end--;
    if (name_end == begin) {
        agb_fail(err, AGB_ERR_ARGUMENT, "schema: line %zu: '%.*s': its type is missing: write NAME TYPE", number,
                 shown((size_t)(end - begin)), begin);
        return false;
    }
    *line = (agb_text_schema_line){.name = begin, .length = (size_t)(name_end - begin)};
    if (find_type(type, (size_t)(end - type), &line->kind))
        return true;
    agb_fail(err, AGB_ERR_ARGUMENT, "schema: line %zu: type '%.*s' of column '%.*s' is not known: choose int16, int32, "
             "int64, uint32, uint64, date, time or bytes", number, shown((size_t)(end - type)), type,
             shown(line->length), begin);
    return false;
}

bool agb_text_schema_next(const char **text, size_t *number, agb_text_schema_line *line, agb_error *err)
{
    *err = (agb_error){0};
    while (**text) {
        const char *begin = *text, *end = begin + strcspn(begin, "\n");
        *text = end + (*end == '\n');
        ++*number;
        while (begin < end && is_blank(*begin))
            begin++;
        while (end > begin && is_blank(end[-1]))
            end--;
        if (begin < end)
            return parse_line(begin, end, *number, line, err);
    }
    return false;
}
