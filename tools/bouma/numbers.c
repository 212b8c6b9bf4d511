/* numbers.c -- numbers, lists and boxes from the text of an argument. */
#include "numbers.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Step over a suffix such as "K", "MiB" or "gb"; the power of two it means. */
static int scan_suffix(const char **cursor)
{
    static const char letters[] = "KMGTP";
    const char *c = *cursor;
    const char *letter =
        *c ? strchr(letters, toupper((unsigned char)*c)) : NULL;
    int power = 0;

    if (letter) {
        power = 10 * (int)(letter - letters + 1);
        c++;
        if (*c == 'i')
            c++;
    }
    if (*c == 'B' || (letter && *c == 'b'))
        c++;
    *cursor = c;
    return power;
}

static bool scan_integer(const char **cursor, int64_t *out)
{
    const char *start = *cursor;
    long long value;
    char *end;
    int power;

    if (!isdigit((unsigned char)start[start[0] == '-']))
        return false;
    errno = 0;
    value = strtoll(start, &end, 10);
    if (errno)
        return false;
    *cursor = end;
    power = scan_suffix(cursor);
    if (value > INT64_MAX >> power || value < -(INT64_MAX >> power))
        return false;
    *out = value * ((int64_t)1 << power);
    return true;
}

static bool scan_number(const char **cursor, double *out)
{
    const char *start = *cursor;
    char *end;

    if (isspace((unsigned char)*start))
        return false;
    *out = strtod(start, &end);
    *cursor = end;
    return end != start && isfinite(*out);
}

bool parse_integer(const char *text, int64_t *out)
{
    return scan_integer(&text, out) && *text == '\0';
}

bool parse_large(const char *text, uint64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoull(text, &end, 10);
    return isdigit((unsigned char)*text) && *end == '\0' && !errno;
}

bool parse_number(const char *text, double *out)
{
    return scan_number(&text, out) && *text == '\0';
}

/* Up to 'most' of what 'scan' takes, into out[i], with commas between. */
static bool parse_list(const char *text, void *out,
                       bool (*scan)(const char **cursor, void *out, int i),
                       int most, int *count)
{
    for (*count = 0; *count < most;) {
        if (!scan(&text, out, (*count)++))
            return false;
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
    return false;
}

static bool scan_nth_integer(const char **cursor, void *out, int i)
{
    return scan_integer(cursor, (int64_t *)out + i);
}

static bool scan_nth_number(const char **cursor, void *out, int i)
{
    return scan_number(cursor, (double *)out + i);
}

bool parse_integers(const char *text, int64_t *out, int most, int *count)
{
    return parse_list(text, out, scan_nth_integer, most, count);
}

bool parse_numbers(const char *text, double *out, int most, int *count)
{
    return parse_list(text, out, scan_nth_number, most, count);
}

/* One end of an axis of a box, or 'otherwise' if it is left out. */
static bool scan_end(const char **cursor, int64_t extent, int64_t otherwise,
                     int64_t *out)
{
    if (**cursor == ':' || **cursor == ',' || **cursor == '\0') {
        *out = otherwise;
        return true;
    }
    if (!scan_integer(cursor, out))
        return false;
    if (*out < 0)
        *out += extent;
    return true;
}

/* 'form' is how a box of so many axes is written. */
static void not_a_box(char *message, size_t bytes, const char *text, int ndims,
                      const char *form)
{
    snprintf(message, bytes,
             "'%s' is not a box of %d %s; write it as %s, with half-open "
             "ranges",
             text, ndims, ndims == 1 ? "axis" : "axes", form);
}

struct axis {
    int number;
    int64_t lo, hi, extent;
};

/* An axis of a box, of which the user wrote 'text'. What ends that count back
 * come to is told. */
static void bad_range(char *message, size_t bytes, int length, const char *text,
                      struct axis a)
{
    char means[80] = "";

    if (memchr(text, '-', (size_t)length))
        snprintf(means, sizeof(means), "is %" PRId64 ":%" PRId64 ", which ",
                 a.lo, a.hi);
    snprintf(message, bytes,
             "axis %d of the box, %.*s, %sis %s; the grid has samples "
             "0:%" PRId64 " there",
             a.number, length, text, means,
             a.lo >= a.hi ? "empty" : "not inside the grid", a.extent);
}

bool parse_box(const char *text, int ndims, const int64_t *shape,
               bouma_box *out, char *message, size_t bytes)
{
    static const char *const forms[] = {"x0:x1", "y0:y1,x0:x1",
                                        "z0:z1,y0:y1,x0:x1"};
    const char *c = text;
    int axis;

    memset(out, 0, sizeof(*out));
    for (axis = 0; axis < ndims; axis++) {
        const char *start;
        int64_t lo, hi;

        if (axis > 0 && *c++ != ',')
            break;
        start = c;
        if (!scan_end(&c, shape[axis], 0, &lo) || *c++ != ':' ||
            !scan_end(&c, shape[axis], shape[axis], &hi))
            break;
        if (lo < 0 || hi > shape[axis] || lo >= hi) {
            bad_range(message, bytes, (int)(c - start), start,
                      (struct axis){axis, lo, hi, shape[axis]});
            return false;
        }
        out->lo[axis] = lo;
        out->hi[axis] = hi;
    }
    if (axis == ndims && *c == '\0')
        return true;
    not_a_box(message, bytes, text, ndims, forms[ndims - 1]);
    return false;
}

/* One end of an axis, or 'otherwise' if it is left out. */
static bool scan_coordinate(const char **cursor, double otherwise, double *out)
{
    if (**cursor == ':' || **cursor == ',' || **cursor == '\0') {
        *out = otherwise;
        return true;
    }
    return scan_number(cursor, out);
}

bool parse_coordinates(const char *text, int ndims, double *low, double *high,
                       char *message, size_t bytes)
{
    static const char *const forms[] = {"x0:x1, in coordinates",
                                        "x0:x1,y0:y1, in coordinates",
                                        "x0:x1,y0:y1,z0:z1, in coordinates"};
    const char *c = text;
    int axis;

    for (axis = 0; axis < ndims; axis++) {
        if (axis > 0 && *c++ != ',')
            break;
        if (!scan_coordinate(&c, -INFINITY, &low[axis]) || *c++ != ':' ||
            !scan_coordinate(&c, INFINITY, &high[axis]))
            break;
        if (low[axis] > high[axis]) {
            snprintf(message, bytes,
                     "axis %d of the box goes from %g down to %g; write the "
                     "lower end first",
                     axis, low[axis], high[axis]);
            return false;
        }
    }
    if (axis == ndims && *c == '\0')
        return true;
    not_a_box(message, bytes, text, ndims, forms[ndims - 1]);
    return false;
}
