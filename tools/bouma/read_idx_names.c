/* read_idx_names.c -- the timesteps of an IDX dataset, and the names of its
 * files: templates, and what they become. */
#include <stdio.h>
#include <stdlib.h>

#include "number_text.h"
#include "read_idx_parse.h"

/* ---- templates ----------------------------------------------------------- */

/* The length of a "%0Nx" or, with 'd', "%0Nd", "%Nd", "%d" at 'at', and N; 0 if
 * there is none. */
static size_t conversion(const char *at, char letter, int *digits, bool *zeros)
{
    size_t length = 1;

    *zeros = at[length] == '0';
    length += *zeros;
    *digits = 0;
    while (at[length] >= '0' && at[length] <= '9' && *digits < 100)
        *digits = 10 * *digits + (at[length++] - '0');
    return at[length] == letter ? length + 1 : 0;
}

bool idx_read_template(struct idx_parser *parser, struct piece value)
{
    char *text = parser->out->name_template = idx_keep(parser, value);
    bool zeros;
    int digits;

    if (!text)
        return false;
    if (!text[0])
        return idx_refuse(parser, "is empty");
    for (const char *at = text; (at = strchr(at, '%')); at++)
        if (!conversion(at, 'x', &digits, &zeros) || !zeros || digits < 1 ||
            digits > 9)
            return idx_refuse(parser, "'%.20s' is not of the form %%04x", at);
    return true;
}

bool idx_set_time_template(struct idx_parser *parser, struct piece value)
{
    char *text = idx_keep(parser, value);
    const char *at;
    bool zeros;
    int digits;

    if (!text)
        return false;
    free(parser->out->time_template);
    parser->out->time_template = text;
    at = strchr(text, '%');
    if (at && (!conversion(at, 'd', &digits, &zeros) || digits > 30 ||
               strchr(at + 1, '%')))
        return idx_refuse(parser,
                          "'%.40s' does not have one number of the "
                          "form %%04d",
                          text);
    return true;
}

/* ---- timesteps ----------------------------------------------------------- */

/* A timestep is a real number, but only whole ones can be told apart. */
static bool read_step(struct idx_parser *parser, struct piece word,
                      int64_t least, int64_t *out)
{
    double number;

    if (!idx_real(parser, word, &number))
        return false;
    if (!(number >= (double)least && number <= (double)STEP_MOST) ||
        number != (double)(int64_t)number)
        return idx_refuse(parser,
                          "'%.*s' is not a whole number from %lld to "
                          "2^53",
                          word.length < 40 ? (int)word.length : 40, word.at,
                          (long long)least);
    *out = (int64_t)number;
    return true;
}

/* Room for one more range: it doubles at powers of two. */
static bool grow_steps(struct idx_header *out)
{
    size_t count = out->step_count;
    struct step_range *steps = out->steps;

    if (count & (count - 1))
        return true;
    steps = realloc(steps, (count ? 2 * count : 1) * sizeof(*steps));
    if (steps)
        out->steps = steps;
    return steps;
}

bool idx_add_steps(struct idx_parser *parser, struct piece first,
                   struct piece last, struct piece step)
{
    struct idx_header *out = parser->out;
    struct step_range *range;

    if (!grow_steps(out))
        return idx_refuse(parser, "there is no memory");
    range = &out->steps[out->step_count];
    if (!read_step(parser, first, 0, &range->first) ||
        !read_step(parser, last, 0, &range->last) ||
        !read_step(parser, step, 1, &range->step))
        return false;
    if (range->last < range->first)
        return idx_refuse(parser, "timestep %lld is before the first, %lld",
                          (long long)range->last, (long long)range->first);
    out->step_count++;
    return true;
}

