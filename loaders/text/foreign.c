/* SPDX-License-Identifier: MIT */
/* What is not read here, but met often enough to be called by its name: compressions and encodings of text. */
#include "source.h"

#include <string.h>

typedef struct foreign {
    const char *magic;
    size_t bytes;
    const char *advice;    /* what it is, and what to do */
} foreign;

static const foreign foreigns[] = {
    {"\xfd" "7zXZ\0", 6, "it is compressed with xz: unpack it first: xz -d"},
    {"\x04\x22\x4d\x18", 4, "it is compressed with lz4: unpack it first: lz4 -d"},
    {"PK\3\4", 4, "it is a zip archive: unpack it first: unzip"},
    {"7z\xbc\xaf\x27\x1c", 6, "it is a 7z archive: unpack it first: 7z x"},
    {"\x1f\x9d", 2, "it is compressed with compress: unpack it first: uncompress"},
    {"\xff\xfe", 2, "it is UTF-16 text: make it UTF-8 first: iconv -f UTF-16 -t UTF-8"},
    {"\xfe\xff", 2, "it is UTF-16 text: make it UTF-8 first: iconv -f UTF-16 -t UTF-8"},
};

/* BZh could begin a text: behind it stand the level and the first block's number, or that of the end. */
static bool is_bzip2(const agb_input *input)
{
    return input->head_bytes >= 10 && memcmp(input->head, "BZh", 3) == 0 && input->head[3] >= '1' &&
           input->head[3] <= '9' &&
           (memcmp(input->head + 4, "\x31\x41\x59\x26\x53\x59", 6) == 0 ||
            memcmp(input->head + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0);
}

const char *agb_text_foreign(const agb_input *input)
{
    for (size_t i = 0; i < sizeof foreigns / sizeof foreigns[0]; i++)
        if (input->head_bytes >= foreigns[i].bytes && memcmp(input->head, foreigns[i].magic, foreigns[i].bytes) == 0)
            return foreigns[i].advice;
    return is_bzip2(input) ? "it is compressed with bzip2: unpack it first: bzip2 -d" : NULL;
}
