/* npy_record.c -- the header of a .npy file whose values are records.
 *
 * The list of fields is parsed here. Then it is replaced by a plain type in a
 * copy of the header, and npy_parse() takes care of the rest. */
#include "npy_record.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "python_text.h"

static bool take_count(struct python_text *list, int *out)
{
    int64_t count = 0;
    bool fine = take_whole(list, INT16_MAX, &count) && count > 0;

    *out = (int)count;
    return fine;
}

/* The end of the text in brackets that begins at 'at', past the last one; NULL
 * if there is none. Quoted brackets do not count. */
static const char *skip_brackets(const char *at, const char *end)
{
    char quote = '\0';
    int depth = 0;

    for (; at < end; at++) {
        if (quote)
            quote = *at == quote ? '\0' : quote;
        else if (*at == '\'' || *at == '"')
            quote = *at;
        else if (*at == '[')
            depth++;
        else if (*at == ']' && --depth == 0)
            return at + 1;
    }
    return NULL;
}

/* ---- finding the list ---------------------------------------------------- */

/* The text of the header; false if there is none. */
static bool header_text(const unsigned char *raw, size_t count,
                        struct python_text *out, size_t *start)
{
    size_t length;

    if (count < 12 || memcmp(raw, "\x93NUMPY", 6) != 0 || raw[6] < 1 ||
        raw[6] > 3)
        return false;
    *start = raw[6] == 1 ? 10 : 12;
    length = raw[8] | (size_t)raw[9] << 8;
    if (*start == 12)
        length |= (size_t)raw[10] << 16 | (size_t)raw[11] << 24;
    if (length > count - *start)
        return false;
    out->at = (const char *)raw + *start;
    out->end = out->at + length;
    return true;
}

/* The '[' that follows 'descr':, or NULL. */
static const char *find_list(const struct python_text *text)
{
    static const char key[] = "descr";
    struct python_text rest;
    const char *at =
        memmem(text->at, (size_t)(text->end - text->at), key, strlen(key));

    if (!at)
        return NULL;
    rest = (struct python_text){at + strlen(key), text->end};
    if (!take(&rest, '\'') && !take(&rest, '"'))
        return NULL;
    if (!take(&rest, ':'))
        return NULL;
    skip_blanks(&rest);
    return rest.at < rest.end && *rest.at == '[' ? rest.at : NULL;
}

bool npy_has_records(const void *bytes, size_t count)
{
    struct python_text text;
    size_t start;

    return header_text(bytes, count, &text, &start) && find_list(&text);
}

/* ---- fields -------------------------------------------------------------- */

/* "<f4", by way of a header of one value: the types are npy_parse()'s. */
static bool parse_type(struct npy_field *field, const char *descr,
                       char *message, size_t message_bytes)
{
    struct npy_header header;
    char text[256] = "\x93NUMPY\x01";
    int length;

    if (strpbrk(descr, "'\"\\")) {
        snprintf(message, message_bytes, "the type of field '%s' is not known",
                 field->name);
        return false;
    }
    length = snprintf(text + 10, sizeof(text) - 10,
                      "{'descr':'%s','fortran_order':False,'shape':()}", descr);
    text[8] = (char)length;
    if (!npy_parse(&header, text, 10 + (size_t)length, message, message_bytes))
        return false;
    field->type = header.type;
    field->swapped = header.swapped;
    return true;
}

/* Padding, as NumPy writes it: ('', '|V4'). */
static bool parse_padding(struct npy_field *field, const char *descr)
{
    char *end;
    unsigned long bytes;

    if (field->name[0] != '\0' || strncmp(descr, "|V", 2) != 0 ||
        !isdigit((unsigned char)descr[2]))
        return false;
    bytes = strtoul(descr + 2, &end, 10);
    if (*end != '\0' || bytes > UINT16_MAX)
        return false;
    field->bytes = bytes;
    return true;
}

