/* fuzz_codec_zstd.c -- chunks of codec `zstd`; see fuzz_codec.h. */
#include "fuzz_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_codec(&bm_codec_zstd, data, size);
}
