/* interp_middle.c -- see interp.h: a part of a patch that stands for all of it. */
#include "codec/interp.h"

#define MIDDLE_MOST  32768
#define MIDDLE_LEAST 4096

int bm_middle_of(struct bm_middle *m, const int64_t n[3])
{
    int64_t all = n[0] * n[1] * n[2], most = all / 8;

    most = most < MIDDLE_MOST ? most : MIDDLE_MOST;
    if (most < MIDDLE_LEAST)
        return 0;
    for (int d = 0; d < 3; d++)
        m->n[d] = n[d];
    while (m->n[0] * m->n[1] * m->n[2] > most) {
        int longest = 0;

        for (int d = 1; d < 3; d++)
            if (m->n[d] > m->n[longest])
                longest = d;
        m->n[longest] = (m->n[longest] + 1) / 2;
    }
    for (int d = 0; d < 3; d++)
        m->begin[d] = (n[d] - m->n[d]) / 2;
    return 1;
}

int bm_middle_take(struct bm_buffer *out, const struct bm_middle *m,
                   const int64_t n[3], const uint8_t *samples, size_t size)
{
    for (int64_t z = 0; z < m->n[0]; z++)
        for (int64_t y = 0; y < m->n[1]; y++) {
            int64_t row = (m->begin[0] + z) * n[1] + m->begin[1] + y;

            bm_put_bytes(out,
                         samples + (size_t)(row * n[2] + m->begin[2]) * size,
                         (size_t)m->n[2] * size);
        }
    return out->failed ? BOUMA_ENOMEM : BOUMA_OK;
}
