/* mail.c -- see mail.h. */
#include "base/mail.h"

#include <string.h>

void bm_mail_init(struct bm_mail *m, const bouma_allocator *a)
{
    memset(m, 0, sizeof(*m));
    bm_buffer_init(&m->data, a);
}

void bm_mail_release(struct bm_mail *m)
{
    if (m->data.a)
        bm_drop(m->data.a, m->parcels);
    bm_buffer_release(&m->data);
    m->parcels = NULL;
    m->count = m->room = 0;
}

void bm_mail_clear(struct bm_mail *m)
{
    bm_buffer_clear(&m->data);
    m->count = 0;
}

void bm_mail_begin(struct bm_mail *m, int peer)
{
    struct bm_parcel *more =
        bm_more_room(m->data.a, m->parcels, m->count, &m->room, sizeof(*more));

    if (!more) {
        m->data.failed = 1;
        return;
    }
    m->parcels = more;
    m->parcels[m->count++] = (struct bm_parcel){peer, m->data.size, 0};
}

void bm_mail_end(struct bm_mail *m)
{
    struct bm_parcel *last;

    if (m->data.failed)
        return;
    last = &m->parcels[m->count - 1];
    last->bytes = m->data.size - last->at;
}

struct bm_cursor bm_mail_read(const struct bm_mail *m, size_t parcel)
{
    return bm_cursor_of(m->data.data + m->parcels[parcel].at,
                        m->parcels[parcel].bytes);
}
