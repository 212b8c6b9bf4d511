/* extension.h -- a writing that adds to a committed step; see writings.h. For
 * rank 0. */
#ifndef BM_EXTENSION_H
#define BM_EXTENSION_H

#include "dataset/dataset.h"

/* The step that is to be extended: its manifest without sheets, into 'out', if
 * something can be added to it, else a message. */
int bm_extension_find(struct bouma_dataset *ds, uint64_t step,
                      struct bm_buffer *out);

/* Whether the step is still the writing 'base': ESTATE if it is another one, or
 * gone. */
int bm_extension_check(struct bouma_dataset *ds, uint64_t step,
                       struct bm_generation base);

/* The manifest of what was added to the writing 'base' becomes that of the whole
 * step. EEXISTS, EINVAL or ESTATE if it cannot be. */
int bm_extension_join(struct bouma_dataset *ds, struct bm_generation base,
                      struct bm_buffer *manifest);

#endif
