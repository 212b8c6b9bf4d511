#include "meeting.hpp"

#include "work.h"

namespace sg = simgrid::s4u;

namespace sim
{

namespace
{

const double for_ever = 1e9; // s

} // namespace

Meetings::Meetings(int size) : ranks((size_t)size), next((size_t)size)
{
}

void Meetings::attend(int rank, void *mine, const Work &work)
{
    sim_pay();
    unsigned long number = next[(size_t)rank]++;
    Meeting &m = meetings[number];
    Rank &self = this_rank();

    ranks[(size_t)rank] = &self;
    m.brought.resize(ranks.size());
    m.brought[(size_t)rank] = mine;
    if (++m.come == (int)ranks.size()) {
        m.until = sg::Engine::get_clock() + work(m.brought);
        m.over = true;
        for (Rank *r : ranks)
            if (r != &self)
                r->wake();
    }
    while (!m.over)
        self.sleep(for_ever);
    sg::this_actor::sleep_until(m.until);
    if (++m.gone == (int)ranks.size())
        meetings.erase(number);
}

} // namespace sim
