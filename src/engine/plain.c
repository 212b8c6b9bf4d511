/* plain.c -- plain files: opening, and who gathers what is declared. See
 * plain.h; plain_move.c moves it. */
#include "engine/plain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

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

static int64_t file_count(const struct bm_options *o,
                          const struct bm_comm *comm)
{
    if (o->files < 1)
        return 1;
    return o->files < comm->size ? o->files : comm->size;
}

/* The ranks of this rank's file. */
static void find_group(struct bm_file_group *group, const struct bm_options *o,
                       const struct bm_comm *comm)
{
    int64_t ranks = comm->size, files = file_count(o, comm);

    group->number = (int)((((int64_t)comm->rank + 1) * files - 1) / ranks);
    group->first_rank = (int)(group->number * ranks / files);
    group->ranks =
        (int)((group->number + 1) * ranks / files) - group->first_rank;
}

/* Directory and name of a path; the name gets the number of the group. */
static int split_path(struct bouma_file *f, const char *path, char **dir)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t bytes = strlen(name) + 16;

    *dir = bm_copy_text(f->a, slash ? path : ".");
    f->name = bm_new(f->a, bytes, 1);
    if (!*dir || !f->name)
        return bm_fail(&f->error, BOUMA_ENOMEM, "%s: no memory to open it",
                       path);
    if (slash)
        (*dir)[slash > path ? slash - path : 1] = 0;
    if (f->options.files > 1)
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
    if (f->comm->rank != f->group.first_rank)
        return BOUMA_OK;
    /* What is there is emptied: it keeps its owner, links and stripes. */
    if (f->mode == BOUMA_FILE_MODE_CREATE)
        return bm_file_open(&f->file, &f->store, f->name, BOUMA_OPEN_MODE_EMPTY,
                            &f->error);
    return open_file(f);
}

/* What all ranks must give alike. */
static uint64_t hash_of(const char *path, bouma_file_mode mode,
                        const struct bm_options *o)
{
    uint64_t same[] = {
        (uint64_t)mode,     (uint64_t)o->files,   (uint64_t)o->writers,
        (uint64_t)o->place, (uint64_t)o->buffers, (uint64_t)o->transport,
        o->message_bytes,   o->buffer_bytes,      (uint64_t)o->tier};
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
    char *dir = NULL;

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
        find_group(&f->group, options, comm);
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
                "different options (files, writers, place, machine, buffers, "
                "buffer_bytes, transport, tier, message_bytes, trace)");
    if (!rc)
        bm_tracing_begin(&f->engine.tracing, comm, &f->options);
    if (!rc)
        rc = bm_io_environment_find(&f->engine.env, comm, &f->options,
                                    &f->error);
    if (rc)
        return rc;
    rc = split_path(f, path, &dir);
    if (!rc)
        rc = bm_store_open(&f->store, f->options.io, f->a, dir, 0, &f->error);
    if (!rc)
        rc = begin_file(f);
    bm_drop(f->a, dir);
    rc = bm_comm_agree(comm, rc, &f->error);
    if (!rc)
        rc =
            bm_io_environment_choose_buffer(&f->engine.env, comm, &f->options,
                                            &f->store, BUFFER_BYTES, &f->error);
    f->opened = !rc;
    return rc;
}

static void forget_declared(struct bm_declared *declared,
                            const bouma_allocator *a)
{
    bm_domain_release(&declared->domain);
    bm_drop(a, declared->bytes);
    declared->bytes = NULL;
    declared->variables = 0;
    declared->complete = 0;
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
    if (f->file.store)
        bm_file_close(&f->file, &ignored);
    /* With others this would have to be done together; and MPI may be gone. */
    bm_comm_self_init(&alone, a);
    if (f->opened && f->comm->size == 1)
        end_trace(f, &alone);
    bm_store_close(&f->store);
    forget_declared(&f->declared, f->a);
    bm_engine_release(&f->engine, f->comm);
    bm_comm_free(f->comm);
    bm_drop(a, f->name);
    bm_drop(a, f);
}

