/* treelet_rows.h -- treelets of tree_build.c, which includes this file behind
 * tree_rows.h, with the same names.
 *
 * A run is split at its median along its longest axis, exactly. One with many
 * particles is first cut into up to 64 parts at the medians of a sample of it,
 * which is one turn through memory instead of six. Either way particles keep
 * their order within a part. They move from one of two buffers to the other. */

/* Bounds of items. */
struct NAME(box) {
    REAL low[3], high[3];
};

/* The bounds of all axes at once; as a number, the index is of no use. */
BM_CLONES static void NAME(bound)(struct NAME(box) * box,
                                  const struct NAME(item) * items, size_t n)
{
    NAME(lanes) lo, hi, lo2, hi2, x, x2;

    memcpy(&lo, items, sizeof(lo));
    memcpy(&lo2, items + n - 1, sizeof(lo2));
    hi = lo;
    hi2 = lo2;
    for (size_t i = 0; i + 2 <= n; i += 2) {
        memcpy(&x, items + i, sizeof(x));
        memcpy(&x2, items + i + 1, sizeof(x2));
        lo = CHOOSE(x < lo, x, lo);
        hi = CHOOSE(x > hi, x, hi);
        lo2 = CHOOSE(x2 < lo2, x2, lo2);
        hi2 = CHOOSE(x2 > hi2, x2, hi2);
    }
    lo = CHOOSE(lo2 < lo, lo2, lo);
    hi = CHOOSE(hi2 > hi, hi2, hi);
    memcpy(box->low, &lo, sizeof(box->low));
    memcpy(box->high, &hi, sizeof(box->high));
}

/* The longest axis of a box; halves, so that nothing overflows. */
static int NAME(longest)(const struct NAME(box) * box)
{
    int best = 0;

    for (int axis = 1; axis < 3; axis++)
        if (box->high[axis] / 2 - box->low[axis] / 2 >
            box->high[best] / 2 - box->low[best] / 2)
            best = axis;
    return best;
}

/* Whether all is at one point. */
static int NAME(flat)(const struct NAME(box) * box)
{
    return box->low[0] == box->high[0] && box->low[1] == box->high[1] &&
           box->low[2] == box->high[2];
}

/* ---- medians ------------------------------------------------------------ */

/* Integers that are in order as the numbers are. */
static inline BITS NAME(to_bits)(REAL x)
{
    const BITS top = (BITS)1 << (8 * sizeof(BITS) - 1);
    BITS b;

    x += 0; /* -0 is 0 */
    memcpy(&b, &x, sizeof(b));
    return b & top ? ~b : b | top;
}

static inline REAL NAME(of_bits)(BITS b)
{
    const BITS top = (BITS)1 << (8 * sizeof(BITS) - 1);
    REAL x;

    b = b & top ? b & ~top : ~b;
    memcpy(&x, &b, sizeof(x));
    return x;
}

/* The value that has k others before it when v[n] is sorted, and in *before how
 * many are smaller; v is used up. Each round keeps those in one of 256 equal
 * ranges, so there are few rounds whatever the values are. */
static BITS NAME(select)(BITS *v, size_t n, size_t k, size_t *before)
{
    BITS low = v[0], high = v[0];

    *before = 0;
    for (size_t i = 1; i < n; i++) {
        low = v[i] < low ? v[i] : low;
        high = v[i] > high ? v[i] : high;
    }
    while (n > 24 && low < high) {
        uint32_t counts[256] = {0};
        unsigned shift = 0, bin = 0;
        size_t kept = 0;

        while ((high - low) >> shift > 255)
            shift++;
        for (size_t i = 0; i < n; i++)
            counts[(v[i] - low) >> shift]++;
        for (; k >= counts[bin]; bin++) {
            k -= counts[bin];
            *before += counts[bin];
        }
        for (size_t i = 0; i < n; i++) {
            v[kept] = v[i];
            kept += (v[i] - low) >> shift == bin;
        }
        n = kept;
        low += (BITS)bin << shift;
        if (high - low > ((BITS)1 << shift) - 1)
            high = low + (((BITS)1 << shift) - 1);
    }
    if (low >= high)
        return low;
    for (size_t i = 1; i < n; i++) {
        BITS x = v[i];
        size_t at = i;

        for (; at && v[at - 1] > x; at--)
            v[at] = v[at - 1];
        v[at] = x;
    }
    for (size_t i = 0; i < k && v[i] < v[k]; i++)
        ++*before;
    return v[k];
}

