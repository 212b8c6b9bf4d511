/* tells.h -- calls that fail, each with a message of its own: not an empty one,
 * and not that of an earlier call. */
#ifndef TELLS_H
#define TELLS_H

#include "bouma.h"
#include "check.h"

#define STALE 999983 /* a number that no other message has */

static inline void leave_stale(bouma_dataset *ds)
{
    bouma_step_info info = {.size = sizeof(info)};

    CHECK_EQ(bouma_dataset_step_get(&info, ds, STALE), BOUMA_ENOTFOUND);
    CHECK_TEXT(bouma_error_message(ds), "999983");
}

static inline void check_fresh(const bouma_dataset *ds, const char *call)
{
    const char *text = bouma_error_message(ds);

    if (!text[0] || strstr(text, "999983"))
        printf("%s: \"%s\"\n", call, text);
    CHECK(text[0] && !strstr(text, "999983"));
}

/* The call fails with 'status', and its message has 'words'. */
#define TELLS(ds, call, status, words)                                         \
    do {                                                                       \
        leave_stale(ds);                                                       \
        CHECK_EQ(call, status);                                                \
        check_fresh(ds, #call);                                                \
        CHECK_TEXT(bouma_error_message(ds), words);                            \
    } while (0)

/* The same for a call that gives a handle. */
#define GIVES_NONE(ds, call, words)                                            \
    do {                                                                       \
        leave_stale(ds);                                                       \
        CHECK((call) == NULL);                                                 \
        check_fresh(ds, #call);                                                \
        CHECK_TEXT(bouma_error_message(ds), words);                            \
    } while (0)

#endif
