/* plain.c -- plain files: opening, and who gathers what is declared. See
 * plain.h; plain_move.c moves it. */
#include "engine/plain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/search.h"

/* A gatherer may have this much more than the mean before cells go to others.
 */
#define SHARE 1.25

/* More cells than these are not made, if larger ones do. */
#define MANY_CELLS   ((uint64_t)1 << 18)
#define LARGEST_CELL ((uint64_t)64 << 20)
#define LARGE_FILE   ((uint64_t)1 << 60)
/* Of each buffer, where the storage does not tell: of memory that a processor's
 * cache can hold while it is filled and stored. */
#define BUFFER_BYTES ((uint64_t)1 << 20)
/* Of so many ranks all write, of more this part. */
#define ALL_WRITE 16
#define ONE_IN    8

/* ---- opening ------------------------------------------------------------ */

static int ascending(const void *left, const void *right)
{
    const int *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* The ranks of this rank's nodes. BOUMA_OK or ENOMEM. */
static int find_nodes(struct bm_file_group *group, const struct bm_options *o,
                      const struct bm_comm *comm)
{
    struct bm_node_groups nodes = bm_io_environment_node_groups(o, comm);
    int begin = 0, end = comm->size;

    group->files = nodes.groups;
    group->number = bm_node_group(&nodes, comm->rank);
    if (nodes.groups > 1)
        bm_node_group_positions(&nodes, group->number, &begin, &end);
    group->ranks = end - begin;
    group->member =
        bm_new_raw(comm->a, (size_t)group->ranks, sizeof(*group->member));
    if (!group->member)
        return BOUMA_ENOMEM;
    for (int i = begin; i < end; i++)
        group->member[i - begin] = bm_places_rank(&comm->places, i);
    qsort(group->member, (size_t)group->ranks, sizeof(*group->member),
          ascending);
    group->first_rank = group->member[0];
    return BOUMA_OK;
}

/* The index of a rank in a group; -1 if it is in another. */
static int index_in(const struct bm_file_group *group, int rank)
{
    size_t at = 0;

    if (!group->member)
        return rank >= group->first_rank &&
                       rank < group->first_rank + group->ranks
                   ? rank - group->first_rank
                   : -1;
    BM_BISECT(at, (size_t)group->ranks, i, group->member[i] <= rank);
    return group->member[at] == rank ? (int)at : -1;
}

static int member_of(const struct bm_file_group *group, int index)
{
    return group->member ? group->member[index] : group->first_rank + index;
}

/* The ranks of this rank's file. BOUMA_OK or ENOMEM. */
static int find_group(struct bm_file_group *group, const struct bm_options *o,
                      const struct bm_comm *comm)
{
    int64_t ranks = comm->size, files = o->files < ranks ? o->files : ranks;
    int rc = BOUMA_OK;

    if (o->nodes_per_file) {
        rc = find_nodes(group, o, comm);
    } else {
        files = files < 1 ? 1 : files;
        group->files = (int)files;
        group->number = (int)((((int64_t)comm->rank + 1) * files - 1) / ranks);
        group->first_rank = (int)(group->number * ranks / files);
        group->ranks =
            (int)((group->number + 1) * ranks / files) - group->first_rank;
    }
    group->rank = rc ? 0 : index_in(group, comm->rank);
    return rc;
}

/* Directory and name of a path; the name gets the number of the group. */
static int split_path(struct bouma_file *f, const char *path, char **dir)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t bytes = strlen(name) + 16;

    *dir = bm_copy_text(f->a, slash ? path : ".");
    bm_drop(f->a, f->name);
    f->name = bm_new(f->a, bytes, 1);
    if (!*dir || !f->name)
        return bm_fail(&f->error, BOUMA_ENOMEM, "%s: no memory to open it",
                       path);
    if (slash)
        (*dir)[slash > path ? slash - path : 1] = 0;
    if (f->options.files > 1 || f->options.nodes_per_file)
        snprintf(f->name, bytes, "%s.%04d", name, f->group.number);
    else
        snprintf(f->name, bytes, "%s", name);
    if (!*name || strlen(f->name) >= BM_NAME_BYTES)
        return bm_fail(&f->error, BOUMA_EINVAL,
                       "%s: is not the name of a file of up to %d bytes", path,
                       BM_NAME_BYTES - 1);
    return BOUMA_OK;
}

