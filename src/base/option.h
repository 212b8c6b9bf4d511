/* option.h -- the options that have a name: one table, from which follow how
 * they are parsed, checked, completed and compared among ranks, the flags and
 * the help of the command line, and the tables in the documents.
 *
 * A new option is a field of bouma_options, one of bm_options, and a line of the
 * table. */
#ifndef BM_OPTION_H
#define BM_OPTION_H

#include <stddef.h>
#include <stdint.h>

#include "bouma.h"

enum bm_option_kind {
    BM_OPTION_CHOICE,
    BM_OPTION_FLAG,
    BM_OPTION_INTEGER,
    BM_OPTION_BYTES,
    BM_OPTION_SECONDS,
    BM_OPTION_TEXT /* of up to BM_PATH_BYTES, with its NUL */
};

enum { BM_PATH_BYTES = 4096 };

/* The options as the library keeps them: bouma_options with its texts in it, so
 * that they can be copied, and outlive the caller's. */
struct bm_options {
    const bouma_io *io;
    const bouma_allocator *allocator;
    bouma_durability durability;
    int group, replace, force, files;
    uint64_t file_size;
    bouma_distribute distribute;
    bouma_assign assign;
    bouma_place place;
    bouma_order order;
    uint64_t message_bytes, buffer_bytes, memory_limit;
    double timeout;
    unsigned char id[16];
    int threads;
    void (*progress)(void *user, const char *what, uint64_t done,
                     uint64_t total);
    void *progress_user;
    int best_axis;
    bouma_tier tier;
    int persist, buffers;
    bouma_transport transport;
    int async;
    bouma_predict predict;
    bouma_planning planning;
    int writers, check, clobber, nodes_per_file;
    char machine[BM_PATH_BYTES], local[BM_PATH_BYTES], trace[BM_PATH_BYTES];
};

struct bm_choice {
    const char *name; /* NULL ends a list */
    int value;
};

struct bm_option {
    bouma_option_info about;
    enum bm_option_kind kind;
    size_t given;                    /* offset in bouma_options */
    size_t kept;                     /* offset in struct bm_options */
    const struct bm_choice *choices; /* of CHOICE and FLAG */
    uint64_t most;                   /* of INTEGER and BYTES; 0: no limit */
    int64_t standard;     /* what 0 stands for; 0: that is found out later */
    const char *variable; /* of the environment, for this option alone */
    const char *reason;   /* why BOUMA_OPTIONS cannot set it; NULL: it can */
    /* A form of the value beyond those of its kind: what follows 'prefix' is a
     * whole number from 1 to the limit of the option 'count', which it sets. */
    const char *prefix, *count;
    /* Then also a value: it sets the option 'count' to 1, and this one to 0, as
     * does what has the prefix. */
    const char *word;
};

enum { BM_OPTIONS_MOST = 64 }; /* there are no more than that */

/* The i-th option, the option of that name, or NULL. */
const struct bm_option *bm_option_at(int i);
const struct bm_option *bm_option_find(const char *name);

/* Whether options of so many bytes have it: they may be those of an older
 * version. */
int bm_option_is_in(const struct bm_option *option, size_t size);

/* Set the field from its text: 1 if it can have that value. That of the caller's
 * options then points to the text. */
int bm_option_give(const struct bm_option *option, bouma_options *opts,
                   const char *text);
int bm_option_set(const struct bm_option *option, struct bm_options *opts,
                  const char *text);

/* Take the field over from the caller's options: 1 if it has a value that it
 * can have; if not, 'text' is that value, for a message. */
int bm_option_take(const struct bm_option *option, struct bm_options *out,
                   const bouma_options *given, char *text, size_t bytes);

/* The values it can have, as the texts that set it; as numbers in the struct.
 */
void bm_option_texts(const struct bm_option *option, char *text, size_t bytes);
void bm_option_numbers(const struct bm_option *option, char *text,
                       size_t bytes);

int bm_option_is_set(const struct bm_option *option,
                     const struct bm_options *opts);
/* Take the field over from 'from', if that of 'opts' is zero. */
void bm_option_inherit(const struct bm_option *option, struct bm_options *opts,
                       const struct bm_options *from);
/* If it still is (or, after a failure, below): what that stands for. */
void bm_option_complete(const struct bm_option *option,
                        struct bm_options *opts);

/* The field as a number that differs if the value does; and such a number as
 * the caller would write the value. */
uint64_t bm_option_number(const struct bm_option *option,
                          const struct bm_options *opts);
const char *bm_option_written(const struct bm_option *option, uint64_t number,
                              char *text, size_t bytes);

/* The field as a text that bm_option_set() takes, "" for "choose for me": the
 * number of its bytes, as snprintf(). */
int bm_option_text(const struct bm_option *option,
                   const struct bm_options *opts, char *text, size_t bytes);

#endif
