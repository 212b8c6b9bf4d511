/* sized.h -- hand over a struct that knows its size. */
#ifndef SIZED_H
#define SIZED_H

/* The struct at 'out', with its member 'size' set. */
#define SIZED(out) ((out)->size = sizeof(*(out)), (out))

#endif
