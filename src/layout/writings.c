/* writings.c -- see writings.h; docs/format.md has the bytes. */
#include "layout/writings.h"

#include <inttypes.h>
#include <string.h>

#include "layout/grid_idx.h"
#include "layout/sheet.h"

struct bm_writing *bm_writing_new(const bouma_allocator *a,
                                  struct bm_error *error)
{
    struct bm_writing *w = bm_new(a, 1, sizeof(*w));

    if (!w)
        return NULL;
    bm_schema_init(&w->schema, a, error);
    bm_manifest_init(&w->manifest, a, &w->schema, error);
    return w;
}

void bm_writing_free(struct bm_writing *w)
{
    const bouma_allocator *a = w ? w->schema.a : NULL;

    if (!w)
        return;
    bm_manifest_release(&w->manifest);
    bm_schema_release(&w->schema);
    bm_drop(a, w);
}

int bm_writings_reserve(struct bm_manifest *m, size_t count)
{
    if (count > BM_MAX_EARLIER)
        return BOUMA_EFORMAT;
    m->earlier = bm_new(m->a, count, sizeof(*m->earlier));
    return m->earlier ? BOUMA_OK : BOUMA_ENOMEM;
}

void bm_writings_release(struct bm_manifest *m)
{
    for (size_t i = 0; i < m->earlier_count; i++)
        bm_writing_free(m->earlier[i]);
    bm_drop(m->a, m->earlier);
    m->earlier = NULL;
    m->earlier_count = 0;
}

/* ---- what there is --------------------------------------------------------- */

size_t bm_manifest_writings(const struct bm_manifest *m)
{
    return m->earlier_count + 1;
}

const struct bm_manifest *bm_manifest_writing(const struct bm_manifest *m,
                                              size_t i)
{
    return i < m->earlier_count ? &m->earlier[i]->manifest : m;
}

struct bm_generation bm_manifest_committed(const struct bm_manifest *m)
{
    return m->latest.epoch ? m->latest : m->generation;
}

size_t bm_manifest_files(const struct bm_manifest *m)
{
    return m->first + m->count;
}

const struct bm_manifest *bm_manifest_with_file(const struct bm_manifest *m,
                                                size_t i, size_t *number)
{
    size_t k = 0;

    while (k < m->earlier_count &&
           i >= bm_manifest_files(&m->earlier[k]->manifest))
        k++;
    m = bm_manifest_writing(m, k);
    *number = i - m->first;
    return m;
}

const struct bm_subfile_info *bm_manifest_file(const struct bm_manifest *m,
                                               size_t i)
{
    size_t number;
    const struct bm_manifest *w = bm_manifest_with_file(m, i, &number);

    return bm_manifest_record(w, number);
}

int bm_manifest_has_file(const struct bm_manifest *m, size_t i)
{
    size_t number;
    const struct bm_manifest *w = bm_manifest_with_file(m, i, &number);

    return !w->sheet_files || w->sheets[number / w->sheet_files].records;
}

void bm_manifest_file_name(char name[BM_NAME_BYTES],
                           const struct bm_manifest *m, size_t i)
{
    size_t number;
    const struct bm_manifest *w = bm_manifest_with_file(m, i, &number);

    bm_name_subfile(name, m->step, (uint32_t)number, w->generation);
}

/* The writing of a generation, or NULL. */
static const struct bm_manifest *writing_of(const struct bm_manifest *m,
                                            struct bm_generation g)
{
    for (size_t k = 0; k < bm_manifest_writings(m); k++)
        if (bm_generation_is_same(bm_manifest_writing(m, k)->generation, g))
            return bm_manifest_writing(m, k);
    return NULL;
}

int bm_manifest_names(const struct bm_manifest *m, uint32_t subfile,
                      struct bm_generation g)
{
    const struct bm_manifest *w = writing_of(m, g);

    return w && subfile < w->count;
}

size_t bm_manifest_number(const struct bm_manifest *m, uint32_t subfile,
                          struct bm_generation g)
{
    const struct bm_manifest *w = writing_of(m, g);

    return (w ? w->first : bm_manifest_files(m)) + subfile;
}

int bm_object_has_data(const struct bm_object *o)
{
    for (int i = 0; i < o->count; i++)
        if (o->variables[i]->in_step.present)
            return 1;
    return 0;
}

/* ---- what can be one step --------------------------------------------------- */

/* An object as a schema has it, without attributes and variables. */
static void encode_bare(struct bm_buffer *b, const struct bm_object *o,
                        const bouma_allocator *a)
{
    struct bm_object bare = *o, *list[1] = {&bare};
    struct bm_schema one = {.a = a, .objects = list, .count = 1};

    bare.count = 0;
    memset(&bare.attributes, 0, sizeof(bare.attributes));
    bm_schema_encode(b, &one);
}

/* BOUMA_OK, EINVAL if they are defined otherwise, or ENOMEM. */
static int compare_objects(const struct bm_object *x, const struct bm_object *y,
                           const bouma_allocator *a)
{
    struct bm_buffer one, other;
    int rc;

    bm_buffer_init(&one, a);
    bm_buffer_init(&other, a);
    encode_bare(&one, x, a);
    encode_bare(&other, y, a);
    rc = one.failed || other.failed ? BOUMA_ENOMEM
         : one.size == other.size && !memcmp(one.data, other.data, one.size)
             ? BOUMA_OK
             : BOUMA_EINVAL;
    bm_buffer_release(&one);
    bm_buffer_release(&other);
    return rc;
}