/* ('v', '<f8', (3,)), without its opening bracket. */
static bool take_field(struct python_text *list, struct npy_field *field,
                       char *message, size_t message_bytes)
{
    char descr[32];

    *field = (struct npy_field){.components = 1};
    snprintf(message, message_bytes, "its list of fields cannot be parsed");
    if (!take_text(list, field->name, sizeof(field->name)) ||
        !take(list, ',') || !take_text(list, descr, sizeof(descr)))
        return false;
    if (!parse_padding(field, descr)) {
        if (!parse_type(field, descr, message, message_bytes))
            return false;
        snprintf(
            message, message_bytes,
            "field '%s' must be a number, or have one axis of up to %d values",
            field->name, INT16_MAX);
        if (take(list, ',') && !take(list, ')')) {
            if (!take(list, '(') || !take_count(list, &field->components))
                return false;
            take(list, ',');
            if (!take(list, ')'))
                return false;
        }
        field->bytes =
            bouma_type_size(field->type) * (uint64_t)field->components;
    }
    take(list, ',');
    return take(list, ')');
}

static bool keep_field(struct npy_record *record, const struct npy_field *field)
{
    size_t room = record->room ? 2 * record->room : 8;

    if (record->count == record->room) {
        struct npy_field *fields =
            realloc(record->fields, room * sizeof(*fields));

        if (!fields)
            return false;
        record->fields = fields;
        record->room = room;
    }
    record->fields[record->count] = *field;
    record->fields[record->count++].offset = record->bytes;
    record->bytes += field->bytes;
    return true;
}

static bool take_fields(struct npy_record *out, struct python_text *list,
                        char *message, size_t message_bytes)
{
    take(list, '[');
    while (!take(list, ']')) {
        struct npy_field field;

        snprintf(message, message_bytes, "its list of fields cannot be parsed");
        if (!take(list, '(') ||
            !take_field(list, &field, message, message_bytes))
            return false;
        if (!keep_field(out, &field)) {
            snprintf(message, message_bytes, "out of memory");
            return false;
        }
        take(list, ',');
    }
    snprintf(message, message_bytes, "its records are empty");
    return out->bytes > 0;
}

/* ---- the rest ------------------------------------------------------------ */

/* The header with a plain type for the list, from 'list' to 'end'. */
static bool parse_plain(struct npy_header *out, const struct python_text *text,
                        const char *list, const char *end, char *message,
                        size_t message_bytes)
{
    static const char type[] = "'|u1'";
    size_t before = (size_t)(list - text->at),
           after = (size_t)(text->end - end);
    size_t length = before + strlen(type) + after;
    unsigned char *copy = malloc(12 + length);
    bool fine;

    if (!copy) {
        snprintf(message, message_bytes, "out of memory");
        return false;
    }
    memcpy(copy, "\x93NUMPY\x02", 8);
    for (int i = 0; i < 4; i++)
        copy[8 + i] = (unsigned char)(length >> 8 * i);
    memcpy(copy + 12, text->at, before);
    memcpy(copy + 12 + before, type, strlen(type));
    memcpy(copy + 12 + before + strlen(type), end, after);
    fine = npy_parse(out, copy, 12 + length, message, message_bytes);
    free(copy);
    return fine;
}

bool npy_record_parse(struct npy_record *out, const void *bytes, size_t count,
                      char *message, size_t message_bytes)
{
    struct npy_header header;
    struct python_text text, list;
    const char *begin, *end;
    size_t start;

    *out = (struct npy_record){0};
    snprintf(message, message_bytes, "its list of fields does not end");
    if (!header_text(bytes, count, &text, &start))
        return false;
    begin = find_list(&text);
    end = begin ? skip_brackets(begin, text.end) : NULL;
    if (!end ||
        !parse_plain(&header, &text, begin, end, message, message_bytes))
        return false;
    list = (struct python_text){begin, end};
    if (!take_fields(out, &list, message, message_bytes))
        return false;
    snprintf(message, message_bytes, "an array of records has one axis");
    if (header.ndims != 1 || list.at != end)
        return false;
    snprintf(message, message_bytes, "its shape is larger than any file");
    out->rows = (uint64_t)header.shape[0];
    out->data_offset = start + (size_t)(text.end - text.at);
    return out->rows <= (uint64_t)INT64_MAX / out->bytes;
}

void npy_record_release(struct npy_record *record)
{
    free(record->fields);
    *record = (struct npy_record){0};
}
