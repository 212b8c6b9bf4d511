/* assign.c -- chunks to files, files to ranks. */
#include "plan/assign.h"

#include <string.h>

#define DEFAULT_FILE_BYTES ((uint64_t)64 << 20)

int64_t bm_assign_files(uint64_t bytes, size_t chunks, int ranks, int wanted,
                        uint64_t file_size)
{
    uint64_t size = file_size ? file_size : DEFAULT_FILE_BYTES;
    uint64_t files = wanted > 0 ? (uint64_t)wanted : (bytes + size / 2) / size;

    if (wanted <= 0 && files > (uint64_t)ranks)
        files = (uint64_t)ranks;
    if (files > chunks)
        files = chunks;
    return files ? (int64_t)files : 1;
}

/* ---- contiguous schemes ------------------------------------------------- */

/* They fill end[files]: file f has the chunks end[f - 1] up to end[f]. */
typedef int scheme_function(size_t *end, const bouma_allocator *a,
                            const struct bm_chunk_sizes *sizes, int64_t files);

static int by_count(size_t *end, const bouma_allocator *a,
                    const struct bm_chunk_sizes *sizes, int64_t files)
{
    size_t each = sizes->count / (size_t)files;
    size_t rest = sizes->count % (size_t)files;
    size_t at = 0;

    (void)a;
    for (int64_t f = 0; f < files; f++) {
        at += each + ((size_t)f < rest);
        end[f] = at;
    }
    return BOUMA_OK;
}

static uint64_t bytes_of(const struct bm_chunk_sizes *sizes, size_t i)
{
    return sizes->costs ? bm_sums_each(sizes->costs, i) : sizes->bytes[i];
}

/* Paper 000, section IV-C: go on to the next file as soon as the sum exceeds
 * what is left divided by the files that are left. */
static int by_running_average(size_t *end, const bouma_allocator *a,
                              const struct bm_chunk_sizes *sizes, int64_t files)
{
    uint64_t left = 0, sum = 0;
    int64_t f = 0;

    (void)a;
    for (size_t i = 0; i < sizes->count; i++)
        left += bytes_of(sizes, i);
    for (size_t i = 0; i < sizes->count && f < files - 1; i++) {
        sum += bytes_of(sizes, i);
        if (sum > left / (uint64_t)(files - f)) {
            end[f++] = i + 1;
            left -= sum;
            sum = 0;
        }
    }
    while (f < files)
        end[f++] = sizes->count;
    return BOUMA_OK;
}

/* ---- the table ---------------------------------------------------------- */

/* out->file[] has the group of each chunk's owner, of so many: files are in the
 * order of the groups that have chunks at all. */
static int number_groups(struct bm_assignment *out, size_t count, int groups)
{
    uint32_t *number = bm_new(out->a, (size_t)groups, sizeof(*number));

    if (!number)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < count; i++)
        number[out->file[i]] = 1;
    out->files = 0;
    for (int g = 0; g < groups; g++)
        if (number[g])
            number[g] = (uint32_t)out->files++;
    for (size_t i = 0; i < count; i++)
        out->file[i] = number[out->file[i]];
    bm_drop(out->a, number);
    return BOUMA_OK;
}

static int per_rank(struct bm_assignment *out,
                    const struct bm_chunk_sizes *sizes, int ranks)
{
    for (size_t i = 0; i < sizes->count; i++)
        out->file[i] = (uint32_t)sizes->owner[i];
    return number_groups(out, sizes->count, ranks);
}

/* What a rank has goes to the file of its node, so that it need not leave it. */
static int per_node(struct bm_assignment *out,
                    const struct bm_chunk_sizes *sizes, int ranks)
{
    const struct bm_node_groups *nodes = sizes->nodes;

    (void)ranks;
    for (size_t i = 0; i < sizes->count; i++)
        out->file[i] =
            nodes ? (uint32_t)bm_node_group(nodes, sizes->owner[i]) : 0;
    return number_groups(out, sizes->count, nodes ? nodes->groups : 1);
}

/* A row for each way to cut files; one of the two functions is there. */
struct scheme {
    scheme_function *ends; /* files are runs of chunks */
    int (*each)(struct bm_assignment *out, const struct bm_chunk_sizes *sizes,
                int ranks);
    int one_file;
    int of_particles; /* it means `optimal` here: aggregate.c has its own row */
};

