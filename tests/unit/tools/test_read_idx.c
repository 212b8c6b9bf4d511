/* test_read_idx.c -- IDX: names of files, where samples are in blocks, and what
 * memory these take. */
#include "check.h"
#include "read_idx.h"
#include "read_idx_block.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names --------------------------------------------------------------- */

static void name_is(const char *version, const char *template, const char *time,
                    uint64_t block, const char *wanted)
{
    struct idx_place place = {.block = block, .step = 7};
    struct idx_message message = {""};
    struct idx_header header;
    char text[512], name[256] = "";

    snprintf(text, sizeof(text),
             "(version)\n%s\n(box)\n0 3\n(fields)\nv uint8\n(bits)\n"
             "V000000000000000000000000000000\n(bitsperblock)\n2\n"
             "(blocksperfile)\n4\n(time)\n0 9 %s\n%s%s",
             version, time, template ? "(filename_template)\n" : "",
             template ? template : "");
    CHECK(idx_parse(&header, text, strlen(text), &message));
    CHECK(idx_file_name(name, sizeof(name), &header, "dir/x.y.idx", &place));
    if (strcmp(name, wanted) != 0)
        printf("%s, not %s\n", name, wanted);
    CHECK(strcmp(name, wanted) == 0);
    /* It says so if there is no room, and writes no byte too far. */
    CHECK(!idx_file_name(name, strlen(wanted), &header, "dir/x.y.idx", &place));
    CHECK(idx_file_name(name, strlen(wanted) + 1, &header, "dir/x.y.idx",
                        &place));
    idx_release(&header);
}

static void files_are_named_by_their_first_block(void)
{
    name_is("6", "./d/%04x.bin", "", 0x1235, "dir/d/1234.bin");
    name_is("6", "./d/%04x.bin", "t%03d/", 0x1235, "dir/d/t007/1234.bin");
    name_is("6", "d/%02x/%02x.bin", "t%d/", 0x1235, "d/t7/12/34.bin");
    name_is("6", "/a/%02x.bin", "", 0x12347, "/a/01/23/44.bin");
    name_is("6", "/a/%01x/b%02x.bin", "", 0x12347, "/a/1/2/3/b44.bin");
    name_is("6", "$(CurrentFileDirectory)/%01x", "", 0, "dir/0");
    name_is("4", "./d/%02x.bin", "t%04d_", 0x1235, "dir/d/t0007_1234.bin");
    name_is("6", NULL, "", 0x12347, "dir/x.y/00/01/2344.bin");
}

/* ---- order --------------------------------------------------------------- */

/* The definition, bit by bit. */
static uint64_t hz_of(const struct idx_order *order, const int64_t point[3])
{
    int64_t rest[3] = {point[0], point[1], point[2]};
    uint64_t z = 0;

    for (int i = 0; i < order->bits; i++) {
        int axis = order->axis[order->bits - 1 - i];

        z |= (uint64_t)(rest[axis] & 1) << i;
        rest[axis] >>= 1;
    }
    z |= (uint64_t)1 << order->bits;
    while (!(z & 1))
        z >>= 1;
    return z >> 1;
}

struct collected {
    const struct idx_order *order;
    const bouma_box *box;
    uint32_t *out; /* of the box */
    uint32_t *block;
    uint64_t last;
    int count;
};

/* A block that has the HZ address of each sample, in that order. */
static int unpack_block(void *user, uint64_t number)
{
    struct collected *c = user;
    size_t size = (size_t)1 << c->order->block_bits;
    struct idx_rows rows = {.data = (uint8_t *)c->out, .size = 4};

    CHECK(c->count == 0 || number > c->last);
    c->last = number;
    c->count++;
    for (size_t i = 0; i < size; i++)
        c->block[i] = (uint32_t)(number * size + i);
    rows.stride[2] = 4;
    rows.stride[1] = 4 * (c->box->hi[2] - c->box->lo[2]);
    rows.stride[0] = rows.stride[1] * (c->box->hi[1] - c->box->lo[1]);
    idx_order_unpack(&rows, c->order, number, c->box, (const uint8_t *)c->block,
                     false);
    return 0;
}

static void check_order(const struct idx_order *order, const bouma_box *box)
{
    size_t samples = 1, at = 0;
    struct collected c = {.order = order, .box = box};

    for (int axis = 0; axis < 3; axis++)
        samples *= (size_t)(box->hi[axis] - box->lo[axis]);
    c.out = malloc(samples * sizeof(*c.out));
    c.block = malloc(sizeof(*c.block) << order->block_bits);
    if (!c.out || !c.block)
        exit(1);
    memset(c.out, 0xff, samples * sizeof(*c.out));
    CHECK(idx_order_walk(order, box, unpack_block, &c) == 0);
    for (int64_t z = box->lo[0]; z < box->hi[0]; z++)
        for (int64_t y = box->lo[1]; y < box->hi[1]; y++)
            for (int64_t x = box->lo[2]; x < box->hi[2]; x++)
                CHECK(c.out[at++] == hz_of(order, (const int64_t[3]){z, y, x}));
    free(c.out);
    free(c.block);
}

static void boxes_are_put_together_from_blocks(void)
{
    uint32_t chance = 1;

    for (int n = 0; n < 300; n++) {
        struct idx_order order = {.bits = 1 + n % 11};
        bouma_box box;

        for (int i = 0; i < order.bits; i++) {
            chance = chance * 1664525 + 1013904223;
            order.axis[i] = (uint8_t)((chance >> 16) % 3);
        }
        order.block_bits = (int)((chance >> 20) % (unsigned)(order.bits + 1));
        idx_order_complete(&order);
        for (int axis = 0; axis < 3; axis++) {
            int64_t extent = (int64_t)1 << order.left[0][axis];

            chance = chance * 1664525 + 1013904223;
            box.lo[axis] = (chance >> 8) % extent;
            box.hi[axis] =
                box.lo[axis] + 1 + (chance >> 20) % (extent - box.lo[axis]);
        }
        check_order(&order, &box);
    }
}

/* ---- memory -------------------------------------------------------------- */

/* zfp takes 4 x 4 values at a time, also of those that have fewer. */
static void memory_is_for_the_largest_of_all_blocks(void)
{
    static const char *const masks[] = {"V0101", "V000111", "V111000",
                                        "F000111"};

    for (int i = 0; i < 4 * 4; i++) {
        struct idx_message message = {""};
        struct idx_header header;
        uint64_t memory;
        char text[256];

        snprintf(text, sizeof(text),
                 "(version)\n6\n(box)\n0 3 0 3\n(fields)\n"
                 "v float64 default_compression(zfp)\n(bits)\n%s\n"
                 "(bitsperblock)\n%d\n(blocksperfile)\n4\n",
                 masks[i / 4], i % 4 + 1);
        REQUIRE(idx_parse(&header, text, strlen(text), &message));
        memory = idx_block_memory(&header, 0) - 2 * idx_block_bytes(&header, 0);
        for (uint64_t b = 0; b < idx_order_blocks(&header.order); b++) {
            struct idx_lattice of = idx_order_lattice(&header.order, b);
            uint64_t parts = 1;

            for (int axis = 0; axis < 3; axis++)
                parts *= (((uint64_t)1 << of.count[axis]) + 3) / 4;
            CHECK(memory >= parts * 16 * sizeof(double));
        }
        idx_release(&header);
    }
}

int main(void)
{
    files_are_named_by_their_first_block();
    boxes_are_put_together_from_blocks();
    memory_is_for_the_largest_of_all_blocks();
    return check_result();
}
