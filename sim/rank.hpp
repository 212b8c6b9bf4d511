// rank.hpp -- a simulated process: where it is, and how it is woken.
//
// All actors of a simulation run in one process, one at a time, and change
// places only in calls of SimGrid. So what is here needs no locks.
#ifndef SIM_RANK_HPP
#define SIM_RANK_HPP

#include <simgrid/s4u.hpp>

namespace sim
{

struct Rank {
    simgrid::s4u::Host *host = nullptr;
    simgrid::s4u::SemaphorePtr bell = simgrid::s4u::Semaphore::create(0);
    bool asleep = false;
    unsigned long events = 0, seen = 0; // what has happened; when it last slept
    double attended = 0;                // when it has taken the messages so far
    int threads = 1, cores;             // the rank itself counts
    simgrid::s4u::SemaphorePtr free_cores; // see work.cpp

    explicit Rank(int cores);

    // Something happened that the rank may wait for: a message, a file stored.
    void wake();
    // Until the next wake(), or for so many seconds; not at all if there was one
    // since it last slept.
    void sleep(double seconds);
};

// Of the calling actor: a rank itself, or one of its threads.
Rank &this_rank();
// Whether it is one of its threads.
bool is_thread();
// A new actor is a thread of this rank.
void adopt(aid_t actor, Rank &rank);
void forget(aid_t actor);

} // namespace sim

#endif
