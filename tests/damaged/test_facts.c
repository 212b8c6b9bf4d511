/* test_facts.c -- facts that are stored twice. In each of them in turn a lie is
 * told once, and sealed with the right checksum: verify names it. The
 * table in docs/format.md has them all. */
#include "forge.h"
#include "read/read.h"

enum { STEP = 1, DUST = 2 }; /* the first file of particles */

/* ---- lies of the manifest ------------------------------------------------ */

typedef void lie(struct bm_manifest *m);

static struct bm_part_info *part(struct bm_manifest *m)
{
    return &m->subfiles[0].parts[0]; /* of the grid */
}

static struct bm_particle_summary *summary(struct bm_manifest *m)
{
    return bm_particle_summary_of(m->subfiles[DUST].summaries.entries[0]);
}

#define LIE(name, statement)                                                   \
    static void name(struct bm_manifest *m)                                    \
    {                                                                          \
        statement;                                                             \
    }

LIE(step, m->step = 2)
LIE(time_, m->time += 1)
LIE(epoch, m->generation.epoch++)
LIE(attempt, m->generation.attempt++)
LIE(order, m->order = BOUMA_ORDER_CHUNK)
LIE(fewer_files, m->count--)
LIE(file_bytes, m->subfiles[0].file_bytes++)
LIE(head_bytes, m->subfiles[0].head_bytes--)
LIE(head_hash, m->subfiles[0].head_hash[3] ^= 1)
LIE(raw_bytes, m->record.raw_bytes++)
LIE(stored_bytes, m->record.stored_bytes--)
LIE(largest_file, m->record.largest_file++)
LIE(mean_file, m->record.mean_file--)
LIE(files, m->record.files++)
LIE(chunks, m->record.chunks++)
LIE(part_chunks, part(m)->chunks++; m->subfiles[1].parts[0].chunks--)
LIE(level_bytes, part(m)->level_bytes[0]++)
LIE(largest_error, part(m)->loss.largest = 1)
LIE(squared_errors, part(m)->loss.squares = 1)
LIE(bounds, part(m)->bounds.lo[1]++)
LIE(low, part(m)->ranges[0].low.f -= 1)
LIE(high, part(m)->ranges[0].high.f += 1)
LIE(nans, part(m)->ranges[0].nans++; part(m)->ranges[0].count--)
LIE(unit, m->schema->objects[0]->unit[0] = 'k')
LIE(origin, m->schema->objects[0]->origin[0] = 3)
LIE(particles, summary(m)->count++)
LIE(strays, summary(m)->strays++)
LIE(seed, summary(m)->seed++)
LIE(tree_bytes, summary(m)->tree_bytes++)
LIE(tree_hash, summary(m)->tree_hash ^= 1)
LIE(dust_low, summary(m)->low[0] -= 1)
LIE(dust_high, summary(m)->high[1] += 1)
LIE(rows, summary(m)->rows--; m->file_trees[0].rows--)
LIE(row_low, summary(m)->bins[0].low.f -= 1)
LIE(row_high, summary(m)->bins[0].high.f += 1)
LIE(row_finite, summary(m)->bins[0].finite ^= 1)
LIE(bitmap, summary(m)->bitmaps[0] ^= 4)
LIE(top_bitmap, m->file_trees[0].bitmaps[0] ^= 4)
LIE(top_file, m->file_trees[0].nodes[m->file_trees[0].node_count - 1].file = 0)
LIE(top_axis, m->file_trees[0].nodes[m->file_trees[0].node_count - 1].axis = 2)

