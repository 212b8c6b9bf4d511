/* files_image.c -- see files_image.h. */
#include "write/files_image.h"

#include <string.h>

#include "base/image.h"
#include "write/predict.h"

struct facts {
    int64_t files;
    uint64_t misfits;
    int64_t division; /* of predicted chunks */
};

#define ARRAY(m, array, count)                                                 \
    ((array) = bm_image_array((m), (array), (size_t)(count), sizeof(*(array))))

/* Of who packs, and of who reads. */
static void walk(struct bm_image *m, struct bm_write_job *job)
{
    struct bm_job_plan *plan = &job->plan;
    struct bm_assignment *files = &plan->files;
    struct facts own = {files->files, job->result.misfits,
                        plan->prediction ? bm_predict_division(job) : 0};
    const struct facts *facts = bm_image_array(m, &own, 1, sizeof(own));
    size_t chunks = plan->grids->chunks;

    files->files = facts->files;
    job->result.misfits = (size_t)facts->misfits;
    ARRAY(m, plan->bytes, chunks);
    ARRAY(m, files->first, files->files + 1);
    ARRAY(m, files->chunk, chunks);
    ARRAY(m, files->file, chunks);
    ARRAY(m, files->writer, files->files);
    ARRAY(m, files->tier, files->files);
    ARRAY(m, plan->writers.order, files->files);
    if (plan->prediction) {
        uint64_t **room = bm_predict_room(job);

        ARRAY(m, *room, chunks);
        bm_predict_divide(job, (int)facts->division);
    }
}

static int pack(struct bm_write_job *job, struct bm_common *common)
{
    struct bm_image m = {.at = 0};

    walk(&m, job);
    m.to = bm_common_room(common, m.at);
    m.at = 0;
    if (!m.to)
        return bm_fail(&job->ds->error, BOUMA_ENOMEM,
                       "no memory to assign chunks to files");
    walk(&m, job);
    return BOUMA_OK;
}

static void drop_arrays(struct bm_write_job *job)
{
    struct bm_job_plan *plan = &job->plan;

    if (plan->is_view)
        return;
    bm_drop(job->ds->a, plan->bytes);
    bm_writers_release(&plan->writers);
    bm_assignment_release(&plan->files);
}

int bm_files_share(struct bm_write_job *job, int rc)
{
    struct bm_comm *near = bm_comm_near(job->comm);
    struct bm_common *common = &job->plan.grids->files;
    struct bm_image m = {.at = 0};

    if (near->size == 1)
        return rc;
    if (!common->a)
        bm_common_init(common, job->ds->a);
    if (!rc && near->rank == 0)
        rc = pack(job, common);
    rc = bm_common_tell(common, near, rc, &job->ds->error);
    if (rc || (near->rank == 0 && job->plan.prediction))
        return rc; /* what was predicted is yet to change */
    drop_arrays(job);
    job->plan.is_view = 1;
    job->plan.files.a = job->ds->a;
    job->plan.writers.files = &job->plan.files;
    m.from = common->data;
    walk(&m, job);
    return BOUMA_OK;
}

void bm_files_release(struct bm_write_job *job)
{
    drop_arrays(job);
    bm_drop(job->ds->a, job->plan.size_bytes);
    bm_predict_release(job);
}
