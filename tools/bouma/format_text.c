/* format_text.c -- numbers and texts as people like to read them. */
#include "format_text.h"

#include <inttypes.h>
#include <stdio.h>

const char *format_bytes(char *out, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB",
                                        "TiB", "PiB", "EiB"};
    double value = (double)bytes / 1024;
    int unit = 0;

    if (bytes < 1024) {
        snprintf(out, FORMAT_BYTES, "%" PRIu64 " B", bytes);
        return out;
    }
    /* 1023.95 would be printed as 1024.0. */
    while (value >= 1023.95 && unit < 5) {
        value /= 1024;
        unit++;
    }
    snprintf(out, FORMAT_BYTES, "%.1f %s", value, units[unit]);
    return out;
}

const char *format_ratio(char *out, uint64_t raw, uint64_t stored)
{
    if (stored == 0)
        snprintf(out, FORMAT_BYTES, "-");
    else
        snprintf(out, FORMAT_BYTES, "%.2fx", (double)raw / (double)stored);
    return out;
}

const char *format_seconds(char *out, double seconds)
{
    if (seconds < 1)
        snprintf(out, FORMAT_BYTES, "%.1f ms", 1e3 * seconds);
    else
        snprintf(out, FORMAT_BYTES, "%.2f s", seconds);
    return out;
}

const char *format_shape(char *out, int ndims, const int64_t *shape)
{
    size_t used = 0;

    out[0] = '\0';
    for (int i = 0; i < ndims && used < FORMAT_BYTES; i++)
        used += (size_t)snprintf(out + used, FORMAT_BYTES - used, "%s%" PRId64,
                                 i ? " x " : "", shape[i]);
    return out;
}

const char *format_point(char *out, int ndims, const double *point)
{
    size_t used = 0;

    out[0] = '\0';
    for (int i = 0; i < ndims && used < FORMAT_BYTES; i++)
        used += (size_t)snprintf(out + used, FORMAT_BYTES - used, "%s%g",
                                 i ? ", " : "", point[i]);
    return out;
}

const char *format_value(char *out, bouma_value value)
{
    if (value.type == BOUMA_TYPE_F64)
        snprintf(out, FORMAT_BYTES, "%.6g", value.f);
    else if (value.type == BOUMA_TYPE_U64)
        snprintf(out, FORMAT_BYTES, "%" PRIu64, value.u);
    else
        snprintf(out, FORMAT_BYTES, "%" PRId64, value.i);
    return out;
}

const char *format_count(char *out, uint64_t count, const char *word)
{
    snprintf(out, FORMAT_BYTES, "%" PRIu64 " %s%s", count, word,
             count == 1 ? "" : "s");
    return out;
}

void print_clean(const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        putchar(c < 0x20 || c == 0x7f ? '?' : c);
    }
}
