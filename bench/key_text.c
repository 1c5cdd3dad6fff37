/* SPDX-License-Identifier: MIT */
/* Keys on paper: see key_text.h. */
#include "key_text.h"

#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CELLS = 60 };

static void print_integer(char *text, size_t size, const agb_value *value)
{
    if (agb_type_is_signed(value->type))
        snprintf(text, size, "%" PRId64, (int64_t)value->word);
    else
        snprintf(text, size, "%" PRIu64, value->word);
}

/* ---- For people -------------------------------------------------------------------------------------------------- */

static void print_string(char *out, agb_bytes bytes, int most)
{
    static const char dots[] = "...";
    size_t at = 0, cut = 0;    /* cut: where the dots go should it not fit */
    int cells = 0;
    while (bytes.length && cells <= most) {
        if (cells <= most - 3)
            cut = at;
        cells += agb_text_character(out, &at, &bytes);
    }
    if (cells > most || bytes.length)
        memcpy(out + cut, dots, sizeof dots);
    else
        out[at] = '\0';
}

agb_key_text agb_text_value(const agb_value *value, int cells)
{
    agb_key_text text = {"NULL"};
    if (value->null)
        return text;
    if (value->type != AGB_TYPE_BYTES)
        print_integer(text.s, sizeof text.s, value);
    else if (value->bytes.length == 0)
        strcpy(text.s, "''");
    else
        print_string(text.s, value->bytes, cells < MOST_CELLS ? cells : MOST_CELLS);
    return text;
}

agb_key_text agb_text_key(const agb_key_layout *layout, const agb_key *key)
{
    agb_key_text text = {""};
    size_t at = 0;
    for (size_t i = 0; i < layout->columns && at < sizeof text.s; i++) {
        agb_value value = agb_key_value(layout, key, i);
        bool several = layout->columns > 1;
        at += (size_t)snprintf(text.s + at, sizeof text.s - at, "%s%s%s%s", i ? ", " : "",
                               several ? layout->column[i].term.name : "", several ? "=" : "",
                               agb_text_value(&value, MOST_CELLS).s);
    }
    return text;
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

void agb_csv_bytes(FILE *to, agb_bytes bytes)
{
    bool quoted = bytes.length == 0 || (bytes.length == 4 && memcmp(bytes.data, "NULL", 4) == 0);
    for (size_t i = 0; i < bytes.length && !quoted; i++)
        quoted = strchr("\",\r\n", bytes.data[i]) && bytes.data[i];
    if (!quoted) {
        fwrite(bytes.data, 1, bytes.length, to);
        return;
    }
    fputc('"', to);
    for (size_t i = 0; i < bytes.length; i++) {
        if (bytes.data[i] == '"')
            fputc('"', to);
        fputc(bytes.data[i], to);
    }
    fputc('"', to);
}

bool agb_csv_key(FILE *to, const agb_key_layout *layout, const agb_key *key)
{
    for (size_t i = 0; i < layout->columns; i++) {
        agb_value value = agb_key_value(layout, key, i);
        if (i > 0)
            fputc(',', to);
        if (value.type == AGB_TYPE_BYTES && !value.null)
            agb_csv_bytes(to, value.bytes);
        else
            fputs(agb_text_value(&value, 0).s, to);
    }
    return !ferror(to);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *json_bytes(agb_bytes bytes)
{
    static const unsigned char replacement[] = {0xef, 0xbf, 0xbd};    /* U+FFFD */
    unsigned char *text = malloc(bytes.length * sizeof replacement + 1);
    size_t at = 0;
    while (text && bytes.length) {
        size_t length = agb_utf8_character(bytes.data, bytes.length), taken = length ? length : 1;
        memcpy(text + at, length ? bytes.data : replacement, length ? length : sizeof replacement);
        at += length ? length : sizeof replacement;
        bytes.data += taken;
        bytes.length -= taken;
    }
    json_t *out = text ? json_stringn((const char *)text, at) : json_null();
    free(text);
    return out;
}

static json_t *json_value(const agb_value *value)
{
    if (value->null)
        return json_null();
    return value->type == AGB_TYPE_BYTES ? json_bytes(value->bytes) : json_string(agb_text_value(value, 0).s);
}

json_t *agb_json_key(const agb_key_layout *layout, const agb_key *key)
{
    json_t *columns = json_array();
    for (size_t i = 0; i < layout->columns; i++) {
        agb_value value = agb_key_value(layout, key, i);
        json_array_append_new(columns, json_value(&value));
    }
    if (layout->columns > 1)
        return columns;
    json_t *only = json_incref(json_array_get(columns, 0));
    json_decref(columns);
    return only;
}
