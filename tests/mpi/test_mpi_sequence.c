/* test_mpi_sequence.c -- which exchanges each rank makes in a step and in
 * reading it, in every mode, as one list that is kept beside this file
 * (sequence.txt). Whoever changes the order of the pipeline's exchanges changes
 * the list, and sees it.
 *
 *     test_mpi_sequence FILE          compare with it, on 3 ranks
 *     test_mpi_sequence FILE write    make it
 *
 * A line for each act of each rank; "as usual" is what the first mode has.
 * Signals and transfers of the engine come in any order: they are counted.
 * Bytes are left out: versions of zstd differ in them. */
#include <stdarg.h>

#include "life.h"

#include "../helpers/check.h"
#include "dataset/dataset.h"

enum { LINE = 2048 };

/* ---- a communicator that is overheard ----------------------------------- */

/* The functions of the table know no context but the communicator. */
struct recorder {
    const struct bm_comm_functions *real;
    struct bm_comm_functions overheard;
    char line[LINE];               /* of the act so far */
    long signals, sends, receives; /* since the last exchange */
};

static struct recorder *recorder(void)
{
    static struct recorder r;

    return &r;
}

static void add(const char *format, ...) BM_PRINTF(1, 2);

static void add(const char *format, ...)
{
    char *line = recorder()->line;
    size_t used = strlen(line);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line + used, LINE - used, format, arguments);
    va_end(arguments);
    REQUIRE(strlen(line) < LINE - 1);
}

/* What the engine did before this. */
static void add_engine(void)
{
    struct recorder *r = recorder();

    if (r->signals)
        add(" notes:%ld", r->signals);
    if (r->sends || r->receives)
        add(" sends:%ld,%ld", r->sends, r->receives);
    r->signals = r->sends = r->receives = 0;
}

static int hear_reduce(struct bm_comm *comm, uint64_t *values, int count,
                       int sums)
{
    add_engine();
    add(" max:%d", count - sums);
    if (sums)
        add("+%d", sums);
    return recorder()->real->reduce(comm, values, count, sums);
}

static int hear_broadcast(struct bm_comm *comm, void *data, size_t bytes,
                          int root)
{
    add_engine();
    add(" broadcast:%d", root);
    return recorder()->real->broadcast(comm, data, bytes, root);
}

static int hear_gather(struct bm_comm *comm, const void *data, size_t bytes,
                       void *all)
{
    add_engine();
    add(" gather");
    return recorder()->real->gather(comm, data, bytes, all);
}

static void add_peers(char sign, const struct bm_message *messages,
                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        add("%c%d", sign, messages[i].peer);
}

static int hear_exchange(struct bm_comm *comm, const struct bm_message *sends,
                         size_t send_count, const struct bm_message *receives,
                         size_t receive_count)
{
    add_engine();
    add(" exchange:");
    add_peers('>', sends, send_count);
    add_peers('<', receives, receive_count);
    return recorder()->real->exchange(comm, sends, send_count, receives,
                                      receive_count);
}

static int count_signal(struct bm_comm *comm, const struct bm_signal *signal)
{
    recorder()->signals++;
    return recorder()->real->signal(comm, signal);
}

static int hear_start(struct bm_transfer *t, int channel,
                      const struct bm_message *messages, size_t count,
                      int sending)
{
    if (sending)
        recorder()->sends += (long)count;
    else
        recorder()->receives += (long)count;
    return recorder()->real->start(t, channel, messages, count, sending);
}

static void overhear(struct bm_comm *comm)
{
    struct recorder *r = recorder();

    if (comm->functions == &r->overheard)
        return;
    r->real = comm->functions;
    r->overheard = *r->real;
    r->overheard.reduce = hear_reduce;
    r->overheard.broadcast = hear_broadcast;
    r->overheard.gather = hear_gather;
    r->overheard.exchange = hear_exchange;
    r->overheard.signal = count_signal;
    r->overheard.start = hear_start;
    comm->functions = &r->overheard;
}

/* ---- modes --------------------------------------------------------------- */

struct mode {
    const char *name;
    bouma_codec codec; /* of the grid; 0: the usual one */
    double relative;
    bouma_options options; /* those that are not zero count */
    int fails;             /* rank 1 takes its second step back */
    int parts;             /* the grid has partitions: see life.h */
};

static const struct mode modes[] = {
    {.name = "usual"},
    {.name = "raw", .codec = BOUMA_CODEC_RAW},
    {.name = "relative tolerance", .relative = 1e-3},
    {.name = "messages", .options.transport = BOUMA_TRANSPORT_MESSAGES},
    {.name = "async", .options.async = 1},
    {.name = "async raw", .codec = BOUMA_CODEC_RAW, .options.async = 1},
    {.name = "predict", .options.predict = BOUMA_PREDICT_ON},
    {.name = "predict async",
     .options = {.predict = BOUMA_PREDICT_ON, .async = 1}},
    {.name = "group",
     .options = {.durability = BOUMA_DURABILITY_GROUP, .group = 2}},
    {.name = "durable", .options.durability = BOUMA_DURABILITY_DURABLE},
    {.name = "one file", .options.files = 1},
    {.name = "order chunk", .options.order = BOUMA_ORDER_CHUNK},
    {.name = "kdtree", .options.assign = BOUMA_ASSIGN_KDTREE},
    {.name = "place cost", .options.place = BOUMA_PLACE_COST},
    {.name = "a rank fails", .fails = 1},
    {.name = "a rank fails async", .fails = 1, .options.async = 1},
    {.name = "partitions", .parts = 1},
    {.name = "partitions async raw",
     .codec = BOUMA_CODEC_RAW,
     .parts = 1,
     .options.async = 1},
    {.name = "partitions, predict",
     .parts = 1,
     .options.predict = BOUMA_PREDICT_ON},
};

