// courier.hpp -- work that takes simulated time beside the actors that want it:
// messages and storage requests under way.
#ifndef SIM_COURIER_HPP
#define SIM_COURIER_HPP

#include <functional>

namespace sim
{

// Call 'work' in an actor of its own, soon. Actors are used again and again:
// as many are made as have been busy at once.
void dispatch(std::function<void()> work);

} // namespace sim

#endif
