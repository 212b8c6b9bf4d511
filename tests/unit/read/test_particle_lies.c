/* Manifests of particles that are sealed well and say what is not so: refused,
 * before anything is looked up by what they say. */
#include "particle_block.h"
#include "read/read.h"
#include "store/envelope.h"

static bouma_io *io;
static bouma_options options;

static void write_dataset(const struct particle_block *s)
{
    struct particle_block_set set;
    bouma_dataset *ds;

    REQUIRE(!bouma_dataset_create(&ds, "d", &options));
    REQUIRE(!particle_block_define(&set, ds, "dust", 2, BOUMA_TYPE_F64, 0, 16));
    REQUIRE(!bouma_step_begin(ds, 0, 0));
    REQUIRE(!particle_block_put(&set, s));
    REQUIRE(!bouma_step_end(ds));
    REQUIRE(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

/* Write the manifest of an open step instead of that on disk. */
static void replace_manifest(bouma_dataset *ds, const bouma_step *step)
{
    static const char name[] = "steps/00000000/manifest";
    struct bm_buffer b;
    void *root, *file;
    size_t done;

    bm_buffer_init(&b, bm_allocator_default());
    bm_manifest_encode(&b, &step->manifest, ds->id);
    REQUIRE(!b.failed && !io->attach(io->user, &root, "d", 0));
    REQUIRE(!io->remove(io->user, root, name));
    REQUIRE(!io->open(io->user, root, &file, name, BOUMA_OPEN_MODE_CREATE));
    REQUIRE(!io->write(io->user, file, b.data, b.size, 0, &done));
    io->close(io->user, file);
    io->detach(io->user, root);
    bm_buffer_release(&b);
}

/* Open the step and ask for what needs trees and maps: an error, or all. */
static int ask_so(uint64_t *found, int alternatives)
{
    struct particle_block_set set;
    bouma_particle_data *d = NULL;
    bouma_particles_query q;
    bouma_condition c;
    bouma_dataset *ds;
    bouma_step *step = NULL;
    int rc = bouma_dataset_open(&ds, "d", &options);

    if (!rc)
        rc = bouma_step_open(&step, ds, 0);
    if (!rc) {
        particle_block_find(&set, step, "dust");
        q = (bouma_particles_query){.size = sizeof(q)};
        c = condition_of(set.variables[LARGE], 0, -INFINITY, INFINITY);
        q.conditions = &c;
        q.condition_count = 1;
        if (alternatives)
            q.where = "large < 500 | large >= 500";
    }
    if (!rc)
        rc = bouma_particles_read(&d, set.particles, &q);
    *found = d ? d->count : 0;
    bouma_particle_data_free(d);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    return rc;
}

/* However it is asked, the answer is the same. */
static int ask(uint64_t *found)
{
    uint64_t other;
    int rc = ask_so(found, 0);

    CHECK_EQ(ask_so(&other, 1), rc);
    CHECK_EQ(other, *found);
    return rc;
}

static void lies_are_found(void)
{
    struct particle_block s;
    uint64_t found;

    particle_block_make(&s, WITH_STRAYS, 400, 2, BOUMA_TYPE_F64, 0);
    write_dataset(&s);
    for (int lie = 0; lie < 8; lie++) {
        struct bm_particle_summary *summary, truth;
        struct bm_file_tree *top;
        bouma_type type;
        bouma_dataset *ds;
        bouma_step *step;
        int rc;

        REQUIRE(!bouma_dataset_open(&ds, "d", &options));
        REQUIRE(!bouma_step_open(&step, ds, 0));
        summary = bm_particle_summary_of(
            step->manifest.subfiles[0].summaries.entries[0]);
        top = &step->manifest.file_trees[0];
        truth = *summary;
        type = summary->types[0];
        switch (lie) {
        case 1:
            summary->rows = 0;
            top->rows = 0;
            break;
        case 2:
            summary->rows--;
            top->rows--;
            break;
        case 3:
            summary->types[0] = BOUMA_TYPE_I64;
            break;
        case 4:
            summary->strays++;
            break;
        case 5:
            summary->seed++;
            break;
        case 6:
            summary->tree_hash ^= 1;
            break;
        case 7:
            summary->tree_bytes--;
            break;
        default:
            break;
        }
        replace_manifest(ds, step);
        rc = ask(&found);
        CHECK_EQ(rc, lie ? BOUMA_EFORMAT : BOUMA_OK);
        CHECK_EQ(found, lie ? 0 : s.count);
        summary->types[0] = type;
        truth.types = summary->types;
        *summary = truth;
        top->rows = truth.rows;
        replace_manifest(ds, step);
        bouma_step_free(step);
        bouma_dataset_free(ds);
    }
    particle_block_free(&s);
}

int main(void)
{
    io = bouma_io_memory_new();
    REQUIRE(io);
    options = (bouma_options){.size = sizeof(options)};
    options.io = io;
    options.files = 2;
    lies_are_found();
    bouma_io_memory_free(io);
    return check_result();
}
