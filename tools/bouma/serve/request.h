/* request.h -- what a route is given, and its parameters as numbers and boxes.
 */
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include "answer.h"
#include "url.h"

struct reader;
struct served;

/* What one request may take. */
struct serve_limits {
    size_t answer_bytes;
    uint64_t cost_bytes; /* to be decoded for one answer */
};

struct request {
    const struct url *url;
    const char
        *names[URL_PARTS]; /* what '*' of the route's pattern stand for */
    size_t name_count;
    const char *const *rest; /* what "**" stands for */
    size_t rest_count;
    const char *if_none_match; /* NULL: not given */
    const char *prefix;        /* of the server's paths: "", or "/t/TOKEN" */
    struct serve_limits limits;
    struct served *served;
    struct reader *reader;
};

/* The parameter, or NULL. */
const char *request_text(const struct request *request, const char *name);

/* The parameter as a number; *out stays as it is if there is none. False if it
 * is no such number: the answer then tells. */
bool request_integer(const struct request *request, struct answer *answer,
                     const char *name, int64_t least, int64_t most,
                     int64_t *out);
bool request_number(const struct request *request, struct answer *answer,
                    const char *name, double *out);
bool request_numbers(const struct request *request, struct answer *answer,
                     const char *name, double *out, int count);
bool request_integers(const struct request *request, struct answer *answer,
                      const char *name, int64_t *out, int count);

/* The parameter as one of the words "a|b|c": its number, or 0 if it is not
 * given. */
bool request_choice(const struct request *request, struct answer *answer,
                    const char *name, const char *words, int *out);

/* The answer depends on the step with this tag. True if the answer is complete
 * with that: the client has it (304), or has asked for another one (409). */
bool request_is_answered(const struct request *request, struct answer *answer,
                         uint64_t tag);
/* The same for what has a tag of its own, without quotes. */
bool request_has_tag(const struct request *request, struct answer *answer,
                     const char *etag);
/* The same for an answer that is complete, and depends on several steps: its
 * tag follows from its body. */
void request_tag_body(const struct request *request, struct answer *answer);

#endif
