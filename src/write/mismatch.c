/* mismatch.c -- ranks that describe a step differently are told what differs,
 * by name. Only runs once it is known that something does. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "layout/grid_patch.h"
#include "write/write_job.h"

/* Units are texts; none is an empty one. */
static int compare_units(struct bouma_dataset *ds, const char *what,
                         const char *mine, const char *root)
{
    mine = mine ? mine : "";
    root = root ? root : "";
    return strcmp(mine, root)
               ? bm_fail(&ds->error, BOUMA_EMISMATCH,
                         "rank %d has %s with unit \"%s\", rank 0 with unit "
                         "\"%s\"",
                         ds->comm->rank, what, mine, root)
               : BOUMA_OK;
}

static int compare_variable(struct bouma_dataset *ds,
                            const struct bouma_variable *mine,
                            const struct bouma_variable *root)
{
    const char *grid = mine->object->name;
    int me = ds->comm->rank;
    char what[600];

    if (strcmp(mine->name, root->name))
        return bm_fail(&ds->error, BOUMA_EMISMATCH,
                       "rank %d defines variable \"%s/%s\" where rank 0 "
                       "defines \"%s/%s\"",
                       me, grid, mine->name, grid, root->name);
    if (mine->type != root->type)
        return bm_fail(&ds->error, BOUMA_EMISMATCH,
                       "rank %d has variable \"%s/%s\" as %s, rank 0 as %s", me,
                       grid, mine->name, bouma_type_name(mine->type),
                       bouma_type_name(root->type));
    if (mine->components != root->components)
        return bm_fail(&ds->error, BOUMA_EMISMATCH,
                       "rank %d has variable \"%s/%s\" with %d components, "
                       "rank 0 with %d",
                       me, grid, mine->name, mine->components,
                       root->components);
    if (mine->codec != root->codec || mine->effort != root->effort)
        return bm_fail(&ds->error, BOUMA_EMISMATCH,
                       "rank %d has variable \"%s/%s\" with codec %s level %d, "
                       "rank 0 with %s level %d",
                       me, grid, mine->name, bouma_codec_name(mine->codec),
                       mine->effort, bouma_codec_name(root->codec),
                       root->effort);
    snprintf(what, sizeof(what), "variable \"%s/%s\"", grid, mine->name);
    return compare_units(ds, what, mine->unit, root->unit);
}

static int compare_object(struct bouma_dataset *ds,
                          const struct bm_object *mine,
                          const struct bm_object *root)
{
    int me = ds->comm->rank, rc = BOUMA_OK;
    char text[600];

    if (strcmp(mine->name, root->name) || mine->kind != root->kind)
        return bm_fail(&ds->error, BOUMA_EMISMATCH,
                       "rank %d defines %s \"%s\" where rank 0 defines %s "
                       "\"%s\"",
                       me, bm_object_kind_name(mine->kind), mine->name,
                       bm_object_kind_name(root->kind), root->name);
    if (mine->layout != root->layout)
        return bm_fail(&ds->error, BOUMA_EMISMATCH,
                       "rank %d defines %s \"%s\" with layout %s, rank 0 with "
                       "layout %s",
                       me, bm_object_kind_name(mine->kind), mine->name,
                       bouma_layout_name((bouma_layout)mine->layout->code),
                       bouma_layout_name((bouma_layout)root->layout->code));
    if (mine->layout->differs(text, sizeof(text), mine, root, me))
        return bm_fail(&ds->error, BOUMA_EMISMATCH, "%s", text);
    if (mine->count != root->count)
        return bm_fail(&ds->error, BOUMA_EMISMATCH,
                       "rank %d has %d variables of \"%s\", rank 0 has %d", me,
                       mine->count, mine->name, root->count);
    snprintf(text, sizeof(text), "%s \"%s\"", bm_object_kind_name(mine->kind),
             mine->name);
    rc = compare_units(ds, text, mine->unit, root->unit);
    for (int i = 0; i < mine->count && !rc; i++)
        rc = compare_variable(ds, mine->variables[i], root->variables[i]);
    return rc;
}

