/* exporter_raw.c -- samples as plain values. */
#include "exporter.h"

const struct exporter export_raw = {
    .suffix = ".raw",
    .takes = EXPORT_SAMPLES,
    .stream = true,
    .help = "plain values in C order, in the byte order of this machine"};
