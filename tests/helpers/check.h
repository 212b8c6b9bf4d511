/* check.h -- claims about code, and a count of them. A test program is a list
 * of functions named for what they claim; main() calls them, and returns
 * check_result(). */
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check_counts {
    int failed, checks;
};

/* One for all sources of a program. */
__attribute__((weak)) struct check_counts check_counts_of_all;

static inline struct check_counts *check_counts(void)
{
    return &check_counts_of_all;
}

#define CHECK(claim)                                                           \
    do {                                                                       \
        check_counts()->checks++;                                              \
        if (!(claim)) {                                                        \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #claim);         \
            check_counts()->failed++;                                          \
        }                                                                      \
    } while (0)

#define CHECK_EQ(a, b)                                                         \
    do {                                                                       \
        long long check_a = (long long)(a), check_b = (long long)(b);          \
        check_counts()->checks++;                                              \
        if (check_a != check_b) {                                              \
            printf("%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #a,    \
                   check_a, check_b);                                          \
            check_counts()->failed++;                                          \
        }                                                                      \
    } while (0)

#define CHECK_TEXT(text, part)                                                 \
    do {                                                                       \
        const char *check_text = (text);                                       \
        check_counts()->checks++;                                              \
        if (!strstr(check_text, part)) {                                       \
            printf("%s:%d: \"%s\" does not have \"%s\"\n", __FILE__, __LINE__, \
                   check_text, part);                                          \
            check_counts()->failed++;                                          \
        }                                                                      \
    } while (0)

/* For preconditions: without it the rest makes no sense. */
#define REQUIRE(claim)                                                         \
    do {                                                                       \
        if (!(claim)) {                                                        \
            printf("%s:%d: cannot go on without: %s\n", __FILE__, __LINE__,    \
                   #claim);                                                    \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

static inline int check_result(void)
{
    printf("%d checks, %d failed\n", check_counts()->checks,
           check_counts()->failed);
    return check_counts()->failed != 0;
}

/* A small generator, so that every run sees the same numbers. */
static inline uint64_t check_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline int64_t check_below(uint64_t *state, int64_t n)
{
    return (int64_t)(check_random(state) % (uint64_t)n);
}

#endif
