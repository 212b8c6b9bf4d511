/* explore.c -- does the library keep its promises through crashes, errors and
 * other programs? On a file system that is weaker than any real one.
 *
 *     explore [REPETITIONS [NAME]]
 *         so many states for each call in which the machine dies; only one
 *         variant, or one history. With 1, failing calls, pairs of programs
 *         and removals are thinned out, too
 *     explore --mutants
 *         leave out one safety action at a time: each time a promise must be
 *         seen broken, and it ends there */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"
#include "store/store.h"

#define DEFAULT_REPETITIONS 40
#define MUTANT_REPETITIONS  12

static const struct variant variants[] = {
    {"durable", BOUMA_DURABILITY_DURABLE, 0, 0, 3},
    {"replace", BOUMA_DURABILITY_DURABLE, 0, 1, 2},
    {"fast", BOUMA_DURABILITY_FAST, 0, 0, 3},
    {"fast-replace", BOUMA_DURABILITY_FAST, 0, 1, 2},
    {"group", BOUMA_DURABILITY_GROUP, 3, 0, 6},
    {"group-replace", BOUMA_DURABILITY_GROUP, 2, 1, 2},
};
static const int variant_count = (int)(sizeof(variants) / sizeof(variants[0]));

/* With one state for each call, the rest is thinned out, too. */
static const struct omission nothing_omitted = {WEAK_DROP_NOTHING, NULL, 0};
static const struct omission thinned_out = {WEAK_DROP_NOTHING, NULL, 4};

static long print_tally(const char *variant, const char *part,
                        const struct tally *t)
{
    printf("%-28s %-8s states=%ld lost=%ld silent=%ld partial=%ld stuck=%ld\n",
           variant, part, t->states, t->lost, t->silent, t->partial, t->stuck);
    fflush(stdout);
    return tally_violations(t);
}

/* Histories that are the same for all variants. */
typedef void history(struct tally *t, const struct omission *omission);

static const struct {
    const char *name;
    history *run;
} histories[] = {
    {"writers", explore_writers},   {"claims", explore_claims},
    {"loss", explore_lost_claims},  {"drains", explore_drains},
    {"clobber", explore_clobbers},  {"truncate", explore_truncations},
    {"delete", explore_deletions},  {"several", explore_several},
    {"extend", explore_extensions}, {"repair", explore_repairs},
    {"records", explore_records},   {"pairs", explore_pairs},
};

static long run_variants(int repetitions, const char *only)
{
    const struct omission *all =
        repetitions > 1 ? &nothing_omitted : &thinned_out;
    long violations = 0, chosen = 0;

    for (int i = 0; i < variant_count; i++) {
        const struct variant *v = &variants[i];
        struct tally crashes = {0}, errors = {0}, readers = {0};

        if (only && strcmp(only, v->name))
            continue;
        chosen++;
        oracle_report_afresh();
        explore_crashes(&crashes, v, all, repetitions);
        violations += print_tally(v->name, "crashes", &crashes);
        explore_errors(&errors, v, all);
        violations += print_tally(v->name, "errors", &errors);
        explore_readers(&readers, v);
        violations += print_tally(v->name, "readers", &readers);
    }
    for (size_t i = 0; i < sizeof(histories) / sizeof(histories[0]); i++) {
        struct tally t = {0};

        if (only && strcmp(only, histories[i].name))
            continue;
        chosen++;
        oracle_report_afresh();
        histories[i].run(&t, all);
        violations += print_tally("durable", histories[i].name, &t);
    }
    if (!chosen)
        fprintf(stderr, "explore: no variant or history '%s'\n", only);
    return violations + !chosen;
}

/* ---- mutants ------------------------------------------------------------ */

struct mutant {
    const char *name;
    struct omission omission;
    int variant;      /* whose crashes must notice, */
    history *instead; /* if not this history */
};

