/* option.h -- the options that have a name: one table, from which follow how
 * they are parsed, checked, completed and compared among ranks, the flags and
 * the help of the command line, and the tables in the documents.
 *
 * A new option is a field of bouma_options and a line of the table. */
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
    BM_OPTION_TEXT /* of BOUMA_PATH_BYTES */
};

struct bm_choice {
    const char *name; /* NULL ends a list */
    int value;
};

struct bm_option {
    bouma_option_info about;
    enum bm_option_kind kind;
    size_t offset;                   /* of the field in bouma_options */
    const struct bm_choice *choices; /* of CHOICE and FLAG */
    uint64_t most;                   /* of INTEGER and BYTES; 0: no limit */
    int64_t standard;     /* what 0 stands for; 0: that is found out later */
    const char *variable; /* of the environment, for this option alone */
    const char *reason;   /* why BOUMA_OPTIONS cannot set it; NULL: it can */
    /* A form of the value beyond those of its kind: what follows 'prefix' is a
     * whole number from 1 to the limit of the option 'count', which it sets. */
    const char *prefix, *count;
};

enum { BM_OPTIONS_MOST = 64 }; /* there are no more than that */

/* The i-th option, the option of that name, or NULL. */
const struct bm_option *bm_option_at(int i);
const struct bm_option *bm_option_find(const char *name);

/* Whether options of so many bytes have it: they may be those of an older
 * version. */
int bm_option_is_in(const struct bm_option *option, size_t size);

/* Set the field from its text: 1 if it can have that value. */
int bm_option_set(const struct bm_option *option, bouma_options *opts,
                  const char *text);

/* Whether the field has a value that it can have; 'text' is that value, for a
 * message. */
int bm_option_check(const struct bm_option *option, const bouma_options *opts,
                    char *text, size_t bytes);

/* The values it can have, as the texts that set it; as numbers in the struct.
 */
void bm_option_texts(const struct bm_option *option, char *text, size_t bytes);
void bm_option_numbers(const struct bm_option *option, char *text,
                       size_t bytes);

int bm_option_is_set(const struct bm_option *option, const bouma_options *opts);
/* Take the field over from 'from', if that of 'opts' is zero. */
void bm_option_inherit(const struct bm_option *option, bouma_options *opts,
                       const bouma_options *from);
/* If it still is (or, after a failure, below): what that stands for. */
void bm_option_complete(const struct bm_option *option, bouma_options *opts);

/* The field as a number that differs if the value does; and such a number as
 * the caller would write the value. */
uint64_t bm_option_number(const struct bm_option *option,
                          const bouma_options *opts);
const char *bm_option_written(const struct bm_option *option, uint64_t number,
                              char *text, size_t bytes);

#endif
