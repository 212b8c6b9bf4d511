/* exporter_csv.c -- particles as text: a line of names, then a line for each,
 * with as many digits as it takes to read the very same numbers again. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporter.h"
#include "particle_sink.h"
#include "real_text.h"

enum { PIECE = 1 << 18, LONGEST = 1024 }; /* bytes: buffer, one field */

struct csv_text {
    uint64_t offset; /* of the output, up to which it is written */
    size_t filled;
    char buffer[PIECE];
};

static int flush_text(struct particle_sink *sink)
{
    struct csv_text *text = sink->state;
    int rc = output_write(sink->output, sink->ctx, text->buffer, text->filled,
                          text->offset);

    text->offset += text->filled;
    text->filled = 0;
    return rc;
}

/* ---- names --------------------------------------------------------------- */

/* x, y and z stand for the position, unless something else has such a name. */
static bool axes_are_free(const struct particle_sink *sink)
{
    for (size_t v = 0; v < sink->count; v++) {
        const char *name = sink->variables[v].name;

        if (sink->variables[v].components == 1 && name[0] >= 'x' &&
            name[0] <= 'z' && name[1] == '\0')
            return false;
    }
    return true;
}

/* Quotes around a name that a reader could take for something else. */
static void add_name(struct csv_text *text, const char *name)
{
    bool quoted = strpbrk(name, ",;\"\t ") != NULL;

    if (quoted)
        text->buffer[text->filled++] = '"';
    for (; *name; name++) {
        if (*name == '"')
            text->buffer[text->filled++] = '"';
        text->buffer[text->filled++] = *name;
    }
    if (quoted)
        text->buffer[text->filled++] = '"';
}

static int csv_open(struct particle_sink *sink)
{
    struct csv_text *text = malloc(sizeof(*text));
    bool axes = axes_are_free(sink);
    int rc = DONE;

    sink->state = text;
    if (!text)
        return context_fail(sink->ctx, DATA_AT_FAULT, "out of memory");
    text->offset = 0;
    text->filled = 0;
    for (size_t v = 0; !rc && v < sink->count; v++) {
        const bouma_variable_info *about = &sink->variables[v];
        bool position = strcmp(about->name, "position") == 0;

        for (int c = 0; !rc && c < about->components; c++) {
            char name[300];

            if (position && axes)
                snprintf(name, sizeof(name), "%c", 'x' + c);
            else if (position || about->components > 1)
                snprintf(name, sizeof(name), "%s_%d", about->name, c);
            else
                snprintf(name, sizeof(name), "%s", about->name);
            if (v + (size_t)c > 0)
                text->buffer[text->filled++] = ',';
            add_name(text, name);
            if (text->filled > PIECE - LONGEST)
                rc = flush_text(sink);
        }
    }
    text->buffer[text->filled++] = '\n';
    return rc;
}

static void csv_release(struct particle_sink *sink)
{
    free(sink->state);
    sink->state = NULL;
}

/* ---- numbers ------------------------------------------------------------- */

static size_t put_whole(char *out, uint64_t value, bool negative)
{
    char digits[24];
    size_t n = 0, used = 0;

    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    if (negative)
        out[used++] = '-';
    while (n > 0)
        out[used++] = digits[--n];
    return used;
}

static size_t put_signed(char *out, int64_t value)
{
    return put_whole(out, value < 0 ? -(uint64_t)value : (uint64_t)value,
                     value < 0);
}

static size_t put_value(char *out, bouma_type type, const void *values,
                        uint64_t i)
{
    switch (type) {
    case BOUMA_TYPE_I8:
        return put_signed(out, ((const int8_t *)values)[i]);
    case BOUMA_TYPE_I16:
        return put_signed(out, ((const int16_t *)values)[i]);
    case BOUMA_TYPE_I32:
        return put_signed(out, ((const int32_t *)values)[i]);
    case BOUMA_TYPE_I64:
        return put_signed(out, ((const int64_t *)values)[i]);
    case BOUMA_TYPE_U8:
        return put_whole(out, ((const uint8_t *)values)[i], false);
    case BOUMA_TYPE_U16:
        return put_whole(out, ((const uint16_t *)values)[i], false);
    case BOUMA_TYPE_U32:
        return put_whole(out, ((const uint32_t *)values)[i], false);
    case BOUMA_TYPE_U64:
        return put_whole(out, ((const uint64_t *)values)[i], false);
    case BOUMA_TYPE_F32:
        return real_text_f32(out, ((const float *)values)[i]);
    case BOUMA_TYPE_F64:
        return real_text_f64(out, ((const double *)values)[i]);
    case BOUMA_TYPE_STRING:
        break;
    }
    return 0;
}

static int csv_take(struct particle_sink *sink, const bouma_batch *batch)
{
    struct csv_text *text = sink->state;
    int rc = DONE;

    for (uint64_t i = 0; !rc && i < batch->count; i++) {
        for (size_t v = 0; !rc && v < sink->count; v++) {
            const bouma_variable_info *about = &sink->variables[v];

            for (int c = 0; !rc && c < about->components; c++) {
                if (v + (size_t)c > 0)
                    text->buffer[text->filled++] = ',';
                text->filled += put_value(text->buffer + text->filled,
                                          about->type, batch->columns[v],
                                          (uint64_t)c * batch->count + i);
                if (text->filled > PIECE - LONGEST)
                    rc = flush_text(sink);
            }
        }
        text->buffer[text->filled++] = '\n';
    }
    return rc;
}

static int csv_finish(struct particle_sink *sink)
{
    return flush_text(sink);
}

const struct exporter export_csv = {
    .suffix = ".csv",
    .takes = EXPORT_PARTICLES,
    .stream = true,
    .help = "text: a line of names, then a line of numbers for each particle",
    .open = csv_open,
    .take = csv_take,
    .finish = csv_finish,
    .release = csv_release};