/* The same for coordinates between low and high. Those in the same one of some
 * bins of equal width come near; v and bins have room for n. Many arguments,
 * as it is called by every split(): no struct is filled for it. */
static REAL NAME(find)(const struct NAME(item) * items, size_t n, size_t k,
                       int axis, REAL low, REAL high, BITS *v, uint8_t *bins,
                       size_t *before)
{
    uint32_t counts[256] = {0};
    size_t kept = 0, smaller = 0;
    unsigned bin = 0;
    REAL size = high - low, scale = (REAL)(n < 1024 ? 63.99 : 255.99) / size;
    REAL middle;
    int fit = size - size == 0 && scale - scale == 0; /* not inf, not NaN */

    for (size_t i = 0; fit && i < n; i++) {
        bins[i] = (uint8_t)(int)((items[i].x[axis] - low) * scale);
        counts[bins[i]]++;
    }
    for (; fit && k >= counts[bin]; bin++) {
        k -= counts[bin];
        smaller += counts[bin];
    }
    for (size_t i = 0; i < n; i++) {
        v[kept] = (BITS)i;
        kept += !fit || bins[i] == bin;
    }
    for (size_t i = 0; i < kept; i++)
        v[i] = NAME(to_bits)(items[v[i]].x[axis]);
    middle = NAME(of_bits)(NAME(select)(v, kept, k, before));
    *before += smaller;
    return middle;
}

/* The first 'left' of n items in the order of an axis, then the others; each
 * part in the order in which it was, which also decides between equals. Gives
 * the least coordinate of the others. Many arguments, as it is called for
 * every node of a treelet: no struct is filled for it. */
static REAL NAME(split)(struct NAME(item) *restrict to,
                        const struct NAME(item) *restrict from, size_t n,
                        size_t left, int axis, const struct NAME(box) * box,
                        uint8_t *bins)
{
    size_t before, room, l = 0, r = left;
    REAL middle = NAME(find)(from, n, left, axis, box->low[axis],
                             box->high[axis], (BITS *)to, bins, &before);

    room = left - before; /* for equals */
    for (size_t i = 0; i < n; i++) {
        REAL x = from[i].x[axis];
        size_t first = x < middle;

        if (room && x == middle) {
            first = 1;
            room--;
        }
        to[r ^ ((l ^ r) & (0 - first))] = from[i]; /* no branch */
        l += first;
        r += 1 - first;
    }
    return middle;
}

/* ---- many parts at once -------------------------------------------------- */

/* Splits of a sample, as a heap: 1 is the root, 2 i and 2 i + 1 are below i;
 * those from 'ways' on are parts. */
struct NAME(wide) {
    REAL split[2 * MOST_WAYS];
    struct NAME(box) box[2 * MOST_WAYS]; /* of what has particles */
    uint32_t begin[2 * MOST_WAYS], end[2 * MOST_WAYS];
    uint8_t axis[2 * MOST_WAYS];
    uint32_t ways;
};

/* Every n / SAMPLE-th or so, and its medians. */
static void NAME(split_sample)(struct NAME(wide) * w,
                               const struct NAME(item) * items, uint32_t n)
{
    struct NAME(item) sample[2][MOST_SAMPLE];
    uint8_t bins[MOST_SAMPLE];
    uint32_t per = SAMPLE_PER_PART, from = 0;

    for (uint32_t i = 0; i < per * w->ways; i++)
        sample[0][i] = items[sample_index(i, per * w->ways, n)];
    for (uint32_t first = 1, size = per * w->ways; first < w->ways;
         first *= 2, size /= 2, from = !from)
        for (uint32_t i = 0; i < first; i++) {
            const struct NAME(item) *part = &sample[from][i * size];
            struct NAME(box) box;
            int axis;

            NAME(bound)(&box, part, size);
            axis = NAME(longest)(&box);
            w->axis[first + i] = (uint8_t)axis;
            w->split[first + i] = NAME(split)(&sample[!from][i * size], part,
                                              size, size / 2, axis, &box, bins);
        }
}

