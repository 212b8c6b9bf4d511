/* machine_file.h -- the text that describes a machine; docs/machine.md has it
 * all. */
#ifndef BM_MACHINE_FILE_H
#define BM_MACHINE_FILE_H

#include "machine/description.h"

/* Fill an initialised description. EINVAL with a message that has the number of
 * the line and the word, or ENOMEM. */
int bm_machine_file_parse(struct bm_description *d, const char *text,
                          size_t bytes, struct bm_error *error);

/* The text of a description; numbers have six digits. A failed allocation is
 * remembered in the buffer. */
void bm_machine_file_encode(struct bm_buffer *out,
                            const struct bm_description *d);

/* A topology.conf of Slurm's tree plugin: the same for its switches. */
int bm_topology_conf_parse(struct bm_description *d, const char *text,
                           size_t bytes, struct bm_error *error);
/* Whether a text looks like one. */
int bm_topology_conf_is(const char *text, size_t bytes);

#endif