static const struct {
    const char *name;
    lie *lie;
} lies[] = {{"step", step},
            {"time", time_},
            {"epoch", epoch},
            {"attempt", attempt},
            {"order", order},
            {"number of files", fewer_files},
            {"bytes of a file", file_bytes},
            {"bytes of a head", head_bytes},
            {"hash of a head", head_hash},
            {"raw bytes", raw_bytes},
            {"stored bytes", stored_bytes},
            {"largest file", largest_file},
            {"mean file", mean_file},
            {"files", files},
            {"chunks", chunks},
            {"chunks of a part", part_chunks},
            {"bytes of a level", level_bytes},
            {"largest error", largest_error},
            {"squared errors", squared_errors},
            {"bounds", bounds},
            {"low", low},
            {"high", high},
            {"NaN", nans},
            {"unit", unit},
            {"origin", origin},
            {"particles", particles},
            {"strays", strays},
            {"seed", seed},
            {"bytes of a tree", tree_bytes},
            {"hash of a tree", tree_hash},
            {"bounds of particles, low", dust_low},
            {"bounds of particles, high", dust_high},
            {"rows", rows},
            {"low of a row", row_low},
            {"high of a row", row_high},
            {"no infinities", row_finite},
            {"bitmap", bitmap},
            {"bitmap over files", top_bitmap},
            {"file of a leaf", top_file},
            {"axis of a leaf", top_axis}};

/* Seal the manifest of an open step as the one on disk. */
static void save_manifest(const struct forge *f, const struct bm_manifest *m)
{
    struct bm_buffer b;
    char name[96];

    bm_buffer_init(&b, bm_allocator_default());
    bm_manifest_encode(&b, m, f->options.id);
    REQUIRE(!b.failed);
    forge_name_manifest(name, STEP);
    forge_save(f, name, b.data, b.size);
    bm_buffer_release(&b);
}

/* Verify finds a damage of step 1 and of no other, from 'meta' on. */
static void is_named(const struct forge *f, const char *name)
{
    int before = check_counts()->failed;
    struct forge_findings found;

    for (int depth = BOUMA_DEPTH_META; depth <= BOUMA_DEPTH_DEEP; depth++) {
        forge_verify(f, &found, (bouma_depth)depth);
        CHECK(found.verified.damages > 0);
        CHECK_TEXT(found.text, "2 1 steps/00000001/");
        CHECK(!strstr(found.text, "2 0 ") && !strstr(found.text, "2 2 "));
    }
    if (check_counts()->failed != before)
        printf("  %s: %s\n", name, found.text);
}

/* The first lie about particles. */
static size_t lies_about_grids(void)
{
    size_t i = 0;

    while (strcmp(lies[i].name, "particles"))
        i++;
    return i;
}

static void lies_of_the_manifest_are_named(int what)
{
    size_t end =
        what == FORGE_DUST ? sizeof(lies) / sizeof(*lies) : lies_about_grids();

    for (size_t i = 0; i < end; i++) {
        struct forge_findings found;
        bouma_dataset *ds;
        bouma_step *open;
        struct forge f;
        size_t count;

        forge_begin(&f, BOUMA_ORDER_LEVEL, what);
        REQUIRE(!bouma_dataset_open(&ds, FORGE_PATH, &f.options));
        REQUIRE(!bouma_step_open(&open, ds, STEP));
        REQUIRE(open->manifest.count == (what == FORGE_DUST ? 4 : 2));
        REQUIRE(what != FORGE_DUST || summary(&open->manifest)->rows == 1);
        save_manifest(&f, &open->manifest); /* the truth is sound */
        forge_verify(&f, &found, BOUMA_DEPTH_DEEP);
        CHECK_EQ(found.verified.damages, 0);
        count = open->manifest.count;
        lies[i].lie(&open->manifest);
        save_manifest(&f, &open->manifest);
        open->manifest.count = count;
        bouma_step_free(open);
        bouma_dataset_free(ds);
        is_named(&f, lies[i].name);
        forge_end(&f);
    }
}

/* ---- lies of a head ------------------------------------------------------ */

