/* image.h -- arrays one after the other in one piece of memory, to be read
 * there by others, who have it at another address. Who packs and who reads go
 * through the same arrays in the same order, by the same code. */
#ifndef BM_IMAGE_H
#define BM_IMAGE_H

#include <stddef.h>
#include <stdint.h>

struct bm_image {
    uint8_t *to;         /* pack: into this; or */
    const uint8_t *from; /* read: from this; neither: count the bytes */
    size_t at;           /* bytes so far */
};

/* The next array, of 'count' elements of 'size' bytes, or NULL if it is none.
 * Gives the array or, of one who reads, where it is in the image: it is not to
 * be changed there. */
void *bm_image_array(struct bm_image *m, void *array, size_t count,
                     size_t size);

#endif
