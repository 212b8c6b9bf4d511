/* api_options.c -- options by name, from the environment, and their checks.
 * The only file that asks for the environment. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"

/* ---- the table of fields ------------------------------------------------ */

struct choice {
    const char *name;
    int value;
};

#define CHOICE_OF(name, value, text) {text, value},
static const struct choice distribute_names[] = {
    BOUMA_DISTRIBUTE_LIST(CHOICE_OF){NULL, 0}};
static const struct choice assign_names[] = {
    BOUMA_ASSIGN_LIST(CHOICE_OF){NULL, 0}};
static const struct choice place_names[] = {
    BOUMA_PLACE_LIST(CHOICE_OF){NULL, 0}};
static const struct choice order_names[] = {
    BOUMA_ORDER_LIST(CHOICE_OF){NULL, 0}};
static const struct choice durability_names[] = {
    BOUMA_DURABILITY_LIST(CHOICE_OF){NULL, 0}};
#undef CHOICE_OF
static const struct choice yes_no_names[] = {
    {"1", 1}, {"0", 0}, {"yes", 1}, {"no", 0}, {NULL, 0}};

enum field_kind { CHOICE, INTEGER, BYTES, SECONDS };

static const struct field {
    const char *name;
    enum field_kind kind;
    size_t offset;
    const struct choice *choices;
} fields[] = {
    {"durability", CHOICE, offsetof(bouma_options, durability),
     durability_names},
    {"replace", CHOICE, offsetof(bouma_options, replace), yes_no_names},
    {"force", CHOICE, offsetof(bouma_options, force), yes_no_names},
    {"files", INTEGER, offsetof(bouma_options, files), NULL},
    {"file_size", BYTES, offsetof(bouma_options, file_size), NULL},
    {"distribute", CHOICE, offsetof(bouma_options, distribute),
     distribute_names},
    {"assign", CHOICE, offsetof(bouma_options, assign), assign_names},
    {"place", CHOICE, offsetof(bouma_options, place), place_names},
    {"order", CHOICE, offsetof(bouma_options, order), order_names},
    {"message_bytes", BYTES, offsetof(bouma_options, message_bytes), NULL},
    {"buffer_bytes", BYTES, offsetof(bouma_options, buffer_bytes), NULL},
    {"memory_limit", BYTES, offsetof(bouma_options, memory_limit), NULL},
    {"timeout", SECONDS, offsetof(bouma_options, timeout), NULL},
    {"threads", INTEGER, offsetof(bouma_options, threads), NULL},
};
enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };

const char *bouma_options_field(int i)
{
    return i >= 0 && i < FIELDS ? fields[i].name : NULL;
}

void bouma_options_init(bouma_options *opts, size_t size)
{
    memset(opts, 0, size);
    opts->size = size;
}

/* ---- values ------------------------------------------------------------- */

/* "64M", "64MiB", "1.5G", "1000": powers of 1024. */
static int parse_bytes(const char *text, uint64_t *out)
{
    static const char units[] = "KMGTP";
    const char *unit;
    char *end;
    double v = strtod(text, &end);

    if (end == text || !(v >= 0))
        return 0;
    unit = *end ? strchr(units, *end >= 'a' ? *end - 32 : *end) : NULL;
    if (unit) {
        for (const char *u = units; u <= unit; u++)
            v *= 1024;
        end++;
        if (*end == 'i')
            end++;
    }
    if (*end == 'B')
        end++;
    if (*end || v > 9e18)
        return 0;
    *out = (uint64_t)v;
    return 1;
}

/* All choices, for a message. */
static void list_choices(char *text, size_t bytes, const struct choice *c)
{
    size_t n = 0;

    for (text[0] = 0; c->name && n < bytes; c++)
        n += (size_t)snprintf(text + n, bytes - n, "%s%s", n ? ", " : "",
                              c->name);
}

