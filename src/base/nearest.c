/* nearest.c -- nearness of names: the number of letters to insert, delete,
 * change, or swap with their neighbour (optimal string alignment). */
#include "base/nearest.h"

#include <string.h>

enum { LONGEST = 40 }; /* longer words are nobody's typing errors */

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int distance(const char *a, const char *b)
{
    int rows[LONGEST + 1][LONGEST + 1];
    int n = (int)strlen(a);
    int m = (int)strlen(b);

    for (int i = 0; i <= n; i++)
        rows[i][0] = i;
    for (int j = 0; j <= m; j++)
        rows[0][j] = j;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int change = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            int d = least(change, least(rows[i - 1][j], rows[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d = least(d, rows[i - 2][j - 2] + 1);
            rows[i][j] = d;
        }
    return rows[n][m];
}

void bm_nearest_offer(struct bm_nearest *nearest, const char *name)
{
    size_t length = strlen(nearest->word);
    int d;

    if (length > LONGEST || strlen(name) > LONGEST)
        return;
    /* The beginning of a name is as good as one wrong letter. */
    if (length >= 2 && strncmp(nearest->word, name, length) == 0)
        d = 1;
    else
        d = distance(nearest->word, name);
    if (d > 1 + (int)length / 4)
        return;
    if (!nearest->best || d < nearest->distance) {
        nearest->best = name;
        nearest->distance = d;
    }
}
