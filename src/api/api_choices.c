/* api_choices.c -- what choices mean, from the tables that have them. */
#include <string.h>

#include "api/api.h"
#include "codec/codec.h"
#include "layout/schema.h"
#include "plan/assign.h"

int bouma_codec_info_get(bouma_codec_info *given, bouma_codec codec)
{
    bouma_codec_info own = {0}, *out = &own;
    const struct bm_codec *c = bm_codec_find((int)codec);

    if (!bm_reply_begin(given, sizeof(own)))
        return BOUMA_EINVAL;
    if (!c)
        return BOUMA_EINVAL;
    out->grids = (c->uses & BM_FOR_FIELDS) != 0;
    out->particles = (c->uses & BM_FOR_LISTS) != 0;
    out->tolerance = c->lossy;
    out->effort = c->has_effort;
    out->averages = c->averages;
    return bm_reply(given, &own, sizeof(own));
}

int bouma_assign_is_for_grids(bouma_assign choice)
{
    return bm_assign_is_for_grids(choice);
}

bouma_codec bouma_grid_codec(const bouma_variable_spec *spec)
{
    BM_STRICT_MATH;
    bouma_variable_spec own;

    return spec && bm_struct_copy(&own, sizeof(own), spec, spec->size)
               ? bm_schema_grid_codec(&own)
               : (bouma_codec)0;
}
