/* step_choice.c -- the steps that --step chooses of those that a file has. */
#include "step_choice.h"

#include <stdlib.h>
#include <string.h>

#include "numbers.h"

enum { MOST_STEPS = 1 << 20 };

/* Steps with numbers first <= n < end, and of these every each-th. */
struct choice {
    int64_t first, end, each;
};

static uint64_t range_length(const struct step_range *range)
{
    return (uint64_t)(range->last - range->first) / (uint64_t)range->step + 1;
}

/* The number of the i-th step; those past the end have that of the last. */
static int64_t nth(const struct step_list *list, uint64_t i)
{
    for (size_t k = 0; k < list->count; k++) {
        uint64_t length = range_length(&list->ranges[k]);

        if (i < length)
            return list->ranges[k].first + (int64_t)i * list->ranges[k].step;
        i -= length;
    }
    return list->count ? list->ranges[list->count - 1].last : 0;
}

static uint64_t total(const struct step_list *list)
{
    uint64_t sum = 0;

    for (size_t k = 0; k < list->count; k++) {
        uint64_t length = range_length(&list->ranges[k]);

        sum = length > UINT64_MAX - sum ? UINT64_MAX : sum + length;
    }
    return sum;
}

/* "" stands for 'otherwise'; negative numbers count from the end. */
static bool parse_end(const struct step_list *list, const char *text,
                      int64_t otherwise, int64_t *out)
{
    uint64_t all = total(list);

    *out = otherwise;
    if (!text[0])
        return true;
    if (!parse_integer(text, out))
        return false;
    if (*out >= 0)
        return true;
    if (*out == INT64_MIN || (uint64_t) - *out > all)
        return false;
    *out = nth(list, all - (uint64_t) - *out);
    return true;
}

static bool parse_slice(const struct step_list *list, char *text,
                        struct choice *out)
{
    char *second = strchr(text, ':'), *third;

    *second++ = '\0';
    third = strchr(second, ':');
    if (third)
        *third++ = '\0';
    return parse_end(list, text, 0, &out->first) &&
           parse_end(list, second, INT64_MAX, &out->end) &&
           (!third || !third[0] ||
            (parse_integer(third, &out->each) && out->each > 0));
}

static bool parse_choice(const struct step_list *list, const char *text,
                         struct choice *out)
{
    char *copy;
    bool ok;

    *out = (struct choice){.end = INT64_MAX, .each = 1};
    if (!text || strcmp(text, "all") == 0)
        return true;
    copy = strdup(strcmp(text, "last") == 0 ? "-1" : text);
    if (!copy)
        return false;
    if (strchr(copy, ':')) {
        ok = parse_slice(list, copy, out);
    } else {
        ok = copy[0] && parse_end(list, copy, 0, &out->first) &&
             out->first < INT64_MAX;
        out->end = ok ? out->first + 1 : 0;
    }
    free(copy);
    return ok;
}

/* Into *out, if it is not NULL; counts all, or more than MOST_STEPS. */
static size_t collect(const struct step_list *list, const struct choice *choice,
                      int64_t *out)
{
    uint64_t each = (uint64_t)choice->each, skip = 0; /* before the next one */
    size_t count = 0;

    for (size_t k = 0; k < list->count && count <= MOST_STEPS; k++) {
        const struct step_range *range = &list->ranges[k];
        int64_t n = range->first, last = range->last;
        uint64_t left;

        last = last < choice->end ? last : choice->end - 1;
        if (choice->first > range->last || last < n)
            continue;
        if (choice->first > n)
            n += ((choice->first - n - 1) / range->step + 1) * range->step;
        if (n > last)
            continue;
        left = (uint64_t)(last - n) / (uint64_t)range->step + 1;
        for (; skip < left && count <= MOST_STEPS; left -= skip, skip = each) {
            n += (int64_t)skip * range->step;
            if (out)
                out[count] = n;
            count++;
        }
        skip -= left;
    }
    return count;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Ranges may overlap, and be in any order: ascending, each step once. */
static size_t sort_steps(int64_t *steps, size_t count)
{
    size_t n = 0;

    qsort(steps, count, sizeof(*steps), compare);
    for (size_t i = 0; i < count; i++)
        if (n == 0 || steps[n - 1] != steps[i])
            steps[n++] = steps[i];
    return n;
}

int step_choice(int64_t **out, size_t *count, struct context *ctx,
                const struct step_list *list, const char *text)
{
    const char *option = list->operand ? "step" : "--step";
    struct step_list known = *list;
    struct step_range any;
    struct choice choice;

    if (!parse_choice(list, text, &choice))
        return context_fail(ctx, CALL_AT_FAULT,
                            "%s %s: must be a number, -N (from the end), "
                            "last, all or FIRST:END[:EACH]%s",
                            option, text,
                            list->count ? "" : "; the last step is not known");
    if (!list->count) { /* whatever is asked for is looked for */
        if (choice.end == INT64_MAX || choice.end <= choice.first)
            return context_fail(ctx, CALL_AT_FAULT,
                                "%s: does not say which timesteps it has; name "
                                "them by --step N or --step FIRST:END",
                                list->path);
        any = (struct step_range){choice.first, choice.end - 1, 1};
        known.ranges = &any;
        known.count = 1;
    }
    *count = collect(&known, &choice, NULL);
    if (*count > MOST_STEPS)
        return context_fail(ctx, CALL_AT_FAULT,
                            "%s: has more than %d timesteps; choose some by "
                            "--step FIRST:END",
                            list->path, MOST_STEPS);
    if (*count == 0)
        return context_fail_missing(
            ctx, "%s %s: %s has no such timestep; it has %lld to %lld", option,
            text ? text : "all", list->path, (long long)nth(list, 0),
            (long long)nth(list, UINT64_MAX));
    *out = malloc(*count * sizeof(**out));
    if (!*out)
        return context_fail_memory(ctx);
    collect(&known, &choice, *out);
    *count = sort_steps(*out, *count);
    return DONE;
}
