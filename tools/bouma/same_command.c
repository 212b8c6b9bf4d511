/* same_command.c -- command lines as hashes, and as text for a message. */
#include "same_command.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

struct command_line {
    uint64_t hash; /* of all words */
    char text[512];
};

static void append(struct command_line *line, const char *word)
{
    size_t used = strlen(line->text);

    line->hash = bm_hash64(word, strlen(word) + 1, line->hash);
    snprintf(line->text + used, sizeof(line->text) - used, " %s", word);
}

int same_command(struct context *ctx, char *const *argv)
{
    struct command_line mine = {0}, first;
    bool differs;
    uint64_t others;
    int rc = DONE;

    for (int i = 1; argv[0] && argv[i]; i++)
        append(&mine, argv[i]);
    if (session_equal(ctx->session, mine.hash))
        return DONE;
    first = mine;
    session_broadcast(ctx->session, &first, sizeof(first));
    differs = mine.hash != first.hash;
    others = session_sum(ctx->session, differs);
    if (differs)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "all processes must run one command: process %d "
                          "was given '%s%s', process 0 '%s%s' (%llu of %d "
                          "differ from it)",
                          session_rank(ctx->session), session_program(),
                          mine.text, session_program(), first.text,
                          (unsigned long long)others,
                          session_size(ctx->session));
    return context_agree(ctx, rc);
}
