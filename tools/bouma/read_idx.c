/* read_idx.c -- the header of an IDX dataset: the text form, the meaning of
 * keys, and whether they go together. */
#include "read_idx.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "number_text.h"
#include "read_idx_parse.h"

static const char axis_names[] = "zyx";

/* ---- keys ---------------------------------------------------------------- */

static bool read_version(struct idx_parser *parser, struct piece value);
static bool read_box(struct idx_parser *parser, struct piece value);
static bool read_bits(struct idx_parser *parser, struct piece value);
static bool read_block_bits(struct idx_parser *parser, struct piece value);
static bool read_file_blocks(struct idx_parser *parser, struct piece value);
static bool read_interleave(struct idx_parser *parser, struct piece value);
static bool read_arco(struct idx_parser *parser, struct piece value);
static bool read_physical(struct idx_parser *parser, struct piece value);
static bool read_matrix(struct idx_parser *parser, struct piece value);
static bool read_io_mode(struct idx_parser *parser, struct piece value);
static bool read_endian(struct idx_parser *parser, struct piece value);
static bool read_compression(struct idx_parser *parser, struct piece value);

static const struct {
    const char *text, *xml;
    bool (*read)(struct idx_parser *parser, struct piece value);
} keys[KEY_COUNT] = {
    [KEY_VERSION] = {"(version)", "version", read_version},
    [KEY_BOX] = {"(box)", "box", read_box},
    [KEY_BITS] = {"(bits)", "bitmask", read_bits},
    [KEY_BLOCK_BITS] = {"(bitsperblock)", "bitsperblock", read_block_bits},
    [KEY_FILE_BLOCKS] = {"(blocksperfile)", "blocksperfile", read_file_blocks},
    [KEY_FIELDS] = {"(fields)", "field", idx_read_fields},
    [KEY_TEMPLATE] = {"(filename_template)", "filename_template",
                      idx_read_template},
    [KEY_TIME] = {"(time)", "timestep", idx_read_time},
    [KEY_INTERLEAVE_BLOCK] = {"(interleave block)", "block_interleaving",
                              read_interleave},
    [KEY_INTERLEAVE] = {"(interleave)", "interleave", read_interleave},
    [KEY_ARCO] = {"(arco)", "arco", read_arco},
    [KEY_PHYSICAL] = {"(physic_box)", "physic_box", read_physical},
    [KEY_MATRIX] = {"(logic_to_physic)", "logic_to_physic", read_matrix},
    [KEY_IO_MODE] = {"(io mode)", "io_mode", read_io_mode},
    [KEY_ENDIAN] = {"(endian)", "endian", read_endian},
    [KEY_COMPRESSION] = {"(compression type)", "compression_type",
                         read_compression}};

static void say(struct idx_parser *parser, enum idx_key key, size_t line,
                const char *format, va_list list)
{
    char *text = parser->message->text;
    size_t bytes = sizeof(parser->message->text), used = 0;

    if (line)
        used = (size_t)snprintf(
            text, bytes,
            parser->xml ? "line %zu, <%s>: " : "line %zu, %s: ", line,
            parser->xml ? keys[key].xml : keys[key].text);
    else
        used = (size_t)snprintf(
            text, bytes, "the header has no %s%s%s: ", parser->xml ? "<" : "",
            parser->xml ? keys[key].xml : keys[key].text,
            parser->xml ? ">" : "");
    vsnprintf(text + used, bytes - used, format, list);
}

bool idx_refuse(struct idx_parser *parser, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    say(parser, parser->key, parser->line, format, list);
    va_end(list);
    return false;
}

bool idx_refuse_key(struct idx_parser *parser, enum idx_key key,
                    const char *format, ...)
{
    va_list list;

    va_start(list, format);
    say(parser, key, parser->seen[key], format, list);
    va_end(list);
    return false;
}

char *idx_keep(struct idx_parser *parser, struct piece text)
{
    char *copy = strndup(text.at, text.length);

    if (!copy)
        idx_refuse(parser, "there is no memory");
    return copy;
}

/* As much of a text as a message shows. */
static int shown(struct piece text)
{
    return text.length < 60 ? (int)text.length : 60;
}

/* ---- values -------------------------------------------------------------- */

