/* exporter.c -- the formats that commands write, by the end of a name. */
#include "exporter.h"

#include <stdio.h>
#include <stdlib.h>

#include "file_suffix.h"
#include "format_text.h"

#define ENTRY(name) &export_##name,
static const struct exporter *const exporters[] = {EXPORTER_LIST(ENTRY) NULL};

const struct exporter *exporter_at(enum exported takes, int i)
{
    for (int n = 0; exporters[n]; n++)
        if (exporters[n]->takes == takes && i-- == 0)
            return exporters[n];
    return NULL;
}

/* "OUT.npy, OUT.raw": what a path can end in, each after 'before', and 'last'
 * before the last one. */
static const char *list_suffixes(char *text, size_t bytes, enum exported takes,
                                 const char *before, const char *last)
{
    const struct exporter *one;
    size_t used = 0;

    for (int i = 0; (one = exporter_at(takes, i)) && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s%s",
                                 i == 0                      ? ""
                                 : exporter_at(takes, i + 1) ? ", "
                                                             : last,
                                 before, one->suffix);
    return text;
}

int exporter_find(const struct exporter **out, struct context *ctx,
                  enum exported takes, const char *path)
{
    bool stream = path && strcmp(path, "-") == 0;
    char list[FORMAT_BYTES];

    *out = NULL;
    if (!path)
        return context_fail(
            ctx, CALL_AT_FAULT, "say where to: %s or -o -",
            list_suffixes(list, sizeof(list), takes, "-o OUT", ", "));
    if (stream && ctx->json)
        return context_fail(
            ctx, CALL_AT_FAULT,
            "--json and -o - both use standard output; write to a file");
    for (int i = 0; exporter_at(takes, i); i++) {
        *out = exporter_at(takes, i);
        if (!(stream ? (*out)->stream : ends_in(path, (*out)->suffix)))
            continue;
        if (!(*out)->missing)
            return DONE;
        return context_fail(
            ctx, CALL_AT_FAULT,
            "this %s was built without %s, and cannot write %s files",
            session_program(), (*out)->missing, (*out)->suffix);
    }
    return context_fail(ctx, CALL_AT_FAULT,
                        "cannot tell the format of %s; end the name with %s",
                        path,
                        list_suffixes(list, sizeof(list), takes, "", " or "));
}

int exporter_draw(struct context *ctx, const char *path,
                  const struct canvas *canvas)
{
    bool mine = session_rank(ctx->session) == 0;
    const struct exporter *exporter;
    struct output output;
    void *data = NULL;
    size_t bytes = 0;
    int rc = exporter_find(&exporter, ctx, EXPORT_PICTURE, path);

    if (rc)
        return rc;
    rc = output_create(&output, ctx, path);
    if (!rc && mine)
        rc = exporter->encode(&data, &bytes, ctx, canvas);
    if (!rc && mine)
        rc = output_write(&output, ctx, data, bytes, 0);
    free(data);
    return output_finish(&output, ctx, rc);
}
