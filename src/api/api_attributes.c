/* api_attributes.c -- named values, for callers. */
#include <string.h>

#include "api/api.h"
#include "read/read.h"

/* Attributes that a caller gets: what it sets wrongly is known to 'ds'. */
static bouma_attributes *owned(bouma_attributes *attributes, bouma_dataset *ds)
{
    attributes->dataset = ds;
    return attributes;
}

bouma_attributes *bouma_dataset_attributes(bouma_dataset *ds)
{
    if (ds && !ds->opened)
        bm_api_check_open(ds); /* for its message */
    if (!ds || !ds->opened)
        return NULL;
    if (!ds->found.described)
        bm_error_clear(&ds->error);
    return bm_dataset_describe(ds) ? NULL : owned(&ds->found.attributes, ds);
}

bouma_attributes *bouma_dataset_step_attributes(bouma_dataset *ds)
{
    if (ds && !ds->given.in_step && !bm_api_check_open(ds))
        bm_api_put(ds, bm_fail(&ds->error, BOUMA_ESTATE,
                               "attributes of the step: no step was begun; "
                               "call bouma_step_begin() first"));
    return ds && ds->given.in_step ? owned(&ds->given.step_attributes, ds)
                                   : NULL;
}

bouma_attributes *bouma_step_attributes(bouma_step *step)
{
    return step ? &step->manifest.attributes : NULL;
}

bouma_attributes *bm_api_attributes(struct bm_object *object)
{
    return owned(object->shown ? &object->shown_attributes
                               : &object->attributes,
                 object->schema->dataset);
}

bouma_attributes *bouma_grid_attributes(bouma_grid *grid)
{
    return grid ? bm_api_attributes(&grid->object) : NULL;
}

bouma_attributes *bouma_variable_attributes(bouma_variable *variable)
{
    return variable
               ? owned(&variable->attributes, variable->object->schema->dataset)
               : NULL;
}

static int set_attribute(bouma_attributes *attributes, const char *name,
                         bouma_type type, size_t count, const void *values)
{
    struct bm_error *error = attributes->error;
    const char *wrong = bm_name_check(name);
    int rc;

    if (wrong)
        return bm_fail(error, BOUMA_EINVAL, "an attribute's name %s", wrong);
    if (!bouma_type_size(type))
        return bm_fail(error, BOUMA_EINVAL,
                       "attribute \"%s\": there is no type %d", name,
                       (int)type);
    if (count && !values)
        return bm_fail(error, BOUMA_EINVAL,
                       "attribute \"%s\": values is NULL, but count is %zu",
                       name, count);
    if (count > BM_MAX_ATTRIBUTE / bouma_type_size(type))
        return bm_fail(error, BOUMA_ELIMIT,
                       "attribute \"%s\" is larger than 1 MiB", name);
    if (attributes->count >= BM_MAX_ATTRIBUTES &&
        !bm_attributes_find(attributes, name))
        return bm_fail(error, BOUMA_ELIMIT,
                       "attribute \"%s\": there are %d already", name,
                       BM_MAX_ATTRIBUTES);
    rc = bm_attributes_set(attributes, name, type, count, values);
    if (rc)
        bm_fail(error, rc, "attribute \"%s\": no memory", name);
    return rc;
}

int bouma_attributes_set(bouma_attributes *attributes, const char *name,
                         bouma_type type, size_t count, const void *values)
{
    bouma_dataset *ds;
    int rc, of_step;

    if (!attributes)
        return BOUMA_ESTATE;
    bm_error_clear(attributes->error);
    if (attributes->fixed)
        return bm_fail(attributes->error, BOUMA_ESTATE,
                       "attribute \"%s\": attributes that were read from a "
                       "file cannot be changed",
                       name ? name : "");
    ds = attributes->dataset;
    of_step = ds && attributes == &ds->given.step_attributes;
    if (of_step && !ds->given.in_step)
        rc = bm_fail(attributes->error, BOUMA_ESTATE,
                     "attribute \"%s\": its step has ended", name ? name : "");
    else
        rc = set_attribute(attributes, name, type, count, values);
    return ds ? bm_api_defined(ds, attributes, name,
                               of_step ? BM_OF_STEP : BM_OF_DATASET, rc)
              : rc;
}

int bouma_attributes_set_text(bouma_attributes *attributes, const char *name,
                              const char *text)
{
    return bouma_attributes_set(attributes, name, BOUMA_TYPE_STRING,
                                text ? strlen(text) : 0, text);
}

int bouma_attributes_set_number(bouma_attributes *attributes, const char *name,
                                double number)
{
    return bouma_attributes_set(attributes, name, BOUMA_TYPE_F64, 1, &number);
}

int bouma_attributes_count(const bouma_attributes *attributes)
{
    return attributes ? attributes->count : 0;
}

int bouma_attributes_get(bouma_attribute *given,
                         const bouma_attributes *attributes, int i)
{
    bouma_attribute own;
    const struct bm_attribute *e;

    if (!bm_reply_begin(given, sizeof(own)))
        return bm_api_no_output(attributes ? attributes->error : NULL,
                                "an attribute");
    if (!attributes)
        return BOUMA_ENOTFOUND;
    if (i < 0 || i >= attributes->count) {
        bm_error_clear(attributes->error);
        return bm_fail(
            attributes->error, BOUMA_ENOTFOUND,
            "there are %d attributes, counted from 0; there is no number %d",
            attributes->count, i);
    }
    e = &attributes->entries[i];
    own = (bouma_attribute){sizeof(own), e->name, e->type, e->count, e->values};
    return bm_reply(given, &own, sizeof(own));
}

static const char *name_at(const void *list, int i)
{
    const bouma_attributes *attributes = list;

    return i < attributes->count ? attributes->entries[i].name : NULL;
}

int bouma_attributes_find(bouma_attribute *given,
                          const bouma_attributes *attributes, const char *name)
{
    bouma_attribute own;
    const struct bm_attribute *e;

    if (!bm_reply_begin(given, sizeof(own)))
        return bm_api_no_output(attributes ? attributes->error : NULL,
                                "an attribute");
    if (!attributes)
        return BOUMA_ENOTFOUND;
    e = name ? bm_attributes_find(attributes, name) : NULL;
    if (e) {
        own = (bouma_attribute){sizeof(own), e->name, e->type, e->count,
                                e->values};
        return bm_reply(given, &own, sizeof(own));
    }
    bm_error_clear(attributes->error);
    return bm_api_no_such(attributes->error, "attribute", name, name_at,
                          attributes);
}
