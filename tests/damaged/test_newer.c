/* test_newer.c -- what a newer version of the library may write is not damage:
 * the step is refused with EVERSION, the others are read, verify says that it
 * could not check it, and repair leaves it as it is. Everything is sealed with
 * the right checksum. */
#include "forge.h"

enum { STEP = 1, MOST = 8 };

/* From where bytes are counted. */
enum where {
    FILE_START,
    OBJECT,   /* its name, as a text; before it: kind, layout, ndims, levels */
    VARIABLE, /* what follows its name and its empty unit */
    ATTRIBUTE /* what follows its name */
};

/* One byte is changed, and maybe more. */
struct forgery {
    const char *name;
    enum where where;
    int apart, value;
    int minor; /* a minor version that we do not know */
    int more;  /* bytes at the end */
};

/* A minor version may add fields, and such that contradict those that we know.
 */
#define MORE_FIELDS                                                            \
    {                                                                          \
        "fields of a minor version", FILE_START, FORGE_MINOR, 1, 1, MOST       \
    }

static const struct forgery manifests[] = {
    {"kind", OBJECT, -4, 3, 0, 0},
    {"layout", OBJECT, -3, 4, 0, 0},
    {"type", VARIABLE, 0, 12, 0, 0},
    {"codec", VARIABLE, 1, BOUMA_CODEC_EXACT + 1, 0, 0},
    {"codec of other objects", VARIABLE, 1, BOUMA_CODEC_QUANTISE, 0, 0},
    {"tolerance", VARIABLE, 3, 4, 0, 0},
    {"type of an attribute", ATTRIBUTE, 0, 12, 0, 0},
    {"order", FILE_START, 96, 3, 0, 0},
    {"sheets", FILE_START, 102, 22, 0, 0},
    {"flag in the envelope", FILE_START, FORGE_ZERO, 1, 0, 0},
    {"major version", FILE_START, FORGE_MAJOR, 2, 0, 0},
    MORE_FIELDS,
    {"number of axes in a minor version", OBJECT, -2, 4, 1, 0}};

static const struct forgery heads[] = {
    {"order", FILE_START, 96, 3, 0, 0},
    {"offsets", FILE_START, 100, 4, 0, 0},
    {"flag in the envelope", FILE_START, FORGE_ZERO, 1, 0, 0},
    {"major version", FILE_START, FORGE_MAJOR, 2, 0, 0}};

static const struct forgery dataset = MORE_FIELDS;

static size_t find_offset(const struct forge_file *file, enum where where)
{
    switch (where) {
    case OBJECT:
        return forge_find(file, "\6\0meadow", 8);
    case VARIABLE:
        return forge_find(file, "\4\0heat", 6) + 8;
    case ATTRIBUTE:
        return forge_find(file, "numbered", 8) + 8;
    default:
        return 0;
    }
}

static void forge(struct forge_file *file, const struct forgery *forgery)
{
    size_t at = find_offset(file, forgery->where);
    size_t more = (size_t)forgery->more;

    file->data[at + (size_t)forgery->apart] = (uint8_t)forgery->value;
    if (forgery->minor)
        file->data[FORGE_MINOR] = (uint8_t)forgery->minor;
    file->data = realloc(file->data, file->bytes + more);
    REQUIRE(file->data);
    memset(file->data + file->bytes, 1, more);
    file->bytes += more;
}

/* ---- all files, to see that none changes --------------------------------- */

struct sum {
    const struct forge *f;
    const char *dir;
    uint64_t files, hash;
};

static int add_file(void *context, const char *entry)
{
    struct sum *s = context;
    struct forge_file file;
    char name[96];

    snprintf(name, sizeof(name), "%.30s/%.60s", s->dir, entry);
    forge_load(s->f, &file, name);
    s->files++;
    s->hash +=
        bm_hash64(file.data, file.bytes, bm_hash64(name, strlen(name), 0));
    free(file.data);
    return 0;
}

static struct sum sum_of(const struct forge *f, const char *dir)
{
    struct sum s = {f, dir, 0, 0};
    const bouma_io *io = f->io;
    void *root;

    REQUIRE(!io->attach(io->user, &root, FORGE_PATH, 0));
    io->list(io->user, root, dir, add_file, &s); /* none: 0 files */
    io->detach(io->user, root);
    return s;
}

/* ---- claims -------------------------------------------------------------- */

/* With 'told', repair has found it in the way. */
static void is_left_alone(const struct forge *f, int told)
{
    struct sum before = sum_of(f, "steps/00000001"), after;
    struct forge_findings found;

    forge_repair(f, &found, 1);
    CHECK(!strstr(found.text, "1 1 ")); /* no action on the step */
    CHECK_EQ(found.repaired.hopeless, 0);
    if (told) {
        CHECK(found.repaired.unchecked > 0);
        CHECK_TEXT(found.text, "3 1 steps/00000001/");
    }
    after = sum_of(f, "steps/00000001");
    CHECK_EQ(before.files, after.files);
    CHECK_EQ(before.hash, after.hash);
    CHECK_EQ(sum_of(f, "lost").files, 0);
}

