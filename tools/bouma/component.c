/* component.c -- see component.h. */
#include "component.h"

#include <string.h>

int component_argument(int *out, struct context *ctx,
                       const struct arguments *args,
                       const bouma_variable_info *about, int otherwise)
{
    int64_t component = 0;
    int rc = arguments_integer(args, ctx, "component", 0, &component);

    *out = arguments_has(args, "component") ? (int)component : otherwise;
    if (!rc && component >= about->components)
        rc = context_fail(
            ctx, CALL_AT_FAULT, "--component %lld: %s has components 0 to %d",
            (long long)component, args->operands[1], about->components - 1);
    return rc;
}

void component_pick(void *out, const void *data, uint64_t samples,
                    const bouma_variable_info *about, int component)
{
    size_t size = bouma_type_size(about->type);
    size_t whole = size * (size_t)about->components;
    const char *from = (const char *)data + size * (size_t)component;

    for (uint64_t i = 0; i < samples; i++)
        memmove((char *)out + i * size, from + i * whole, size);
}
