/* SPDX-License-Identifier: MIT */
/* Reads the generator's spec. One table says which keys there are, which kinds take them and what range they have;
 * what depends on several keys at once (groups against rows, runs against groups) is checked afterwards. */
#include "spec.h"

#include "aggbench.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The table of the published experiment: ClickBench's hits, and its number of distinct UserIDs. */
#define HITS_ROWS 99997497u
#define HITS_GROUPS 17630976u
#define MOST_ROWS ((uint64_t)1 << 40)

enum { MILLION = 1000000, MOST_TEXT = 64, HITS_RUN = 2500000, PLAIN_RUN = 8 * MILLION };

static const char *const kinds[] = {"hits", "uniform", "zipf", "sequential", "runs", "same", "giant", NULL};
static const char *const orders[] = {"natural", "shuffled", "sorted", "hits", NULL};
static const char *const shapes[] = {"mixed", "dense", "low-zero", "high-equal", "edges", NULL};

#define ONLY(kind) (1u << AGB_SYNTH_##kind)
#define ALL 0x7fu
#define GROUPED (ALL & ~ONLY(SAME))

static const struct key {
    const char *name;
    unsigned kinds;                /* that take it: bits 1 << agb_synth_kind */
    size_t offset;                 /* of its field in agb_synth_spec */
    unsigned digits;               /* decimal digits after the point that are kept */
    uint64_t least, most;          /* in the unit of the field */
    const char *range;             /* the same in words */
    const char *const *words;      /* its values, when they are words */
} keys[] = {
    {"rows", ALL, offsetof(agb_synth_spec, rows), 0, 0, MOST_ROWS, "0..1099511627776", NULL},
    {"groups", GROUPED, offsetof(agb_synth_spec, groups), 0, 1, MOST_ROWS, "1..1099511627776", NULL},
    {"seed", ALL, offsetof(agb_synth_spec, seed), 0, 0, UINT64_MAX, "0..18446744073709551615", NULL},
    {"order", ALL, offsetof(agb_synth_spec, order), 0, 0, 0, NULL, orders},
    {"keys", ALL, offsetof(agb_synth_spec, shape), 0, 0, 0, NULL, shapes},
    {"run", ONLY(HITS) | ONLY(RUNS), offsetof(agb_synth_spec, run_millionths), 6, MILLION, (uint64_t)4096 * MILLION,
     "1..4096", NULL},
    {"skew", ONLY(ZIPF), offsetof(agb_synth_spec, skew_billionths), 9, 0, (uint64_t)16 * 1000 * MILLION, "0..16", NULL},
    {"share", ONLY(GIANT), offsetof(agb_synth_spec, share_billionths), 9, 0, (uint64_t)1000 * MILLION, "0..1", NULL},
    {"stride", ONLY(SEQUENTIAL), offsetof(agb_synth_spec, stride), 0, 1, INT64_MAX, "1..9223372036854775807", NULL},
};

enum { KEYS = sizeof keys / sizeof keys[0] };

const char *agb_synth_kind_name(const agb_synth_spec *spec)
{
    return kinds[spec->kind];
}

const char *agb_synth_order_name(const agb_synth_spec *spec)
{
    return orders[spec->order];
}

const char *agb_synth_shape_name(const agb_synth_spec *spec)
{
    return shapes[spec->shape];
}

static uint64_t *field_of(agb_synth_spec *spec, const struct key *key)
{
    return (uint64_t *)(void *)((char *)spec + key->offset);
}

