/* api_options.c -- options by name, from the environment, and their checks.
 * The only file that asks for the environment. */
#include <inttypes.h>
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
static const struct choice tier_names[] = {BOUMA_TIER_LIST(CHOICE_OF){NULL, 0}};
static const struct choice transport_names[] = {
    BOUMA_TRANSPORT_LIST(CHOICE_OF){NULL, 0}};
static const struct choice predict_names[] = {
    BOUMA_PREDICT_LIST(CHOICE_OF){NULL, 0}};
#undef CHOICE_OF
static const struct choice yes_no_names[] = {
    {"1", 1}, {"0", 0}, {"yes", 1}, {"no", 0}, {NULL, 0}};
/* Where 0 is "choose for me". */
static const struct choice on_off_names[] = {{"1", 1},   {"0", -1},  {"yes", 1},
                                             {"no", -1}, {"-1", -1}, {NULL, 0}};

enum field_kind { CHOICE, FLAG, INTEGER, BYTES, SECONDS, TEXT };

static const struct field {
    const char *name;
    enum field_kind kind;
    size_t offset;
    const struct choice *choices; /* of CHOICE and FLAG */
    uint64_t most;                /* of INTEGER and BYTES; 0: no limit */
} fields[] = {
#define FIELD(name, kind, choices, most)                                       \
    {                                                                          \
#name, kind, offsetof(bouma_options, name), choices, most              \
    }
    FIELD(durability, CHOICE, durability_names, 0),
    FIELD(group, INTEGER, NULL, 1000),
    FIELD(replace, FLAG, yes_no_names, 0),
    FIELD(force, FLAG, yes_no_names, 0),
    FIELD(files, INTEGER, NULL, 1 << 20),
    FIELD(file_size, BYTES, NULL, 0),
    FIELD(distribute, CHOICE, distribute_names, 0),
    FIELD(assign, CHOICE, assign_names, 0),
    FIELD(place, CHOICE, place_names, 0),
    FIELD(order, CHOICE, order_names, 0),
    FIELD(message_bytes, BYTES, NULL, 1 << 30),
    FIELD(buffer_bytes, BYTES, NULL, 0),
    FIELD(memory_limit, BYTES, NULL, 0),
    FIELD(timeout, SECONDS, NULL, 0),
    FIELD(threads, INTEGER, NULL, 256),
    FIELD(best_axis, FLAG, yes_no_names, 0),
    FIELD(machine, TEXT, NULL, 0),
    FIELD(tier, CHOICE, tier_names, 0),
    FIELD(local, TEXT, NULL, 0),
    FIELD(persist, FLAG, yes_no_names, 0),
    FIELD(buffers, INTEGER, NULL, 4096),
    FIELD(transport, CHOICE, transport_names, 0),
    FIELD(async, FLAG, yes_no_names, 0),
    FIELD(predict, CHOICE, predict_names, 0),
    FIELD(writers, INTEGER, NULL, 1 << 20),
    FIELD(check, FLAG, on_off_names, 0),
    FIELD(clobber, FLAG, yes_no_names, 0),
#undef FIELD
};
enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };

const char *bouma_options_field(int i)
{
    return i >= 0 && i < FIELDS ? fields[i].name : NULL;
}

void bouma_options_init(bouma_options *opts, size_t size)
{
    if (!opts || size < sizeof(opts->size))
        return;
    memset(opts, 0, size);
    opts->size = size;
}

/* Longer than ranks of a sound job are apart at an output, and than parallel
 * file systems need to recover, during which one rank may wait in a write; not
 * so long that a job which hangs has burnt its hours. */
#define DEFAULT_TIMEOUT 1800.0

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

/* The values that a field can have, for a message. */
static void describe(char *text, size_t bytes, const struct field *f)
{
    size_t n = 0;

    switch (f->kind) {
    case CHOICE:
    case FLAG:
        for (const struct choice *c = f->choices; c->name && n < bytes; c++)
            n += (size_t)snprintf(text + n, bytes - n, "%s%s", n ? ", " : "",
                                  c->name);
        if (f->choices == durability_names && n < bytes)
            snprintf(text + n, bytes - n, ", group=1 to group=1000");
        break;
    case INTEGER:
        snprintf(text, bytes, "a whole number from 0 to %" PRIu64, f->most);
        break;
    case BYTES:
        n = (size_t)snprintf(text, bytes, "bytes, such as 1000, 64K or 1MiB");
        if (f->most && n < bytes)
            snprintf(text + n, bytes - n, ", up to %" PRIu64 "GiB",
                     f->most >> 30);
        break;
    case SECONDS:
        snprintf(text, bytes, "seconds, 0 or more (0: 1800, inf: for ever)");
        break;
    case TEXT:
        snprintf(text, bytes, "a text of up to %d bytes", BOUMA_PATH_BYTES - 1);
    }
}

/* The member of a choice's name; 1 if there is one. */
static int parse_choice(const struct choice *c, const char *text, int *out)
{
    for (; c->name; c++)
        if (!strcmp(c->name, text)) {
            *out = c->value;
            return 1;
        }
    return 0;
}

