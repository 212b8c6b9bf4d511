/* where.c -- conditions on particles, from a text.
 *
 *     text       = chain { ("&&" | "and") chain }
 *     chain      = operand comparison operand { comparison operand }
 *     operand    = name [ "[" component "]" ] | number
 *     comparison = "<" | "<=" | ">" | ">=" | "=="
 *
 * Of two neighbours in a chain one is a name and one is a number. */
#include "where.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "suggest.h"
#include "where_number.h"

enum { LONGEST = 256 }; /* bytes of a name, with its end */

struct parser {
    const char *text, *at;
    const struct where_variable *variables;
    size_t count;
    struct where *out;
    char *message;
    size_t bytes;
};

/* A variable's component, or a number. */
struct operand {
    const char *at; /* where it is in the text */
    bool is_number;
    struct where_number number;
    size_t variable;
    int component;
};

/* "at 'mass ! 5' (character 6): ..." */
__attribute__((format(printf, 3, 4))) static bool
refuse(const struct parser *parser, const char *at, const char *format, ...)
{
    int used = snprintf(parser->message, parser->bytes,
                        *at ? "at character %zu, '%.30s': " : "at the end: ",
                        (size_t)(at - parser->text) + 1, at);
    va_list list;

    va_start(list, format);
    if (used >= 0 && (size_t)used < parser->bytes)
        vsnprintf(parser->message + used, parser->bytes - (size_t)used, format,
                  list);
    va_end(list);
    return false;
}

static void skip_blanks(struct parser *parser)
{
    while (isspace((unsigned char)*parser->at))
        parser->at++;
}

static bool is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_name_part(char c)
{
    return is_name_start(c) || isdigit((unsigned char)c) || c == '.';
}

/* Whether a word comes next, in any case and not as part of a longer one. */
static bool is_word(const char *at, const char *word)
{
    size_t length = strlen(word);

    return strncasecmp(at, word, length) == 0 && !is_name_part(at[length]);
}

/* ---- what is not there --------------------------------------------------- */

/* Tell about what people may expect to be understood; false if there is none of
 * it. */
static bool refuse_unsupported(const struct parser *parser)
{
    const char *at = parser->at;

    if (strncmp(at, "||", 2) == 0 || is_word(at, "or"))
        return !refuse(
            parser, at,
            "'or' is not supported, all conditions must hold; make a "
            "query for each side, and join the results");
    if (strncmp(at, "!=", 2) == 0 || strncmp(at, "<>", 2) == 0)
        return !refuse(parser, at,
                       "'not equal' is not supported; make a query with < and "
                       "one with >, and join the results");
    if (*at == '!' || *at == '~' || is_word(at, "not"))
        return !refuse(parser, at,
                       "'not' is not supported; write the opposite comparison, "
                       "such as >= for <");
    if (*at == '(' || *at == ')')
        return !refuse(
            parser, at,
            "parentheses are not supported, and not needed where all "
            "conditions must hold; leave them out");
    if (*at == '=' && at[1] != '=')
        return !refuse(parser, at,
                       at[1] == '>'   ? "write >= for this comparison"
                       : at[1] == '<' ? "write <= for this comparison"
                                      : "write == to compare");
    if (*at == '&' && at[1] != '&')
        return !refuse(parser, at, "write && or 'and' between conditions");
    if (*at && strchr("+-*/%^", *at))
        return !refuse(parser, at,
                       "there is no arithmetic here; compare a variable with a "
                       "number");
    return false;
}

/* ---- names --------------------------------------------------------------- */

static bool find_variable(const struct parser *parser, const char *name,
                          size_t *out)
{
    for (size_t i = 0; i < parser->count; i++)
        if (strcmp(parser->variables[i].name, name) == 0) {
            *out = i;
            return true;
        }
    return false;
}

/* x, y or z; -1 if the name is none of them, or the position has no such. */
static int axis_of(const struct parser *parser, const char *name)
{
    int axis = name[0] - 'x';

    if (parser->count == 0 || name[0] == '\0' || name[1] != '\0' || axis < 0 ||
        axis > 2 || axis >= parser->variables[0].components)
        return -1;
    return axis;
}

static bool refuse_name(const struct parser *parser, const char *at,
                        const char *name)
{
    struct suggestion near = {.word = name};
    char list[512] = "";

    for (size_t i = 0; i < parser->count; i++) {
        size_t used = strlen(list);

        suggestion_offer(&near, parser->variables[i].name);
        snprintf(list + used, sizeof(list) - used, "%s%s", used ? ", " : "",
                 parser->variables[i].name);
    }
    if (near.best)
        return refuse(parser, at,
                      "there is no variable '%s'; did you mean '%s'? There are "
                      "%s",
                      name, near.best, list);
    return refuse(parser, at, "there is no variable '%s'; there are %s", name,
                  list[0] ? list : "none");
}

