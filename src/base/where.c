/* where.c -- conditions on particles, from a text.
 *
 *     either     = both { ("||" | "or") both }
 *     both       = negated { ("&&" | "and") negated }
 *     negated    = { "not" } any
 *     any        = all { "|" all }
 *     all        = one { "&" one }
 *     one        = { "!" | "~" } "(" either ")" | chain
 *     chain      = operand comparison operand { comparison operand }
 *     operand    = name [ "[" component "]" ] | number
 *     comparison = "<" | "<=" | ">" | ">=" | "==" | "!="
 *
 * So operators bind as in C and in Python, but for comparisons, which bind most
 * tightly. Of two neighbours in a chain one is a name and one is a number. A
 * negation is carried down to the comparisons: there are only "and" and "or" of
 * ranges. */
#include "base/where.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "base/plain_text.h"
#include "base/where_groups.h"
#include "base/where_number.h"

enum { LONGEST = 256 }; /* bytes of a name, with its end */

struct parser {
    const char *text, *at;
    const struct bm_where_variable *variables;
    size_t count;
    int depth, terms;
    const bouma_allocator *a;
    struct bm_error *error;
};

/* A variable's component, or a number. */
struct operand {
    const char *at; /* where it is in the text */
    bool is_number;
    struct bm_where_number number;
    size_t variable;
    int component;
};

/* ---- messages ------------------------------------------------------------ */

static bool is_inside_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80; /* of UTF-8 */
}

static size_t character_of(const struct parser *parser, const char *at)
{
    size_t n = 1;

    for (const char *c = parser->text; c < at; c++)
        n += !is_inside_character(*c);
    return n;
}

/* "at character 6, '! 5': ..." */
BM_PRINTF(4, 5)
static int refuse(const struct parser *parser, int status, const char *at,
                  const char *format, ...)
{
    char why[BM_ERROR_BYTES];
    int shown = (int)strnlen(at, 30);
    va_list list;

    va_start(list, format);
    bm_format_list(why, sizeof(why), format, list);
    va_end(list);
    while (shown > 0 && is_inside_character(at[shown]))
        shown--;
    if (!*at)
        return bm_fail(parser->error, status, "at the end: %s", why);
    return bm_fail(parser->error, status, "at character %zu, '%.*s': %s",
                   character_of(parser, at), shown, at, why);
}

/* What joining groups gives. */
static int tell(const struct parser *parser, int rc)
{
    if (rc == BOUMA_ENOMEM)
        return bm_fail(parser->error, rc, "no memory for conditions");
    if (rc == BOUMA_ELIMIT)
        return refuse(parser, rc, parser->at,
                      "up to here the conditions are too many combinations: "
                      "written as an 'or' of 'and's, they may be %d, of %d "
                      "ranges in all",
                      BM_WHERE_GROUPS, BM_WHERE_RANGES);
    return rc;
}

/* ---- words --------------------------------------------------------------- */

/* As in the locale "C". */
static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static bool is_name_part(char c)
{
    return is_name_start(c) || is_digit(c) || c == '.';
}

static void skip_blanks(struct parser *parser)
{
    while (is_blank(*parser->at))
        parser->at++;
}

/* Whether a word comes next, in any case and not as part of a longer one. */
static bool is_word(const char *at, const char *word)
{
    size_t length = strlen(word);

    return strncasecmp(at, word, length) == 0 && !is_name_part(at[length]);
}

/* Take an operator that comes next: the sign, or the word. "|" is not the
 * beginning of "||"; NULL: there is none. */
static bool take(struct parser *parser, const char *sign, const char *word)
{
    size_t length = sign ? strlen(sign) : 0;

    skip_blanks(parser);
    if (sign && strncmp(parser->at, sign, length) == 0 &&
        (length > 1 || parser->at[1] != *sign || !strchr("&|", *sign))) {
        parser->at += length;
        return true;
    }
    if (!word || !is_word(parser->at, word))
        return false;
    parser->at += strlen(word);
    return true;
}

