/* split.c -- see split.h. */
#include "write/split.h"

#include <inttypes.h>

#include "plan/rank_groups.h"

void bm_split_free(struct bm_split *s)
{
    if (!s)
        return;
    bm_plan_free(s->plan);
    bm_pipe_pool_release(&s->pool);
    bm_comm_free(s->comm);
    for (int i = 0; i < s->objects && s->wanted; i++)
        bm_drop(s->a, s->wanted[i]);
    bm_drop(s->a, s->wanted);
    bm_drop(s->a, s->present);
    bm_drop(s->a, s->member);
    bm_drop(s->a, s);
}

const struct bm_plan_scope *bm_split_scope(const struct bm_write_job *job,
                                           struct bm_plan_scope *scope)
{
    const struct bm_split *s = job->ds->carried.split;

    if (!s || !s->comm)
        return NULL;
    *scope = (struct bm_plan_scope){.inside = job->whole != NULL,
                                    .present = s->present,
                                    .wanted = (const uint8_t *const *)s->wanted,
                                    .rank = s->member};
    return scope;
}

/* ---- what ranks have parts of -------------------------------------------- */

/* The partitions of all grids, numbered through. */
struct things {
    const struct bm_schema *schema;
    uint32_t *first; /* [objects + 1] */
    uint8_t *mine;   /* [first[objects]] */
};

static struct bm_chunking chunking_of(const struct bm_object *o)
{
    return o->layout->chunking ? o->layout->chunking(o)
                               : (struct bm_chunking){.partitions = 0};
}

static void count_things(struct things *t)
{
    for (int i = 0; i < t->schema->count; i++)
        t->first[i + 1] =
            t->first[i] +
            (uint32_t)chunking_of(t->schema->objects[i]).partitions;
}

static void mark(void *context, int64_t partition)
{
    ((uint8_t *)context)[partition] = 1;
}

/* What this rank puts: u32 number of variables, each u32; then the partitions
 * that it has samples of, each u32. Puts are sorted by variable. */
static int describe(struct bm_buffer *out, struct things *t,
                    const struct bouma_dataset *ds)
{
    const struct bm_given *given = &ds->given;
    uint32_t variables = 0;

    bm_put_u32(out, 0);
    for (size_t i = 0; i < given->put_count; i++) {
        const struct bouma_variable *v = given->puts[i].variable;
        struct bm_chunking c = chunking_of(v->object);

        if (!i || given->puts[i - 1].variable != v) {
            bm_put_u32(out, v->id);
            variables++;
        }
        if (c.partitions)
            c.calls->meet(c.own, &given->puts[i].from.box, mark,
                          t->mine + t->first[v->object->number]);
    }
    for (uint32_t i = 0; i < t->first[t->schema->count]; i++)
        if (t->mine[i])
            bm_put_u32(out, i);
    if (out->failed)
        return BOUMA_ENOMEM;
    bm_store_u32(out->data, variables);
    return BOUMA_OK;
}

/* What all ranks said. */
struct told {
    struct bm_buffer all;
    size_t *sizes; /* [ranks] */
    struct bm_rank_parts parts;
    size_t *first;   /* [ranks + 1]: parts' */
    uint32_t *thing; /* parts' */
    int *group;      /* [ranks] */
};

/* BOUMA_OK, or ECOMM if it makes no sense. */
static int parse(struct told *t, uint8_t *present, uint32_t variables)
{
    const uint8_t *data = t->all.data;
    size_t n = 0;

    for (int r = 0; r < t->parts.ranks; data += t->sizes[r], r++) {
        struct bm_cursor c = bm_cursor_of(data, t->sizes[r]);

        t->first[r] = n;
        for (uint32_t i = bm_get_u32(&c); i > 0 && !c.failed; i--) {
            uint32_t id = bm_get_u32(&c);

            c.failed |= id >= variables;
            if (!c.failed)
                present[id] = 1;
        }
        while (bm_cursor_left(&c) && !c.failed) {
            t->thing[n] = bm_get_u32(&c);
            c.failed |= t->thing[n++] >= t->parts.things;
        }
        if (c.failed)
            return BOUMA_ECOMM;
    }
    t->first[t->parts.ranks] = n;
    return BOUMA_OK;
}

/* ---- groups -------------------------------------------------------------- */

/* The partitions that this rank's group writes; those that nobody holds are
 * left to group 0, which finds that they are missing. Their number among those
 * that somebody holds, of all groups. */
static int choose_partitions(struct bm_split *s, const struct things *things,
                             const struct told *t, int mine)
{
    uint32_t count = t->parts.things;
    int *group = bm_new_raw(s->a, count, sizeof(*group));
    int held = 0;

    for (uint32_t i = 0; i < count && group; i++)
        group[i] = -1;
    for (int r = 0; r < t->parts.ranks && group; r++)
        for (size_t k = t->first[r]; k < t->first[r + 1]; k++)
            group[t->thing[k]] = t->group[r];
    for (int i = 0; i < s->objects && group; i++) {
        uint32_t first = things->first[i], n = things->first[i + 1] - first;

        s->wanted[i] = n ? bm_new(s->a, n, 1) : NULL;
        if (n && !s->wanted[i]) {
            bm_drop(s->a, group);
            return -1;
        }
        for (uint32_t k = 0; k < n; k++) {
            s->wanted[i][k] =
                (group[first + k] < 0 ? 0 : group[first + k]) == mine;
            held += group[first + k] >= 0;
        }
    }
    held = group ? held : -1;
    bm_drop(s->a, group);
    return held;
}

/* Whether some rank has samples of several partitions of one grid. What each
 * told ascends. */