static inline uint32_t NAME(below)(const struct NAME(wide) * w, uint32_t at,
                                   const struct NAME(item) * item)
{
    return 2 * at + (item->x[w->axis[at]] >= w->split[at]);
}

/* The part of each item. Four at a time, since each step waits for the one
 * before. */
static void NAME(classify)(uint8_t *parts, uint32_t *counts,
                           const struct NAME(wide) * w,
                           const struct NAME(item) * items, size_t n)
{
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        uint32_t a = 1, b = 1, c = 1, d = 1;

        while (a < w->ways) {
            a = NAME(below)(w, a, &items[i]);
            b = NAME(below)(w, b, &items[i + 1]);
            c = NAME(below)(w, c, &items[i + 2]);
            d = NAME(below)(w, d, &items[i + 3]);
        }
        counts[(parts[i] = (uint8_t)(a - w->ways))]++;
        counts[(parts[i + 1] = (uint8_t)(b - w->ways))]++;
        counts[(parts[i + 2] = (uint8_t)(c - w->ways))]++;
        counts[(parts[i + 3] = (uint8_t)(d - w->ways))]++;
    }
    for (; i < n; i++) {
        uint32_t a = 1;

        while (a < w->ways)
            a = NAME(below)(w, a, &items[i]);
        counts[(parts[i] = (uint8_t)(a - w->ways))]++;
    }
}

/* Cut the items from 'begin' on into parts, which are in the other buffer then.
 * Gives the largest of them. */
static uint32_t NAME(cut)(struct NAME(wide) * w, struct NAME(item) * to,
                          const struct NAME(item) * from, uint32_t begin,
                          uint32_t n, uint8_t *parts)
{
    uint32_t next[MOST_WAYS] = {0}, at = begin, largest = 0;

    NAME(split_sample)(w, from + begin, n);
    NAME(classify)(parts, next, w, from + begin, n);
    for (uint32_t i = 0; i < w->ways; i++) {
        uint32_t count = next[i];

        largest = count > largest ? count : largest;
        w->begin[w->ways + i] = next[i] = at;
        w->end[w->ways + i] = at += count;
    }
    for (uint32_t i = 0; i < n; i++)
        to[next[parts[i]]++] = from[begin + i];
    for (uint32_t i = 2 * w->ways - 1; i >= w->ways; i--)
        if (w->end[i] > w->begin[i])
            NAME(bound)(&w->box[i], to + w->begin[i], w->end[i] - w->begin[i]);
    for (uint32_t i = w->ways - 1; i > 0; i--) {
        const struct NAME(box) *one = &w->box[2 * i], *two = one + 1;

        w->begin[i] = w->begin[2 * i];
        w->end[i] = w->end[2 * i + 1];
        if (w->begin[2 * i] == w->end[2 * i])
            one = two;
        if (w->begin[2 * i + 1] == w->end[2 * i + 1])
            two = one;
        for (int axis = 0; axis < 3; axis++) {
            REAL low = one->low[axis], high = one->high[axis];

            w->box[i].low[axis] = two->low[axis] < low ? two->low[axis] : low;
            w->box[i].high[axis] =
                two->high[axis] > high ? two->high[axis] : high;
        }
    }
    return largest;
}

/* ---- treelets ------------------------------------------------------------ */

