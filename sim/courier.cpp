#include "courier.hpp"

#include <simgrid/s4u.hpp>
#include <vector>

namespace sg = simgrid::s4u;

namespace sim
{

namespace
{

const unsigned stack_bytes = 64 << 10;

struct Courier {
    sg::SemaphorePtr bell = sg::Semaphore::create(0);
    std::function<void()> work;
};

std::vector<Courier *> &idle()
{
    static std::vector<Courier *> all;
    return all;
}

void serve(Courier *c)
{
    for (;;) {
        c->work();
        c->work = nullptr;
        idle().push_back(c);
        c->bell->acquire();
    }
}

} // namespace

void dispatch(std::function<void()> work)
{
    if (idle().empty()) {
        auto *c = new Courier;

        c->work = std::move(work);
        auto actor = sg::Actor::init("courier", sg::this_actor::get_host());
        actor->set_stacksize(stack_bytes);
        actor->daemonize();
        actor->start([c] { serve(c); });
        return;
    }
    Courier *c = idle().back();

    idle().pop_back();
    c->work = std::move(work);
    c->bell->release();
}

} // namespace sim
