/* test_cut.c -- a subfile that was cut: what is whole in it can be read, what
 * is not is refused, verify tells what is lost, repair puts it on record, and
 * it is a damage until it is forgotten. */
#include "condition.h"
#include "damage_io.h"
#include "forge.h"
#include "read/read.h"

enum { STEP = 1, LEVELS = 3, STRIDE = 61 };

/* Of a subfile: where its parts end. */
struct layout {
    char name[96];
    uint64_t bytes, head_bytes;
    uint64_t grid[LEVELS + 1];          /* of what level k and those above
                                           it need; [LEVELS]: the head */
    uint64_t dust[BM_MAX_LEVELS], tree; /* the same of particles */
    uint64_t limits[BM_MAX_LEVELS];     /* particles up to level k */
    int dust_levels, has_offsets;
    uint64_t chunk;
};

static void add_section(struct layout *l, const struct bm_section *s)
{
    for (size_t i = 0; i < s->count; i++)
        for (int k = 0; k < s->levels; k++) {
            size_t at = i * (size_t)s->levels + (size_t)k;
            uint64_t end = s->offsets[at] + s->sizes[at];
            uint64_t *ends =
                s->variable->object->kind == BM_GRID ? l->grid : l->dust;

            for (int j = 0; j <= k && s->sizes[at]; j++)
                ends[j] = ends[j] > end ? ends[j] : end;
        }
}

