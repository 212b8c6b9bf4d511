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
    return bm_subfile_info_part(bm_manifest_record(m, i), variable) != NULL;
}

/* How many files of a sheet have a part of a variable. */
static size_t files_in(const struct bm_sheet *s, uint32_t variable)
{
    const struct bm_part_info *sum = bm_subfile_info_part(&s->sum, variable);

    return sum ? s->part_files[sum - s->sum.parts] : 0;
}

/* The number of subfile 'i' among those that have a part of a variable. Other
 * sheets than its own need not be loaded. */
static size_t number_of(const struct bm_manifest *m, size_t i,
                        uint32_t variable)
{
    size_t sheet = m->sheet_files ? i / m->sheet_files : 0, number = 0;

    for (size_t k = 0; k < sheet; k++)
        number += files_in(&m->sheets[k], variable);
    for (size_t f = sheet * m->sheet_files; f < i; f++)
        number += (size_t)has_part(m, f, variable);
    return number;
}

/* The other way round: which file has that number, for a message. */
static void name_file(char text[48], const struct bm_manifest *m,
                      uint32_t variable, size_t number)
{
    size_t i = 0;

    while (i < m->count) {
        size_t k = m->sheet_files ? i / m->sheet_files : 0;

        if (m->sheet_files && i % m->sheet_files == 0) {
            size_t files = files_in(&m->sheets[k], variable);

            if (number >= files) {
                number -= files;
                i += m->sheet_files;
                continue;
            }
            if (!m->sheets[k].records) {
                snprintf(text, 48, "one of sheet %zu", k);
                return;
            }
        }
        if (has_part(m, i, variable) && !number--) {
            snprintf(text, 48, "file %zu", i);
            return;
        }
        i++;
    }
    snprintf(text, 48, "no file of the step");
}

/* Chunks are in another file than the layout puts them into: 'first', which
 * should be in the one with that number, and more. */
static void wrong_file(const struct subfile *f, const struct bm_section *s,
                       size_t first, size_t number, size_t wrong)
{
    const struct bm_manifest *m = f->m;
    char where[200], file[48];

    name_file(file, m, s->variable->id, number);
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
    size_t wrong = 0, first = 0, should = 0, own;

    if (!o->layout->chunking)
        return;
    chunking = o->layout->chunking(o);
    own = chunking.calls->file ? number_of(f->m, f->i, s->variable->id) : 0;
    for (size_t i = s->count; i-- > 0 && chunking.calls->file;) {
        int64_t chunk = chunking.calls->find(chunking.own, s->keys[i]);
        size_t number = (size_t)chunking.calls->file(chunking.own, chunk);

        if (number == own && has_part(f->m, f->i, s->variable->id))
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
