/* bounds.c -- see bounds.h. */
#include "base/bounds.h"

#include <math.h>
#include <string.h>

int bm_bounds_index(bouma_axes given, bouma_axes own, int ndims, int d)
{
    return given == own ? d : ndims - 1 - d;
}

int bm_bounds_take(bouma_bounds *out, const bouma_bounds *given, bouma_axes own,
                   int ndims, const char *what, struct bm_error *error)
{
    memset(out, 0, sizeof(*out));
    out->axes = own;
    if (given->axes != BOUMA_AXES_XYZ && given->axes != BOUMA_AXES_ZYX)
        return bm_fail(error, BOUMA_EINVAL,
                       "%s: 'axes' is %d; set it to BOUMA_AXES_XYZ or "
                       "BOUMA_AXES_ZYX",
                       what, (int)given->axes);
    for (int d = 0; d < ndims; d++) {
        int i = bm_bounds_index(given->axes, own, ndims, d);

        if (isnan(given->low[i]) || isnan(given->high[i]))
            return bm_fail(error, BOUMA_EINVAL, "%s: %s[%d] is NaN", what,
                           isnan(given->low[i]) ? "low" : "high", i);
        out->low[d] = given->low[i];
        out->high[d] = given->high[i];
        out->closed |= (given->closed >> i & 1) << d;
    }
    return BOUMA_OK;
}
