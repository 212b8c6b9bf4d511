/* damage_io.h -- an I/O table that shows one file of another table damaged, and
 * changes nothing in truth. */
#ifndef DAMAGE_IO_H
#define DAMAGE_IO_H

#include "bouma.h"

enum damage_kind {
    DAMAGE_NONE,
    DAMAGE_FLIP,    /* the byte at 'at' is xored with 'mask' */
    DAMAGE_CUT,     /* the file ends at 'at' */
    DAMAGE_GROW,    /* 'count' bytes more at the end */
    DAMAGE_ZERO,    /* 'count' bytes from 'at' on are zero */
    DAMAGE_SWAP,    /* the content of file 'other' instead */
    DAMAGE_MISSING, /* there is no such file */
    DAMAGE_CLOSED,  /* it cannot be opened, or listed: EIO */
    DAMAGE_SECTOR   /* reads of the byte at 'at' fail: EIO */
};

struct damage {
    enum damage_kind kind;
    const char *name; /* of the file, relative to the root */
    uint64_t at, count;
    uint8_t mask;
    const char *other;
};

struct damage_io {
    bouma_io io;
    const bouma_io *inner;
    struct damage damage; /* to be set at any time */
    uint64_t changes;     /* calls that would have changed something */
};

/* What is written through it reaches 'inner', but is counted. */
void damage_io_init(struct damage_io *d, const bouma_io *inner);

#endif
