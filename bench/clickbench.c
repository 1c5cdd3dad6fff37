/* SPDX-License-Identifier: MIT */
/* ClickBench's GROUP BY counts: see clickbench.h. Left out are those with more aggregates than COUNT(*), and those that
 * compute their keys by functions or CASE, or select by LIKE. Where columns are named in two ways there, the name
 * is that of the Parquet file (IsRefresh). */
#include "clickbench.h"

#include <inttypes.h>
#include <stdio.h>

#define JULY_OF_62 "CounterID = 62 AND EventDate >= '2013-07-01' AND EventDate <= '2013-07-31'"

static const agb_clickbench queries[] = {
    {7, "AdvEngineID", "AdvEngineID <> 0", true, 0, 0},
    {12, "SearchPhrase", "SearchPhrase <> ''", true, 10, 0},
    {14, "SearchEngineID,SearchPhrase", "SearchPhrase <> ''", true, 10, 0},
    {15, "UserID", NULL, true, 10, 0},
    {16, "UserID,SearchPhrase", NULL, true, 10, 0},
    {17, "UserID,SearchPhrase", NULL, false, 10, 0},
    {33, "URL", NULL, true, 10, 0},
    {34, "1,URL", NULL, true, 10, 0},
    {35, "ClientIP,ClientIP-1,ClientIP-2,ClientIP-3", NULL, true, 10, 0},
    {36, "URL", JULY_OF_62 " AND DontCountHits = 0 AND IsRefresh = 0 AND URL <> ''", true, 10, 0},
    {37, "Title", JULY_OF_62 " AND DontCountHits = 0 AND IsRefresh = 0 AND Title <> ''", true, 10, 0},
    {38, "URL", JULY_OF_62 " AND IsRefresh = 0 AND IsLink <> 0 AND IsDownload = 0", true, 10, 1000},
    {40, "URLHash,EventDate",
     JULY_OF_62 " AND IsRefresh = 0 AND TraficSourceID IN (-1, 6) AND RefererHash = 3594120000172545465", true, 10,
     100},
    {41, "WindowClientWidth,WindowClientHeight",
     JULY_OF_62 " AND IsRefresh = 0 AND DontCountHits = 0 AND URLHash = 2868770270353813622", true, 10, 10000},
};

enum { QUERIES = sizeof queries / sizeof queries[0] };

const agb_clickbench *agb_clickbench_at(size_t i)
{
    return i < QUERIES ? &queries[i] : NULL;
}

const agb_clickbench *agb_clickbench_find(uint64_t number, agb_error *err)
{
    char list[128] = "";
    for (size_t i = 0, at = 0; i < QUERIES; i++) {
        if (queries[i].number == number)
            return &queries[i];
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%u", i ? ", " : "", queries[i].number);
    }
    agb_fail(err, AGB_ERR_ARGUMENT, "--query: %" PRIu64 ": not one of ClickBench's GROUP BY counts: there are %s",
             number, list);
    return NULL;
}

char *agb_clickbench_sql(const agb_clickbench *query)
{
    char *sql, limit[64] = "", offset[32] = "";
    if (query->limit)
        snprintf(limit, sizeof limit, " LIMIT %zu", query->limit);
    if (query->offset)
        snprintf(offset, sizeof offset, " OFFSET %zu", query->offset);
    int length = asprintf(&sql, "SELECT %s, COUNT(*) FROM hits%s%s GROUP BY %s%s%s%s", query->group_by,
                          query->where ? " WHERE " : "", query->where ? query->where : "", query->group_by,
                          query->ordered ? " ORDER BY COUNT(*) DESC" : "", limit, offset);
    return length < 0 ? NULL : sql;
}
