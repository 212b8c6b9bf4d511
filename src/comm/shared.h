/* shared.h -- memory that processes of one machine share. It has no name that
 * could outlive them: others find it through its maker's table of files. */
#ifndef BM_SHARED_H
#define BM_SHARED_H

#include <stddef.h>
#include <stdint.h>

/* Where the memory is, for others; plain numbers. */
struct bm_shared_handle {
    uint64_t process, file; /* the maker's, as long as its file is open */
    uint64_t device, inode;
    uint64_t bytes;
};

struct bm_shared {
    uint8_t *data; /* NULL: there is none */
    size_t bytes;
    int file; /* the maker's; -1: none */
};

/* Make memory of 'bytes' bytes, more than 0. All of it is there: using it
 * cannot fail later. 0, or an errno. */
int bm_shared_make(struct bm_shared *out, struct bm_shared_handle *handle,
                   size_t bytes);
/* Map what another process has made. 0, or an errno. */
int bm_shared_map(struct bm_shared *out, const struct bm_shared_handle *handle);
/* All have mapped it: nobody can from now on. */
void bm_shared_seal(struct bm_shared *s);
/* This process only reads it from now on; and it writes again, whatever is in
 * it then: 0, or an errno. Without memory they do nothing. */
void bm_shared_protect(struct bm_shared *s);
int bm_shared_unprotect(struct bm_shared *s);
void bm_shared_release(struct bm_shared *s);

/* A number that processes have in common if they run on one machine and see
 * each other; 0: it cannot be told. */
uint64_t bm_shared_node(void);

#endif
