/* two_stores.h -- a dataset and its local copy: DIR/far/d.bouma and
 * DIR/near/d.bouma. */
#ifndef TWO_STORES_H
#define TWO_STORES_H

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "step_writer.h"

struct stores {
    char dir[64], far[128], near[128], local_copy[160];
};

static inline bouma_options stores_options(const struct stores *w, int persist)
{
    bouma_options o = {.size = sizeof(o)};

    o.files = 2;
    o.persist = persist;
    if (persist)
        o.local = w->near;
    return o;
}

/* Steps 0 to 3 of generation 1, with 'persist' in both stores. */
static inline void stores_make(struct stores *w, int persist)
{
    struct writer writer = {0};
    bouma_options o;

    memset(w, 0, sizeof(*w));
    snprintf(w->dir, sizeof(w->dir), "/tmp/two_stores.XXXXXX");
    REQUIRE(mkdtemp(w->dir));
    snprintf(w->far, sizeof(w->far), "%s/far", w->dir);
    snprintf(w->near, sizeof(w->near), "%s/near", w->dir);
    REQUIRE(!mkdir(w->far, 0777) && !mkdir(w->near, 0777));
    snprintf(w->local_copy, sizeof(w->local_copy), "%s/d.bouma", w->near);
    strcat(w->far, "/d.bouma");
    o = stores_options(w, persist);
    MUST(writer.ds, bouma_dataset_create(&writer.ds, w->far, &o));
    for (int step = 0; step < 4; step++)
        write_step(&writer, step, 1);
    end(&writer);
}

static inline void stores_end(const struct stores *w)
{
    REQUIRE(!remove_tree(w->dir));
}

static inline int stores_drain(const struct stores *w, int remove,
                               bouma_drain_report *report)
{
    bouma_options o = stores_options(w, 0);
    char message[640];

    report->size = sizeof(*report);
    return bouma_drain(report, w->local_copy, w->far, remove, &o, message,
                       sizeof(message));
}

/* Which generation of steps 0 to 3 is in a store, as digits, '-' for none. With
 * 'local' also from the local copy. */
static inline const char *stores_look(const struct stores *w, const char *path,
                                      int local, char text[5])
{
    bouma_options o = stores_options(w, 0);
    bouma_dataset *ds;

    if (local)
        o.local = w->near;
    MUST(ds, bouma_dataset_open(&ds, path, &o));
    for (int step = 0; step < 4; step++) {
        int generation = -1;
        enum scenario_verdict verdict = scenario_read(ds, step, &generation);

        text[step] = verdict == SCENARIO_EXACT    ? (char)('0' + generation)
                     : verdict == SCENARIO_ABSENT ? '-'
                                                  : '?';
    }
    text[4] = 0;
    bouma_dataset_free(ds);
    return text;
}

/* A command, in DIR. */
static inline void stores_shell(const struct stores *w, const char *command)
{
    char text[400];

    snprintf(text, sizeof(text), "cd %s && %s", w->dir, command);
    REQUIRE(!system(text));
}

#endif
