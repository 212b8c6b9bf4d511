/* layout.c -- the table of layouts. */
#include "layout/layout.h"

#include <string.h>

#define ENTRY(name) &bm_layout_##name,
static const struct bm_layout *const layouts[] = {BM_LAYOUTS(ENTRY)};
#undef ENTRY

enum { COUNT = sizeof(layouts) / sizeof(layouts[0]) };

const struct bm_layout *bm_layout_find(int kind, int code)
{
    for (int i = 0; i < COUNT; i++)
        if ((int)layouts[i]->kind == kind && layouts[i]->code == code)
            return layouts[i];
    return NULL;
}

int bm_layout_last_code(void)
{
    int last = 0;

    for (int i = 0; i < COUNT; i++)
        if (layouts[i]->code > last)
            last = layouts[i]->code;
    return last;
}

void bm_coder_init(struct bm_coder *d, const bouma_allocator *a)
{
    memset(d, 0, sizeof(*d));
    d->a = a;
    bm_codec_state_init(&d->codec, a);
}

void bm_coder_release(struct bm_coder *d)
{
    if (!d->a)
        return;
    bm_codec_state_release(&d->codec);
    for (size_t i = 0; i < sizeof(d->room) / sizeof(d->room[0]); i++)
        bm_drop(d->a, d->room[i].data);
    memset(d, 0, sizeof(*d));
}

int bm_variable_averages(const struct bouma_variable *v)
{
    const struct bm_object *o = v->object;

    if (bm_object_is_tiled(o))
        return o->levels > 1 && o->layout->tiles->averages(v);
    return bm_pieces(o) > 1 && bm_codec_find((int)v->codec)->averages;
}