int bm_plain_close(struct bouma_file *f)
{
    int rc = BOUMA_OK, closed;

    if (f->written && f->options.durability == BOUMA_DURABILITY_DURABLE) {
        if (f->file.store)
            rc = bm_file_sync(&f->file, &f->error);
        if (!rc && f->comm->rank == f->group.first_rank)
            rc = bm_store_sync_dir(&f->store, "", &f->error);
    }
    closed = f->file.store ? bm_file_close(&f->file, &f->error) : BOUMA_OK;
    f->closed = 1;
    rc = bm_comm_agree(f->comm, rc ? rc : closed, &f->error);
    end_trace(f, f->comm);
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
    struct bm_place_task task = bm_io_environment_place_task(
        &f->engine.env, &f->options, f->comm);
    struct bm_gathering g;
    int rc;

    for (int64_t b = 0; b < writers; b++) {
        writer[b] = f->group.first_rank;
        if (p->formula)
            writer[b] += p->formula(writers, f->group.ranks, b);
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
        int64_t at = r - f->group.first_rank;

        block_of[r] = at < 0 || at >= f->group.ranks
                          ? -1
                          : (int)(((at + 1) * writers - 1) / f->group.ranks);
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
        count += sizes[f->group.first_rank + r] / 16;
    segments = bm_new_raw(f->a, count, sizeof(*segments));
    for (int r = 0; r < f->comm->size && segments; r++)
        for (size_t i = 0; i < sizes[r] / 16; i++) {
            struct bm_segment s = {bm_get_u64(&c), 0, r, (uint32_t)i};

            s.bytes = bm_get_u64(&c);
            if (r >= f->group.first_rank &&
                r < f->group.first_rank + f->group.ranks)
                segments[n++] = s;
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
    size_t files = (size_t)file_count(&f->options, f->comm);
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
    int rc = make_domain(f, all, sizes), rank = f->comm->rank;

    if (rc)
        bm_fail(&f->error, rc,
                rc == BOUMA_ENOMEM ? "no memory to plan what was declared"
                : rc == BOUMA_ELIMIT
                    ? "more bytes are declared than can be planned; a "
                      "larger 'buffer_bytes' may help"
                    : "a variable reaches beyond the largest file");
    if (!rc &&
        f->declared.domain.first[rank + 1] > f->declared.domain.first[rank] &&
        !f->file.store)
        rc = open_file(f);
    return bm_comm_agree(f->comm, rc, &f->error);
}

int bm_plain_declare(struct bouma_file *f, size_t variables,
                     const uint64_t *count, const uint64_t *size,
                     const uint64_t *offset, int rc)
{
    size_t *sizes = bm_new(f->a, (size_t)f->comm->size, sizeof(*sizes));
    uint64_t *numbers =
        bm_new(f->a, SHARED * (size_t)file_count(&f->options, f->comm),
               sizeof(*numbers));
    struct bm_buffer mine, all;

    forget_declared(&f->declared, f->a);
    bm_buffer_init(&mine, f->a);
    bm_buffer_init(&all, f->a);
    if (!rc) {
        f->declared.bytes =
            bm_new_raw(f->a, variables, sizeof(*f->declared.bytes));
        if (!f->declared.bytes || !sizes || !numbers)
            rc = bm_fail(&f->error, BOUMA_ENOMEM,
                         "no memory to declare %zu variables", variables);
    }
    f->declared.variables = variables;
    if (!rc)
        rc = list_segments(&f->declared, &mine, count, size, offset, &f->error);
    rc = bm_comm_begin(f->comm, "declaring variables", 0, NULL, rc, &f->error);
    if (!rc)
        rc = bm_comm_collect(f->comm, &mine, &all, sizes, rc, &f->error);
    if (!rc)
        rc = plan_segments(f, &all, sizes);
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(f->a, sizes);
    if (!rc) {
        begin_report(&f->report, &f->declared, f->comm->size);
        rc = share_report(f, numbers);
    }
    if (rc)
        forget_declared(&f->declared, f->a);
    bm_drop(f->a, numbers);
    f->declared.complete = !rc;
    return rc;
}
