/* variable_spec.h -- what a variable can be: its type, codec and tolerance, and
 * whether these go together in the layout of its object. */
#ifndef BM_VARIABLE_SPEC_H
#define BM_VARIABLE_SPEC_H

#include "layout/layout.h"

/* What is wrong with a variable of an object, maybe in 'text', or NULL. */
const char *bm_variable_check(char *text, size_t room,
                              const struct bm_object *object,
                              const bouma_variable_spec *spec, int components);

/* The codec that is asked for, or what the layout has for it. */
bouma_codec bm_variable_codec(const struct bm_object *object,
                              const bouma_variable_spec *spec);

/* Whether a layout has the codec, and the codec such types and tolerances. */
int bm_variable_codec_fits(const struct bm_layout *layout,
                           const bouma_variable_spec *spec);

#endif
