/* layout.c -- the table of layouts. */
#include "layout/layout.h"

static const struct bm_layout *const layouts[] = {
    &bm_layout_grid_patch,
    &bm_layout_particles_bat,
};

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
