/* SPDX-License-Identifier: MIT */
/* Storing fields and noting faults, for the row parsers. */
#include "rows.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool note_fault(agb_text_piece *piece, const unsigned char *row_begin, agb_status status, int target)
{
    piece->fault.at = row_begin;
    piece->fault.status = status;
    piece->fault.target = target;
    return false;
}

bool agb_text_refuse(agb_text_piece *piece, const unsigned char *row_begin, int target, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(piece->fault.reason, sizeof piece->fault.reason, format, arguments);
    va_end(arguments);
    return note_fault(piece, row_begin, AGB_ERR_FORMAT, target);
}

bool agb_text_refuse_value(agb_text_piece *piece, const unsigned char *row_begin, const agb_text_target *target,
                           const unsigned char *begin, const unsigned char *end)
{
    agb_text_explain(target->kind, begin, end, piece->fault.reason, sizeof piece->fault.reason);
    return note_fault(piece, row_begin, AGB_ERR_FORMAT, (int)(target - piece->targets));
}

bool agb_text_refuse_fields(agb_text_piece *piece, const unsigned char *row_begin, uint64_t found)
{
    return agb_text_refuse(piece, row_begin, AGB_TEXT_NO_TARGET,
                           "the row has %" PRIu64 " field%s instead of %zu: every row needs as many as the first",
                           found, found == 1 ? "" : "s", piece->fields);
}

bool agb_text_put_null(agb_text_piece *piece, const agb_text_target *target, uint64_t row,
                       const unsigned char *row_begin)
{
    uint8_t *nulls = target->nulls ? target->nulls : agb_table_nulls(piece->arena->table, target->column);
    if (!nulls) {
        snprintf(piece->fault.reason, sizeof piece->fault.reason, "the system refuses memory for NULLs");
        return note_fault(piece, row_begin, AGB_ERR_MEMORY, (int)(target - piece->targets));
    }
    piece->targets[target - piece->targets].nulls = nulls;
    nulls[row] = 1;
    return true;
}

unsigned char *agb_text_room(agb_text_piece *piece, const unsigned char *row_begin, size_t bytes)
{
    unsigned char *room = agb_text_arena_take(piece->arena, bytes);
    if (!room) {
        snprintf(piece->fault.reason, sizeof piece->fault.reason, "the system refuses %zu bytes for a string", bytes);
        note_fault(piece, row_begin, AGB_ERR_MEMORY, AGB_TEXT_NO_TARGET);
    }
    return room;
}

bool agb_text_put_copy(agb_text_piece *piece, const agb_text_target *target, uint64_t row,
                       const unsigned char *row_begin, const unsigned char *begin, const unsigned char *end)
{
    size_t bytes = (size_t)(end - begin);
    if (bytes == 0) {
        agb_text_store_bytes(target, row, NULL, 0);
        return true;
    }
    unsigned char *room = agb_text_room(piece, row_begin, bytes);
    if (!room)
        return false;
    memcpy(room, begin, bytes);
    agb_text_store_bytes(target, row, room, bytes);
    return true;
}
