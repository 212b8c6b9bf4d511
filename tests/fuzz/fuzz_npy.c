/* fuzz_npy.c -- no bytes make the parser of .npy headers crash, and what it
 * accepts is consistent and survives being written and read again. */
#include <stdlib.h>
#include <string.h>

#include "npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int fine)
{
    if (!fine)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct npy_header header, again;
    char message[64];
    char text[NPY_MAX_HEADER];
    size_t length;

    if (!npy_parse(&header, data, size, message, sizeof(message))) {
        check(memchr(message, '\0', sizeof(message)) != NULL);
        return 0;
    }
    check(header.ndims >= 0 && header.ndims <= NPY_MAX_DIMS);
    check(header.data_offset <= size);
    check(header.data_bytes <= (uint64_t)INT64_MAX);

    length = npy_format(text, header.type, header.ndims, header.shape);
    check(length <= sizeof(text) && length % 64 == 0);
    check(npy_parse(&again, text, length, message, sizeof(message)));
    check(again.type == header.type && again.ndims == header.ndims);
    check(again.data_bytes == header.data_bytes && !again.swapped);
    check(memcmp(again.shape, header.shape, sizeof(header.shape)) == 0);
    return 0;
}