static int open_file(struct bouma_file *f)
{
    return bm_file_open(&f->file, &f->store, f->name,
                        f->mode == BOUMA_FILE_MODE_READ
                            ? BOUMA_OPEN_MODE_VIEW
                            : BOUMA_OPEN_MODE_UPDATE,
                        &f->error);
}

/* The first rank of a file: make it, or see that it is there. */
static int begin_file(struct bouma_file *f)
{
    if (f->group.rank != 0)
        return BOUMA_OK;
    /* What is there is emptied: it keeps its owner, links and stripes. */
    if (f->mode == BOUMA_FILE_MODE_CREATE)
        return bm_file_open(&f->file, &f->store, f->name, BOUMA_OPEN_MODE_EMPTY,
                            &f->error);
    return open_file(f);
}

/* The group's file of that path. */
static int open_path(struct bouma_file *f, const char *path)
{
    char *dir = NULL;
    int rc = split_path(f, path, &dir);

    if (!rc)
        rc = bm_store_open(&f->store, f->options.io, f->a, dir, 0, &f->error);
    if (!rc)
        rc = begin_file(f);
    bm_drop(f->a, dir);
    return rc;
}

/* What all ranks must give alike. */
static uint64_t hash_of(const char *path, bouma_file_mode mode,
                        const struct bm_options *o)
{
    uint64_t same[] = {(uint64_t)mode,       (uint64_t)o->files,
                       (uint64_t)o->writers, (uint64_t)o->place,
                       (uint64_t)o->buffers, (uint64_t)o->transport,
                       o->message_bytes,     o->buffer_bytes,
                       (uint64_t)o->tier,    (uint64_t)o->nodes_per_file};
    uint64_t h = bm_hash64(same, sizeof(same), 0);

    h = bm_hash64(o->machine, strlen(o->machine), h);
    h = bm_hash64(o->trace, strlen(o->trace), h);
    return bm_hash64(path, strlen(path), h);
}

int bm_plain_open(struct bouma_file **out, struct bm_comm *comm,
                  const char *path, bouma_file_mode mode,
                  const struct bm_options *options,
                  const struct bm_error *error)
{
    struct bouma_file *f = bm_new(comm->a, 1, sizeof(*f));
    struct bm_error none = {0};
    int rc = error->status;
    uint64_t hash = 0;

    *out = f;
    if (!f && !rc)
        rc = bm_fail(&none, BOUMA_ENOMEM, "no memory to open a file");
    if (f) {
        f->a = comm->a;
        f->error = *error;
        f->comm = comm;
        f->options = *options;
        f->mode = mode;
        comm->timeout = options->timeout;
        comm->message_bytes = options->message_bytes;
        if (find_group(&f->group, options, comm) && !rc)
            rc = bm_fail(&f->error, BOUMA_ENOMEM, "%s: no memory to open it",
                         path);
        if (!rc)
            rc = bm_io_check_ranks(options->io, comm->size, path, &f->error);
        if (!rc)
            hash = hash_of(path, mode, options);
    }
    rc = bm_comm_begin(comm, "opening a plain file", hash, NULL, rc,
                       f ? &f->error : &none);
    if (!f) {
        bm_comm_free(comm);
        return rc;
    }
    if (rc == BOUMA_EMISMATCH && !f->error.status)
        bm_fail(&f->error, rc,
                "the ranks open different files, in different ways, or with "
                "different options (files, nodes_per_file, writers, place, "
                "machine, buffers, "
                "buffer_bytes, transport, tier, message_bytes, trace)");
    if (!rc)
        bm_tracing_begin(&f->engine.tracing, comm, &f->options);
    if (!rc)
        rc = bm_io_environment_find(&f->engine.env, comm, &f->options,
                                    &f->error);
    if (rc)
        return rc;
    rc = bm_comm_agree(comm, open_path(f, path), &f->error);
    if (!rc)
        rc =
            bm_io_environment_choose_buffer(&f->engine.env, comm, &f->options,
                                            &f->store, BUFFER_BYTES, &f->error);
    f->opened = !rc;
    return rc;
}

static void forget_declared(struct bouma_file *f)
{
    struct bm_declared *declared = &f->declared;

    bm_plain_forget_ways(f);
    bm_domain_release(&declared->domain);
    bm_drop(f->a, declared->bytes);
    bm_drop(f->a, declared->offset);
    declared->bytes = declared->offset = NULL;
    declared->variables = 0;
    declared->complete = 0;
}

