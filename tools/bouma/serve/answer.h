/* answer.h -- what a route gives back: a code, headers, and a body in memory, in
 * a file, or as events to come. Nothing here knows how it is sent.
 *
 * If only headers are wanted, bodies are not made: answer_body() then gives
 * none, and what is known after much work only is left out. */
#ifndef SERVE_ANSWER_H
#define SERVE_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json_out.h"
#include "memory_budget.h"

#define ANSWER_HEADERS 16
#define ANSWER_BYTES   "application/octet-stream"
#define ANSWER_JSON    "application/json"

struct answer_header {
    const char *name; /* static */
    char *value;
};

struct answer {
    struct memory_budget *memory;
    size_t limit;            /* most bytes of a body */
    const char *path, *name; /* of the dataset: messages name it so. NULL: none
                                yet */
    bool head;               /* only headers are wanted */
    int code;
    const char *type;   /* of the content; static */
    const char *policy; /* Content-Security-Policy; static. NULL: nothing may be
                           loaded */
    struct answer_header headers[ANSWER_HEADERS];
    size_t header_count;
    void *body; /* from 'memory' */
    size_t bytes;
    bool unmeasured;      /* nobody knows 'bytes', since the work is left out */
    const void *fixed;    /* 'bytes' bytes that stay, instead of 'body' */
    const char *encoding; /* that the body has already ("gzip"); NULL: none */
    int file;             /* -1, or the body is in this file: */
    uint64_t file_offset, file_bytes;
    char etag[40];  /* without quotes; "": none */
    bool immutable; /* it will never be another one */
    bool as_it_is;  /* it is never compressed */
    bool binary;    /* a range of it can be asked for */
    bool events;    /* of the dataset with this number: */
    size_t events_of;
};

void answer_init(struct answer *answer, struct memory_budget *memory,
                 size_t limit);
/* Drop body and headers, and close the file. */
void answer_release(struct answer *answer);

/* One more header. */
__attribute__((format(printf, 3, 4))) void
answer_header(struct answer *answer, const char *name, const char *format, ...);

/* A body of so many bytes, to be filled in. NULL, and the answer tells why, if
 * that is beyond the limit or there is no memory; and NULL if only headers are
 * wanted: its length is then known, and the answer no failure. */
void *answer_body(struct answer *answer, const char *type, uint64_t bytes);

/* Whether only headers are wanted: the answer is then one of this type, and of
 * a length that is not known. To be asked before work that headers do not need.
 */
bool answer_is_head(struct answer *answer, const char *type);

/* What was written becomes the body; or the answer tells why it cannot. */
void answer_put_json(struct answer *answer, struct json_out *out);

/* Make it an error, in place of all that was there. 'status' is one of the
 * library. */
__attribute__((format(printf, 4, 5))) void answer_fail(struct answer *answer,
                                                       int code, int status,
                                                       const char *format, ...);
/* The same for a call of the library that failed: the code follows from its
 * status. */
void answer_fail_status(struct answer *answer, int status, const char *message);

#endif
