/* size_grid.c -- see size_grid.h. */
#include "size_grid.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print_json.h"

/* ---- the file ----------------------------------------------------------- */

struct message {
    char *text;
    size_t room;
};

__attribute__((format(printf, 2, 3))) static bool
refuse(const struct message *m, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (m->room)
        vsnprintf(m->text, m->room, format, args);
    va_end(args);
    return false;
}

static bool parse_ranks(struct size_grid *out, const json_t *root,
                        const struct message *m)
{
    const json_t *ranks = json_object_get(root, "ranks");
    int64_t all = 1;

    if (json_array_size(ranks) != 3)
        return refuse(m, "\"ranks\" are not three numbers");
    for (size_t d = 0; d < 3; d++) {
        int64_t n = json_integer_value(json_array_get(ranks, d));

        if (n < 1 || n > SIZE_GRID_MOST_RANKS / all)
            return refuse(m,
                          "\"ranks\" are not numbers from 1 on, or more "
                          "than %" PRId64 " in all",
                          SIZE_GRID_MOST_RANKS);
        out->ranks[d] = n;
        all *= n;
    }
    return true;
}

static bool parse_bytes(struct size_grid_variable *out, const json_t *bytes,
                        size_t ranks, const struct message *m)
{
    if (json_array_size(bytes) != ranks)
        return refuse(m, "variable \"%s\" has %zu sizes for %zu ranks",
                      out->name, json_array_size(bytes), ranks);
    out->bytes = malloc(ranks * sizeof(*out->bytes));
    if (!out->bytes)
        return refuse(m, "out of memory");
    for (size_t i = 0; i < ranks; i++) {
        const json_t *value = json_array_get(bytes, i);
        int64_t n = json_integer_value(value);

        if (!json_is_integer(value) || n < 0 ||
            (uint64_t)n > SIZE_GRID_MOST_BYTES)
            return refuse(m,
                          "variable \"%s\": size %zu is not a whole number "
                          "up to 2^53",
                          out->name, i);
        out->bytes[i] = (uint64_t)n;
    }
    return true;
}

/* The i-th one, after those that are there. */
static bool parse_variable(struct size_grid *out, const json_t *variable,
                           const struct message *m)
{
    const char *name = json_string_value(json_object_get(variable, "name"));
    struct size_grid_variable *v = &out->variables[out->count];

    if (!name || !*name)
        return refuse(m, "variable %zu has no name", out->count);
    if (size_grid_find(out, name) >= 0)
        return refuse(m, "there are two variables \"%s\"", name);
    v->name = strdup(name);
    if (!v->name)
        return refuse(m, "out of memory");
    out->count++;
    return parse_bytes(v, json_object_get(variable, "bytes"),
                       (size_t)(out->ranks[0] * out->ranks[1] * out->ranks[2]),
                       m);
}

static bool parse_root(struct size_grid *out, const json_t *root,
                       const struct message *m)
{
    const char *format = json_string_value(json_object_get(root, "format"));
    const json_t *variables = json_object_get(root, "variables");
    size_t count = json_array_size(variables);

    if (!format || strcmp(format, SIZE_GRID_FORMAT) != 0)
        return refuse(m, "\"format\" is not \"%s\"", SIZE_GRID_FORMAT);
    if (!parse_ranks(out, root, m))
        return false;
    if (!count)
        return refuse(m, "there are no variables");
    out->variables = calloc(count, sizeof(*out->variables));
    if (!out->variables)
        return refuse(m, "out of memory");
    for (size_t i = 0; i < count; i++)
        if (!parse_variable(out, json_array_get(variables, i), m))
            return false;
    return true;
}

bool size_grid_parse(struct size_grid *out, const char *text, size_t size,
                     char *message, size_t room)
{
    struct message m = {message, room};
    json_error_t error;
    json_t *root;
    bool done;

    memset(out, 0, sizeof(*out));
    root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    done = root ? parse_root(out, root, &m)
                : refuse(&m, "line %d: %s", error.line, error.text);
    json_decref(root);
    return done;
}

void size_grid_release(struct size_grid *grid)
{
    for (size_t i = 0; i < grid->count; i++) {
        free(grid->variables[i].name);
        free(grid->variables[i].bytes);
    }
    free(grid->variables);
    memset(grid, 0, sizeof(*grid));
}

int size_grid_find(const struct size_grid *grid, const char *name)
{
    for (size_t i = 0; i < grid->count; i++)
        if (!strcmp(grid->variables[i].name, name))
            return (int)i;
    return -1;
}

/* ---- other grids of ranks ----------------------------------------------- */

/* Between which two ranks of 'from' along an axis the centre of block 'at' of
 * 'to' lies, and how far behind the first, from 0 to below 1. */
struct between {
    int64_t low, high;
    double behind;
};

static struct between find_between(int64_t from, int64_t to, int64_t at)
{
    /* (at + 1/2) from / to - 1/2, in parts of 2 to. */
    int64_t parts = 2 * to, x = (2 * at + 1) * from - to;
    struct between b = {0, 0, 0};

    if (x <= 0)
        return b;
    b.low = x / parts;
    if (b.low >= from - 1) {
        b.low = b.high = from - 1;
        return b;
    }
    b.high = b.low + 1;
    b.behind = (double)(x % parts) / (double)parts;
    return b;
}

static double mix(double low, double high, double behind)
{
    return low + (high - low) * behind;
}

uint64_t size_grid_bytes(const struct size_grid *grid, size_t variable,
                         const int64_t ranks[3], const int64_t at[3])
{
    const uint64_t *bytes = grid->variables[variable].bytes;
    struct between b[3];
    double plane[2];

    for (int d = 0; d < 3; d++)
        b[d] = find_between(grid->ranks[d], ranks[d], at[d]);
    for (int z = 0; z < 2; z++) {
        double row[2];

        for (int y = 0; y < 2; y++) {
            const uint64_t *line =
                bytes +
                grid->ranks[0] * ((y ? b[1].high : b[1].low) +
                                  grid->ranks[1] * (z ? b[2].high : b[2].low));

            row[y] = mix((double)line[b[0].low], (double)line[b[0].high],
                         b[0].behind);
        }
        plane[z] = mix(row[0], row[1], b[1].behind);
    }
    return (uint64_t)(mix(plane[0], plane[1], b[2].behind) + 0.5);
}

uint64_t size_grid_bytes_of_all(const struct size_grid *grid,
                                const int64_t ranks[3], const int64_t at[3])
{
    uint64_t sum = 0;

    for (size_t i = 0; i < grid->count; i++) {
        uint64_t bytes = size_grid_bytes(grid, i, ranks, at);

        sum = bytes < (uint64_t)INT64_MAX - sum ? sum + bytes
                                                : (uint64_t)INT64_MAX;
    }
    return sum;
}
