/* import_memory.c -- how much memory an import may take, and what one needs. */
#include "import_memory.h"

#include <stdio.h>
#include <unistd.h>

#include "format_text.h"

/* Sets of up to TWO_FILES bytes in a process are one file, as the library
 * chooses it; others are cut into files of FILE_BYTES, or into MOST_FILES. */
static const uint64_t FILE_BYTES = (uint64_t)64 << 20;
static const uint64_t TWO_FILES = (uint64_t)128 << 20;
static const uint64_t MOST_FILES = 64;

/* ---- what there is ------------------------------------------------------- */

/* The number in a file of the control group this process is in, if that limits
 * its memory. */
static uint64_t read_limit(const char *path)
{
    FILE *file = fopen(path, "r");
    unsigned long long bytes = 0;

    if (!file)
        return UINT64_MAX;
    if (fscanf(file, "%llu", &bytes) != 1) /* "max": there is none */
        bytes = 0;
    fclose(file);
    return bytes ? bytes : UINT64_MAX;
}

static uint64_t node_memory(void)
{
    static const char *const limits[] = {
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page
                                           : (uint64_t)8 << 30;

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        uint64_t limit = read_limit(limits[i]);

        bytes = limit < bytes ? limit : bytes;
    }
    return bytes;
}

uint64_t import_memory_limit(struct context *ctx, const bouma_options *opts)
{
    uint64_t processes = (uint64_t)session_node_size(ctx->session);

    return opts->memory_limit ? opts->memory_limit
                              : node_memory() / 2 / processes;
}

/* ---- what is needed ------------------------------------------------------ */

/* a * b, at most UINT64_MAX. */
static uint64_t times(uint64_t a, uint64_t b)
{
    return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void import_memory_file_size(struct import_request *request,
                             const struct context *ctx,
                             const struct particle_set *set)
{
    uint64_t bytes = times(set->rows, particle_set_bytes(set).each) /
                     (uint64_t)session_size(ctx->session);

    if (request->opts.files || request->opts.file_size ||
        request->opts.nodes_per_file ||
        request->opts.assign == BOUMA_ASSIGN_PER_NODE || bytes <= TWO_FILES)
        return;
    request->opts.file_size =
        bytes / MOST_FILES > FILE_BYTES ? bytes / MOST_FILES : FILE_BYTES;
}

/* Writing sorts one file while the one before is stored: of a particle there,
 * its values are copied and encoded, and the tree has some 32 bytes; of all
 * particles, each has a number of 4 bytes. */
static uint64_t writing_needs(const struct particle_set *set,
                              const bouma_options *opts, uint64_t each)
{
    uint64_t rows = set->part.last - set->part.first, in_file = rows;

    if (opts->files > 0)
        in_file = rows / (uint64_t)opts->files + 1;
    else if (opts->file_size)
        in_file = opts->file_size / each + 1;
    return plus(times(rows, 4),
                times(in_file < rows ? in_file : rows, 2 * each + 32));
}

int import_memory_check(struct context *ctx, const struct particle_set *set,
                        const struct import_request *request, uint64_t limit)
{
    struct particle_bytes bytes = particle_set_bytes(set);
    uint64_t rows = set->part.last - set->part.first;
    uint64_t need = plus(times(rows, bytes.held),
                         writing_needs(set, &request->opts, bytes.each));
    char needed[FORMAT_BYTES], allowed[FORMAT_BYTES];

    if (need <= limit)
        return DONE;
    return context_fail(
        ctx, DATA_AT_FAULT,
        "%s: %llu particles of %llu bytes need about %s of memory in %s, and "
        "at most %s may be used; raise --memory-limit, choose columns with "
        "--var, or share the work among more processes (mpirun -n N bouma-mpi)",
        set->sources[0].file.path, (unsigned long long)set->rows,
        (unsigned long long)bytes.each, format_bytes(needed, need),
        session_size(ctx->session) > 1 ? "each process" : "this process",
        format_bytes(allowed, limit));
}

int import_memory_check_sources(struct context *ctx,
                                const struct source *sources, int count,
                                uint64_t limit, bool limited)
{
    char needed[FORMAT_BYTES], allowed[FORMAT_BYTES];
    const struct source *holder = NULL;
    uint64_t need = 0;

    for (int i = 0; i < count; i++)
        if (sources[i].held) {
            holder = &sources[i];
            need = plus(need, holder->held);
        }
    if (!holder && limited)
        return context_fail(
            ctx, CALL_AT_FAULT,
            "--memory-limit: arrays in the byte order of this machine are used "
            "in place, without memory; leave it out");
    if (need <= limit)
        return DONE;
    return context_fail(
        ctx, DATA_AT_FAULT,
        "%s: to %s takes %s of memory, and at most %s may be used; raise "
        "--memory-limit, import fewer %s at once, or share the work among more "
        "processes (mpirun -n N bouma-mpi)",
        holder->path,
        holder->name ? "put its samples together"
                     : "put its values into the byte order of this machine",
        format_bytes(needed, need), format_bytes(allowed, limit),
        holder->name ? "variables (--var)" : "files");
}
