/* dataset_machine.c -- the machine that a dataset is written on, where that
 * matters; the same on all ranks. */
#include "dataset/dataset.h"
#include "machine/machine.h"
#include "store/text_file.h"

/* Rank 0 reads the file of a machine, if it is one, for all. Collective. */
static int share_file(struct bouma_dataset *ds, struct bm_buffer *file)
{
    int rc = BOUMA_OK;

    if (!bm_machine_is_file(ds->options.machine))
        return rc;
    if (ds->comm->rank == 0)
        rc = bm_text_file_load(file, ds->options.machine, &ds->error);
    return bm_comm_share(ds->comm, file, 0, rc, &ds->error);
}

/* Make the machine of what all ranks tell. Collective, up to the agreement
 * that the caller makes. */
static int make_machine(struct bouma_dataset *ds, const struct bm_buffer *file)
{
    const char *spec = ds->options.machine;
    size_t *sizes = bm_new(ds->a, (size_t)ds->comm->size, sizeof(*sizes));
    struct bm_buffer mine, all;
    int rc = BOUMA_OK;

    bm_buffer_init(&mine, ds->a);
    bm_buffer_init(&all, ds->a);
    bm_machine_tell(&mine, spec);
    if (!sizes || mine.failed)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for the machine");
    rc = bm_comm_collect(ds->comm, &mine, &all, sizes, 1, rc, &ds->error);
    if (!rc)
        rc = bm_machine_make(
            &ds->machine, ds->a, spec,
            bm_machine_is_file(spec) ? (const char *)file->data : NULL,
            file->size, ds->comm->size, &all, sizes, &ds->error);
    if (rc && !ds->error.status)
        bm_fail(&ds->error, rc, "no memory for the machine");
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(ds->a, sizes);
    return rc;
}

int bm_dataset_find_machine(struct bouma_dataset *ds)
{
    struct bm_buffer file;
    int rc;

    if (ds->mode == BM_MODE_READ || ds->options.place != BOUMA_PLACE_COST)
        return BOUMA_OK;
    bm_buffer_init(&file, ds->a);
    rc = share_file(ds, &file);
    if (!rc)
        rc = make_machine(ds, &file);
    bm_buffer_release(&file);
    return bm_comm_agree(ds->comm, rc, &ds->error);
}

struct bm_place_task bm_dataset_place_task(const struct bouma_dataset *ds)
{
    const bouma_options *o = &ds->options;
    struct bm_place_task task = {.scheme = o->place, .ranks = ds->comm->size};

    task.rule = (struct bm_cost_rule){.only = o->tier,
                                      .buffers = o->buffers,
                                      .buffer_bytes = o->buffer_bytes,
                                      .persist = o->persist};
    if (ds->machine) {
        task.rule.network = bm_machine_network(ds->machine);
        task.rule.tiers = bm_machine_tiers(ds->machine, &task.rule.tier_count);
    }
    return task;
}
