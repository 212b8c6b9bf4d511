/* choice_names.c -- the names of the library's choices, as options spell them.
 */
#include "choice_names.h"

#include <string.h>

/* Indexed by the values in bouma.h. */
static const char *const codecs[] = {NULL, "zstd", "raw"};
static const char *const orders[] = {NULL, "level", "chunk"};
static const char *const distributes[] = {NULL, "balanced", "greedy", "none"};
static const char *const assigns[] = {NULL,    "optimal",  "running",
                                      "count", "per-rank", "single"};
static const char *const places[] = {NULL, "spread", "first"};

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

static const char *name_at(const char *const *table, int count, int value)
{
    return value > 0 && value < count ? table[value] : "?";
}

const char *codec_name(bouma_codec codec)
{
    return name_at(codecs, COUNT(codecs), (int)codec);
}

const char *order_name(bouma_order order)
{
    return name_at(orders, COUNT(orders), (int)order);
}

const char *distribute_name(int scheme)
{
    return name_at(distributes, COUNT(distributes), scheme);
}

const char *assign_name(int scheme)
{
    return name_at(assigns, COUNT(assigns), scheme);
}

const char *place_name(int scheme)
{
    return name_at(places, COUNT(places), scheme);
}

bouma_codec codec_parse(const char *name)
{
    for (int i = 1; i < COUNT(codecs); i++)
        if (strcmp(codecs[i], name) == 0)
            return (bouma_codec)i;
    return (bouma_codec)0;
}