bool idx_integer(struct idx_parser *parser, struct piece word, int64_t least,
                 int64_t most, int64_t *out)
{
    struct number_text number;

    number_text_parse(&number, word.at, word.length);
    if (number.kind != NUMBER_SIGNED || number.i < least || number.i > most)
        return idx_refuse(
            parser, "'%.*s' is not a whole number from %lld to %lld",
            shown(word), word.at, (long long)least, (long long)most);
    *out = number.i;
    return true;
}

bool idx_real(struct idx_parser *parser, struct piece word, double *out)
{
    struct number_text number;

    number_text_parse(&number, word.at, word.length);
    if (number.kind == NUMBER_NONE || !isfinite(number.f))
        return idx_refuse(parser, "'%.*s' is not a finite number", shown(word),
                          word.at);
    *out = number.f;
    return true;
}

/* The one word that a value has. */
static bool one_integer(struct idx_parser *parser, struct piece value,
                        int64_t least, int64_t most, int64_t *out)
{
    return idx_integer(parser, trimmed(value), least, most, out);
}

/* "6.1" of PIDX is 6. */
static bool read_version(struct idx_parser *parser, struct piece value)
{
    const char *point = memchr(value.at, '.', value.length);
    int64_t version = 0, part;

    if (point) {
        struct piece rest = {point + 1,
                             value.length - (size_t)(point + 1 - value.at)};

        if (!idx_integer(parser, rest, 0, 99, &part))
            return false;
        value.length = (size_t)(point - value.at);
    }
    if (!one_integer(parser, value, 1, 6, &version))
        return false;
    parser->out->version = (int)version;
    return true;
}

/* In text, the upper ends are the last samples; in XML, those behind them. */
static bool read_box(struct idx_parser *parser, struct piece value)
{
    int64_t beyond = parser->xml ? 0 : 1;
    struct piece word;
    int count = 0;

    while (next_word(&value, &word)) {
        if (count == 2 * IDX_PAIRS)
            return idx_refuse(parser, "has more than %d axes", IDX_PAIRS);
        if (!idx_integer(parser, word, 0, INT64_MAX / 2, &parser->box[count]))
            return false;
        if (count % 2) {
            parser->box[count] += beyond;
            if (parser->box[count] <= parser->box[count - 1])
                return idx_refuse(parser,
                                  "axis %d ends at %.*s, before it "
                                  "begins",
                                  count / 2, shown(word), word.at);
        }
        count++;
    }
    if (count == 0 || count % 2)
        return idx_refuse(parser,
                          "has %d numbers, and must have two for each "
                          "axis",
                          count);
    parser->pairs = count / 2;
    return true;
}

static bool read_bits(struct idx_parser *parser, struct piece value)
{
    struct idx_order *order = &parser->out->order;

    if (value.length == 0 || (value.at[0] != 'V' && value.at[0] != 'F'))
        return idx_refuse(parser, "'%.*s' does not begin with V or F",
                          shown(value), value.at);
    order->full = value.at[0] == 'F';
    if (value.length - 1 > IDX_BITS)
        return idx_refuse(parser, "has %zu splits; at most %d are possible",
                          value.length - 1, IDX_BITS);
    for (size_t i = 1; i < value.length; i++) {
        int axis = value.at[i] - '0';

        if (axis < 0 || axis > 9)
            return idx_refuse(parser,
                              "split %zu is along '%c', which is no axis", i,
                              value.at[i]);
        if (axis > 2)
            return idx_refuse(parser,
                              "split %zu is along axis %d, and a grid has "
                              "at most 3 axes, 0 to 2",
                              i, axis);
        order->axis[order->bits++] = (uint8_t)(2 - axis);
        if (axis >= parser->mask_axes)
            parser->mask_axes = axis + 1;
    }
    if (order->bits == 0)
        return idx_refuse(parser, "has no splits");
    return true;
}

static bool read_block_bits(struct idx_parser *parser, struct piece value)
{
    return one_integer(parser, value, 0, 30, &parser->block_bits);
}

static bool read_file_blocks(struct idx_parser *parser, struct piece value)
{
    return one_integer(parser, value, 1, (int64_t)1 << 40,
                       &parser->out->blocks_per_file);
}

static bool read_interleave(struct idx_parser *parser, struct piece value)
{
    int64_t factor = 0;

    if (!one_integer(parser, value, 0, INT64_MAX, &factor))
        return false;
    return factor <= 1 ||
           idx_refuse(parser, "blocks that are interleaved are not read");
}

static bool read_arco(struct idx_parser *parser, struct piece value)
{
    return one_integer(parser, value, 0, INT32_MAX, &parser->out->arco);
}

