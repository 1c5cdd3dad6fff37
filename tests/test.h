/* SPDX-License-Identifier: MIT */
/* What every test program includes: cmocka in its required order, and checks of our own kinds. */
#ifndef AGB_TEST_H
#define AGB_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "aggbench.h"

/* The call must succeed; prints the sentence when it does not. */
#define assert_ok(call)                                                                                                \
    do {                                                                                                               \
        agb_error err_ = {0};                                                                                          \
        agb_error *err = &err_;                                                                                        \
        agb_status status_ = (call);                                                                                   \
        if (status_ != AGB_OK)                                                                                         \
            fail_msg("%s: %s: %s", #call, agb_status_text(status_), err_.text);                                        \
    } while (0)

/* The call must fail with this status and a sentence that has all of the words (one string, parted by '|'). */
#define assert_fails(wanted, words, call)                                                                              \
    do {                                                                                                               \
        agb_error err_ = {0};                                                                                          \
        agb_error *err = &err_;                                                                                        \
        agb_status status_ = (call);                                                                                   \
        test_check_failure(#call, wanted, words, status_, &err_, __FILE__, __LINE__);                                  \
    } while (0)

static inline void test_check_failure(const char *call, agb_status wanted, const char *words, agb_status status,
                                      const agb_error *err, const char *file, int line)
{
    if (status != wanted) {
        print_error("%s:%d: %s: expected \"%s\", got \"%s\": %s\n", file, line, call, agb_status_text(wanted),
                    agb_status_text(status), err->text);
        _fail(file, line);
    }
    char copy[512], *save = NULL;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, "|", &save); word; word = strtok_r(NULL, "|", &save)) {
        if (!strstr(err->text, word)) {
            print_error("%s:%d: %s: \"%s\" is not in: %s\n", file, line, call, word, err->text);
            _fail(file, line);
        }
    }
}

/* The samples folder beside the project, or a skip that says so. AGB_SAMPLES names another place. */
static inline const char *test_samples(void)
{
    const char *folder = getenv("AGB_SAMPLES");
    if (!folder)
        folder = "../shared/samples";
    if (access(folder, R_OK) != 0) {
        printf("skipped: samples folder %s is not there (it is no part of the repository; AGB_SAMPLES names another)\n",
               folder);
        skip();
    }
    return folder;
}

#endif
