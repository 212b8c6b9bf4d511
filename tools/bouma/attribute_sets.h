/* attribute_sets.h -- all attributes of something: copied and compared. */
#ifndef ATTRIBUTE_SETS_H
#define ATTRIBUTE_SETS_H

#include <stdbool.h>

#include "bouma.h"

/* Set all of 'from' in 'to'; a status of the library. */
int attributes_copy(bouma_attributes *to, const bouma_attributes *from);

/* The name of one that only one of them has, or that has another type or other
 * values there; NULL if they are equal. Their order does not count. The text
 * belongs to one of them. */
const char *attributes_differ(const bouma_attributes *a,
                              const bouma_attributes *b);

#endif