/* Go down from where a cut has particles on one side only. */
static uint32_t NAME(descend)(const struct NAME(wide) * w, uint32_t at)
{
    while (at < w->ways) {
        int no_left = w->begin[2 * at] == w->end[2 * at];
        int no_right = w->begin[2 * at + 1] == w->end[2 * at + 1];

        if (!no_left && !no_right)
            break;
        at = 2 * at + (uint32_t)no_left;
    }
    return at;
}

/* Whether to cut a run, and if so into how many parts: they have 1.5 to 3
 * leaves if there are not too many. */
static uint32_t NAME(ways)(const struct treelet *t, const struct run *run)
{
    uint32_t n = run->end - run->begin, ways = 2;

    if (run->exact || run->nested == MOST_NESTED || !many(n, t->leaf))
        return 0;
    while (ways < MOST_WAYS && n / t->leaf >= 3 * ways)
        ways *= 2;
    return t->spare >= 2 * ways ? ways : 0;
}

/* The treelet of n items (of buffer 0, from 'begin' on), more than a leaf has:
 * its nodes, numbered from 0, and the order of its particles. */
static void NAME(treelet)(struct treelet *t, uint32_t begin, uint32_t n,
                          const struct NAME(box) * bounds)
{
    struct NAME(item) * items[2] = {t->items[0], t->items[1]};
    struct NAME(wide) wide[MOST_NESTED], *w;
    struct run pending[64 + 8 * MOST_NESTED];
    size_t depth = 0;

    pending[depth++] = (struct run){.begin = begin, .end = begin + n};
    while (depth) {
        struct run run = pending[--depth], left, right;
        const struct NAME(box) *box = depth || t->count ? NULL : bounds;
        struct NAME(item) *from = items[run.buffer] + run.begin;
        struct NAME(item) *to = items[!run.buffer] + run.begin;
        struct bm_tree_node *node = &t->nodes[t->count];
        struct NAME(box) own;
        uint32_t ways;

        n = run.end - run.begin;
        w = run.nested ? &wide[run.nested - 1] : NULL;
        if (run.heap) {
            run.heap = NAME(descend)(w, run.heap);
            box = &w->box[run.heap];
            if (run.heap >= w->ways)
                run.heap = 0;
        }
        if (!run.heap && box && NAME(flat)(box))
            run.exact = 1; /* and so will be all below */
        ways = run.heap ? 0 : NAME(ways)(t, &run);
        if (ways) {
            t->spare -= 2 * ways;
            w = &wide[run.nested++];
            w->ways = ways;
            run.exact = NAME(cut)(w, to - run.begin, from - run.begin,
                                  run.begin, n, t->bins) > n / 2;
            run.buffer = !run.buffer;
            run.heap = 1;
            pending[depth++] = run;
            continue;
        }
        if (run.right)
            t->nodes[run.parent].right = t->count;
        *node = (struct bm_tree_node){.begin = t->base + run.begin,
                                      .end = t->base + run.end};
        if (n <= t->leaf) {
            NAME(list)(t->list, t->base + run.begin, from, n);
            t->count++;
            continue;
        }
        left = right = run;
        if (run.heap) {
            left.heap = 2 * run.heap;
            right.heap = left.heap + 1;
            left.end = w->end[left.heap];
            node->axis = w->axis[run.heap];
            node->split = (double)w->box[right.heap].low[node->axis];
        } else {
            if (!box) {
                NAME(bound)(&own, from, n);
                box = &own;
            }
            left.end = run.begin + bm_tree_left(n, t->leaf);
            node->axis = (uint8_t)NAME(longest)(box);
            if (NAME(flat)(box)) {
                node->split = (double)box->low[0];
            } else {
                node->split =
                    (double)NAME(split)(to, from, n, left.end - run.begin,
                                        node->axis, box, t->bins);
                left.buffer = right.buffer = !run.buffer;
            }
        }
        node->split += 0.0; /* -0 is 0 */
        right.begin = left.end;
        right.parent = t->count++;
        left.right = 0;
        right.right = 1;
        pending[depth++] = right;
        pending[depth++] = left;
    }
}

#undef REAL
#undef BITS
#undef TINY
#undef GROW
#undef NAME
#undef CHOOSE
