/* length_unit.h -- units of length as viewers know them. Pure functions. */
#ifndef SERVE_LENGTH_UNIT_H
#define SERVE_LENGTH_UNIT_H

struct length_unit {
    const char *name; /* as in OME-Zarr: "micrometer" */
    double metres;
};

/* The unit of a text such as "um" or "micrometer"; NULL if it is none that
 * viewers know: these refuse others. */
const struct length_unit *length_unit_find(const char *text);

#endif
