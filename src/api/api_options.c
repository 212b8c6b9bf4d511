/* api_options.c -- options by name, from the environment, and their checks.
 * The table of options is base/option.c. The only file that asks for the
 * environment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/option.h"

const bouma_option_info *bouma_options_info(int i)
{
    const struct bm_option *option = bm_option_at(i);

    return option ? &option->about : NULL;
}

const char *bouma_options_field(int i)
{
    const struct bm_option *option = bm_option_at(i);

    return option ? option->about.name : NULL;
}

void bouma_options_init(bouma_options *opts, size_t size)
{
    if (!opts || size < sizeof(opts->size))
        return;
    memset(opts, 0, size);
    opts->size = size;
}

int bouma_options_set(bouma_options *opts, const char *name, const char *value,
                      char *message, size_t bytes)
{
    BM_STRICT_MATH;
    const struct bm_option *option;
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
    option = bm_option_find(name);
    if (option && !bm_option_is_in(option, opts->size)) {
        snprintf(message, bytes,
                 "option '%s' is not in these options: 'size' is not set, or "
                 "they are those of an older version",
                 name);
        return BOUMA_EINVAL;
    }
    if (option && bm_option_set(option, opts, value))
        return BOUMA_OK;
    if (option) {
        bm_option_texts(option, can, sizeof(can));
        snprintf(message, bytes, "option '%s' is \"%s\"; it can be %s", name,
                 value, can);
        return BOUMA_EINVAL;
    }
    n = (size_t)snprintf(message, bytes,
                         "there is no option \"%.60s\"; there are:", name);
    for (int i = 0; (option = bm_option_at(i)) && n < bytes; i++)
        n +=
            (size_t)snprintf(message + n, bytes - n, " %s", option->about.name);
    return BOUMA_EINVAL;
}

/* ---- completing --------------------------------------------------------- */

/* Set one entry of BOUMA_OPTIONS, a text that is cut at its '='. */
static int set_entry(bouma_options *set, char *entry, struct bm_error *error)
{
    char message[BM_ERROR_BYTES]; /* room for the names of all options */
    const struct bm_option *option;
    char *equals = strchr(entry, '=');

    if (!equals)
        return bm_fail(error, BOUMA_EINVAL,
                       "BOUMA_OPTIONS: \"%s\" is not name=value", entry);
    *equals = 0;
    option = bm_option_find(entry);
    if (option && option->reason)
        return bm_fail(error, BOUMA_EINVAL, "BOUMA_OPTIONS: option '%s' %s",
                       entry, option->reason);
    if (bouma_options_set(set, entry, equals + 1, message, sizeof(message)))
        return bm_fail(error, BOUMA_EINVAL, "BOUMA_OPTIONS: %s", message);
    return BOUMA_OK;
}

/* Whether 'name' is that of an entry before 'end'. */
static int is_given(const char *text, const char *end, const char *between,
                    const char *name)
{
    size_t n = strlen(name);

    while (text < end) {
        if (!strncmp(text, name, n) && text[n] == '=')
            return 1;
        text += strcspn(text, between);
        text += *text != 0;
    }
    return 0;
}

/* "name=value;name=value" */
static int parse_entries(bouma_options *set, const char *all,
                         struct bm_error *error)
{
    /* A comma may be part of a value, such as "torus:4x4,per=16". */
    const char *between = strchr(all, ';') ? ";" : ",", *text = all;

    while (*text) {
        size_t n = strcspn(text, between);
        char entry[BOUMA_PATH_BYTES + 32];
        int rc = BOUMA_OK;

        if (n >= sizeof(entry))
            return bm_fail(error, BOUMA_EINVAL,
                           "BOUMA_OPTIONS: an entry is too long");
        memcpy(entry, text, n);
        entry[n] = 0;
        if (n)
            rc = set_entry(set, entry, error);
        if (rc)
            return rc;
        if (n && is_given(all, text, between, entry))
            return bm_fail(error, BOUMA_EINVAL,
                           "BOUMA_OPTIONS: option '%s' is given twice", entry);
        text += n + (text[n] != 0);
    }
    return BOUMA_OK;
}

