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

/* Tell why an option could not be set: BOUMA_EINVAL. */
static int tell_wrong(const char *name, const char *value, char *message,
                      size_t bytes)
{
    const struct bm_option *option = bm_option_find(name);
    char can[160];
    size_t n = 0;

    if (option) {
        bm_option_texts(option, can, sizeof(can));
        snprintf(message, bytes, "option '%s' is \"%.200s\"; it can be %s",
                 name, value, can);
        return BOUMA_EINVAL;
    }
    n = (size_t)snprintf(message, bytes,
                         "there is no option \"%.60s\"; there are:", name);
    for (int i = 0; (option = bm_option_at(i)) && n < bytes; i++)
        n +=
            (size_t)snprintf(message + n, bytes - n, " %s", option->about.name);
    return BOUMA_EINVAL;
}

int bouma_options_set(bouma_options *opts, const char *name, const char *value,
                      char *message, size_t bytes)
{
    BM_STRICT_MATH;
    const struct bm_option *option;
    char own[256];

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
    if (option && (!bm_struct_is_size(opts->size) ||
                   !bm_option_is_in(option, opts->size))) {
        snprintf(message, bytes,
                 "option '%s' is not in these options: 'size' is not set, or "
                 "they are those of an older version",
                 name);
        return BOUMA_EINVAL;
    }
    if (option && bm_option_give(option, opts, value))
        return BOUMA_OK;
    return tell_wrong(name, value, message, bytes);
}

/* ---- completing --------------------------------------------------------- */

/* Set one entry of BOUMA_OPTIONS, a text that is cut at its '='. */
static int set_entry(struct bm_options *set, char *entry,
                     struct bm_error *error)
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
    if (option && bm_option_set(option, set, equals + 1))
        return BOUMA_OK;
    tell_wrong(entry, equals + 1, message, sizeof(message));
    return bm_fail(error, BOUMA_EINVAL, "BOUMA_OPTIONS: %s", message);
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
static int parse_entries(struct bm_options *set, const char *all,
                         struct bm_error *error)
{
    /* A comma may be part of a value, such as "torus:4x4,per=16". */
    const char *between = strchr(all, ';') ? ";" : ",", *text = all;

