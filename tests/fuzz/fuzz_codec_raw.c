/* fuzz_codec_raw.c -- chunks of codec `raw`; see fuzz_codec.h. */
#include "fuzz_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_codec(&bm_codec_raw, data, size);
}
