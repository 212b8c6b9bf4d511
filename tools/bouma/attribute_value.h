/* attribute_value.h -- the values of an attribute, whatever their type. */
#ifndef ATTRIBUTE_VALUE_H
#define ATTRIBUTE_VALUE_H

#include "bouma.h"

/* The i-th value of an attribute of numbers. */
bouma_value attribute_value(const bouma_attribute *attribute, size_t i);

/* Print lines "name = value" on standard output, 'indent' blanks from the
 * left. */
void attributes_print(const bouma_attributes *attributes, int indent);

/* Set an attribute from texts; a value that reads as a number becomes one. */
int attribute_set_text(bouma_attributes *attributes, const char *name,
                       const char *value);

#endif
