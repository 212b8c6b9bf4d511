/* npy.c -- the header of NumPy's .npy files.
 *
 * After 6 bytes of magic and two of version comes the length of a text (2 bytes
 * in version 1, 4 since version 2, little-endian), then the text, a Python
 * dictionary such as
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (64, 64, 32), }
 * padded with blanks, and then the values. */
#include "npy.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "python_text.h"

static const char magic[6] = "\x93NUMPY";

static char native_order(void)
{
    const uint16_t one = 1;

    return *(const unsigned char *)&one ? '<' : '>';
}

/* ---- reading ------------------------------------------------------------- */

struct scan {
    struct python_text text;
    char *message;
    size_t message_bytes;
};

__attribute__((format(printf, 2, 3))) static bool
refuse(const struct scan *scan, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(scan->message, scan->message_bytes, format, list);
    va_end(list);
    return false;
}

static bool take_word(struct python_text *text, const char *word)
{
    size_t length = strlen(word);

    skip_blanks(text);
    if ((size_t)(text->end - text->at) < length ||
        memcmp(text->at, word, length) != 0)
        return false;
    text->at += length;
    return true;
}

static bool take_extent(struct python_text *text, int64_t *out)
{
    if (!take_whole(text, INT64_MAX, out))
        return false;
    take(text, 'L'); /* Python 2 wrote (64L, 32L) */
    return true;
}

static bool take_descr(struct scan *scan, struct npy_header *out)
{
    static const struct {
        const char *code;
        bouma_type type;
    } types[] = {{"i1", BOUMA_TYPE_I8},  {"i2", BOUMA_TYPE_I16},
                 {"i4", BOUMA_TYPE_I32}, {"i8", BOUMA_TYPE_I64},
                 {"u1", BOUMA_TYPE_U8},  {"u2", BOUMA_TYPE_U16},
                 {"u4", BOUMA_TYPE_U32}, {"u8", BOUMA_TYPE_U64},
                 {"f4", BOUMA_TYPE_F32}, {"f8", BOUMA_TYPE_F64}};
    char text[16];
    const char *code = text;

    if (!take_text(&scan->text, text, sizeof(text)))
        return refuse(scan, "its values are records, not plain numbers; save "
                            "each field as an array, as a['x'] is");
    if (*code != '\0' && strchr("<>=|", *code))
        code++;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(code, types[i].code) == 0)
            out->type = types[i].type;
    if (!out->type && strchr("cmMO", *code) && *code)
        return refuse(scan, "its type '%s' cannot be stored; %s", text,
                      *code == 'c'   ? "save a.real and a.imag"
                      : *code == 'O' ? "Python objects are not numbers"
                                     : "save a.astype('int64')");
    if (!out->type)
        return refuse(
            scan,
            "its type '%s' cannot be stored; convert it to int8 to int64, "
            "uint8 to uint64, float32 or float64, as a.astype('float32') does",
            text);
    out->swapped = (text[0] == '<' || text[0] == '>') &&
                   text[0] != native_order() && bouma_type_size(out->type) > 1;
    return true;
}

static bool take_order(struct scan *scan, struct npy_header *out)
{
    if (take_word(&scan->text, "True"))
        out->fortran = true;
    else if (!take_word(&scan->text, "False"))
        return refuse(scan, "fortran_order is neither True nor False");
    return true;
}

static bool take_shape(struct scan *scan, struct npy_header *out)
{
    if (!take(&scan->text, '('))
        return refuse(scan, "the shape is not a tuple");
    while (!take(&scan->text, ')')) {
        if (out->ndims == NPY_MAX_DIMS)
            return refuse(scan, "it has more than %d axes", NPY_MAX_DIMS);
        if (!take_extent(&scan->text, &out->shape[out->ndims]))
            return refuse(scan, "the shape is not made of whole numbers");
        out->ndims++;
        if (!take(&scan->text, ',')) {
            if (!take(&scan->text, ')'))
                return refuse(scan, "the shape does not end");
            return true;
        }
    }
    return true;
}