/* Take over from BOUMA_OPTIONS what the program left at zero. */
static int from_list(bouma_options *opts, struct bm_error *error)
{
    const char *text = getenv("BOUMA_OPTIONS");
    const struct bm_option *option;
    bouma_options set;
    int rc;

    if (!text)
        return BOUMA_OK;
    bouma_options_init(&set, sizeof(set));
    rc = parse_entries(&set, text, error);
    if (rc)
        return rc;
    /* Both say how many files there are: the program has chosen already. */
    if (opts->files || opts->file_size) {
        set.files = 0;
        set.file_size = 0;
    }
    for (int i = 0; (option = bm_option_at(i)); i++)
        bm_option_inherit(option, opts, &set);
    return BOUMA_OK;
}

/* The same from the variables that options have of their own. */
static int from_variables(bouma_options *opts, struct bm_error *error)
{
    const struct bm_option *option;

    for (int i = 0; (option = bm_option_at(i)); i++) {
        const char *text = option->variable ? getenv(option->variable) : NULL;
        char message[BM_ERROR_BYTES];
        bouma_options set;

        if (!text || !*text || bm_option_is_set(option, opts))
            continue;
        bouma_options_init(&set, sizeof(set));
        if (bouma_options_set(&set, option->about.name, text, message,
                              sizeof(message)))
            return bm_fail(error, BOUMA_EINVAL, "%s: %s", option->variable,
                           message);
        bm_option_inherit(option, opts, &set);
    }
    return BOUMA_OK;
}

static int from_environment(bouma_options *opts, struct bm_error *error)
{
    int rc = from_list(opts, error);

    return rc ? rc : from_variables(opts, error);
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
        memcpy(opts, &all, opts->size < sizeof(all) ? opts->size : sizeof(all));
    if (message && bytes)
        snprintf(message, bytes, "%s", error.text);
    return rc;
}

/* Also one of a version that had no links. */
static int is_table(const bouma_io *io)
{
    return io->size == sizeof(bouma_io) || io->size == BM_IO_LEAST_BYTES;
}

/* Refuse values that fields cannot have. */
static int check_fields(const bouma_options *o, struct bm_error *error)
{
    const struct bm_option *option;
    char is[64], can[160];

    for (int i = 0; (option = bm_option_at(i)); i++)
        if (!bm_option_check(option, o, is, sizeof(is))) {
            bm_option_numbers(option, can, sizeof(can));
            return bm_fail(error, BOUMA_EINVAL,
                           "option '%s' is %s; it can be %s",
                           option->about.name, is, can);
        }
    if (o->io && !is_table(o->io))
        return bm_fail(error, BOUMA_EINVAL,
                       "option 'io' has a table of %zu bytes; this library's "
                       "bouma_io has %zu",
                       o->io->size, sizeof(bouma_io));
    if (o->allocator && o->allocator->size != sizeof(bouma_allocator))
        return bm_fail(error, BOUMA_EINVAL,
                       "option 'allocator' has a table of %zu bytes; this "
                       "library's bouma_allocator has %zu",
                       o->allocator->size, sizeof(bouma_allocator));
    return BOUMA_OK;
}

int bm_options_complete(bouma_options *out, const bouma_options *given,
                        struct bm_error *error)
{
    const struct bm_option *option;
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
        rc = check_fields(out, error);
    /* Complete also after a failure: opening goes on to tell all ranks. */
    if (!out->io || rc)
        out->io = out->io && is_table(out->io) ? out->io : bouma_io_posix();
    for (int i = 0; (option = bm_option_at(i)); i++)
        bm_option_complete(option, out);
    out->buffers = out->buffers ? out->buffers : out->async ? 16 : 2;
    if (!strcmp(out->trace, "off"))
        memset(out->trace, 0, sizeof(out->trace));
    return rc;
}