static int are_joined(const struct things *things, const struct told *t)
{
    for (int r = 0; r < t->parts.ranks; r++) {
        int grid = 0;

        for (size_t k = t->first[r] + 1; k < t->first[r + 1]; k++) {
            while (things->first[grid + 1] <= t->thing[k])
                grid++;
            if (t->thing[k - 1] >= things->first[grid])
                return 1;
        }
    }
    return 0;
}

/* It may be meant; it is not what partitions are for. There cannot be more
 * groups than ranks, so nobody is told then. */
static void tell_joined(struct bouma_dataset *ds, const struct bm_split *s,
                        int held)
{
    if (s->groups == ds->comm->size)
        return;
    bm_dataset_add_note(ds,
                        "%d partitions are written by %d group%s of ranks: "
                        "some ranks hold samples of several",
                        held, s->groups, s->groups == 1 ? "" : "s");
}

static int make_group(struct bm_split *s, struct bouma_dataset *ds,
                      const struct things *things, struct told *t)
{
    int me = ds->comm->rank, count = 0, held;

    if (bm_rank_groups(t->group, &s->groups, s->a, &t->parts))
        return BOUMA_ENOMEM;
    held = choose_partitions(s, things, t, t->group[me]);
    if (held < 0)
        return BOUMA_ENOMEM;
    if (are_joined(things, t))
        tell_joined(ds, s, held);
    if (s->groups == 1)
        return BOUMA_OK;
    s->member = bm_new_raw(s->a, (size_t)t->parts.ranks, sizeof(*s->member));
    if (!s->member)
        return BOUMA_ENOMEM;
    for (int r = 0; r < t->parts.ranks; r++)
        if (t->group[r] == t->group[me])
            s->member[count++] = r;
    return bm_comm_group(&s->comm, ds->comm, s->member, count);
}

/* Collective. */
static int gather(struct told *t, struct things *things,
                  struct bouma_dataset *ds, int rc)
{
    struct bm_buffer mine;

    bm_buffer_init(&mine, ds->a);
    if (!rc)
        rc = describe(&mine, things, ds);
    if (rc)
        bm_fail(&ds->error, rc, "no memory to plan the step");
    rc = bm_comm_collect(ds->comm, &mine, &t->all, t->sizes, rc, &ds->error);
    bm_buffer_release(&mine);
    return rc;
}

static int find_groups(struct bm_split *s, struct bouma_dataset *ds,
                       struct things *things, struct told *t)
{
    int rc = BOUMA_ENOMEM;

    t->thing = bm_new_raw(ds->a, t->all.size / 4, sizeof(*t->thing));
    t->parts.thing = t->thing;
    if (t->thing)
        rc = parse(t, s->present, ds->schema.variables);
    if (!rc)
        rc = make_group(s, ds, things, t);
    return rc ? bm_fail(&ds->error, rc,
                        rc == BOUMA_ENOMEM
                            ? "no memory to plan the step"
                            : "what ranks told of their partitions could not "
                              "be decoded")
              : BOUMA_OK;
}

/* Memory for all that is told. */
static int reserve(struct bm_split *s, struct things *things, struct told *t,
                   const struct bouma_dataset *ds)
{
    size_t ranks = (size_t)ds->comm->size;
    size_t objects = (size_t)things->schema->count;

    things->first = bm_new(ds->a, objects + 1, sizeof(*things->first));
    t->sizes = bm_new(ds->a, ranks, sizeof(*t->sizes));
    t->first = bm_new(ds->a, ranks + 1, sizeof(*t->first));
    t->group = bm_new(ds->a, ranks, sizeof(*t->group));
    if (!s || !things->first || !t->sizes || !t->first || !t->group)
        return BOUMA_ENOMEM;
    s->a = ds->a;
    s->objects = things->schema->count;
    s->wanted = bm_new(ds->a, objects, sizeof(*s->wanted));
    s->present = bm_new(ds->a, ds->schema.variables, 1);
    count_things(things);
    things->mine = bm_new(ds->a, things->first[objects], 1);
    t->parts = (struct bm_rank_parts){.ranks = ds->comm->size,
                                      .first = t->first,
                                      .things = things->first[objects]};
    return s->wanted && s->present && things->mine ? BOUMA_OK : BOUMA_ENOMEM;
}

int bm_split_make(struct bm_split **out, struct bm_write_job *job)
{
    struct bouma_dataset *ds = job->ds;
    struct things things = {.schema = &ds->schema};
    struct told t = {.sizes = NULL};
    int64_t partitions = 0;
    int rc;

    *out = NULL;
    for (int i = 0; i < ds->schema.count; i++)
        partitions += chunking_of(ds->schema.objects[i]).partitions;
    if (!partitions || ds->comm->size == 1)
        return BOUMA_OK;
    *out = bm_new(ds->a, 1, sizeof(**out));
    bm_buffer_init(&t.all, ds->a);
    rc = gather(&t, &things, ds, reserve(*out, &things, &t, ds));
    if (!rc) {
        rc = find_groups(*out, ds, &things, &t);
        rc = bm_comm_agree(ds->comm, rc, &ds->error);
    }
    bm_buffer_release(&t.all);
    bm_drop(ds->a, t.sizes);
    bm_drop(ds->a, t.first);
    bm_drop(ds->a, t.thing);
    bm_drop(ds->a, t.group);
    bm_drop(ds->a, things.first);
    bm_drop(ds->a, things.mine);
    if (rc) {
        if (*out)
            (*out)->a = ds->a;
        bm_split_free(*out);
        *out = NULL;
    }
    return rc;
}
