/* budget_arguments.h -- --limit, --max-bytes and --max-error, and the answer to
 * what is read within them. */
#ifndef BUDGET_ARGUMENTS_H
#define BUDGET_ARGUMENTS_H

#include "arguments.h"
#include "print_json.h"

#define BUDGET_MAX_BYTES                                                       \
    {                                                                          \
        .name = "max-bytes", .argument = "N",                                  \
        .help =                                                                \
            "read at most N bytes of the step's files; N may end in K, M, G"   \
    }

struct budget_arguments {
    bool given; /* one of the options is there */
    bouma_budget budget;
};

int budget_arguments_read(struct budget_arguments *out, struct context *ctx,
                          const struct arguments *args);

/* What an answer says beyond the level or quality. */
json_t *answer_json(const bouma_answer *answer);

/* What ended the reading: "bytes", "points", "error"; or "nothing". */
const char *answer_limit(const bouma_answer *answer);

#endif