/* "(a,b,step)", and step over it. */
static bool read_range(struct idx_parser *parser, struct piece *rest)
{
    const char *close = memchr(rest->at, ')', rest->length);
    const char *at = rest->at + 1;
    bool ok = rest->at[0] == '(' && close;
    struct piece part[3];

    for (int i = 0; ok && i < 3; i++) {
        const char *end = i < 2 ? memchr(at, ',', (size_t)(close - at)) : close;

        ok = end != NULL;
        if (ok)
            part[i] = trimmed((struct piece){at, (size_t)(end - at)});
        at = ok ? end + 1 : at;
    }
    if (!ok)
        return idx_refuse(parser, "'%.*s' is not of the form (a,b,step)",
                          rest->length < 40 ? (int)rest->length : 40, rest->at);
    rest->length -= (size_t)(close + 1 - rest->at);
    rest->at = close + 1;
    return idx_add_steps(parser, part[0], part[1], part[2]);
}

/* "A B TEMPLATE", "* * TEMPLATE" or "TEMPLATE (a,b,step)...". */
bool idx_read_time(struct idx_parser *parser, struct piece value)
{
    struct piece first, second, name;
    struct number_text number;

    if (!next_word(&value, &first))
        return idx_refuse(parser, "has no value");
    number_text_parse(&number, first.at, first.length);
    if (number.kind != NUMBER_NONE || is_text(first, "*")) {
        if (!next_word(&value, &second))
            return idx_refuse(parser, "has one timestep, and must have the "
                                      "first and the last");
        if (!is_text(first, "*") &&
            !idx_add_steps(parser, first, second, (struct piece){"1", 1}))
            return false;
        next_word(&value, &name);
        return idx_set_time_template(parser, name);
    }
    for (value = trimmed(value); value.length; value = trimmed(value))
        if (!read_range(parser, &value))
            return false;
    if (!parser->out->step_count)
        return idx_refuse(parser, "has no timesteps");
    return idx_set_time_template(parser, first);
}

/* ---- names --------------------------------------------------------------- */

/* A text that grows, up to its end. */
struct name {
    char *at;
    size_t left;
};

static void add(struct name *name, const char *text, size_t length)
{
    if (length < name->left) {
        memcpy(name->at, text, length);
        name->at += length;
        name->left -= length;
    } else {
        name->left = 0;
    }
}

static void add_number(struct name *name, const char *format, int digits,
                       uint64_t number)
{
    char text[64];
    int length = snprintf(text, sizeof(text), format, digits, number);

    add(name, text, (size_t)length);
}

static void add_time(struct name *name, const struct idx_header *header,
                     int64_t step)
{
    const char *text = header->time_template, *at = strchr(text, '%');
    size_t length;
    bool zeros;
    int digits;

    if (!at) {
        add(name, text, strlen(text));
        return;
    }
    length = conversion(at, 'd', &digits, &zeros);
    add(name, text, (size_t)(at - text));
    add_number(name, zeros ? "%0*lu" : "%*lu", digits, (uint64_t)step);
    add(name, at + length, strlen(at + length));
}

/* "./" and "$(CurrentFileDirectory)" are the directory of the header. */
static const char *add_directory(struct name *name, const char *text,
                                 const char *path)
{
    static const char here[] = "$(CurrentFileDirectory)";
    const char *slash = strrchr(path, '/');
    size_t skip = 0;

    if (strncmp(text, here, sizeof(here) - 1) == 0)
        skip = sizeof(here) - 1;
    else if (strncmp(text, "./", 2) == 0)
        skip = 1;
    if (skip && slash)
        add(name, path, (size_t)(slash - path));
    else if (skip)
        add(name, ".", 1);
    return text + skip;
}

/* The low digits of a number, but for those below. */
static void add_digits(struct name *name, uint64_t number, int below,
                       int digits)
{
    number = below < 64 ? number >> below : 0;
    add_number(name, "%0*lx", digits,
               number & (((uint64_t)1 << 4 * digits) - 1));
}

/* The leftmost piece of a template. Digits that are left over are put before it,
 * in directories as wide; in old versions, they make it wider. */
