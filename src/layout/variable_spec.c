/* variable_spec.c -- see variable_spec.h. */
#include "layout/variable_spec.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "base/plain_text.h"
#include "codec/codec.h"

static int is_lossy(int codec)
{
    const struct bm_codec *c = bm_codec_find(codec);

    return c && c->lossy;
}

static int can_be_nominal(int codec)
{
    const struct bm_codec *c = bm_codec_find(codec);

    return c && c->nominal;
}

/* Whether a layout has a codec. */
static int takes_codec(const struct bm_layout *layout, int codec)
{
    const struct bm_codec *c = bm_codec_find(codec);

    return c && c->uses & (unsigned)layout->use;
}

int bm_variable_codec_fits(const struct bm_layout *layout,
                           const bouma_variable_spec *spec)
{
    return takes_codec(layout, (int)spec->codec) &&
           (!spec->nominal || can_be_nominal((int)spec->codec));
}

/* The codec and its type do not go together, or with the tolerance; the text of
 * that, or NULL. */
static const char *check_codec(char *text, size_t room,
                               const struct bm_object *grid,
                               const bouma_variable_spec *spec)
{
    const char *codec = bouma_codec_name(spec->codec);
    const char *type = bouma_type_name(spec->type);
    int lossy = is_lossy((int)spec->codec), tiled = bm_object_is_tiled(grid);

    if (lossy && tiled)
        snprintf(text, room,
                 "has the codec %s, but is stored as wavelet coefficients, "
                 "which only exact codecs keep; use zstd, with a tolerance, "
                 "too",
                 codec);
    else if (lossy && !bm_type_is_float(spec->type))
        snprintf(text, room,
                 "is %s, and the codec %s takes f32 and f64 only; use zstd",
                 type, codec);
    else if (spec->tolerance > 0 && !bm_type_is_float(spec->type))
        snprintf(
            text, room,
            "has a tolerance, but is %s: integers are always kept exactly; "
            "leave the tolerance out",
            type);
    else if (spec->tolerance > 0 && spec->codec && !lossy && !tiled)
        snprintf(text, room,
                 "has a tolerance, but the codec %s keeps every bit; leave one "
                 "of them out",
                 codec);
    else if (!(spec->tolerance > 0) && lossy)
        snprintf(text, room,
                 "has the codec %s, which needs a tolerance above 0; to keep "
                 "every bit, use zstd",
                 codec);
    else
        return NULL;
    return text;
}

/* The codec is not for such objects; and those that are. */
static void tell_codecs(char *text, size_t room, const struct bm_layout *layout,
                        bouma_codec codec)
{
    size_t n = (size_t)snprintf(
        text, room, "has the codec %s, which is not for %s; use",
        bouma_codec_name(codec),
        layout->kind == BM_GRID ? "grids" : "particles");
    const char *between = " ";

    for (int i = 0; i < 32 && n < room; i++)
        if (takes_codec(layout, i)) {
            n += (size_t)snprintf(text + n, room - n, "%s%s%s", between,
                                  bouma_codec_name((bouma_codec)i),
                                  is_lossy(i) ? " (with a tolerance)" : "");
            between = ", ";
        }
}

/* What is wrong with one field of a spec by itself, maybe in 'text', or NULL.
 */
static const char *check_fields(char *text, size_t room,
                                const struct bm_object *grid,
                                const bouma_variable_spec *spec, int components)
{
    if (!bm_type_valid((int)spec->type))
        snprintf(text, room,
                 "has the type %d, which is none; set 'type', such as to "
                 "BOUMA_TYPE_F64",
                 (int)spec->type);
    else if (spec->unit && strlen(spec->unit) > BM_MAX_NAME)
        return "has a unit of more than 255 bytes";
    else if (components < 1 || components > BM_MAX_COMPONENTS)
        snprintf(text, room, "has %d components; 1 to %d are possible",
                 components, BM_MAX_COMPONENTS);
    else if (spec->codec && !bm_codec_find((int)spec->codec))
        snprintf(text, room, "has the codec %d, which is none of ours",
                 (int)spec->codec);
    else if (spec->codec && !takes_codec(grid->layout, (int)spec->codec))
        tell_codecs(text, room, grid->layout, spec->codec);
    else if (spec->codec_level < 0 || spec->codec_level > 22)
        snprintf(text, room, "has the codec level %d; 0 to 22 are possible",
                 spec->codec_level);
    else if (!(spec->tolerance >= 0) || spec->tolerance > DBL_MAX)
        bm_format(text, room,
                  "has a tolerance of %g; it must be finite and not negative",
                  spec->tolerance);
    else if (spec->tolerance_kind != BOUMA_TOLERANCE_ABSOLUTE &&
             spec->tolerance_kind != BOUMA_TOLERANCE_RELATIVE)
        return "has a tolerance that is neither BOUMA_TOLERANCE_ABSOLUTE nor "
               "BOUMA_TOLERANCE_RELATIVE";
    else
        return NULL;
    return text;
}

const char *bm_variable_check(char *text, size_t room,
                              const struct bm_object *grid,
                              const bouma_variable_spec *spec, int components)
{
    const char *wrong = check_fields(text, room, grid, spec, components);

    if (!wrong)
        wrong = check_codec(text, room, grid, spec);
    if (wrong)
        return wrong;
    if (spec->nominal && spec->nominal != 1)
        return "has a 'nominal' that is neither 0 nor 1";
    if (spec->nominal && !can_be_nominal((int)spec->codec))
        return "has a nominal tolerance, which is for the codec wavelet only; "
               "choose that, or leave 'nominal' out";
    return grid->layout->check_variable(grid, spec, components);
}

bouma_codec bm_variable_codec(const struct bm_object *o,
                              const bouma_variable_spec *spec)
{
    const struct bm_layout *layout = o->layout;

    if (spec->codec)
        return spec->codec;
    if (spec->tolerance > 0)
        return bm_object_is_tiled(o) ? BOUMA_CODEC_ZSTD : layout->lossy;
    return layout->exact_codec ? layout->exact_codec(o) : BOUMA_CODEC_ZSTD;
}