/* Whether this rank has cells to write or read. */
static int has_cells(const struct bouma_file *f)
{
    const size_t *first = f->declared.domain.first;

    return first && first[f->comm->rank + 1] > first[f->comm->rank];
}

/* If there is to be one. A failure is no more than a message. */
static void end_trace(struct bouma_file *f, struct bm_comm *comm)
{
    struct bm_error why = {0};

    if (bm_tracing_end(&f->engine.tracing, comm, &f->options, f->name, &why))
        bm_fail(&f->error, BOUMA_OK, "%s", why.text);
}

void bm_plain_free(struct bouma_file *f)
{
    struct bm_error ignored = {0};
    const bouma_allocator *a;
    struct bm_comm alone;

    if (!f)
        return;
    a = f->a;
    bm_plain_forget_ways(f);
    if (f->file.store)
        bm_file_close(&f->file, &ignored);
    /* With others this would have to be done together; and MPI may be gone. */
    bm_comm_self_init(&alone, a);
    if (f->opened && f->comm->size == 1)
        end_trace(f, &alone);
    bm_store_close(&f->store);
    forget_declared(f);
    bm_engine_release(&f->engine, f->comm);
    bm_comm_free(f->comm);
    bm_drop(a, f->group.member);
    bm_drop(a, f->name);
    bm_drop(a, f);
}

/* Sync, if that is wanted, and close. */
static int end_file(struct bouma_file *f)
{
    int rc = BOUMA_OK, closed;

    if (f->written && f->options.durability == BOUMA_DURABILITY_DURABLE) {
        if (f->file.store)
            rc = bm_file_sync(&f->file, &f->error);
        if (!rc && f->group.rank == 0)
            rc = bm_store_sync_dir(&f->store, "", &f->error);
    }
    closed = f->file.store ? bm_file_close(&f->file, &f->error) : BOUMA_OK;
    f->file = (struct bm_file){.store = NULL}; /* another may be opened */
    return rc ? rc : closed;
}

int bm_plain_close(struct bouma_file *f)
{
    int rc;

    bm_plain_forget_ways(f);
    rc = end_file(f);
    f->closed = 1;
    rc = bm_comm_agree(f->comm, rc, &f->error);
    end_trace(f, f->comm);
    return rc;
}

/* After a failure nothing can be done with it but to close it. */
int bm_plain_reopen(struct bouma_file *f, const char *path,
                    bouma_file_mode mode, int rc)
{
    uint64_t hash = rc ? 0 : bm_hash64(path, strlen(path), (uint64_t)mode);

    rc = bm_comm_begin(f->comm, "opening another plain file", hash, NULL, rc,
                       &f->error);
    if (rc == BOUMA_EMISMATCH && !f->error.status)
        bm_fail(&f->error, rc,
                "the ranks go on to different files, or in different ways");
    if (rc)
        return rc;
    rc = end_file(f);
    bm_store_close(&f->store);
    f->written = 0;
    f->mode = mode;
    if (!rc)
        rc = open_path(f, path);
    rc = bm_comm_agree(f->comm, rc, &f->error);
    if (!rc && f->declared.complete) {
        if (has_cells(f) && !f->file.store)
            rc = open_file(f);
        rc = bm_comm_agree(f->comm, rc, &f->error);
    }
    f->opened = !rc;
    return rc;
}

/* ---- declaring ---------------------------------------------------------- */

/* How many ranks of this file write. */
static int64_t count_writers(const struct bm_file_group *group,
                             const struct bm_options *o)
{
    int64_t ranks = group->ranks, writers = o->writers;

    if (!writers)
        writers = ranks <= ALL_WRITE           ? ranks
                  : ranks / ONE_IN > ALL_WRITE ? ranks / ONE_IN
                                               : ALL_WRITE;
    return writers > ranks ? ranks : writers;
}

/* What each block of consecutive ranks has; block_of[rank], -1: not of this
 * file. */
