/* choice_names.h -- the names of the library's choices, as options spell them.
 */
#ifndef CHOICE_NAMES_H
#define CHOICE_NAMES_H

#include "bouma.h"

/* "zstd"; "?" for one that this program does not know. */
const char *codec_name(bouma_codec codec);
const char *order_name(bouma_order order);
const char *distribute_name(int scheme);
const char *assign_name(int scheme);
const char *place_name(int scheme);

/* The codec of that name, or 0; all names, with commas between. */
bouma_codec codec_parse(const char *name);
#define CODEC_NAMES "zstd, raw"

#endif
