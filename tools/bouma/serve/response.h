/* response.h -- which part of an answer is sent, and how: 304, ranges,
 * compression, caching. Pure functions of headers. */
#ifndef SERVE_RESPONSE_H
#define SERVE_RESPONSE_H

#include <stdbool.h>
#include <stdint.h>

#include "answer.h"

/* Headers of a request that matter here; NULL: not given. */
struct response_wishes {
    const char *range, *if_range, *accept_encoding;
};

enum response_encoding { ENCODING_NONE, ENCODING_GZIP, ENCODING_ZSTD };

/* What is sent: 'bytes' of the body, from 'offset' on. */
struct response_plan {
    int code; /* that of the answer, or 206, or 416 */
    uint64_t offset, bytes;
    enum response_encoding encoding; /* if it becomes shorter by that */
};

/* 'total' is the length of the body. */
void response_plan(struct response_plan *out, const struct answer *answer,
                   uint64_t total, const struct response_wishes *wishes);

/* A single range of "bytes=...": 0 if the header is to be ignored, 1 if it is
 * fine, -1 if there is no such part. */
int response_range(uint64_t *offset, uint64_t *bytes, const char *header,
                   uint64_t total);

/* Whether a list of tags ("*", or "a", W/"b") has this one, or one of its
 * encodings. */
bool response_matches(const char *list, const char *etag);

/* The best encoding that both sides know. */
enum response_encoding response_negotiate(const char *accept_encoding);
/* "gzip", "zstd"; NULL for none. */
const char *response_encoding_name(enum response_encoding encoding);

/* The text of Cache-Control. */
const char *response_caching(const struct answer *answer, bool is_private);

/* Whether an answer is compressed by this encoding, should it become shorter.
 * Its tag names the encoding then, also if it does not. */
bool response_may_compress(const struct answer *answer,
                           enum response_encoding encoding);

/* Compress the body of an answer, if that makes it shorter; false if there is
 * no memory for that. */
bool response_compress(struct answer *answer, enum response_encoding encoding);

#endif