    while (*text) {
        size_t n = strcspn(text, between);
        char entry[BM_PATH_BYTES + 32];
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
static int from_list(struct bm_options *opts, struct bm_error *error)
{
    const char *text = getenv("BOUMA_OPTIONS");
    const struct bm_option *option;
    struct bm_options set = {0};
    int rc;

    if (!text)
        return BOUMA_OK;
    rc = parse_entries(&set, text, error);
    if (rc)
        return rc;
    /* All say how many files there are: the program has chosen already. */
    if (opts->files || opts->file_size || opts->nodes_per_file) {
        set.files = 0;
        set.file_size = 0;
        set.nodes_per_file = 0;
    }
    for (int i = 0; (option = bm_option_at(i)); i++)
        bm_option_inherit(option, opts, &set);
    return BOUMA_OK;
}

/* The same from the variables that options have of their own. */
static int from_variables(struct bm_options *opts, struct bm_error *error)
{
    const struct bm_option *option;

    for (int i = 0; (option = bm_option_at(i)); i++) {
        const char *text = option->variable ? getenv(option->variable) : NULL;
        char message[BM_ERROR_BYTES];

        if (!text || !*text || bm_option_is_set(option, opts) ||
            bm_option_set(option, opts, text))
            continue;
        tell_wrong(option->about.name, text, message, sizeof(message));
        return bm_fail(error, BOUMA_EINVAL, "%s: %s", option->variable,
                       message);
    }
    return BOUMA_OK;
}

static int from_environment(struct bm_options *opts, struct bm_error *error)
{
    int rc = from_list(opts, error);

    return rc ? rc : from_variables(opts, error);
}

/* Also one of a version that had no links. */
static int is_table(const bouma_io *io)
{
    return io->size == sizeof(bouma_io) || io->size == BM_IO_LEAST_BYTES;
}

/* Take over all fields, and refuse values that they cannot have. */
static int take_fields(struct bm_options *out, const bouma_options *given,
                       struct bm_error *error)
{
    const struct bm_option *option;
    char is[64], can[160];
    int rc = BOUMA_OK;

    out->io = given->io;
    out->allocator = given->allocator;
    memcpy(out->id, given->id, sizeof(out->id));
    out->progress = given->progress;
    out->progress_user = given->progress_user;
    for (int i = 0; (option = bm_option_at(i)) && !rc; i++)
        if (!bm_option_take(option, out, given, is, sizeof(is))) {
            bm_option_numbers(option, can, sizeof(can));
            rc = bm_fail(error, BOUMA_EINVAL, "option '%s' is %s; it can be %s",
                         option->about.name, is, can);
        }
    if (!rc && out->io && !is_table(out->io))
        rc = bm_fail(error, BOUMA_EINVAL,
                     "option 'io' has a table of %zu bytes; this library's "
                     "bouma_io has %zu",
                     out->io->size, sizeof(bouma_io));
    if (!rc && out->allocator &&
        out->allocator->size != sizeof(bouma_allocator))
        rc = bm_fail(error, BOUMA_EINVAL,
                     "option 'allocator' has a table of %zu bytes; this "
                     "library's bouma_allocator has %zu",
                     out->allocator->size, sizeof(bouma_allocator));
    return rc;
}

/* What the program and the environment say. */
static int take(struct bm_options *out, const bouma_options *given,
                struct bm_error *error)
{
    bouma_options whole;
    int rc = BOUMA_OK;

    memset(out, 0, sizeof(*out));
    if (given && !bm_struct_copy(&whole, sizeof(whole), given, given->size))
        rc = bm_fail(error, BOUMA_EINVAL,
                     "bouma_options: 'size' is not set to "
                     "sizeof(bouma_options), or fields of a newer version are "
                     "set");
    if (!rc && given)
        rc = take_fields(out, &whole, error);
    return rc ? rc : from_environment(out, error);
}

/* Files by node: 'assign' and 'nodes_per_file' both say so, or neither. What
 * says how many files there are, or which has what, cannot be said besides. */
static int settle_files(struct bm_options *o, struct bm_error *error)
{
    if (o->assign == BOUMA_ASSIGN_PER_NODE && !o->nodes_per_file)
        o->nodes_per_file = 1;
    if (!o->nodes_per_file)
        return BOUMA_OK;
    if (o->assign && o->assign != BOUMA_ASSIGN_PER_NODE)
        return bm_fail(error, BOUMA_EINVAL,
                       "with one file for each node, or every few, there is "
                       "nothing to assign: leave out 'assign', or "
                       "'nodes_per_file' (files=node)");
    if (o->files || o->file_size)
        return bm_fail(error, BOUMA_EINVAL,
                       "with one file for each node, or every few, what their "
                       "ranks have decides the number and size of files: leave "
                       "out '%s', or 'nodes_per_file' (files=node)",
                       o->files ? "files" : "file_size");
    o->assign = BOUMA_ASSIGN_PER_NODE;
    return BOUMA_OK;
}

int bm_options_complete(struct bm_options *out, const bouma_options *given,
                        struct bm_error *error)
{
    const struct bm_option *option;
    int rc = take(out, given, error);

    /* Complete also after a failure: opening goes on to tell all ranks. */
    if (!out->io || !is_table(out->io))
        out->io = bouma_io_posix();
    for (int i = 0; (option = bm_option_at(i)); i++)
        bm_option_complete(option, out);
    out->buffers = out->buffers ? out->buffers : out->async ? 16 : 2;
    if (!strcmp(out->trace, "off"))
        out->trace[0] = 0;
    return rc ? rc : settle_files(out, error);
}

int bouma_options_get(char *text, size_t text_bytes, const bouma_options *opts,
                      const char *name, char *message, size_t bytes)
{
    BM_STRICT_MATH;
    const struct bm_option *option = name ? bm_option_find(name) : NULL;
    struct bm_error error = {0};
    struct bm_options all;
    char wrong[BM_ERROR_BYTES];
    int rc = BOUMA_OK;

    if (message && bytes)
        message[0] = 0;
    if (text && text_bytes)
        text[0] = 0;
    if (!text || !text_bytes || !name) {
        rc = bm_fail(&error, BOUMA_EINVAL,
                     "bouma_options_get() needs a place for the text, and a "
                     "name");
    } else if (!option) {
        tell_wrong(name, "", wrong, sizeof(wrong));
        rc = bm_fail(&error, BOUMA_EINVAL, "%s", wrong);
    } else {
        rc = take(&all, opts, &error);
    }
    if (!rc &&
        (size_t)bm_option_text(option, &all, text, text_bytes) >= text_bytes) {
        text[0] = 0;
        rc = bm_fail(&error, BOUMA_EINVAL,
                     "the text of option '%s' does not fit into %zu bytes",
                     name, text_bytes);
    }
    if (rc)
        bm_api_tell(message, bytes, error.text);
    return rc;
}
