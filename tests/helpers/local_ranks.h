/* local_ranks.h -- all ranks of a local plan in one process: their mail is
 * carried by hand. */
#ifndef LOCAL_RANKS_H
#define LOCAL_RANKS_H

#include "check.h"
#include "plan/local.h"

struct local_ranks {
    struct bm_local *each; /* [ranks] */
    struct bm_mail *in;    /* [ranks] */
    int ranks;
    int steps;
    uint64_t messages, bytes; /* of all */
    uint64_t most_messages;   /* that a rank sent in all steps */
    uint64_t *sent;           /* [ranks] */
    struct bm_box *boxes;
};

/* Blocks ascend by rank. */
static inline void local_ranks_init(struct local_ranks *all,
                                    struct bm_chunking chunking,
                                    bouma_distribute scheme, int ranks,
                                    const struct bm_block *blocks, size_t count)
{
    const bouma_allocator *a = bm_allocator_default();
    size_t next = 0;

    memset(all, 0, sizeof(*all));
    all->ranks = ranks;
    all->each = calloc((size_t)ranks, sizeof(*all->each));
    all->in = calloc((size_t)ranks, sizeof(*all->in));
    all->sent = calloc((size_t)ranks, sizeof(*all->sent));
    all->boxes = malloc((count + 1) * sizeof(*all->boxes));
    REQUIRE(all->each && all->in && all->boxes && all->sent);
    for (int r = 0; r < ranks; r++) {
        struct bm_local_task task = {chunking,          scheme, ranks, r,
                                     all->boxes + next, 0};

        for (; next < count && blocks[next].rank == r; next++, task.count++)
            all->boxes[next] = blocks[next].box;
        REQUIRE(!bm_local_init(&all->each[r], a, &task));
        bm_mail_init(&all->in[r], a);
    }
    REQUIRE(next == count);
}

static inline void local_ranks_release(struct local_ranks *all)
{
    for (int r = 0; r < all->ranks; r++) {
        bm_local_release(&all->each[r]);
        bm_mail_release(&all->in[r]);
    }
    free(all->each);
    free(all->in);
    free(all->sent);
    free(all->boxes);
}

/* Carry what a rank has for others into next[]. */
static inline void local_ranks_carry(struct local_ranks *all,
                                     struct bm_mail *next, int from,
                                     const struct bm_mail *out)
{
    for (size_t i = 0; i < out->count; i++) {
        struct bm_mail *to = &next[out->letters[i].peer];

        bm_mail_begin(to, from);
        bm_put_bytes(&to->data, out->data.data + out->letters[i].at,
                     out->letters[i].bytes);
        bm_mail_end(to);
        REQUIRE(!to->data.failed);
        if (out->letters[i].peer == from)
            continue;
        all->messages++;
        all->sent[from]++;
        all->bytes += out->letters[i].bytes;
    }
}

/* Sums of all ranks, and of those before. */
static inline void local_ranks_add_up(struct local_ranks *all)
{
    uint64_t sums[BM_LOCAL_SUMS] = {0}, most = 0;

    for (int r = 0; r < all->ranks; r++) {
        struct bm_local *l = &all->each[r];

        if (l->scans)
            memcpy(l->before, sums, sizeof(sums));
        for (int i = 0; i < BM_LOCAL_SUMS; i++)
            sums[i] += l->mine[i];
        most = l->my_most > most ? l->my_most : most;
    }
    for (int r = 0; r < all->ranks; r++) {
        memcpy(all->each[r].sums, sums, sizeof(sums));
        all->each[r].most = most;
    }
}

/* One step of all ranks: their status, which is the same or ENOMEM. */
static inline int local_ranks_step(struct local_ranks *all)
{
    const bouma_allocator *a = bm_allocator_default();
    struct bm_mail *next = calloc((size_t)all->ranks, sizeof(*next)), out;
    int rc = BOUMA_OK;

    REQUIRE(next);
    for (int r = 0; r < all->ranks; r++)
        bm_mail_init(&next[r], a);
    bm_mail_init(&out, a);
    for (int r = 0; r < all->ranks; r++) {
        int mine;

        bm_mail_clear(&out);
        mine = bm_local_next(&all->each[r], &all->in[r], &out);
        rc = r && mine != rc ? BOUMA_EMISMATCH : mine;
        bm_mail_release(&all->in[r]);
        local_ranks_carry(all, next, r, &out);
    }
    bm_mail_release(&out);
    free(all->in);
    all->in = next;
    all->steps++;
    local_ranks_add_up(all);
    return rc;
}

static inline int local_ranks_run(struct local_ranks *all)
{
    int rc = BOUMA_OK;

    while (!rc && !all->each[0].is_done)
        rc = local_ranks_step(all);
    for (int r = 0; r < all->ranks; r++)
        if (all->sent[r] > all->most_messages)
            all->most_messages = all->sent[r];
    return rc;
}

#endif
