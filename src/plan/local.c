/* local.c -- see local.h: the steps, and their order. */
#include "plan/local_parts.h"

#include <string.h>

int bm_local_serves(const struct bm_chunking *c, bouma_distribute scheme,
                    const char **why)
{
    *why = NULL;
    if (scheme == BOUMA_DISTRIBUTE_WEIGHTED)
        *why = "'weighted' compares what the chunks of all ranks took";
    else if (c->calls->coarse_first)
        *why = "coarse blocks of 'hz' have parts of all ranks";
    else if (c->partitions)
        *why = "partitions are planned by groups of ranks";
    else if (c->level)
        *why = "only plans of all levels are made so";
    return !*why;
}

int bm_local_directory(int64_t chunks, int ranks, int64_t place)
{
    return (int)(place * ranks / chunks); /* both are below 2^32 */
}

int bm_local_init(struct bm_local *l, const bouma_allocator *a,
                  const struct bm_local_task *task)
{
    memset(l, 0, sizeof(*l));
    l->a = a;
    l->task = *task;
    l->held = bm_new(a, 1, sizeof(*l->held));
    l->table = bm_new(a, 1, sizeof(*l->table));
    return l->held && l->table ? BOUMA_OK : BOUMA_ENOMEM;
}

/* What is of no use once the result is there. */
static void drop_lists(struct bm_local *l)
{
    if (l->held)
        bm_local_holder_free(l->held, l->a);
    if (l->table)
        bm_local_table_free(l->table, l->a);
    l->held = NULL;
    l->table = NULL;
}

void bm_local_release(struct bm_local *l)
{
    if (!l->a)
        return;
    drop_lists(l);
    bm_local_result_release(&l->result);
    memset(l, 0, sizeof(*l));
}

/* ---- steps --------------------------------------------------------------- */

enum {
    TELL,
    FIRST_ASK,
    ANSWER,
    ASK,
    COUNT,
    NUMBER,
    MATCH,
    PUBLISH,
    COLLECT,
    REPORT,
};

/* What sums are of, after the steps that ask. */
enum { ASKED, LEFT, HASHES, FAULTS };

static void set_sums(struct bm_local *l, uint64_t asked)
{
    l->mine[ASKED] = asked;
    l->mine[LEFT] = l->table->rest_count;
}

/* What follows the answers, or that there was nothing to be asked. */
static int after_asking(const struct bm_local *l)
{
    return l->sums[ASKED] ? ANSWER : l->sums[LEFT] ? COUNT : PUBLISH;
}

/* Ask for another round, or give up. */
static void ask(struct bm_local *l, struct bm_mail *out)
{
    uint64_t asked = 0;

    if (l->task.scheme == BOUMA_DISTRIBUTE_BALANCED &&
        l->rounds++ < BM_BALANCED_ROUNDS)
        asked = bm_local_ask(l, out);
    else
        bm_local_give_up(l);
    set_sums(l, asked);
}

static int first_ask(struct bm_local *l, const struct bm_mail *in,
                     struct bm_mail *out)
{
    struct bm_local_table *t = l->table;
    struct bm_cover_fault fault;
    uint64_t hashes = l->held->hashes;
    int rc = bm_local_gather(l, in);

    if (rc)
        return rc;
    rc = bm_partition_check(&t->partition, &fault);
    if (rc == BOUMA_ENOMEM)
        return rc;
    for (int64_t i = 0; i < t->chunks.count; i++)
        hashes -= bm_local_hash(t->chunks.chunk[i]);
    if (rc) /* nobody will look at it */
        set_sums(l, 0);
    else
        ask(l, out);
    l->mine[HASHES] = hashes;
    l->mine[FAULTS] = rc != BOUMA_OK || l->held->overlaps;
    return BOUMA_OK;
}

static void report(struct bm_local *l)
{
    struct bm_distribution *r = &l->result.report;

    r->most_patches = (int64_t)l->most;
    r->shared_patches = (int64_t)l->sums[0];
    r->moved_samples = l->sums[1];
    r->messages = (int64_t)l->sums[2];
    drop_lists(l);
    l->is_done = 1;
}

int bm_local_next(struct bm_local *l, const struct bm_mail *in,
                  struct bm_mail *out)
{
    int rc = BOUMA_OK;

    /* By what is the same on all ranks. */
    if (l->step == ANSWER) {
        if (l->sums[HASHES] || l->sums[FAULTS])
            return BOUMA_ECOVER;
        l->step = after_asking(l);
    }
    l->scans = 0;
    memset(l->mine, 0, sizeof(l->mine));
    switch (l->step) {
    case TELL:
        rc = bm_local_hold(l);
        if (!rc)
            bm_local_tell(l, out);
        l->step = FIRST_ASK;
        break;
    case FIRST_ASK:
        rc = first_ask(l, in, out);
        l->step = ANSWER;
        break;
    case ANSWER:
        rc = bm_local_answer(l, in, out);
        l->step = ASK;
        break;
    case ASK:
        rc = bm_local_hear(l, in);
        if (!rc)
            ask(l, out);
        l->step = ANSWER;
        break;
    case COUNT:
        l->left = l->sums[LEFT];
        l->mine[0] = l->table->rest_count;
        l->mine[1] = l->held->left > 0 ? (uint64_t)l->held->left : 0;
        l->scans = 1;
        l->step = NUMBER;
        break;
    case NUMBER:
        bm_local_number(l, out);
        l->step = MATCH;
        break;
    case MATCH:
        rc = bm_local_match(l, in, out);
        l->step = PUBLISH;
        break;
    case PUBLISH:
        rc = bm_local_settle(l, in);
        if (!rc)
            rc = bm_local_publish(l, out);
        l->step = COLLECT;
        break;
    case COLLECT:
        rc = bm_local_collect(l, in);
        l->step = REPORT;
        break;
    default:
        report(l);
        break;
    }
    return rc ? rc : out->data.failed ? BOUMA_ENOMEM : BOUMA_OK;
}
