/* exporter_npy.c -- samples as NumPy's .npy file. */
#include "exporter.h"
#include "npy.h"

_Static_assert((int)NPY_MAX_HEADER <= (int)EXPORT_HEADER, "EXPORT_HEADER");

const struct exporter export_npy = {.suffix = ".npy",
                                    .takes = EXPORT_SAMPLES,
                                    .help = "a NumPy array",
                                    .header = npy_format};
