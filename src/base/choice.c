/* choice.c -- the texts of the choices that bouma.h lists. */
#include <string.h>

#include "bouma_lists.h"

#define NAME(name, value, text)                                                \
    case value:                                                                \
        return text;
#define PARSE(name, value, word)                                               \
    if (!strcmp(text, word))                                                   \
        return (kind)value;
#define CHOICES(type, list)                                                    \
    const char *type##_name(type choice)                                       \
    {                                                                          \
        switch ((int)choice) {                                                 \
            list(NAME)                                                         \
        }                                                                      \
        return NULL;                                                           \
    }                                                                          \
    type type##_parse(const char *text)                                        \
    {                                                                          \
        typedef type kind;                                                     \
                                                                               \
        if (!text)                                                             \
            return (kind)0;                                                    \
        list(PARSE) return (kind)0;                                            \
    }

CHOICES(bouma_durability, BOUMA_DURABILITY_LIST)
CHOICES(bouma_distribute, BOUMA_DISTRIBUTE_LIST)
CHOICES(bouma_assign, BOUMA_ASSIGN_LIST)
CHOICES(bouma_place, BOUMA_PLACE_LIST)
CHOICES(bouma_order, BOUMA_ORDER_LIST)
CHOICES(bouma_layout, BOUMA_LAYOUT_LIST)
CHOICES(bouma_hz_order, BOUMA_HZ_ORDER_LIST)
CHOICES(bouma_hz_index, BOUMA_HZ_INDEX_LIST)
CHOICES(bouma_rank_order, BOUMA_RANK_ORDER_LIST)
CHOICES(bouma_codec, BOUMA_CODEC_LIST)
CHOICES(bouma_tier, BOUMA_TIER_LIST)
CHOICES(bouma_transport, BOUMA_TRANSPORT_LIST)
CHOICES(bouma_predict, BOUMA_PREDICT_LIST)
CHOICES(bouma_planning, BOUMA_PLANNING_LIST)
