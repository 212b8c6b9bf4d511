/* colours.c -- colours, and maps that give numbers one. */
#include "colours.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { MOST_POINTS = 10 };

/* Points of equal distance, and straight lines between them. */
struct colour_map {
    const char *name;
    int points;
    struct colour point[MOST_POINTS];
};

static const struct colour_map maps[] = {
    /* Even in lightness, and told apart by the colour-blind. */
    {"viridis",
     10,
     {{68, 1, 84},
      {72, 40, 120},
      {62, 73, 137},
      {49, 104, 142},
      {38, 130, 142},
      {31, 158, 137},
      {53, 183, 121},
      {110, 206, 88},
      {181, 222, 43},
      {253, 231, 37}}},
    {"magma",
     10,
     {{0, 0, 4},
      {24, 15, 61},
      {68, 15, 118},
      {114, 31, 129},
      {158, 47, 127},
      {205, 64, 113},
      {241, 96, 93},
      {253, 150, 104},
      {254, 202, 141},
      {252, 253, 191}}},
    {"grey", 2, {{0, 0, 0}, {255, 255, 255}}},
    /* For values on both sides of zero: K. Moreland, Diverging Color Maps for
     * Scientific Visualization, 2009. */
    {"coolwarm",
     9,
     {{59, 76, 192},
      {98, 130, 234},
      {141, 176, 254},
      {184, 208, 249},
      {221, 221, 221},
      {245, 196, 173},
      {244, 154, 123},
      {222, 96, 77},
      {180, 4, 38}}},
};
enum { MAPS = sizeof(maps) / sizeof(maps[0]) };

const struct colour_map *colour_map_find(const char *name)
{
    for (int i = 0; i < MAPS; i++)
        if (strcmp(maps[i].name, name) == 0)
            return &maps[i];
    return NULL;
}

static uint8_t between(uint8_t a, uint8_t b, double part)
{
    return (uint8_t)(a + (b - a) * part + 0.5);
}

struct colour colour_map_at(const struct colour_map *map, double where)
{
    double at = fmin(fmax(where, 0), 1) * (map->points - 1);
    int i = at >= map->points - 1 ? map->points - 2 : (int)at;
    const struct colour *a = &map->point[i], *b = &map->point[i + 1];

    return (struct colour){between(a->red, b->red, at - i),
                           between(a->green, b->green, at - i),
                           between(a->blue, b->blue, at - i)};
}

/* One of three sawteeth around the circle of hues. */
static uint8_t tooth(double hue, double light)
{
    double x = fabs(fmod(hue, 1) * 6 - 3) - 1;

    return (uint8_t)(255 * light * (0.35 + 0.65 * fmin(fmax(x, 0), 1)));
}

struct colour colour_of_number(uint64_t i)
{
    /* Steps of the golden section never come near to each other. */
    double hue = fmod((double)(i % 100000) * 0.6180339887498949, 1);
    double light = 0.7 + 0.3 * (double)(i % 3) / 2;

    return (struct colour){tooth(hue, light), tooth(hue + 2.0 / 3, light),
                           tooth(hue + 1.0 / 3, light)};
}