static bool read_physical(struct idx_parser *parser, struct piece value)
{
    struct piece word;
    int count = 0;

    while (next_word(&value, &word)) {
        if (count == 2 * IDX_PAIRS)
            return idx_refuse(parser, "has more than %d axes", IDX_PAIRS);
        if (!idx_real(parser, word, &parser->physical[count++]))
            return false;
    }
    parser->physical_pairs = count / 2;
    return count % 2 == 0 ||
           idx_refuse(parser, "has %d numbers, and must have two for each axis",
                      count);
}

static bool read_matrix(struct idx_parser *parser, struct piece value)
{
    struct idx_header *out = parser->out;
    struct piece word;

    while (next_word(&value, &word)) {
        if (out->matrix_count == IDX_MATRIX)
            return idx_refuse(parser, "has more than %d numbers", IDX_MATRIX);
        if (!idx_real(parser, word, &out->matrix[out->matrix_count++]))
            return false;
    }
    return true;
}

static bool read_io_mode(struct idx_parser *parser, struct piece value)
{
    return is_text(value, "idx") ||
           idx_refuse(parser,
                      "'%.*s' is a format of PIDX that is not read; only idx "
                      "is",
                      shown(value), value.at);
}

static bool read_endian(struct idx_parser *parser, struct piece value)
{
    parser->out->big_endian = is_text(value, "big");
    return parser->out->big_endian || is_text(value, "little") ||
           idx_refuse(parser, "'%.*s' is neither little nor big", shown(value),
                      value.at);
}

static bool read_compression(struct idx_parser *parser, struct piece value)
{
    int64_t type = 0;

    if (!one_integer(parser, value, 0, INT32_MAX, &type))
        return false;
    return type == 0 || idx_refuse(parser,
                                   "PIDX's own compression (type %lld) "
                                   "is not read",
                                   (long long)type);
}

/* ---- forms --------------------------------------------------------------- */

bool idx_read_key(struct idx_parser *parser, struct piece name,
                  struct piece value)
{
    for (int i = 0; i < KEY_COUNT; i++) {
        if (!is_text(name, parser->xml ? keys[i].xml : keys[i].text))
            continue;
        parser->key = (enum idx_key)i;
        if (parser->seen[i])
            return idx_refuse(parser,
                              "is there twice; the first is in line "
                              "%zu",
                              parser->seen[i]);
        parser->seen[i] = parser->line;
        return keys[i].read(parser, trimmed(value));
    }
    return true;
}

/* A known key and more in one line is not what it looks like. */
static bool check_alone(struct idx_parser *parser, struct piece line)
{
    for (int i = 0; i < KEY_COUNT; i++) {
        size_t length = strlen(keys[i].text);

        if (line.length <= length || memcmp(line.at, keys[i].text, length) != 0)
            continue;
        parser->key = (enum idx_key)i;
        return idx_refuse(parser, "stands in a line with something else; a "
                                  "value begins in the next line");
    }
    return true;
}

/* Without a comment: "#", at the beginning or behind a blank. */
static struct piece without_comment(struct piece line)
{
    for (size_t i = 0; i < line.length; i++)
        if (line.at[i] == '#' && (i == 0 || is_blank(line.at[i - 1])))
            line.length = i;
    return trimmed(line);
}

/* 'room' has as many bytes as the text: a value's lines are joined there. */
static bool parse_lines(struct idx_parser *parser, const char *text,
                        size_t size, char *room)
{
    struct text_lines lines = {text, text + size};
    struct piece line, key = {NULL, 0}, value = {room, 0};
    size_t number = 0;

    while (next_line(&lines, &line)) {
        number++;
        line = without_comment(line);
        if (line.length == 0)
            continue;
        if (line.at[0] == '(') {
            if (key.at && !idx_read_key(parser, key, value))
                return false;
            key = line;
            value.length = 0;
            parser->line = number;
            if (!check_alone(parser, line))
                return false;
        } else if (!key.at) {
            snprintf(parser->message->text, sizeof(parser->message->text),
                     "line %zu: a header begins with a key, such as (version)",
                     number);
            return false;
        } else {
            if (value.length)
                room[value.length++] = ' ';
            memcpy(room + value.length, line.at, line.length);
            value.length += line.length;
        }
    }
    return !key.at || idx_read_key(parser, key, value);
}

