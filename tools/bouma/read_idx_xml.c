/* read_idx_xml.c -- the XML form of the header of an IDX dataset: elements with
 * attributes, of which only those inside <idxfile> count. No more of XML than
 * such a header has: no text between elements, no definitions. */
#include <stdio.h>
#include <stdlib.h>

#include "read_idx_parse.h"

/* ---- elements ------------------------------------------------------------ */

struct scanner {
    const char *at, *end;
    const char *counted; /* lines are counted up to here */
    size_t line;
    struct idx_message *message;
};

/* The line that 'at' is in, which is no earlier than that of the call before. */
static size_t line_at(struct scanner *in, const char *at)
{
    in->line += line_number(in->counted, at) - 1;
    in->counted = at;
    return in->line;
}

static bool malformed(struct scanner *in, const char *what)
{
    snprintf(in->message->text, sizeof(in->message->text),
             "line %zu: not the XML of an IDX dataset: %s", line_at(in, in->at),
             what);
    return false;
}

static bool is_space(char c)
{
    return is_blank(c) || c == '\n' || c == '\r';
}

static void skip_spaces(struct scanner *in)
{
    while (in->at < in->end && is_space(*in->at))
        in->at++;
}

static bool starts(const struct scanner *in, const char *text)
{
    return (size_t)(in->end - in->at) >= strlen(text) &&
           memcmp(in->at, text, strlen(text)) == 0;
}

/* Go behind the next 'text'. */
static bool skip_past(struct scanner *in, const char *text)
{
    const char *found =
        memmem(in->at, (size_t)(in->end - in->at), text, strlen(text));

    if (!found)
        return malformed(in, "something is not closed");
    in->at = found + strlen(text);
    return true;
}

static struct piece scan_name(struct scanner *in)
{
    struct piece name = {in->at, 0};

    while (in->at < in->end && !is_space(*in->at) &&
           !strchr("<>/=\"'", *in->at))
        in->at++;
    name.length = (size_t)(in->at - name.at);
    return name;
}

/* &lt; and the like, in place: 'text' gets shorter. */
static void decode(char *text)
{
    static const struct {
        const char *name;
        char is;
    } entities[] = {{"&lt;", '<'},
                    {"&gt;", '>'},
                    {"&quot;", '"'},
                    {"&apos;", '\''},
                    {"&amp;", '&'}};
    char *to = text;

    while (*text) {
        size_t length = 1;

        *to = *text;
        for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++)
            if (strncmp(text, entities[i].name, strlen(entities[i].name)) ==
                0) {
                *to = entities[i].is;
                length = strlen(entities[i].name);
            }
        to++;
        text += length;
    }
    *to = '\0';
}

enum { ATTRIBUTES = 32 };

/* <name attribute="value" ...>, or </name>. */
struct element {
    struct piece name;
    bool ends;
    int count;
    struct piece names[ATTRIBUTES];
    char *values[ATTRIBUTES];
};

static void element_release(struct element *element)
{
    while (element->count > 0)
        free(element->values[--element->count]);
}

/* name="value" */
static bool scan_attribute(struct scanner *in, struct element *out)
{
    struct piece name = scan_name(in);
    const char *close;
    char *value;

    skip_spaces(in);
    if (name.length == 0 || !starts(in, "="))
        return malformed(in, "an attribute has no value");
    in->at++;
    skip_spaces(in);
    if (!starts(in, "\"") && !starts(in, "'"))
        return malformed(in, "a value has no quotes");
    close = memchr(in->at + 1, *in->at, (size_t)(in->end - in->at - 1));
    if (!close)
        return malformed(in, "a value is not closed");
    if (out->count == ATTRIBUTES)
        return malformed(in, "an element has too many attributes");
    value = strndup(in->at + 1, (size_t)(close - in->at - 1));
    if (!value)
        return malformed(in, "there is no memory");
    decode(value);
    out->names[out->count] = name;
    out->values[out->count++] = value;
    in->at = close + 1;
    return true;
}

/* The next element; *found is false at the end. */
static bool next_element(struct scanner *in, struct element *out, bool *found)
{
    *out = (struct element){0};
    *found = false;
    for (skip_spaces(in); starts(in, "<?") || starts(in, "<!"); skip_spaces(in))
        if (!skip_past(in, starts(in, "<!--") ? "-->" : ">"))
            return false;
    if (in->at == in->end)
        return true;
    if (!starts(in, "<"))
        return malformed(in, "there is text between elements");
    in->at++;
    out->ends = starts(in, "/");
    in->at += out->ends;
    out->name = scan_name(in);
    for (skip_spaces(in); in->at < in->end && *in->at != '>'; skip_spaces(in)) {
        if (*in->at == '/')
            in->at++;
        else if (!scan_attribute(in, out))
            return false;
    }
    if (in->at == in->end || out->name.length == 0)
        return malformed(in, "an element is not closed");
    in->at++;
    *found = true;
    return true;
}

/* The value of an attribute, "" if it is not there. */
static struct piece attribute(const struct element *element, const char *name)
{
    for (int i = 0; i < element->count; i++)
        if (is_text(element->names[i], name))
            return (struct piece){element->values[i],
                                  strlen(element->values[i])};
    return (struct piece){"", 0};
}

/* ---- what they mean ------------------------------------------------------ */

static bool read_field(struct idx_parser *parser, const struct element *from)
{
    struct piece name = attribute(from, "name");
    struct idx_field *field;

    parser->key = KEY_FIELDS;
    if (!parser->seen[KEY_FIELDS])
        parser->seen[KEY_FIELDS] = parser->line;
    if (name.length == 0)
        return idx_refuse(parser, "has no name");
    field = idx_add_field(parser, name, attribute(from, "dtype"));
    if (!field)
        return false;
    for (int i = 0; i < from->count; i++)
        if (!idx_set_field(
                parser, field, from->names[i],
                (struct piece){from->values[i], strlen(from->values[i])}))
            return false;
    return true;
}

/* when="0", or from="0" to="9" step="1". */
static bool read_steps(struct idx_parser *parser, const struct element *from)
{
    struct piece when = attribute(from, "when"), step = {"1", 1};

    parser->key = KEY_TIME;
    parser->seen[KEY_TIME] = parser->line;
    if (when.length)
        return idx_add_steps(parser, when, when, step);
    if (attribute(from, "step").length)
        step = attribute(from, "step");
    return idx_add_steps(parser, attribute(from, "from"), attribute(from, "to"),
                         step);
}

static bool read_element(struct idx_parser *parser, const struct element *from)
{
    if (is_text(from->name, "field"))
        return read_field(parser, from);
    if (is_text(from->name, "timestep"))
        return read_steps(parser, from);
    if (is_text(from->name, "time_template")) {
        parser->key = KEY_TIME;
        return idx_set_time_template(parser, attribute(from, "value"));
    }
    return idx_read_key(parser, from->name, attribute(from, "value"));
}

bool idx_parse_xml(struct idx_parser *parser, const char *text, size_t size)
{
    struct scanner in = {text, text + size, text, 1, parser->message};
    struct element element;
    bool ok, found = true, inside = false;

    do {
        ok = next_element(&in, &element, &found);
        if (ok && found && is_text(element.name, "idxfile"))
            inside = !element.ends;
        else if (ok && found && inside && !element.ends) {
            parser->line = line_at(&in, element.name.at);
            ok = read_element(parser, &element);
        }
        element_release(&element);
    } while (ok && found);
    return ok;
}