/* A name as it is, or in quotes. */
static bool take_name(struct parser *parser, char *out)
{
    const char *start = parser->at, *end;
    size_t length;

    if (*start == '\'' || *start == '"') {
        end = strchr(start + 1, *start);
        if (!end)
            return refuse(parser, start, "the quote is not closed");
        parser->at = end + 1;
        start++;
    } else {
        for (end = start; is_name_part(*end);)
            end++;
        parser->at = end;
    }
    length = (size_t)(end - start);
    if (length == 0 || length >= LONGEST)
        return refuse(parser, start, "a name has 1 to %d bytes", LONGEST - 1);
    memcpy(out, start, length);
    out[length] = '\0';
    return true;
}

/* "[2]" after a name; *component stays as it is if there is none. */
static bool take_component(struct parser *parser, int *component)
{
    const char *start = parser->at;
    char *end;
    long value;

    if (*start != '[')
        return true;
    if (!isdigit((unsigned char)start[1]))
        return refuse(parser, start, "write the component as [0]");
    value = strtol(start + 1, &end, 10);
    while (isspace((unsigned char)*end))
        end++;
    if (*end != ']')
        return refuse(parser, start, "the bracket is not closed");
    *component = value > INT16_MAX ? INT16_MAX : (int)value;
    parser->at = end + 1;
    return true;
}

/* Some names have brackets themselves, as those of LAMMPS do: c_stress[1]. */
static bool with_brackets(const struct parser *parser, const char *from,
                          const char *name, size_t *out)
{
    char whole[2 * LONGEST];
    size_t length = strlen(name), more = (size_t)(parser->at - from);

    if (more == 0 || length + more >= sizeof(whole))
        return false;
    memcpy(whole, name, length);
    memcpy(whole + length, from, more);
    whole[length + more] = '\0';
    return find_variable(parser, whole, out);
}

static bool take_variable(struct parser *parser, struct operand *out)
{
    const struct where_variable *variable;
    int component = -1, axis;
    char name[LONGEST];
    const char *behind;

    if (!take_name(parser, name))
        return false;
    behind = parser->at;
    if (!take_component(parser, &component))
        return false;
    if (with_brackets(parser, behind, name, &out->variable)) {
        component = -1;
    } else if (!find_variable(parser, name, &out->variable)) {
        axis = axis_of(parser, name);
        if (axis < 0 || component >= 0)
            return refuse_name(parser, out->at, name);
        out->variable = 0;
        component = axis;
    }
    variable = &parser->variables[out->variable];
    if (component < 0 && variable->components > 1)
        return refuse(parser, out->at,
                      "'%s' has %d components; say which: %s[0]",
                      variable->name, variable->components, variable->name);
    if (component >= variable->components)
        return refuse(parser, out->at, "'%s' has components 0 to %d",
                      variable->name, variable->components - 1);
    out->component = component < 0 ? 0 : component;
    return true;
}

/* ---- comparisons --------------------------------------------------------- */

static bool take_operand(struct parser *parser, struct operand *out)
{
    size_t length, known;

    skip_blanks(parser);
    *out = (struct operand){.at = parser->at};
    length = where_number_parse(&out->number, parser->at);
    /* A variable may be called "inf". */
    if (length && out->number.infinite &&
        find_variable(parser, "inf", &known) && *parser->at == 'i')
        length = 0;
    if (length) {
        out->is_number = true;
        parser->at += length;
        if (is_name_part(*parser->at) && !is_word(parser->at, "and"))
            return refuse(parser, out->at,
                          "this is neither a number nor a name; names that "
                          "begin so are written in quotes");
        return true;
    }
    if (is_word(parser->at, "nan"))
        if (!find_variable(parser, "nan", &known))
            return refuse(parser, parser->at,
                          "nothing compares with NaN: it is in no range");
    if (refuse_unsupported(parser))
        return false;
    if (!is_name_start(*parser->at) && *parser->at != '\'' &&
        *parser->at != '"')
        return refuse(parser, parser->at,
                      "expected the name of a variable, or a number");
    return take_variable(parser, out);
}

