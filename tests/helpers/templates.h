/* templates.h -- index templates for tests, and their orders by the
 * definition: loops over characters and bits, nothing of the library's. */
#ifndef TEMPLATES_H
#define TEMPLATES_H

#include "check.h"
#include "plan/hz.h"

/* A template from text, for a grid of three axes that it just covers. */
static inline struct bm_hz template_of(const char *text)
{
    const int64_t least[3] = {1, 1, 1};
    struct bm_error error = {0};
    struct bm_hz hz;

    REQUIRE(!bm_hz_parse(&hz, text, 3, least, &error));
    return hz;
}

/* The n-th text of so many characters, of 3^length. */
static inline void nth_template(char *text, int length, int n)
{
    for (int i = 0; i < length; i++, n /= 3)
        text[i] = "xyz"[n % 3];
    text[length] = 0;
}

static inline void random_template(char *text, int length, uint64_t *state)
{
    for (int i = 0; i < length; i++)
        text[i] = "xyz"[check_below(state, 3)];
    text[length] = 0;
}

/* As the axes are lifted. */
static inline int axis_of_letter(char letter)
{
    return letter == 'x' ? 2 : letter == 'y' ? 1 : 0;
}

/* The Z address of a sample: from the last character to the first, each takes
 * the lowest bit that is left of its axis. */
static inline uint64_t slow_z(const char *text, const int64_t index[3])
{
    int64_t left[3] = {index[0], index[1], index[2]};
    int length = (int)strlen(text);
    uint64_t z = 0;

    for (int i = 0; i < length; i++) {
        int axis = axis_of_letter(text[length - 1 - i]);

        if (left[axis] % 2)
            z += (uint64_t)1 << i;
        left[axis] /= 2;
    }
    return z;
}

/* And back. */
static inline void slow_index(const char *text, uint64_t z, int64_t index[3])
{
    index[0] = index[1] = index[2] = 0;
    for (int i = 0; text[i]; i++) {
        int axis = axis_of_letter(text[i]);
        int bit = (int)strlen(text) - 1 - i;

        index[axis] = 2 * index[axis] + (int64_t)(z >> bit) % 2;
    }
}

/* The level of a Z address: characters from the right, until the sample is one
 * that their split takes away. */
static inline int slow_level(const char *text, uint64_t z)
{
    int level = (int)strlen(text);

    while (level && z % 2 == 0) {
        z /= 2;
        level--;
    }
    return level;
}

/* The HZ address: all coarser levels are before it, and those of its own with
 * a smaller Z address. */
static inline uint64_t slow_hz(const char *text, uint64_t z)
{
    int level = slow_level(text, z), length = (int)strlen(text);
    uint64_t before = 0;

    if (!level)
        return 0;
    for (int l = 0; l < level; l++)
        before += l ? (uint64_t)1 << (l - 1) : 1;
    for (int i = 0; i < level - 1; i++) /* the characters before its own */
        if (z >> (length - 1 - i) & 1)
            before += (uint64_t)1 << (level - 2 - i);
    return before;
}

#endif