static int parse_integer(const char *text, uint64_t most, int *out)
{
    char *end;
    long v = strtol(text, &end, 10);

    *out = (int)v;
    return end != text && !*end && v >= 0 && (uint64_t)v <= most;
}

/* Set a field from its text: 1 if it can have that value. */
static int set_field(bouma_options *opts, const struct field *f,
                     const char *text)
{
    void *to = (char *)opts + f->offset;
    double seconds;
    uint64_t large;
    char *end;
    int value, right = 0;

    switch (f->kind) {
    case CHOICE:
    case FLAG:
        /* "group=4" also tells how many steps a group has. */
        if (f->choices == durability_names && !strncmp(text, "group=", 6)) {
            if (!parse_integer(text + 6, 1000, &value) || !value)
                return 0;
            opts->group = value;
            text = "group";
        }
        right = parse_choice(f->choices, text, &value);
        if (right)
            memcpy(to, &value, sizeof(value));
        break;
    case INTEGER:
        right = parse_integer(text, f->most, &value);
        if (right)
            memcpy(to, &value, sizeof(value));
        break;
    case BYTES:
        right = parse_bytes(text, &large) && (!f->most || large <= f->most);
        if (right)
            memcpy(to, &large, sizeof(large));
        break;
    case SECONDS:
        seconds = strtod(text, &end);
        right = end != text && !*end && seconds >= 0;
        if (right)
            memcpy(to, &seconds, sizeof(seconds));
        break;
    case TEXT:
        right = strlen(text) < BOUMA_PATH_BYTES;
        if (right) {
            memset(to, 0, BOUMA_PATH_BYTES);
            memcpy(to, text, strlen(text));
        }
    }
    return right;
}

static int is_choice(const struct choice *c, int value)
{
    while (c->name && c->value != value)
        c++;
    return c->name != NULL;
}

/* Whether a field has a value that it can have; the value, for a message. */
static int check_field(const bouma_options *opts, const struct field *f,
                       char *text, size_t bytes)
{
    const void *from = (const char *)opts + f->offset;
    double seconds;
    uint64_t large;
    int value, right = 1;

    switch (f->kind) {
    case FLAG:
    case CHOICE:
    case INTEGER:
        memcpy(&value, from, sizeof(value));
        snprintf(text, bytes, "%d", value);
        right = f->kind == INTEGER ? value >= 0 && (uint64_t)value <= f->most
                                   : !value || is_choice(f->choices, value);
        break;
    case BYTES:
        memcpy(&large, from, sizeof(large));
        snprintf(text, bytes, "%" PRIu64, large);
        right = !f->most || large <= f->most;
        break;
    case SECONDS:
        memcpy(&seconds, from, sizeof(seconds));
        snprintf(text, bytes, "%g", seconds);
        right = seconds >= 0;
        break;
    case TEXT:
        snprintf(text, bytes, "too long");
        right = memchr(from, 0, BOUMA_PATH_BYTES) != NULL;
    }
    return right;
}

int bouma_options_set(bouma_options *opts, const char *name, const char *value,
                      char *message, size_t bytes)
{
    BM_STRICT_MATH;
    char own[256], can[160];
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
    for (int i = 0; i < FIELDS; i++) {
        if (strcmp(fields[i].name, name))
            continue;
        if (set_field(opts, &fields[i], value))
            return BOUMA_OK;
        describe(can, sizeof(can), &fields[i]);
        snprintf(message, bytes, "option '%s' is \"%s\"; it can be %s", name,
                 value, can);
        return BOUMA_EINVAL;
    }
    n = (size_t)snprintf(message, bytes,
                         "there is no option \"%.60s\"; there are:", name);
    for (int i = 0; i < FIELDS && n < bytes; i++)
        n += (size_t)snprintf(message + n, bytes - n, " %s", fields[i].name);
    return BOUMA_EINVAL;
}

/* ---- completing --------------------------------------------------------- */

#ifdef NDEBUG
#define CHECK_BY_DEFAULT (-1)
#else
#define CHECK_BY_DEFAULT 1
#endif