static const struct {
    const char *name;
    size_t at;
    uint8_t mask;
} fields[] = {{"step", 64, 1},     {"time", 78, 1},  {"subfile", 80, 1},
              {"subfiles", 84, 1}, {"epoch", 88, 2}, {"attempt", 92, 1},
              {"order", 96, 3},    {"data", 104, 1}};

static void lies_of_a_head_are_named(void)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        for (int subfile = 0; subfile < FORGE_FILES; subfile++) {
            struct forge_file file;
            struct forge f;
            char name[96];

            forge_begin(&f, BOUMA_ORDER_LEVEL, FORGE_GRID);
            forge_name_subfile(name, STEP, subfile);
            forge_load(&f, &file, name);
            file.data[fields[i].at] ^= fields[i].mask;
            forge_seal_head(&f, STEP, &file);
            is_named(&f, fields[i].name);
            CHECK_EQ(forge_read(&f, STEP, 0), BOUMA_EFORMAT);
            free(file.data);
            forge_end(&f);
        }
}

/* ---- lies of a summary: in both copies, against its chunks ----------------
 */

/* Seal a head of particles, in both copies; the manifest has its hash. */
static void save_dust(const struct forge *f, bouma_step *open,
                      const struct bm_head *head)
{
    struct forge_file file;
    struct bm_buffer b;
    uint8_t hash[16];
    char name[96];

    bm_buffer_init(&b, bm_allocator_default());
    bm_head_encode(&b, head, &open->schema, f->options.id, hash);
    forge_name_subfile(name, STEP, DUST);
    forge_load(f, &file, name);
    REQUIRE(!b.failed && b.size == forge_head_bytes(&file));
    memcpy(file.data, b.data, b.size);
    memcpy(file.data + file.bytes - b.size, b.data, b.size);
    forge_save(f, file.name, file.data, file.bytes);
    memcpy(open->manifest.subfiles[DUST].head_hash, hash, 16);
    bm_buffer_release(&b);
    free(file.data);
}

static void lies_about_particles_are_named(void)
{
    for (int i = 0; i < 4; i++) {
        struct bm_source *source;
        bouma_dataset *ds;
        bouma_step *open;
        struct forge f;

        forge_begin(&f, BOUMA_ORDER_LEVEL, FORGE_DUST);
        REQUIRE(!bouma_dataset_open(&ds, FORGE_PATH, &f.options));
        REQUIRE(!bouma_step_open(&open, ds, STEP));
        REQUIRE(!bm_step_source(open, DUST, &source));
        for (int k = 0; k < 2; k++) {
            struct bm_particle_summary *c =
                k ? summary(&open->manifest)
                  : bm_particle_summary_of(source->head.summaries.entries[0]);

            c->low[0] -= i == 0;
            c->high[1] += i == 1;
            c->bins[0].low.f -= i == 2;
            c->bins[0].high.f += i == 3;
        }
        save_dust(&f, open, &source->head);
        /* The bitmaps over files follow from the summaries: none, so that these
         * are all that is wrong. */
        open->manifest.file_trees[0].node_count = 0;
        save_manifest(&f, &open->manifest);
        bouma_step_free(open);
        bouma_dataset_free(ds);
        is_named(&f, "particles");
        forge_end(&f);
    }
}

/* ---- lies of the ranges of a chunk, by which queries pass over it --------- */

/* A chunk whose lowest mass is not that of the file. */
static struct bm_range *inner_range(const struct bm_head *head,
                                    const struct bm_part_info *part)
{
    const struct bm_section *s = bm_head_section(head, part->variable);
    size_t i = 0;

    while (i < s->count && !(s->ranges[i].low.f > part->ranges[0].low.f))
        i++;
    REQUIRE(i < s->count);
    return &s->ranges[i];
}

