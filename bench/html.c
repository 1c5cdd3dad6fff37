/* SPDX-License-Identifier: MIT */
/* A page that needs nothing but itself: see html.h. */
#include "html.h"

#include "text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

/* Takes one character of *rest as it is to be seen, with its end. */
static void see_character(char out[16], agb_bytes *rest)
{
    size_t at = 0;
    agb_text_character(out, &at, rest);
    out[at] = '\0';
}

void agb_html_visible(char *out, size_t size, const char *text)
{
    agb_bytes rest = {(const unsigned char *)text, strlen(text)};
    size_t at = 0;
    char seen[16];
    out[0] = '\0';
    while (rest.length > 0 && at + sizeof seen < size) {
        see_character(seen, &rest);
        at += (size_t)snprintf(out + at, size - at, "%s", seen);
    }
}

void agb_html_text(FILE *to, const char *text)
{
    agb_bytes rest = {(const unsigned char *)text, strlen(text)};
    char seen[16];
    while (rest.length > 0) {
        bool percent = rest.length > 1 && rest.data[0] == ' ' && rest.data[1] == '%';
        see_character(seen, &rest);
        if (percent)
            fputs("\xc2\xa0", to);    /* no line begins with a percent sign */
        else if (strchr("<>&\"'", seen[0]))
            fprintf(to, "&#%d;", seen[0]);
        else
            fputs(seen, to);
    }
}

/* Longer text than that is cut: it comes from a file, and a page is for reading. */
enum { LONGEST = 4096 };

static void print_arguments(FILE *to, const char *format, va_list arguments)
{
    char text[LONGEST];
    vsnprintf(text, sizeof text, format, arguments);
    agb_html_text(to, text);
}

void agb_html_print(FILE *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_arguments(to, format, arguments);
    va_end(arguments);
}

void agb_html_element(FILE *to, const char *tag, const char *class, const char *format, ...)
{
    fprintf(to, class ? "<%s class=\"%s\">" : "<%s>", tag, class);
    va_list arguments;
    va_start(arguments, format);
    print_arguments(to, format, arguments);
    va_end(arguments);
    fprintf(to, "</%s>\n", tag);
}

void agb_html_sentence(FILE *to, const char *tag, const char *class, const char *format, ...)
{
    char text[LONGEST];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (text[0] >= 'a' && text[0] <= 'z')
        text[0] = (char)(text[0] - 'a' + 'A');
    agb_html_element(to, tag, class, "%s", text);
}

/* The policy makes sure of what escaping already does: nothing of a file is ever run or fetched. */
void agb_page_begin(agb_page *page, FILE *to, const char *title)
{
    *page = (agb_page){.to = to};
    fputs("<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
          "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
          "img-src data:\"/>\n<meta name=\"generator\" content=\"aggbench\"/>\n"
          "<link rel=\"icon\" href=\"data:,\"/>\n", to);
    agb_html_element(to, "title", NULL, "%s", title);
    fprintf(to, "<style>%s</style>\n</head>\n<body>\n<main>\n", agb_page_style);
}

void agb_page_end(agb_page *page)
{
    fputs("</main>\n</body>\n</html>\n", page->to);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static void write_headings(FILE *to, const char *headings)
{
    fputs("<thead><tr>", to);
    for (const char *at = headings; *at;) {
        size_t length = strcspn(at, "|");
        bool number = *at == '#';
        fprintf(to, "<th scope=\"col\"%s>", number ? " class=\"n\"" : "");
        agb_html_print(to, "%.*s", (int)(length - number), at + number);
        fputs("</th>", to);
        at += length + (at[length] == '|');
    }
    fputs("</tr></thead>\n", to);
}

void agb_html_table_begin(FILE *to, const char *caption, const char *headings)
{
    fputs("<div class=\"table\"><table>\n", to);
    if (caption && *caption)
        agb_html_element(to, "caption", NULL, "%s", caption);
    if (*headings)
        write_headings(to, headings);
    fputs("<tbody>\n", to);
}

void agb_html_row_begin(FILE *to)
{
    fputs("<tr>", to);
}

void agb_html_row_name(FILE *to, const char *format, ...)
{
    fputs("<th scope=\"row\">", to);
    va_list arguments;
    va_start(arguments, format);
    print_arguments(to, format, arguments);
    va_end(arguments);
    fputs("</th>", to);
}

void agb_html_cell(FILE *to, const char *format, ...)
{
    fputs("<td>", to);
    va_list arguments;
    va_start(arguments, format);
    print_arguments(to, format, arguments);
    va_end(arguments);
    fputs("</td>", to);
}

void agb_html_number_cell(FILE *to, const char *format, ...)
{
    fputs("<td class=\"n\">", to);
    va_list arguments;
    va_start(arguments, format);
    print_arguments(to, format, arguments);
    va_end(arguments);
    fputs("</td>", to);
}

void agb_html_row_end(FILE *to)
{
    fputs("</tr>\n", to);
}

void agb_html_table_end(FILE *to)
{
    fputs("</tbody>\n</table></div>\n", to);
}
