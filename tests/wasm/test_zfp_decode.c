/* test_zfp_decode.c -- wasm/zfp_decode.c decodes any bits as zfp does. */
#include <string.h>
#include <zfp.h>

#include "chance.h"
#include "check.h"
#include "zfp_own.h"

enum { BLOCKS = 30000, BYTES = 4096, REVERSIBLE = -1075 };

struct trial {
    uint8_t bits[BYTES];
    bouma_type type;
    int axes, minexp;
};

#define BY_AXES(name)                                                          \
    (t->axes == 1   ? zfp_decode_block_##name##_1(&z, to)                      \
     : t->axes == 2 ? zfp_decode_block_##name##_2(&z, to)                      \
                    : zfp_decode_block_##name##_3(&z, to))

static uint64_t zfp_decodes(void *to, struct trial *t)
{
    zfp_stream z = {.minbits = 1,
                    .maxbits = 16658,
                    .maxprec = 64,
                    .minexp = t->minexp,
                    .stream = stream_open(t->bits, BYTES)};
    uint64_t used;

    REQUIRE(z.stream);
    if (t->type == BOUMA_TYPE_I32)
        BY_AXES(int32);
    else if (t->type == BOUMA_TYPE_I64)
        BY_AXES(int64);
    else if (t->type == BOUMA_TYPE_F32)
        BY_AXES(float);
    else
        BY_AXES(double);
    used = stream_rtell(z.stream);
    stream_close(z.stream);
    return used;
}

/* Few bits 1, many, or half of them. Half of the blocks of numbers begin as
 * those that have an exponent do. */
static void draw(struct trial *t, uint64_t *chance)
{
    static const bouma_type types[4] = {BOUMA_TYPE_I32, BOUMA_TYPE_I64,
                                        BOUMA_TYPE_F32, BOUMA_TYPE_F64};
    uint64_t density = chance_below(chance, 5);
    int whole;

    for (int i = 0; i < BYTES; i += 8) {
        uint64_t word = chance_next(chance), other = chance_next(chance);

        word = density == 1 ? word & other : density == 2 ? word | other : word;
        other = chance_next(chance);
        word = density == 3   ? word & other & word << 1
               : density == 4 ? word | other | word << 1
                              : word;
        memcpy(t->bits + i, &word, 8);
    }
    t->type = types[chance_below(chance, 4)];
    t->axes = 1 + (int)chance_below(chance, 3);
    whole = t->type == BOUMA_TYPE_I32 || t->type == BOUMA_TYPE_I64;
    t->minexp = whole || chance_below(chance, 2)
                    ? REVERSIBLE
                    : (int)chance_below(chance, 2200) - 1074;
    if (t->type == BOUMA_TYPE_F32 && t->minexp != REVERSIBLE)
        t->minexp = t->minexp / 8;
    if (!whole && chance_below(chance, 2))
        t->bits[0] = (uint8_t)((t->bits[0] | 1) & ~2);
}

static void any_bits_are_the_same_blocks(void)
{
    uint64_t theirs[64], ours[64], chance = 36;
    struct trial t;

    for (int i = 0; i < BLOCKS; i++) {
        uint64_t used;

        draw(&t, &chance);
        memset(theirs, 0, sizeof(theirs));
        memset(ours, 0, sizeof(ours));
        used = zfp_decodes(theirs, &t);
        CHECK_EQ(own_decode(ours, t.type, t.axes, t.minexp, t.bits, BYTES),
                 used);
        CHECK(!memcmp(ours, theirs, sizeof(ours)));
    }
}

int main(void)
{
    any_bits_are_the_same_blocks();
    return check_result();
}