static const struct scheme schemes[] = {
    [BOUMA_ASSIGN_OPTIMAL] = {.ends = bm_assign_optimal},
    [BOUMA_ASSIGN_RUNNING] = {.ends = by_running_average},
    [BOUMA_ASSIGN_COUNT] = {.ends = by_count},
    [BOUMA_ASSIGN_PER_RANK] = {.each = per_rank},
    [BOUMA_ASSIGN_SINGLE] = {.ends = by_count, .one_file = 1},
    [BOUMA_ASSIGN_KDTREE] = {.ends = bm_assign_optimal, .of_particles = 1},
    [BOUMA_ASSIGN_AUG] = {.ends = bm_assign_optimal, .of_particles = 1},
    [BOUMA_ASSIGN_SPLIT] = {.ends = bm_assign_optimal, .of_particles = 1},
    [BOUMA_ASSIGN_PER_NODE] = {.each = per_node},
};

/* NULL if there is none. */
static const struct scheme *scheme_of(bouma_assign choice)
{
    size_t i = (size_t)choice;

    return i < sizeof(schemes) / sizeof(schemes[0]) &&
                   (schemes[i].ends || schemes[i].each)
               ? &schemes[i]
               : NULL;
}

int bm_assign_is_for_grids(bouma_assign choice)
{
    const struct scheme *scheme = scheme_of(choice);

    return scheme && !scheme->of_particles;
}

bouma_assign bm_assign_in_order(bouma_assign choice)
{
    const struct scheme *scheme = scheme_of(choice);

    return !choice || (scheme && scheme->of_particles) ? BOUMA_ASSIGN_OPTIMAL
                                                       : choice;
}

bouma_assign bm_assign_with(bouma_assign choice, bouma_distribute distribute)
{
    return distribute == BOUMA_DISTRIBUTE_WEIGHTED && !choice
               ? bm_assign_in_order(choice)
               : choice;
}

int bm_rank_loads_of(struct bm_rank_loads *out, const bouma_allocator *a,
                     const struct bm_chunk_sizes *sizes, int ranks)
{
    uint64_t *bytes = bm_new(a, (size_t)ranks, sizeof(*bytes));
    uint8_t *busy = bm_new(a, (size_t)ranks, 1);

    *out = (struct bm_rank_loads){.ranks = ranks};
    for (size_t i = 0; i < sizes->count && bytes && busy; i++) {
        bytes[sizes->owner[i]] += sizes->bytes[i];
        busy[sizes->owner[i]] = 1;
    }
    for (int r = 0; r < ranks && bytes && busy; r++) {
        out->busy += busy[r];
        out->total += bytes[r];
        if (bytes[r] > out->most)
            out->most = bytes[r];
    }
    bm_drop(a, bytes);
    bm_drop(a, busy);
    return bytes && busy ? BOUMA_OK : BOUMA_ENOMEM;
}

int bm_assign_asks_for_loads(bouma_assign choice, int64_t files, int ranks)
{
    return !choice && files == ranks && ranks > 1;
}

bouma_assign bm_assign_settle(bouma_assign choice, int64_t files,
                              const struct bm_rank_loads *loads)
{
    uint64_t mean = loads->total / (uint64_t)loads->ranks;

    return bm_assign_asks_for_loads(choice, files, loads->ranks) &&
                   loads->busy == loads->ranks &&
                   loads->most - mean <= mean / 10
               ? BOUMA_ASSIGN_PER_RANK
               : bm_assign_in_order(choice);
}

int bm_assign_makes_runs(bouma_assign choice)
{
    const struct scheme *scheme = scheme_of(choice);

    return scheme && scheme->ends;
}

int bm_assign_runs(size_t *end, const bouma_allocator *a, bouma_assign choice,
                   const struct bm_chunk_sizes *sizes, int64_t files)
{
    const struct scheme *scheme = scheme_of(choice);

    return scheme && scheme->ends ? scheme->ends(end, a, sizes, files)
                                  : BOUMA_EINVAL;
}

static int contiguous(struct bm_assignment *out, scheme_function *cut,
                      const struct bm_chunk_sizes *sizes)
{
    size_t *end = bm_new(out->a, (size_t)out->files, sizeof(*end));
    size_t i = 0;
    int rc;

    if (!end)
        return BOUMA_ENOMEM;
    rc = cut(end, out->a, sizes, out->files);
    for (int64_t f = 0; f < out->files && !rc; f++)
        while (i < end[f])
            out->file[i++] = (uint32_t)f;
    bm_drop(out->a, end);
    return rc;
}