/* The dictionary: each of its three entries once, in any order. */
static bool take_dictionary(struct scan *scan, struct npy_header *out)
{
    static const struct {
        const char *key;
        bool (*take)(struct scan *scan, struct npy_header *out);
    } entries[] = {{"descr", take_descr},
                   {"fortran_order", take_order},
                   {"shape", take_shape}};
    enum { ENTRIES = sizeof(entries) / sizeof(entries[0]) };
    bool seen[ENTRIES] = {false};
    char key[32];

    if (!take(&scan->text, '{'))
        return refuse(scan, "the header is not a dictionary");
    while (!take(&scan->text, '}')) {
        size_t i = 0;

        if (!take_text(&scan->text, key, sizeof(key)) ||
            !take(&scan->text, ':'))
            return refuse(scan, "the header is not a dictionary");
        while (i < ENTRIES && strcmp(key, entries[i].key) != 0)
            i++;
        if (i == ENTRIES || seen[i])
            return refuse(scan, "the header has %s entry",
                          i == ENTRIES ? "an unknown" : "twice the same");
        seen[i] = true;
        if (!entries[i].take(scan, out))
            return false;
        if (!take(&scan->text, ',')) {
            if (!take(&scan->text, '}'))
                return refuse(scan, "the header is not a dictionary");
            break;
        }
    }
    for (size_t i = 0; i < ENTRIES; i++)
        if (!seen[i])
            return refuse(scan, "the header has no '%s'", entries[i].key);
    return true;
}

static bool count_bytes(const struct scan *scan, struct npy_header *out)
{
    uint64_t bytes = bouma_type_size(out->type);

    for (int i = 0; i < out->ndims; i++) {
        uint64_t extent = (uint64_t)out->shape[i];

        if (extent != 0 && bytes > (uint64_t)INT64_MAX / extent)
            return refuse(scan, "its shape is larger than any file");
        bytes *= extent;
    }
    out->data_bytes = bytes;
    return true;
}

bool npy_parse(struct npy_header *out, const void *bytes, size_t count,
               char *message, size_t message_bytes)
{
    const unsigned char *raw = bytes;
    struct scan scan = {.message = message, .message_bytes = message_bytes};
    size_t start, length;

    memset(out, 0, sizeof(*out));
    if (count < 10 || memcmp(raw, magic, sizeof(magic)) != 0)
        return refuse(&scan, "it is not a .npy file");
    if (raw[6] < 1 || raw[6] > 3)
        return refuse(&scan, "its version %d.%d is not known", raw[6], raw[7]);
    start = raw[6] == 1 ? 10 : 12;
    if (count < start)
        return refuse(&scan, "it is too short for a .npy file");
    length = raw[8] | (size_t)raw[9] << 8;
    if (start == 12)
        length |= (size_t)raw[10] << 16 | (size_t)raw[11] << 24;
    if (length > count - start)
        return refuse(&scan, "its header goes beyond its end");

    scan.text.at = (const char *)raw + start;
    scan.text.end = scan.text.at + length;
    out->data_offset = start + length;
    if (!take_dictionary(&scan, out) || !count_bytes(&scan, out))
        return false;
    skip_blanks(&scan.text);
    if (scan.text.at != scan.text.end)
        return refuse(&scan, "there is more than a dictionary in its header");
    return true;
}

/* ---- writing ------------------------------------------------------------- */

const char *npy_descr(char *out, bouma_type type)
{
    static const char kinds[] = {
        [BOUMA_TYPE_I8] = 'i',  [BOUMA_TYPE_I16] = 'i', [BOUMA_TYPE_I32] = 'i',
        [BOUMA_TYPE_I64] = 'i', [BOUMA_TYPE_U8] = 'u',  [BOUMA_TYPE_U16] = 'u',
        [BOUMA_TYPE_U32] = 'u', [BOUMA_TYPE_U64] = 'u', [BOUMA_TYPE_F32] = 'f',
        [BOUMA_TYPE_F64] = 'f'};
    size_t size = bouma_type_size(type);

    out[0] = size == 1 ? '|' : native_order();
    out[1] = kinds[type];
    out[2] = (char)('0' + size);
    out[3] = '\0';
    return out;
}

size_t npy_format(char *out, bouma_type type, int ndims, const int64_t *shape)
{
    const size_t start = 10; /* magic, version, length */
    char descr[4];
    size_t n = start;

    n += (size_t)snprintf(out + n, NPY_MAX_HEADER - n,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (",
                          npy_descr(descr, type));
    for (int i = 0; i < ndims; i++)
        n += (size_t)snprintf(out + n, NPY_MAX_HEADER - n, "%s%" PRId64,
                              i ? ", " : "", shape[i]);
    n += (size_t)snprintf(out + n, NPY_MAX_HEADER - n, "%s), }",
                          ndims == 1 ? "," : ""); /* Python's (5,) */
    while ((n + 1) % 64 != 0) /* values start at a multiple of 64 */
        out[n++] = ' ';
    out[n++] = '\n';

    memcpy(out, magic, sizeof(magic));
    out[6] = 1;
    out[7] = 0;
    out[8] = (char)((n - start) & 0xff);
    out[9] = (char)((n - start) >> 8);
    return n;
}
