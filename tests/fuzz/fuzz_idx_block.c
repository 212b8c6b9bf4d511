/* fuzz_idx_block.c -- no block header and no bytes of a block make the reader of
 * IDX files crash. The first byte chooses a header, the next 40 are the block
 * header, the rest is the file. */
#include "fuzz_help.h"
#include "read_idx_block.h"

#define HEADER(version, mask, fields)                                          \
    "(version)\n" version "\n(box)\n0 30 0 14 0 7\n(fields)\n" fields          \
    "\n(bits)\n" mask "\n(bitsperblock)\n6\n(blocksperfile)\n1\n"

static const char *const headers[] = {
    HEADER("6", "V012012012010", "a float32 default_value(7)"),
    HEADER("6", "V012012012010",
           "a float32 default_compression(zfp-reversible-reversible)"),
    HEADER("6", "V012012012010",
           "a float64 default_compression(zfp-precision=20-precision=20)"),
    HEADER("6", "V012012012010",
           "a int32 default_compression(zfp-accuracy=0.5-accuracy=0.5)"),
    HEADER("6", "F012012012010", "a float32[3]"),
    HEADER("2", "V012012012010", "a uint8 compressed")};

static void try_block(const struct idx_header *header, const uint8_t *data,
                      size_t size)
{
    size_t bytes = idx_block_bytes(header, 0);
    uint64_t begin = header->version >= 6 ? 80 : 28;
    struct idx_place place = {.block = 0};
    struct idx_message message = {""};
    struct idx_block block;
    uint8_t *out;

    /* The file begins where all headers end. */
    if (!idx_block_parse(&block, header, 0, data,
                         begin + size - IDX_BLOCK_HEADER, &message)) {
        HOLDS(message.text[0]);
        return;
    }
    if (block.absent)
        return;
    HOLDS(block.size <= size);
    out = malloc(bytes);
    if (!out)
        exit(1);
    for (; place.block < 5; place.block++) {
        uint8_t *in = fuzz_copy(data + size - block.size, block.size);

        idx_block_decode(out, header, &place, &block, in, &message);
        free(in);
    }
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text;
    struct idx_message message;
    struct idx_header header;

    if (size < 1 + IDX_BLOCK_HEADER)
        return 0;
    text = headers[data[0] % (sizeof(headers) / sizeof(headers[0]))];
    HOLDS(idx_parse(&header, text, strlen(text), &message));
    try_block(&header, data + 1, size - 1);
    idx_release(&header);
    return 0;
}
