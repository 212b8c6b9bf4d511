/* export_format.h -- the formats of other programs that `bouma export` writes,
 * as a table.
 *
 * A format is a file of its own, with its record, and a line in the list
 * below. */
#ifndef EXPORT_FORMAT_H
#define EXPORT_FORMAT_H

#include "arguments.h"
#include "progress_bar.h"

/* A variable of the grid. */
struct exported_variable {
    char *name;
    bouma_type type;
    int components;
};

/* What is exported: variables of one grid, in steps that all have them. */
struct export_request {
    const struct arguments *args;
    const char *target; /* OUT */
    char *named;        /* NULL, or the same, if nobody has said it */
    bouma_dataset *ds;
    struct progress_bar *bar;
    int64_t *steps;
    size_t step_count;
    char *grid_name;
    bouma_grid_info grid; /* as in the first of the steps, but for the texts */
    struct exported_variable *variables;
    int variable_count;
    uint64_t files, bytes; /* what was written, by all processes */
};

/* Open step i of the request, and find its variables, in the order of the
 * request. The caller frees *step, also after a failure. Collective. */
int export_open_step(bouma_step **step, bouma_variable **variables,
                     const struct export_request *request, struct context *ctx,
                     size_t i);

struct export_format {
    const char *name;   /* for --format */
    const char *suffix; /* of OUT */
    /* Sets 'files' and 'bytes'. Collective. */
    int (*run)(struct export_request *request, struct context *ctx);
};

/* All formats, in the order of messages and help: a new one adds a line here. */
#define EXPORT_FORMAT_LIST(X) X(idx)
#define EXPORT_FORMAT_LIST_ENTRY(name)                                         \
    extern const struct export_format export_format_##name;
EXPORT_FORMAT_LIST(EXPORT_FORMAT_LIST_ENTRY)
#undef EXPORT_FORMAT_LIST_ENTRY

/* "idx|...", for the table of options. */
#define EXPORT_FORMAT_WORD(name) "|" #name
#define EXPORT_FORMAT_CHOICES    (&(EXPORT_FORMAT_LIST(EXPORT_FORMAT_WORD))[1])

#endif
