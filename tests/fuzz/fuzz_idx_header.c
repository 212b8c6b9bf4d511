/* fuzz_idx_header.c -- no text makes the parser of IDX headers crash, nor ask
 * for much more memory than the text has. What it accepts is consistent: the
 * mask covers the box, and files have names. */
#include "fuzz_help.h"
#include "read_idx_block.h"

static int count_block(void *user, uint64_t block)
{
    int *left = user;

    (void)block;
    return --*left == 0;
}

static void try_header(const struct idx_header *header)
{
    const struct idx_order *order = &header->order;
    struct idx_place place = {.block = idx_order_blocks(order) - 1};
    uint64_t samples = 0;
    char name[256];
    int left = 1000;

    HOLDS(header->field_count > 0 && header->ndims >= 1 && header->ndims <= 3);
    HOLDS(order->block_bits <= order->bits && order->bits <= IDX_BITS);
    for (int axis = 0; axis < 3; axis++) {
        HOLDS(header->box.lo[axis] >= 0 &&
              header->box.lo[axis] < header->box.hi[axis]);
        HOLDS(header->box.hi[axis] <= (int64_t)1 << order->left[0][axis]);
    }
    for (size_t i = 0; i < header->step_count; i++)
        HOLDS(header->steps[i].first <= header->steps[i].last);
    idx_file_name(name, sizeof(name), header, "a/b.idx", &place);
    idx_names_have_time(header);
    for (size_t i = 0; i < header->field_count; i++) {
        HOLDS(idx_block_bytes(header, i) <= INT32_MAX);
        HOLDS(idx_block_memory(header, i) >= idx_block_bytes(header, i));
    }
    idx_order_walk(order, &header->box, count_block, &left);
    HOLDS(left < 1000); /* some block has a sample in the box */
    if (left && order->bits < 16) {
        for (uint64_t block = 0; block < idx_order_blocks(order); block++) {
            struct idx_lattice of = idx_order_lattice(order, block);
            bouma_box part;

            if (!order->full ||
                block + 1 >= (uint64_t)1 << (order->bits - order->block_bits))
                samples += idx_lattice_inside(&of, &header->box, &part);
        }
        for (int axis = 0; axis < 3; axis++) {
            uint64_t extent =
                (uint64_t)(header->box.hi[axis] - header->box.lo[axis]);

            HOLDS(samples % extent == 0);
            samples /= extent;
        }
        HOLDS(samples == 1); /* each is in one block */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = fuzz_copy(data, size);
    struct idx_message message = {""};
    struct idx_header header;

    if (idx_parse(&header, copy, size, &message))
        try_header(&header);
    else
        HOLDS(message.text[0]);
    idx_release(&header);
    free(copy);
    return 0;
}