/* A variable that is added to an object that has data already. */
static int check_variable(const struct bm_object *there,
                          const struct bouma_variable *v, uint64_t step,
                          struct bm_error *error)
{
    const struct bouma_variable *known =
        v->in_step.present ? bm_grid_find_variable(there, v->name) : NULL;

    if (known && known->in_step.present)
        return bm_fail(error, BOUMA_EEXISTS,
                       "step %" PRIu64 " has the variable \"%s/%s\" already; "
                       "what is there cannot be changed by adding to it",
                       step, there->name, v->name);
    if (known && (known->type != v->type || known->components != v->components))
        return bm_fail(error, BOUMA_EINVAL,
                       "variable \"%s/%s\" has another type in step %" PRIu64
                       ", or other components",
                       there->name, v->name, step);
    return BOUMA_OK;
}

/* An object with data, and one of this name of an earlier writing. */
static int check_object(const struct bm_object *there,
                        const struct bm_object *added, uint64_t step,
                        const bouma_allocator *a, struct bm_error *error)
{
    int rc;

    if (!bm_object_has_data(there))
        return BOUMA_OK;
    if (added->kind != BM_GRID || there->kind != BM_GRID)
        return bm_fail(error, BOUMA_EEXISTS,
                       "step %" PRIu64 " has %s \"%s\" already; only grids get "
                       "more variables",
                       step, bm_object_kind_name(there->kind), there->name);
    rc = compare_objects(there, added, a);
    if (rc)
        return bm_fail(error, rc,
                       rc == BOUMA_ENOMEM
                           ? "no memory to compare the grid \"%s\" of step "
                             "%" PRIu64
                           : "grid \"%s\" is defined otherwise in step "
                             "%" PRIu64 "; bouma_define_like() defines it "
                             "as it is there",
                       there->name, step);
    for (int i = 0; i < added->count && !rc; i++)
        rc = check_variable(there, added->variables[i], step, error);
    return rc;
}

int bm_writings_conflict(const struct bm_manifest *before,
                         const struct bm_manifest *added,
                         struct bm_error *error)
{
    const struct bm_schema *schema = added->schema;
    int rc = BOUMA_OK;

    if (bm_schema_has_idx(before->schema) || bm_schema_has_idx(schema))
        return bm_fail(error, BOUMA_EINVAL,
                       "step %" PRIu64 " has a grid with 'idx', or what is "
                       "added has: nothing can be added to such a step, nor "
                       "such a grid to others",
                       before->step);
    for (int i = 0; i < schema->count && !rc; i++) {
        const struct bm_object *o = schema->objects[i], *there;

        if (!bm_object_has_data(o))
            continue;
        there = bm_schema_find(before->schema, o->name);
        if (there)
            rc = check_object(there, o, before->step, added->a, error);
    }
    return rc;
}

/* ---- one manifest of all ----------------------------------------------------- */

/* The k-th writing, behind those before it. */
static int join_one(struct bm_manifest *m, size_t k)
{
    struct bm_manifest *w = k < m->earlier_count ? &m->earlier[k]->manifest : m;
    const struct bm_manifest *last = k ? &m->earlier[k - 1]->manifest : NULL;
    struct bm_error ignored = {0};
    int rc = BOUMA_OK;

    w->base = last ? last->generation : (struct bm_generation){0, 0};
    w->first = last ? bm_manifest_files(last) : 0;
    w->latest = m->generation;
    /* Bit for bit: a time may be NaN. */
    if (w->step != m->step || memcmp(&w->time, &m->time, sizeof(w->time)) ||
        !w->generation.epoch || bm_manifest_files(w) > BM_MAX_SUBFILES ||
        (last && !bm_generation_is_later(w->generation, last->generation)))
        return BOUMA_EFORMAT;
    for (size_t i = 0; i < k && !rc; i++)
        rc = bm_writings_conflict(&m->earlier[i]->manifest, w, &ignored);
    return !rc || rc == BOUMA_ENOMEM ? rc : BOUMA_EFORMAT;
}

/* Whether the records of all can be added up. */
static int records_fit(const struct bm_manifest *m)
{
    int64_t files = 0, chunks = 0;

    for (size_t k = 0; k < bm_manifest_writings(m); k++) {
        const bouma_record *r = &bm_manifest_writing(m, k)->record;

        if (r->files < 0 || r->files > INT64_MAX - files || r->chunks < 0 ||
            r->chunks > INT64_MAX - chunks)
            return 0;
        files += r->files;
        chunks += r->chunks;
    }
    return 1;
}

int bm_writings_join(struct bm_manifest *m)
{
    int rc = records_fit(m) ? BOUMA_OK : BOUMA_EFORMAT;

    for (size_t k = 0; k <= m->earlier_count && !rc; k++)
        rc = join_one(m, k);
    m->latest = (struct bm_generation){0, 0}; /* that is its own */
    return rc;
}

int bm_writings_extend(struct bm_manifest *m, struct bm_writing *before)
{
    struct bm_manifest *old = &before->manifest;
    size_t count = old->earlier_count + 1;
    int rc = bm_writings_reserve(m, count);

    if (rc)
        return rc;
    for (size_t i = 0; i < old->earlier_count; i++)
        m->earlier[i] = old->earlier[i];
    m->earlier[count - 1] = before;
    m->earlier_count = count;
    old->earlier_count = 0;
    bm_writings_release(old);
    return bm_writings_join(m);
}
