/* The buffer of a trace, and what becomes of it in JSON. */
#include "base/trace.h"

#include <pthread.h>

#include "base/parallel_for.h"
#include "check.h"
#include "trace_lines.h"

static void take(struct trace_lines *out, struct bm_buffer *b,
                 struct bm_trace *t)
{
    memset(out, 0, sizeof(*out));
    bm_buffer_init(b, bm_allocator_default());
    bm_trace_encode(b, t);
    bm_put_u8(b, 0);
    REQUIRE(!b->failed);
    for (char *p = (char *)b->data, *end; (end = strchr(p, '\n'));
         p = end + 1) {
        *end = 0;
        CHECK(p[0] == '{' && end > p + 2 && !strcmp(end - 2, "},"));
        trace_add_line(out, p);
    }
}

static void nested(struct bm_trace *t, int depth)
{
    double begun = bm_trace_now(t);

    for (int i = 0; i < 2 && depth; i++)
        nested(t, depth - 1);
    bm_trace_add(t, "test", "inside", begun,
                 &(struct bm_trace_args){.bytes = 7,
                                         .counted = "depth",
                                         .number = (uint64_t)depth,
                                         .file = "a \"file\"\n"});
}

static void events_lie_inside_each_other(void)
{
    struct bm_trace *t = bm_trace_new(bm_allocator_default(), 3, 100);
    struct trace_lines lines;
    struct bm_buffer b;

    REQUIRE(t);
    nested(t, 4);
    take(&lines, &b, t);
    CHECK_EQ(lines.count, 31);
    CHECK_EQ(trace_count(&lines, 3, "test", "inside"), 31);
    CHECK_EQ(trace_crossed(&lines), 0);
    CHECK_EQ(lines.dropped, 0);
    CHECK_EQ(lines.events[0].bytes, 7);
    trace_drop(&lines);
    bm_buffer_release(&b);
    bm_trace_free(t);
}

static void strings_are_json(void)
{
    struct bm_buffer b;

    bm_buffer_init(&b, bm_allocator_default());
    bm_trace_put_string(&b, "a\"b\\c\n\xc3\xa9\xff\xed\xa0\x80");
    bm_put_u8(&b, 0);
    CHECK(!strcmp((char *)b.data, "\"a\\\"b\\\\c\\u000a\xc3\xa9????\""));
    bm_buffer_release(&b);
}

static void of_a_long_name_the_end_is_kept(void)
{
    struct bm_trace *t = bm_trace_new(bm_allocator_default(), 0, 4);
    char name[201];
    struct trace_lines lines;
    struct bm_buffer b;

    REQUIRE(t);
    memset(name, 'x', 200);
    memcpy(name + 194, "theend", 7);
    bm_trace_add(t, "test", "long", bm_clock(),
                 &(struct bm_trace_args){.file = name});
    take(&lines, &b, t);
    CHECK_EQ(strlen(lines.events[0].file), BM_TRACE_FILE_BYTES - 1);
    CHECK_TEXT(lines.events[0].file, "xtheend");
    trace_drop(&lines);
    bm_buffer_release(&b);
    bm_trace_free(t);
}

static void what_finds_no_room_is_counted(void)
{
    struct bm_trace *t = bm_trace_new(bm_allocator_default(), 0, 10);
    struct trace_lines lines;
    struct bm_buffer b;

    REQUIRE(t);
    for (int i = 0; i < 25; i++)
        bm_trace_add(t, "test", "one", bm_clock(), NULL);
    CHECK_EQ(bm_trace_dropped(t), 15);
    take(&lines, &b, t);
    CHECK_EQ(lines.count, 10);
    CHECK_EQ(lines.dropped, 15);
    trace_drop(&lines);
    bm_buffer_release(&b);
    bm_trace_free(t);
}

static int add_some(void *context, size_t i, size_t worker)
{
    (void)i;
    (void)worker;
    nested(context, 3);
    return 0;
}

static void threads_have_tracks_of_their_own(void)
{
    struct bm_trace *t = bm_trace_new(bm_allocator_default(), 0, 20000);
    struct trace_lines lines;
    struct bm_buffer b;

    REQUIRE(t);
    for (int i = 0; i < 10; i++)
        bm_parallel_for(add_some, t, 20, 6);
    take(&lines, &b, t);
    CHECK_EQ(lines.count, 10 * 20 * 15);
    CHECK_EQ(trace_crossed(&lines), 0);
    CHECK_EQ(lines.dropped, 0);
    trace_drop(&lines);
    bm_buffer_release(&b);
    bm_trace_free(t);
}

static void *work(void *context)
{
    bm_trace_enter(context, "I/O thread");
    nested(context, 0);
    bm_trace_leave(context);
    return NULL;
}

/* Else a program that writes many steps would have a track for each. */
static void one_that_ends_leaves_its_track_to_the_next(void)
{
    struct bm_trace *t = bm_trace_new(bm_allocator_default(), 0, 2000);

    REQUIRE(t);
    for (int i = 0; i < 2 * BM_TRACE_THREADS; i++) {
        pthread_t thread;

        REQUIRE(!pthread_create(&thread, NULL, work, t));
        pthread_join(thread, NULL);
    }
    CHECK_EQ(t->thread_count, 2);
    CHECK_EQ(bm_trace_dropped(t), 0);
    bm_trace_free(t);
}

static void buffers_have_tracks(void)
{
    struct bm_trace *t = bm_trace_new(bm_allocator_default(), 0, 10);
    struct trace_lines lines;
    struct bm_buffer b;

    REQUIRE(t);
    bm_trace_add_buffer(t, 1, "gather", bm_clock(), NULL);
    take(&lines, &b, t);
    CHECK_EQ(lines.events[0].track, 1001);
    /* Of the rank, of "main" and of both buffers: a name, and where it is. */
    CHECK_EQ(lines.names, 8);
    trace_drop(&lines);
    bm_buffer_release(&b);
    bm_trace_free(t);
}

static void no_trace_is_fine(void)
{
    CHECK(bm_trace_now(NULL) <= 0);
    bm_trace_enter(NULL, "nobody");
    bm_trace_leave(NULL);
    bm_trace_free(NULL);
}

int main(void)
{
    events_lie_inside_each_other();
    strings_are_json();
    of_a_long_name_the_end_is_kept();
    what_finds_no_room_is_counted();
    threads_have_tracks_of_their_own();
    one_that_ends_leaves_its_track_to_the_next();
    buffers_have_tracks();
    no_trace_is_fine();
    return check_result();
}
