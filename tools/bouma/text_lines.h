/* text_lines.h -- the lines of a text in memory, and the words of a line. */
#ifndef TEXT_LINES_H
#define TEXT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A part of a text, without an end of its own. */
struct piece {
    const char *at;
    size_t length;
};

/* What is left of a text. */
struct text_lines {
    const char *at, *end;
};

/* The next line, without its end (LF or CR LF); false past the last. */
static inline bool next_line(struct text_lines *text, struct piece *out)
{
    const char *end;

    if (text->at == text->end)
        return false;
    end = memchr(text->at, '\n', (size_t)(text->end - text->at));
    *out =
        (struct piece){text->at, (size_t)((end ? end : text->end) - text->at)};
    text->at = end ? end + 1 : text->end;
    if (out->length && out->at[out->length - 1] == '\r')
        out->length--;
    return true;
}

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Without blanks around it. */
static inline struct piece trimmed(struct piece piece)
{
    while (piece.length && is_blank(piece.at[0])) {
        piece.at++;
        piece.length--;
    }
    while (piece.length && is_blank(piece.at[piece.length - 1]))
        piece.length--;
    return piece;
}

/* The next word of a line, and step over it; false if there is none left. */
static inline bool next_word(struct piece *line, struct piece *out)
{
    *line = trimmed(*line);
    *out = (struct piece){line->at, 0};
    while (out->length < line->length && !is_blank(line->at[out->length]))
        out->length++;
    line->at += out->length;
    line->length -= out->length;
    return out->length > 0;
}

static inline bool is_text(struct piece piece, const char *text)
{
    return piece.length == strlen(text) &&
           memcmp(piece.at, text, piece.length) == 0;
}

/* The number of the line, from 1, that 'at' is in. */
static inline size_t line_number(const char *text, const char *at)
{
    size_t number = 1;

    while (text < at && (text = memchr(text, '\n', (size_t)(at - text)))) {
        number++;
        text++;
    }
    return number;
}

#endif