static bool parse_text(struct idx_parser *parser, const char *text, size_t size)
{
    char *room = malloc(size + 1);
    bool ok = room && parse_lines(parser, text, size, room);

    if (!room)
        snprintf(parser->message->text, sizeof(parser->message->text),
                 "there is no memory");
    free(room);
    return ok;
}

/* ---- what goes together -------------------------------------------------- */

static bool check_present(struct idx_parser *parser)
{
    static const struct {
        enum idx_key key;
        const char *what;
    } needed[] = {
        {KEY_VERSION, "is it one of an IDX dataset?"},
        {KEY_BOX, "it says which samples there are"},
        {KEY_BITS, "it says in which order samples are"},
        {KEY_BLOCK_BITS, "add the one that the dataset was written with"},
        {KEY_FILE_BLOCKS, "add the one that the dataset was written with"},
        {KEY_FIELDS, "it lists the variables"}};

    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        if (!parser->seen[needed[i].key])
            return idx_refuse_key(parser, needed[i].key, "%s", needed[i].what);
    return true;
}

/* The mask covers the box; pairs beyond its axes are just 0. */
static bool check_box(struct idx_parser *parser)
{
    struct idx_header *out = parser->out;

    out->ndims = parser->mask_axes;
    if (parser->pairs < out->ndims)
        return idx_refuse_key(parser, KEY_BOX,
                              "has %d axes, but the mask has %d", parser->pairs,
                              out->ndims);
    idx_order_complete(&out->order);
    for (int i = 0; i < parser->pairs; i++) {
        int64_t covered = i < 3 ? (int64_t)1 << out->order.left[0][2 - i] : 1;

        if (parser->box[2 * i + 1] > covered)
            return idx_refuse_key(parser, KEY_BITS,
                                  "has %lld samples along axis %d, but the box "
                                  "ends after sample %lld",
                                  (long long)covered, i,
                                  (long long)parser->box[2 * i + 1] - 1);
        if (i < 3) {
            out->box.lo[2 - i] = parser->box[2 * i];
            out->box.hi[2 - i] = parser->box[2 * i + 1];
        }
    }
    for (int i = parser->pairs; i < 3; i++)
        out->box.hi[2 - i] = 1;
    return true;
}

static bool check_blocks(struct idx_parser *parser)
{
    struct idx_header *out = parser->out;
    size_t largest = 0;

    if (parser->block_bits > out->order.bits)
        return idx_refuse_key(parser, KEY_BLOCK_BITS,
                              "a block of 2^%lld samples is more than the 2^%d "
                              "of the mask",
                              (long long)parser->block_bits, out->order.bits);
    out->order.block_bits = (int)parser->block_bits;
    for (size_t i = 0; i < out->field_count; i++)
        if (out->fields[i].sample_bytes > largest)
            largest = out->fields[i].sample_bytes;
    if (largest > (size_t)INT32_MAX >> out->order.block_bits)
        return idx_refuse_key(parser, KEY_BLOCK_BITS,
                              "a block of 2^%d samples of %zu bytes is more "
                              "than 2 GiB",
                              out->order.block_bits, largest);
    if (out->field_count > ((uint64_t)1 << 50) / (uint64_t)out->blocks_per_file)
        return idx_refuse_key(
            parser, KEY_FILE_BLOCKS, "no file has %lld blocks of %zu fields",
            (long long)out->blocks_per_file, out->field_count);
    if (out->arco == 0)
        return true;
    if (out->version < 6)
        return idx_refuse_key(parser, KEY_ARCO, "needs version 6");
    if (out->blocks_per_file != 1 ||
        (uint64_t)out->arco != (uint64_t)largest << out->order.block_bits)
        return idx_refuse_key(parser, KEY_ARCO,
                              "files of %lld bytes are not blocks of 2^%d "
                              "samples of %zu bytes, one in a file",
                              (long long)out->arco, out->order.block_bits,
                              largest);
    return true;
}

/* One file can only have the blocks and the step that it has room for. */
static bool check_names(struct idx_parser *parser)
{
    struct idx_header *out = parser->out;

    if (out->arco || !out->name_template)
        return true;
    if (out->version < 5 &&
        strchr(out->name_template, '%') != strrchr(out->name_template, '%'))
        return idx_refuse_key(
            parser, KEY_TEMPLATE,
            "has more than one number, which version %d does not have",
            out->version);
    if (strchr(out->name_template, '%'))
        return true;
    if (idx_order_blocks(&out->order) > (uint64_t)out->blocks_per_file)
        return idx_refuse_key(
            parser, KEY_TEMPLATE,
            "is one file, of %lld blocks, but there are "
            "%llu",
            (long long)out->blocks_per_file,
            (unsigned long long)idx_order_blocks(&out->order));
    return true;
}

