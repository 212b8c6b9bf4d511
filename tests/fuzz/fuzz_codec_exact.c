/* fuzz_codec_exact.c -- chunks of codec `exact`; see fuzz_field.h. */
#include "fuzz_field.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_field(&bm_codec_exact, data, size);
}
