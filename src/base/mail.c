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
        bm_drop(m->data.a, m->letters);
    bm_buffer_release(&m->data);
    m->letters = NULL;
    m->count = m->room = 0;
}

void bm_mail_clear(struct bm_mail *m)
{
    bm_buffer_clear(&m->data);
    m->count = 0;
}

void bm_mail_begin(struct bm_mail *m, int peer)
{
    struct bm_letter *more =
        bm_more_room(m->data.a, m->letters, m->count, &m->room, sizeof(*more));

    if (!more) {
        m->data.failed = 1;
        return;
    }
    m->letters = more;
    m->letters[m->count++] = (struct bm_letter){peer, m->data.size, 0};
}

void bm_mail_end(struct bm_mail *m)
{
    struct bm_letter *last;

    if (m->data.failed)
        return;
    last = &m->letters[m->count - 1];
    last->bytes = m->data.size - last->at;
}

struct bm_cursor bm_mail_read(const struct bm_mail *m, size_t letter)
{
    return bm_cursor_of(m->data.data + m->letters[letter].at,
                        m->letters[letter].bytes);
}
