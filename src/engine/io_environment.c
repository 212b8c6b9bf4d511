/* io_environment.c -- see io_environment.h. */
#include "engine/io_environment.h"

#include <string.h>

#include "plan/schedule.h"
#include "store/text_file.h"

/* Blocks of this size are those of a parallel file system, and what is smaller
 * than a grain is not worth a write. */
#define LARGE_BLOCK ((uint64_t)1 << 20)
#define MOST_BLOCK  ((uint64_t)64 << 20)
#define GRAIN       ((uint64_t)16 << 10)

/* Rank 0 reads the file of a machine, if it is one, for all. Collective. */
static int share_file(struct bm_comm *comm, const char *spec,
                      struct bm_buffer *file, struct bm_error *error)
{
    int rc = BOUMA_OK;

    if (!bm_machine_is_file(spec))
        return rc;
    if (comm->rank == 0)
        rc = bm_text_file_load(file, spec, error);
    return bm_comm_share(comm, file, 0, rc, error);
}

/* Make the machine of what all ranks tell. Collective, up to the agreement
 * that the caller makes. */
static int make_machine(struct bm_machine **out, struct bm_comm *comm,
                        const char *spec, const struct bm_buffer *file,
                        struct bm_error *error)
{
    size_t *sizes = bm_new(comm->a, (size_t)comm->size, sizeof(*sizes));
    struct bm_buffer mine, all;
    int rc = BOUMA_OK;

    bm_buffer_init(&mine, comm->a);
    bm_buffer_init(&all, comm->a);
    bm_machine_tell(&mine, spec);
    if (!sizes || mine.failed)
        rc = bm_fail(error, BOUMA_ENOMEM, "no memory for the machine");
    rc = bm_comm_collect(comm, &mine, &all, sizes, rc, error);
    if (!rc)
        rc = bm_machine_make(
            out, comm->a,
            &(struct bm_machine_source){.spec = spec,
                                        .file = bm_machine_is_file(spec)
                                                    ? (const char *)file->data
                                                    : NULL,
                                        .file_bytes = file->size,
                                        .ranks = comm->size,
                                        .locations = &all,
                                        .sizes = sizes},
            error);
    if (rc && !error->status)
        bm_fail(error, rc, "no memory for the machine");
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(comm->a, sizes);
    return rc;
}

int bm_io_environment_find(struct bm_io_environment *env, struct bm_comm *comm,
                           const struct bm_options *options,
                           struct bm_error *error)
{
    struct bm_buffer file;
    const char *local = NULL;
    int rc;

    memset(env, 0, sizeof(*env));
    env->transport = options->transport;
    env->local = options->local;
    if (!options->machine[0] && !bm_placement_of(options->place)->needs_machine)
        return BOUMA_OK;
    bm_buffer_init(&file, comm->a);
    rc = share_file(comm, options->machine, &file, error);
    if (!rc)
        rc = make_machine(&env->machine, comm, options->machine, &file, error);
    bm_buffer_release(&file);
    rc = bm_comm_agree(comm, rc, error);
    if (rc)
        return rc;
    if (!env->transport)
        env->transport = bm_machine_transport(env->machine);
    local = bm_machine_local(env->machine);
    if (!env->local[0] && local)
        env->local = local;
    return rc;
}

void bm_io_environment_release(struct bm_io_environment *env)
{
    bm_machine_free(env->machine);
    memset(env, 0, sizeof(*env));
}

uint64_t bm_io_environment_usual_buffer(const struct bm_options *options)
{
    if (options->buffer_bytes)
        return options->buffer_bytes;
    return options->async || options->predict == BOUMA_PREDICT_ON
               ? BM_WAITING_BUFFER_BYTES
               : BM_BUFFER_BYTES;
}

int bm_io_environment_choose_buffer(struct bm_io_environment *env,
                                    struct bm_comm *comm,
                                    const struct bm_options *options,
                                    const struct bm_store *store,
                                    struct bm_error *error)
{
    uint64_t said[1];
    int rc;

    env->buffer_bytes = options->buffer_bytes;
    if (!env->buffer_bytes && env->machine)
        env->buffer_bytes = bm_machine_stripe(env->machine);
    if (env->buffer_bytes)
        return BOUMA_OK;
    /* Whatever the file systems of the ranks say. */
    said[0] = bm_store_block(store);
    rc = bm_comm_max(comm, said, 1, error);
    env->buffer_bytes = said[0] < MOST_BLOCK ? said[0] : MOST_BLOCK;
    if (said[0] < LARGE_BLOCK) {
        env->buffer_bytes = bm_io_environment_usual_buffer(options);
        env->grain = said[0] > GRAIN ? said[0] : GRAIN;
    }
    return rc;
}

struct bm_place_task
bm_io_environment_place_task(const struct bm_io_environment *env,
                             const struct bm_options *options,
                             const struct bm_comm *comm)
{
    struct bm_place_task task = {
        .scheme = options->place,
        .ranks = comm->size,
        .places = options->nodes_per_file ? &comm->places : NULL};

    task.rule = (struct bm_cost_rule){.only = options->tier,
                                      .buffers = options->buffers,
                                      .buffer_bytes = env->buffer_bytes,
                                      .persist = options->persist};
    if (env->machine) {
        task.rule.network = bm_machine_network(env->machine);
        task.rule.tiers = bm_machine_tiers(env->machine, &task.rule.tier_count);
    }
    return task;
}

struct bm_node_groups
bm_io_environment_node_groups(const struct bm_options *options,
                              const struct bm_comm *comm)
{
    int nodes = comm->places.nodes;

    return bm_node_groups_of(&comm->places, options->nodes_per_file
                                                ? options->nodes_per_file
                                                : nodes + 1);
}
