/* fault_io.h -- a table of functions around another one, whose n-th call goes
 * wrong in a way that a program survives. */
#ifndef FAULT_IO_H
#define FAULT_IO_H

#include "bouma_store.h"

enum fault_effect {
    FAULT_ERROR,   /* nothing is done, 'error' is returned */
    FAULT_AFTER,   /* all is done, and 'error' is returned nevertheless, as when
                      the answer of a server is lost */
    FAULT_SHORT,   /* a read or write moves half of the bytes */
    FAULT_NOTHING, /* a read or write moves no byte and says success */
    FAULT_FLIP     /* a read gives one wrong bit */
};

struct fault {
    const char *name;
    enum fault_effect effect;
    int error; /* errno value */
};

/* All the faults that the tests know. */
extern const struct fault fault_list[];
extern const int fault_count;

struct fault_io {
    bouma_io table; /* to put into bouma_options */
    const bouma_io *inner;

    struct fault fault;
    long at;    /* the call, from 1, that goes wrong; 0: none */
    int sticky; /* and all after it */

    long calls; /* since fault_io_arm() */
    long fired; /* calls that went wrong */
    int kept;   /* one of them was to remove something */
    long open;  /* files and roots that are open */

    /* Told of every call before it is made; may be NULL. */
    void (*before)(void *user, long call);
    void *before_user;

    /* Told of a sync() that fails, before it returns; may be NULL. */
    void (*sync_failed)(void *user, void *file);
    void *sync_failed_user;
};

void fault_io_init(struct fault_io *io, const bouma_io *inner);
/* Begin to count; the fault comes in call 'at'. */
void fault_io_arm(struct fault_io *io, const struct fault *fault, long at,
                  int sticky);
void fault_io_disarm(struct fault_io *io);

#endif