static int gather_blocks(struct bm_gathering *g, const struct bouma_file *f,
                         const struct bm_segment *segments, size_t count,
                         const int *block_of)
{
    size_t ranks = (size_t)f->comm->size, n = 0;
    uint64_t *bytes = bm_new(f->a, ranks, sizeof(*bytes));

    memset(g, 0, sizeof(*g));
    g->a = f->a;
    g->files = count_writers(&f->group, &f->options);
    g->ranks = f->comm->size;
    g->first = bm_new(f->a, (size_t)g->files + 1, sizeof(*g->first));
    g->rank = bm_new_raw(f->a, ranks, sizeof(*g->rank));
    g->bytes = bm_new_raw(f->a, ranks, sizeof(*g->bytes));
    if (!bytes || !g->first || !g->rank || !g->bytes) {
        bm_drop(f->a, bytes);
        return BOUMA_ENOMEM;
    }
    for (size_t i = 0; i < count; i++)
        bytes[segments[i].rank] += segments[i].bytes;
    for (size_t r = 0; r < ranks; r++)
        if (block_of[r] >= 0 && bytes[r]) {
            g->rank[n] = (int)r;
            g->bytes[n++] = bytes[r];
            g->first[block_of[r] + 1] = n;
        }
    for (int64_t b = 0; b < g->files; b++)
        if (g->first[b + 1] < g->first[b])
            g->first[b + 1] = g->first[b];
    bm_drop(f->a, bytes);
    return BOUMA_OK;
}

/* The first rank of a block, or the block's number; or by who has how much of
 * it. */
static int place_writers(struct bouma_file *f, int *writer, bouma_tier *tier,
                         const struct bm_segment *segments, size_t count,
                         const int *block_of)
{
    const struct bm_placement *p = bm_placement_of(f->options.place);
    int64_t writers = count_writers(&f->group, &f->options);
    struct bm_place_task task =
        bm_io_environment_place_task(&f->engine.env, &f->options, f->comm);
    struct bm_gathering g;
    int rc;

    for (int64_t b = 0; b < writers; b++) {
        writer[b] = member_of(
            &f->group, p->formula ? p->formula(writers, f->group.ranks, b) : 0);
        tier[b] = f->options.tier;
    }
    if (p->formula)
        return BOUMA_OK;
    rc = gather_blocks(&g, f, segments, count, block_of);
    if (!rc)
        rc = bm_place_files(writer, tier, f->a, &task, writers, &g);
    for (int64_t b = 0; b < writers && !rc; b++)
        if (g.first[b] == g.first[b + 1]) /* may be anyone, but of the group */
            writer[b] = f->group.first_rank;
    bm_gathering_release(&g);
    return rc;
}

/* Who gathers what each rank has. */
static int choose_gatherers(struct bouma_file *f, int *gatherer,
                            const struct bm_segment *segments, size_t count)
{
    size_t ranks = (size_t)f->comm->size;
    int64_t writers = count_writers(&f->group, &f->options);
    int *block_of = bm_new_raw(f->a, ranks, sizeof(*block_of));
    int *writer = bm_new_raw(f->a, (size_t)writers, sizeof(*writer));
    bouma_tier *tier = bm_new(f->a, (size_t)writers, sizeof(*tier));
    int rc = block_of && writer && tier ? BOUMA_OK : BOUMA_ENOMEM;

    for (int r = 0; r < f->comm->size && !rc; r++) {
        int64_t at = index_in(&f->group, r);

        block_of[r] =
            at < 0 ? -1 : (int)(((at + 1) * writers - 1) / f->group.ranks);
    }
    if (!rc)
        rc = place_writers(f, writer, tier, segments, count, block_of);
    f->declared.tier = f->options.tier;
    for (int r = 0; r < f->comm->size && !rc; r++)
        gatherer[r] = writer[block_of[r] < 0 ? 0 : block_of[r]];
    for (int64_t b = 0; b < writers && !rc; b++)
        if (writer[b] == f->comm->rank)
            f->declared.tier = tier[b];
    bm_drop(f->a, block_of);
    bm_drop(f->a, writer);
    bm_drop(f->a, tier);
    return rc;
}

/* Large files have larger cells, so that they can be listed; unless the caller
 * says how large. */
static uint64_t choose_cell(const struct bm_io_environment *env,
                            const struct bm_options *o,
                            const struct bm_segment *segments, size_t count)
{
    uint64_t cell = env->buffer_bytes, bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes +=
            segments[i].bytes < LARGE_FILE ? segments[i].bytes : LARGE_FILE;
    while (!o->buffer_bytes && cell < LARGEST_CELL && bytes / cell > MANY_CELLS)
        cell *= 2;
    return cell;
}

