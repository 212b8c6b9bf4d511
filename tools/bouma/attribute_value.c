/* attribute_value.c -- the values of an attribute, whatever their type. */
#include "attribute_value.h"

#include <stdio.h>

#include "bouma_lists.h"
#include "format_text.h"
#include "numbers.h"

bouma_value attribute_value(const bouma_attribute *attribute, size_t i)
{
    const void *values = attribute->values;
    bouma_value out = {.type = 0};

    switch (attribute->type) {
#define CASE(name, value, ctype, text)                                         \
    case BOUMA_##name: {                                                       \
        const ctype v = ((const ctype *)values)[i];                            \
        if (BOUMA_##name >= BOUMA_TYPE_F32)                                    \
            out = bouma_value_real((double)v);                                 \
        else if (BOUMA_##name >= BOUMA_TYPE_U8)                                \
            out = bouma_value_uint((uint64_t)v);                               \
        else                                                                   \
            out = bouma_value_int((int64_t)v);                                 \
        break;                                                                 \
    }
        BOUMA_TYPE_LIST(CASE)
#undef CASE
    case BOUMA_TYPE_STRING:
        break;
    }
    return out;
}

static void print_values(const bouma_attribute *attribute)
{
    const size_t most = 8; /* an attribute can be a long table */
    char text[FORMAT_BYTES];

    if (attribute->type == BOUMA_TYPE_STRING) {
        print_clean(attribute->values);
        return;
    }
    for (size_t i = 0; i < attribute->count && i < most; i++)
        printf("%s%s", i ? ", " : "",
               format_value(text, attribute_value(attribute, i)));
    if (attribute->count > most)
        printf(", ... (%zu values)", attribute->count);
}

void attributes_print(const bouma_attributes *attributes, int indent)
{
    bouma_attribute attribute = {.size = sizeof(attribute)};

    for (int i = 0; bouma_attributes_get(&attribute, attributes, i) == BOUMA_OK;
         i++) {
        printf("%*s", indent, "");
        print_clean(attribute.name);
        printf(" = ");
        print_values(&attribute);
        putchar('\n');
    }
}

int attribute_set_text(bouma_attributes *attributes, const char *name,
                       const char *value)
{
    uint64_t large;
    int64_t whole;
    double number;

    /* Not a number: also "4K", which is a number elsewhere. */
    if (!parse_number(value, &number))
        return bouma_attributes_set_text(attributes, name, value);
    /* A double would round a large integer. */
    if (parse_integer(value, &whole))
        return bouma_attributes_set(attributes, name, BOUMA_TYPE_I64, 1,
                                    &whole);
    if (parse_large(value, &large))
        return bouma_attributes_set(attributes, name, BOUMA_TYPE_U64, 1,
                                    &large);
    return bouma_attributes_set_number(attributes, name, number);
}
