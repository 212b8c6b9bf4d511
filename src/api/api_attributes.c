/* api_attributes.c -- named values, for callers. */
#include <string.h>

#include "api/api.h"
#include "read/read.h"

bouma_attributes *bouma_dataset_attributes(bouma_dataset *ds)
{
    return &ds->attributes;
}

bouma_attributes *bouma_dataset_step_attributes(bouma_dataset *ds)
{
    return ds->in_step ? &ds->step_attributes : NULL;
}

bouma_attributes *bouma_step_attributes(bouma_step *step)
{
    return &step->manifest.attributes;
}

bouma_attributes *bouma_grid_attributes(bouma_grid *grid)
{
    return &grid->attributes;
}

bouma_attributes *bouma_variable_attributes(bouma_variable *variable)
{
    return &variable->attributes;
}

int bouma_attributes_set(bouma_attributes *attributes, const char *name,
                         bouma_type type, size_t count, const void *values)
{
    struct bm_error *error;
    const char *wrong = bm_name_check(name);
    int rc;

    if (!attributes)
        return BOUMA_ESTATE;
    error = attributes->error;
    bm_error_clear(error);
    if (attributes->fixed)
        return bm_fail(error, BOUMA_ESTATE,
                       "attributes of what was read cannot be changed");
    if (wrong)
        return bm_fail(error, BOUMA_EINVAL, "an attribute's name %s", wrong);
    if (!bouma_type_size(type) || (count && !values))
        return bm_fail(error, BOUMA_EINVAL,
                       "attribute \"%s\" has no known type, or no values",
                       name);
    if (count > BM_MAX_ATTRIBUTE / bouma_type_size(type))
        return bm_fail(error, BOUMA_ELIMIT,
                       "attribute \"%s\" is larger than 1 MiB", name);
    if (attributes->count >= BM_MAX_ATTRIBUTES)
        return bm_fail(error, BOUMA_ELIMIT,
                       "attribute \"%s\": there are %d already", name,
                       BM_MAX_ATTRIBUTES);
    rc = bm_attributes_set(attributes, name, type, count, values);
    if (rc)
        bm_fail(error, rc, "attribute \"%s\": no memory", name);
    return rc;
}

int bouma_attributes_set_text(bouma_attributes *attributes, const char *name,
                              const char *text)
{
    return bouma_attributes_set(attributes, name, BOUMA_STRING,
                                text ? strlen(text) : 0, text);
}

int bouma_attributes_set_number(bouma_attributes *attributes, const char *name,
                                double number)
{
    return bouma_attributes_set(attributes, name, BOUMA_F64, 1, &number);
}

int bouma_attributes_count(const bouma_attributes *attributes)
{
    return attributes ? attributes->count : 0;
}

int bouma_attributes_get(const bouma_attributes *attributes, int i,
                         bouma_attribute *out)
{
    const struct bm_attribute *e;

    memset(out, 0, sizeof(*out));
    if (!attributes || i < 0 || i >= attributes->count)
        return BOUMA_ENOTFOUND;
    e = &attributes->entries[i];
    *out = (bouma_attribute){e->name, e->type, e->count, e->values};
    return BOUMA_OK;
}

int bouma_attributes_find(const bouma_attributes *attributes, const char *name,
                          bouma_attribute *out)
{
    for (int i = 0; attributes && i < attributes->count; i++)
        if (!strcmp(attributes->entries[i].name, name))
            return bouma_attributes_get(attributes, i, out);
    memset(out, 0, sizeof(*out));
    return BOUMA_ENOTFOUND;
}
