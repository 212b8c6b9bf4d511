/* component.h -- the option --component: one component of a vector variable. */
#ifndef COMPONENT_H
#define COMPONENT_H

#include <stddef.h>
#include <stdint.h>

#include "arguments.h"

/* The number given, which 'about' must have; 'otherwise' if none is. */
int component_argument(int *out, struct context *ctx,
                       const struct arguments *args,
                       const bouma_variable_info *about, int otherwise);

/* Copy the component of so many samples, whose components are side by side, to
 * 'out', which may be 'data'. */
void component_pick(void *out, const void *data, uint64_t samples,
                    const bouma_variable_info *about, int component);

#endif
