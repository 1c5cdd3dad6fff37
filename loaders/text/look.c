/* SPDX-License-Identifier: MIT */
/* The first look at a text, for the loaders' probes. */
#include "reader.h"

#include "common/file.h"
#include "source.h"

#include <ctype.h>
#include <string.h>

enum { LOOK_BYTES = 16 << 10 };

/* A file that calls itself Parquet and has another form is a damaged one, whatever it looks like. */
static bool calls_itself_parquet(const char *path)
{
    return agb_file_has_suffix(path, ".parquet");
}

/* Of one column nothing tells csv from tsv before the first quoted field, and that may stand far down. */
static bool calls_itself_csv(const char *path)
{
    return agb_file_has_suffix(path, ".csv") || agb_file_has_suffix(path, ".csv.gz") ||
           agb_file_has_suffix(path, ".csv.zst");
}

static void look_at_row(agb_text_look *look, const unsigned char *begin, const unsigned char *end)
{
    bool inside = false;
    look->name = begin < end && !isdigit(*begin);
    for (const unsigned char *at = begin; at < end; at++) {
        inside ^= *at == '"';
        look->tabs += *at == '\t';
        look->free_tabs += *at == '\t' && !inside;
        look->commas += *at == ',' && !inside;
        look->name &= isalnum(*at) || *at == '_';
    }
}

static const unsigned char *pass(const unsigned char *at, const unsigned char *end, const char *bytes)
{
    while (at < end && *at && strchr(bytes, *at))
        at++;
    return at;
}

/* The line's end: a line feed; where there is none at all, a carriage return, which the reader then refuses. */
static const unsigned char *find_line_end(const unsigned char *at, const unsigned char *end)
{
    const unsigned char *line_feed = memchr(at, '\n', (size_t)(end - at));
    const unsigned char *found = line_feed ? line_feed : memchr(at, '\r', (size_t)(end - at));
    return found ? found : end;
}

static bool is_json(const unsigned char *at, const unsigned char *end)
{
    at = pass(at, end, " \t\r\n");
    if (at < end && *at == '[')
        at = pass(at + 1, end, " \t\r\n");
    return at < end && *at == '{';
}

bool agb_text_look_at(agb_text_look *look, const agb_input *input)
{
    unsigned char text[LOOK_BYTES];
    size_t bytes = agb_text_peek(input, text, sizeof text);
    const unsigned char *begin = text, *end = text + bytes;
    *look = (agb_text_look){0};
    if (calls_itself_parquet(input->path))
        return false;
    if (bytes == 0) {
        look->hidden = agb_text_is_packed(input) || agb_text_foreign(input);
        return look->hidden;
    }
    if (bytes >= 3 && memcmp(begin, "\xef\xbb\xbf", 3) == 0)
        begin += 3;
    look->object = is_json(begin, end);
    look->called_csv = calls_itself_csv(input->path);
    begin = pass(begin, end, "\r\n");
    const unsigned char *line_end = find_line_end(begin, end);
    look_at_row(look, begin, agb_text_before_cr(begin, line_end));
    look->quote = begin < end && (*begin == '"' || (look->name && line_end + 1 < end && line_end[1] == '"'));
    return true;
}