/* Joins names with ", ". */
static const char *joined(char *text, size_t size, const char *const *names)
{
    size_t used = 0;
    text[0] = '\0';
    for (; *names && used < size; names++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", *names);
    return text;
}

/* "unknown WHAT 'word': did you mean NEAREST? WHATs: ..." */
static agb_status refuse_word(agb_error *err, const char *kind, const char *what, const char *word,
                              const char *const *names)
{
    char all[256];
    const char *nearest = agb_nearest_name(names, word);
    return agb_fail(err, AGB_ERR_ARGUMENT, "synth%s%s: unknown %s '%s': %s%s%s%s", kind ? ":" : "", kind ? kind : "",
                    what, word, nearest ? "did you mean " : "known are ", nearest ? nearest : "",
                    nearest ? "? Known are " : "", joined(all, sizeof all, names));
}

static bool index_of(const char *const *names, const char *word, uint64_t *index)
{
    for (*index = 0; names[*index]; ++*index) {
        if (strcmp(names[*index], word) == 0)
            return true;
    }
    return false;
}

/* ---- Numbers ---- */

typedef enum number_problem {
    NUMBER_FINE,
    NUMBER_MALFORMED,
    NUMBER_NEGATIVE,
    NUMBER_TOO_LARGE,
    NUMBER_TOO_FINE
} number_problem;

enum { MOST_EXPONENT = 99 };    /* more is as much too large */

/* What may follow the digits: e6, k M G (10^3, 10^6, 10^9), Ki Mi Gi (2^10, 2^20, 2^30). */
static bool read_suffix(const char *text, int *decimal, unsigned *binary)
{
    static const char *const suffixes[] = {"", "k", "M", "G", "Ki", "Mi", "Gi", NULL};
    uint64_t index;
    if (*text == 'e' || *text == 'E') {
        int exponent = 0;
        const char *digit = text + 1;
        for (; *digit >= '0' && *digit <= '9'; digit++)
            exponent = exponent > MOST_EXPONENT ? exponent : exponent * 10 + (*digit - '0');
        *decimal += exponent;
        return digit > text + 1 && !*digit;
    }
    if (!index_of(suffixes, text, &index))
        return false;
    *decimal += index <= 3 ? 3 * (int)index : 0;
    *binary = index <= 3 ? 0 : 10 * (unsigned)(index - 3);
    return true;
}

/* The number times 10^digits, exactly: nothing is rounded. */
static number_problem read_number(const char *text, unsigned digits, uint64_t *value)
{
    unsigned __int128 number = 0;
    int decimal = (int)digits;
    unsigned binary = 0;
    bool point = false, any = false, negative = *text == '-';
    for (text += negative; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        number = number * 10 + (unsigned)(*text - '0');
        decimal -= point;
        any = true;
        if (number >> 90)
            return negative ? NUMBER_NEGATIVE : NUMBER_TOO_LARGE;
    }
    if (!any || !read_suffix(text, &decimal, &binary))
        return NUMBER_MALFORMED;
    if (negative && number)
        return NUMBER_NEGATIVE;
    for (number <<= binary; decimal > 0 && number; decimal--) {
        if (number >> 120)
            return NUMBER_TOO_LARGE;
        number *= 10;
    }
    for (; decimal < 0; decimal++) {
        if (number % 10)
            return NUMBER_TOO_FINE;
        number /= 10;
    }
    *value = (uint64_t)number;
    return number >> 64 ? NUMBER_TOO_LARGE : NUMBER_FINE;
}

/* ---- One key=value ---- */

static agb_status read_value(agb_synth_spec *spec, const struct key *key, const char *text, agb_error *err)
{
    const char *kind = agb_synth_kind_name(spec);
    uint64_t *field = field_of(spec, key), value = 0;
    if (key->words) {
        char what[MOST_TEXT];
        snprintf(what, sizeof what, "value of %s", key->name);
        return index_of(key->words, text, field) ? AGB_OK : refuse_word(err, kind, what, text, key->words);
    }
    switch (read_number(text, key->digits, &value)) {
    case NUMBER_MALFORMED:
        return agb_fail(err, AGB_ERR_ARGUMENT, "synth:%s: %s=%s: not understood as a number: write 1000000, 1e6, 1M "
                        "(k, M, G = thousands) or 1Mi (Ki, Mi, Gi = 1024s), allowed range is %s", kind, key->name, text,
                        key->range);
    case NUMBER_TOO_FINE:
        return agb_fail(err, AGB_ERR_ARGUMENT, "synth:%s: %s=%s: too many digits after the point: at most %u are kept, "
                        "allowed range is %s", kind, key->name, text, key->digits, key->range);
    case NUMBER_TOO_LARGE:
        value = UINT64_MAX;
        break;
    case NUMBER_NEGATIVE:
        return agb_fail(err, AGB_ERR_ARGUMENT, "synth:%s: %s=%s: too small: allowed range is %s", kind, key->name, text,
                        key->range);
    case NUMBER_FINE:
        if (value >= key->least && value <= key->most) {
            *field = value;
            return AGB_OK;
        }
    }
    return agb_fail(err, AGB_ERR_ARGUMENT, "synth:%s: %s=%s: too %s: allowed range is %s", kind, key->name, text,
                    value < key->least ? "small" : "large", key->range);
}

static agb_status refuse_key(const agb_synth_spec *spec, const char *name, agb_error *err)
{
    const char *names[KEYS + 1];
    size_t n = 0;
    for (size_t i = 0; i < KEYS; i++) {
        if (keys[i].kinds >> spec->kind & 1)
            names[n++] = keys[i].name;
    }
    names[n] = NULL;
    return refuse_word(err, agb_synth_kind_name(spec), "key", name, names);
}

/* text is one piece between commas, with its end cut off. */
static agb_status read_pair(agb_synth_spec *spec, char *text, unsigned *given, agb_error *err)
{
    char *equals = strchr(text, '=');
    if (!equals)
        return agb_fail(err, AGB_ERR_ARGUMENT, "synth:%s: '%s': a value is missing: write KEY=VALUE, as in rows=1M",
                        agb_synth_kind_name(spec), text);
    *equals = '\0';
    for (size_t i = 0; i < KEYS; i++) {
        if (strcmp(keys[i].name, text) != 0 || !(keys[i].kinds >> spec->kind & 1))
            continue;
        if (*given & 1u << i)
            return agb_fail(err, AGB_ERR_ARGUMENT, "synth:%s: %s=%s: %s was given before: give it once",
                            agb_synth_kind_name(spec), text, equals + 1, text);
        *given |= 1u << i;
        return read_value(spec, &keys[i], equals + 1, err);
    }
    return refuse_key(spec, text, err);
}

/* ---- What depends on several keys ---- */

/* The same rows per group as the real table; rows < 2^41, so the product fits 128 bits. */
static uint64_t groups_in_proportion(uint64_t rows)
{
    uint64_t groups = (uint64_t)(((unsigned __int128)rows * HITS_GROUPS + HITS_ROWS / 2) / HITS_ROWS);
    return groups == 0 && rows > 0 ? 1 : groups;
}

static agb_status settle_hits(agb_synth_spec *spec, agb_error *err)
{
    bool asked = spec->run_millionths != 0;
    if (!asked)
        spec->run_millionths = HITS_RUN;
    uint64_t run = spec->run_millionths;
    spec->runs = (uint64_t)(((unsigned __int128)spec->rows * MILLION + run / 2) / run);
    if (spec->runs >= spec->groups)
        return AGB_OK;
    if (asked)
        return agb_fail(err, AGB_ERR_ARGUMENT, "synth:hits: run=%g: %llu rows make %llu runs of that length, too few "
                        "for %llu groups: allowed range is 1..%g, or ask for fewer groups", (double)run / MILLION,
                        (unsigned long long)spec->rows, (unsigned long long)spec->runs,
                        (unsigned long long)spec->groups, (double)spec->rows / (double)spec->groups);
    spec->runs = spec->groups;
    return AGB_OK;
}

static agb_status settle_runs(agb_synth_spec *spec, agb_error *err)
{
    if (spec->run_millionths == 0)
        spec->run_millionths = PLAIN_RUN;
    uint64_t run = spec->run_millionths / MILLION;
    if (spec->run_millionths % MILLION)
        return agb_fail(err, AGB_ERR_ARGUMENT, "synth:runs: run=%g: every run has the same length: give a whole number",
                        (double)spec->run_millionths / MILLION);
    spec->runs = (spec->rows + run - 1) / run;
    if (spec->groups == 0)
        spec->groups = spec->runs;
    if (spec->groups > spec->runs)
        return agb_fail(err, AGB_ERR_ARGUMENT, "synth:runs: groups=%llu: more than the %llu runs that %llu rows make: "
                        "allowed range is 1..%llu", (unsigned long long)spec->groups, (unsigned long long)spec->runs,
                        (unsigned long long)spec->rows, (unsigned long long)spec->runs);
    return AGB_OK;
}

static agb_status settle_sequential(agb_synth_spec *spec, agb_error *err)
{
    if (spec->stride == 0)
        spec->stride = 1;
    if (spec->stride != 1 && spec->shape != AGB_SYNTH_DENSE)
        return agb_fail(err, AGB_ERR_ARGUMENT, "synth:sequential: stride=%llu: works with keys=dense only, not with "
                        "keys=%s", (unsigned long long)spec->stride, agb_synth_shape_name(spec));
    if (spec->groups > 0 && spec->stride > INT64_MAX / spec->groups)
        return agb_fail(err, AGB_ERR_ARGUMENT, "synth:sequential: stride=%llu: times %llu groups leaves the signed "
                        "64-bit range: allowed range is 1..%llu", (unsigned long long)spec->stride,
                        (unsigned long long)spec->groups, (unsigned long long)(INT64_MAX / spec->groups));
    return AGB_OK;
}

/* Each other group needs a row of what the giant leaves. asked: for so many groups. */
static agb_status settle_giant(agb_synth_spec *spec, bool asked, agb_error *err)
{
    const uint64_t whole = (uint64_t)1000 * MILLION;
    uint64_t giant = (uint64_t)(((unsigned __int128)spec->rows * spec->share_billionths + whole / 2) / whole);
    spec->giant_rows = giant == 0 && spec->rows > 0 ? 1 : giant;
    uint64_t most = spec->rows ? spec->rows - spec->giant_rows + 1 : 0;
    if (!asked && spec->groups > most)
        spec->groups = most;
    if (spec->groups > most)
        return agb_fail(err, AGB_ERR_ARGUMENT, "synth:giant: groups=%llu: the giant's share of %g leaves %llu of %llu "
                        "rows for the others, and each has a row: allowed range is 1..%llu, or ask for a smaller share",
                        (unsigned long long)spec->groups, (double)spec->share_billionths / 1e9,
                        (unsigned long long)(spec->rows - spec->giant_rows), (unsigned long long)spec->rows,
                        (unsigned long long)most);
    if (spec->groups == 1)
        spec->giant_rows = spec->rows;
    return AGB_OK;
}

static agb_status settle(agb_synth_spec *spec, agb_error *err)
{
    if (spec->order == AGB_SYNTH_AS_HITS) {
        if (spec->kind != AGB_SYNTH_HITS)
            return agb_fail(err, AGB_ERR_ARGUMENT, "synth:%s: order=hits: only synth:hits has that order: allowed are "
                            "natural, shuffled, sorted", agb_synth_kind_name(spec));
        spec->order = AGB_SYNTH_NATURAL;
    }
    bool asked = spec->groups != 0;
    if (spec->kind == AGB_SYNTH_SAME)
        spec->groups = spec->rows ? 1 : 0;
    else if (spec->groups == 0 && spec->kind != AGB_SYNTH_RUNS)
        spec->groups = groups_in_proportion(spec->rows);
    if (spec->groups > spec->rows && spec->kind != AGB_SYNTH_ZIPF)
        return agb_fail(err, AGB_ERR_ARGUMENT, "synth:%s: groups=%llu: more than rows=%llu, and every group has a row: "
                        "ask for %llu rows, or for fewer groups", agb_synth_kind_name(spec),
                        (unsigned long long)spec->groups, (unsigned long long)spec->rows,
                        (unsigned long long)spec->groups);
    switch (spec->kind) {
    case AGB_SYNTH_HITS:
        return settle_hits(spec, err);
    case AGB_SYNTH_RUNS:
        return settle_runs(spec, err);
    case AGB_SYNTH_SEQUENTIAL:
        return settle_sequential(spec, err);
    case AGB_SYNTH_GIANT:
        return settle_giant(spec, asked, err);
    default:
        return AGB_OK;
    }
}

/* Copies the piece up to the next comma, and steps over it; *more tells whether there was one. */
static agb_status next_piece(const char **text, char piece[MOST_TEXT], bool *more, agb_error *err)
{
    size_t length = strcspn(*text, ",");
    if (length >= MOST_TEXT)
        return agb_fail(err, AGB_ERR_ARGUMENT, "synth: '%.20s...': longer than any key and value: write "
                        "KIND,KEY=VALUE,...", *text);
    memcpy(piece, *text, length);
    piece[length] = '\0';
    *more = (*text)[length] == ',';
    *text += length + *more;
    return AGB_OK;
}

agb_status agb_synth_spec_parse(agb_synth_spec *spec, const char *text, agb_error *err)
{
    char piece[MOST_TEXT];
    unsigned given = 0;
    bool more;
    *spec = (agb_synth_spec){.rows = HITS_ROWS, .seed = 1, .skew_billionths = 1200u * MILLION,
                              .share_billionths = 900u * MILLION};
    agb_status status = next_piece(&text, piece, &more, err);
    if (status != AGB_OK)
        return status;
    if (!index_of(kinds, piece, &spec->kind))
        return refuse_word(err, NULL, "kind", piece, kinds);
    if (spec->kind == AGB_SYNTH_SEQUENTIAL)
        spec->shape = AGB_SYNTH_DENSE;
    while (more && status == AGB_OK) {    /* also after a comma at the end: a key is missing there */
        status = next_piece(&text, piece, &more, err);
        if (status == AGB_OK)
            status = read_pair(spec, piece, &given, err);
    }
    return status == AGB_OK ? settle(spec, err) : status;
}
