/* plain_declare.c -- what ranks declare of a plain file, and who gathers it. See
 * plain.h. */
#include <inttypes.h>
#include <string.h>

#include "engine/plain.h"

/* A gatherer may have this much more than the mean before cells go to others.
 */
#define SHARE 1.25

/* More cells than these are not made, if larger ones do. */
#define MANY_CELLS   ((uint64_t)1 << 18)
#define LARGEST_CELL ((uint64_t)64 << 20)
#define LARGE_FILE   ((uint64_t)1 << 60)
/* Of so many ranks all write, of more this part. */
#define ALL_WRITE 16
#define ONE_IN    8

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
        writer[b] = bm_file_group_rank(
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
        int64_t at = bm_file_group_index(&f->group, r);

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
        count += sizes[bm_file_group_rank(&f->group, r)] / 16;
    segments = bm_new_raw(f->a, count, sizeof(*segments));
    for (int r = 0; r < f->comm->size && segments; r++) {
        int inside = bm_file_group_index(&f->group, r) >= 0;

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
    if (!rc && bm_plain_has_cells(f) && !f->file.store)
        rc = bm_plain_open_file(f);
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

    bm_plain_forget_declared(f);
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
        bm_plain_forget_declared(f);
    f->declared.complete = !rc;
    return rc;
}