/* Turn file[] round into first[] and chunk[], by counting. */
static int invert(struct bm_assignment *out, size_t count)
{
    out->first = bm_new(out->a, (size_t)out->files + 2, sizeof(*out->first));
    out->chunk = bm_new_raw(out->a, count, sizeof(*out->chunk));
    if (!out->first || !out->chunk)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < count; i++)
        out->first[out->file[i] + 2]++;
    for (int64_t f = 0; f < out->files; f++)
        out->first[f + 2] += out->first[f + 1];
    for (size_t i = 0; i < count; i++)
        out->chunk[out->first[out->file[i] + 1]++] = (uint32_t)i;
    return BOUMA_OK;
}

/* Chunks that may be in any file, assigned as if there were no others. */
struct others {
    uint64_t *bytes;
    int *owner;
    struct bm_chunk_table *tables;
    struct bm_assignment files;
};

static int assign_others(struct others *o, const bouma_allocator *a,
                         bouma_assign scheme,
                         const struct bm_chunk_sizes *sizes, int64_t files,
                         int ranks)
{
    struct bm_chunk_sizes some = {.sections = sizes->sections,
                                  .nodes = sizes->nodes};

    o->bytes = bm_new_raw(a, sizes->count, sizeof(*o->bytes));
    o->owner = bm_new_raw(a, sizes->count, sizeof(*o->owner));
    o->tables = bm_new_raw(a, sizes->count, sizeof(*o->tables));
    if (!o->bytes || !o->owner || !o->tables)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < sizes->count; i++) {
        if (sizes->fixed[i] != BM_ANY_FILE)
            continue;
        o->bytes[some.count] = sizes->bytes[i];
        o->owner[some.count] = sizes->owner[i];
        if (sizes->tables)
            o->tables[some.count] = sizes->tables[i];
        some.count++;
    }
    some.bytes = o->bytes;
    some.owner = o->owner;
    some.tables = sizes->tables ? o->tables : NULL;
    return some.count ? bm_assign(&o->files, a, scheme, &some, files, ranks)
                      : BOUMA_OK;
}

static int around_fixed(struct bm_assignment *out, bouma_assign scheme,
                        const struct bm_chunk_sizes *sizes, int64_t files,
                        int ranks)
{
    struct others o = {0};
    int rc = assign_others(&o, out->a, scheme, sizes,
                           files - sizes->fixed_files, ranks);
    size_t n = 0;

    for (size_t i = 0; i < sizes->count && !rc; i++)
        out->file[i] = sizes->fixed[i] != BM_ANY_FILE
                           ? sizes->fixed[i]
                           : (uint32_t)sizes->fixed_files + o.files.file[n++];
    out->files = sizes->fixed_files + o.files.files;
    bm_assignment_release(&o.files);
    bm_drop(out->a, o.bytes);
    bm_drop(out->a, o.owner);
    bm_drop(out->a, o.tables);
    return rc;
}

int bm_assign(struct bm_assignment *out, const bouma_allocator *a,
              bouma_assign choice, const struct bm_chunk_sizes *sizes,
              int64_t files, int ranks)
{
    const struct scheme *scheme = scheme_of(choice);
    int rc;

    memset(out, 0, sizeof(*out));
    out->a = a;
    if (!scheme)
        return BOUMA_EINVAL;
    if (sizes->count > UINT32_MAX)
        return BOUMA_ELIMIT;
    out->files = scheme->one_file || files < 1 ? 1 : files;
    if ((uint64_t)out->files > sizes->count)
        out->files = sizes->count ? (int64_t)sizes->count : 1;
    out->file = bm_new_raw(a, sizes->count, sizeof(*out->file));
    if (!out->file)
        rc = BOUMA_ENOMEM;
    else if (sizes->fixed)
        rc = around_fixed(out, choice, sizes, files, ranks);
    else if (scheme->each)
        rc = scheme->each(out, sizes, ranks);
    else
        rc = contiguous(out, scheme->ends, sizes);
    if (!rc)
        rc = invert(out, sizes->count);
    if (rc)
        bm_assignment_release(out);
    return rc;
}

void bm_assignment_release(struct bm_assignment *assignment)
{
    if (!assignment->a)
        return;
    bm_drop(assignment->a, assignment->first);
    bm_drop(assignment->a, assignment->chunk);
    bm_drop(assignment->a, assignment->file);
    bm_drop(assignment->a, assignment->writer);
    bm_drop(assignment->a, assignment->tier);
    memset(assignment, 0, sizeof(*assignment));
}

int bm_spread_file(int64_t files, int ranks, int64_t file)
{
    return (int)(file * ranks / files); /* both are below 2^31 */
}
