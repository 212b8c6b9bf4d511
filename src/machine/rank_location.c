/* rank_location.c -- see rank_location.h. */
#include "machine/rank_location.h"

#include "machine/fabric.h"

static void put_text(struct bm_buffer *out, const char *text, size_t bytes)
{
    bytes = bytes > 65535 ? 65535 : bytes;
    bm_put_u16(out, (uint16_t)bytes);
    bm_put_bytes(out, text, bytes);
}

/* Printable, and no blanks: names go into messages. */
static const char *get_text(struct bm_cursor *c, size_t *bytes)
{
    const char *text;

    *bytes = bm_get_u16(c);
    text = (const char *)bm_get_bytes(c, *bytes);
    for (size_t i = 0; text && i < *bytes; i++)
        if (text[i] <= ' ' || text[i] > '~')
            c->failed = 1;
    return text;
}

void bm_rank_location_put(struct bm_buffer *out,
                          const struct bm_rank_location *location)
{
    put_text(out, location->host, location->host_bytes);
    put_text(out, location->switches, location->switches_bytes);
    bm_put_u64(out, location->dram);
    bm_put_u64(out, location->hbm);
}

int bm_rank_location_get(struct bm_rank_location *out, const void *data,
                         size_t bytes)
{
    struct bm_cursor c = bm_cursor_of(data, bytes);
    int depth = 2; /* the lowest switch, and one that joins several tops */

    out->host = get_text(&c, &out->host_bytes);
    out->switches = get_text(&c, &out->switches_bytes);
    for (size_t i = 0; !c.failed && i < out->switches_bytes; i++)
        depth += out->switches[i] == '.';
    out->dram = bm_get_u64(&c);
    out->hbm = bm_get_u64(&c);
    return !c.failed && !bm_cursor_left(&c) && out->host_bytes &&
           depth < BM_FABRIC_DEPTH;
}
