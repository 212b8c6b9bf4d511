/* mapped.h -- whether memory is there, without touching it. */
#ifndef BM_MAPPED_H
#define BM_MAPPED_H

#include <stddef.h>

/* 0 if a page of the 'bytes' bytes from 'from' on is not mapped: whoever reads
 * there ends with a signal. Memory that was freed often stays mapped. 1 also if
 * the system does not tell. */
int bm_is_mapped(const void *from, size_t bytes);

#endif