static void a_range_that_is_a_bit_narrow_is_named(int what)
{
    struct forge_findings found;
    struct bm_source *source;
    bouma_dataset *ds;
    bouma_step *open;
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_CHUNK, what);
    forge_verify(&f, &found, BOUMA_DEPTH_DEEP);
    CHECK_EQ(found.verified.damages, 0);
    REQUIRE(!bouma_dataset_open(&ds, FORGE_PATH, &f.options));
    REQUIRE(!bouma_step_open(&open, ds, STEP));
    REQUIRE(!bm_step_source(open, DUST, &source));
    inner_range(&source->head, &open->manifest.subfiles[DUST].parts[1])
        ->low.f += 0.25;
    save_dust(&f, open, &source->head);
    save_manifest(&f, &open->manifest);
    bouma_step_free(open);
    bouma_dataset_free(ds);
    forge_verify(&f, &found, BOUMA_DEPTH_DEEP);
    CHECK_EQ(found.verified.damages, 1);
    CHECK_TEXT(found.text, "not in the range that was recorded");
    forge_end(&f);
}

/* ---- lies of keys -------------------------------------------------------- */

/* Chunk 'i' of a file is said to be another one, under the right checksum. */
static void rename_chunk(const struct bm_manifest *m, struct bm_section *s,
                         size_t i, uint64_t key, const struct forge_file *file)
{
    s->keys[i] = key;
    for (int k = 0; k < s->levels; k++) {
        size_t at = i * (size_t)s->levels + (size_t)k;
        uint8_t id[16];
        struct bm_address address = {
            id, m->step, m->generation.epoch, m->generation.attempt,
            0,  key,     (uint32_t)k};

        memset(id, 5, sizeof(id));
        s->hashes[at] =
            bm_hash_chunk(&address, file->data + s->offsets[at], s->sizes[at]);
    }
}

/* The number of all chunks is right, but the second file has the last one of
 * the first instead of its own first one. */
static void a_chunk_in_two_files_is_not_taken_for_another(int what)
{
    struct bm_subfile_info *info;
    struct bm_source *source;
    struct forge_file file;
    struct bm_section *s;
    struct bm_buffer b;
    bouma_dataset *ds;
    bouma_step *open;
    struct forge f;
    uint8_t hash[16];
    uint64_t last;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, what);
    REQUIRE(!bouma_dataset_open(&ds, FORGE_PATH, &f.options));
    REQUIRE(!bouma_step_open(&open, ds, STEP));
    REQUIRE(!bm_step_source(open, 0, &source));
    s = &source->head.sections[0];
    last = s->keys[s->count - 1];
    REQUIRE(!bm_step_source(open, 1, &source));
    forge_name_subfile(name, STEP, 1);
    forge_load(&f, &file, name);
    s = &source->head.sections[0];
    rename_chunk(&open->manifest, s, 0, last, &file);
    bm_buffer_init(&b, bm_allocator_default());
    bm_head_encode(&b, &source->head, &open->schema, f.options.id, hash);
    REQUIRE(!b.failed && b.size == forge_head_bytes(&file));
    memcpy(file.data, b.data, b.size);
    memcpy(file.data + file.bytes - b.size, b.data, b.size);
    forge_save(&f, file.name, file.data, file.bytes);
    info = &open->manifest.subfiles[1];
    memcpy(info->head_hash, hash, 16);
    info->parts[0].bounds =
        (struct bm_box){{0, 0, 0}, {1, FORGE_EDGE, FORGE_EDGE}};
    save_manifest(&f, &open->manifest);
    bouma_step_free(open);
    bouma_dataset_free(ds);
    CHECK_EQ(forge_read(&f, STEP, 0), BOUMA_EFORMAT);
    /* Of HZ order, coarse levels are in the first file. */
    CHECK_EQ(forge_read(&f, STEP, 2),
             what == FORGE_GRID ? BOUMA_EFORMAT : BOUMA_OK);
    is_named(&f, "keys");
    bm_buffer_release(&b);
    free(file.data);
    forge_end(&f);
}

