/* condition.h -- conditions of tests, from doubles. */
#ifndef CONDITION_H
#define CONDITION_H

#include "bouma.h"

/* From low to high, both included. */
static inline bouma_condition
condition_of(bouma_variable *variable, int component, double low, double high)
{
    return (bouma_condition){.size = sizeof(bouma_condition),
                             .variable = variable,
                             .component = component,
                             .low = bouma_value_real(low),
                             .high = bouma_value_real(high)};
}

#endif