/* ---- positions ----------------------------------------------------------- */

/* A matrix of columns^2 values that only stretches and moves. */
static bool is_plain(const double *matrix, int columns)
{
    for (int row = 0; row < columns - 1; row++)
        for (int column = 0; column < columns - 1; column++)
            if ((row == column) == (matrix[row * columns + column] == 0))
                return false;
    return true;
}

static bool place_by_matrix(struct idx_parser *parser)
{
    struct idx_header *out = parser->out;
    int columns = 1;

    while (columns * columns < out->matrix_count)
        columns++;
    if (columns * columns != out->matrix_count || columns <= out->ndims)
        return idx_refuse_key(
            parser, KEY_MATRIX, "has %d numbers, but %d axes need %d",
            out->matrix_count, out->ndims, (out->ndims + 1) * (out->ndims + 1));
    if (!is_plain(out->matrix, columns))
        return true;
    for (int i = 0; i < out->ndims; i++) {
        const double *row = &out->matrix[i * columns];

        out->spacing[2 - i] = row[i];
        out->origin[2 - i] =
            row[i] * (double)out->box.lo[2 - i] + row[columns - 1];
    }
    out->matrix_count = 0; /* nothing is left to tell */
    return true;
}

static bool place(struct idx_parser *parser)
{
    struct idx_header *out = parser->out;

    for (int axis = 0; axis < 3; axis++) {
        out->origin[axis] = (double)out->box.lo[axis];
        out->spacing[axis] = 1;
    }
    if (!parser->seen[KEY_PHYSICAL])
        return !parser->seen[KEY_MATRIX] || place_by_matrix(parser);
    out->matrix_count = 0;
    if (parser->physical_pairs < out->ndims)
        return idx_refuse_key(parser, KEY_PHYSICAL,
                              "has %d axes, but the mask has %d",
                              parser->physical_pairs, out->ndims);
    for (int i = 0; i < out->ndims; i++) {
        double first = parser->physical[2 * i];
        double spacing = (parser->physical[2 * i + 1] - first) /
                         (double)(out->box.hi[2 - i] - out->box.lo[2 - i]);

        if (spacing == 0) {
            out->flat = true;
            continue;
        }
        if (!isfinite(spacing))
            return idx_refuse_key(parser, KEY_PHYSICAL,
                                  "is too large along axis %c",
                                  axis_names[2 - i]);
        out->origin[2 - i] = first;
        out->spacing[2 - i] = spacing;
    }
    return true;
}

/* ---- all of it ----------------------------------------------------------- */

static bool complete(struct idx_parser *parser)
{
    struct idx_header *out = parser->out;

    if (!check_present(parser) || !check_box(parser) || !check_blocks(parser) ||
        !check_names(parser) || !place(parser))
        return false;
    if (!out->time_template) {
        out->time_template = strdup("");
        if (!out->time_template)
            return idx_refuse_key(parser, KEY_TIME, "there is no memory");
    }
    if (!parser->seen[KEY_TIME])
        return idx_add_steps(parser, (struct piece){"0", 1},
                             (struct piece){"0", 1}, (struct piece){"1", 1});
    return true;
}

bool idx_parse(struct idx_header *out, const void *bytes, size_t size,
               struct idx_message *message)
{
    struct idx_parser parser = {.out = out, .message = message};
    const char *text = bytes;
    size_t first = 0;

    *out = (struct idx_header){0};
    if (memchr(text, '\0', size)) {
        snprintf(message->text, sizeof(message->text),
                 "is not text, so it is not the header of an IDX dataset");
        return false;
    }
    while (first < size && strchr(" \t\r\n", text[first]))
        first++;
    parser.xml = first < size && text[first] == '<';
    return (parser.xml ? idx_parse_xml(&parser, text, size)
                       : parse_text(&parser, text, size)) &&
           complete(&parser);
}

void idx_release(struct idx_header *header)
{
    for (size_t i = 0; i < header->field_count; i++)
        free(header->fields[i].name);
    free(header->fields);
    free(header->steps);
    free(header->name_template);
    free(header->time_template);
    *header = (struct idx_header){0};
}
