/* hostlist.c -- see hostlist.h. */
#include "machine/hostlist.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "machine/tokenizer.h"

#define BRACKETS 4 /* in one name, at most */

struct listing {
    struct bm_word list;
    bm_each_host *each;
    void *context;
    struct bm_error *error;
    char name[BM_HOST_BYTES]; /* as far as it is put together */
};

static int wrong(const struct listing *l, const char *what)
{
    int shown = l->list.bytes > 80 ? 80 : (int)l->list.bytes;

    return bm_fail(l->error, BOUMA_EINVAL, "'%.*s%s': %s", shown, l->list.text,
                   shown < (int)l->list.bytes ? "..." : "", what);
}

/* Digits from *at on; their number, 0 if there are none or too many. */
static int digits(struct bm_word word, size_t *at, uint64_t *out)
{
    int n = 0;

    *out = 0;
    for (; *at < word.bytes && word.text[*at] >= '0' && word.text[*at] <= '9';
         ++*at, n++) {
        if (n == 18)
            return 0;
        *out = *out * 10 + (uint64_t)(word.text[*at] - '0');
    }
    return n;
}

static int expand(struct listing *l, struct bm_word rest, size_t have,
                  int brackets);

/* One range, "01-16" or "7", of a bracket; 'tail' is what follows it. */
static int expand_range(struct listing *l, struct bm_word range,
                        struct bm_word tail, size_t have, int brackets)
{
    size_t at = 0;
    uint64_t low, high;
    int width = digits(range, &at, &low), rc = BOUMA_OK;

    high = low;
    if (width && at < range.bytes && range.text[at] == '-') {
        at++;
        if (!digits(range, &at, &high))
            width = 0;
    }
    if (!width || at != range.bytes)
        return wrong(l, "in brackets there are numbers such as 7 or 01-16");
    if (low > high)
        return wrong(l, "a range ends before it begins");
    for (uint64_t v = low; !rc && v <= high; v++) {
        char text[32];
        size_t n = (size_t)snprintf(text, sizeof(text), "%0*llu", width,
                                    (unsigned long long)v);

        if (have + n >= BM_HOST_BYTES)
            return wrong(l, "a name is too long");
        memcpy(l->name + have, text, n);
        rc = expand(l, tail, have + n, brackets);
    }
    return rc;
}

/* Everything that the first bracket of 'rest' stands for. */
static int expand_bracket(struct listing *l, struct bm_word rest, size_t have,
                          int brackets)
{
    const char *end = memchr(rest.text, ']', rest.bytes);
    struct bm_word tail;
    size_t inside, start = 1;
    int rc = BOUMA_OK;

    if (!end)
        return wrong(l, "a '[' has no ']'");
    if (brackets == BRACKETS)
        return wrong(l, "a name has too many brackets");
    inside = (size_t)(end - rest.text);
    tail = (struct bm_word){end + 1, rest.bytes - inside - 1};
    while (!rc && start <= inside) {
        struct bm_word range = {rest.text + start, inside - start};
        const char *comma = memchr(range.text, ',', range.bytes);
        size_t stop = comma ? (size_t)(comma - rest.text) : inside;

        range.bytes = stop - start;
        rc = expand_range(l, range, tail, have, brackets + 1);
        start = stop + 1;
    }
    return rc;
}

/* A name of which 'have' bytes are known and 'rest' is still to come. */
static int expand(struct listing *l, struct bm_word rest, size_t have,
                  int brackets)
{
    const char *open = rest.bytes ? memchr(rest.text, '[', rest.bytes) : NULL;
    size_t plain = open ? (size_t)(open - rest.text) : rest.bytes;

    if (have + plain >= BM_HOST_BYTES)
        return wrong(l, "a name is too long");
    if (memchr(rest.text, ']', plain))
        return wrong(l, "a ']' has no '['");
    memcpy(l->name + have, rest.text, plain);
    have += plain;
    if (open)
        return expand_bracket(l, (struct bm_word){open, rest.bytes - plain},
                              have, brackets);
    if (!have)
        return wrong(l, "a name is missing");
    return l->each(l->context, l->name, have);
}

/* Where the name that begins at 'start' ends: at a comma outside of brackets.
 */
static size_t name_end(const char *list, size_t bytes, size_t start)
{
    int inside = 0;

    for (; start < bytes && (inside || list[start] != ','); start++)
        inside = list[start] == '[' || (inside && list[start] != ']');
    return start;
}

int bm_hostlist_each(const char *list, size_t bytes, bm_each_host *each,
                     void *context, struct bm_error *error)
{
    struct listing l = {.list = {list, bytes},
                        .each = each,
                        .context = context,
                        .error = error};
    int rc = BOUMA_OK;

    for (size_t start = 0, end; !rc && start <= bytes; start = end + 1) {
        end = name_end(list, bytes, start);
        rc = expand(&l, (struct bm_word){list + start, end - start}, 0, 0);
    }
    return rc;
}
