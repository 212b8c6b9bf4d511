/* colours.h -- colours, and maps that give numbers one. */
#ifndef COLOURS_H
#define COLOURS_H

#include <stdint.h>

struct colour {
    uint8_t red, green, blue;
};

/* The names of the maps, "a|b"; the first one, the default, is uniform to the
 * eye. */
#define COLOUR_MAPS "viridis|magma|grey|coolwarm"

struct colour_map;

/* The map of that name, or NULL. */
const struct colour_map *colour_map_find(const char *name);

/* The colour at 'where', from 0 to 1. */
struct colour colour_map_at(const struct colour_map *map, double where);

/* A colour for thing number 'i', such as a rank; the next ones look other. */
struct colour colour_of_number(uint64_t i);

#endif