static int set_choice(bouma_options *opts, const struct field *f,
                      const char *value, char *message, size_t bytes)
{
    char names[128];

    /* "group=4" also tells how many steps a group has. */
    if (f->choices == durability_names && !strncmp(value, "group=", 6)) {
        char *end;
        long n = strtol(value + 6, &end, 10);

        if (end == value + 6 || *end || n < 1 || n > 1000) {
            snprintf(message, bytes,
                     "durability \"%s\": group= wants a number from 1 to 1000",
                     value);
            return BOUMA_EINVAL;
        }
        opts->group = (int)n;
        value = "group";
    }
    for (const struct choice *c = f->choices; c->name; c++)
        if (!strcmp(c->name, value)) {
            memcpy((char *)opts + f->offset, &c->value, sizeof(c->value));
            return BOUMA_OK;
        }
    list_choices(names, sizeof(names), f->choices);
    snprintf(message, bytes, "%s \"%s\" is not known; there are: %s", f->name,
             value, names);
    return BOUMA_EINVAL;
}

static int set_number(bouma_options *opts, const struct field *f,
                      const char *value, char *message, size_t bytes)
{
    void *to = (char *)opts + f->offset;
    uint64_t n;
    char *end;

    if (f->kind == SECONDS) {
        double v = strtod(value, &end);

        if (end != value && !*end && v >= 0) {
            memcpy(to, &v, sizeof(v));
            return BOUMA_OK;
        }
    } else if (f->kind == BYTES) {
        if (parse_bytes(value, &n)) {
            memcpy(to, &n, sizeof(n));
            return BOUMA_OK;
        }
    } else {
        long v = strtol(value, &end, 10);
        int i = (int)v;

        if (end != value && !*end && v >= 0 && v <= 1 << 20) {
            memcpy(to, &i, sizeof(i));
            return BOUMA_OK;
        }
    }
    snprintf(message, bytes, "%s \"%s\" is not a number that makes sense here",
             f->name, value);
    return BOUMA_EINVAL;
}

int bouma_options_set(bouma_options *opts, const char *name, const char *value,
                      char *message, size_t bytes)
{
    char own[256];
    size_t n = 0;

    if (!message || !bytes) {
        message = own;
        bytes = sizeof(own);
    }
    message[0] = 0;
    if (!opts || !name || !value) {
        snprintf(message, bytes,
                 "bouma_options_set() needs options, a name and a value");
        return BOUMA_EINVAL;
    }
    for (int i = 0; i < FIELDS; i++)
        if (!strcmp(fields[i].name, name))
            return fields[i].kind == CHOICE
                       ? set_choice(opts, &fields[i], value, message, bytes)
                       : set_number(opts, &fields[i], value, message, bytes);
    n = (size_t)snprintf(message, bytes,
                         "option \"%s\" is not known; there "
                         "are:",
                         name);
    for (int i = 0; i < FIELDS && n < bytes; i++)
        n += (size_t)snprintf(message + n, bytes - n, " %s", fields[i].name);
    return BOUMA_EINVAL;
}

/* ---- completing --------------------------------------------------------- */

/* Take over from the environment what the program left at zero. */
static int from_environment(bouma_options *opts, struct bm_error *error)
{
    const char *text = getenv("BOUMA_OPTIONS");
    char message[256];
    bouma_options set;

    if (!text)
        return BOUMA_OK;
    bouma_options_init(&set, sizeof(set));
    while (*text) {
        size_t n = strcspn(text, ";,");
        char one[256], *equals;

        if (n >= sizeof(one))
            return bm_fail(error, BOUMA_EINVAL,
                           "BOUMA_OPTIONS: an entry is too long");
        memcpy(one, text, n);
        one[n] = 0;
        text += n + (text[n] != 0);
        if (!n)
            continue;
        equals = strchr(one, '=');
        if (!equals)
            return bm_fail(error, BOUMA_EINVAL,
                           "BOUMA_OPTIONS: \"%s\" is not name=value", one);
        *equals = 0;
        if (bouma_options_set(&set, one, equals + 1, message, sizeof(message)))
            return bm_fail(error, BOUMA_EINVAL, "BOUMA_OPTIONS: %s", message);
    }
    if (!opts->durability) {
        opts->durability = set.durability;
        opts->group = opts->group ? opts->group : set.group;
    }
    for (int i = 0; i < FIELDS; i++) {
        static const char none[8];
        size_t size =
            fields[i].kind == BYTES || fields[i].kind == SECONDS ? 8 : 4;
        char *to = (char *)opts + fields[i].offset;

        if (!memcmp(to, none, size))
            memcpy(to, (char *)&set + fields[i].offset, size);
    }
    return BOUMA_OK;
}

