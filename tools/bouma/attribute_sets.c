/* attribute_sets.c -- all attributes of something: copied and compared. */
#include "attribute_sets.h"

#include <string.h>

#include "sized.h"

int attributes_copy(bouma_attributes *to, const bouma_attributes *from)
{
    int status = BOUMA_OK;

    for (int i = 0; !status && i < bouma_attributes_count(from); i++) {
        bouma_attribute one;

        status = bouma_attributes_get(SIZED(&one), from, i);
        if (!status)
            status = bouma_attributes_set(to, one.name, one.type, one.count,
                                          one.values);
    }
    return status;
}

/* One of 'a' that 'b' does not have so; or NULL. */
static const char *missing_in(const bouma_attributes *b,
                              const bouma_attributes *a)
{
    for (int i = 0; i < bouma_attributes_count(a); i++) {
        bouma_attribute one, other;

        if (bouma_attributes_get(SIZED(&one), a, i))
            continue;
        if (bouma_attributes_find(SIZED(&other), b, one.name) ||
            one.type != other.type || one.count != other.count ||
            (one.count && memcmp(one.values, other.values,
                                 one.count * bouma_type_size(one.type)) != 0))
            return one.name;
    }
    return NULL;
}

const char *attributes_differ(const bouma_attributes *a,
                              const bouma_attributes *b)
{
    const char *name = missing_in(b, a);

    return name ? name : missing_in(a, b);
}