/* Tell about what people may expect to be understood. */
static int refuse_unsupported(const struct parser *parser)
{
    const char *at = parser->at;

    if (strncmp(at, "<>", 2) == 0)
        return refuse(parser, BOUMA_EINVAL, at, "write != for 'not equal'");
    if (*at == '=' && at[1] != '=')
        return refuse(parser, BOUMA_EINVAL, at,
                      at[1] == '>'   ? "write >= for this comparison"
                      : at[1] == '<' ? "write <= for this comparison"
                                     : "write == to compare");
    if (*at && strchr("+-*/%^", *at))
        return refuse(parser, BOUMA_EINVAL, at,
                      "there is no arithmetic here; compare a variable with a "
                      "number");
    return BOUMA_OK;
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

static int refuse_name(const struct parser *parser, const char *at,
                       const char *name)
{
    struct bm_nearest near = {.word = name};
    char list[320] = "";

    for (size_t i = 0; i < parser->count; i++) {
        size_t used = strlen(list);

        bm_nearest_offer(&near, parser->variables[i].name);
        snprintf(list + used, sizeof(list) - used, "%s%s", used ? ", " : "",
                 parser->variables[i].name);
    }
    if (near.best)
        return refuse(parser, BOUMA_ENOTFOUND, at,
                      "there is no variable '%.60s'; did you mean '%s'? There "
                      "are %s",
                      name, near.best, list);
    return refuse(parser, BOUMA_ENOTFOUND, at,
                  "there is no variable '%.60s'; there are %s", name,
                  list[0] ? list : "none");
}

/* A name as it is, or in quotes. */
static int take_name(struct parser *parser, char *out)
{
    const char *start = parser->at, *end;
    size_t length;

    if (*start == '\'' || *start == '"') {
        end = strchr(start + 1, *start);
        if (!end)
            return refuse(parser, BOUMA_EINVAL, start,
                          "the quote is not closed");
        parser->at = end + 1;
        start++;
    } else {
        for (end = start; is_name_part(*end);)
            end++;
        parser->at = end;
    }
    length = (size_t)(end - start);
    if (length == 0 || length >= LONGEST)
        return refuse(parser, BOUMA_EINVAL, start, "a name has 1 to %d bytes",
                      LONGEST - 1);
    memcpy(out, start, length);
    out[length] = '\0';
    return BOUMA_OK;
}

/* "[2]" after a name; *component stays as it is if there is none. */
static int take_component(struct parser *parser, int *component)
{
    const char *start = parser->at, *c = start;
    int value = 0;

    if (*c++ != '[')
        return BOUMA_OK;
    while (is_blank(*c))
        c++;
    if (!is_digit(*c))
        return refuse(parser, BOUMA_EINVAL, start,
                      "write the component as [0]");
    for (; is_digit(*c); c++)
        value = value < INT16_MAX ? 10 * value + (*c - '0') : INT16_MAX;
    while (is_blank(*c))
        c++;
    if (*c != ']')
        return refuse(parser, BOUMA_EINVAL, start, "the bracket is not closed");
    *component = value;
    parser->at = c + 1;
    return BOUMA_OK;
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

/* Which component of the variable is meant; -1: none was named. */
static int check_component(const struct parser *parser, struct operand *out,
                           int component)
{
    const struct bm_where_variable *variable =
        &parser->variables[out->variable];

    if (component < 0 && variable->components > 1)
        return refuse(parser, BOUMA_EINVAL, out->at,
                      "'%s' has %d components; say which: %s[0]",
                      variable->name, variable->components, variable->name);
    if (component >= variable->components)
        return refuse(parser, BOUMA_EINVAL, out->at,
                      "'%s' has components 0 to %d", variable->name,
                      variable->components - 1);
    out->component = component < 0 ? 0 : component;
    return BOUMA_OK;
}

static int take_variable(struct parser *parser, struct operand *out)
{
    int component = -1, axis, rc;
    char name[LONGEST];
    const char *behind;

    rc = take_name(parser, name);
    if (rc)
        return rc;
    behind = parser->at;
    rc = take_component(parser, &component);
    if (rc)
        return rc;
    if (with_brackets(parser, behind, name, &out->variable)) {
        component = -1;
    } else if (!find_variable(parser, name, &out->variable)) {
        axis = axis_of(parser, name);
        if (axis < 0 || component >= 0)
            return refuse_name(parser, out->at, name);
        out->variable = 0;
        component = axis;
    }
    return check_component(parser, out, component);
}

/* ---- comparisons --------------------------------------------------------- */

/* Instead of a number or a name. */
static int refuse_operand(const struct parser *parser)
{
    int rc = refuse_unsupported(parser);

    if (!rc && *parser->at == '(')
        rc = refuse(parser, BOUMA_EINVAL, parser->at,
                    "parentheses are put around comparisons, not around what "
                    "is compared");
    return rc ? rc
              : refuse(parser, BOUMA_EINVAL, parser->at,
                       "expected the name of a variable, or a number");
}

static int take_operand(struct parser *parser, struct operand *out)
{
    size_t length, known;

    skip_blanks(parser);
    *out = (struct operand){.at = parser->at};
    length = bm_where_number_parse(&out->number, parser->at);
    /* A variable may be called "inf". */
    if (length && out->number.infinite &&
        find_variable(parser, "inf", &known) && *parser->at == 'i')
        length = 0;
    if (length) {
        out->is_number = true;
        parser->at += length;
        if (is_name_part(*parser->at) && !is_word(parser->at, "and") &&
            !is_word(parser->at, "or"))
            return refuse(parser, BOUMA_EINVAL, out->at,
                          "this is neither a number nor a name; names that "
                          "begin so are written in quotes");
        return BOUMA_OK;
    }
    if (is_word(parser->at, "nan") && !find_variable(parser, "nan", &known))
        return refuse(parser, BOUMA_EINVAL, parser->at,
                      "nothing compares with NaN: it is in no range");
    if (is_word(parser->at, "not") && !find_variable(parser, "not", &known))
        return refuse(parser, BOUMA_EINVAL, parser->at,
                      "'not' binds less tightly than & and |; write "
                      "parentheses around it: (not ...)");
    if (!is_name_start(*parser->at) && *parser->at != '\'' &&
        *parser->at != '"')
        return refuse_operand(parser);
    return take_variable(parser, out);
}

/* What a comparison is, and what it is if it is negated. Not equal is less, or
 * more. */
struct comparison {
    enum bm_where_comparison is;
    bool unequal;
};

static const struct {
    const char *text;
    struct comparison is, negated;
} comparisons[] = {{"<=", {BM_WHERE_AT_MOST, false}, {BM_WHERE_MORE, false}},
                   {">=", {BM_WHERE_AT_LEAST, false}, {BM_WHERE_LESS, false}},
                   {"==", {BM_WHERE_EQUAL, false}, {BM_WHERE_LESS, true}},
                   {"!=", {BM_WHERE_LESS, true}, {BM_WHERE_EQUAL, false}},
                   {"<", {BM_WHERE_LESS, false}, {BM_WHERE_AT_LEAST, false}},
                   {">", {BM_WHERE_MORE, false}, {BM_WHERE_AT_MOST, false}}};

/* True if there is one. */
static bool take_comparison(struct parser *parser, bool negated,
                            struct comparison *out)
{
    skip_blanks(parser);
    if (strncmp(parser->at, "<>", 2) == 0)
        return false;
    for (size_t i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
        size_t length = strlen(comparisons[i].text);

        if (strncmp(parser->at, comparisons[i].text, length) == 0) {
            *out = negated ? comparisons[i].negated : comparisons[i].is;
            parser->at += length;
            return true;
        }
    }
    return false;
}

/* number < name is name > number. */
static enum bm_where_comparison mirrored(enum bm_where_comparison comparison)
{
    static const enum bm_where_comparison other[] = {
        [BM_WHERE_LESS] = BM_WHERE_MORE,
        [BM_WHERE_AT_MOST] = BM_WHERE_AT_LEAST,
        [BM_WHERE_MORE] = BM_WHERE_LESS,
        [BM_WHERE_AT_LEAST] = BM_WHERE_AT_MOST,
        [BM_WHERE_EQUAL] = BM_WHERE_EQUAL};

    return other[comparison];
}

/* The values of a component that compare so, as a group; none if there are no
 * such values. */
static int add_range(struct parser *parser, struct bm_where *out,
                     const struct operand *name,
                     const struct bm_where_number *number,
                     enum bm_where_comparison comparison)
{
    struct bm_where_range range = {.variable = name->variable,
                                   .component = name->component};

    if (!bm_where_number_range(number, parser->variables[name->variable].type,
                               comparison, &range.low, &range.high))
        return BOUMA_OK;
    return tell(parser, bm_where_add(out, parser->variables, &range, 1));
}

static int compare(struct parser *parser, struct bm_where *out,
                   const struct operand *left, struct comparison comparison,
                   const struct operand *right)
{
    const struct operand *name = left->is_number ? right : left;
    const struct operand *number = left->is_number ? left : right;
    int rc;

    if (left->is_number == right->is_number)
        return refuse(parser, BOUMA_EINVAL, left->at,
                      left->is_number
                          ? "two numbers are compared; name a variable"
                          : "two variables are compared, which is not "
                            "supported; compare each with a number");
    if (++parser->terms > BM_WHERE_TERMS)
        return refuse(parser, BOUMA_ELIMIT, left->at,
                      "there are more than %d comparisons", BM_WHERE_TERMS);
    rc = add_range(parser, out, name, &number->number,
                   left->is_number ? mirrored(comparison.is) : comparison.is);
    if (!rc && comparison.unequal)
        rc = add_range(parser, out, name, &number->number,
                       left->is_number ? BM_WHERE_LESS : BM_WHERE_MORE);
    return rc;
}

/* ---- "and" and "or" ------------------------------------------------------ */

/* How the parts of a text are joined: the first, and then each of the others. A
 * negated "and" is an "or". */
static int join(struct parser *parser, struct bm_where *to,
                struct bm_where *part, bool first, bool either)
{
    int rc = BOUMA_OK;

    if (first) {
        bm_where_release(to);
        *to = *part;
        *part = (struct bm_where){.a = parser->a};
    } else {
        rc = either ? bm_where_or(to, parser->variables, part)
                    : bm_where_and(to, parser->variables, part);
    }
    bm_where_release(part);
    return tell(parser, rc);
}

static int take_chain(struct parser *parser, struct bm_where *out, bool negated)
{
    struct comparison comparison;
    struct operand left, right;
    int count = 0, rc = take_operand(parser, &left);

    while (!rc && take_comparison(parser, negated, &comparison)) {
        struct bm_where part = {.a = parser->a};

        rc = take_operand(parser, &right);
        if (!rc)
            rc = compare(parser, &part, &left, comparison, &right);
        if (!rc)
            rc = join(parser, out, &part, count++ == 0, negated);
        bm_where_release(&part);
        left = right;
    }
    if (!rc)
        rc = refuse_unsupported(parser);
    if (!rc && count == 0)
        rc = refuse(parser, BOUMA_EINVAL, parser->at,
                    "expected a comparison: <, <=, >, >=, == or !=");
    return rc;
}

static int take_level(struct parser *parser, struct bm_where *out, int level,
                      bool negated);

static int take_one(struct parser *parser, struct bm_where *out, bool negated)
{
    const char *start;
    bool some = false;
    int rc;

    for (; take(parser, "!", NULL) || take(parser, "~", NULL); some = true)
        negated = !negated;
    start = parser->at;
    if (!take(parser, "(", NULL))
        return some ? refuse(parser, BOUMA_EINVAL, start,
                             "write parentheses around what is negated: "
                             "!(...)")
                    : take_chain(parser, out, negated);
    if (++parser->depth > BM_WHERE_DEPTH)
        return refuse(parser, BOUMA_ELIMIT, start,
                      "parentheses are nested more than %d deep",
                      BM_WHERE_DEPTH);
    rc = take_level(parser, out, 0, negated);
    if (!rc && !take(parser, ")", NULL))
        rc = refuse(parser, BOUMA_EINVAL, parser->at,
                    "expected ')', or & or | and another condition");
    parser->depth--;
    return rc;
}

/* From the loosest to the tightest. */
static const struct {
    const char *sign, *word;
    bool either;
} levels[] = {{"||", "or", true},
              {"&&", "and", false},
              {"|", NULL, true},
              {"&", NULL, false}};
enum { LEVELS = sizeof(levels) / sizeof(levels[0]), NEGATED = 2 };

/* A variable may be called "not". */
static bool take_not(struct parser *parser)
{
    size_t known;

    return !find_variable(parser, "not", &known) && take(parser, NULL, "not");
}

/* Parts that are joined by the operator of a level. No deeper than there are
 * levels and parentheses. */
static int take_level(struct parser *parser, struct bm_where *out, int level,
                      bool negated)
{
    bool first = true;
    int rc;

    if (level == NEGATED)
        while (take_not(parser))
            negated = !negated;
    do {
        struct bm_where part = {.a = parser->a};

        rc = level + 1 < LEVELS ? take_level(parser, &part, level + 1, negated)
                                : take_one(parser, &part, negated);
        if (!rc)
            rc = join(parser, out, &part, first,
                      levels[level].either != negated);
        bm_where_release(&part);
        first = false;
    } while (!rc && take(parser, levels[level].sign, levels[level].word));
    return rc;
}

int bm_where_compile(struct bm_where *out, const bouma_allocator *a,
                     const char *text,
                     const struct bm_where_variable *variables, size_t count,
                     struct bm_error *error)
{
    struct parser parser = {.text = text,
                            .at = text,
                            .variables = variables,
                            .count = count,
                            .a = a,
                            .error = error};
    int rc;

    *out = (struct bm_where){.a = a};
    if (strnlen(text, BM_WHERE_TEXT + 1) > BM_WHERE_TEXT)
        return bm_fail(error, BOUMA_ELIMIT,
                       "the text of conditions has more than %d bytes",
                       BM_WHERE_TEXT);
    rc = take_level(&parser, out, 0, false);
    if (!rc && *parser.at != '\0')
        rc = refuse(&parser, BOUMA_EINVAL, parser.at,
                    *parser.at == ')'
                        ? "there is no '(' for it"
                        : "expected & or | and another condition, or the end");
    return rc;
}