/* The segments of the ranks of this file. */
static int make_domain(struct bouma_file *f, const struct bm_buffer *all,
                       const size_t *sizes)
{
    struct bm_cursor c = bm_cursor_of(all->data, all->size);
    size_t count = 0, n = 0;
    struct bm_segment *segments;
    int *gatherer = bm_new(f->a, (size_t)f->comm->size, sizeof(*gatherer));
    int rc;

    for (int r = 0; r < f->group.ranks; r++)
        count += sizes[member_of(&f->group, r)] / 16;
    segments = bm_new_raw(f->a, count, sizeof(*segments));
    for (int r = 0; r < f->comm->size && segments; r++) {
        int inside = index_in(&f->group, r) >= 0;

        for (size_t i = 0; i < sizes[r] / 16; i++) {
            struct bm_segment s = {bm_get_u64(&c), 0, r, (uint32_t)i};

            s.bytes = bm_get_u64(&c);
            if (inside)
                segments[n++] = s;
        }
    }
    rc = segments && gatherer ? BOUMA_OK : BOUMA_ENOMEM;
    if (!rc)
        rc = choose_gatherers(f, gatherer, segments, n);
    f->declared.buffer_bytes =
        segments ? choose_cell(&f->engine.env, &f->options, segments, n) : 0;
    if (!rc) {
        struct bm_domain_rule rule = {f->declared.buffer_bytes,
                                      f->engine.env.grain, SHARE, f->comm->size,
                                      gatherer};

        rc = bm_domain_init(&f->declared.domain, f->a, segments, n, &rule);
    }
    bm_drop(f->a, segments);
    bm_drop(f->a, gatherer);
    return rc;
}

/* What the plan of this rank's file says of the report. */
static void begin_report(bouma_file_report *report,
                         const struct bm_declared *declared, int ranks)
{
    const struct bm_domain *d = &declared->domain;

    memset(report, 0, sizeof(*report));
    for (size_t i = 0; i < d->segment_count; i++)
        report->bytes += d->segments[i].bytes;
    report->moved_bytes = bm_domain_moved(d);
    report->buffer_bytes = declared->buffer_bytes;
    for (int r = 0; r < ranks; r++) {
        int64_t rounds = (int64_t)(d->first[r + 1] - d->first[r]);

        report->writers += rounds > 0;
        if (rounds > report->rounds)
            report->rounds = rounds;
    }
}

enum { SHARED = 4 }; /* numbers of a report */

/* The reports of all files as one. numbers[files][SHARED] are zero. */
static int share_report(struct bouma_file *f, uint64_t *numbers)
{
    bouma_file_report *r = &f->report;
    size_t files = (size_t)f->group.files;
    uint64_t *mine = numbers + SHARED * (size_t)f->group.number;
    int rc = BOUMA_OK;

    if (files == 1)
        return BOUMA_OK;
    mine[0] = r->bytes;
    mine[1] = r->moved_bytes;
    mine[2] = (uint64_t)r->writers;
    mine[3] = (uint64_t)r->rounds;
    for (size_t i = 0; i < SHARED * files && !rc; i += BM_COMM_MAX_VALUES)
        rc = bm_comm_max(f->comm, numbers + i,
                         SHARED * files - i < BM_COMM_MAX_VALUES
                             ? (int)(SHARED * files - i)
                             : BM_COMM_MAX_VALUES,
                         &f->error);
    r->bytes = r->moved_bytes = 0;
    r->writers = r->rounds = 0;
    for (size_t i = 0; i < files; i++) {
        r->bytes += numbers[SHARED * i];
        r->moved_bytes += numbers[SHARED * i + 1];
        r->writers += (int64_t)numbers[SHARED * i + 2];
        if ((int64_t)numbers[SHARED * i + 3] > r->rounds)
            r->rounds = (int64_t)numbers[SHARED * i + 3];
    }
    return rc;
}

/* The segments of this rank's variables, into 'out' and declared->bytes. */
static int list_segments(struct bm_declared *declared, struct bm_buffer *out,
                         const uint64_t *count, const uint64_t *size,
                         const uint64_t *offset, struct bm_error *error)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < declared->variables && !rc; i++) {
        if (size[i] && count[i] > (uint64_t)INT64_MAX / size[i])
            rc = bm_fail(error, BOUMA_EINVAL,
                         "variable %zu has %" PRIu64 " elements of %" PRIu64
                         " bytes, which is more than a file can have",
                         i, count[i], size[i]);
        else
            declared->bytes[i] = count[i] * size[i];
        declared->offset[i] = offset[i];
        bm_put_u64(out, offset[i]);
        bm_put_u64(out, rc ? 0 : declared->bytes[i]);
    }
    return rc;
}

