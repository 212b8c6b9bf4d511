/* explore.h -- the parts of the exploration; each adds to a tally. */
#ifndef EXPLORE_H
#define EXPLORE_H

#include "oracle.h"
#include "weak_fs.h"

#define EXPLORE_PATH "d.bouma"

struct variant {
    const char *name;
    bouma_durability durability;
    int group;
    int replace;
    int steps; /* written before the first crash */
};

/* A safety action left out; .what 0 for none. */
struct omission {
    enum weak_drop what;
    const char *pattern;
    int every; /* of states, or of calls, one in so many; 0: all */
};

/* So many states of all, and at least one. */
static inline int explore_some(const struct omission *omission, int all)
{
    int n = omission->every ? all / omission->every : all;

    return n ? n : 1;
}

/* From one call that is tried to the next. */
static inline long explore_stride(const struct omission *omission)
{
    return omission->every ? omission->every : 1;
}

/* Whether a safety action that is left out was missed: once is enough. */
static inline int explore_noticed(const struct tally *t,
                                  const struct omission *omission)
{
    return omission->what && tally_violations(t);
}

/* Options of a variant over 'io'. */
void explore_options(bouma_options *opts, const struct variant *v,
                     const bouma_io *io);

/* explore_crash.c: the machine dies in every call of a writer, and again in a
 * call of the next one; 'repetitions' states for each of the first. */
void explore_crashes(struct tally *t, const struct variant *v,
                     const struct omission *omission, int repetitions);

/* explore_error.c: every call fails in every way, once or from then on; the
 * program goes on with the same handle. Then the power goes. */
void explore_errors(struct tally *t, const struct variant *v,
                    const struct omission *omission);

/* explore_race.c: between any two calls of a writer, another program reads the
 * dataset; or another writer takes it over and writes the same step; or wants
 * to write as well and does not insist. */
void explore_readers(struct tally *t, const struct variant *v);
void explore_writers(struct tally *t, const struct omission *omission);
void explore_claims(struct tally *t, const struct omission *omission);

/* explore_pairs.c: between any two calls of a program that repairs, forgets,
 * clobbers, appends or truncates, another one does one of these. */
void explore_pairs(struct tally *t, const struct omission *omission);

/* explore_loss.c: the claims of earlier writers are lost, so that a new one
 * takes names that are taken; it dies in any of its calls. */
void explore_lost_claims(struct tally *t, const struct omission *omission);

/* explore_drain.c: a writer whose steps persist in a local copy, and those who
 * drain it later, die in any of their calls. */
void explore_drains(struct tally *t, const struct omission *omission);

/* explore_removal.c: one whose dataset makes way for another, or who drops
 * steps, dies in any of its calls. */
void explore_clobbers(struct tally *t, const struct omission *omission);
void explore_truncations(struct tally *t, const struct omission *omission);
void explore_deletions(struct tally *t, const struct omission *omission);
/* explore_several.c: one who deletes several steps, of which one has lost a
 * file, dies in any of its calls; the same call does the rest. */
void explore_several(struct tally *t, const struct omission *omission);
/* explore_extension.c: one who extends a step, or replaces or drops one that was
 * extended, dies in any of its calls; or one of them fails. */
void explore_extensions(struct tally *t, const struct omission *omission);
/* explore_removal.c: a step that is on record as lost is written again, fast,
 * and its writer dies in any of its calls. */
void explore_records(struct tally *t, const struct omission *omission);

/* explore_repair.c: a repair that mends files dies in any of its calls. */
void explore_repairs(struct tally *t, const struct omission *omission);

#endif