/* Take over from the environment what the program left at zero. */
static int from_environment(bouma_options *opts, struct bm_error *error)
{
    const char *text = getenv("BOUMA_OPTIONS"), *between;
    char message[BM_ERROR_BYTES]; /* room for the names of all options */
    bouma_options set;
    unsigned char told[FIELDS] = {0};

    if (!text)
        return BOUMA_OK;
    bouma_options_init(&set, sizeof(set));
    /* A comma may be part of a value, such as "torus:4x4,per=16". */
    between = strchr(text, ';') ? ";" : ",";
    while (*text) {
        size_t n = strcspn(text, between);
        char one[BOUMA_PATH_BYTES + 32], *equals;

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
        if (!strcmp(one, "clobber"))
            return bm_fail(error, BOUMA_EINVAL,
                           "BOUMA_OPTIONS: option 'clobber' removes datasets, "
                           "so only a program can set it (`bouma import "
                           "--clobber`)");
        if (bouma_options_set(&set, one, equals + 1, message, sizeof(message)))
            return bm_fail(error, BOUMA_EINVAL, "BOUMA_OPTIONS: %s", message);
        for (int i = 0; i < FIELDS; i++)
            if (!strcmp(fields[i].name, one) && told[i]++)
                return bm_fail(error, BOUMA_EINVAL,
                               "BOUMA_OPTIONS: option '%s' is given twice",
                               one);
    }
    /* Both say how many files there are: the program has chosen already. */
    if (opts->files || opts->file_size) {
        set.files = 0;
        set.file_size = 0;
    }
    for (int i = 0; i < FIELDS; i++) {
        static const char none[BOUMA_PATH_BYTES];
        size_t size = fields[i].kind == TEXT ? sizeof(none)
                      : fields[i].kind == BYTES || fields[i].kind == SECONDS
                          ? 8
                          : 4;
        char *to = (char *)opts + fields[i].offset;

        if (!memcmp(to, none, size))
            memcpy(to, (char *)&set + fields[i].offset, size);
    }
    return BOUMA_OK;
}

/* The tier has a variable of its own, which is what people try out most. */
static int tier_from_environment(bouma_options *opts, struct bm_error *error)
{
    const char *text = getenv("BOUMA_TIER");
    char message[BM_ERROR_BYTES];

    if (!text || !*text || opts->tier)
        return BOUMA_OK;
    return bouma_options_set(opts, "tier", text, message, sizeof(message))
               ? bm_fail(error, BOUMA_EINVAL, "BOUMA_TIER: %s", message)
               : BOUMA_OK;
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

int bouma_options_environment(bouma_options *opts, char *message, size_t bytes)
{
    BM_STRICT_MATH;
    struct bm_error error = {0};
    bouma_options all;
    int rc = BOUMA_OK;

    if (!opts || !bm_struct_copy(&all, sizeof(all), opts, opts->size))
        rc = bm_fail(&error, BOUMA_EINVAL,
                     "bouma_options_environment() needs options that were set "
                     "up with bouma_options_init()");
    if (!rc)
        rc = from_environment(&all, &error);
    if (!rc)
        rc = tier_from_environment(&all, &error);
    if (!rc)
        memcpy(opts, &all, opts->size < sizeof(all) ? opts->size : sizeof(all));
    if (message && bytes)
        snprintf(message, bytes, "%s", error.text);
    return rc;
}

/* Refuse values that fields cannot have. */
static int check_fields(const bouma_options *o, struct bm_error *error)
{
    char is[64], can[160];

    for (int i = 0; i < FIELDS; i++)
        if (!check_field(o, &fields[i], is, sizeof(is))) {
            describe(can, sizeof(can), &fields[i]);
            if (fields[i].kind == FLAG) /* a number here, not its name */
                snprintf(can, sizeof(can), "%s",
                         fields[i].choices == on_off_names ? "-1, 0 or 1"
                                                           : "0 or 1");
            return bm_fail(error, BOUMA_EINVAL,
                           "option '%s' is %s; it can be %s", fields[i].name,
                           is, can);
        }
    if (o->io && o->io->size != sizeof(bouma_io))
        return bm_fail(error, BOUMA_EINVAL,
                       "option 'io' has a table of %zu bytes; this library's "
                       "bouma_io has %zu",
                       o->io->size, sizeof(bouma_io));
    return BOUMA_OK;
}

int bm_options_complete(bouma_options *out, const bouma_options *given,
                        struct bm_error *error)
{
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
    if (!rc)
        rc = tier_from_environment(out, error);
    if (!rc)
        rc = check_fields(out, error);
    /* Complete also after a failure: opening goes on to tell all ranks. */
    if (!out->io || rc)
        out->io = out->io && out->io->size == sizeof(bouma_io)
                      ? out->io
                      : bouma_io_posix();
    out->durability = out->durability ? out->durability : BOUMA_DURABLE;
    out->group = out->group ? out->group : 8;
    out->distribute =
        out->distribute ? out->distribute : BOUMA_DISTRIBUTE_BALANCED;
    out->place = out->place ? out->place : BOUMA_PLACE_SPREAD;
    out->order = out->order ? out->order : BOUMA_ORDER_LEVEL;
    out->message_bytes =
        out->message_bytes ? out->message_bytes : (uint64_t)1 << 30;
    out->timeout = out->timeout > 0 ? out->timeout : DEFAULT_TIMEOUT;
    out->buffers = out->buffers ? out->buffers : out->async ? 16 : 2;
    out->predict = out->predict ? out->predict : BOUMA_PREDICT_OFF;
    out->check = out->check ? out->check : CHECK_BY_DEFAULT;
    out->memory_limit =
        out->memory_limit ? out->memory_limit : (uint64_t)16 << 30;
    return rc;
}