int bm_struct_copy(void *out, size_t bytes, const void *given,
                   size_t given_bytes)
{
    const unsigned char *p = given;

    memset(out, 0, bytes);
    if (given_bytes < sizeof(size_t))
        return 0;
    memcpy(out, given, given_bytes < bytes ? given_bytes : bytes);
    for (size_t i = bytes; i < given_bytes; i++)
        if (p[i])
            return 0;
    return 1;
}

static const char *wrong_option(const bouma_options *o)
{
    if ((int)o->durability < 0 || o->durability > BOUMA_GROUP)
        return "durability";
    if (o->group < 0 || o->group > 1000)
        return "group";
    if (o->files < 0 || o->files > 1 << 20)
        return "files";
    if ((int)o->distribute < 0 || o->distribute > BOUMA_DISTRIBUTE_NONE)
        return "distribute";
    if ((int)o->assign < 0 || o->assign > BOUMA_ASSIGN_SINGLE)
        return "assign";
    if ((int)o->place < 0 || o->place > BOUMA_PLACE_FIRST)
        return "place";
    if ((int)o->order < 0 || o->order > BOUMA_ORDER_CHUNK)
        return "order";
    if (o->message_bytes > (uint64_t)1 << 30)
        return "message_bytes (at most 1 GiB)";
    if (!(o->timeout >= 0))
        return "timeout";
    if (o->threads < 0 || o->threads > 256)
        return "threads (0 to 256)";
    if (o->io && o->io->size != sizeof(bouma_io))
        return "io (its size is not that of this library's bouma_io)";
    return NULL;
}

int bm_options_complete(bouma_options *out, const bouma_options *given,
                        struct bm_error *error)
{
    const char *wrong;
    int rc = BOUMA_OK, fits = 1;

    bouma_options_init(out, sizeof(*out));
    if (given)
        fits = bm_struct_copy(out, sizeof(*out), given, given->size);
    if (!fits)
        rc = bm_fail(error, BOUMA_EINVAL,
                     "the options are those of a newer version, or were not "
                     "set up with bouma_options_init()");
    if (!rc)
        rc = from_environment(out, error);
    wrong = wrong_option(out);
    if (!rc && wrong)
        rc = bm_fail(error, BOUMA_EINVAL, "option %s has a wrong value", wrong);
    /* Complete also after a failure: opening goes on to tell all ranks. */
    if (!out->io || rc)
        out->io = out->io && out->io->size == sizeof(bouma_io)
                      ? out->io
                      : bouma_io_posix();
    out->durability = out->durability ? out->durability : BOUMA_DURABLE;
    out->group = out->group ? out->group : 8;
    out->distribute =
        out->distribute ? out->distribute : BOUMA_DISTRIBUTE_BALANCED;
    out->assign = out->assign ? out->assign : BOUMA_ASSIGN_OPTIMAL;
    out->place = out->place ? out->place : BOUMA_PLACE_SPREAD;
    out->order = out->order ? out->order : BOUMA_ORDER_LEVEL;
    out->message_bytes =
        out->message_bytes ? out->message_bytes : (uint64_t)1 << 30;
    out->buffer_bytes =
        out->buffer_bytes ? out->buffer_bytes : (uint64_t)32 << 20;
    out->threads = out->threads ? out->threads : 1;
    out->memory_limit =
        out->memory_limit ? out->memory_limit : (uint64_t)16 << 30;
    return rc;
}