/* True if there is one; *fine is false if something else is there. */
static bool take_comparison(struct parser *parser, enum where_comparison *out,
                            bool *fine)
{
    static const struct {
        const char *text;
        enum where_comparison comparison;
    } known[] = {{"<=", WHERE_AT_MOST},
                 {">=", WHERE_AT_LEAST},
                 {"==", WHERE_EQUAL},
                 {"<", WHERE_LESS},
                 {">", WHERE_MORE}};

    skip_blanks(parser);
    *fine = !refuse_unsupported(parser);
    for (size_t i = 0; *fine && i < sizeof(known) / sizeof(known[0]); i++) {
        size_t length = strlen(known[i].text);

        if (strncmp(parser->at, known[i].text, length) == 0) {
            *out = known[i].comparison;
            parser->at += length;
            return true;
        }
    }
    return false;
}

/* number < name is name > number. */
static enum where_comparison mirrored(enum where_comparison comparison)
{
    static const enum where_comparison other[] = {
        [WHERE_LESS] = WHERE_MORE,
        [WHERE_AT_MOST] = WHERE_AT_LEAST,
        [WHERE_MORE] = WHERE_LESS,
        [WHERE_AT_LEAST] = WHERE_AT_MOST,
        [WHERE_EQUAL] = WHERE_EQUAL};

    return other[comparison];
}

/* The range of a component that was named before, or a new one. */
static struct where_range *range_for(struct where *where,
                                     const struct operand *name, bool *is_new)
{
    size_t room = where->room ? 2 * where->room : 8;

    *is_new = false;
    for (size_t i = 0; i < where->count; i++)
        if (where->ranges[i].variable == name->variable &&
            where->ranges[i].component == name->component)
            return &where->ranges[i];
    if (where->count == where->room) {
        struct where_range *ranges =
            realloc(where->ranges, room * sizeof(*ranges));

        if (!ranges)
            return NULL;
        where->ranges = ranges;
        where->room = room;
    }
    *is_new = true;
    return &where->ranges[where->count++];
}

static bool add_condition(struct parser *parser, const struct operand *left,
                          enum where_comparison comparison,
                          const struct operand *right)
{
    const struct operand *name = left->is_number ? right : left;
    const struct operand *number = left->is_number ? left : right;
    struct where *where = parser->out;
    struct where_range *range;
    bouma_value low, high;
    bouma_type type;
    bool is_new, some;

    if (left->is_number == right->is_number)
        return refuse(parser, left->at,
                      left->is_number
                          ? "two numbers are compared; name a variable"
                          : "two variables are compared, which is not "
                            "supported; compare each with a number");
    type = parser->variables[name->variable].type;
    some = where_number_range(
        &number->number, type,
        left->is_number ? mirrored(comparison) : comparison, &low, &high);
    range = range_for(where, name, &is_new);
    if (!range)
        return refuse(parser, left->at, "out of memory");
    if (is_new)
        *range =
            (struct where_range){name->variable, name->component, low, high};
    else if (some)
        some = where_intersect(type, &range->low, &range->high, low, high);
    where->never = where->never || !some;
    return true;
}

static bool take_chain(struct parser *parser)
{
    struct operand left, right;
    enum where_comparison comparison;
    int count = 0;
    bool fine;

    if (!take_operand(parser, &left))
        return false;
    while (take_comparison(parser, &comparison, &fine)) {
        if (!take_operand(parser, &right) ||
            !add_condition(parser, &left, comparison, &right))
            return false;
        left = right;
        count++;
    }
    if (fine && count == 0)
        return refuse(parser, parser->at,
                      "expected a comparison: <, <=, >, >= or ==");
    return fine;
}

static bool take_and(struct parser *parser)
{
    skip_blanks(parser);
    if (strncmp(parser->at, "&&", 2) == 0)
        parser->at += 2;
    else if (is_word(parser->at, "and"))
        parser->at += 3;
    else
        return false;
    return true;
}

bool where_compile(struct where *out, const char *text,
                   const struct where_variable *variables, size_t count,
                   char *message, size_t bytes)
{
    struct parser parser = {.text = text,
                            .at = text,
                            .variables = variables,
                            .count = count,
                            .out = out,
                            .message = message,
                            .bytes = bytes};

    *out = (struct where){0};
    message[0] = '\0';
    do {
        if (!take_chain(&parser))
            return false;
    } while (take_and(&parser));
    if (*parser.at != '\0')
        return refuse(&parser, parser.at,
                      "expected && and another condition, or the end");
    return true;
}

void where_release(struct where *where)
{
    free(where->ranges);
    *where = (struct where){0};
}
