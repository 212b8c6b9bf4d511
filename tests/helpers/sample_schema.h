/* sample_schema.h -- a schema with some of everything, for tests of what is
 * stored. */
#ifndef SAMPLE_SCHEMA_H
#define SAMPLE_SCHEMA_H

#include "check.h"
#include "layout/schema.h"

static inline void add_attributes(struct bouma_attributes *a)
{
    static const int16_t i16[3] = {-1, 0, 1};
    static const double f64[2] = {0.5, -1e300};

    REQUIRE(!bm_attributes_set(a, "title", BOUMA_TYPE_STRING, 5, "heat!"));
    REQUIRE(!bm_attributes_set(a, "i16", BOUMA_TYPE_I16, 3, i16));
    REQUIRE(!bm_attributes_set(a, "f64", BOUMA_TYPE_F64, 2, f64));
    REQUIRE(!bm_attributes_set(a, "empty", BOUMA_TYPE_U8, 0, NULL));
}

/* Three grids of 1 to 3 axes; variables of several types. */
static inline void build_schema(struct bm_schema *s, struct bm_error *error)
{
    bouma_grid_spec one = {.size = sizeof(one),
                           .ndims = 1,
                           .shape = {37},
                           .patch = {8},
                           .levels = 2};
    bouma_grid_spec two = {.size = sizeof(two),
                           .ndims = 2,
                           .shape = {9, 14},
                           .patch = {4, 8},
                           .levels = 3,
                           .origin = {-1.5, 2},
                           .spacing = {0.25, -3},
                           .unit = "km"};
    bouma_grid_spec three = {.size = sizeof(three),
                             .ndims = 3,
                             .shape = {5, 6, 7},
                             .patch = {4, 4, 4},
                             .levels = 1};
    bouma_variable_spec u16 = {.size = sizeof(u16), .type = BOUMA_TYPE_U16};
    bouma_variable_spec f32 = {.size = sizeof(f32),
                               .type = BOUMA_TYPE_F32,
                               .components = 3,
                               .codec_level = 5,
                               .unit = "m/s"};
    bouma_variable_spec i64 = {.size = sizeof(i64),
                               .type = BOUMA_TYPE_I64,
                               .components = 2,
                               .codec = BOUMA_CODEC_RAW};
    struct bm_object *g;
    struct bouma_variable *v;

    bm_schema_init(s, bm_allocator_default(), error);
    REQUIRE(!bm_schema_add_grid(s, &g, "line", &one));
    REQUIRE(!bm_schema_add_variable(g, &v, "count", &u16));
    REQUIRE(!bm_schema_add_grid(s, &g, "plane \xc3\xa9", &two));
    add_attributes(&g->attributes);
    REQUIRE(!bm_schema_add_variable(g, &v, "velocity", &f32));
    add_attributes(&v->attributes);
    REQUIRE(!bm_schema_add_variable(g, &v, "raw", &i64));
    REQUIRE(!bm_schema_add_grid(s, &g, "solid", &three));
    REQUIRE(!bm_schema_add_variable(g, &v, "velocity", &f32));
    REQUIRE(!bm_schema_number(s));
}

#endif