/* Look at subfile 'i' of step 1, which is whole. */
static void know(struct layout *l, const struct forge *f, size_t i)
{
    struct bm_source *source;
    bouma_dataset *ds;
    bouma_step *step;

    memset(l, 0, sizeof(*l));
    forge_name_subfile(l->name, STEP, (int)i);
    REQUIRE(!bouma_dataset_open(&ds, FORGE_PATH, &f->options));
    REQUIRE(!bouma_step_open(&step, ds, STEP));
    REQUIRE(!bm_step_source(step, i, &source));
    l->bytes = source->head.file_bytes;
    l->head_bytes = source->head.head_bytes;
    l->has_offsets = source->head.has_offsets;
    for (int k = 0; k <= LEVELS && !source->head.summaries.count; k++)
        l->grid[k] = l->head_bytes;
    for (size_t s = 0; s < source->head.count; s++)
        add_section(l, &source->head.sections[s]);
    if (source->head.summaries.count) {
        const struct bm_summary *dust = source->head.summaries.entries[0];
        const struct bm_particle_summary *c = bm_particle_summary_of(dust);

        l->tree = dust->index_offset + c->tree_bytes;
        l->dust_levels = c->set->levels;
        l->chunk = bm_bat_of(c->set)->detail.chunk;
        for (int k = 0; k < l->dust_levels; k++)
            l->limits[k] = bm_bat_of(c->set)->detail.limit[k];
    }
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

static int ask_dust(const struct forge *f, double quality, int conditions,
                    uint64_t *count)
{
    bouma_particle_data *d = NULL, *all = NULL;
    bouma_particles *dust;
    bouma_particles_query q;
    bouma_condition c;
    bouma_dataset *ds;
    bouma_step *step = NULL;
    int rc = bouma_dataset_open(&ds, FORGE_PATH, &f->options);

    *count = 0;
    if (!rc)
        rc = bouma_step_open(&step, ds, STEP);
    if (!rc) {
        dust = bouma_step_particles(step, 0);
        q = (bouma_particles_query){.size = sizeof(q)};
        q.quality = quality;
        c = condition_of(bouma_particles_variable(dust, 0), 0, 100, 200);
        q.conditions = conditions ? &c : NULL;
        q.condition_count = conditions ? 1 : 0;
        rc = bouma_particles_read(&d, dust, &q);
        if (rc)
            CHECK_TEXT(bouma_error_message(ds), "were written");
        *count = d ? d->count : 0;
        /* The same, by the way of a restart. */
        CHECK_EQ(bouma_particles_restart(&all, dust, &q), rc);
        if (rc)
            CHECK_TEXT(bouma_error_message(ds), "were written");
        CHECK_EQ(all ? all->count : 0, *count);
    }
    bouma_particle_data_free(d);
    bouma_particle_data_free(all);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    return rc;
}

/* ---- reading ------------------------------------------------------------- */

static void levels_that_are_there_can_be_read(const struct forge *f,
                                              const struct layout *l,
                                              uint64_t cut)
{
    for (int k = LEVELS - 1; k >= 0; k--)
        CHECK_EQ(forge_read(f, STEP, k),
                 cut >= l->grid[k] ? BOUMA_OK : BOUMA_EFORMAT);
    CHECK_EQ(forge_read(f, 0, 0), BOUMA_OK);
}

static void dust_that_is_there_can_be_read(const struct forge *whole,
                                           const struct forge *f,
                                           const struct layout *l, uint64_t cut)
{
    for (int k = l->dust_levels - 1; k >= 0; k -= 3)
        for (int conditions = 0; conditions < 2; conditions++) {
            double quality = (double)l->limits[k] / (double)l->chunk;
            int there = cut >= l->dust[k] && (!conditions || cut >= l->tree);
            uint64_t count, right;

            CHECK_EQ(ask_dust(whole, quality, conditions, &right), BOUMA_OK);
            CHECK_EQ(ask_dust(f, quality, conditions, &count),
                     there ? BOUMA_OK : BOUMA_EFORMAT);
            CHECK_EQ(count, there ? right : 0);
        }
}

static void cut_everywhere(bouma_order order, int what)
{
    struct damage_io io;
    struct forge f, hurt;
    struct layout l;

    forge_begin(&f, order, what);
    damage_io_init(&io, f.io);
    hurt = f;
    hurt.options.io = &io.io;
    /* Files of particles come after those of the grid. */
    for (size_t i = what == FORGE_DUST ? FORGE_FILES : 0, n = 0;
         n < FORGE_FILES; i++, n++) {
        uint64_t stride = STRIDE;

        know(&l, &f, i);
        CHECK_EQ(l.has_offsets, what == FORGE_OFFSETS);
        CHECK_EQ(l.dust_levels > 0, what == FORGE_DUST);
        if (what == FORGE_DUST)
            stride = l.bytes / 9;
        for (uint64_t at = 0; at < l.bytes; at += stride) {
            /* Also just at the ends of levels, and a byte before. */
            uint64_t near =
                what == FORGE_DUST
                    ? l.dust[(at / stride) % (uint64_t)l.dust_levels]
                    : l.grid[(at / stride) % (LEVELS + 1)];
            uint64_t cuts[3] = {at, near, near - 1};

            for (int k = 0; k < 3; k++) {
                struct forge_findings found;

                io.damage = (struct damage){
                    .kind = DAMAGE_CUT, .name = l.name, .at = cuts[k]};
                levels_that_are_there_can_be_read(&hurt, &l, cuts[k]);
                if (what == FORGE_DUST)
                    dust_that_is_there_can_be_read(&f, &hurt, &l, cuts[k]);
                forge_verify(&hurt, &found, BOUMA_DEPTH_FULL);
                CHECK(found.verified.damages > 0);
                CHECK_TEXT(found.text, "were written");
                if (cuts[k] >= l.head_bytes && cuts[k] < l.grid[0])
                    CHECK_TEXT(found.text,
                               "lost: variable \"meadow/heat\", level 0");
                if (cuts[k] >= l.head_bytes && cuts[k] < l.dust[0])
                    CHECK_TEXT(found.text, "lost: variable \"dust/");
            }
        }
    }
    forge_end(&f);
}

/* ---- repair -------------------------------------------------------------- */

static void cut_file(const struct forge *f, const char *name, uint64_t bytes)
{
    struct forge_file file;

    forge_load(f, &file, name);
    forge_save(f, name, file.data, (size_t)bytes);
    free(file.data);
}

static void count_loss(void *user, const bouma_loss *loss)
{
    int64_t *n = user;

    n[0]++;
    n[1] = loss->files;
    n[2] = loss->accepted;
}

static int count_losses(const struct forge *f, int64_t *files)
{
    int64_t n[3] = {0, 0, 0};

    CHECK_EQ(bouma_losses(FORGE_PATH, &f->options, count_loss, n, NULL, 0),
             BOUMA_OK);
    *files = n[1];
    return (int)n[0];
}

/* Cut, or gone if 'bytes' is 0. */
static void is_salvaged(bouma_order order, int what, uint64_t part, int gone)
{
    struct forge_findings found;
    struct layout l;
    struct forge f;
    bouma_repair_report report = {.size = sizeof(report)};
    struct forge_file file;
    char other[96];
    uint64_t bytes;
    int64_t files;

    forge_begin(&f, order, what);
    know(&l, &f, what == FORGE_DUST ? 3 : 1);
    bytes = l.head_bytes + (l.bytes - 2 * l.head_bytes) * part / 8;
    if (gone)
        forge_remove(&f, l.name);
    else
        cut_file(&f, l.name, bytes);
    forge_repair(&f, &found, 0);
    CHECK_EQ(found.repaired.hopeless, 1);
    CHECK_EQ(count_losses(&f, &files), 0);
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.hopeless, 1);
    CHECK_EQ(found.repaired.actions, 1);
    CHECK_TEXT(found.text, l.name);
    if (!gone)
        CHECK_TEXT(found.text, "lost: variable");
    CHECK_EQ(count_losses(&f, &files), 1);
    CHECK_EQ(files, 1);
    if (!gone)
        levels_that_are_there_can_be_read(&f, &l, bytes);
    forge_verify(&f, &found, BOUMA_DEPTH_DEEP);
    CHECK_EQ(found.verified.damages, 1); /* as repair counts */
    CHECK_TEXT(found.text, "(recorded 20");
    forge_repair(&f, &found, 1); /* there is nothing more to do */
    CHECK_EQ(found.repaired.actions, 0);
    CHECK_EQ(found.repaired.hopeless, 1);
    CHECK_EQ(bouma_repair_forget(&report, FORGE_PATH, STEP, 1, &f.options, NULL,
                                 NULL, NULL, 0),
             BOUMA_OK);
    forge_verify(&f, &found, BOUMA_DEPTH_DEEP);
    CHECK_EQ(found.verified.damages, 0);
    CHECK(found.verified.notes > 0);
    CHECK_TEXT(found.text, "(recorded 20");
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.actions, 0);
    CHECK_EQ(found.repaired.hopeless, 0);
    /* What is lost after that is another loss, of this file or another. */
    forge_name_subfile(other, STEP, 0);
    forge_load(&f, &file, other);
    forge_remove(&f, other);
    forge_repair(&f, &found, 1);
    CHECK(found.repaired.hopeless > 0);
    CHECK_EQ(count_losses(&f, &files), 1);
    CHECK_EQ(files, 2);
    forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
    CHECK(found.verified.damages > 0);
    forge_save(&f, other, file.data, file.bytes);
    free(file.data);
    if (!gone) {
        cut_file(&f, l.name, bytes - 1);
        forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
        CHECK(found.verified.damages > 0);
        forge_repair(&f, &found, 1);
        CHECK_EQ(found.repaired.hopeless, 1);
        forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
        CHECK(found.verified.damages > 0);
    }
    forge_end(&f);
}