/* Plan what all ranks have declared; those that write open the file.
 * Collective. */
static int plan_segments(struct bouma_file *f, const struct bm_buffer *all,
                         const size_t *sizes)
{
    int rc = make_domain(f, all, sizes);

    if (rc)
        bm_fail(&f->error, rc,
                rc == BOUMA_ENOMEM ? "no memory to plan what was declared"
                : rc == BOUMA_ELIMIT
                    ? "more bytes are declared than can be planned; a "
                      "larger 'buffer_bytes' may help"
                    : "a variable reaches beyond the largest file");
    if (!rc && has_cells(f) && !f->file.store)
        rc = open_file(f);
    return bm_comm_agree(f->comm, rc, &f->error);
}

/* Whether this rank declares what it has declared before. */
static int is_repeated(const struct bm_declared *declared, size_t variables,
                       const uint64_t *count, const uint64_t *size,
                       const uint64_t *offset)
{
    if (!declared->complete || declared->variables != variables)
        return 0;
    for (size_t i = 0; i < variables; i++)
        if (offset[i] != declared->offset[i] ||
            (size[i] && count[i] > (uint64_t)INT64_MAX / size[i]) ||
            count[i] * size[i] != declared->bytes[i])
            return 0;
    return 1;
}

/* Plan what ranks declare, some of which is new. 'mine' has this rank's
 * segments, 'rc' is its status. Collective. */
static int declare_anew(struct bouma_file *f, struct bm_buffer *mine, int rc)
{
    size_t *sizes = bm_new(f->a, (size_t)f->comm->size, sizeof(*sizes));
    uint64_t *numbers =
        bm_new(f->a, SHARED * (size_t)f->group.files, sizeof(*numbers));
    struct bm_buffer all;

    bm_buffer_init(&all, f->a);
    if (!rc && (!sizes || !numbers))
        rc = bm_fail(&f->error, BOUMA_ENOMEM,
                     "no memory to declare %zu variables",
                     f->declared.variables);
    rc = bm_comm_collect(f->comm, mine, &all, sizes, rc, &f->error);
    if (!rc)
        rc = plan_segments(f, &all, sizes);
    bm_buffer_release(&all);
    bm_drop(f->a, sizes);
    if (!rc) {
        begin_report(&f->report, &f->declared, f->comm->size);
        rc = share_report(f, numbers);
    }
    bm_drop(f->a, numbers);
    return rc;
}

/* This rank's segments, as bytes for the others. */
static int describe(struct bouma_file *f, struct bm_buffer *mine,
                    size_t variables, const uint64_t *count,
                    const uint64_t *size, const uint64_t *offset)
{
    struct bm_declared *d = &f->declared;

    forget_declared(f);
    d->bytes = bm_new_raw(f->a, variables, sizeof(*d->bytes));
    d->offset = bm_new_raw(f->a, variables, sizeof(*d->offset));
    if (!d->bytes || !d->offset)
        return bm_fail(&f->error, BOUMA_ENOMEM,
                       "no memory to declare %zu variables", variables);
    d->variables = variables;
    return list_segments(d, mine, count, size, offset, &f->error);
}

int bm_plain_declare(struct bouma_file *f, size_t variables,
                     const uint64_t *count, const uint64_t *size,
                     const uint64_t *offset, int rc)
{
    uint64_t is_new[2] = {1, 0}; /* on this rank; then on any */
    struct bm_buffer mine;

    bm_buffer_init(&mine, f->a);
    if (!rc)
        is_new[0] = !is_repeated(&f->declared, variables, count, size, offset);
    if (!rc && is_new[0])
        rc = describe(f, &mine, variables, count, size, offset);
    rc =
        bm_comm_begin(f->comm, "declaring variables", 0, is_new, rc, &f->error);
    if (!rc && !is_new[0]) {
        f->report.seconds = f->report.store_seconds = 0;
        return BOUMA_OK; /* nobody has anything to plan */
    }
    if (!rc) {
        int own = f->declared.complete
                      ? describe(f, &mine, variables, count, size, offset)
                      : BOUMA_OK;

        rc = declare_anew(f, &mine, own);
    }
    bm_buffer_release(&mine);
    if (rc)
        forget_declared(f);
    f->declared.complete = !rc;
    return rc;
}
