/* json_out.c -- JSON as text. */
#include "json_out.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute_value.h"

void json_out_init(struct json_out *out, struct memory_budget *memory,
                   size_t limit)
{
    *out = (struct json_out){.memory = memory, .limit = limit};
}

void json_out_raw(struct json_out *out, const char *text, size_t bytes)
{
    if (out->failed)
        return;
    if (bytes > out->limit - out->used) {
        out->failed = out->too_long = true;
        return;
    }
    if (bytes > out->room - out->used) {
        size_t room = 2 * out->room + bytes + 256;
        char *grown = memory_budget_resize(out->memory, out->text, room);

        if (!grown) {
            out->failed = true;
            return;
        }
        out->text = grown;
        out->room = room;
    }
    memcpy(out->text + out->used, text, bytes);
    out->used += bytes;
}

/* What comes before a value or a key. */
static void begin(struct json_out *out)
{
    if (out->comma)
        json_out_raw(out, ",", 1);
    out->comma = true;
}

void json_out_open(struct json_out *out, char bracket)
{
    begin(out);
    json_out_raw(out, &bracket, 1);
    out->comma = false;
}

void json_out_close(struct json_out *out, char bracket)
{
    json_out_raw(out, &bracket, 1);
    out->comma = true;
}

/* How many bytes the character at 'text' has; 0 if it is not UTF-8. */
static size_t character(const unsigned char *text, size_t bytes)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80             ? 1
                    : (text[0] & 0xe0) == 0xc0 ? 2
                    : (text[0] & 0xf0) == 0xe0 ? 3
                    : (text[0] & 0xf8) == 0xf0 ? 4
                                               : 0;
    uint32_t code;

    if (length <= 1 || length > bytes)
        return length == 1 ? 1 : 0;
    code = text[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    return code < least[length] || code > 0x10ffff ||
                   (code >= 0xd800 && code < 0xe000)
               ? 0
               : length;
}

static void put_quoted(struct json_out *out, const char *text, size_t bytes)
{
    json_out_raw(out, "\"", 1);
    for (size_t i = 0; i < bytes;) {
        unsigned char c = (unsigned char)text[i];
        size_t length = character((const unsigned char *)text + i, bytes - i);
        char escape[8];

        if (length == 0) {
            json_out_raw(out, "\xef\xbf\xbd", 3);
        } else if (c < 0x20 || c == 0x7f) {
            snprintf(escape, sizeof(escape), "\\u%04x", c);
            json_out_raw(out, escape, 6);
        } else if (c == '"' || c == '\\') {
            json_out_raw(out, "\\", 1);
            json_out_raw(out, text + i, 1);
        } else {
            json_out_raw(out, text + i, length);
        }
        i += length ? length : 1;
    }
    json_out_raw(out, "\"", 1);
}

void json_out_key(struct json_out *out, const char *key)
{
    begin(out);
    put_quoted(out, key, strlen(key));
    json_out_raw(out, ":", 1);
    out->comma = false;
}

void json_out_text_of(struct json_out *out, const char *text, size_t bytes)
{
    begin(out);
    put_quoted(out, text, bytes);
}

void json_out_text(struct json_out *out, const char *text)
{
    if (text)
        json_out_text_of(out, text, strlen(text));
    else
        json_out_null(out);
}

void json_out_pair(struct json_out *out, const char *key, const char *text)
{
    json_out_key(out, key);
    json_out_text(out, text);
}

static void put_word(struct json_out *out, const char *word)
{
    begin(out);
    json_out_raw(out, word, strlen(word));
}

void json_out_null(struct json_out *out)
{
    put_word(out, "null");
}

void json_out_bool(struct json_out *out, bool value)
{
    put_word(out, value ? "true" : "false");
}

void json_out_number(struct json_out *out, double number)
{
    char text[32];

    if (isnan(number)) {
        json_out_null(out);
    } else if (isinf(number)) {
        json_out_text(out, number > 0 ? "inf" : "-inf");
    } else {
        for (int digits = 15; digits <= 17; digits++) {
            snprintf(text, sizeof(text), "%.*g", digits, number);
            if (strtod(text, NULL) == number)
                break;
        }
        put_word(out, text);
    }
}

#define LARGEST_EXACT ((int64_t)1 << 53)

void json_out_integer(struct json_out *out, int64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRId64, number);
    if (number > LARGEST_EXACT || number < -LARGEST_EXACT)
        json_out_text(out, text);
    else
        put_word(out, text);
}

void json_out_count(struct json_out *out, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, number);
    if (number > (uint64_t)LARGEST_EXACT)
        json_out_text(out, text);
    else
        put_word(out, text);
}

void json_out_value(struct json_out *out, bouma_value value)
{
    if (value.type == BOUMA_TYPE_F64)
        json_out_number(out, value.f);
    else if (value.type == BOUMA_TYPE_U64)
        json_out_count(out, value.u);
    else if (value.type == BOUMA_TYPE_I64)
        json_out_integer(out, value.i);
    else
        json_out_null(out);
}

void json_out_integers(struct json_out *out, const int64_t *values, int count)
{
    json_out_open(out, '[');
    for (int i = 0; i < count; i++)
        json_out_integer(out, values[i]);
    json_out_close(out, ']');
}

void json_out_numbers(struct json_out *out, const double *values, int count)
{
    json_out_open(out, '[');
    for (int i = 0; i < count; i++)
        json_out_number(out, values[i]);
    json_out_close(out, ']');
}

static void put_attribute(struct json_out *out,
                          const bouma_attribute *attribute)
{
    if (attribute->type == BOUMA_TYPE_STRING) {
        json_out_text_of(out, attribute->values, attribute->count);
        return;
    }
    if (attribute->count == 1) {
        json_out_value(out, attribute_value(attribute, 0));
        return;
    }
    json_out_open(out, '[');
    for (size_t i = 0; i < attribute->count && !out->failed; i++)
        json_out_value(out, attribute_value(attribute, i));
    json_out_close(out, ']');
}

/* Whether a name is one of 'except', or that of an attribute of 'hidden'. */
static bool is_left_out(const char *name, const bouma_attributes *hidden,
                        const char *const *except)
{
    bouma_attribute other = {.size = sizeof(other)};

    for (int i = 0; except && except[i]; i++)
        if (strcmp(except[i], name) == 0)
            return true;
    return hidden && !bouma_attributes_find(&other, hidden, name);
}

void json_out_members(struct json_out *out, const bouma_attributes *attributes,
                      const bouma_attributes *hidden, const char *const *except)
{
    bouma_attribute attribute = {.size = sizeof(attribute)};

    for (int i = 0; attributes && !out->failed &&
                    !bouma_attributes_get(&attribute, attributes, i);
         i++) {
        if (is_left_out(attribute.name, hidden, except))
            continue;
        json_out_key(out, attribute.name);
        put_attribute(out, &attribute);
    }
}

void json_out_attributes(struct json_out *out,
                         const bouma_attributes *attributes)
{
    json_out_open(out, '{');
    json_out_members(out, attributes, NULL, NULL);
    json_out_close(out, '}');
}

void json_out_tag(struct json_out *out, uint64_t tag)
{
    char text[20];

    snprintf(text, sizeof(text), "%016" PRIx64, tag);
    json_out_text(out, text);
}
