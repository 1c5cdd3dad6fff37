/* SPDX-License-Identifier: MIT */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>

const char *agb_status_text(agb_status status)
{
    static const char *const sentences[] = {
#define AGB_STATUS_SENTENCE(name, sentence) sentence,
        AGB_STATUS_LIST(AGB_STATUS_SENTENCE)
#undef AGB_STATUS_SENTENCE
    };
    size_t count = sizeof sentences / sizeof sentences[0];
    return (size_t)status < count ? sentences[status] : "unknown status";
}

agb_status agb_fail(agb_error *err, agb_status status, const char *format, ...)
{
    if (err) {
        va_list arguments;
        va_start(arguments, format);
        err->status = status;
        vsnprintf(err->text, sizeof err->text, format, arguments);
        va_end(arguments);
    }
    return status;
}
