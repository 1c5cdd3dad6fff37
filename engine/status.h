/* SPDX-License-Identifier: MIT */
/* Status codes and error sentences, shared by every folder.
 *
 * A function that can fail returns an agb_status (AGB_OK is 0) and fills the caller's agb_error with one sentence:
 * what failed, on which object, why, and what to do. Any agb_error argument may be NULL. There is no errno to read,
 * no text to free and no last-error global. */
#ifndef AGB_STATUS_H
#define AGB_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AGB_STATUS_LIST(X)                                                                                             \
    X(OK, "ok")                                                                                                        \
    X(ARGUMENT, "wrong argument")                  /* the caller asked for something that cannot be */                 \
    X(MEMORY, "out of memory")                     /* the system refused memory */                                     \
    X(BUDGET, "memory budget exceeded")            /* the caller's own limit refused memory */                         \
    X(IO, "input/output error")                    /* a file is not there, or cannot be opened, read or written */     \
    X(FORMAT, "damaged or malformed input")        /* bytes that break the rules of their format */                    \
    X(UNSUPPORTED, "unsupported")                  /* valid, but not something this program does */                    \
    X(NOT_FOUND, "not found")                      /* no column, aggregator, parameter or plug-in of that name */      \
    X(PLUGIN, "plug-in refused")                   /* a shared object that does not keep the contract */               \
    X(CONTRACT, "contract broken")                 /* an aggregator did what engine/aggregator.h forbids */

typedef enum agb_status {
#define AGB_STATUS_ENUM(name, sentence) AGB_ERR_##name,
    AGB_STATUS_LIST(AGB_STATUS_ENUM)
#undef AGB_STATUS_ENUM
    AGB_OK = AGB_ERR_OK
} agb_status;

typedef struct agb_error {
    agb_status status;
    char text[1024];   /* one sentence on one line, lower case, no full stop; a very long one lacks its middle */
} agb_error;

/* The status in words, e.g. "out of memory". Static text. */
const char *agb_status_text(agb_status status);
bool agb_status_is_known(agb_status status);    /* false: a number that is no status */

/* Fills *err (if not NULL) and returns `status`, so that a caller can write: return agb_fail(err, ...). Bytes of
 * characters that disturb, see below, or of none stand as \xNN in the text. */
__attribute__((format(printf, 3, 4)))
agb_status agb_fail(agb_error *err, agb_status status, const char *format, ...);

/* The length of the UTF-8 character at the beginning of n bytes; 0: there is none (Unicode 15, table 3-7). */
size_t agb_utf8_character(const unsigned char *bytes, size_t n);
/* Whether the character of so many bytes is no letter but disturbs those around it: control characters, separators of
 * lines, and the marks that turn the direction of what follows, by which a name can look like another one. */
bool agb_utf8_disturbs(const unsigned char *character, size_t length);

#ifdef __cplusplus
}
#endif
#endif