static void add_leftmost(struct name *name, int version, uint64_t number,
                         int below, int digits)
{
    int more = below + 4 * digits;

    if (version < 5) {
        add_number(name, "%0*lx", digits, number);
        return;
    }
    while (more < 64 && number >> more)
        more += 4 * digits;
    for (more -= 4 * digits; more > below; more -= 4 * digits) {
        add_digits(name, number, more, digits);
        add(name, "/", 1);
    }
    add_digits(name, number, below, digits);
}

/* A template: of the pieces in it, those to the right have the low digits of the
 * number. The time is put before the first. */
static void add_pieces(struct name *name, const struct idx_header *header,
                       const char *text, int64_t step, uint64_t number)
{
    const char *first = strchr(text, '%');
    int digits, below = 0;
    bool zeros;

    for (const char *at = first; at; at = strchr(at + 1, '%')) {
        conversion(at, 'x', &digits, &zeros);
        below += 4 * digits;
    }
    for (const char *at = first; at; at = strchr(text, '%')) {
        size_t length = conversion(at, 'x', &digits, &zeros);

        add(name, text, (size_t)(at - text));
        below -= 4 * digits;
        if (at == first) {
            add_time(name, header, step);
            add_leftmost(name, header->version, number, below, digits);
        } else {
            add_digits(name, number, below, digits);
        }
        text = at + length;
    }
    add(name, text, strlen(text));
}

/* The name of the header without its suffix: its directory is left out. */
static struct piece stem_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *point = strrchr(name, '.');

    return (struct piece){name, point ? (size_t)(point - name) : strlen(name)};
}

/* STEM/STEP/FIELD/hhhh/hhhh/hhhh/hhhh.bin */
static void add_block_file(struct name *name, const struct idx_header *header,
                           const char *path, const struct idx_place *place)
{
    struct piece stem = stem_of(path);
    const char *field = header->fields[place->field].name;

    add_directory(name, "./", path);
    add(name, "/", 1);
    add(name, stem.at, stem.length);
    add_number(name, "/%0*lu/", 1, (uint64_t)place->step);
    add(name, field, strlen(field));
    for (int shift = 48; shift >= 0; shift -= 16)
        add_number(name, "/%0*lx", 4, place->block >> shift & 0xffff);
    add(name, ".bin", 4);
}

/* The name of a header without a template: STEM/%04x.bin, with "/%02x" for each
 * 8 bits of block numbers beyond 16. */
static void add_default(struct name *name, const struct idx_header *header,
                        const char *path, int64_t step, uint64_t number)
{
    struct piece stem = stem_of(path);
    char text[64];
    struct name template = {text, sizeof(text)};

    for (int bits = header->order.bits - header->order.block_bits; bits > 16;
         bits -= 8)
        add(&template, "/%02x", 5);
    add(&template, "/%04x.bin", 10);
    add_directory(name, "./", path);
    add(name, "/", 1);
    add(name, stem.at, stem.length);
    add_pieces(name, header, text, step, number);
}

bool idx_file_name(char *out, size_t bytes, const struct idx_header *header,
                   const char *path, const struct idx_place *place)
{
    uint64_t first =
        place->block - place->block % (uint64_t)header->blocks_per_file;
    struct name name = {out, bytes};
    const char *text = header->name_template;

    if (header->arco) {
        add_block_file(&name, header, path, place);
    } else if (!text) {
        add_default(&name, header, path, place->step, first);
    } else {
        text = add_directory(&name, text, path);
        add_pieces(&name, header, text, place->step, first);
    }
    if (!name.left)
        return false;
    *name.at = '\0';
    return true;
}

bool idx_names_have_time(const struct idx_header *header)
{
    if (header->arco)
        return true;
    return strchr(header->time_template, '%') &&
           (!header->name_template || strchr(header->name_template, '%'));
}
