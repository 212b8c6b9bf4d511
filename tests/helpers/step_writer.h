/* step_writer.h -- a dataset and the steps of scenario.h that are written to
 * it. */
#ifndef STEP_WRITER_H
#define STEP_WRITER_H

#include "must.h"
#include "scenario.h"

struct writer {
    bouma_dataset *ds;
    struct scenario_writer s;
};

static inline void append(struct writer *w, const char *path,
                          const bouma_options *o)
{
    memset(w, 0, sizeof(*w));
    MUST(w->ds, bouma_dataset_append(&w->ds, path, o));
}

static inline void write_step(struct writer *w, int64_t step, int generation)
{
    MUST(w->ds, scenario_write(w->ds, &w->s, step, generation, 0, 1));
}

static inline void end(struct writer *w)
{
    MUST(w->ds, bouma_dataset_close(w->ds));
    bouma_dataset_free(w->ds);
}

static inline void append_step(const char *path, const bouma_options *o,
                               int64_t step, int generation)
{
    struct writer w;

    append(&w, path, o);
    write_step(&w, step, generation);
    end(&w);
}

#endif