static void is_new_and_not_damaged(const struct forge *f, int told)
{
    struct forge_findings found;

    CHECK_EQ(forge_read(f, STEP, 0), BOUMA_EVERSION);
    CHECK_EQ(forge_read(f, 0, 0), BOUMA_OK);
    CHECK_EQ(forge_read(f, 2, 0), BOUMA_OK);
    forge_verify(f, &found, BOUMA_DEPTH_DEEP);
    CHECK_EQ(found.verified.damages, 0);
    CHECK(found.verified.unchecked > 0);
    CHECK_TEXT(found.text, "version");
    is_left_alone(f, told);
}

static void show(const char *what, const char *name, int before)
{
    if (check_counts()->failed != before)
        printf("  %s: %s\n", what, name);
}

static void try_manifest(const struct forgery *forgery)
{
    int before = check_counts()->failed;
    struct forge_file file;
    struct forge f;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    forge_name_manifest(name, STEP);
    forge_load(&f, &file, name);
    forge(&file, forgery);
    mend_envelope(file.data, file.bytes);
    forge_save(&f, name, file.data, file.bytes);
    is_new_and_not_damaged(&f, 1);
    forge_remove(&f, "index");
    is_new_and_not_damaged(&f, 1);
    /* Not published, and of a step that the index does not know: not one to
     * be moved away. */
    forge_remove(&f, name);
    forge_remove(&f, "index");
    forge_save(&f, "steps/00000001/manifest.tmp.e1a2", file.data, file.bytes);
    is_left_alone(&f, 1);
    free(file.data);
    forge_end(&f);
    show("manifest", forgery->name, before);
}

static void try_head(const struct forgery *forgery)
{
    int before = check_counts()->failed;
    struct forge_file file;
    struct forge f;
    char name[96];

    for (int i = 0; i < FORGE_FILES; i++) {
        forge_begin(&f, BOUMA_ORDER_CHUNK, 0);
        forge_name_subfile(name, STEP, i);
        forge_load(&f, &file, name);
        forge(&file, forgery);
        forge_seal_head(&f, STEP, &file);
        CHECK_EQ(forge_read(&f, STEP, 0), BOUMA_EVERSION);
        is_new_and_not_damaged(&f, 0);
        /* Without its manifest, it is no leftover; nor if the other file is of
         * no use. */
        forge_name_manifest(name, STEP);
        forge_remove(&f, name);
        forge_remove(&f, "index");
        is_left_alone(&f, 1);
        forge_name_subfile(name, STEP, !i);
        forge_save(&f, name, (const uint8_t *)"none", 4);
        is_left_alone(&f, 1);
        free(file.data);
        forge_end(&f);
    }
    show("head", forgery->name, before);
}

/* A bit of the version that has changed is damage as any other. */
static void a_version_that_is_damaged_is_damage(void)
{
    struct forge_findings found;
    struct forge_file file;
    struct forge f;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    forge_name_manifest(name, STEP);
    forge_load(&f, &file, name);
    file.data[FORGE_MAJOR] = 3;
    forge_save(&f, name, file.data, file.bytes);
    CHECK_EQ(forge_read(&f, STEP, 0), BOUMA_EFORMAT);
    forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
    CHECK_EQ(found.verified.damages, 1);
    CHECK_EQ(found.verified.unchecked, 0);
    forge_repair(&f, &found, 1);
    CHECK(found.repaired.actions > 0);
    CHECK_EQ(forge_read(&f, STEP, 0), BOUMA_OK);
    free(file.data);
    forge_end(&f);
}

/* The file DATASET of a newer version: nothing is done to any of it. */
static void a_newer_dataset_is_left_alone(void)
{
    bouma_repair_report repaired = {.size = sizeof(repaired)};
    bouma_verify_report verified = {.size = sizeof(verified)};
    struct forge_file file;
    bouma_dataset *ds;
    struct sum before;
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    forge_load(&f, &file, "DATASET");
    forge(&file, &dataset);
    mend_envelope(file.data, file.bytes);
    forge_save(&f, "DATASET", file.data, file.bytes);
    before = sum_of(&f, "steps/00000001");
    CHECK_EQ(bouma_dataset_open(&ds, FORGE_PATH, &f.options), BOUMA_EVERSION);
    bouma_dataset_free(ds);
    CHECK_EQ(bouma_verify(&verified, FORGE_PATH, BOUMA_DEPTH_QUICK, &f.options,
                          NULL, NULL, NULL, 0),
             BOUMA_EVERSION);
    CHECK_EQ(
        bouma_repair(&repaired, FORGE_PATH, 1, &f.options, NULL, NULL, NULL, 0),
        BOUMA_EVERSION);
    CHECK_EQ(before.hash, sum_of(&f, "steps/00000001").hash);
    free(file.data);
    forge_end(&f);
}

int main(void)
{
    for (size_t i = 0; i < sizeof(manifests) / sizeof(*manifests); i++)
        try_manifest(&manifests[i]);
    for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
        try_head(&heads[i]);
    a_version_that_is_damaged_is_damage();
    a_newer_dataset_is_left_alone();
    return check_result();
}
