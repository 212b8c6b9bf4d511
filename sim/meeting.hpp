// meeting.hpp -- what all ranks of a communicator do together.
#ifndef SIM_MEETING_HPP
#define SIM_MEETING_HPP

#include <functional>
#include <map>
#include <vector>

#include "rank.hpp"

namespace sim
{

class Meetings
{
  public:
    // Called by the last rank that comes, with what each has brought, by rank.
    // It does the work of all, and gives the seconds that this takes.
    using Work = std::function<double(const std::vector<void *> &brought)>;

    explicit Meetings(int size);

    // Come to the next meeting, and leave once its time is over. All ranks have
    // the same 'work'. What a rank brings stays there until it leaves.
    void attend(int rank, void *mine, const Work &work);

    std::vector<Rank *> ranks; // who has come at least once

  private:
    struct Meeting {
        std::vector<void *> brought;
        int come = 0, gone = 0;
        bool over = false;
        double until = 0;
    };
    std::map<unsigned long, Meeting> meetings;
    std::vector<unsigned long> next; // of each rank
};

} // namespace sim

#endif