static uint64_t partitions_of(const struct bm_object *o)
{
    return o->layout->chunking ? (uint64_t)o->layout->chunking(o).partitions
                               : 0;
}

static uint64_t is_open(const struct bm_object *o)
{
    return bm_grid_patch_open(o) != NULL;
}

void bm_job_put_choices(struct bm_buffer *b, const struct bm_schema *schema)
{
    for (int i = 0; i < schema->count; i++) {
        bm_put_u64(b, partitions_of(schema->objects[i]));
        bm_put_u64(b, is_open(schema->objects[i]));
    }
}

static int compare_choices(struct bouma_dataset *ds,
                           const struct bm_object *mine, struct bm_cursor *c)
{
    uint64_t partitions = bm_get_u64(c), open = bm_get_u64(c);

    if (partitions_of(mine) != partitions)
        return bm_fail(&ds->error, BOUMA_EMISMATCH,
                       "rank %d has grid \"%s\" with %" PRIu64
                       " partitions, rank 0 with %" PRIu64,
                       ds->comm->rank, mine->name, partitions_of(mine),
                       partitions);
    if (is_open(mine) != open)
        return bm_fail(&ds->error, BOUMA_EMISMATCH,
                       "rank %d has grid \"%s\" %s 'patch' and 'levels', rank "
                       "0 %s: on all ranks they are given, or on none",
                       ds->comm->rank, mine->name, open ? "with" : "without",
                       open ? "without" : "with");
    return BOUMA_OK;
}

static int compare(struct bm_write_job *job, struct bm_cursor *c)
{
    struct bouma_dataset *ds = job->ds;
    uint64_t step = bm_get_u64(c);
    double time = bm_get_f64(c);
    struct bm_error why = {0};
    struct bm_schema root;
    int me = ds->comm->rank, rc;

    if (step != job->entry.step)
        return bm_fail(&ds->error, BOUMA_EMISMATCH,
                       "rank %d ends step %" PRIu64 ", rank 0 step %" PRIu64,
                       me, job->entry.step, step);
    if (memcmp(&time, &job->entry.time, sizeof(time)))
        return bm_fail(&ds->error, BOUMA_EMISMATCH,
                       "rank %d has time %g for step %" PRIu64
                       ", rank 0 has %g",
                       me, job->entry.time, step, time);
    bm_schema_init(&root, ds->a, &why);
    rc = bm_schema_decode(&root, c, "rank 0", &why);
    if (rc)
        bm_fail(&ds->error, rc, "%s", why.text);
    if (!rc && root.count != ds->schema.count)
        rc = bm_fail(&ds->error, BOUMA_EMISMATCH,
                     "rank %d has %d grids and particle sets, rank 0 has %d",
                     me, ds->schema.count, root.count);
    for (int i = 0; i < root.count && !rc; i++)
        rc = compare_object(ds, ds->schema.objects[i], root.objects[i]);
    for (int i = 0; i < root.count && !rc; i++)
        rc = compare_choices(ds, ds->schema.objects[i], c);
    bm_schema_release(&root);
    return rc;
}

int bm_job_mismatch(struct bm_write_job *job)
{
    struct bouma_dataset *ds = job->ds;
    struct bm_buffer b;
    int rc = BOUMA_OK;

    bm_buffer_init(&b, ds->a);
    if (ds->comm->rank == 0) {
        bm_put_u64(&b, job->entry.step);
        bm_put_f64(&b, job->entry.time);
        bm_schema_encode(&b, &ds->schema);
        bm_job_put_choices(&b, &ds->schema);
    }
    rc = bm_comm_share(ds->comm, &b, 0, rc, &ds->error);
    if (!rc) {
        struct bm_cursor c = bm_cursor_of(b.data, b.size);

        if (ds->comm->rank != 0)
            rc = compare(job, &c);
        rc = bm_comm_agree(ds->comm, rc, &ds->error);
    }
    bm_buffer_release(&b);
    if (!rc)
        rc = bm_fail(&ds->error, BOUMA_EMISMATCH,
                     "the ranks describe step %" PRIu64 " differently: units, "
                     "positions or attributes differ",
                     job->entry.step);
    return rc;
}