/* A file that comes back, say from a copy, ends the loss. */
static void a_file_that_is_restored_ends_the_loss(void)
{
    struct forge_findings found;
    struct forge_file file;
    struct layout l;
    struct forge f;
    int64_t files;

    forge_begin(&f, BOUMA_ORDER_LEVEL, FORGE_GRID);
    know(&l, &f, 0);
    forge_load(&f, &file, l.name);
    cut_file(&f, l.name, l.bytes / 2);
    forge_repair(&f, &found, 1);
    CHECK_EQ(count_losses(&f, &files), 1);
    forge_save(&f, l.name, file.data, file.bytes);
    CHECK_EQ(count_losses(&f, &files), 0);
    forge_verify(&f, &found, BOUMA_DEPTH_DEEP);
    CHECK_EQ(found.verified.damages, 0);
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.hopeless, 0);
    CHECK(!forge_exists(&f, "lost/00000001.loss"));
    free(file.data);
    forge_end(&f);
}

/* Of one that was cut in its second head, nothing is lost. */
static void a_second_head_is_made_anew(void)
{
    struct forge_findings found;
    struct layout l;
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, FORGE_GRID);
    know(&l, &f, 0);
    cut_file(&f, l.name, l.bytes - l.head_bytes);
    CHECK_EQ(forge_read(&f, STEP, 0), BOUMA_OK);
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.hopeless, 0);
    CHECK_EQ(found.repaired.actions, 1);
    forge_verify(&f, &found, BOUMA_DEPTH_DEEP);
    CHECK_EQ(found.verified.damages, 0);
    CHECK_EQ(forge_read(&f, STEP, 0), BOUMA_OK);
    forge_end(&f);
}

int main(void)
{
    for (int order = BOUMA_ORDER_LEVEL; order <= BOUMA_ORDER_CHUNK; order++) {
        cut_everywhere((bouma_order)order, FORGE_GRID);
        cut_everywhere((bouma_order)order, FORGE_OFFSETS);
        cut_everywhere((bouma_order)order, FORGE_DUST);
        for (int what = FORGE_GRID; what <= FORGE_OFFSETS; what++) {
            is_salvaged((bouma_order)order, what, 2, 0);
            is_salvaged((bouma_order)order, what, 6, 0);
            is_salvaged((bouma_order)order, what, 0, 1);
        }
    }
    a_file_that_is_restored_ends_the_loss();
    a_second_head_is_made_anew();
    return check_result();
}
