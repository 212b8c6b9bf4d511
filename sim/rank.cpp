#include "rank.hpp"

#include <memory>
#include <unordered_map>

#include "machine.hpp"
#include "work.h"

namespace sg = simgrid::s4u;

namespace sim
{

namespace
{

struct Actors {
    std::unordered_map<aid_t, Rank *> rank_of;
    std::unordered_map<aid_t, std::unique_ptr<Rank>> ranks;
};

// One simulation is one process.
Actors &actors()
{
    static Actors all;
    return all;
}

} // namespace

Rank::Rank(int given)
    : cores(given), free_cores(sg::Semaphore::create((unsigned)given))
{
}

void Rank::wake()
{
    events++;
    if (!asleep)
        return;
    asleep = false;
    bell->release();
}

void Rank::sleep(double seconds)
{
    sim_pay();
    if (events == seen) {
        asleep = true;
        if (bell->acquire_timeout(seconds)) // true: the time is over
            asleep = false;
    }
    seen = events;
}

Rank &this_rank()
{
    aid_t id = sg::this_actor::get_pid();
    Rank *&r = actors().rank_of[id];

    if (!r) {
        auto made = std::make_unique<Rank>(machine().cores());

        made->host = sg::this_actor::get_host();
        r = made.get();
        actors().ranks[id] = std::move(made);
    }
    return *r;
}

bool is_thread()
{
    return !actors().ranks.count(sg::this_actor::get_pid());
}

void adopt(aid_t actor, Rank &rank)
{
    actors().rank_of[actor] = &rank;
    rank.threads++;
}

void forget(aid_t actor)
{
    actors().rank_of[actor]->threads--;
    actors().rank_of.erase(actor);
}

} // namespace sim