static void set_options(bouma_options *to, const bouma_options *from)
{
    to->async = from->async;
    to->predict = from->predict;
    to->transport = from->transport;
    to->order = from->order;
    to->assign = from->assign;
    to->place = from->place;
    if (from->durability)
        to->durability = from->durability;
    if (from->group)
        to->group = from->group;
    if (from->files)
        to->files = from->files;
}

/* ---- the list ------------------------------------------------------------ */

struct list {
    char usual[LIFE_ACTS][3][LINE]; /* the lines of the first mode */
    char *text;                     /* on rank 0 */
    size_t used, room;
};

static void tell(struct list *l, const char *format, ...) BM_PRINTF(2, 3);

static void tell(struct list *l, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    l->used += (size_t)vsnprintf(l->text + l->used, l->room - l->used, format,
                                 arguments);
    va_end(arguments);
    REQUIRE(l->used < l->room);
}

/* What all ranks did in an act, into the list of rank 0. */
static void end_act(struct list *l, const struct ranks *r, int act, int first)
{
    char all[3][LINE];
    int usual = !first;

    add_engine();
    MPI_Gather(recorder()->line, LINE, MPI_CHAR, all, LINE, MPI_CHAR, 0,
               MPI_COMM_WORLD);
    memset(recorder()->line, 0, LINE);
    if (r->rank)
        return;
    if (first)
        memcpy(l->usual[act], all, sizeof(all));
    for (int i = 0; i < r->size; i++)
        usual = usual && !strcmp(all[i], l->usual[act][i]);
    if (usual) {
        tell(l, " %s: as usual\n", life_names[act]);
        return;
    }
    for (int i = 0; i < r->size; i++)
        tell(l, " %s, rank %d:%s\n", life_names[act], i, all[i]);
}

static void run(struct list *list, const struct ranks *r, const struct mode *m,
                int number)
{
    struct life l;

    life_init(&l, r, number);
    l.codec = m->codec;
    l.relative = m->relative;
    l.parts = m->parts;
    set_options(&l.options, &m->options);
    if (!r->rank)
        tell(list, "mode %s\n", m->name);
    for (int act = 0; act < LIFE_ACTS; act++) {
        int fails = m->fails && act == LIFE_SECOND_STEP, rc;

        l.fails = fails && r->rank == 1;
        rc = life_act(&l, (enum life_act)act);
        l.fails = 0;
        CHECK_EQ(rc, fails ? BOUMA_EABORTED : BOUMA_OK);
        if (rc && !fails)
            printf("%s, %s: %s\n", m->name, life_names[act], life_message(&l));
        end_act(list, r, act, !number);
        if (rc) { /* the step is written again, so that there is one to read */
            CHECK_EQ(life_act(&l, (enum life_act)act), BOUMA_OK);
            end_act(list, r, act, 0);
        }
        if (act == LIFE_CREATE || act == LIFE_OPEN)
            overhear(l.ds->comm);
    }
    CHECK_EQ(l.wrong, 0);
    life_end(&l, 0);
    memset(recorder()->line, 0, LINE);
}

/* Tell the first line that differs. */
static void compare(const char *is, const char *was)
{
    const char *mode = is;

    while (*is && *was) {
        size_t n = strcspn(is, "\n"), m = strcspn(was, "\n");

        if (is[0] == 'm')
            mode = is;
        if (n != m || memcmp(is, was, n) != 0) {
            printf("%.*s: is\n%.*s\nand was\n%.*s\n", (int)strcspn(mode, "\n"),
                   mode, (int)n, is, (int)m, was);
            CHECK(!"the exchanges are the same as ever");
            return;
        }
        is += n + 1;
        was += m + 1;
    }
    CHECK(!*is && !*was);
}

static void read_and_compare(const char *file, const char *is)
{
    FILE *f = fopen(file, "r");
    size_t room = (size_t)1 << 20, n;
    char *was = malloc(room);

    REQUIRE(f && was);
    n = fread(was, 1, room - 1, f);
    was[n] = '\0';
    fclose(f);
    compare(is, was);
    free(was);
}

static void write_list(const char *file, const char *text)
{
    FILE *f = fopen(file, "w");

    REQUIRE(f && fputs(text, f) >= 0 && !fclose(f));
}

int main(int argc, char **argv)
{
    struct list *list = calloc(1, sizeof(*list));
    struct ranks r;

    ranks_init(&r, &argc, &argv);
    REQUIRE(argc > 1 && list && r.size == 3);
    list->room = (size_t)1 << 20;
    list->text = malloc(list->room);
    REQUIRE(list->text);
    for (int i = 0; i < (int)(sizeof(modes) / sizeof(modes[0])); i++)
        run(list, &r, &modes[i], i);
    if (!r.rank && argc > 2)
        write_list(argv[1], list->text);
    else if (!r.rank)
        read_and_compare(argv[1], list->text);
    free(list->text);
    free(list);
    return ranks_end(&r, check_counts()->failed, check_counts()->checks);
}
