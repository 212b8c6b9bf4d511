/* read_idx_fields.c -- the fields that the header of an IDX dataset lists:
 *
 *     name type [attribute(value)]... + name type ...
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "number_text.h"
#include "read_idx_parse.h"

enum { MOST_FIELDS = 4096, MOST_ZFP = 100 /* characters */ };

static int shown(struct piece text)
{
    return text.length < 60 ? (int)text.length : 60;
}

/* ---- types --------------------------------------------------------------- */

static bouma_type find_type(struct piece word)
{
    static const struct {
        const char *name;
        bouma_type type;
    } types[] = {{"int8", BOUMA_TYPE_I8},     {"int16", BOUMA_TYPE_I16},
                 {"int32", BOUMA_TYPE_I32},   {"int64", BOUMA_TYPE_I64},
                 {"uint8", BOUMA_TYPE_U8},    {"uint16", BOUMA_TYPE_U16},
                 {"uint32", BOUMA_TYPE_U32},  {"uint64", BOUMA_TYPE_U64},
                 {"float32", BOUMA_TYPE_F32}, {"float64", BOUMA_TYPE_F64}};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (is_text(word, types[i].name))
            return types[i].type;
    return 0;
}

/* "float32", "float32[3]" or "3*float32". */
static bool set_type(struct idx_parser *parser, struct idx_field *field,
                     struct piece word)
{
    const char *star = memchr(word.at, '*', word.length);
    const char *open = memchr(word.at, '[', word.length);
    struct piece base = word, count = {"1", 1};
    int64_t components;

    if (star) {
        count = (struct piece){word.at, (size_t)(star - word.at)};
        base = (struct piece){star + 1,
                              word.length - (size_t)(star + 1 - word.at)};
    } else if (open) {
        base = (struct piece){word.at, (size_t)(open - word.at)};
        count = (struct piece){open + 1,
                               word.length - (size_t)(open + 1 - word.at)};
        if (count.length == 0 || count.at[count.length - 1] != ']')
            return idx_refuse(parser, "the type '%.*s' has no ]", shown(word),
                              word.at);
        count.length--;
    }
    if (!idx_integer(parser, count, 1, INT16_MAX, &components))
        return false;
    field->type = find_type(base);
    if (!field->type)
        return idx_refuse(parser,
                          "field %s is of type '%.*s', which is not stored; "
                          "there are int8 to int64, uint8 to uint64, float32 "
                          "and float64",
                          field->name, shown(word), word.at);
    field->components = (int)components;
    field->sample_bytes = bouma_type_size(field->type) * (size_t)components;
    return true;
}

struct idx_field *idx_add_field(struct idx_parser *parser, struct piece name,
                                struct piece type)
{
    struct idx_header *out = parser->out;
    struct idx_field *fields, *field;

    if (out->field_count == MOST_FIELDS) {
        idx_refuse(parser, "there are more than %d fields", MOST_FIELDS);
        return NULL;
    }
    fields = realloc(out->fields, (out->field_count + 1) * sizeof(*fields));
    if (!fields) {
        idx_refuse(parser, "there is no memory");
        return NULL;
    }
    out->fields = fields;
    field = &fields[out->field_count];
    *field = (struct idx_field){.row_major = true};
    field->name = idx_keep(parser, name);
    if (!field->name)
        return NULL;
    out->field_count++;
    for (size_t i = 0; i + 1 < out->field_count; i++)
        if (strcmp(fields[i].name, field->name) == 0) {
            idx_refuse(parser, "field %.60s is there twice", field->name);
            return NULL;
        }
    return set_type(parser, field, type) ? field : NULL;
}

/* ---- zfp ----------------------------------------------------------------- */

/* "reversible", "precision=24", "24", "accuracy=0.001" or "0.001". */
static bool parse_zfp(struct idx_zfp *out, struct piece text)
{
    const char *equals = memchr(text.at, '=', text.length);
    struct piece value = text, name = {text.at, 0};
    struct number_text number;

    if (is_text(text, "reversible")) {
        out->mode = IDX_REVERSIBLE;
        return true;
    }
    if (equals) {
        name.length = (size_t)(equals - text.at);
        value = (struct piece){equals + 1, text.length - name.length - 1};
    }
    number_text_parse(&number, value.at, value.length);
    if (is_text(name, "accuracy") || (!equals && number.kind == NUMBER_REAL)) {
        out->mode = IDX_ACCURACY;
        out->accuracy = number.f;
        return number.kind != NUMBER_NONE && isfinite(number.f) &&
               number.f >= 0;
    }
    out->mode = IDX_PRECISION;
    out->precision = (int)number.i;
    return (!equals || is_text(name, "precision")) &&
           number.kind == NUMBER_SIGNED && number.i >= 1 && number.i <= 64;
}

/* "zfp-ENCODE-DECODE". What blocks were encoded with is what they are decoded
 * with. Numbers may have a - of their own. Left unknown if it cannot be told;
 * plain "zfp" means reversible. */