static int take_all(void *user, const bouma_patch_info *patch, int level,
                    const bouma_selection *selection, const void *samples)
{
    (void)user;
    (void)patch;
    (void)level;
    (void)selection;
    (void)samples;
    return 0;
}

/* Query the last sample of the grid. */
static int query_corner(const struct forge *f)
{
    bouma_box corner = {{FORGE_EDGE - 1, FORGE_EDGE - 1},
                        {FORGE_EDGE, FORGE_EDGE}};
    bouma_patch_query query = {
        .size = sizeof(query), .box = &corner, .each = take_all};
    bouma_step *step = NULL;
    bouma_dataset *ds;
    int rc = bouma_dataset_open(&ds, FORGE_PATH, &f->options);

    if (!rc)
        rc = bouma_step_open(&step, ds, STEP);
    if (!rc)
        rc = bouma_variable_query(
            bouma_grid_find_variable(bouma_step_find_grid(step, "meadow"),
                                     "heat"),
            &query);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    return rc;
}

/* No file is said to reach to the last sample: that is no empty answer. */
static void a_patch_in_no_file_is_missed_by_queries(void)
{
    bouma_dataset *ds;
    bouma_step *open;
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, FORGE_GRID);
    CHECK_EQ(query_corner(&f), BOUMA_OK);
    REQUIRE(!bouma_dataset_open(&ds, FORGE_PATH, &f.options));
    REQUIRE(!bouma_step_open(&open, ds, STEP));
    for (size_t i = 0; i < open->manifest.count; i++)
        open->manifest.subfiles[i].parts[0].bounds =
            (struct bm_box){{0, 0, 0}, {1, FORGE_EDGE / 2, FORGE_EDGE / 2}};
    save_manifest(&f, &open->manifest);
    bouma_step_free(open);
    bouma_dataset_free(ds);
    CHECK_EQ(query_corner(&f), BOUMA_EFORMAT);
    forge_end(&f);
}

/* ---- lies of the index, which is a cache: notes ---------------------------
 */

static void lies_of_the_index_are_noted(void)
{
    for (int i = 0; i < 3; i++) {
        struct bm_step_entry entry = {STEP, 0.5, {1, 2}};
        uint8_t record[BM_INDEX_RECORD];
        struct forge_findings found;
        struct forge_file file;
        struct forge f;

        entry.time += i == 0;
        entry.generation.epoch += i == 1;
        entry.generation.attempt += i == 2;
        forge_begin(&f, BOUMA_ORDER_LEVEL, FORGE_GRID);
        forge_load(&f, &file, "index");
        bm_index_encode(record, &entry, f.options.id);
        memcpy(file.data + STEP * BM_INDEX_RECORD, record, BM_INDEX_RECORD);
        forge_save(&f, "index", file.data, file.bytes);
        forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
        CHECK_EQ(found.verified.damages, 0);
        CHECK_TEXT(found.text, "1 1 index the index tells of another version");
        CHECK_EQ(forge_read(&f, STEP, 0), BOUMA_OK);
        free(file.data);
        forge_end(&f);
    }
}

int main(void)
{
    lies_of_the_manifest_are_named(FORGE_DUST);
    lies_of_the_manifest_are_named(FORGE_HZ_ROWS);
    lies_of_the_manifest_are_named(FORGE_HZ_CURVE);
    lies_of_a_head_are_named();
    lies_about_particles_are_named();
    a_range_that_is_a_bit_narrow_is_named(FORGE_DUST);
    a_range_that_is_a_bit_narrow_is_named(FORGE_ROUNDED_DUST);
    a_chunk_in_two_files_is_not_taken_for_another(FORGE_GRID);
    a_chunk_in_two_files_is_not_taken_for_another(FORGE_HZ_ROWS);
    a_chunk_in_two_files_is_not_taken_for_another(FORGE_HZ_CURVE);
    a_patch_in_no_file_is_missed_by_queries();
    lies_of_the_index_are_noted();
    return check_result();
}
