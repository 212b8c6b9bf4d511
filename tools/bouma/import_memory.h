/* import_memory.h -- how much memory an import may take, and what one needs.
 *
 * Arrays of grids are used where they lie in their files, and take none. The
 * columns of particles do, if they are compressed, text, or in another byte
 * order; and whoever writes particles sorts them, one file after the other. */
#ifndef IMPORT_MEMORY_H
#define IMPORT_MEMORY_H

#include "import_request.h"
#include "particle_set.h"

/* What --memory-limit or the environment says, or half of this node's memory,
 * divided among the processes on it. Collective. */
uint64_t import_memory_limit(struct context *ctx, const bouma_options *opts);

/* Unless --files or --file-size or the environment says it, choose the size of
 * files so that sorting one of them takes little beside the particles
 * themselves: the same on all processes. Small sets are left to the library. */
void import_memory_file_size(struct import_request *request,
                             const struct context *ctx,
                             const struct particle_set *set);

/* Refuse to load this process's part if that needs more than the limit. */
int import_memory_check(struct context *ctx, const struct particle_set *set,
                        const struct import_request *request, uint64_t limit);

/* The same for arrays of grids: memory is needed for those in the other byte
 * order, and for those that are put together from blocks. If there are none, a limit on the command line ('limited') is refused.
 */
int import_memory_check_sources(struct context *ctx,
                                const struct source *sources, int count,
                                uint64_t limit, bool limited);

#endif
