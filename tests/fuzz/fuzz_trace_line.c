/* fuzz_trace_line.c -- no line makes the reader of traces crash; what it accepts
 * is within its bounds, and printable. */
#include "fuzz_help.h"
#include "trace_line.h"

static void check_word(const char word[TRACE_WORD])
{
    size_t n = 0;

    for (; n < TRACE_WORD && word[n]; n++)
        HOLDS(word[n] >= ' ' && word[n] <= '~');
    HOLDS(n < TRACE_WORD);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *line = malloc(size + 1);
    struct trace_event e;

    if (!line)
        exit(1);
    if (size)
        memcpy(line, data, size);
    line[size] = 0;
    if (trace_line_parse(&e, line)) {
        HOLDS(trace_line_is_event(line));
        HOLDS(e.rank >= 0 && e.rank < TRACE_RANKS);
        HOLDS(e.track >= 0 && e.track < TRACE_RANKS);
        HOLDS(e.begin >= 0 && e.begin <= TRACE_SECONDS);
        HOLDS(e.seconds >= 0 && e.seconds <= TRACE_SECONDS);
        check_word(e.kind);
        check_word(e.name);
    }
    free(line);
    return 0;
}