static const struct mutant mutants[] = {
    {"sync does nothing", {WEAK_DROP_SYNC, NULL, 0}, 0, NULL},
    {"sync_dir does nothing", {WEAK_DROP_SYNC_DIR, NULL, 0}, 0, NULL},
    {"no sync of subfiles", {WEAK_DROP_SYNC, "steps/*/d.*", 0}, 0, NULL},
    {"no sync of manifests", {WEAK_DROP_SYNC, "steps/*/manifest*", 0}, 0, NULL},
    {"no sync of DATASET", {WEAK_DROP_SYNC, "DATASET*", 0}, 0, NULL},
    {"no sync of step directories",
     {WEAK_DROP_SYNC_DIR, "steps/*", 0},
     0,
     NULL},
    {"  before the commit", {WEAK_DROP_FIRST_SYNC_DIR, "steps/*", 0}, 0, NULL},
    {"  after the commit", {WEAK_DROP_LATER_SYNC_DIR, "steps/*", 0}, 0, NULL},
    {"no sync of steps/", {WEAK_DROP_SYNC_DIR, "steps", 0}, 0, NULL},
    {"no sync of the root", {WEAK_DROP_SYNC_DIR, "", 0}, 0, NULL},
    {"no sync of epochs/", {WEAK_DROP_SYNC_DIR, "epochs", 0}, 1, NULL},
    {"publish replaces",
     {WEAK_DROP_PUBLISH_EXCLUSIVE, "steps/*/*", 0},
     0,
     explore_writers},
    /* Names do not meet as long as no epoch is claimed twice: so this is the
     * last defence, for the case that the claims are lost. */
    {"create takes what exists",
     {WEAK_DROP_CREATE_EXCLUSIVE, NULL, 0},
     0,
     explore_lost_claims},
    {"no sync of copies",
     {WEAK_DROP_SYNC, "steps/*/copy.*", 0},
     0,
     explore_drains},
    {"clobber: no sync of the root",
     {WEAK_DROP_SYNC_DIR, "", 0},
     0,
     explore_clobbers},
    {"clobber: no sync of steps/",
     {WEAK_DROP_SYNC_DIR, "steps", 0},
     0,
     explore_clobbers},
    {"truncate: no sync of step directories",
     {WEAK_DROP_SYNC_DIR, "steps/*", 0},
     0,
     explore_truncations},
    {"truncate: no sync of the root",
     {WEAK_DROP_SYNC_DIR, "", 0},
     0,
     explore_truncations},
    {"truncate: no sync of the record",
     {WEAK_DROP_SYNC, "truncations*", 0},
     0,
     explore_truncations},
    {"delete: no sync of step directories",
     {WEAK_DROP_SYNC_DIR, "steps/*", 0},
     0,
     explore_deletions},
    {"delete: no sync of the record",
     {WEAK_DROP_SYNC, "truncations*", 0},
     0,
     explore_deletions},
    {"delete: no sync of the index",
     {WEAK_DROP_SYNC, "index", 0},
     0,
     explore_deletions},
    {"several: no sync of step directories",
     {WEAK_DROP_SYNC_DIR, "steps/*", 0},
     0,
     explore_several},
    {"extend: no sync of step directories",
     {WEAK_DROP_SYNC_DIR, "steps/*", 0},
     0,
     explore_extensions},
    {"extend: no sync of subfiles",
     {WEAK_DROP_SYNC, "steps/*/d.*", 0},
     0,
     explore_extensions},
    {"extend: no sync of manifests",
     {WEAK_DROP_SYNC, "steps/*/manifest*", 0},
     0,
     explore_extensions},
    {"repair: no sync of mended files",
     {WEAK_DROP_SYNC, "steps/*/mended.*", 0},
     0,
     explore_repairs},
    {"repair: no sync of step directories",
     {WEAK_DROP_SYNC_DIR, "steps/*", 0},
     0,
     explore_repairs},
    /* Who comes second finds the file of the owner, and fails; but it fails as
     * one that has claimed the epoch, and marks it as closed. */
    {"epochs are not exclusive",
     {WEAK_DROP_MAKE_EXCLUSIVE, "epochs/*", 0},
     0,
     explore_claims},
};

/* Of the program whose steps have subdirectories. */
static const struct mutant mutants_with_folders[] = {
    {"no sync of subdirectories",
     {WEAK_DROP_SYNC_DIR, "steps/*/*", 0},
     0,
     NULL},
    {"group: no sync of subdirectories",
     {WEAK_DROP_SYNC_DIR, "steps/*/*", 0},
     4,
     NULL},
    {"drain: no sync of subdirectories",
     {WEAK_DROP_SYNC_DIR, "steps/*/*", 0},
     0,
     explore_drains},
    {"repair: no sync of subdirectories",
     {WEAK_DROP_SYNC_DIR, "steps/*/*", 0},
     0,
     explore_repairs},
};

static int has_folders(void)
{
    char name[BM_NAME_BYTES], folder[BM_NAME_BYTES];

    bm_name_subfile(name, 0, 1, (struct bm_generation){1, 1});
    return bm_name_folder(folder, name);
}

/* The number of mutants that were not noticed; of those with 'only' in their
 * names, unless it is NULL. */
static long run_mutants(const char *only)
{
    const struct mutant *all = has_folders() ? mutants_with_folders : mutants;
    size_t count =
        has_folders() ? sizeof(mutants_with_folders) : sizeof(mutants);
    long missed = 0;

    for (size_t i = 0; i < count / sizeof(*all); i++) {
        const struct mutant *m = &all[i];
        struct tally t = {0};
        long violations;

        if (only && !strstr(m->name, only))
            continue;
        if (m->instead)
            m->instead(&t, &m->omission);
        else
            explore_crashes(&t, &variants[m->variant], &m->omission,
                            MUTANT_REPETITIONS);
        violations = print_tally(m->name, "mutant", &t);
        if (!violations) {
            printf("    NOT NOTICED\n");
            missed++;
        }
    }
    return missed;
}

int main(int argc, char **argv)
{
    int repetitions = DEFAULT_REPETITIONS;

    if (argc > 1 && strcmp(argv[1], "--mutants") == 0)
        return run_mutants(argc > 2 ? argv[2] : NULL) ? EXIT_FAILURE
                                                      : EXIT_SUCCESS;
    if (argc > 1)
        repetitions = atoi(argv[1]);
    if (repetitions < 1) {
        fprintf(stderr,
                "usage: explore [--mutants [NAME] | REPETITIONS [NAME]]\n");
        return 2;
    }
    return run_variants(repetitions, argc > 2 ? argv[2] : NULL) ? EXIT_FAILURE
                                                                : EXIT_SUCCESS;
}
