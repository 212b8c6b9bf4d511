/* file_check.c -- whether chunks are in the files that their layout has fixed:
 * readers look nowhere else. */
#include <stdio.h>

#include "check/check.h"
#include "layout/sheet.h"

struct subfile {
    const struct bm_manifest *m;
    size_t i;
    const char *name;
    struct bm_findings *out;
};

static int has_part(const struct bm_manifest *m, size_t i, uint32_t variable)
{
    return i < m->count &&
           bm_subfile_info_part(bm_manifest_record(m, i), variable);
}

/* Whether subfile 'i' is the one with that number among those that a layout has
 * fixed: they stand together, and all have a part of each variable. */
static int is_file(const struct bm_manifest *m, size_t i, uint32_t variable,
                   size_t number)
{
    return number <= i && has_part(m, i - number, variable) &&
           (number == i || !has_part(m, i - number - 1, variable));
}

/* Chunks are in another file than the layout puts them into: 'first', which
 * should be in the one with that number, and more. */
static void wrong_file(const struct subfile *f, const struct bm_section *s,
                       size_t first, size_t number, size_t wrong)
{
    const struct bm_manifest *m = f->m;
    char where[200], file[32] = "no file of the step";

    for (size_t i = 0; i < m->count; i++)
        if (has_part(m, i, s->variable->id) && !number--)
            snprintf(file, sizeof(file), "file %zu", i);
    bm_section_text(where, sizeof(where), s, first);
    bm_findings_add(f->out, BOUMA_SEVERITY_DAMAGE, (int64_t)m->step, f->name,
                    "variable \"%s/%s\": %s is in file %zu, its layout puts it "
                    "into %s; %zu of %zu chunks are in a wrong file",
                    s->variable->object->name, s->variable->name, where, f->i,
                    file, wrong, s->count);
}

static void check_section(const struct subfile *f, const struct bm_section *s)
{
    const struct bm_object *o = s->variable->object;
    struct bm_chunking chunking;
    size_t wrong = 0, first = 0, should = 0;

    /* Which file is which cannot be told if records are missing. */
    if (!o->layout->chunking || !bm_manifest_is_loaded(f->m))
        return;
    chunking = o->layout->chunking(o);
    for (size_t i = s->count; i-- > 0 && chunking.calls->file;) {
        int64_t chunk = chunking.calls->find(chunking.own, s->keys[i]);
        size_t number = (size_t)chunking.calls->file(chunking.own, chunk);

        if (is_file(f->m, f->i, s->variable->id, number))
            continue;
        wrong++;
        first = i;
        should = number;
    }
    if (wrong)
        wrong_file(f, s, first, should, wrong);
}

void bm_check_files(const struct bm_manifest *m, size_t i,
                    const struct bm_head *head, const char *name,
                    struct bm_findings *out)
{
    struct subfile f = {m, i, name, out};

    for (size_t s = 0; s < head->count; s++)
        check_section(&f, &head->sections[s]);
}
