/* mail.h -- what a rank has for some others, or has got from some: a letter of
 * bytes each. */
#ifndef BM_MAIL_H
#define BM_MAIL_H

#include "base/bytes.h"

struct bm_letter {
    int peer;
    size_t at, bytes; /* in the data */
};

struct bm_mail {
    struct bm_buffer data;
    struct bm_letter *letters; /* [count] */
    size_t count, room;
};

void bm_mail_init(struct bm_mail *m, const bouma_allocator *a);
void bm_mail_release(struct bm_mail *m);
void bm_mail_clear(struct bm_mail *m); /* empty; memory is kept */

/* What is put to m->data from now on is one more letter, for or from 'peer'. A
 * failure is remembered in m->data.failed. */
void bm_mail_begin(struct bm_mail *m, int peer);
/* The last one has all that was put till now. */
void bm_mail_end(struct bm_mail *m);

struct bm_cursor bm_mail_read(const struct bm_mail *m, size_t letter);

#endif
