// comm_sim.cpp -- the library's communicator on a simulated machine.
//
// All ranks are actors of one process, so bytes are copied from memory to
// memory, and SimGrid is asked only how long that takes: each message is a
// transfer between the two hosts, which shares links with all others. What all
// ranks do together takes the time of a good implementation on an idle network,
// by the formula of the machine (machine.hpp).
//
// Ranks of a simulation do not die, and nothing is lost: no timeout is kept.
#define SIM_INSIDE
#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include <simgrid/s4u.hpp>

extern "C" {
#include "comm/shared.h"
}

#include "comm_id.hpp"
#include "comm_sim.hpp"
#include "courier.hpp"
#include "fold.h"
#include "machine.hpp"
#include "meeting.hpp"
#include "rank.hpp"
#include "work.h"

namespace sg = simgrid::s4u;

namespace
{

// ---- messages ---------------------------------------------------------------

// One end of a message. It belongs to whoever started it; the courier that
// carries the message has a share.
struct End {
    bool done = false, empty = false;
};
using EndPtr = std::shared_ptr<End>;

// A message that has been sent, and one that is expected.
struct Sent {
    EndPtr end;
    sim::Rank *from;
    const void *data;
    size_t bytes;
    bool empty, early; // early: it is on its way already, as a copy
    bool arrived;
    std::vector<uint8_t> copy;
    struct Wanted *wanted; // who waits for its arrival
};
using SentPtr = std::shared_ptr<Sent>;

struct Wanted {
    EndPtr end;
    sim::Rank *to;
    void *data;
};

struct Queue {
    std::deque<SentPtr> sent;
    std::deque<Wanted *> wanted;
};

// From one rank to another, messages travel one after the other; those that are
// ready together are one transfer.
struct Line {
    std::vector<SentPtr> ready;
    bool busy = false;
};

// What the ranks of one communicator share.
struct World {
    explicit World(int ranks)
        : size(ranks), ranks((size_t)ranks), queues((size_t)ranks),
          lines((size_t)ranks), signals((size_t)ranks), meetings(ranks)
    {
    }

