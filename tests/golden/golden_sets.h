/* golden_sets.h -- the datasets of tests/golden: how they are written, and what
 * they must read as, for ever. */
#ifndef GOLDEN_SETS_H
#define GOLDEN_SETS_H

#include "bouma.h"

/* The name of the i-th dataset, or NULL; and whether its bytes depend on the
 * version of zstd. */
const char *golden_name(int i);
int golden_has_zstd(int i);
/* Whether it has subfiles with stored offsets. */
int golden_has_offsets(int i);
/* Whether its manifests have sheets. */
int golden_has_sheets(int i);
/* Whether it is only read: today's writer cuts its files elsewhere. */
int golden_is_old(int i);

/* Write it to 'path'. BOUMA_OK, or a status after a message on stderr. */
int golden_write(int i, const char *path);

/* Read all of it and tell on stdout what is not as it should be; the number of
 * such things. */
int golden_differences(int i, const char *path);

/* The steps of the i-th dataset, one by one; -1 past the last. */
int64_t golden_step(int i, int k);

#endif
