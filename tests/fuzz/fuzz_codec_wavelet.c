/* fuzz_codec_wavelet.c -- chunks of codec `wavelet`; see fuzz_field.h. */
#include "fuzz_field.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_field(&bm_codec_wavelet, data, size);
}
