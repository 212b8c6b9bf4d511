/* oracle.h -- what must be in a dataset, given what the library has said.
 *
 * A writer tells the oracle what it is about to write and which steps the
 * library acknowledged. After a crash the oracle reads the dataset and counts
 * what breaks a promise. */
#ifndef ORACLE_H
#define ORACLE_H

#include "bouma.h"

#define ORACLE_STEPS 8

/* Generations of a step are written in ascending order, so "at least that one"
 * says what a reader may find. */
struct oracle_step {
    int tried;   /* newest generation handed to the library; -1: none */
    int acked;   /* newest one it acknowledged: survives a killed program */
    int durable; /* newest one that survives a power loss as well */
    int held;    /* acknowledged by the writer at work, not yet durable */
    int bare;    /* it was mended, at the price of its attributes */
};

struct oracle {
    bouma_durability durability;
    int group;    /* steps a group, in BOUMA_DURABILITY_GROUP */
    int held;     /* acknowledged steps of the unfinished group */
    int created;  /* bouma_dataset_create() said success */
    int readable; /* the last check could open the dataset */
    struct oracle_step steps[ORACLE_STEPS];
};

void oracle_init(struct oracle *o, bouma_durability durability, int group);

void oracle_created(struct oracle *o);
/* 'generation' of 'step' is about to be written; and was, with success. */
void oracle_trying(struct oracle *o, int step, int generation);
void oracle_acked(struct oracle *o, int step, int generation);
/* bouma_dataset_flush() or bouma_dataset_close() said success. */
void oracle_flushed(struct oracle *o);
/* A call on the dataset failed while the program lived on: a group that was
 * held back may have been given up with it, as the message then says. */
void oracle_failed(struct oracle *o);

/* What happened before a dataset is read. */
enum oracle_event {
    ORACLE_POWER_LOSS, /* unsynced things may be gone */
    ORACLE_KILL,       /* the program ended, no more; a group is held back */
    ORACLE_REPAIRED    /* as before, and bouma_repair() has published what the
                          killed program held back */
};

/* Promises broken. */
struct tally {
    long states;  /* looked at */
    long lost;    /* acknowledged, and not there */
    long silent;  /* read with success, and wrong */
    long partial; /* there, and not readable in full */
    long stuck;   /* a call failed that must not: the dataset cannot be used */
};

long tally_violations(const struct tally *t);
/* Count one of them (&t->lost, ...), with a text as for printf(). */
void tally_add(long *count, const char *format, ...);

/* Read the dataset at 'path' and count. What survived a power loss is expected
 * from then on. */
void oracle_check(struct oracle *o, struct tally *t, const char *path,
                  const bouma_options *opts, enum oracle_event event);

/* Print each violation as it is counted, with 'context' before it; NULL: do not
 * print. */
void oracle_report_as(const char *context);
/* After some violations no more are printed, until this is called. */
void oracle_report_afresh(void);

#endif
