/* reader.h -- the handles of one thread: datasets and steps that it has open.
 * A handle is not for several threads at once, so each has its own. */
#ifndef SERVE_READER_H
#define SERVE_READER_H

#include "request.h"
#include "served.h"

#define READER_DATASETS 16
#define READER_STEPS    16

struct open_dataset;
struct open_step;

struct reader {
    struct served *served;
    bouma_allocator allocator;
    struct open_dataset *datasets; /* [READER_DATASETS] */
    struct open_step *steps;       /* [step_room] */
    int step_room;                 /* at most READER_STEPS */
    uint64_t clock;                /* counts uses */
};

/* The caller ends *out with reader_release(), after a failure too. */
bool reader_init(struct reader *out, struct served *served,
                 struct memory_budget *memory, int step_room);
void reader_release(struct reader *reader);
/* Close all that is open, to have its memory. */
void reader_forget(struct reader *reader);

/* The dataset of that name, with the steps that were committed by half a second
 * ago. It is the reader's. NULL, and the answer tells why, if there is none. */
bouma_dataset *reader_dataset(struct reader *reader, struct answer *answer,
                              const char *name);
/* The same with the steps that are committed by now: threads that answer parts
 * of one thing must not differ. */
bouma_dataset *reader_dataset_now(struct reader *reader, struct answer *answer,
                                  const char *name);
/* The same by number, as of served_get(): a status. */
int reader_open(bouma_dataset **out, struct reader *reader, size_t number);

/* A step that a request names. */
struct read_step {
    bouma_dataset *ds;
    bouma_step *step;
    int64_t number;
    double time;
    uint64_t tag;
};

/* Open step 'step' ("3", "last") of the dataset 'run'. What is opened is the
 * reader's, and valid until its next call. False, and the answer tells why, if
 * there is none. */
bool reader_step(struct read_step *out, struct reader *reader,
                 struct answer *answer, const char *run, const char *step);

/* Open the step, and let 'work' fill in the answer, unless the client has it
 * already; once more if the step was rewritten meanwhile, or if the memory of
 * what is open is needed. 'work' returns a status of the library; if that is a
 * failure, the answer tells the step's message. */
typedef int (*reader_work)(void *user, const struct read_step *step,
                           const struct request *request,
                           struct answer *answer);
void reader_with_step(const struct request *request, struct answer *answer,
                      const char *run, const char *step, reader_work work,
                      void *user);

/* What the dataset's handle has read from storage so far. */
uint64_t reader_bytes(const bouma_dataset *ds);

#endif