    int size;
    std::vector<sim::Rank *> ranks;
    std::vector<std::unordered_map<uint64_t, Queue>> queues; // of receivers
    std::vector<std::unordered_map<int, Line>> lines; // of receivers, by sender
    std::vector<std::deque<bm_signal>> signals;
    sim::Meetings meetings;
    std::map<std::vector<int>, std::pair<std::shared_ptr<World>, int>> groups;
};

struct Comm {
    bm_comm base;
    std::shared_ptr<World> world;
    std::vector<int> members; // names of a group's ranks
};

Comm *of(bm_comm *comm)
{
    return reinterpret_cast<Comm *>(comm);
}

// ---- the journey of a message ---------------------------------------------

void hand_over(const SentPtr &s, Wanted *w)
{
    bool folded = sim_is_folded(w->data) && sim_is_folded(s->data);

    if (!s->empty && s->bytes && !folded)
        std::memcpy(w->data, s->copy.empty() ? s->data : s->copy.data(),
                    s->bytes);
    w->end->empty = s->empty;
    w->end->done = true;
    s->end->done = true;
    s->from->wake();
    w->to->wake();
    delete w;
}

void travel(const sim::Rank *from, const sim::Rank *to, size_t bytes)
{
    sg::Comm::sendto(from->host, to->host, bytes + sim::machine().header_bytes);
}

// The receiver takes one message after the other.
void take(sim::Rank *to, size_t messages)
{
    double each = sim::machine().receive_seconds;

    if (each <= 0)
        return;
    to->attended = std::max(to->attended, sg::Engine::get_clock()) +
                   (double)messages * each;
    sg::this_actor::sleep_until(to->attended);
}

// All that is ready, till nothing is.
void serve(Line &line, sim::Rank *from, sim::Rank *to)
{
    while (!line.ready.empty()) {
        std::vector<SentPtr> taken;
        size_t bytes = 0;

        sg::this_actor::sleep_for(sim::machine().message_overhead);
        taken.swap(line.ready);
        for (const SentPtr &s : taken)
            bytes += s->empty ? 0 : s->bytes;
        bytes += (taken.size() - 1) * sim::machine().header_bytes;
        sg::this_actor::sleep_for((double)(taken.size() - 1) *
                                  sim::machine().message_overhead);
        travel(from, to, bytes);
        take(to, taken.size());
        for (const SentPtr &s : taken) {
            s->arrived = true;
            if (s->wanted)
                hand_over(s, s->wanted);
        }
    }
    line.busy = false;
}

void carry(const std::shared_ptr<World> &world, int from, int to,
           const SentPtr &s)
{
    Line &line = world->lines[(size_t)to][from];

    line.ready.push_back(s);
    if (line.busy)
        return;
    line.busy = true;
    sim::dispatch([world, &line, from, to] {
        serve(line, world->ranks[(size_t)from], world->ranks[(size_t)to]);
    });
}

uint64_t key_of(int from, int channel)
{
    return (uint64_t)(uint32_t)from << 32 | (uint32_t)channel;
}

EndPtr send(Comm *c, int channel, const bm_message &m)
{
    sim_pay();
    World &w = *c->world;
    Queue &q = w.queues[m.peer][key_of(c->base.rank, channel)];
    auto s = std::make_shared<Sent>();

    *s = {std::make_shared<End>(),
          w.ranks[c->base.rank],
          m.data,
          m.bytes,
          m.bytes && !m.data,
          false,
          false,
          {},
          nullptr};
    if (!q.wanted.empty()) {
        s->wanted = q.wanted.front();
        q.wanted.pop_front();
        carry(c->world, c->base.rank, m.peer, s);
        return s->end;
    }
    // Others may run while it is handed to a courier: it must be in the queue.
    q.sent.push_back(s);
    if (m.bytes <= sim::machine().eager_bytes) {
        s->early = true;
        if (m.data && !sim_is_folded(m.data))
            s->copy.assign((const uint8_t *)m.data,
                           (const uint8_t *)m.data + m.bytes);
        s->end->done = true;
        carry(c->world, c->base.rank, m.peer, s);
    }
    return s->end;
}

EndPtr receive(Comm *c, int channel, const bm_message &m)
{
    sim_pay();
    World &w = *c->world;
    Queue &q = w.queues[c->base.rank][key_of(m.peer, channel)];
    auto *want =
        new Wanted{std::make_shared<End>(), w.ranks[c->base.rank], m.data};
    EndPtr end = want->end;

    if (q.sent.empty()) {
        q.wanted.push_back(want);
        return end;
    }
    SentPtr s = q.sent.front();

    q.sent.pop_front();
    s->wanted = want;
    if (!s->early)
        carry(c->world, m.peer, c->base.rank, s);
    else if (s->arrived)
        hand_over(s, want);
    return end;
}

const double for_ever = 1e9;

void wait_for(Comm *c, const std::vector<EndPtr> &ends)
{
    for (const EndPtr &e : ends)
        while (!e->done)
            c->world->ranks[c->base.rank]->sleep(for_ever);
}

// ---- what all do together ---------------------------------------------------

// What a rank brings to a meeting.
struct Share {
    void *data;
    size_t bytes;
    const void *own; // to be gathered
    // What comes back, for all ranks once: each takes it when it leaves. So not
    // all of them have a copy of it at the same time, if they soon are done.
    std::shared_ptr<const std::vector<uint8_t>> told;
};

Share &share(void *brought)
{
    return *static_cast<Share *>(brought);
}

int sim_reduce(bm_comm *comm, uint64_t *values, int count, int sums)
{
    Share mine = {values, (size_t)count * sizeof(*values), nullptr, {}};

    of(comm)->world->meetings.attend(comm->rank, &mine, [=](auto &all) {
        uint64_t result[BM_COMM_MAX_VALUES] = {0};

        for (void *b : all)
            for (int i = 0; i < count; i++) {
                uint64_t v = static_cast<uint64_t *>(share(b).data)[i];

                result[i] =
                    i < count - sums ? std::max(result[i], v) : result[i] + v;
            }
        for (void *b : all)
            std::memcpy(share(b).data, result, share(b).bytes);
        return 2 * sim::machine().together((int)all.size(), sizeof(result));
    });
    return 0;
}

int sim_broadcast(bm_comm *comm, void *data, size_t bytes, int root)
{
    Share mine = {data, bytes, nullptr, {}};

    of(comm)->world->meetings.attend(comm->rank, &mine, [=](auto &all) {
        auto *from = static_cast<uint8_t *>(share(all[(size_t)root]).data);
        auto told = std::make_shared<const std::vector<uint8_t>>(
            from, bytes ? from + bytes : from);

        for (void *b : all)
            share(b).told = told;
        return sim::machine().together((int)all.size(), bytes);
    });
    if (bytes && comm->rank != root)
        std::memcpy(data, mine.told->data(), bytes);
    return 0;
}

int sim_gather(bm_comm *comm, const void *data, size_t bytes, void *all_data)
{
    Share mine = {all_data, bytes, data, {}};

    of(comm)->world->meetings.attend(comm->rank, &mine, [=](auto &all) {
        auto *to = static_cast<uint8_t *>(share(all[0]).data);
        size_t at = 0;

        for (size_t i = 0; i < all.size(); i++) {
            Share &s =
                share(all[(size_t)bm_places_rank(&comm->places, (int)i)]);

            if (s.bytes)
                std::memcpy(to + at, s.own, s.bytes);
            at += s.bytes;
        }
        return sim::machine().together((int)all.size(), at);
    });
    return 0;
}

// Channels of transfers begin at 0.
const int exchange_channel = -1;

int sim_exchange(bm_comm *comm, const bm_message *sends, size_t send_count,
                 const bm_message *receives, size_t receive_count)
{
    Comm *c = of(comm);
    std::vector<EndPtr> ends;

    for (size_t i = 0; i < receive_count; i++)
        if (receives[i].bytes)
            ends.push_back(receive(c, exchange_channel, receives[i]));
    for (size_t i = 0; i < send_count; i++)
        if (sends[i].bytes)
            ends.push_back(send(c, exchange_channel, sends[i]));
    wait_for(c, ends);
    return 0;
}

void sim_release(bm_comm *comm)
{
    // bm_comm_free() gives back the memory itself.
    bm_comm_free(comm->leaders);
    bm_comm_free(comm->near);
    bm_places_release(&comm->places);
    of(comm)->world.~shared_ptr();
    of(comm)->members.~vector();
}

// ---- without waiting --------------------------------------------------------

int sim_signal(bm_comm *comm, const bm_signal *signal)
{
    sim_pay();
    Comm *c = of(comm);
    auto world = c->world;
    int to = signal->peer;
    bm_signal told = *signal;
    sim::Rank *from = world->ranks[comm->rank];

    told.peer = comm->rank;
    sim::dispatch([world, to, told, from] {
        sg::this_actor::sleep_for(sim::machine().message_overhead);
        travel(from, world->ranks[to], sizeof(told));
        world->signals[to].push_back(told);
        world->ranks[to]->wake();
    });
    return 0;
}

int sim_hear(bm_comm *comm, bm_signal *signal, int *heard)
{
    auto &q = of(comm)->world->signals[comm->rank];

    *heard = !q.empty();
    if (*heard) {
        *signal = q.front();
        q.pop_front();
    }
    return 0;
}

// A transfer's requests: one list, made when something is started.
using Ends = std::vector<EndPtr>;

Ends *&ends_of(bm_transfer *t)
{
    return *static_cast<Ends **>(t->requests);
}

size_t sim_request_bytes(const bm_comm *, size_t, size_t)
{
    return sizeof(Ends *);
}

int sim_start(bm_transfer *t, int channel, const bm_message *messages,
              size_t count, int sending)
{
    Comm *c = of(t->comm);

    if (!t->count)
        ends_of(t) = new Ends;
    t->receiving = !sending;
    for (size_t i = 0; i < count; i++)
        if (messages[i].bytes)
            ends_of(t)->push_back(sending ? send(c, channel, messages[i])
                                          : receive(c, channel, messages[i]));
    t->count = ends_of(t)->size();
    if (!t->count) {
        delete ends_of(t);
        ends_of(t) = nullptr;
    }
    return 0;
}

int sim_test(bm_transfer *t, int *done)
{
    Ends &ends = *ends_of(t);

    for (; t->done < t->count && ends[t->done]->done; t->done++)
        if (t->receiving && ends[t->done]->empty)
            t->empty = 1;
    *done = t->done == t->count;
    if (*done) {
        delete ends_of(t);
        ends_of(t) = nullptr;
        t->count = t->done = 0;
    }
    return 0;
}

void sim_cancel(bm_transfer *)
{
}

int sim_listen(bm_comm *)
{
    return 0;
}

void sim_warn(bm_comm *)
{
}

// ---- sleep ------------------------------------------------------------------

// Whatever happens to a rank wakes it, so it need not look in between; once a
// second, what would be missed is not lost.
int sim_wait(bm_comm *comm, double)
{
    sim::Rank *r = of(comm)->world->ranks[(size_t)comm->rank];
    unsigned long before = r->seen;

    r->sleep(1);
    return r->seen != before;
}

void sim_wake(bm_comm *comm)
{
    sim_pay();
    of(comm)->world->ranks[(size_t)comm->rank]->wake();
}

// ---- making one -------------------------------------------------------------

int sim_group(bm_comm **out, bm_comm *whole, const int *members, int count);
int sim_settle(bm_comm *comm, uint64_t node, bm_error *error);

const bm_comm_functions functions = {
    sim_reduce, sim_broadcast, sim_gather,        sim_exchange, sim_release,
    sim_signal, sim_hear,      sim_request_bytes, sim_start,    sim_test,
    sim_cancel, sim_listen,    sim_warn,          sim_group,    sim_settle,
    sim_wait,   sim_wake};

// The library frees the memory of a communicator with its own functions.
bm_comm *make(std::shared_ptr<World> world, const bouma_allocator *a, int rank)
{
    void *memory = bm_new(a, 1, sizeof(Comm));
    Comm *c = memory ? new (memory) Comm{} : nullptr;

    if (!c)
        return nullptr;
    c->base.functions = &functions;
    c->base.a = a;
    c->base.rank = rank;
    c->base.size = world->size;
    c->base.message_bytes = (size_t)1 << 30;
    c->base.timeout = INFINITY;
    c->world = std::move(world);
    return &c->base;
}

// The world of the ranks that are in the same call of the same communicator:
// the first makes it, the last takes it away.
template <class Key>
std::shared_ptr<World>
join(std::map<Key, std::pair<std::shared_ptr<World>, int>> &open,
     const Key &key, int rank, int size)
{
    auto &entry = open[key];
    std::shared_ptr<World> w;

    if (!entry.first)
        entry.first = std::make_shared<World>(size);
    w = entry.first;
    w->ranks[(size_t)rank] = &sim::this_rank();
    if (++entry.second == size)
        open.erase(key);
    return w;
}

// A communicator of some ranks, without one of its own node.
int make_group(bm_comm **out, bm_comm *whole, const bm_places *places,
               const int *members, int count)
{
    World &w = *of(whole)->world;
    std::vector<int> key(members, members + count);
    int rank =
        (int)(std::find(key.begin(), key.end(), whole->rank) - key.begin());
    auto world = join(w.groups, key, rank, count);

    // Its members may send before all of them have come.
    for (int i = 0; i < count; i++)
        world->ranks[(size_t)i] = w.ranks[(size_t)key[(size_t)i]];
    *out = make(world, whole->a, rank);
    if (!*out)
        return BOUMA_ENOMEM;
    of(*out)->members.resize((size_t)count);
    for (int i = 0; i < count; i++)
        of(*out)->members[(size_t)i] = bm_comm_name(whole, members[i]);
    (*out)->names = of(*out)->members.data();
    return bm_places_subset(&(*out)->places, places, members, count);
}

// The group of the ranks of this node; nullptr if that is all of them.
int make_near(bm_comm **out, bm_comm *comm, const bm_places *p)
{
    int node = bm_places_node(p, comm->rank);
    std::vector<int> members;

    *out = nullptr;
    if (p->nodes == 1)
        return BOUMA_OK;
    for (int i = p->first[node]; i < p->first[node + 1]; i++)
        members.push_back(bm_places_rank(p, i));
    return make_group(out, comm, p, members.data(), (int)members.size());
}

// The group of the first ranks of all nodes, on these; nullptr where there is
// no need of one.
int make_leaders(bm_comm **out, bm_comm *comm, const bm_places *p)
{
    int node = bm_places_node(p, comm->rank);
    std::vector<int> members;

    *out = nullptr;
    if (p->nodes == 1 || p->nodes == p->ranks ||
        bm_places_position(p, comm->rank) != p->first[node])
        return BOUMA_OK;
    for (int i = 0; i < p->nodes; i++)
        members.push_back(bm_places_rank(p, p->first[i]));
    return make_group(out, comm, p, members.data(), (int)members.size());
}

int sim_group(bm_comm **out, bm_comm *whole, const int *members, int count)
{
    int rc = make_group(out, whole, &whole->places, members, count);

    if (!rc)
        rc = make_near(&(*out)->near, *out, &(*out)->places);
    return rc ? rc : make_leaders(&(*out)->leaders, *out, &(*out)->places);
}

// The nodes of all ranks: told to all, and kept once.
std::shared_ptr<const std::vector<uint8_t>> gather_nodes(bm_comm *comm,
                                                         uint64_t node)
{
    Share mine = {&node, sizeof(node), nullptr, {}};

    of(comm)->world->meetings.attend(comm->rank, &mine, [](auto &all) {
        auto told =
            std::make_shared<std::vector<uint8_t>>(all.size() * sizeof(node));

        for (size_t r = 0; r < all.size(); r++)
            std::memcpy(told->data() + r * sizeof(node), share(all[r]).data,
                        sizeof(node));
        for (void *b : all)
            share(b).told = told;
        return 2 * sim::machine().together((int)all.size(), told->size());
    });
    return mine.told;
}

int sim_settle(bm_comm *comm, uint64_t node, bm_error *error)
{
    auto nodes = gather_nodes(comm, node);
    bm_places places = {};
    bm_comm *near = nullptr, *leaders = nullptr;
    int rc = bm_places_init(&places, comm->a,
                            reinterpret_cast<const uint64_t *>(nodes->data()),
                            comm->size);

    if (!rc)
        rc = make_near(&near, comm, &places);
    if (!rc)
        rc = make_leaders(&leaders, comm, &places);
    bm_comm_free(comm->leaders);
    bm_comm_free(comm->near);
    bm_places_release(&comm->places);
    comm->leaders = leaders;
    comm->near = near;
    comm->places = places;
    return bm_comm_agree(comm, rc, error);
}

} // namespace

void sim_tell_each(bm_comm *comm, size_t bytes)
{
    Share nothing = {};

    of(comm)->world->meetings.attend(comm->rank, &nothing, [=](auto &all) {
        return sim::machine().each_to_each((int)all.size(), bytes);
    });
}

int bm_comm_mpi_new(bm_comm **out, const bouma_allocator *a, MPI_Comm comm,
                    double, bm_error *error)
{
    using Key = std::pair<int, unsigned long>;
    static std::map<Key, std::pair<std::shared_ptr<World>, int>> open;
    static std::map<std::pair<int, int>, unsigned long> calls;
    int id = sim::comm_id(comm);
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    Key key{id, calls[{id, rank}]++};

    *out = make(join(open, key, rank, size), a, rank);
    if (!*out)
        return bm_fail(error, BOUMA_ENOMEM, "no memory for a communicator");
    // All of them know each other from here on.
    uint64_t nothing = 0;

    sim_reduce(*out, &nothing, 1, 0);
    return sim_settle(*out, bm_shared_node(), error);
}
