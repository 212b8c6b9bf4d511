/* histogram_print.c -- a histogram as bars of text, and as a table. */
#include "histogram_show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text_table.h"

enum { BAR = 40 }; /* letters of the longest one */

static double highest_of(const struct histogram_shown *shown)
{
    double highest = 1;

    for (size_t i = 0; i < shown->count; i++) {
        const bouma_bin *b = &shown->bins[i];

        highest =
            fmax(highest, b->error > 0 ? b->estimate + b->error : b->estimate);
    }
    return highest;
}

/* # up to a standard error below the estimate, = up to the estimate, - up to a
 * standard error above it. */
static void make_bar(char out[BAR + 1], const bouma_bin *b, double highest)
{
    double error = b->error > 0 ? b->error : 0, unit = BAR / highest;
    int sure = (int)(fmax(0, b->estimate - error) * unit + 0.5);
    int about = (int)(b->estimate * unit + 0.5);
    int most = (int)((b->estimate + error) * unit + 0.5);
    int i = 0;

    for (; i < sure; i++)
        out[i] = '#';
    for (; i < about; i++)
        out[i] = '=';
    for (; i < most && i < BAR; i++)
        out[i] = '-';
    out[i] = '\0';
}

int histogram_print(const struct histogram_shown *shown, struct context *ctx)
{
    bool exact = shown->about.basis == BOUMA_BASIS_EXACT;
    double highest = highest_of(shown);
    struct text_table table;
    char bar[BAR + 1];
    int rc;

    text_table_init(&table, exact ? "rrrl" : "rrrrrrl");
    text_table_add(&table, "FROM");
    text_table_add(&table, "TO");
    text_table_add(&table, "COUNT");
    if (!exact) {
        text_table_add(&table, "+-");
        text_table_add(&table, "LOWEST");
        text_table_add(&table, "HIGHEST");
    }
    text_table_add(&table, " ");
    for (size_t i = 0; i < shown->count; i++) {
        const bouma_bin *b = &shown->bins[i];

        text_table_add(&table, "%.6g", b->low);
        text_table_add(&table, "%.6g", b->high);
        text_table_add(&table, "%.0f", b->estimate);
        if (!exact) {
            text_table_add(&table, "%.0f", b->error);
            text_table_add(&table, "%llu", (unsigned long long)b->lower);
            text_table_add(&table, "%llu", (unsigned long long)b->upper);
        }
        make_bar(bar, b, highest);
        text_table_add(&table, "%s", bar);
    }
    rc = text_table_print(&table, ctx, 2);
    text_table_release(&table);
    return rc;
}

int histogram_table(char **out, size_t *bytes, struct context *ctx,
                    const struct histogram_shown *shown)
{
    FILE *to = open_memstream(out, bytes);

    if (!to)
        return context_fail_memory(ctx);
    fprintf(to, "low,high,count,error,lower,upper\n");
    for (size_t i = 0; i < shown->count; i++) {
        const bouma_bin *b = &shown->bins[i];

        fprintf(to, "%.17g,%.17g,%.17g,%.17g,%llu,%llu\n", b->low, b->high,
                b->estimate, b->error, (unsigned long long)b->lower,
                (unsigned long long)b->upper);
    }
    return fclose(to) ? context_fail_memory(ctx) : DONE;
}