static void set_zfp(struct idx_zfp *out, struct piece text)
{
    if (is_text(text, "zfp")) {
        out->mode = IDX_REVERSIBLE;
        return;
    }
    for (size_t i = 5; i + 1 < text.length && text.length <= MOST_ZFP; i++) {
        struct piece encode = {text.at + 4, i - 4};
        struct piece decode = {text.at + i + 1, text.length - i - 1};
        struct idx_zfp other;

        if (text.at[i] == '-' && parse_zfp(out, encode) &&
            parse_zfp(&other, decode))
            return;
    }
    out->mode = IDX_ZFP_UNKNOWN;
}

/* ---- attributes ---------------------------------------------------------- */

static bool begins(struct piece text, const char *with)
{
    return text.length >= strlen(with) &&
           memcmp(text.at, with, strlen(with)) == 0;
}

/* Blocks say themselves how they are compressed, unless each is a file. */
static void set_codec(struct idx_field *field, struct piece value)
{
    static const struct {
        const char *name;
        enum idx_codec codec;
    } codecs[] = {{"zip", IDX_ZIP},
                  {"lz4", IDX_LZ4},
                  {"zfp", IDX_ZFP},
                  {"jpg", IDX_JPG},
                  {"png", IDX_PNG}};

    field->codec = IDX_RAW;
    for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++)
        if (begins(value, codecs[i].name))
            field->codec = codecs[i].codec;
    if (field->codec == IDX_ZFP)
        set_zfp(&field->zfp, value);
}

static bool has_hz(struct piece value)
{
    for (size_t i = 0; i + 1 < value.length; i++)
        if (memcmp(value.at + i, "hz", 2) == 0)
            return true;
    return is_text(value, "0");
}

static bool is_any(struct piece name, const char *a, const char *b,
                   const char *c)
{
    return is_text(name, a) || is_text(name, b) || is_text(name, c);
}

/* default_value fills bytes. */
bool idx_set_field(struct idx_parser *parser, struct idx_field *field,
                   struct piece name, struct piece value)
{
    value = trimmed(value);
    if (is_any(name, "default_compression", "compression", "compressed"))
        set_codec(field, value);
    else if (is_any(name, "default_layout", "layout", "format"))
        field->row_major = !has_hz(value);
    else if (is_text(name, "default_value") && value.length) {
        int64_t byte;

        if (!idx_integer(parser, value, INT32_MIN, UINT32_MAX, &byte))
            return false;
        field->fill = (uint8_t)byte;
    }
    return true;
}

/* The next "name(value)" or "name" of a field, and step over it. */
static bool next_attribute(struct piece *rest, struct piece *name,
                           struct piece *value)
{
    size_t end = 0, depth = 1, at;

    *rest = trimmed(*rest);
    while (end < rest->length && !is_blank(rest->at[end]) &&
           rest->at[end] != '(')
        end++;
    *name = (struct piece){rest->at, end};
    *value = (struct piece){rest->at + end, 0};
    if (end < rest->length && rest->at[end] == '(') {
        for (at = end + 1; at < rest->length && depth; at++)
            depth += rest->at[at] == '(' ? 1 : rest->at[at] == ')' ? -1 : 0;
        *value = (struct piece){rest->at + end + 1, at - end - 1 - !depth};
        end = at;
    }
    rest->at += end;
    rest->length -= end;
    return depth == 0 || value->length == 0;
}

static bool read_field(struct idx_parser *parser, struct piece text)
{
    struct piece name, type, value;
    struct idx_field *field;

    if (!next_word(&text, &name)) /* a + before the first or behind the last */
        return true;
    if (!next_word(&text, &type))
        return idx_refuse(parser, "field %.*s has no type", shown(name),
                          name.at);
    field = idx_add_field(parser, name, type);
    if (!field)
        return false;
    for (text = trimmed(text); text.length; text = trimmed(text)) {
        bool closed = next_attribute(&text, &name, &value);

        if (!closed || name.length == 0)
            return idx_refuse(parser, "field %.60s: %s", field->name,
                              closed ? "a ( stands alone" : "a ( has no )");
        if (is_text(name, "compressed") && value.length == 0)
            value = (struct piece){"zip", 3};
        if (!idx_set_field(parser, field, name, value))
            return false;
    }
    return true;
}

bool idx_read_fields(struct idx_parser *parser, struct piece value)
{
    size_t depth = 0, first = 0;

    for (size_t i = 0; i <= value.length; i++) {
        char c = i < value.length ? value.at[i] : '+';

        if (c == '(')
            depth++;
        else if (c == ')' && depth)
            depth--;
        else if (c == '+' && (!depth || i == value.length)) {
            if (!read_field(parser,
                            (struct piece){value.at + first, i - first}))
                return false;
            first = i + 1;
        }
    }
    return parser->out->field_count || idx_refuse(parser, "lists no field");
}
